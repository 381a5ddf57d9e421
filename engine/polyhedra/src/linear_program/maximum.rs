//! The largest value of a linear form over a polyhedron that holds the origin.
//!
//! In: `max c . x` over free `x` with `A x <= b`, `b >= 0`.   Out: a fraction, or that there is no bound.
//! Source: G. B. Dantzig, Linear Programming and Extensions (1963); R. G. Bland, New finite pivoting rules for the
//! simplex method (1977).
//!
//! The primal simplex method: it starts at a feasible point and keeps as many columns as there are variables, however
//! many rows. Entering and leaving variables are the first ones possible, which never cycles.

use crate::linear_program::rational::Ratio;
use crate::linear_program::tableau::Tableau;
use crate::matrix::Vector;

/// The largest value of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maximum {
    /// There is none.
    Unbounded,
    /// It is reached.
    At(Ratio),
}

/// The largest value of `objective . x` over all real `x` with `rows[i] . x <= bounds[i]`; no bound is negative. None
/// if a number leaves 127 bits or it takes too many pivots.
pub fn maximum(rows: &[Vector], bounds: &[i128], objective: &[i128]) -> Option<Maximum> {
    debug_assert!(bounds.iter().all(|b| *b >= 0), "the origin is inside");
    let mut search = Search::new(rows, bounds, objective);
    while let Some(column) = search.entering()? {
        let Some(row) = search.leaving(column)? else { return Some(Maximum::Unbounded) };
        search.tableau.pivot(row, column)?;
        search.variables[column] = Some(row);
    }
    let (numerator, denominator) = (search.tableau.constant(search.n_rows), search.tableau.denominator());
    Some(Maximum::At(Ratio { numerator, denominator }))
}

/// A corner, or at first the origin, and the forms around it.
struct Search {
    n_rows: usize,
    /// The slacks of the rows, and then the objective.
    tableau: Tableau,
    /// Per column the row whose slack it is; none if it is still a free variable.
    variables: Vec<Option<usize>>,
}

impl Search {
    fn new(rows: &[Vector], bounds: &[i128], objective: &[i128]) -> Search {
        let mut tableau = Tableau::new(objective.len(), rows.len() + 1);
        for (row, bound) in rows.iter().zip(bounds) {
            tableau.push(row.iter().map(|x| -x), *bound);
        }
        tableau.push(objective.iter().copied(), 0);
        Search { n_rows: rows.len(), tableau, variables: vec![None; objective.len()] }
    }

    /// The first variable whose growth improves the objective, its column turned so that it grows; `Some(None)` if
    /// there is none.
    fn entering(&mut self) -> Option<Option<usize>> {
        let objective = self.tableau.coefficients(self.n_rows);
        let gains = |&c: &usize| objective[c] > 0 || (self.variables[c].is_none() && objective[c] < 0);
        // Free variables are before slacks.
        let column = (0..objective.len()).filter(gains).min_by_key(|&c| self.variables[c]);
        let Some(column) = column else { return Some(None) };
        if objective[column] < 0 {
            // A free variable may as well shrink. Its value is never asked for.
            self.tableau.turn(column)?;
        }
        Some(Some(column))
    }

    /// The row whose slack reaches zero first as the variable of a column grows; `Some(None)` if none does.
    fn leaving(&self, column: usize) -> Option<Option<usize>> {
        let mut best: Option<(usize, i128, i128)> = None;
        for row in 0..self.n_rows {
            let (constant, falls) = (self.tableau.constant(row), self.tableau.coefficients(row)[column]);
            if falls >= 0 {
                continue;
            }
            // constant / -falls is smallest
            let is_first = match best {
                None => true,
                Some((_, least, by)) => constant.checked_mul(by)? > least.checked_mul(falls)?,
            };
            if is_first {
                best = Some((row, constant, falls));
            }
        }
        Some(best.map(|(row, ..)| row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(numerator: i128, denominator: i128) -> Option<Maximum> {
        Some(Maximum::At(Ratio { numerator, denominator }))
    }

    #[test]
    fn a_corner_of_a_polygon_is_found() {
        // 2 x + y <= 3, x + 3 y <= 4, -x <= 0, -y <= 0.
        let rows = [vec![2, 1], vec![1, 3], vec![-1, 0], vec![0, -1]];
        let found = maximum(&rows, &[3, 4, 0, 0], &[1, 1]);
        let Some(Maximum::At(ratio)) = found else { panic!("{found:?}") };
        assert_eq!(ratio.numerator, 2 * ratio.denominator);
        assert_eq!(maximum(&rows, &[3, 4, 0, 0], &[-1, -1]), at(0, 1));
    }

    #[test]
    fn negative_coordinates_count() {
        // |x| <= 5, |x - 2 y| <= 1: y is smallest at (-5, -3).
        let rows = [vec![1, 0], vec![-1, 0], vec![1, -2], vec![-1, 2]];
        let Some(Maximum::At(ratio)) = maximum(&rows, &[5, 5, 1, 1], &[0, -1]) else { panic!("bounded") };
        assert_eq!(ratio.numerator, 3 * ratio.denominator);
    }

    #[test]
    fn directions_without_a_bound_are_told() {
        assert_eq!(maximum(&[vec![1, 0]], &[1], &[0, 1]), Some(Maximum::Unbounded));
        assert_eq!(maximum(&[], &[], &[0]), at(0, 1));
    }

    #[test]
    fn numbers_that_grow_too_large_give_nothing() {
        let huge = i128::MAX / 2;
        assert_eq!(maximum(&[vec![huge, 3], vec![5, huge]], &[1, 1], &[1, 1]), None);
    }

    #[test]
    fn the_largest_value_of_a_random_polyhedron_is_that_of_its_best_corner() {
        let mut random = fastrand::Rng::with_seed(11);
        let mut bounded = 0;
        for _ in 0..400 {
            let rows: Vec<Vector> = (0..6).map(|_| (0..2).map(|_| random.i128(-4..=4)).collect()).collect();
            let bounds: Vec<i128> = (0..6).map(|_| random.i128(0..=5)).collect();
            let objective: Vector = (0..2).map(|_| random.i128(-5..=5)).collect();
            let found = maximum(&rows, &bounds, &objective).unwrap();
            let far = 1000;
            let walls = [vec![1, 0], vec![-1, 0], vec![0, 1], vec![0, -1]];
            let boxed = [rows.as_slice(), &walls].concat();
            let best = best_corner(&boxed, &[bounds.as_slice(), &[far; 4]].concat(), &objective);
            match found {
                // Corners have coordinates of less than 100, so that any further one is at the walls.
                Maximum::Unbounded => assert!(best.0 > 100 * best.1, "{rows:?} {bounds:?} {objective:?}"),
                Maximum::At(Ratio { numerator, denominator }) => {
                    assert_eq!(numerator * best.1, best.0 * denominator, "{rows:?} {bounds:?} {objective:?}");
                    bounded += 1;
                }
            }
        }
        assert!(bounded > 100, "{bounded} of 400");
    }

    /// The best value at the points where two rows are tight and all hold, by Cramer's rule.
    fn best_corner(rows: &[Vector], bounds: &[i128], objective: &[i128]) -> (i128, i128) {
        let mut best: Option<(i128, i128)> = None;
        for (i, j) in (0..rows.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let (a, b) = (&rows[i], &rows[j]);
            let determinant = a[0] * b[1] - a[1] * b[0];
            let sign = determinant.signum();
            let point = [bounds[i] * b[1] - a[1] * bounds[j], a[0] * bounds[j] - bounds[i] * b[0]].map(|x| x * sign);
            let size = determinant.abs();
            let value = |form: &[i128]| form[0] * point[0] + form[1] * point[1];
            let holds = size > 0 && rows.iter().zip(bounds).all(|(row, bound)| value(row) <= bound * size);
            if holds && best.is_none_or(|(most, by)| value(objective) * by > most * size) {
                best = Some((value(objective), size));
            }
        }
        best.expect("walls have corners")
    }
}

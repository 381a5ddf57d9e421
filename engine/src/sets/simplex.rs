//! Linear programs: the largest value of a linear form over a polyhedron that holds the origin, exactly.
//!
//! In: `max c . x` over free `x` with `A x <= b`, `b >= 0`.   Out: a fraction, or that there is no bound.
//!
//! The simplex method with integer pivoting (Edmonds): a tableau of integers over one common denominator, entering and
//! leaving variables by Bland's rule, which never cycles. `None` says that a number left 127 bits or that it takes too
//! long. It starts at a feasible point and keeps as many columns as there are variables, however many rows; smallest
//! integer points start at an infeasible one and need the dual method (`engine/src/sets/integer_program.rs`).

use crate::sets::matrix::{Matrix, Vector};

/// Pivots after which a program is given up, a linear one or an integer one; those here take some tens.
pub(super) const MOST_PIVOTS: usize = 2000;

/// A fraction with a positive denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ratio {
    /// Above the line.
    pub(crate) numerator: i128,
    /// Below the line; positive.
    pub(crate) denominator: i128,
}

/// The largest value of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Maximum {
    /// There is none.
    Unbounded,
    /// It is reached.
    At(Ratio),
}

impl Ratio {
    /// Whether it is less than `other`.
    pub(crate) fn is_less(self, other: Ratio) -> Option<bool> {
        let left = self.numerator.checked_mul(other.denominator)?;
        Some(left < other.numerator.checked_mul(self.denominator)?)
    }

    /// The largest integer that is not greater.
    pub(crate) fn floor(self) -> i128 {
        self.numerator.div_euclid(self.denominator)
    }

    /// One over it; it is positive.
    pub(crate) fn inverse(self) -> Ratio {
        Ratio { numerator: self.denominator, denominator: self.numerator }
    }
}

/// The largest value of `objective . x` over all real `x` with `rows[i] . x <= bounds[i]`; no bound is negative.
pub(crate) fn maximum(rows: &[Vector], bounds: &[i128], objective: &[i128]) -> Option<Maximum> {
    debug_assert!(bounds.iter().all(|b| *b >= 0), "the origin is inside");
    let n = objective.len();
    let mut tableau = Tableau::new(rows, bounds, objective);
    for _ in 0..MOST_PIVOTS {
        let Some(entering) = tableau.entering(n) else {
            let (numerator, denominator) = (tableau.entries[rows.len()][n], tableau.denominator);
            return Some(Maximum::At(Ratio { numerator, denominator }));
        };
        let Some(leaving) = tableau.leaving(entering, n)? else {
            return Some(Maximum::Unbounded);
        };
        tableau.pivot(leaving, entering)?;
    }
    None
}

/// Entries over a common denominator. Row `i` reads `basic[i] + sum of entries times nonbasic variables = last entry`;
/// the last row is that of the objective. Variables below the number of columns are free, the others slacks.
struct Tableau {
    entries: Matrix,
    denominator: i128,
    basic: Vec<usize>,
    nonbasic: Vec<usize>,
}

impl Tableau {
    fn new(rows: &[Vector], bounds: &[i128], objective: &[i128]) -> Tableau {
        let n = objective.len();
        let mut entries: Matrix = rows.iter().zip(bounds).map(|(row, b)| [row.as_slice(), &[*b]].concat()).collect();
        entries.push(objective.iter().map(|c| -c).chain([0]).collect());
        Tableau { entries, denominator: 1, basic: (n..n + rows.len()).collect(), nonbasic: (0..n).collect() }
    }

    /// The first variable whose growth improves the objective, its column turned so that it grows.
    fn entering(&mut self, n: usize) -> Option<usize> {
        let last = self.entries.len() - 1;
        let gains = |&c: &usize| self.entries[last][c] < 0 || (self.nonbasic[c] < n && self.entries[last][c] > 0);
        let column = (0..n).filter(gains).min_by_key(|&c| self.nonbasic[c])?;
        if self.entries[last][column] > 0 {
            // A free variable may as well shrink: count it the other way round. Its value is never asked for.
            self.entries.iter_mut().for_each(|row| row[column] = -row[column]);
        }
        Some(column)
    }

    /// The slack that reaches zero first as the variable of a column grows; `Some(None)` if none does.
    fn leaving(&self, column: usize, n: usize) -> Option<Option<usize>> {
        let mut best: Option<usize> = None;
        for row in (0..self.basic.len()).filter(|&r| self.basic[r] >= n && self.entries[r][column] > 0) {
            let Some(other) = best else {
                best = Some(row);
                continue;
            };
            let here = self.entries[row][n].checked_mul(self.entries[other][column])?;
            let there = self.entries[other][n].checked_mul(self.entries[row][column])?;
            if here < there || (here == there && self.basic[row] < self.basic[other]) {
                best = Some(row);
            }
        }
        Some(best)
    }

    fn pivot(&mut self, row: usize, column: usize) -> Option<()> {
        let pivot = self.entries[row][column];
        let chosen = self.entries[row].clone();
        for (_, other) in self.entries.iter_mut().enumerate().filter(|(r, _)| *r != row) {
            let factor = other[column];
            for (c, entry) in other.iter_mut().enumerate() {
                *entry = if c == column {
                    -factor
                } else {
                    let scaled = entry.checked_mul(pivot)?;
                    scaled.checked_sub(factor.checked_mul(chosen[c])?)? / self.denominator
                };
            }
        }
        self.entries[row][column] = self.denominator;
        self.denominator = pivot;
        std::mem::swap(&mut self.basic[row], &mut self.nonbasic[column]);
        Some(())
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
}

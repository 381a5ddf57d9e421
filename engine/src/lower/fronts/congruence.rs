//! Congruence: whether coordinates of two cells may be the same modulo their moduli.
//!
//! In: inequalities over differences, and coordinates, linear forms that are to be multiples of their moduli.
//! Out: false only if no integer point satisfies all of that.
//!
//! That a form is a multiple of its modulus is no inequality: the multiples that are in range are tried one by one. Nor
//! does a rational point mean much where a coordinate numbers rows and cells of them in one (`304 row + cell`), as it
//! may lie between two rows; so the form is taken apart into digits, of which all but the first are in short ranges.
//! What is left are systems of inequalities without a rational point (`engine/polyhedra/src/elimination.rs`).

use std::cell::Cell;
use std::collections::BTreeSet;

use crease_polyhedra::elimination::{Row, is_infeasible};
use crease_program::Interval;

/// Multiples of a modulus, or of a row, that are tried one by one, at most.
const MULTIPLES_TRIED: i128 = 4;
/// Rounds in which inequalities bound variables by others.
const ROUNDS: usize = 8;

/// What is to be a multiple of a modulus.
#[derive(Clone)]
pub(super) struct Coordinate {
    pub(super) form: Row,
    /// What is added to it.
    pub(super) between: Interval,
    /// None where it is to be 0.
    pub(super) modulus: Option<i128>,
}

impl Coordinate {
    /// Its values, where variables are in these bounds; none if they have no end.
    fn range(&self, bounds: &[Ends]) -> Option<Interval> {
        let mut range = Interval { min: self.form.constant, max: self.form.constant };
        for (c, [low, high]) in self.form.coefficients.iter().zip(bounds).filter(|(c, _)| **c != 0) {
            let ends = [c.checked_mul((*low)?)?, c.checked_mul((*high)?)?];
            range.min = range.min.checked_add(ends[0].min(ends[1]))?;
            range.max = range.max.checked_add(ends[0].max(ends[1]))?;
        }
        Some(Interval { min: range.min.checked_add(self.between.min)?, max: range.max.checked_add(self.between.max)? })
    }

    /// It is this many times `unit`: the rest is 0.
    fn less(&self, multiple: i128, unit: i128) -> Coordinate {
        let mut rest = Coordinate { modulus: None, ..self.clone() };
        rest.form.constant -= multiple * unit;
        rest
    }

    /// That it may be 0.
    fn rows(&self) -> impl Iterator<Item = Row> {
        bounded(&self.form, self.between, 0, Some(0))
    }

    /// By what it may be divided into digits.
    fn units(&self) -> impl Iterator<Item = i128> {
        let units: BTreeSet<i128> = self.form.coefficients.iter().map(|c| c.abs()).filter(|c| *c > 1).collect();
        units.into_iter()
    }

    /// The digit that counts units, and the rest.
    fn divided(&self, unit: i128) -> (Row, Coordinate) {
        // Nearest to 0, so that ranges stay short.
        let quotient = |c: i128| (2 * c + unit).div_euclid(2 * unit);
        let coefficients: Vec<i128> = self.form.coefficients.iter().map(|c| quotient(*c)).collect();
        let mut low = Coordinate { modulus: None, ..self.clone() };
        low.form.coefficients.iter_mut().zip(&coefficients).for_each(|(c, high)| *c -= unit * high);
        (Row { is_equality: true, coefficients, constant: 0 }, low)
    }
}

/// The bounds of a variable, from below and from above, as far as there are any.
type Ends = [Option<i128>; 2];

/// Whether some point of the rows may have all coordinates at multiples of their moduli; true also if `left` systems are
/// not enough to tell.
pub(super) fn may_meet(rows: &[Row], coordinates: &[Coordinate], left: &Cell<u32>) -> bool {
    let Some(fewer) = left.get().checked_sub(1) else { return true };
    left.set(fewer);
    if is_infeasible(rows) {
        return false;
    }
    let Some((first, rest)) = coordinates.split_first() else { return true };
    let Some(bounds) = propagated(rows, first.form.coefficients.len()) else { return false };
    let may_be = |high: Option<Row>, low: Coordinate| {
        let rows: Vec<Row> = rows.iter().cloned().chain(high).chain(low.rows()).collect();
        let coordinates: Vec<Coordinate> = [low].into_iter().chain(rest.iter().cloned()).collect();
        may_meet(&rows, &coordinates, left)
    };
    if let Some(modulus) = first.modulus {
        let Some(range) = first.range(&bounds) else { return true };
        let multiples = multiples_in(range, modulus);
        let are_few = multiples.max - multiples.min < MULTIPLES_TRIED;
        return !are_few || (multiples.min..=multiples.max).any(|multiple| may_be(None, first.less(multiple, modulus)));
    }
    // It is 0: if it is `unit * high + low`, and `low` is in a short range, there are few values of both.
    let digits = first.units().filter_map(|unit| {
        let (high, low) = first.divided(unit);
        let multiples = multiples_in(low.range(&bounds)?, unit);
        Some((multiples.max - multiples.min, unit, high, low, multiples))
    });
    match digits.min_by_key(|(count, ..)| *count) {
        Some((count, unit, high, low, multiples)) if count < MULTIPLES_TRIED => {
            (multiples.min..=multiples.max).any(|multiple| {
                // unit * high = -low
                let high = Row { constant: high.constant + multiple, ..high.clone() };
                may_be(Some(high), low.less(multiple, unit))
            })
        }
        _ => may_meet(rows, rest, left),
    }
}

/// `low <= form + constants <= high`, for some of the constants.
pub(super) fn bounded(
    form: &Row,
    constants: Interval,
    low: i128,
    high: Option<i128>,
) -> impl Iterator<Item = Row> + use<> {
    let mut least = form.clone();
    least.constant += constants.max - low;
    let most = high.map(|high| {
        let coefficients = form.coefficients.iter().map(|c| -c).collect();
        Row { is_equality: false, coefficients, constant: high - form.constant - constants.min }
    });
    [least].into_iter().chain(most)
}

/// The multiples of a modulus in a range, by their number.
fn multiples_in(range: Interval, modulus: i128) -> Interval {
    Interval { min: -(-range.min).div_euclid(modulus), max: range.max.div_euclid(modulus) }
}

/// Bounds of each variable that the rows have; none if there is no point.
fn propagated(rows: &[Row], columns: usize) -> Option<Vec<Ends>> {
    let mut bounds: Vec<Ends> = vec![[None; 2]; columns];
    for _ in 0..ROUNDS {
        let mut changed = false;
        for row in rows.iter().flat_map(Row::inequalities) {
            // sum c x + constant >= 0: each term is at least what the others leave at most.
            let used: Vec<usize> = (0..columns).filter(|at| row.coefficients[*at] != 0).collect();
            for at in &used {
                let most = used.iter().filter(|other| *other != at).try_fold(row.constant, |sum, other| {
                    let c = row.coefficients[*other];
                    sum.checked_add(c.checked_mul(bounds[*other][usize::from(c > 0)]?)?)
                });
                let Some(rest) = most else { continue };
                let c = row.coefficients[*at];
                // c x >= -rest
                let bound = if c > 0 { -rest.div_euclid(c) } else { rest.div_euclid(-c) };
                let side = usize::from(c < 0);
                let is_better =
                    bounds[*at][side].is_none_or(|known| if side == 0 { bound > known } else { bound < known });
                if is_better {
                    bounds[*at][side] = Some(bound);
                    changed = true;
                    if let [Some(low), Some(high)] = bounds[*at]
                        && low > high
                    {
                        return None;
                    }
                }
            }
        }
        if !changed {
            break;
        }
    }
    Some(bounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `coefficients . x`, with variables in these ranges, may be a multiple of the modulus.
    fn may_be(coefficients: &[i128], ranges: &[(i128, i128)], modulus: Option<i128>) -> bool {
        let form = |coefficients: Vec<i128>| Row { is_equality: false, coefficients, constant: 0 };
        let of_variable = |at: usize| form((0..ranges.len()).map(|other| i128::from(other == at)).collect());
        let rows: Vec<Row> = (0..)
            .zip(ranges)
            .flat_map(|(at, (low, high))| bounded(&of_variable(at), Interval::point(0), *low, Some(*high)))
            .collect();
        let coordinate = Coordinate { form: form(coefficients.to_vec()), between: Interval::point(0), modulus };
        may_meet(&rows, &[coordinate], &Cell::new(100))
    }

    #[test]
    fn points_between_two_rows_are_none() {
        // Ten times a row and a cell of it.
        assert!(!may_be(&[10, 1], &[(-3, 3), (1, 9)], None));
        assert!(may_be(&[10, 1], &[(-3, 3), (1, 10)], None));
        assert!(!may_be(&[3], &[(1, 6)], Some(7)));
        assert!(may_be(&[3], &[(1, 7)], Some(7)));
        assert!(!may_be(&[100, -10, 1], &[(-5, 5), (-4, 4), (1, 9)], Some(1000)));
        assert!(may_be(&[100, -10, 1], &[(0, 5), (0, 10), (0, 9)], Some(1000)));
    }

    #[test]
    fn what_it_says_of_small_systems_is_what_their_points_show() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut empty = 0;
        for _ in 0..2000 {
            let count = random.usize(1..4);
            let coefficients: Vec<i128> = (0..count).map(|_| random.i128(-12..=12)).collect();
            let ranges: Vec<(i128, i128)> = (0..count)
                .map(|_| {
                    let low = random.i128(-4..4);
                    (low, low + random.i128(0..4))
                })
                .collect();
            let modulus = random.bool().then(|| random.i128(2..30));
            let mut sums = vec![0];
            for (c, (low, high)) in coefficients.iter().zip(&ranges) {
                sums = sums.iter().flat_map(|sum| (*low..=*high).map(move |x| sum + c * x)).collect();
            }
            let is_there = sums.iter().any(|sum| modulus.map_or(*sum == 0, |modulus| sum % modulus == 0));
            let found = may_be(&coefficients, &ranges, modulus);
            assert!(found || !is_there, "{coefficients:?} in {ranges:?}, modulus {modulus:?}");
            empty += usize::from(!found);
        }
        assert!(empty > 500, "only {empty} systems were seen to have no point");
    }
}

//! Witnesses: points that were found once, and answer later questions of whether rows leave any point.
//!
//! In: rows over the same variables, one list of them after the other.   Out: what
//! [`is_infeasible`](crate::elimination::is_infeasible) says of each.
//!
//! Scanning loops asks hundreds of such questions, most of them of the same few rows, and of most there is a point. One
//! that was found for rows before often satisfies the next ones as well, which takes no linear program to see.

use std::cell::RefCell;

use crate::elimination::{Row, point_of};
use crate::linear_program::RationalPoint;

/// Points that are kept: the last ones that were of use. Not measured.
const MOST_WITNESSES: usize = 16;

/// Rational points of spaces of any dimensions.
#[derive(Default)]
pub struct Witnesses(RefCell<Vec<RationalPoint>>);

impl Witnesses {
    /// Whether no rational point satisfies all rows; false also if that is not found out.
    pub fn is_infeasible<'r>(&self, rows: impl IntoIterator<Item = &'r Row>) -> bool {
        let rows: Vec<&Row> = rows.into_iter().collect();
        let mut points = self.0.borrow_mut();
        if let Some(at) = points.iter().position(|point| satisfies(point, &rows)) {
            points[..=at].rotate_right(1);
            return false;
        }
        match point_of(&rows) {
            None => true,
            Some(None) => false,
            Some(Some(point)) => {
                points.truncate(MOST_WITNESSES - 1);
                points.insert(0, point);
                false
            }
        }
    }
}

/// Whether the point is known to satisfy all rows; false if it is one of another space.
fn satisfies(point: &RationalPoint, rows: &[&Row]) -> bool {
    rows.iter().all(|row| {
        row.coefficients.len() == point.numerators.len()
            && point
                .value(&row.coefficients, row.constant)
                .is_some_and(|value| value == 0 || value > 0 && !row.is_equality)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elimination::is_infeasible;

    #[test]
    fn answers_are_those_without_memory() {
        let mut random = fastrand::Rng::with_seed(7);
        let witnesses = Witnesses::default();
        let (mut feasible, mut infeasible) = (0, 0);
        for _ in 0..3000 {
            let n = random.usize(1..4);
            let row = |random: &mut fastrand::Rng| {
                let coefficients: Vec<i64> = (0..n).map(|_| random.i64(-2..=2)).collect();
                Row::new(random.u8(0..5) == 0, coefficients, random.i64(-4..=4))
            };
            let rows: Vec<Row> = (0..random.usize(1..7)).map(|_| row(&mut random)).collect();
            let answer = witnesses.is_infeasible(&rows);
            assert_eq!(answer, is_infeasible(&rows), "{rows:?}");
            if answer { infeasible += 1 } else { feasible += 1 }
        }
        assert!(feasible > 500 && infeasible > 500, "{feasible} {infeasible}");
    }
}

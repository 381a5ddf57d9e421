//! The smallest storage of some rows.
//!
//! In: how far apart conflicting rows are, by the number of steps between them.   Out: a [`Fold`].
//!
//! Either every step has rows of its own, in turns, or all rows are a ring in which each step moves them by a few
//! places, the drift. A drift is worth trying if it moves the rows some steps later just past what conflicts with them;
//! the ring then is as long as the distances that are left say.

use crate::storage::strategies::strided_hyperplane::{distances, modulus_beyond};

use super::rows::Distances;

/// How rows are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    /// Row `y` of step `t` as row `y - first` of grid `t mod steps`.
    Turns { steps: i64, rows: i64 },
    /// Row `y` of step `t` at `(y - first + drift t) mod places`.
    Ring { drift: i64, places: i64 },
}

impl Fold {
    /// The smallest fold of this many rows.
    pub(super) fn smallest(apart: &Distances, rows: i64) -> Fold {
        let last = apart.iter().rposition(Option::is_some).unwrap_or(0) as i64;
        let turns = Fold::Turns { steps: last + 1, rows };
        let rings = drifts(apart).into_iter().filter_map(|drift| ring(apart, drift));
        let smallest = rings.min_by_key(|fold| match fold {
            Fold::Ring { drift, places } => (*places, drift.unsigned_abs()),
            Fold::Turns { .. } => unreachable!("a ring is none"),
        });
        smallest.filter(|ring| ring.size() < turns.size()).unwrap_or(turns)
    }

    /// Rows that it takes.
    pub(super) fn size(self) -> i128 {
        match self {
            Fold::Turns { steps, rows } => i128::from(steps) * i128::from(rows),
            Fold::Ring { places, .. } => i128::from(places),
        }
    }
}

/// Drifts that move the rows of some later step just past those of an earlier one, on either side.
fn drifts(apart: &Distances) -> Vec<i64> {
    let mut found = vec![0];
    for (steps, range) in (0_i64..).zip(apart).skip(1) {
        let Some((low, high)) = *range else { continue };
        found.extend([low, high].iter().filter_map(|end| end.checked_neg()).flat_map(|end| {
            // Rows apart plus `steps` drifts is less than 0 from the upper end on, more than 0 from the lower one on.
            [end.saturating_sub(1).div_euclid(steps), end.saturating_add(steps).div_euclid(steps)]
        }));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The smallest ring with a drift; none if conflicting rows meet in any ring.
fn ring(apart: &Distances, drift: i64) -> Option<Fold> {
    let mut ranges = Vec::new();
    for (steps, range) in (0_i64..).zip(apart) {
        let Some((low, high)) = *range else { continue };
        let moved = drift.checked_mul(steps)?;
        ranges.extend(distances((low.checked_add(moved)?, high.checked_add(moved)?))?);
    }
    Some(Fold::Ring { drift, places: modulus_beyond(&ranges, 1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_die_behind_the_sweep_drift_by_its_reach() {
        // Rows 1..=63 of a grid of which a row is read up to one row later, and two rows later.
        let grid = |reach: i64, rows: i64| vec![Some((1, rows - 1)), Some((1 - rows, reach - 1))];
        assert_eq!(Fold::smallest(&grid(1, 63), 63), Fold::Ring { drift: -1, places: 64 });
        assert_eq!(Fold::smallest(&grid(2, 62), 62), Fold::Ring { drift: -2, places: 64 });
        // The same sweep downwards.
        let downwards = vec![Some((1, 62)), Some((0, 62))];
        assert_eq!(Fold::smallest(&downwards, 63), Fold::Ring { drift: 1, places: 64 });
    }

    #[test]
    fn rows_that_wait_for_a_sweep_take_turns() {
        let all = vec![Some((1, 2)), Some((-2, 2))];
        assert_eq!(Fold::smallest(&all, 3), Fold::Turns { steps: 2, rows: 3 });
        assert_eq!(Fold::smallest(&vec![None, Some((0, 0))], 1), Fold::Turns { steps: 2, rows: 1 });
        assert_eq!(Fold::smallest(&vec![None], 1), Fold::Turns { steps: 1, rows: 1 });
    }

    #[test]
    fn two_steps_that_are_alive_take_two_grids_and_the_reach() {
        let apart = vec![Some((1, 9)), Some((-9, 9)), Some((-9, 1))];
        assert_eq!(Fold::smallest(&apart, 10), Fold::Ring { drift: 10, places: 22 });
    }
}

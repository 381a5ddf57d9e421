//! Rounding: pitches and moduli that are multiples of something, where that is worth some cells.
//!
//! In: what the caller wants.   Out: which pitches and moduli strided hyperplanes may have.
//!
//! With pitches and moduli in multiples of the lanes of a vector, a vector that starts at a multiple never runs around the
//! ring; remainders by powers of two are masks. What that costs in cells, the report's notes say.

use crate::kernel::graph::DimKind;
use crate::mapping::Problem;

/// To what pitches and moduli of hyperplanes are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Rounding {
    /// Not at all: the fewest cells.
    #[default]
    Exact,
    /// To multiples of the most lanes of a vector dimension.
    Lanes,
    /// To powers of two.
    PowerOfTwo,
}

impl Rounding {
    /// Every rounding with its name.
    pub const ALL: [(&'static str, Rounding); 3] =
        [("exact", Rounding::Exact), ("lanes", Rounding::Lanes), ("power-of-two", Rounding::PowerOfTwo)];

    /// The rounding of that name.
    pub fn by_name(name: &str) -> Option<Rounding> {
        Rounding::ALL.iter().find(|(n, _)| *n == name).map(|(_, rounding)| *rounding)
    }
}

/// The numbers that pitches and moduli may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grid {
    /// Multiples of a positive number.
    Multiples(i64),
    /// Powers of two.
    Powers,
}

impl Grid {
    /// What a rounding means under the schedule of a problem.
    pub(crate) fn of(problem: &Problem<'_, '_, '_>) -> Grid {
        let dims = problem.model.schedule.dims.iter();
        let lanes = dims.map(|kind| if let DimKind::Vector(lanes) = kind { i64::from(*lanes) } else { 1 });
        match problem.rounding {
            Rounding::Exact => Grid::Multiples(1),
            Rounding::Lanes => Grid::Multiples(lanes.max().unwrap_or(1)),
            Rounding::PowerOfTwo => Grid::Powers,
        }
    }

    /// The smallest allowed number that is no smaller than a positive one; none if that leaves 63 bits.
    pub(crate) fn up(self, value: i64) -> Option<i64> {
        match self {
            Grid::Multiples(of) => value.checked_add(of - 1).map(|sum| sum / of * of),
            Grid::Powers => i64::try_from((value.max(1) as u64).checked_next_power_of_two()?).ok(),
        }
    }

    /// The allowed pitches next to one: the same if it is allowed, else one further from 0 and 0 itself.
    pub(crate) fn pitches(self, pitch: i64) -> Vec<i64> {
        let Some(further) = pitch.checked_abs().filter(|size| *size > 0).and_then(|size| self.up(size)) else {
            return if pitch == 0 { vec![0] } else { Vec::new() };
        };
        if further == pitch.abs() { vec![pitch] } else { vec![0, further * pitch.signum()] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_away_from_zero() {
        assert_eq!(
            (Grid::Multiples(8).up(17), Grid::Multiples(1).up(17), Grid::Powers.up(17)),
            (Some(24), Some(17), Some(32))
        );
        assert_eq!((Grid::Multiples(8).up(i64::MAX), Grid::Powers.up(i64::MAX)), (None, None));
        assert_eq!(Grid::Multiples(8).pitches(-9), [0, -16]);
        assert_eq!(Grid::Powers.pitches(-8), [-8]);
        assert_eq!((Grid::Powers.pitches(0), Grid::Powers.pitches(i64::MIN)), (vec![0], vec![]));
    }
}

//! Rounding: pitches and moduli that are multiples of something, where that is worth some cells.
//!
//! In: what the caller wants.   Out: which pitches and moduli strided hyperplanes may have.
//!
//! With pitches and moduli in multiples of the lanes of a vector, a vector that starts at a multiple never runs around
//! the ring; with whole cache lines every row is stored in whole lines, and none of the next two rows lies just below a
//! multiple of 4 KiB away: processors take a load for one of what was stored just before if their addresses agree in
//! the low 12 bits. Nor do rows lie a multiple of 4 KiB apart, or little more: all of them would share the same few lines
//! of the first-level cache, where a pass over several rows needs more than there are. Remainders by powers of two are
//! masks. What that costs in cells, the report's notes say.

use crate::kernel::graph::{ArrayId, DimKind};
use crate::machine::{ALIASING_BYTES, LINE_BYTES};
use crate::storage::StorageMapping;
use crate::storage::knobs::placement::{BEHIND_STORES_BYTES, ROWS_AHEAD};
use crate::storage::options::Rounding;
use crate::storage::placement::rows::{cells_of_line, margin_bytes};
use crate::storage::problem::Problem;

/// The numbers that pitches and moduli may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grid {
    /// Multiples of a positive number.
    Multiples(i64),
    /// Multiples of the cells of a cache line, this many; pitches do not make rows alias.
    Lines(i64),
    /// Powers of two.
    Powers,
}

impl Grid {
    /// What a rounding means for an array under the schedule of a problem.
    pub(crate) fn of(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Grid {
        let dims = problem.model.schedule.dims.iter();
        let lanes = dims.map(|kind| if let DimKind::Vector(lanes) = kind { i64::from(*lanes) } else { 1 });
        match problem.rounding {
            Rounding::Auto | Rounding::Exact => Grid::Multiples(1),
            Rounding::Lanes => Grid::Multiples(lanes.max().unwrap_or(1)),
            Rounding::Lines => Grid::Lines(cells_of_line(problem.model.kernel.array(array).element)),
            Rounding::PowerOfTwo => Grid::Powers,
        }
    }

    /// The smallest allowed number that is no smaller than a positive one; none if that leaves 63 bits.
    pub(crate) fn up(self, value: i64) -> Option<i64> {
        match self {
            Grid::Multiples(of) | Grid::Lines(of) => value.checked_add(of - 1).map(|sum| sum / of * of),
            Grid::Powers => i64::try_from((value.max(1) as u64).checked_next_power_of_two()?).ok(),
        }
    }

    /// The allowed pitches next to one: the same if it is allowed, else one further from 0 and 0 itself.
    pub(crate) fn pitches(self, pitch: i64) -> Vec<i64> {
        let mut further = pitch.checked_abs().filter(|size| *size > 0).and_then(|size| self.up(size));
        while further.is_some_and(|pitch| self.makes_rows_alias(pitch)) {
            further = further.and_then(|pitch| self.up(pitch.checked_add(1)?));
        }
        let Some(further) = further else {
            return if pitch == 0 { vec![0] } else { Vec::new() };
        };
        if further == pitch.abs() { vec![pitch] } else { vec![0, further * pitch.signum()] }
    }

    /// Whether one of the next rows lies just below a multiple of 4 KiB away, or the next one at such a multiple or just
    /// above.
    fn makes_rows_alias(self, pitch: i64) -> bool {
        let Grid::Lines(cells) = self else { return false };
        let all_lines = (pitch / cells) as u64;
        let lines = all_lines % (ALIASING_BYTES / LINE_BYTES);
        let is_above =
            lines < margin_bytes(all_lines.saturating_mul(LINE_BYTES), LINE_BYTES / cells as u64) / LINE_BYTES;
        let is_below = |rows: u64| lines * rows * LINE_BYTES % ALIASING_BYTES > ALIASING_BYTES - BEHIND_STORES_BYTES;
        is_above && all_lines >= ALIASING_BYTES / LINE_BYTES || (1..=ROWS_AHEAD).any(is_below)
    }
}

/// Whether a strided hyperplane for one array has the pitches and the modulus that the problem's rounding allows.
pub(crate) fn is_on_grid(problem: &Problem<'_, '_, '_>, proposal: &StorageMapping) -> bool {
    let mapping = &proposal.arrays[0];
    let (grid, fast) = (Grid::of(problem, mapping.array), problem.fast_dimension(mapping.array));
    let mut pitches = mapping.pieces[0].matrix[0].iter().enumerate().filter(|(dim, _)| *dim != fast);
    let modulus = proposal.buffers[0].moduli[0];
    grid.up(modulus) == Some(modulus) && pitches.all(|(_, pitch)| grid.pitches(*pitch) == [*pitch])
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
        assert_eq!(Grid::Lines(8).pitches(-250), [0, -256]);
        // 1016 cells are 64 bytes short of 8 KiB, and twice 496 cells of half the size 128 short of 4 KiB.
        assert_eq!((Grid::Lines(8).pitches(1010), Grid::Lines(16).pitches(490)), (vec![0, 1032], vec![0, 512]));
        // 4096 doubles are a multiple of 4 KiB: rows get a part in 128 more, as have those of bytes.
        assert_eq!((Grid::Lines(8).pitches(4096), Grid::Lines(64).pitches(4001)), (vec![0, 4136], vec![0, 4224]));
        assert_eq!((Grid::Powers.pitches(0), Grid::Powers.pitches(i64::MIN)), (vec![0], vec![]));
    }
}

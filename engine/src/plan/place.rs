//! Places: where a plan keeps a cell of an array.
//!
//! In: a [`Plan`].   Out: [`Place`]s, for pictures, tables and tests that look at single cells.

use crate::kernel::graph::ArrayId;
use crate::plan::Plan;
use crate::storage::Piece;

/// Where a cell is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Position in [`Layout::buffers`](crate::plan::layout::Layout::buffers).
    pub buffer: usize,
    /// The cell's number in row-major order of its buffer, without padding.
    pub cell: u64,
    /// One coordinate per modulus of the buffer, `0 <= c < modulus`.
    pub coordinates: Vec<i64>,
}

impl Plan {
    /// Where a cell of `array` is kept; `None` where no piece of its mapping holds it, as for cells without a value.
    pub fn place(&self, array: ArrayId, index: &[i64]) -> Option<Place> {
        self.place_with(array, index, |buffer| &self.layout().buffers[buffer].moduli)
    }

    /// Where a cell would be kept if buffers had other moduli, one positive number per coordinate. Nothing proves such
    /// a mapping: it is for pictures and tests of what goes wrong. `None` as in [`Plan::place`], and for moduli that
    /// are missing, not positive, or make more cells than 64 bits can count.
    pub fn place_with<'a>(
        &self,
        array: ArrayId,
        index: &[i64],
        moduli: impl Fn(usize) -> &'a [i64] + 'a,
    ) -> Option<Place> {
        let holds = |piece: &&Piece| piece.when.holds(index, &self.outcome.params).unwrap_or(false);
        let piece = self.layout().array(array)?.pieces.iter().find(holds)?;
        let moduli = moduli(piece.buffer);
        let modulus = |k: usize| moduli.get(k).copied().filter(|&m| m > 0);
        let coordinate = |k| Some(piece.coordinate(k, index, modulus(k)?));
        let coordinates: Vec<i64> = (0..piece.matrix.len()).map(coordinate).collect::<Option<_>>()?;
        let cell = coordinates
            .iter()
            .zip(moduli)
            .try_fold(0_u64, |cell, (c, m)| cell.checked_mul(m.unsigned_abs())?.checked_add(c.unsigned_abs()))?;
        Some(Place { buffer: piece.buffer, cell, coordinates })
    }
}

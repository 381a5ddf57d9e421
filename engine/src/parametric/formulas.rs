//! A storage mapping whose numbers are polynomials of the sizes: a [`StorageMapping`](crate::storage::StorageMapping)
//! at all sizes at once.

use crate::kernel::formula::Formula;
use crate::kernel::graph::ArrayId;
use crate::parametric::Polynomial;
use crate::storage::{Sharing, StrategyId};

/// Storage of some arrays.
#[derive(Clone, Debug)]
pub(super) struct Formulas {
    pub(super) buffers: Vec<FormulaBuffer>,
    pub(super) arrays: Vec<FormulaArray>,
}

/// A buffer.
#[derive(Clone, Debug)]
pub(super) struct FormulaBuffer {
    pub(super) name: String,
    pub(super) strategy: StrategyId,
    pub(super) sharing: Sharing,
    /// None where a modulus follows no polynomial.
    pub(super) moduli: Option<Vec<Polynomial>>,
}

/// Where one array lives.
#[derive(Clone, Debug)]
pub(super) struct FormulaArray {
    pub(super) array: ArrayId,
    pub(super) pieces: Vec<FormulaPiece>,
}

/// A part of it: cell `i` is kept at `(matrix i + offset) mod moduli`.
#[derive(Clone, Debug)]
pub(super) struct FormulaPiece {
    pub(super) when: Formula,
    /// Position in [`Formulas::buffers`].
    pub(super) buffer: usize,
    /// Matrix and offset; none where a number follows no polynomial.
    pub(super) place: Option<(Vec<Vec<Polynomial>>, Vec<Polynomial>)>,
}

impl Formulas {
    /// The buffers of an array.
    pub(super) fn buffers_of(&self, array: ArrayId) -> impl Iterator<Item = usize> {
        self.arrays.iter().filter(move |a| a.array == array).flat_map(|a| a.pieces.iter().map(|piece| piece.buffer))
    }

    /// The pieces that live in a buffer, with their arrays.
    pub(super) fn residents(&self, buffer: usize) -> Vec<(ArrayId, &FormulaPiece)> {
        let pieces = self.arrays.iter().flat_map(|a| a.pieces.iter().map(|piece| (a.array, piece)));
        pieces.filter(|(_, piece)| piece.buffer == buffer).collect()
    }
}

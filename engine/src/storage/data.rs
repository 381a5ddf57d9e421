//! Storage: where each cell of a folded array is kept, as data.
//!
//! A [`StorageMapping`] is a list of buffers and, per array, of [`Piece`]s that partition its index space. Strategies
//! propose it, the checker proves it, the layout gives it memory; nothing here knows of any of them.

use crease_program::{Element, Mapped};

use serde::{Deserialize, Serialize};

use crate::kernel::formula::Formula;
use crate::kernel::graph::ArrayId;
use crate::storage::MappingError;
use crate::storage::options::StrategyId;

/// Storage of all folded arrays of a kernel.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct StorageMapping {
    /// The memory blocks.
    pub buffers: Vec<Buffer>,
    /// Per folded array, its pieces; they partition the cells that ever hold a value.
    pub arrays: Vec<ArrayMapping>,
}

/// A block of cells, addressed by a vector of coordinates, each taken modulo its modulus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Names the arrays it holds.
    pub name: String,
    /// Element type of every cell.
    pub element: Element,
    /// One positive modulus per coordinate.
    pub moduli: Vec<i64>,
    /// Whether all workers keep their values in it.
    pub sharing: Sharing,
    /// Whether its cells come twice in memory; then it is a ring in whole pages.
    pub mapped: Mapped,
    /// Who proposed it.
    pub strategy: StrategyId,
}

/// Whether the workers of a parallel loop share a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sharing {
    /// One block of cells.
    Shared,
    /// A block for each worker: its values live inside single tasks of a parallel loop.
    Private,
}

impl Sharing {
    /// How many copies this many workers need.
    pub fn copies(self, threads: usize) -> u64 {
        match self {
            Sharing::Shared => 1,
            Sharing::Private => threads.max(1) as u64,
        }
    }

    /// The name in reports: `shared`, `private`.
    pub fn name(self) -> &'static str {
        match self {
            Sharing::Shared => "shared",
            Sharing::Private => "private",
        }
    }
}

/// Where one array lives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArrayMapping {
    /// The array.
    pub array: ArrayId,
    /// Its pieces.
    pub pieces: Vec<Piece>,
}

/// A part of an array's index space with one formula: cell `i` is kept at `(matrix i + offset) mod moduli`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Piece {
    /// Which cells; iterators are the array's indices. A residue class of the step index is written with a floor.
    pub when: Formula,
    /// Position in [`StorageMapping::buffers`].
    pub buffer: usize,
    /// One row per coordinate of the buffer, one column per index of the array.
    pub matrix: Vec<Vec<i64>>,
    /// One entry per coordinate of the buffer.
    pub offset: Vec<i64>,
}

impl StorageMapping {
    /// Keeps a whole array in a new buffer, by one formula.
    pub(crate) fn keep(&mut self, array: ArrayId, buffer: Buffer, matrix: Vec<Vec<i64>>, offset: Vec<i64>) {
        let piece = Piece { when: Formula::everything(), buffer: self.buffers.len(), matrix, offset };
        self.buffers.push(buffer);
        self.arrays.push(ArrayMapping { array, pieces: vec![piece] });
    }

    /// The modulus and the coefficients of a mapping that is one ring for a whole array.
    pub(crate) fn one_ring(&self) -> Option<(i64, &[i64])> {
        let ([buffer], [array]) = (self.buffers.as_slice(), self.arrays.as_slice()) else { return None };
        let ([modulus], [piece]) = (buffer.moduli.as_slice(), array.pieces.as_slice()) else { return None };
        let [coefficients] = piece.matrix.as_slice() else { return None };
        Some((*modulus, coefficients))
    }

    /// Takes over the storage of other arrays, renumbering its buffers.
    pub(crate) fn append(&mut self, other: StorageMapping) {
        let first = self.buffers.len();
        self.buffers.extend(other.buffers);
        for mut mapping in other.arrays {
            mapping.pieces.iter_mut().for_each(|piece| piece.buffer += first);
            self.arrays.push(mapping);
        }
    }
}

impl Piece {
    /// Coordinate `k` of a cell, in a buffer of this modulus, which is positive.
    pub fn coordinate(&self, k: usize, index: &[i64], modulus: i64) -> i64 {
        let products = self.matrix[k].iter().zip(index).map(|(&m, &i)| i128::from(m) * i128::from(i));
        let sum = products.sum::<i128>() + i128::from(self.offset[k]);
        // Most sums are small, and division of 128 bits is slow.
        match i64::try_from(sum) {
            Ok(sum) => sum.rem_euclid(modulus),
            Err(_) => sum.rem_euclid(i128::from(modulus)) as i64,
        }
    }
}

impl Buffer {
    /// Number of cells, without padding.
    ///
    /// # Errors
    /// [`MappingError::TooManyCells`] if the product of the moduli leaves 63 bits.
    pub fn cells(&self) -> Result<u64, MappingError> {
        let product = self.moduli.iter().try_fold(1_i64, |n, &m| n.checked_mul(m));
        let too_many = || MappingError::TooManyCells { buffer: self.name.clone(), moduli: self.moduli.clone() };
        product.map(|n| n as u64).ok_or_else(too_many)
    }
}

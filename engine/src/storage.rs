//! Storage: where each cell of a folded array is kept, as data.
//!
//! A [`StorageMapping`] is a list of buffers and, per array, of [`Piece`]s that partition its index space. Strategies
//! propose it, the checker proves it, the layout gives it memory; nothing here knows of any of them.

use crease_program::{Element, Mapped};

use crate::analysis::error::AnalysisError;
use crate::kernel::KernelError;
use crate::kernel::formula::Formula;
use crate::kernel::graph::ArrayId;

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
    /// Which strategy proposed it.
    pub strategy: &'static str,
}

/// Whether the workers of a parallel loop share a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sharing {
    /// One block of cells.
    Shared,
    /// A block for each worker: its values live inside single tasks of a parallel loop.
    Private,
}

impl Sharing {
    /// How many copies so many workers need.
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
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayMapping {
    /// The array.
    pub array: ArrayId,
    /// Its pieces.
    pub pieces: Vec<Piece>,
}

/// A part of an array's index space with one formula: cell `i` is kept at `(matrix i + offset) mod moduli`.
#[derive(Clone, Debug, PartialEq)]
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

/// Why a strategy has no mapping.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "storage/")]
#[non_exhaustive]
pub enum MappingError {
    /// An index space, or what is alive of it, has no bound, so no finite modulus exists.
    #[error(
        "`{array}` has no finite storage: nothing bounds dimension {dim} (`{index}`) of its cells, or of those alive at one moment"
    )]
    UnboundedModulus {
        /// The array.
        array: String,
        /// The dimension, from 0.
        dim: usize,
        /// The name of that index.
        index: String,
    },
    /// Full storage of a state array needs to know how many steps it shall hold.
    #[error("full storage of state `{array}` needs a horizon: the number of steps to keep")]
    NoHorizon {
        /// The array.
        array: String,
    },
    /// The number of cells leaves 63 bits.
    #[error("buffer `{buffer}` would need more than 2^63 cells (moduli {moduli:?})")]
    TooManyCells {
        /// The buffer.
        buffer: String,
        /// Its moduli.
        moduli: Vec<i64>,
    },
    /// The strategy does not apply to this kernel.
    #[error("strategy `{strategy}` does not apply: {reason}")]
    NotApplicable {
        /// The strategy.
        strategy: &'static str,
        /// Why, naming the array or statement.
        reason: String,
    },
    /// A mapping was proposed that stores two live values in one cell.
    #[error("strategy `{strategy}` proposed an unsafe mapping: {collision}")]
    Unproved {
        /// The strategy.
        strategy: &'static str,
        /// Two cells alive at one moment that it would keep in one place.
        collision: String,
    },
    /// The text of a given mapping is wrong.
    #[error("the given mapping cannot be used: {0}")]
    Text(KernelError),
    /// Rules of a given mapping that share a buffer do not fit together.
    #[error(
        "the given mapping cannot be used: rules for buffer `{buffer}` have different {what}, {first} and {second}"
    )]
    RulesDisagree {
        /// The buffer.
        buffer: String,
        /// Element types, numbers of coordinates or moduli.
        what: &'static str,
        /// What the first rule says.
        first: String,
        /// What another one says.
        second: String,
    },
    /// The analysis of these arrays used up its quota.
    #[error("strategy `{strategy}` gave up on {arrays}: it takes more than {limit} integer-set operations")]
    GaveUp {
        /// The strategy.
        strategy: &'static str,
        /// The arrays, quoted.
        arrays: String,
        /// The quota.
        limit: u64,
    },
    /// An analysis failed.
    #[error(transparent)]
    #[strum(transparent)]
    Analysis(#[from] AnalysisError),
}

impl From<crease_isl::IslError> for MappingError {
    fn from(error: crease_isl::IslError) -> Self {
        MappingError::Analysis(error.into())
    }
}

impl From<crate::kernel::affine::AffineOverflow> for MappingError {
    fn from(error: crate::kernel::affine::AffineOverflow) -> Self {
        MappingError::Analysis(error.into())
    }
}

//! Storage mappings: where each cell of a folded array is kept.
//!
//! A [`StorageMapping`] is a list of buffers and, per array, of [`Piece`]s that partition its index space. One file per
//! strategy proposes mappings, `given` takes them from the caller; `check` asks the checker (`engine/src/check/`) to prove
//! them, which shares neither facts nor code with any of them; `choice` takes one by name, `auto` chooses among the
//! proved: `search` asks strategies for one array, `candidate` compares what they found by size and by what `cost` thinks
//! of it, `decision` says how it ended. `mirror` has rings mapped twice.

pub(crate) mod auto;
mod candidate;
pub(crate) mod check;
pub(crate) mod choice;
pub(crate) mod cost;
pub(crate) mod decision;
pub(crate) mod full;
pub(crate) mod given;
pub(crate) mod hyperplane;
pub(crate) mod in_place;
pub(crate) mod lattice;
pub(crate) mod mirror;
pub(crate) mod occupancy;
mod outline;
pub(crate) mod periodic;
pub(crate) mod polytope;
pub(crate) mod rounding;
pub(crate) mod scalar;
mod search;
pub(crate) mod shared;
pub(crate) mod strided_hyperplane;
pub(crate) mod successive_modulo;
pub(crate) mod window;

use crease_isl::Set;
use crease_program::{Element, Mapped};

use crate::analysis::conflicts::Conflicts;
use crate::analysis::model::{AnalysisError, Model};
use crate::analysis::turnover::Readers;
use crate::check::Checker;
use crate::kernel::KernelError;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, Role};
use crate::machine::MachineModel;
use crate::mapping::mirror::Rings;
use crate::mapping::rounding::Rounding;

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
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
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

/// What strategies see.
pub(crate) struct Problem<'a, 'c, 'k> {
    pub(crate) model: &'a Model<'c, 'k>,
    pub(crate) conflicts: &'a Conflicts<'c, 'k>,
    /// Proves proposals; it tells nothing of what it knows.
    pub(crate) checker: &'a Checker<'c, 'k>,
    /// Steps that full storage of a state array shall hold.
    pub(crate) horizon: Option<u64>,
    /// What pitches and moduli of strided hyperplanes may be.
    pub(crate) rounding: Rounding,
    /// How strips get past the end of a ring.
    pub(crate) rings: Rings,
    pub(crate) machine: MachineModel,
    /// Values of arrays that the choice found alive at once.
    pub(crate) alive: std::cell::RefCell<std::collections::BTreeMap<ArrayId, u64>>,
    /// Bounds of indices found so far.
    pub(crate) spans: std::cell::RefCell<std::collections::BTreeMap<ArrayId, Vec<Span>>>,
}

/// A mapping of some arrays, not yet proved. Buffer numbers count within the proposal.
#[derive(Clone, Default)]
pub(crate) struct Proposal {
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) arrays: Vec<ArrayMapping>,
}

impl Proposal {
    /// Keeps a whole array in a new buffer, by one formula.
    pub(crate) fn keep(&mut self, array: ArrayId, buffer: Buffer, matrix: Vec<Vec<i64>>, offset: Vec<i64>) {
        let piece = Piece { when: Formula::everything(), buffer: self.buffers.len(), matrix, offset };
        self.buffers.push(buffer);
        self.arrays.push(ArrayMapping { array, pieces: vec![piece] });
    }
}

/// A way to find mappings.
pub(crate) trait Strategy {
    /// The name users choose it by.
    fn name(&self) -> &'static str;

    /// Mappings of all of `arrays` together, best first. An empty list or [`MappingError::NotApplicable`] if there are
    /// none.
    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<Proposal>, MappingError>;
}

/// Bounds of one array index over all cells that ever hold a value; none where unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) min: Option<i64>,
    pub(crate) max: Option<i64>,
}

impl Span {
    /// Number of values; none if unbounded, or if they cannot be moved to 0 and counted in 63 bits.
    pub(crate) fn extent(self) -> Option<i64> {
        self.min?.checked_neg()?;
        self.max?.checked_sub(self.min?)?.checked_add(1)
    }
}

impl<'a, 'c> Problem<'a, 'c, '_> {
    /// The same problem with another rounding.
    pub(crate) fn rounded(&self, rounding: Rounding) -> Self {
        let Problem { model, conflicts, checker, horizon, rings, machine, .. } = *self;
        let (alive, spans) = (self.alive.clone(), self.spans.clone());
        Problem { model, conflicts, checker, horizon, rounding, rings, machine, alive, spans }
    }

    /// Arrays that are ours to fold.
    pub(crate) fn folded_arrays(&self) -> Vec<ArrayId> {
        let kernel = self.model.kernel;
        kernel.array_ids().filter(|&id| matches!(kernel.array(id).role, Role::Temp | Role::State)).collect()
    }

    /// Cells of an array that ever hold a value, over all values of the run parameters.
    pub(crate) fn cells(&self, array: ArrayId) -> Result<Set<'c>, MappingError> {
        Ok(self.conflicts.cells(array)?.project_out_params()?)
    }

    /// Bounds of each index.
    pub(crate) fn spans(&self, array: ArrayId) -> Result<Vec<Span>, MappingError> {
        if let Some(known) = self.spans.borrow().get(&array) {
            return Ok(known.clone());
        }
        if let Some(readers) = self.readers(array) {
            let unbounded = Span { min: Some(0), max: None };
            let bounded = readers.space.ranges().iter().map(|&(low, high)| Span { min: Some(low), max: Some(high) });
            return Ok([unbounded].into_iter().chain(bounded).collect());
        }
        let cells = self.cells(array)?;
        let n = self.model.kernel.array(array).index.len();
        let bound = |k| Ok(Span { min: cells.dim_min(k)?, max: cells.dim_max(k)? });
        let spans = if cells.is_empty()? {
            vec![Span { min: Some(0), max: Some(0) }; n]
        } else {
            (0..n).map(bound).collect::<Result<Vec<_>, MappingError>>()?
        };
        self.spans.borrow_mut().insert(array, spans.clone());
        Ok(spans)
    }

    /// Who reads a state's cells, if every step replaces the states alike and none is empty.
    pub(crate) fn readers(&self, array: ArrayId) -> Option<&'a Readers> {
        self.model.turnover.as_ref()?.readers(array).filter(|readers| !readers.space.is_empty())
    }

    /// A buffer for one array, named after it.
    pub(crate) fn buffer_for(&self, array: ArrayId, moduli: Vec<i64>, strategy: &'static str) -> Buffer {
        debug_assert!(moduli.iter().all(|&modulus| modulus > 0), "moduli are positive: {moduli:?}");
        let sharing = self.sharing(array);
        let array = self.model.kernel.array(array);
        let (name, element) = (array.name.clone(), array.element);
        Buffer { name, element, moduli, sharing, mapped: Mapped::Once, strategy }
    }

    /// Whether the array's buffer is one for all workers.
    pub(crate) fn sharing(&self, array: ArrayId) -> Sharing {
        if self.conflicts.is_private(array) { Sharing::Private } else { Sharing::Shared }
    }
}

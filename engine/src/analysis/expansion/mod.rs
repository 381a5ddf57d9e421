//! Expansion: a kernel in which every write has cells of its own, so that storage can be allocated anew.
//!
//! In: a kernel whose temporary arrays are written several times per cell, and the schedule that says what it means.
//! Out: a kernel that computes the same in single assignment.
//! Sources: Feautrier (1991), "Dataflow analysis of array and scalar references", for the expansion; the two views of
//! memory, array contraction and memory reallocation, are those of GeCoS (`StorageView`).
//!
//! An array `s` that statement `S[i]` writes becomes `s_S[i]`: the writing instance is the index. A read takes the cell
//! of the last write before it (`sources`). Where that is another statement, or another function of the iterators, in
//! different parts of a domain, the reading statement is split (`rewrite`), so that no guard remains in the code. Sizes
//! stay parameters.
//!
//! Storage that is found for the expanded kernel may be smaller than what contraction leaves of the arrays as they are
//! named, as the values of one name need not share, and larger: in an order that only keeps the dataflow, more
//! values may be alive than the array had cells.
//!
//! Arrays of the caller, states, and arrays with live-in or live-out cells keep their names.

mod constraints;
mod rewrite;
mod sources;

pub(crate) use constraints::formula as set_formula;

use crease_isl::Context;

use crate::analysis::error::AnalysisError;
use crate::analysis::model::Model;
use crate::kernel::affine::AffineOverflow;
use crate::kernel::fast_math::Arithmetic;
use crate::kernel::graph::{ArrayId, Kernel, Role};
use crate::kernel::{BoundKernel, KernelError};
use crate::schedule::IllegalSchedule;
use crate::schedule::legality::{LegalityError, verify_schedule};

/// Integer-set operations that an expansion may use.
const EXPANSION_QUOTA: u64 = 200_000_000;

/// A kernel in single assignment, but for the arrays that keep their names.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Expanded {
    /// The kernel.
    pub kernel: Kernel,
    /// Names of the arrays that were expanded, each with those that took its place.
    pub arrays: Vec<(String, Vec<String>)>,
    /// Arrays written several times per cell that were not, with the reasons.
    pub notes: Vec<String>,
}

/// Why a kernel was not expanded.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "expansion/")]
#[non_exhaustive]
pub enum ExpansionError {
    /// The kernel has no such schedule.
    #[error("kernel `{kernel}` has no schedule `{schedule}` that says which write a read sees")]
    UnknownSchedule {
        /// The kernel.
        kernel: String,
        /// The name asked for.
        schedule: String,
    },
    /// The reads of a statement see writes of too many kinds in too many combinations.
    #[error("the reads of `{statement}` see different writes in more than {limit} parts of its domain")]
    TooManyParts {
        /// The statement.
        statement: String,
        /// The limit.
        limit: usize,
    },
    /// In this schedule no certain write is the last before some read.
    #[error(transparent)]
    #[strum(transparent)]
    Illegal(#[from] IllegalSchedule),
    /// An analysis failed or used up its quota.
    #[error(transparent)]
    #[strum(transparent)]
    Analysis(#[from] AnalysisError),
    /// The expanded kernel is not valid.
    #[error(transparent)]
    #[strum(transparent)]
    Kernel(#[from] KernelError),
}

impl From<LegalityError> for ExpansionError {
    fn from(error: LegalityError) -> Self {
        match error {
            LegalityError::Illegal(error) => ExpansionError::Illegal(error),
            LegalityError::Analysis(error) => ExpansionError::Analysis(error),
        }
    }
}

impl From<crease_isl::IslError> for ExpansionError {
    fn from(error: crease_isl::IslError) -> Self {
        ExpansionError::Analysis(error.into())
    }
}

impl From<AffineOverflow> for ExpansionError {
    fn from(error: AffineOverflow) -> Self {
        ExpansionError::Analysis(error.into())
    }
}

impl Kernel {
    /// The same computation with cells of its own for every write of a temporary array that is written several times
    /// per cell. `schedule` decides which write a read sees. All schedules are kept: under the expanded kernel one is
    /// legal if it writes every value before it is read, even if it overwrites names too early for the kernel as it is.
    ///
    /// # Errors
    /// [`ExpansionError`] if there is no such schedule, if it is illegal, or if the reads of a statement see too many
    /// kinds of writes.
    ///
    /// ```
    /// use crease::Kernel;
    ///
    /// let kernel = Kernel::parse("
    ///     kernel prefix(size N) for N >= 2 {
    ///       input a[i]: f64 for 0 <= i < N
    ///       temp s[]: f64
    ///       output b[i]: f64 for 0 <= i < N
    ///       Z[] { s[] = 0 }
    ///       S[i] for 0 <= i < N { s[] = s[] + a[i] }
    ///       B[i] for 0 <= i < N { b[i] = s[] / N }
    ///       schedule seq { Z -> [-1, 0]; S -> [i, 0]; B -> [i, 1] }
    ///     }")?;
    /// let expanded = kernel.expanded("seq")?;
    /// assert_eq!(expanded.arrays, [("s".to_string(), vec!["s_Z".to_string(), "s_S".to_string()])]);
    /// # Ok::<(), crease::Error>(())
    /// ```
    pub fn expanded(&self, schedule: &str) -> Result<Expanded, ExpansionError> {
        if self.arithmetic() != Arithmetic::EXACT {
            // Loads that become equal in one part of a statement must not round differently there.
            return self.rewritten().expanded(schedule);
        }
        let Some(schedule) = self.schedule(schedule) else {
            let (kernel, schedule) = (self.name().to_owned(), schedule.to_owned());
            return Err(ExpansionError::UnknownSchedule { kernel, schedule });
        };
        let context = Context::new(EXPANSION_QUOTA)?;
        let model = Model::new(&context, self, schedule)?;
        verify_schedule(&model, None)?;
        let (mut arrays, mut notes) = (Vec::new(), Vec::new());
        for array in self.array_ids().filter(|&array| self.array(array).role == Role::Temp) {
            if model.writes(array)?.is_single_valued()? {
                continue;
            }
            match may_expand(&model, array)? {
                Ok(()) => arrays.push(array),
                Err(reason) => notes.push(format!("`{}` keeps its name: {reason}", self.array(array).name)),
            }
        }
        rewrite::rewrite(&model, &arrays, notes)
    }
}

/// Cells of an array's bounding box; none if it has no bounds.
pub(crate) fn box_cells(bound: &BoundKernel, array: ArrayId) -> Result<Option<u64>, AnalysisError> {
    let (context, kernel) = (Context::new(EXPANSION_QUOTA)?, bound.kernel());
    let model = Model::new(&context, kernel, bound.schedule())?;
    let space = model.index_space(array)?.project_out_params()?;
    let mut cells = Some(1_u64);
    for k in 0..kernel.array(array).index.len() {
        let extent =
            space.dim_range(k)?.and_then(|(low, high)| u64::try_from(high.checked_sub(low)?.checked_add(1)?).ok());
        cells = cells.zip(extent).and_then(|(cells, extent)| cells.checked_mul(extent));
    }
    Ok(cells)
}

/// Whether an array can be expanded; else the reason.
fn may_expand(model: &Model<'_, '_>, array: ArrayId) -> Result<Result<(), &'static str>, ExpansionError> {
    if !model.live_in(array).is_empty()? {
        return Ok(Err("some of its cells are live-in"));
    }
    if !model.live_out(array).is_empty()? {
        return Ok(Err("some of its cells are live-out"));
    }
    Ok(Ok(()))
}

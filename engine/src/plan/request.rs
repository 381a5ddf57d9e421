//! What is asked for: a kernel, its sizes and schedule, and what a plan may take. Made by the builder.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crease_jit::PlanCache;

use crate::analysis::error::AnalysisError;
use crate::error::Error;
use crate::kernel::graph::{Kernel, Param, ParamId, ParamKind, Schedule};
use crate::kernel::{BoundKernel, Unbound, sizes_text};
use crate::machine::MachineModel;
use crate::plan::error::PlanError;
use crate::plan::outcome::Outcome;
use crate::plan::search::ScheduleSearch;
use crate::storage::options::{Objective, Rings, Rounding, StrategyChoice};

/// What a plan is made from.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The kernel with its sizes and schedule.
    pub(crate) bound: Arc<BoundKernel>,
    pub(crate) strategy: StrategyChoice,
    pub(crate) objective: Objective,
    pub(crate) rounding: Rounding,
    pub(crate) rings: Rings,
    /// Rules of given storage; none if empty.
    pub(crate) mapping: String,
    pub(crate) horizon: Option<u64>,
    /// Threads that runs have, if there is something to do for them.
    pub(crate) threads: usize,
    /// Whether the caller named that number.
    pub(crate) names_threads: bool,
    pub(crate) cap_bytes: Option<u64>,
    pub(crate) machine: MachineModel,
    pub(crate) quota: u64,
    /// Operations that lowering may write, and compiling too.
    pub(crate) work_limit: u64,
    /// Whether opaque functions run, as hashes of their arguments.
    pub(crate) runs_opaque: bool,
    /// Where code is kept for later processes.
    pub(crate) cache: PlanCache,
    /// What became of the kernel's arrays, if storage is allocated anew.
    pub(crate) expansion: Option<Expansion>,
    /// What the schedule was chosen from, if nobody wrote it.
    pub(crate) search: Option<ScheduleSearch>,
    /// That schedule, before what runs in overlapped tiles is repeated for it.
    pub(crate) found: Option<Schedule>,
    /// What is to be known of the schedule, if it was made for these sizes.
    pub(crate) schedule_note: Option<String>,
}

/// The arrays of a kernel before and after its expansion.
#[derive(Clone, Debug)]
pub(crate) struct Expansion {
    /// Names of arrays that were expanded, the cells each had, if they can be counted, and those that took its place.
    pub(crate) arrays: Vec<(String, Option<u64>, Vec<String>)>,
    /// Arrays that keep their names.
    pub(crate) notes: Vec<String>,
}

impl Request {
    /// The kernel as it was written.
    pub(crate) fn kernel(&self) -> &Kernel {
        self.bound.written()
    }

    /// Each size with its name.
    pub(crate) fn sizes(&self) -> Vec<(String, i64)> {
        let name = |(param, size): (ParamId, i64)| (self.kernel().params()[param.index()].name.clone(), size);
        self.bound.sizes().map(name).collect()
    }

    /// The same at other sizes.
    ///
    /// # Errors
    /// [`Unbound`] if the kernel is not defined there.
    pub(crate) fn at(&self, sizes: &[i64]) -> Result<Request, Unbound> {
        let bound = BoundKernel::new(Arc::clone(self.bound.written()), self.bound.position(), sizes.to_vec())?;
        Ok(Request { bound: Arc::new(bound), ..self.clone() })
    }
}

/// The kernel with what was given for its sizes.
///
/// # Errors
/// [`PlanError::MissingSize`], [`PlanError::OutsideContext`]; [`Error::Analysis`] if a number leaves 64 bits.
pub(crate) fn bind(kernel: Arc<Kernel>, schedule: usize, given: &BTreeMap<String, i64>) -> Result<BoundKernel, Error> {
    let values = size_values(&kernel, given)?;
    let outside = || {
        let params: Vec<String> = kernel.params().iter().map(|param| param.name.clone()).collect();
        PlanError::OutsideContext {
            kernel: kernel.name().to_string(),
            sizes: sizes_text(&kernel, &values),
            context: kernel.context().display(&[], &params),
        }
    };
    BoundKernel::new(Arc::clone(&kernel), schedule, values.clone()).map_err(|unbound| match unbound {
        Unbound::OutsideContext => outside().into(),
        Unbound::Overflow(overflow) => AnalysisError::from(overflow).into(),
    })
}

/// What was given for each size parameter, in the order of their declarations.
///
/// # Errors
/// [`PlanError::MissingSize`].
pub(crate) fn size_values(kernel: &Kernel, given: &BTreeMap<String, i64>) -> Result<Vec<i64>, PlanError> {
    let sizes = kernel.params().iter().filter(|param| param.kind == ParamKind::Size);
    let value = |param: &Param| {
        let missing = || PlanError::MissingSize { kernel: kernel.name().to_string(), param: param.name.clone() };
        given.get(&param.name).copied().ok_or_else(missing)
    };
    sizes.map(value).collect()
}

impl Expansion {
    /// What became of each array, and whether its values need more cells than it had.
    pub(crate) fn notes(&self, request: &Request, outcome: &Outcome) -> Vec<String> {
        let mut notes = self.notes.clone();
        for (name, before, into) in &self.arrays {
            let pieces = into.iter().filter_map(|name| outcome.layout.array(request.kernel().array_id(name)?));
            let buffers: BTreeSet<usize> =
                pieces.flat_map(|mapping| &mapping.pieces).map(|piece| piece.buffer).collect();
            let after = buffers.iter().fold(0_u64, |sum, &b| sum.saturating_add(outcome.layout.buffers[b].cells));
            let list = into.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            notes.push(match before {
                Some(before) if after > *before => {
                    format!("`{name}`, allocated anew as {list}, takes {after} cells, more than the {before} it has")
                }
                Some(before) => {
                    format!("`{name}`, allocated anew as {list}, takes {after} cells of the {before} it has")
                }
                None => format!("`{name}`, allocated anew as {list}, takes {after} cells"),
            });
        }
        notes
    }
}

//! What is asked for: a kernel, its sizes and schedule, and what a plan may take. Made by the builder.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::kernel::graph::Kernel;
use crate::machine::MachineModel;
use crate::plan::error::PlanError;
use crate::plan::outcome::Outcome;
use crate::storage::options::{Objective, Rings, Rounding, StrategyChoice};

/// What a plan is made from.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) kernel: Arc<Kernel>,
    /// Position of the schedule.
    pub(crate) schedule: usize,
    /// Per parameter, its value; none for run parameters.
    pub(crate) values: Vec<Option<i64>>,
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
    /// What became of the kernel's arrays, if storage is allocated anew.
    pub(crate) expansion: Option<Expansion>,
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
    /// Sizes as text: `N = 3, M = 4`.
    pub(crate) fn sizes(&self) -> String {
        self.bound_sizes().iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
    }

    /// Each parameter that has a value.
    pub(crate) fn bound_sizes(&self) -> Vec<(String, i64)> {
        let bound = self.kernel.params().iter().zip(&self.values);
        bound.filter_map(|(param, value)| Some((param.name.clone(), (*value)?))).collect()
    }

    /// Whether the kernel is defined at these sizes.
    pub(crate) fn verify_context(&self) -> Result<(), PlanError> {
        let values: Vec<i64> = self.values.iter().map(|v| v.unwrap_or(1)).collect();
        if self.kernel.context().holds(&[], &values).unwrap_or(false) {
            return Ok(());
        }
        let names: Vec<String> = self.kernel.params().iter().map(|p| p.name.clone()).collect();
        let context = self.kernel.context().display(&[], &names);
        Err(PlanError::OutsideContext { kernel: self.kernel.name().to_string(), sizes: self.sizes(), context })
    }
}

impl Expansion {
    /// What became of each array, and whether its values need more cells than it had.
    pub(crate) fn notes(&self, request: &Request, outcome: &Outcome) -> Vec<String> {
        let mut notes = self.notes.clone();
        for (name, before, into) in &self.arrays {
            let pieces = into.iter().filter_map(|name| outcome.layout.array(request.kernel.array_id(name)?));
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

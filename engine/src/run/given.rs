//! What a run has been given: which arrays, and which levels of them, hold values.
//!
//! In: writes, and steps that were computed.   Out: whether a call may begin, and whether an array may be read.
//!
//! Storage begins as zeros, so an array that was forgotten would compute something, and the answer would be wrong
//! without a word. Zeros that are meant are given like other values ([`Run::fill`](crate::Run::fill)).

use crate::kernel::graph::{Array, ArrayId, Kernel, Role};
use crate::run::RunError;

/// Per array and level before the first step, whether it has been given. An array that is no state has one level; an
/// output's counts from the call that computes it.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    levels: Vec<Vec<bool>>,
}

impl Given {
    /// Nothing yet.
    pub(crate) fn nothing(kernel: &Kernel) -> Given {
        let levels = kernel.array_ids().map(|id| vec![false; kernel.state_depth(id).max(1) as usize]);
        Given { levels: levels.collect() }
    }

    /// The level `back` steps before `step` is written.
    pub(crate) fn note(&mut self, kernel: &Kernel, id: ArrayId, back: u32, step: i64) {
        // A level of a step that was computed has a value already.
        let level = level_before_first(kernel, id, back, step);
        if let Some(level) = level.and_then(|level| self.levels[id.index()].get_mut(level)) {
            *level = true;
        }
    }

    /// A call has computed all outputs.
    pub(crate) fn note_outputs(&mut self, kernel: &Kernel) {
        for id in kernel.array_ids().filter(|&id| kernel.array(id).role == Role::Output) {
            self.levels[id.index()].fill(true);
        }
    }

    /// Whether a call that begins at `step` has all that it reads or keeps.
    pub(crate) fn verify_all(&self, kernel: &Kernel, step: i64) -> Result<(), RunError> {
        let needed = |id: &ArrayId| match kernel.array(*id).role {
            Role::Input => true,
            // What cells keep that no statement writes.
            Role::Output => kernel.array(*id).live_in.is_some(),
            // Once steps were computed, all that was needed before the first of them had been given.
            Role::State => step == 0 && is_read(kernel, *id),
            Role::Temp => false,
        };
        for id in kernel.array_ids().filter(needed) {
            if let Some(back) = self.levels[id.index()].iter().position(|given| !given) {
                let Array { name, role, .. } = kernel.array(id);
                let (kernel, array) = (kernel.name().to_string(), name.clone());
                return Err(match role {
                    Role::State => RunError::StateNotGiven { kernel, array, back: back as u32 },
                    Role::Output => RunError::OutputNotGiven { kernel, array },
                    _ => RunError::InputNotGiven { kernel, array },
                });
            }
        }
        Ok(())
    }

    /// Whether the level `back` steps before `step` holds anything.
    pub(crate) fn verify_one(&self, kernel: &Kernel, id: ArrayId, back: u32, step: i64) -> Result<(), RunError> {
        let is_computed = kernel.array(id).role == Role::State && i64::from(back) < step;
        let level = level_before_first(kernel, id, back, step).and_then(|level| self.levels[id.index()].get(level));
        if is_computed || level.copied().unwrap_or(false) {
            return Ok(());
        }
        let (kernel, array) = (kernel.name().to_string(), kernel.array(id).name.clone());
        Err(RunError::NoValue { kernel, array, back })
    }
}

/// How many levels before the first one that a run was given a level is; none if it was computed since.
fn level_before_first(kernel: &Kernel, id: ArrayId, back: u32, step: i64) -> Option<usize> {
    let steps = if kernel.array(id).role == Role::State { step } else { 0 };
    usize::try_from(i64::from(back) - steps).ok()
}

/// Whether some statement reads the array.
fn is_read(kernel: &Kernel, id: ArrayId) -> bool {
    kernel.stmts().iter().any(|stmt| stmt.reads().any(|(array, _)| array == id))
}

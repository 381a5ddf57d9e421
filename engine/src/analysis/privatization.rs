//! Privatization: which arrays hold values only inside single tasks of a parallel loop.
//!
//! In: a model.   Out: [`Privatization`].   Source: docs/ARCHITECTURE.md, section 3; tile-local buffers of
//! Bhaskaracharya, Bondhugula and Cohen (2016).
//!
//! A **task** is one iteration of the outermost parallel loop: all instances whose time vectors agree up to and
//! including the first parallel dimension. A worker runs a task to its end before it begins another. So an array each
//! cell of which is used in one task only needs storage for one task, and a copy of that storage for each worker,
//! however many tasks there are: values of different tasks do not conflict. This is derived from all reads and writes,
//! never declared.
//!
//! Cost: one test for single-valuedness per temporary array.

use crease_isl::Map;

use crate::analysis::error::AnalysisError;
use crate::analysis::model::Model;
use crate::kernel::graph::{ArrayId, Role};
pub(crate) use crate::schedule::order::task_depth;

/// Which arrays are private to tasks.
pub(crate) struct Privatization<'c> {
    private: Vec<bool>,
    /// Pairs of extended times of one task; none if no array is private.
    pub(crate) same_task: Option<Map<'c>>,
}

impl<'c> Privatization<'c> {
    /// Every array is shared.
    pub(crate) fn none() -> Privatization<'c> {
        Privatization { private: Vec::new(), same_task: None }
    }

    /// Finds the private arrays: temporary ones, not live-in or live-out, all uses of each cell in one task.
    pub(crate) fn new(model: &Model<'c, '_>) -> Result<Privatization<'c>, AnalysisError> {
        let Some(depth) = task_depth(model.schedule) else {
            return Ok(Privatization::none());
        };
        let mut privatization = Privatization::none();
        for id in model.kernel.array_ids() {
            privatization.private.push(is_private(model, id, depth)?);
        }
        if privatization.private.contains(&true) {
            privatization.same_task = Some(model.order.equal_up_to(depth + 1)?);
        }
        Ok(privatization)
    }

    /// Whether each worker has storage of its own for the array.
    pub(crate) fn is_private(&self, array: ArrayId) -> bool {
        self.private.get(array.index()).copied().unwrap_or(false)
    }
}

fn is_private(model: &Model<'_, '_>, id: ArrayId, depth: usize) -> Result<bool, AnalysisError> {
    if model.kernel.array(id).role != Role::Temp {
        return Ok(false);
    }
    if !model.live_in(id).is_empty()? || !model.live_out(id).is_empty()? {
        return Ok(false);
    }
    let events = model.writes(id)?.union(model.reads(id)?)?;
    if events.is_empty()? {
        return Ok(false);
    }
    // The epoch comes first.
    let inside = depth + 1;
    Ok(events.project_out_out(inside, model.order.n_dims() - inside)?.coalesce()?.is_single_valued()?)
}

//! Code of the steps with observers among them: planned and compiled once for all runs, when it may pay.
//!
//! In: names of observers that reduce nothing.   Out: code for the last steps of a call, on the storage that the steps
//! have; none if their statements have no legal place in the schedule of the plan (`beside::fused`).

use std::sync::{Arc, PoisonError};

use crease_jit::{BufferRef, compile_cached};
use log::debug;

use crate::error::Error;
use crate::pipeline::beside;
use crate::run::Run;
use crate::run::observed::Fused;
use crate::run::shared::Shared;

impl Shared {
    /// The code of steps with these observers, which is made if it was not yet.
    pub(super) fn fused(&self, names: &[String]) -> Option<Arc<Fused>> {
        if let Some(known) = self.fused_so_far(names) {
            return known;
        }
        let found = self.make_fused(names).unwrap_or_else(|error| {
            debug!("observers stay behind the steps: {error}");
            None
        });
        let mut all = self.fused.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been faster: one of the two is kept.
        all.entry(names.to_vec()).or_insert(found.map(Arc::new)).clone()
    }

    /// The same if it was looked for already: the code, or that there is none.
    pub(super) fn fused_so_far(&self, names: &[String]) -> Option<Option<Arc<Fused>>> {
        self.fused.lock().unwrap_or_else(PoisonError::into_inner).get(names).cloned()
    }

    fn make_fused(&self, names: &[String]) -> Result<Option<Fused>, Error> {
        let observers = names.iter().map(|name| self.observer(name).cloned()).collect::<Result<Vec<_>, _>>()?;
        let Some((layout, program)) = beside::fused(&self.request, &self.outcome.layout, &observers)? else {
            return Ok(None);
        };
        let (compiled, _) = compile_cached(&program, &self.options, &self.request.cache)?;
        Ok(Some(Fused { compiled, layout }))
    }
}

impl Run {
    /// Runs the steps after `from`, up to `to`, and in the last of them the observers.
    pub(super) fn call_fused(
        &mut self,
        fused: &Fused,
        (from, to): (i64, i64),
        outputs: &mut [BufferRef<'_>],
    ) -> Result<(), Error> {
        let args = [from, to];
        self.prepare(&args, &[])?;
        let outputs = outputs.iter_mut().map(BufferRef::reborrow);
        self.call_beside(&args, &fused.layout, outputs, |call| fused.compiled.run(call))?;
        self.given.note_outputs(self.shared.kernel(), &[]);
        Ok(())
    }
}

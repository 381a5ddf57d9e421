//! Calls whose steps are too few for all bands of a schedule, and the last steps of others: in bands of fewer steps.
//!
//! In: the steps of a call.   Out: whole bands, and programs for what is left, in smaller ones (`schedule::bands`).
//!
//! Bands of `B` steps, `P` of them at once, take `P B` steps together. Of fewer, the first bands have most, and some
//! threads wait. A program in bands of so many steps that all threads have as many stands on the same storage, so that a
//! run may change between the two at any step, with the same bits. It is planned and compiled when it would have saved
//! as much time as the plan took, so that nobody waits for what pays for nobody, and is kept with the code.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crease_jit::Compiled;

use crate::schedule::bands::{Bands, Shares};

/// The bands of code, and its programs in smaller ones.
#[derive(Debug)]
pub(super) struct SmallerBands {
    pub(super) bands: Bands,
    /// By the steps of a band: those that were wanted.
    programs: Mutex<BTreeMap<i64, Arc<InFewerSteps>>>,
}

/// A program in bands of fewer steps.
#[derive(Debug, Default)]
pub(super) struct InFewerSteps {
    /// Nanoseconds that it would have saved, so far.
    saved: AtomicU64,
    /// None if there is no such program.
    pub(super) program: OnceLock<Option<Compiled>>,
}

impl SmallerBands {
    pub(super) fn new(bands: Bands) -> SmallerBands {
        SmallerBands { bands, programs: Mutex::default() }
    }

    /// The last step of the last whole bands of a call.
    pub(super) fn whole_bands(&self, from: i64, to: i64) -> i64 {
        to - (to - from).rem_euclid(self.bands.steps_together())
    }

    /// The program in bands of so many steps, once it has paid.
    pub(super) fn in_fewer_steps(&self, steps: i64) -> Arc<InFewerSteps> {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(programs.entry(steps).or_default())
    }
}

impl InFewerSteps {
    /// Notes what it would have saved of a call that took so long.
    pub(super) fn note(&self, elapsed: Duration, shares: &Shares) {
        let Shares { most, evenly, .. } = *shares;
        let saved = elapsed.as_nanos() * most.saturating_sub(evenly).max(0) as u128 / most.max(1) as u128;
        self.saved.fetch_add(u64::try_from(saved).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(super) fn has_paid(&self, planning: Duration) -> bool {
        Duration::from_nanos(self.saved.load(Ordering::Relaxed)) >= planning
    }
}

//! Memory: whether a run keeps to the plan's cap and to what there is, before anything is allocated.
//!
//! In: the footprint of a run, its options.   Out: nothing, or an error with the numbers and the sizes that would fit.

use crate::plan::footprint::Footprint;
use crate::plan::{hint, largest_fitting};
use crate::run::available::{AvailableMemory, LimitedBy, available_memory};
use crate::run::shared::Shared;
use crate::run::{MemoryCheck, RunError};

/// Less than this is not compared with what the machine has: asking takes as long as a small call.
const CHECKED_FROM_BYTES: u64 = 16 << 20;
/// Predictions may be off by one part in this many, and by as much as is not compared.
const TOLERANCE: u64 = 50;

/// What a run keeps, of its footprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// What it cannot do without.
    Least,
    /// Copies of all arrays of the caller, too.
    Copies,
}

impl Keeps {
    fn bytes(self, footprint: &Footprint) -> u64 {
        match self {
            Keeps::Least => footprint.least_bytes(),
            Keeps::Copies => footprint.total_bytes(),
        }
    }

    fn memory_bytes(self, footprint: &Footprint) -> u64 {
        match self {
            Keeps::Least => footprint.least_memory_bytes(),
            Keeps::Copies => footprint.total_memory_bytes(),
        }
    }
}

impl Shared {
    /// Whether a run on this many threads keeps to the plan's cap.
    pub(crate) fn verify_cap(&self, threads: usize, keeps: Keeps) -> Result<(), RunError> {
        let needed_bytes = keeps.bytes(&self.footprint(threads));
        match self.request.cap_bytes.filter(|cap| needed_bytes > *cap) {
            Some(cap_bytes) => {
                let kernel = self.kernel().name().to_string();
                Err(RunError::TooLarge { kernel, threads, needed_bytes, cap_bytes })
            }
            None => Ok(()),
        }
    }

    /// Whether there is memory for a run on this many threads, of which `has_bytes` are allocated already.
    pub(crate) fn verify_memory(
        &self,
        threads: usize,
        keeps: Keeps,
        has_bytes: u64,
        check: MemoryCheck,
    ) -> Result<(), RunError> {
        let needed_bytes = keeps.memory_bytes(&self.footprint(threads)).saturating_sub(has_bytes);
        let Some(available) = available(check, needed_bytes, has_bytes) else { return Ok(()) };
        if needed_bytes <= available.bytes {
            return Ok(());
        }
        let storage = self.outcome.storage(self.kernel());
        let measure = |footprint: &Footprint| keeps.memory_bytes(footprint).saturating_sub(has_bytes);
        let fit = largest_fitting(&self.request, &storage, threads, &measure, available.bytes);
        Err(RunError::OutOfMemory {
            kernel: self.kernel().name().to_string(),
            needed_bytes,
            available_bytes: available.bytes,
            limited_by: available.limited_by,
            fits: hint(fit.as_ref()),
        })
    }

    fn footprint(&self, threads: usize) -> Footprint {
        Footprint::new(self.kernel(), &self.outcome.storage(self.kernel()), threads)
    }
}

/// What this many bytes are compared with, if with anything, where the run has some already.
fn available(check: MemoryCheck, needed_bytes: u64, has_bytes: u64) -> Option<AvailableMemory> {
    match check {
        MemoryCheck::Unchecked => None,
        MemoryCheck::Limit(limit) => {
            Some(AvailableMemory { bytes: limit.saturating_sub(has_bytes), limited_by: LimitedBy::Option })
        }
        MemoryCheck::Available if needed_bytes < CHECKED_FROM_BYTES => None,
        MemoryCheck::Available => {
            let AvailableMemory { bytes, limited_by } = available_memory()?;
            let spared = (bytes / TOLERANCE).saturating_add(CHECKED_FROM_BYTES);
            Some(AvailableMemory { bytes: bytes.saturating_sub(spared), limited_by })
        }
    }
}

//! When a run looks for NaN.

/// Every so many steps, over however many calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct NanMonitor {
    pub(super) every: u64,
    /// The step at which there was none, or where the monitor began.
    pub(super) looked: i64,
}

impl NanMonitor {
    /// Steps until it is to look; none if it is time to.
    pub(super) fn steps_left(&self, step: i64) -> u64 {
        self.every.saturating_sub(step.abs_diff(self.looked))
    }
}

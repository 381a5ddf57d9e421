//! Two ways to the same bits, and which of them is faster.
//!
//! In: how long each took for so many steps.   Out: which one comes next.
//!
//! The two are timed in turns, as what the machine does besides changes slowly; then the faster one stays.

use std::time::Duration;

use crate::run::short_times::Times;

/// Times of one way and of another, which comes first and stays if it is no slower.
#[derive(Debug, Default)]
pub(super) struct TwoWays {
    one: Times,
    other: Times,
}

impl TwoWays {
    /// Whether the next one takes the other way.
    pub(super) fn takes_other(&self) -> bool {
        match self.one.are_enough() && self.other.are_enough() {
            true => self.other.least <= self.one.least,
            false => self.other.calls <= self.one.calls,
        }
    }

    /// Notes how long some steps took.
    pub(super) fn note(&mut self, is_other: bool, elapsed: Duration, steps: i64) {
        let times = if is_other { &mut self.other } else { &mut self.one };
        times.note(elapsed, steps);
    }

    /// How often the one and the other were noted.
    #[cfg(test)]
    pub(super) fn calls(&self) -> (u32, u32) {
        (self.one.calls, self.other.calls)
    }
}

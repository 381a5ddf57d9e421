//! Times of calls of few steps, in tiles and by step, and which of the two is faster.
//!
//! In: calls, as they end.   Out: which program the next one takes.

use std::time::Duration;

/// Calls of each program that are timed, after the first, before the faster one is taken: the fastest of them counts,
/// so that what else the machine does seldom decides.
const TIMED_CALLS: u32 = 4;

/// What a run knows of its short calls.
#[derive(Debug, Default)]
pub(super) struct ShortCalls {
    /// Time of those in tiles, so far.
    pub(super) in_tiles: Duration,
    pub(super) tiles: Times,
    pub(super) by_step: Times,
}

/// Times of calls of one program.
#[derive(Debug, Default)]
pub(super) struct Times {
    pub(super) calls: u32,
    /// Seconds of a step, in the fastest call.
    pub(super) least: Option<f64>,
}

impl Times {
    /// Notes a call; the first one finds cold caches and counts for nothing.
    pub(super) fn note(&mut self, elapsed: Duration, steps: i64) {
        let seconds = elapsed.as_secs_f64() / steps as f64;
        if self.calls > 0 {
            self.least = Some(self.least.map_or(seconds, |least| least.min(seconds)));
        }
        self.calls = self.calls.saturating_add(1);
    }

    pub(super) fn are_enough(&self) -> bool {
        self.calls > TIMED_CALLS
    }
}

impl ShortCalls {
    /// Whether the next one is run by step, where that can be.
    pub(super) fn takes_by_step(&self) -> bool {
        match (self.by_step.are_enough(), self.tiles.are_enough()) {
            (false, _) => true,
            (true, false) => false,
            (true, true) => self.by_step.least <= self.tiles.least,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_faster_program_is_taken_after_some_calls_of_both() {
        let mut known = ShortCalls::default();
        let milliseconds = Duration::from_millis;
        for _ in 0..=TIMED_CALLS {
            assert!(known.takes_by_step());
            known.by_step.note(milliseconds(3), 1);
        }
        for _ in 0..=TIMED_CALLS {
            assert!(!known.takes_by_step());
            known.tiles.note(milliseconds(8), 2);
        }
        assert!(known.takes_by_step());
        known.tiles.note(milliseconds(1), 1);
        assert!(!known.takes_by_step());
    }
}

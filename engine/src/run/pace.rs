//! How many steps take some time, for callers that look at something else in between.
//!
//! In: how long calls took.   Out: the steps of the next one.
//!
//! Every call ends its tiles of time, so a call that ends inside of one costs speed, and so do many short ones. What is
//! known is how long the last long call took, so that short ones in between do not start it again.

use std::time::Duration;

/// By how much more steps a call may have than the last one: steps need not take the same time each. The first call of
/// a run has one. Shows in `cargo run --release --example times_of_calls`.
const LONGER_CALLS: u64 = 64;

/// What a call that took less than this part of another one says less than that one.
const PART: u32 = 4;

/// The last call that says something.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    steps: u64,
    took: Duration,
}

impl Pace {
    /// Steps that take this time, about; at least one.
    pub(super) fn steps_in(&self, time: Duration) -> u64 {
        let most = self.steps.saturating_mul(LONGER_CALLS);
        let fit = self.steps as f64 * time.as_secs_f64() / self.took.as_secs_f64().max(f64::MIN_POSITIVE);
        // What is too large for an integer becomes the largest.
        (fit as u64).min(most).max(1)
    }

    /// Learns how long a call took.
    pub(super) fn note(&mut self, steps: u64, took: Duration) {
        if steps >= self.steps || took >= self.took / PART {
            *self = Pace { steps, took };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::graph::Kernel;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn calls_grow_to_their_time() {
        let mut pace = Pace::default();
        assert_eq!(pace.steps_in(SECOND), 1, "nothing is known");
        pace.note(1, SECOND / 1000);
        assert_eq!(pace.steps_in(SECOND), 64, "one step says little");
        pace.note(16, SECOND / 2000);
        assert_eq!(pace.steps_in(SECOND), 1024);
        pace.note(256, SECOND / 5);
        assert_eq!(pace.steps_in(SECOND), 1280);
        pace.note(3, SECOND / 500);
        assert_eq!(pace.steps_in(SECOND), 1280, "a short call says less");
        pace.note(2, SECOND * 4);
        assert_eq!(pace.steps_in(SECOND), 1, "steps are slower now");
        pace.note(u64::MAX, Duration::ZERO);
        assert_eq!(pace.steps_in(SECOND), u64::MAX);
    }

    #[test]
    fn calls_end_where_tiles_of_time_end() {
        let kernel = Kernel::parse(
            "kernel line(size N; run T) {
               state u[t, x]: f64 for 0 <= x < N
               S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = 0.5 * u[t-1,x] }
               schedule rows { S -> [t, x] }
               schedule of_calls { S -> [t, x] } split(t 16) restart(t)
               schedule of_runs { S -> [t, x] } split(t 16)
             }",
        );
        let kernel = kernel.unwrap();
        let ends = |schedule: &str| {
            let code = kernel.plan().size("N", 9).schedule(schedule).build().unwrap().compile().unwrap();
            [(0, 40), (3, 43), (3, 8)].map(|(from, to)| code.shared.end_of_tiles(from, to))
        };
        assert_eq!(ends("rows"), [40, 43, 8]);
        assert_eq!(ends("of_calls"), [32, 35, 8], "the first one begins with the call");
        assert_eq!(ends("of_runs"), [31, 31, 8], "tiles are of steps 0 to 15, 16 to 31, ..");
    }
}

//! Round trips: how long a line of the cache takes from one core to another and back.
//!
//! Virtual machines are moved, and two threads have cores of one cache in one minute, and of two chiplets in the next:
//! 60 nanoseconds became 340. What hands rows from thread to thread then takes longer, what shares nothing gets the
//! bandwidth of two caches, and nothing in the machine tells; so each round of a comparison on several threads measures
//! it beside the bandwidth.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Round trips of a measurement.
const TRIPS: u64 = 4000;
/// Those before it, in which both threads get going.
const FIRST_TRIPS: u64 = 400;
/// A measurement ends after that whatever it has: threads that share one core wait for each other's turns.
const LONGEST: Duration = Duration::from_millis(50);
/// Looks between two at the clock.
const LOOKS: u32 = 1 << 12;
/// What no trip has as its number.
const OVER: u64 = u64::MAX;

/// On two lines, as processors fetch these in pairs.
#[repr(align(128))]
struct Line(AtomicU64);

/// Nanoseconds of a round trip between two threads; none if there were too few, as where both have one core.
pub fn round_trip_ns() -> Option<f64> {
    let line = Line(AtomicU64::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut next = 1;
            loop {
                match line.0.load(Ordering::Acquire) {
                    OVER => break,
                    seen if seen == next => {
                        line.0.store(next + 1, Ordering::Release);
                        next += 2;
                    }
                    _ => spin_loop(),
                }
            }
        });
        let begun = Instant::now();
        // Whether the line came back.
        let make = |trip: u64| {
            line.0.store(2 * trip + 1, Ordering::Release);
            let mut looks = 0_u32;
            while line.0.load(Ordering::Acquire) != 2 * trip + 2 {
                spin_loop();
                looks = looks.wrapping_add(1);
                if looks.is_multiple_of(LOOKS) && begun.elapsed() > LONGEST {
                    return false;
                }
            }
            true
        };
        let started = (0..FIRST_TRIPS).all(make).then(Instant::now);
        let nanoseconds = started.and_then(|started| {
            let is_whole = (FIRST_TRIPS..FIRST_TRIPS + TRIPS).all(make);
            is_whole.then(|| started.elapsed().as_secs_f64() * 1e9 / TRIPS as f64)
        });
        line.0.store(OVER, Ordering::Release);
        nanoseconds
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_takes_some_time_or_is_given_up() {
        assert!(round_trip_ns().is_none_or(|nanoseconds| nanoseconds > 0.0));
    }
}

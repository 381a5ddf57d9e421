//! The cores that threads have: how much more several threads compute at once than one does.
//!
//! Virtual machines share cores with others. Two threads of one had anything between the arithmetic of one core and
//! that of two, from one second to the next, and nothing in the machine told; so each round of a comparison measures it
//! beside the bandwidth, and what two threads gain can be told from what they were given.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

/// Additions and multiplications of each of the values, which are independent of each other and fill the units of a
/// core.
const ROUNDS: u32 = 1 << 19;
/// As many as keep multipliers and adders of a core busy, and fit its registers.
const VALUES: usize = 24;

/// Measures cores by arithmetic in registers.
#[derive(Debug)]
pub struct CoreProbe {
    /// The shortest time that one thread alone has taken.
    alone: f64,
}

impl CoreProbe {
    /// Has measured nothing yet.
    pub fn new() -> CoreProbe {
        CoreProbe { alone: f64::INFINITY }
    }

    /// How many times what one core does at its fastest `threads` threads do together.
    pub fn measure(&mut self, threads: usize) -> f64 {
        self.alone = self.alone.min(compute());
        let all_begin = Barrier::new(threads.max(1));
        let run = || {
            all_begin.wait();
            compute()
        };
        let seconds: Vec<f64> = thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
            let own = run();
            others.into_iter().filter_map(|other| other.join().ok()).chain([own]).collect()
        });
        self.alone = seconds.iter().copied().fold(self.alone, f64::min);
        seconds.iter().map(|seconds| self.alone / seconds).sum()
    }
}

impl Default for CoreProbe {
    fn default() -> CoreProbe {
        CoreProbe::new()
    }
}

/// The same work each time, in seconds.
fn compute() -> f64 {
    let mut values = black_box([1.0_f64; VALUES]);
    let started = Instant::now();
    for _ in 0..ROUNDS {
        for value in &mut values {
            *value = *value * 0.5 + 0.5;
        }
    }
    black_box(values);
    started.elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_some_cores_and_no_more_than_there_are_threads() {
        let mut probe = CoreProbe::new();
        for threads in [1, 2, 3] {
            let cores = probe.measure(threads);
            assert!(cores > 0.0 && cores <= threads as f64, "{cores} of {threads}");
        }
    }
}

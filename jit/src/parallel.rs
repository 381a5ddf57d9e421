//! Parallel loops: a pool of threads of our own, and the function compiled code calls to spread a loop over it.
//!
//! Unsafe, because iterations are compiled code behind an address, called from several threads with pointers that only
//! the caller knows to be valid.
//!
//! Iterations of a parallel loop touch no cell that another one writes, so results do not depend on the number of
//! threads or on which of them runs what. A barrier follows every loop.
//!
//! The exception are buffers with a copy per worker: an iteration writes the copy of the worker it runs on. A worker
//! has a number below the number of threads, and runs an iteration to its end before it begins another: nothing inside
//! an iteration waits, as loops inside it are sequential, so nothing can be stolen in between.
#![allow(unsafe_code)]

use crate::clif::Slot;
use crate::denormals::Denormals;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::num::NonZeroUsize;

/// Runs of iterations handed out per thread: enough to even out rows of unequal cost, few enough for two rows that
/// follow each other to be usually updated by the same core.
const RUNS_PER_THREAD: u64 = 4;

/// The degree of parallelism, and the threads to go with it.
#[derive(Debug)]
pub struct Pool {
    threads: usize,
    /// None for one thread: loops then run on the caller's.
    workers: Option<rayon::ThreadPool>,
    denormals: Denormals,
}

/// Why there is no pool.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// A pool needs at least one thread.
    #[error("a pool of 0 threads cannot run anything")]
    NoThreads,
    /// The system refused to start threads.
    #[error("cannot start {threads} threads")]
    Start {
        /// How many were asked for.
        threads: usize,
        /// Why not.
        source: rayon::ThreadPoolBuildError,
    },
    /// Denormal numbers are to be flushed, and this kind of processor is not known to do that.
    #[error("flushing denormal numbers to zero is not supported on this kind of processor")]
    Denormals,
}

impl Pool {
    /// A pool of `threads` threads; with one, loops run on the calling thread.
    ///
    /// # Errors
    /// [`PoolError::NoThreads`] for 0, [`PoolError::Start`] if the system has no more threads to give.
    pub fn new(threads: usize) -> Result<Self, PoolError> {
        let threads = NonZeroUsize::new(threads).ok_or(PoolError::NoThreads)?.get();
        if threads == 1 {
            return Ok(Self::sequential());
        }
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|at| format!("crease-{at}"));
        let workers = builder.build().map_err(|source| PoolError::Start { threads, source })?;
        Ok(Pool { threads, workers: Some(workers), denormals: Denormals::AsFound })
    }

    /// A pool of the calling thread alone.
    pub fn sequential() -> Self {
        Pool { threads: 1, workers: None, denormals: Denormals::AsFound }
    }

    /// The same threads with another choice of what they do with denormal numbers, while they run compiled code. What
    /// they do otherwise, and the calling thread too, stays as it is.
    ///
    /// # Errors
    /// [`PoolError::Denormals`] if that is not supported here.
    pub fn with_denormals(self, denormals: Denormals) -> Result<Self, PoolError> {
        denormals.verify()?;
        Ok(Pool { denormals, ..self })
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `work` on one of the pool's threads, so that the parallel loops in it need not wake the pool each time.
    pub(crate) fn enter<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.workers {
            Some(workers) => workers.install(|| self.with_choice(work)),
            None => self.with_choice(work),
        }
    }

    /// Runs compiled code on the current thread, as the pool has chosen for its threads.
    pub(crate) fn with_choice<R>(&self, work: impl FnOnce() -> R) -> R {
        let _until_done = self.denormals.enter();
        work()
    }

    /// Calls `run(worker, lo, hi)` for contiguous runs that together are `lo..hi step step`; returns when all have
    /// returned. At any time at most one call runs for a worker; workers are numbered from 0 to below the threads.
    fn for_runs(&self, lo: i64, hi: i64, step: i64, run: impl Fn(usize, i64, i64) + Sync) {
        if lo >= hi {
            return;
        }
        let Some(workers) = &self.workers else { return self.with_choice(|| run(0, lo, hi)) };
        let iterations = hi.abs_diff(lo).div_ceil(step.unsigned_abs().max(1));
        let runs = iterations.min(self.threads as u64 * RUNS_PER_THREAD);
        // Iteration counts may exceed 64 bits when multiplied by a run's number.
        let first = |at: u64| (u128::from(iterations) * u128::from(at) / u128::from(runs)) as i64;
        let bound = |at: u64| if at == runs { hi } else { lo + first(at) * step };
        let run = |at| {
            let worker = rayon::current_thread_index().expect("the pool's own threads run its loops");
            self.with_choice(|| run(worker, bound(at), bound(at + 1)));
        };
        workers.install(|| (0..runs).into_par_iter().for_each(run));
    }
}

/// The compiled body of a parallel loop: runs the iterations `lo..hi`, in steps it knows, on the worker of that number.
pub(crate) type LoopBody =
    unsafe extern "C" fn(frame: *const Slot, environment: *const i64, worker: usize, lo: i64, hi: i64);

/// What every run of a loop gets.
#[derive(Clone, Copy)]
struct Shared {
    body: LoopBody,
    frame: *const Slot,
    environment: *const i64,
}

// SAFETY: a loop body only reads the frame and the environment, which live until the loop is done; the cells it writes
// are disjoint between iterations of a parallel loop, or between the workers that run them.
unsafe impl Sync for Shared {}

impl Shared {
    /// Runs the iterations `lo..hi` on the worker of that number.
    ///
    /// # Safety
    /// The fields are those one call of [`parallel_for`] was given, and that call has not returned. The worker's number
    /// is below the threads of the pool it was given, and no other call runs for that worker.
    unsafe fn run(&self, worker: usize, lo: i64, hi: i64) {
        // SAFETY: the body, the frame and the environment belong together and are alive; see above.
        unsafe { (self.body)(self.frame, self.environment, worker, lo, hi) }
    }
}

/// Runs the iterations `lo..hi step step` of a parallel loop. Called by compiled code; does not unwind into it, as
/// nothing in a body panics.
///
/// # Safety
/// `pool` is the one this call of compiled code was started with; `body` is a loop body of the same program, to which
/// `frame` and `environment` belong.
pub(crate) unsafe extern "C" fn parallel_for(
    pool: *const Pool,
    body: LoopBody,
    frame: *const Slot,
    environment: *const i64,
    lo: i64,
    hi: i64,
    step: i64,
) {
    // SAFETY: `Compiled::run` borrows the pool for as long as its code runs.
    let pool = unsafe { &*pool };
    let shared = Shared { body, frame, environment };
    let shared = &shared;
    pool.for_runs(lo, hi, step, |worker, lo, hi| {
        // SAFETY: the fields are this call's, and `for_runs` returns only when every run has; it numbers workers below
        // its threads, for each of which `Compiled::run` has seen a copy, and gives a worker one run at a time.
        unsafe { shared.run(worker, lo, hi) }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn iterations(threads: usize, lo: i64, hi: i64, step: i64) -> Vec<i64> {
        let seen = Mutex::new(Vec::new());
        Pool::new(threads).unwrap().for_runs(lo, hi, step, |_, lo, hi| {
            let mut at = lo;
            while at < hi {
                seen.lock().unwrap().push(at);
                at += step;
            }
        });
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        seen
    }

    #[test]
    fn runs_cover_every_iteration_once() {
        for threads in 1..4 {
            for (lo, hi, step) in [(0, 0, 1), (5, 4, 1), (-3, 40, 1), (-3, 40, 7), (0, 1, 9), (0, 14, 7)] {
                let expected: Vec<i64> = (lo..hi).step_by(step as usize).collect();
                assert_eq!(iterations(threads, lo, hi, step), expected, "{threads} threads, {lo}..{hi} step {step}");
            }
        }
    }

    #[test]
    fn a_worker_has_a_number_below_the_threads_and_one_run_at_a_time() {
        for threads in 1..6 {
            let pool = Pool::new(threads).unwrap();
            let busy: Vec<AtomicBool> = (0..threads).map(|_| AtomicBool::new(false)).collect();
            let work = || {
                pool.for_runs(0, 500, 1, |worker, _, _| {
                    assert!(!busy[worker].swap(true, Ordering::SeqCst), "worker {worker} of {threads} runs twice");
                    std::thread::yield_now();
                    busy[worker].store(false, Ordering::SeqCst);
                });
            };
            work();
            pool.enter(work);
        }
    }

    #[test]
    fn no_threads_is_an_error() {
        assert!(matches!(Pool::new(0), Err(PoolError::NoThreads)));
    }
}

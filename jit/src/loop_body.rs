//! The bodies of parallel loops: compiled code, and what it is called with.
//!
//! In: the address of a body, the frame of its call, the values of variables around it.   Out: runs of iterations.
//!
//! Unsafe, because iterations are compiled code behind an address, called from several threads with pointers that only
//! the caller knows to be valid.
#![allow(unsafe_code)]

use crate::frame::Slot;

/// The compiled body of a parallel loop: runs the iterations `lo..hi`, in steps it knows, on the worker of that number.
pub(crate) type LoopBody =
    unsafe extern "C" fn(frame: *const Slot, environment: *const i64, worker: usize, lo: i64, hi: i64);

/// What every run of a loop gets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared {
    pub(crate) body: LoopBody,
    pub(crate) frame: *const Slot,
    pub(crate) environment: *const i64,
}

// SAFETY: a loop body only reads the frame and the environment, which live until the loop is done; the cells it writes
// are disjoint between iterations of a parallel loop (only a `Verified` program is compiled), or between the workers
// that run them.
unsafe impl Sync for Shared {}
// SAFETY: as above; what another thread does with it is the same.
unsafe impl Send for Shared {}

impl Shared {
    /// Runs the iterations `lo..hi` on the worker of that number.
    ///
    /// # Safety
    /// The fields are those one call of [`parallel_for`] was given, and that call has not returned. The worker's number
    /// is below the threads of the pool it was given, and no other call runs for that worker.
    pub(crate) unsafe fn run(&self, worker: usize, lo: i64, hi: i64) {
        // SAFETY: the body, the frame and the environment belong together and are alive; see above.
        unsafe { (self.body)(self.frame, self.environment, worker, lo, hi) }
    }
}

/// What a front runs.
#[derive(Debug, Default)]
pub(crate) struct Front {
    /// Its environment is the one below.
    shared: Option<Shared>,
    environment: Vec<i64>,
    /// For the recorder.
    pub(crate) number: u64,
}

impl Front {
    /// Makes it what a loop runs, with a copy of the first `captured` numbers of the environment.
    ///
    /// # Safety
    /// The environment has so many.
    pub(crate) unsafe fn fill(&mut self, shared: Shared, captured: usize, number: u64) {
        self.environment.clear();
        if captured > 0 {
            // SAFETY: the caller's.
            self.environment.extend_from_slice(unsafe { std::slice::from_raw_parts(shared.environment, captured) });
        }
        (self.shared, self.number) = (Some(shared), number);
    }

    /// Runs the iterations `lo..hi` on the worker of that number.
    ///
    /// # Safety
    /// As for [`Shared::run`], but for the environment.
    pub(crate) unsafe fn run(&self, worker: usize, lo: i64, hi: i64) {
        if let Some(shared) = self.shared {
            let shared = Shared { environment: self.environment.as_ptr(), ..shared };
            // SAFETY: the caller's; the environment is a copy of the one that belongs to the body.
            unsafe { shared.run(worker, lo, hi) }
        }
    }
}

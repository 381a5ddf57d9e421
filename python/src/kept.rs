//! A run of the library behind a lock, shared by the Python object that is the run and by NumPy arrays that show its
//! cells: it ends with the last of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use crate::error::{Answer, Failure};

/// A run, and how many arrays show cells of it.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    run: Arc<Mutex<crease::Run>>,
    views: Arc<AtomicUsize>,
}

/// One more view, for as long as it exists.
#[derive(Debug)]
pub(crate) struct Counted(Arc<AtomicUsize>);

impl Kept {
    pub(crate) fn new(run: crease::Run) -> Kept {
        Kept { run: Arc::new(Mutex::new(run)), views: Arc::default() }
    }

    /// The run, for this thread.
    pub(crate) fn lock(&self) -> Answer<MutexGuard<'_, crease::Run>> {
        self.run.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => Failure::refused(
                "py/busy",
                "another thread works with this run; wait for it, or give each thread a run of its own",
            ),
            TryLockError::Poisoned(_) => {
                Failure::refused("py/broken", "a call of this run ended within; make another run")
            }
        })
    }

    /// Whether both are one run.
    pub(crate) fn is(&self, other: &Kept) -> bool {
        Arc::ptr_eq(&self.run, &other.run)
    }

    /// How many views there are.
    pub(crate) fn views(&self) -> usize {
        self.views.load(Ordering::Acquire)
    }

    /// Counts one more.
    pub(crate) fn counted(&self) -> Counted {
        self.views.fetch_add(1, Ordering::AcqRel);
        Counted(Arc::clone(&self.views))
    }

    /// Refuses what would move cells that views show.
    pub(crate) fn verify_unviewed(&self, what: &str) -> Answer<()> {
        let views = self.views();
        if views == 0 {
            return Ok(());
        }
        let message = format!("{views} view(s) of this run exist, and {what} moves what they show; delete them first");
        Err(Failure::refused("py/viewed", message))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

//! Cancelling: a handle that stops runs from anywhere.
//!
//! Compiled code is not interrupted. Where somebody may cancel a run, its calls are cut into ones that take some
//! [`LOOK`] each (`pace`); nobody else pays for that.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long the calls of a run that may be cancelled take, about: a cancelled run stops within twice this time, or
/// after the step that it is in. Shows in `cargo run --release --example times_of_calls`.
pub(super) const LOOK: Duration = Duration::from_millis(25);

/// Stops runs, from any thread or from a signal handler: clones are one handle. What it cancels stays so until it is
/// reset.
///
/// ```
/// use crease::prelude::*;
/// use crease::{Cancel, RunError};
///
/// # let kernel = Kernel::parse(
/// #     "kernel decay(size N; run T) {
/// #        state u[t, x]: f64 for 0 <= x < N
/// #        S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = 0.5 * u[t-1,x] }
/// #        schedule rows { S -> [t, x] }
/// #      }",
/// # )?;
/// let mut run = kernel.plan().size("N", 100).build()?.compile()?.instantiate()?;
/// run.fill("u", 1.0)?;
/// let cancel = Cancel::new();
/// run.cancel_with(&cancel);
/// let other = cancel.clone();
/// let stopper = std::thread::spawn(move || other.cancel());
/// let result = run.advance(1 << 40); // days
/// assert!(matches!(result, Err(Error::Run(RunError::Cancelled { .. }))));
/// cancel.reset();
/// run.advance(3)?; // on from where it stopped
/// # stopper.join().expect("it only cancels");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    wanted: Arc<AtomicBool>,
}

impl Cancel {
    /// A handle that has not been used.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Stops all runs that look at this handle: one store to memory, nothing else.
    pub fn cancel(&self) {
        self.wanted.store(true, Ordering::Release);
    }

    /// Lets runs go on.
    pub fn reset(&self) {
        self.wanted.store(false, Ordering::Release);
    }

    /// Whether runs are to stop.
    pub fn is_cancelled(&self) -> bool {
        self.wanted.load(Ordering::Acquire)
    }
}

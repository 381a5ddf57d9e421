//! Long work beside the interpreter, so that other Python threads go on and Control-C is heard.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::error::{Answer, Failure};

/// How long a signal may wait to be noticed: short for a person. The calls of a run end where tiles of time end, which
/// costs no speed, if these take no longer.
pub(crate) const LOOK: Duration = Duration::from_millis(250);

/// Stack of threads that plan and compile: that of a program's first thread, where the library does this otherwise.
const STACK_BYTES: usize = 8 << 20;

/// Does work that cannot be stopped, on a thread of its own, without the interpreter's lock. If a signal handler raises
/// an exception, that is returned at once; the work is then left to its thread, which ends with its quota.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Answer<T> + Send + 'static,
) -> Answer<T> {
    let (done, mut result) = sync_channel(1);
    let worker = thread::Builder::new().name("crease".to_string()).stack_size(STACK_BYTES);
    let spawned = worker.spawn(move || {
        // Nobody may wait any more.
        let _ = done.send(catch_unwind(AssertUnwindSafe(work)));
    });
    spawned.map_err(|error| Failure::refused("py/thread", format!("no thread to plan on: {error}")))?;
    loop {
        let answer;
        (result, answer) = py.detach(move || {
            let answer = result.recv_timeout(LOOK);
            (result, answer)
        });
        match answer {
            Ok(Ok(answer)) => return answer,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::refused("py/thread", "the thread that planned is gone"));
            }
        }
    }
}

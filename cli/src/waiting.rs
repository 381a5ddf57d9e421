//! A word now and then on standard error where one step takes long.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Says what is waited for once that takes long: each second on a terminal, elsewhere less and less often.
#[derive(Debug)]
pub(crate) struct Waiting {
    terminal: bool,
    started: Instant,
    /// Seconds from which on the next line is due.
    due: f64,
}

/// Seconds after which a person wants to know what is going on.
const LONG_SECONDS: f64 = 2.0;

impl Waiting {
    /// How often to call [`Waiting::tick`].
    pub(crate) const TICK: Duration = Duration::from_millis(250);

    /// The clock runs.
    pub(crate) fn new() -> Waiting {
        Waiting { terminal: io::stderr().is_terminal(), started: Instant::now(), due: LONG_SECONDS }
    }

    /// Says what is waited for, if that is due.
    pub(crate) fn tick(&mut self, what: &str) {
        let seconds = self.started.elapsed().as_secs_f64();
        if seconds >= self.due {
            let line = format!("[{seconds:>3.0} s] {what}");
            if self.terminal {
                eprint!("\r\x1b[K{}", line.chars().take(100).collect::<String>());
                // A terminal that is gone is no reason to stop.
                let _ = io::stderr().flush();
                self.due = seconds + 1.0;
            } else {
                eprintln!("{line}");
                self.due = 2.0 * seconds;
            }
        }
    }

    /// Removes the line, before other output.
    pub(crate) fn clear(&self) {
        if self.terminal && self.due > LONG_SECONDS {
            eprint!("\r\x1b[K");
        }
    }
}

/// Does some work, and says so if it takes long.
pub(crate) fn while_waiting<R: Send>(what: &str, work: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| {
        let (done, is_done) = channel::<()>();
        let worker = scope.spawn(move || {
            // Dropped when the work is done, even by a panic.
            let _done = done;
            work()
        });
        let mut limit = Waiting::new();
        while is_done.recv_timeout(Waiting::TICK) == Err(RecvTimeoutError::Timeout) {
            limit.tick(what);
        }
        limit.clear();
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

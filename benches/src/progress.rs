//! Progress on standard error: one line that is overwritten on a terminal, a line per stage elsewhere. And a word now and
//! then where one step takes long.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Tells a person what is going on.
#[derive(Debug)]
pub struct Progress {
    terminal: bool,
    silent: bool,
    started: Instant,
    stage: String,
    done: usize,
    total: usize,
}

impl Progress {
    /// Progress over `total` stages, the clock running.
    pub fn new(total: usize, silent: bool) -> Progress {
        let terminal = io::stderr().is_terminal();
        Progress { terminal, silent, started: Instant::now(), stage: String::new(), done: 0, total }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// The next stage begins.
    pub fn stage(&mut self, what: &str) {
        self.done += 1;
        self.stage = what.to_owned();
        if !self.terminal {
            self.show(what);
        }
        self.detail("");
    }

    /// Something within the stage: shown on terminals only.
    pub fn detail(&self, what: &str) {
        if self.terminal {
            self.show(&format!("{}{}{what}", self.stage, if what.is_empty() { "" } else { ": " }));
        }
    }

    /// A line that stays.
    pub fn note(&self, what: &str) {
        self.clear();
        if !self.silent {
            eprintln!("{what}");
        }
    }

    /// Removes the progress line, before other output.
    pub fn clear(&self) {
        if self.terminal && !self.silent {
            eprint!("\r\x1b[K");
        }
    }

    fn show(&self, what: &str) {
        if self.silent {
            return;
        }
        let line = format!("[{:>3.0} s, {}/{}] {what}", self.seconds(), self.done, self.total);
        if self.terminal {
            // Cut to a common width: a wrapped line could not be overwritten.
            eprint!("\r\x1b[K{}", line.chars().take(100).collect::<String>());
            // A terminal that is gone is no reason to stop measuring.
            let _ = io::stderr().flush();
        } else {
            eprintln!("{line}");
        }
    }
}

/// Says what is waited for once that takes long: each second on a terminal, elsewhere less and less often.
#[derive(Debug)]
pub(crate) struct Patience {
    progress: Progress,
    /// Seconds from which on the next line is due.
    due: f64,
}

/// Seconds after which a person wants to know what is going on.
const LONG_SECONDS: f64 = 2.0;

impl Patience {
    /// How often to call [`Patience::tick`].
    pub(crate) const TICK: Duration = Duration::from_millis(250);

    /// The clock runs.
    pub(crate) fn new() -> Patience {
        Patience { progress: Progress::new(0, false), due: LONG_SECONDS }
    }

    /// Says what is waited for, if that is due.
    pub(crate) fn tick(&mut self, what: &str) {
        let seconds = self.progress.seconds();
        if seconds >= self.due {
            let line = format!("[{seconds:>3.0} s] {what}");
            if self.progress.terminal {
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
        if self.due > LONG_SECONDS {
            self.progress.clear();
        }
    }
}

/// Does some work, and says so if it takes long.
pub(crate) fn patiently<R: Send>(what: &str, work: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| {
        let (done, is_done) = channel::<()>();
        let worker = scope.spawn(move || {
            // Dropped when the work is done, even by a panic.
            let _done = done;
            work()
        });
        let mut patience = Patience::new();
        while is_done.recv_timeout(Patience::TICK) == Err(RecvTimeoutError::Timeout) {
            patience.tick(what);
        }
        patience.clear();
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

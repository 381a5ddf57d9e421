//! Progress on standard error: one line that is overwritten on a terminal, a line per stage elsewhere.

use std::io::{self, IsTerminal, Write};
use std::time::Instant;

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

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
    /// Seconds that each stage is thought to take; empty if nobody said.
    expected: Vec<f64>,
    /// Seconds from the start at which the stage began.
    stage_began: f64,
}

impl Progress {
    /// Progress over `total` stages, the clock running.
    pub fn new(total: usize, silent: bool) -> Progress {
        let terminal = io::stderr().is_terminal();
        Progress {
            terminal,
            silent,
            started: Instant::now(),
            stage: String::new(),
            done: 0,
            total,
            expected: Vec::new(),
            stage_began: 0.0,
        }
    }

    /// From now on says how much time is left: each stage is thought to take these seconds, on a machine of some kind.
    pub fn expect(&mut self, seconds: Vec<f64>) {
        self.total = seconds.len();
        self.expected = seconds;
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// The next stage begins.
    pub fn stage(&mut self, what: &str) {
        self.done += 1;
        self.stage_began = self.seconds();
        self.stage = what.to_owned();
        if !self.terminal {
            self.show(what);
        }
        self.detail("");
    }

    /// A part of the stage begins: the same stage under another name.
    pub fn within(&self, what: &str) {
        self.show(what);
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

    /// Stages that are over tell how fast this machine is; the one under way is as long as it is expected to be.
    fn seconds_left(&self) -> Option<f64> {
        let (over, left) = self.expected.split_at_checked(self.done.checked_sub(1)?)?;
        let (current, later) = left.split_first()?;
        // As if a few seconds had passed as expected: the first stages say little.
        let trust = 5.0;
        let pace = (self.stage_began + trust) / (over.iter().sum::<f64>() + trust);
        let current = (current * pace - (self.seconds() - self.stage_began)).max(0.0);
        Some(current + later.iter().sum::<f64>() * pace)
    }

    fn show(&self, what: &str) {
        if self.silent {
            return;
        }
        let left = self.seconds_left().map_or(String::new(), |left| format!(", {left:.0} s left"));
        let line = format!("[{:>3.0} s{left}, {}/{}] {what}", self.seconds(), self.done, self.total);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_shrinks_with_every_stage_and_is_not_told_unless_expected() {
        let mut progress = Progress::new(2, true);
        assert_eq!(progress.seconds_left(), None);
        progress.expect(vec![10.0, 30.0]);
        progress.stage("first");
        let first = progress.seconds_left().unwrap();
        progress.stage("second");
        assert!(progress.seconds_left().unwrap() < first && first < 41.0);
    }
}

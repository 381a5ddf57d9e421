//! Rows of comparisons: one layout of one kernel on a number of threads, and what was found of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bandwidth::Bandwidth;
use crate::error::chain;
use crate::timing::Seconds;

/// What comparisons found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Comparisons {
    /// One per kernel, schedule, layout and number of threads.
    pub rows: Vec<Row>,
}

/// One layout of one kernel on a number of threads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The kernel's name in the catalogue.
    pub kernel: String,
    /// Size parameters, and the steps of one measurement as the run parameter.
    pub params: BTreeMap<String, i64>,
    /// Runs of one measurement, for a kernel without steps.
    pub runs: Option<u64>,
    /// The schedule; for a C loop, the order it is written in has no name.
    pub schedule: Option<String>,
    /// `full`, `successive-modulo`, `folded`, a published mapping as `paper`, or a C loop such as `c-aa`.
    pub layout: String,
    /// The strategies that made the mapping, or the C compiler.
    pub made_by: String,
    /// The instructions that our own strips were compiled for.
    #[serde(default)]
    pub isa: Option<String>,
    /// Threads it ran on.
    pub threads: usize,
    /// Time of one measurement; `None` if it was not timed.
    pub seconds: Option<Seconds>,
    /// Site updates per second, at the median.
    pub updates_per_second: Option<f64>,
    /// Bytes of storage for state and temporaries, padding included; `None` if there was no storage to measure.
    pub temp_bytes: Option<u64>,
    /// Bytes of the most values alive at once in the folded schedule: no storage can be smaller.
    pub lower_bound_bytes: Option<u64>,
    /// Largest difference from the naive loops; `None` if it was not run.
    pub max_abs_diff: Option<f64>,
    /// What difference was accepted: 0 for our own layouts. C compilers contract and reorder in their own way.
    pub tolerance: f64,
    /// Share of the bandwidth limit: one read and one write of each state value per update, one read of each input and
    /// one write of each output, against the probe.
    pub bandwidth_share: Option<f64>,
    /// The probe beside this comparison.
    pub gb_per_s: Option<Bandwidth>,
    /// Cores' worth of arithmetic that the threads had, beside this comparison.
    #[serde(default)]
    pub cores: Option<f64>,
    /// Nanoseconds of a line of the cache from one of two threads to the other and back, beside this comparison.
    #[serde(default)]
    pub round_trip_ns: Option<f64>,
    /// Why it was not timed.
    pub note: Option<String>,
    /// Whether that is a failure: no plan, no code, no storage. A memory cap or a missing compiler is none.
    pub failed: bool,
}

impl Row {
    /// A row that knows what it is about and nothing else.
    pub fn new(kernel: &str, sizes: &[(String, i64)], layout: &str, threads: usize) -> Row {
        Row {
            kernel: kernel.to_owned(),
            params: sizes.iter().cloned().collect(),
            runs: None,
            schedule: None,
            layout: layout.to_owned(),
            made_by: String::new(),
            isa: None,
            threads,
            seconds: None,
            updates_per_second: None,
            temp_bytes: None,
            lower_bound_bytes: None,
            max_abs_diff: None,
            tolerance: 0.0,
            bandwidth_share: None,
            gb_per_s: None,
            cores: None,
            round_trip_ns: None,
            note: None,
            failed: false,
        }
    }

    /// Notes why it could not be run.
    pub fn fail(&mut self, error: &dyn std::error::Error) {
        self.note = Some(chain(error));
        self.failed = true;
    }

    /// Whether the answer was checked and is beyond its tolerance.
    pub fn is_wrong(&self) -> bool {
        self.max_abs_diff.is_some_and(|difference| difference.is_nan() || difference > self.tolerance)
    }
}

impl Comparisons {
    /// Rows of one kernel, with the same sizes and number of threads, as they appear: the groups of the table.
    pub fn groups(&self) -> Vec<&[Row]> {
        let sizes = |row: &Row| row.params.clone();
        self.rows.chunk_by(|a, b| a.kernel == b.kernel && a.threads == b.threads && sizes(a) == sizes(b)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_a_wrong_answer_and_no_answer_is_none() {
        let mut row = Row::new("k", &[], "c-aa", 1);
        assert!(!row.is_wrong());
        row.max_abs_diff = Some(f64::NAN);
        assert!(row.is_wrong());
    }
}

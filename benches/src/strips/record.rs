//! What the suite `strips` found, as JSON and as a table.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::columns::Columns;
use crate::error::BenchError;
use crate::record::{Findings, Header};
use crate::row::Row;
use crate::strips::subjects::{Subject, WorkingSet};

/// What the suite found.
#[derive(Debug, Serialize, Deserialize)]
pub struct Strips {
    /// One per kernel, size, reference, instruction set and number of threads.
    pub rows: Vec<StripsRow>,
    /// One per kernel and instruction set.
    pub compile: Vec<CompileRow>,
}

/// Our code for a kernel, and the C loop beside it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StripsRow {
    /// The kernel.
    pub kernel: String,
    /// Element type of its arrays.
    pub element: String,
    /// Where its data lie.
    pub working_set: WorkingSet,
    /// Length of a row.
    pub n: i64,
    /// All sizes.
    pub params: BTreeMap<String, i64>,
    /// Our layout.
    pub layout: String,
    /// The instructions of our strips.
    pub isa: String,
    /// Threads of both.
    pub threads: usize,
    /// Sites per second, at the median.
    pub updates_per_second: Option<f64>,
    /// Half the distance of the slowest and the fastest measurement, over the median.
    pub spread: Option<f64>,
    /// The C loop: the fastest of those that do the same.
    pub reference: String,
    /// The compiler and the flags that made it; none without a C compiler.
    pub reference_made_by: Option<String>,
    /// Its sites per second.
    pub reference_updates_per_second: Option<f64>,
    /// Our rate over that of the C loop.
    pub ratio: Option<f64>,
    /// The ratio aimed for.
    pub ratio_aim: Option<f64>,
    /// Share of the bandwidth limit: the bytes that an update must at least move, against memory updated in place in
    /// the same comparison; none in cache.
    pub share_of_bandwidth_limit: Option<f64>,
    /// The share aimed for.
    pub share_aim: Option<f64>,
    /// Largest difference from the naive answer; none for the row that others are compared with where there is none.
    pub max_abs_diff: Option<f64>,
    /// Why something is missing.
    pub note: Option<String>,
    /// Whether that is a failure, and not a missing compiler.
    pub failed: bool,
}

/// What compiling a kernel takes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CompileRow {
    /// The kernel.
    pub kernel: String,
    /// The instructions of its strips.
    pub isa: String,
    /// Seconds from the lowered program to code, all strips and loops; the median.
    pub seconds: f64,
    /// Strips that the wide emitter compiled.
    pub wide_strips: u32,
    /// Seconds for each of them; 0 where there is none.
    pub wide_strip_seconds: f64,
}

/// A row from that of our code and that of the best C loop.
pub(super) fn row(subject: &Subject, ours: &Row, reference: Option<&Row>) -> StripsRow {
    let rate = reference.and_then(|row| row.updates_per_second);
    let wrong = reference.filter(|row| row.is_wrong() || row.failed);
    StripsRow {
        kernel: ours.kernel.clone(),
        element: subject.element.to_owned(),
        working_set: subject.working_set,
        n: subject.row_length(&ours.params),
        params: ours.params.clone(),
        layout: ours.layout.clone(),
        isa: ours.isa.clone().unwrap_or_default(),
        threads: ours.threads,
        updates_per_second: ours.updates_per_second,
        spread: ours.seconds.map(|seconds| seconds.spread()),
        reference: reference.map_or(subject.reference, |row| &row.layout).to_owned(),
        reference_made_by: reference.map(|row| row.made_by.clone()),
        reference_updates_per_second: rate,
        ratio: ours.updates_per_second.zip(rate).map(|(ours, theirs)| ours / theirs),
        ratio_aim: subject.ratio_aim,
        share_of_bandwidth_limit: ours.bandwidth_share,
        share_aim: subject.share_aim,
        max_abs_diff: ours.max_abs_diff,
        note: ours.note.clone().or_else(|| wrong.and_then(|row| row.note.clone())),
        failed: ours.failed || ours.is_wrong() || wrong.is_some(),
    }
}

impl Strips {
    /// Rates beside those of C, and compile times.
    pub fn render(&self, header: &Header) -> String {
        let machine = &header.machine;
        let mut text = format!("{}, {} cores, {}", machine.cpu, machine.cores, machine.isa.join(" "));
        for (threads, gb_per_s) in &machine.update_in_place_gb_per_s {
            let _ = write!(text, "; update in place {gb_per_s:.0} GB/s on {threads}");
        }
        let compile = compile_columns(&self.compile).render();
        format!("{text}\n\n{}\n{compile}", columns(self.rows.iter()).render())
    }
}

impl Findings for Strips {
    const SUFFIX: &'static str = "-strips";

    /// No row has a wrong answer, ours or of the C loop, and all could be run.
    fn verdict(&self) -> Result<(), BenchError> {
        match self.rows.iter().filter(|row| row.failed).count() {
            0 => Ok(()),
            failed => Err(BenchError::Strips { failed, rows: self.rows.len() }),
        }
    }
}

/// Rates beside those of C.
pub fn columns<'a>(rows: impl Iterator<Item = &'a StripsRow>) -> Columns {
    let header = [
        "kernel",
        "from",
        "layout",
        "isa",
        "C loop",
        "n",
        "threads",
        "M updates/s",
        "spread",
        "C",
        "ratio",
        "aim",
        "of limit",
        "aim",
        "max diff",
    ];
    let mut columns = Columns::new(5, &header);
    rows.for_each(|row| columns.push(cells(row)));
    columns
}

/// Compile times.
pub fn compile_columns(rows: &[CompileRow]) -> Columns {
    let mut columns = Columns::new(2, &["kernel", "isa", "compiled in ms", "wide strips", "ms each"]);
    for row in rows {
        let milliseconds = |seconds: f64| format!("{:.3}", seconds * 1e3);
        let each = if row.wide_strips > 0 { milliseconds(row.wide_strip_seconds) } else { "-".into() };
        let strips = row.wide_strips.to_string();
        columns.push(vec![row.kernel.clone(), row.isa.clone(), milliseconds(row.seconds), strips, each]);
    }
    columns
}

impl StripsRow {
    /// What is below its aim, in words; empty if nothing is, or nothing was aimed for.
    pub fn shortfalls(&self) -> Vec<String> {
        let below = |value: Option<f64>, aim: Option<f64>| value.zip(aim).filter(|(value, aim)| value < aim);
        let ratio = below(self.ratio, self.ratio_aim).map(|(ratio, aim)| format!("ratio {ratio:.3}, aim {aim:.2}"));
        let share = below(self.share_of_bandwidth_limit, self.share_aim)
            .map(|(share, aim)| format!("{:.1} % of the bandwidth limit, aim {:.0} %", share * 100.0, aim * 100.0));
        ratio.into_iter().chain(share).collect()
    }
}

fn cells(row: &StripsRow) -> Vec<String> {
    let some = |value: Option<String>| value.unwrap_or_else(|| "-".into());
    let millions = |rate: Option<f64>| some(rate.map(|rate| format!("{:.1}", rate * 1e-6)));
    let number = |value: Option<f64>| some(value.map(|value| format!("{value:.2}")));
    let percent = |share: Option<f64>| some(share.map(|share| format!("{:.0} %", share * 100.0)));
    let mut cells = vec![
        row.kernel.clone(),
        row.working_set.name().to_owned(),
        row.layout.clone(),
        row.isa.clone(),
        row.reference.clone(),
        row.n.to_string(),
        row.threads.to_string(),
        millions(row.updates_per_second),
        percent(row.spread),
        millions(row.reference_updates_per_second),
        number(row.ratio),
        number(row.ratio_aim),
        percent(row.share_of_bandwidth_limit),
        percent(row.share_aim),
        some(row.max_abs_diff.map(|d| if d == 0.0 { "0".into() } else { format!("{d:.0e}") })),
    ];
    cells.extend(row.note.clone());
    cells
}

//! `crease bench --suite latency`: from text to running code, stage by stage, and for schedules of the whole catalogue that
//! the library finds.
//!
//! In: which kernel, how often.   Out: a record with one row per kernel and schedule, and its tables.
//!
//! Each round reads the text, plans at a size that leaves the caches, compiles, and plans the kernel that it then knows
//! at another size, on a single thread. Nothing is allocated for cells: that depends on the size and on the system. Times
//! are medians; a kernel whose first round is slow has fewer. The kernels of the catalogue have their default sizes.

mod found;
mod measure;

use std::collections::BTreeMap;
use std::time::Instant;

use crease::{CompileOptions, Kernel, Plan};
use serde::{Deserialize, Serialize};

use crate::catalogue::{catalogue_entry, unknown_kernel};
use crate::columns::Columns;
use crate::error::{BenchError, chain};
use crate::latency::measure::{milliseconds, sizes_text, timed};
use crate::layouts::AUTOMATIC;
use crate::progress::Progress;
use crate::record::{Findings, Header, Record};
use crate::timing::Seconds;

pub use crate::latency::found::Found;

/// How the command line names the suite.
pub const SUITE: &str = "latency";

/// Rounds of each row ..
const ROUNDS: usize = 9;
/// .. or of one whose first round takes longer than this many seconds.
const SLOW: (f64, usize) = (1.0, 3);
/// How much larger the other size is.
const LARGER: i64 = 40;
/// The stages that the table names, slowest first.
const NAMED_STAGES: usize = 3;

/// What to measure.
#[derive(Debug)]
pub struct LatencyOptions {
    /// Only this kernel.
    pub kernel: Option<String>,
    /// Small sizes, once.
    pub quick: bool,
    /// No progress on standard error.
    pub silent: bool,
    /// The command line, for the record.
    pub command: String,
}

/// What the suite found.
#[derive(Debug, Serialize, Deserialize)]
pub struct Latency {
    /// One per kernel and schedule.
    pub rows: Vec<LatencyRow>,
    /// One per kernel of the catalogue and number of threads.
    #[serde(default)]
    pub found: Vec<Found>,
}

/// A kernel in one schedule, on one thread. All times are medians.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LatencyRow {
    /// The kernel.
    pub kernel: String,
    /// The schedule, or `auto` for the one that the library finds.
    pub schedule: String,
    /// Sizes.
    pub params: BTreeMap<String, i64>,
    /// From the text to code that can run: reading, planning and compiling together.
    pub seconds: Option<Seconds>,
    /// What is aimed for.
    pub aim_seconds: f64,
    /// Reading the text.
    pub parse_seconds: f64,
    /// Planning, all stages.
    pub plan_seconds: f64,
    /// Stages of planning by name.
    pub stages: BTreeMap<String, f64>,
    /// Code generation, as a caller sees it.
    pub compile_seconds: f64,
    /// Of it: instruction selection, register allocation and encoding.
    pub generate_seconds: f64,
    /// Of it: the AVX2 or AVX-512 code of strips.
    pub wide_seconds: f64,
    /// Planning the kernel, which is known by then, at another size.
    pub other_size_seconds: f64,
    /// Why there are no times.
    pub note: Option<String>,
}

/// A row of the suite.
struct Subject {
    kernel: &'static str,
    n: i64,
    /// Milliseconds that are aimed for, by rows and in the schedule that is found.
    aims: [f64; 2],
}

/// Sizes as in the suite `tiles`.
const SUBJECTS: [Subject; 5] = [
    Subject { kernel: "heat-2d-5pt", n: 4000, aims: [8.0, 25.0] },
    Subject { kernel: "heat-3d-7pt", n: 300, aims: [15.0, 60.0] },
    Subject { kernel: "heat-3d-27pt", n: 300, aims: [40.0, 150.0] },
    Subject { kernel: "lbm-d2q9-cavity", n: 1024, aims: [20.0, 50.0] },
    Subject { kernel: "lbm-d3q19-cavity", n: 200, aims: [80.0, 200.0] },
];

/// One round.
struct Sample {
    parse: f64,
    plan: f64,
    compile: f64,
    generate: f64,
    wide: f64,
    other_size: f64,
    stages: BTreeMap<&'static str, f64>,
}

/// Runs the suite, or its part about one kernel.
///
/// # Errors
/// [`BenchError::UnknownKernel`]. A kernel that is refused is a row of the record.
pub fn latency(options: &LatencyOptions) -> Result<Record<Latency>, BenchError> {
    let wanted = |subject: &&Subject| options.kernel.as_deref().is_none_or(|kernel| kernel == subject.kernel);
    let subjects: Vec<&Subject> = SUBJECTS.iter().filter(wanted).collect();
    let entries = found::entries(options.kernel.as_deref());
    if let (Some(kernel), true) = (&options.kernel, entries.is_empty()) {
        return Err(unknown_kernel(kernel));
    }
    let mut progress = Progress::new(subjects.len() + entries.len(), options.silent);
    let (mut rows, mut found) = (Vec::new(), Vec::new());
    for subject in subjects {
        progress.stage(subject.kernel);
        let text = subject.text()?;
        for (schedule, aim) in ["rows", AUTOMATIC].into_iter().zip(subject.aims) {
            progress.detail(schedule);
            rows.push(subject.row(&text, schedule, aim, options.quick));
        }
    }
    for entry in entries {
        progress.stage(entry.name);
        found.extend(found::rows(entry, options.quick, &mut progress)?);
    }
    progress.clear();
    Ok(Record { header: Header::new(&options.command, None), found: Latency { rows, found } })
}

impl Subject {
    fn text(&self) -> Result<String, BenchError> {
        Ok(catalogue_entry(self.kernel)?.kernel().map_err(crease::Error::from)?.to_string())
    }

    fn row(&self, text: &str, schedule: &str, aim_milliseconds: f64, quick: bool) -> LatencyRow {
        let n = if quick { 24 } else { self.n };
        let row = LatencyRow {
            kernel: self.kernel.to_owned(),
            schedule: schedule.to_owned(),
            params: [("N".to_owned(), n)].into(),
            aim_seconds: aim_milliseconds * 1e-3,
            ..LatencyRow::default()
        };
        match samples(text, schedule, n, quick) {
            Ok(samples) => with_medians(row, &samples),
            Err(error) => LatencyRow { note: Some(chain(&error)), ..row },
        }
    }
}

fn samples(text: &str, schedule: &str, n: i64, quick: bool) -> Result<Vec<Sample>, crease::Error> {
    let mut samples = Vec::new();
    let mut rounds = if quick { 1 } else { ROUNDS };
    while samples.len() < rounds {
        let started = Instant::now();
        samples.push(sample(text, schedule, n)?);
        if started.elapsed().as_secs_f64() > SLOW.0 {
            rounds = rounds.min(SLOW.1);
        }
    }
    Ok(samples)
}

fn sample(text: &str, schedule: &str, n: i64) -> Result<Sample, crease::Error> {
    let (kernel, parse) = timed(|| Kernel::parse(text));
    let kernel = kernel?;
    let (first, plan) = timed(|| planned(&kernel, schedule, n));
    let first = first?;
    let (code, compile) = timed(|| first.compile_with(&CompileOptions::default()));
    let times = code?.compiled().times();
    let (other, other_size) = timed(|| planned(&kernel, schedule, n + LARGER));
    other?;
    let mut stages = BTreeMap::new();
    for stage in &first.report().stages {
        *stages.entry(stage.name).or_insert(0.0) += stage.seconds;
    }
    let (generate, wide) = (times.generate.as_secs_f64(), times.wide.as_secs_f64());
    Ok(Sample { parse, plan, compile, generate, wide, other_size, stages })
}

fn planned(kernel: &Kernel, schedule: &str, n: i64) -> Result<Plan, crease::Error> {
    kernel.plan().size("N", n).schedule(schedule).threads(1).build()
}

fn with_medians(row: LatencyRow, samples: &[Sample]) -> LatencyRow {
    let of = |value: &dyn Fn(&Sample) -> f64| Seconds::of(&samples.iter().map(value).collect::<Vec<_>>());
    let names = samples.iter().flat_map(|sample| sample.stages.keys().copied());
    let stage = |name: &str| of(&|sample| sample.stages.get(name).copied().unwrap_or(0.0)).median;
    LatencyRow {
        seconds: Some(of(&|sample| sample.parse + sample.plan + sample.compile)),
        parse_seconds: of(&|sample| sample.parse).median,
        plan_seconds: of(&|sample| sample.plan).median,
        stages: names.map(|name| (name.to_owned(), stage(name))).collect(),
        compile_seconds: of(&|sample| sample.compile).median,
        generate_seconds: of(&|sample| sample.generate).median,
        wide_seconds: of(&|sample| sample.wide).median,
        other_size_seconds: of(&|sample| sample.other_size).median,
        ..row
    }
}

impl Latency {
    /// A line per row, in milliseconds, with the slowest stages; then the kernels of the catalogue.
    pub fn render(&self) -> String {
        let header =
            ["kernel", "schedule", "size", "ms", "aim", "parse", "plan", "code", "other size", "slowest stages"];
        let mut columns = Columns::new(3, &header);
        for row in &self.rows {
            columns.push(row.cells());
        }
        let rows = if self.rows.is_empty() { String::new() } else { columns.render() };
        rows + &found::render(&self.found)
    }
}

impl LatencyRow {
    fn cells(&self) -> Vec<String> {
        let mut cells = vec![self.kernel.clone(), self.schedule.clone(), sizes_text(&self.params)];
        cells.push(self.seconds.map_or("-".to_owned(), |seconds| milliseconds(seconds.median)));
        let parts =
            [self.aim_seconds, self.parse_seconds, self.plan_seconds, self.compile_seconds, self.other_size_seconds];
        cells.extend(parts.map(milliseconds));
        let mut stages: Vec<_> = self.stages.iter().collect();
        stages.sort_by(|a, b| b.1.total_cmp(a.1));
        let named =
            stages.iter().take(NAMED_STAGES).map(|(name, seconds)| format!("{name} {}", milliseconds(**seconds)));
        cells.push(self.note.clone().unwrap_or_else(|| named.collect::<Vec<_>>().join(", ")));
        cells
    }
}

impl Findings for Latency {
    const SUFFIX: &'static str = "-latency";

    fn verdict(&self) -> Result<(), BenchError> {
        match self.rows.iter().filter(|row| row.seconds.is_none()).count() {
            0 => Ok(()),
            failed => Err(BenchError::Failures { wrong: 0, failed, rows: self.rows.len() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(kernel: &str) -> LatencyOptions {
        LatencyOptions { kernel: Some(kernel.to_owned()), quick: true, silent: true, command: String::new() }
    }

    #[test]
    fn a_row_has_all_stages_and_their_parts_make_the_whole() {
        let record = latency(&options("heat-2d-5pt")).unwrap();
        assert!(record.found.verdict().is_ok(), "{:?}", record.found);
        assert_eq!(record.found.rows.len(), 2);
        for row in &record.found.rows {
            let whole = row.seconds.unwrap().median;
            assert!((row.parse_seconds + row.plan_seconds + row.compile_seconds - whole).abs() < 1e-9, "{row:?}");
            assert!(row.stages.len() > 3 && row.other_size_seconds > 0.0, "{row:?}");
        }
        assert!(record.found.render().contains("other size"));
    }

    #[test]
    fn kernels_of_the_catalogue_are_measured_in_schedules_that_are_found() {
        let record = latency(&options("heat-1d")).unwrap();
        assert!(record.found.rows.is_empty());
        assert_eq!(record.found.found.iter().map(|row| row.threads).collect::<Vec<_>>(), [1, 2]);
        let is_timed = |row: &Found| row.seconds.is_some_and(|seconds| seconds.median > row.plan_seconds);
        assert!(record.found.found.iter().all(is_timed), "{:?}", record.found);
        assert!(record.found.render().contains("heat-1d"));
    }

    #[test]
    fn a_kernel_that_nobody_knows_is_an_error() {
        assert!(matches!(latency(&options("haris")), Err(BenchError::UnknownKernel { .. })));
    }
}

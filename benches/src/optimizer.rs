//! `crease bench --suite optimizer`: sizes and times of every strategy against the publications.
//!
//! In: which kernel, how often to measure.   Out: a record with one row per array, size and strategy, and its table.
//!
//! Times go from a kernel to a proved mapping: all stages up to and with the choice of storage, the median of a few
//! plans on one thread. Publications measured on machines of their time; their sizes are what compares.

use std::collections::{BTreeMap, BTreeSet};

use crease::plan::report::Report;
use crease::{Kernel, Objective, Plan, StrategyChoice};
use crease_kernels::literature::{Cells, Example, FoldedArray, examples};
use serde::{Deserialize, Serialize};

use crate::catalogue::catalogue_entry;
use crate::columns::Columns;
use crate::error::{BenchError, chain};
use crate::progress::Progress;
use crate::record::{Findings, Header, Record};

/// How the command line names the suite.
pub const SUITE: &str = "optimizer";

/// How rows of the automatic choice are called where only cells count.
pub const FOOTPRINT: &str = "auto-footprint";
/// Plans measured of each strategy ..
const PLANS: usize = 5;
/// .. unless the first takes longer than this.
const SLOW_SECONDS: f64 = 0.5;
/// The stage that ends with a proved mapping.
const LAST_STAGE: &str = "mapping";

/// Kernels of the catalogue that are looked at as well, with a schedule and the size of every parameter.
const CATALOGUE: &[(&str, &str, i64)] = &[
    ("heat-1d", "rows", 1_600_000),
    ("heat-1d", "diamond", 8192),
    ("heat-2d-5pt", "rows", 4096),
    ("heat-2d-5pt", "parallel_rows", 4096),
    ("heat-2d-periodic", "rows", 4096),
    ("blur-interleaved", "rows", 8192),
    ("blur-tiled", "tiles", 8192),
    ("lbm-d2q9-periodic", "rows", 1024),
    ("lbm-d2q9-cavity", "rows", 1024),
];

/// What to look at.
#[derive(Debug)]
pub struct OptimizerOptions {
    /// Only this kernel.
    pub kernel: Option<String>,
    /// Only the smallest size of each kernel, once.
    pub quick: bool,
    /// No progress on standard error.
    pub silent: bool,
    /// The command line, for the record.
    pub command: String,
}

/// What the suite found.
#[derive(Debug, Serialize, Deserialize)]
pub struct Optimizer {
    /// One per array, size and strategy; arrays that share buffers have one together.
    pub rows: Vec<OptimizerRow>,
}

/// What one strategy makes of an array.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OptimizerRow {
    /// The kernel.
    pub kernel: String,
    /// Where it comes from.
    pub source: String,
    /// The schedule.
    pub schedule: String,
    /// Sizes.
    pub params: BTreeMap<String, i64>,
    /// The array, or those that share buffers.
    pub array: String,
    /// The strategy asked for.
    pub strategy: String,
    /// The strategy that proposed what is used: `auto` takes the best of the others.
    pub chosen: Option<String>,
    /// Cells of its storage; none if the strategy has no mapping.
    pub cells: Option<u64>,
    /// Cells that no storage can go below.
    pub lower_bound_cells: Option<u64>,
    /// Cells of the published mapping.
    pub published_cells: Option<u64>,
    /// Cells of the smallest mapping known before.
    pub best_recorded_cells: Option<u64>,
    /// Seconds from the kernel to the proved mapping, all arrays of the kernel together.
    pub seconds: Option<f64>,
    /// Seconds the publication reports.
    pub published_seconds: Option<f64>,
    /// How the mapping was proved: `certificate`, `integer-sets`; none in records that do not say it.
    pub proof: Option<String>,
    /// Why there is no mapping.
    pub reason: Option<String>,
}

/// A kernel at a size.
struct Subject {
    name: String,
    source: &'static str,
    kernel: Kernel,
    schedule: String,
    params: BTreeMap<String, i64>,
    facts: Vec<(&'static FoldedArray, Vec<i64>)>,
}

/// Runs the suite, or its part about one kernel.
///
/// # Errors
/// [`BenchError::UnknownKernel`]. A strategy without a mapping is part of the record.
pub fn optimizer(options: &OptimizerOptions) -> Result<Record<Optimizer>, BenchError> {
    let subjects = subjects(options.kernel.as_deref(), if options.quick { Extent::Smallest } else { Extent::All })?;
    let mut progress = Progress::new(subjects.len(), options.silent);
    let mut rows = Vec::new();
    for subject in &subjects {
        let params: Vec<String> = subject.params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        progress.stage(&format!("{}, {}", subject.name, params.join(", ")));
        rows.extend(subject.all_rows(if options.quick { 1 } else { PLANS }, &progress));
    }
    progress.clear();
    Ok(Record { header: Header::new(&options.command, None), found: Optimizer { rows } })
}

/// Which sizes of a published kernel are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of them.
    All,
    /// The first, where everything is counted at once.
    Smallest,
    /// The last: those of the publication, where it names some.
    Largest,
}

/// What every strategy makes of one published kernel.
///
/// # Errors
/// [`BenchError::UnknownKernel`].
pub(crate) fn rows_of(kernel: &str, extent: Extent, progress: &Progress) -> Result<Vec<OptimizerRow>, BenchError> {
    let plans = if extent == Extent::Smallest { 1 } else { PLANS };
    let subjects = subjects(Some(kernel), extent)?;
    // The catalogue may have another kernel of that name.
    let published = subjects.iter().filter(|subject| !subject.facts.is_empty());
    Ok(published.flat_map(|subject| subject.all_rows(plans, progress)).collect())
}

/// The strategies by name, `auto` with both objectives that look for few cells.
fn ways() -> Vec<(&'static str, StrategyChoice, Objective)> {
    let alone = StrategyChoice::ALL.into_iter().filter(|choice| *choice != StrategyChoice::Full);
    let mut ways: Vec<_> = alone.map(|choice| (choice.name(), choice, Objective::Balanced)).collect();
    ways.insert(1, (FOOTPRINT, StrategyChoice::Auto, Objective::Footprint));
    ways
}

fn subjects(kernel: Option<&str>, extent: Extent) -> Result<Vec<Subject>, BenchError> {
    let wanted = |name: &str| kernel.is_none_or(|kernel| kernel == name);
    let mut subjects = Vec::new();
    for example in examples().iter().filter(|example| wanted(example.name)) {
        let sizes = match extent {
            Extent::All => example.sizes,
            Extent::Smallest => &example.sizes[..1],
            Extent::Largest => &example.sizes[example.sizes.len() - 1..],
        };
        for sizes in sizes {
            subjects.push(Subject::published(example, sizes)?);
        }
    }
    for &(name, schedule, size) in CATALOGUE.iter().filter(|(name, ..)| wanted(name)) {
        subjects.push(Subject::of_catalogue(name, schedule, (extent != Extent::Smallest).then_some(size))?);
    }
    if let (Some(name), true) = (kernel, subjects.is_empty()) {
        let entry = catalogue_entry(name)?;
        let kernel = entry.kernel().map_err(crease::Error::from)?;
        for schedule in kernel.schedules() {
            subjects.push(Subject::of_catalogue(name, &schedule.name, None)?);
        }
    }
    Ok(subjects)
}

impl Subject {
    fn published(example: &'static Example, sizes: &[i64]) -> Result<Subject, BenchError> {
        let kernel = (example.definition)().map_err(crease::Error::from)?;
        let params = example.params.iter().map(|name| (*name).to_owned()).zip(sizes.iter().copied()).collect();
        let facts = example.arrays.iter().map(|array| (array, sizes.to_vec())).collect();
        let schedule = kernel.schedules()[0].name.clone();
        Ok(Subject { name: example.name.to_owned(), source: example.source, kernel, schedule, params, facts })
    }

    /// At `size` in every parameter, or at the sizes of the entry's first test.
    fn of_catalogue(name: &str, schedule: &str, size: Option<i64>) -> Result<Subject, BenchError> {
        let entry = catalogue_entry(name)?;
        let kernel = entry.kernel().map_err(crease::Error::from)?;
        let preset = entry.tests[0].sizes.iter().map(|&(name, value)| (name.to_owned(), size.unwrap_or(value)));
        let (params, schedule) = (preset.collect(), schedule.to_owned());
        Ok(Subject { name: entry.name.to_owned(), source: entry.source, kernel, schedule, params, facts: Vec::new() })
    }

    fn plan(&self, strategy: StrategyChoice, objective: Objective) -> Result<Plan, crease::Error> {
        let builder = self.kernel.plan().schedule(&self.schedule).strategy(strategy).objective(objective);
        self.params.iter().fold(builder, |builder, (name, &value)| builder.size(name, value)).build()
    }

    /// The rows of every strategy.
    fn all_rows(&self, plans: usize, progress: &Progress) -> Vec<OptimizerRow> {
        let mut bounds = BTreeMap::new();
        let of_way = |(name, strategy, objective)| {
            progress.detail(name);
            self.rows(name, &measure(self, (strategy, objective), plans), &mut bounds)
        };
        ways().into_iter().flat_map(of_way).collect()
    }

    /// One row per group of arrays that share buffers; a single one if there is no plan. `bounds` keeps what is known
    /// of lower bounds.
    fn rows(
        &self,
        strategy: &'static str,
        measured: &Result<(Report, f64), crease::Error>,
        bounds: &mut BTreeMap<String, u64>,
    ) -> Vec<OptimizerRow> {
        let row = |array: String| OptimizerRow {
            kernel: self.name.clone(),
            source: self.source.to_owned(),
            schedule: self.schedule.clone(),
            params: self.params.clone(),
            published_cells: self.fact(&array, |facts| facts.published),
            best_recorded_cells: self.fact(&array, |facts| facts.best),
            published_seconds: self.facts.iter().find(|f| f.0.name == array).and_then(|f| f.0.published_seconds),
            array,
            strategy: strategy.to_owned(),
            chosen: None,
            cells: None,
            lower_bound_cells: None,
            seconds: None,
            proof: None,
            reason: None,
        };
        let (report, seconds) = match measured {
            Ok(measured) => measured,
            Err(error) => {
                let arrays = self.facts.iter().map(|(facts, _)| facts.name).collect::<Vec<_>>().join(", ");
                return vec![OptimizerRow { reason: Some(chain(error)), ..row(arrays) }];
            }
        };
        let of_group = |(arrays, buffers): (Vec<&str>, BTreeSet<&str>)| {
            let buffers: Vec<_> = report.buffers.iter().filter(|b| buffers.contains(b.name.as_str())).collect();
            let mut row = row(arrays.join(", "));
            let bound = buffers.iter().map(|b| b.lower_bound_cells).sum::<Option<u64>>();
            let known = bound.into_iter().chain(bounds.get(&row.array).copied()).max();
            bounds.extend(known.map(|bound| (row.array.clone(), bound)));
            row.chosen = buffers.first().map(|b| b.strategy.to_owned());
            row.cells = Some(buffers.iter().map(|b| b.cells).sum());
            row.lower_bound_cells = known;
            row.seconds = Some(*seconds);
            row.proof = buffers.first().map(|b| b.proof.name().to_owned());
            row
        };
        groups(report).into_iter().map(of_group).collect()
    }

    fn fact(&self, array: &str, of: fn(&FoldedArray) -> Cells) -> Option<u64> {
        let (facts, sizes) = self.facts.iter().find(|(facts, _)| facts.name == array)?;
        u64::try_from(of(facts)(sizes)).ok()
    }
}

/// Arrays that share buffers, with these.
fn groups(report: &Report) -> Vec<(Vec<&str>, BTreeSet<&str>)> {
    let mut groups: Vec<(Vec<&str>, BTreeSet<&str>)> = Vec::new();
    for array in &report.arrays {
        let own: BTreeSet<&str> = array.pieces.iter().map(|piece| piece.buffer.as_str()).collect();
        let (joined, rest): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(_, buffers)| !buffers.is_disjoint(&own));
        let mut merged = (Vec::new(), own);
        for (arrays, buffers) in joined {
            merged.0.extend(arrays);
            merged.1.extend(buffers);
        }
        merged.0.push(&array.name);
        groups = rest;
        groups.push(merged);
    }
    groups
}

/// A report and the median seconds from the kernel to the proved mapping.
fn measure(
    subject: &Subject,
    (strategy, objective): (StrategyChoice, Objective),
    plans: usize,
) -> Result<(Report, f64), crease::Error> {
    let mut seconds = Vec::new();
    loop {
        let plan = subject.plan(strategy, objective)?;
        let report = plan.report();
        let last =
            report.stages.iter().position(|stage| stage.name == LAST_STAGE).map_or(report.stages.len(), |k| k + 1);
        seconds.push(report.stages[..last].iter().map(|stage| stage.seconds).sum::<f64>());
        if seconds.len() >= plans || seconds[0] > SLOW_SECONDS {
            seconds.sort_by(f64::total_cmp);
            return Ok((plan.report_with_bounds()?.clone(), seconds[seconds.len() / 2]));
        }
    }
}

impl Optimizer {
    /// A line per array and size, cells by strategy.
    pub fn render(&self) -> String {
        let mut strategies: Vec<&str> = Vec::new();
        for row in self.rows.iter().filter(|row| row.strategy != "auto") {
            if !strategies.contains(&row.strategy.as_str()) {
                strategies.push(&row.strategy);
            }
        }
        let mut text = columns(self, &strategies).render();
        for line in self.broken() {
            text.push_str(&format!("  FAIL {line}\n"));
        }
        text
    }

    /// Rows that break a promise: a mapping below the bound, or the choice of the fewest cells
    /// above the smallest size known.
    pub fn broken(&self) -> Vec<String> {
        let mut broken = Vec::new();
        for row in &self.rows {
            let at = format!("{} {:?}, {}, {}", row.kernel, row.params, row.array, row.strategy);
            let Some(cells) = row.cells else {
                if row.strategy == "auto" {
                    broken.push(format!("{at}: no mapping"));
                }
                continue;
            };
            if row.lower_bound_cells.is_some_and(|bound| cells < bound) {
                broken.push(format!("{at}: {cells} cells, lower bound {:?}", row.lower_bound_cells));
            }
            if row.strategy == FOOTPRINT && row.best_recorded_cells.is_some_and(|best| cells > best) {
                broken.push(format!("{at}: {cells} cells, {:?} are known to do", row.best_recorded_cells));
            }
        }
        broken
    }
}

impl Findings for Optimizer {
    const SUFFIX: &'static str = "-optimizer";

    fn verdict(&self) -> Result<(), BenchError> {
        match self.broken().len() {
            0 => Ok(()),
            broken => Err(BenchError::Optimizer { broken }),
        }
    }
}

/// A line per array and size, with what `auto` found and the cells of `strategies`.
pub fn columns(found: &Optimizer, strategies: &[&str]) -> Columns {
    let mut header = vec![
        "kernel",
        "schedule",
        "size",
        "array",
        "bound",
        "published",
        "known",
        "auto",
        "chosen",
        "ms",
        "published s",
    ];
    header.extend(strategies);
    let mut columns = Columns::new(4, &header);
    for auto in found.rows.iter().filter(|row| row.strategy == "auto") {
        columns.push(cells(found, auto, strategies));
    }
    columns
}

fn cells(found: &Optimizer, auto: &OptimizerRow, strategies: &[&str]) -> Vec<String> {
    let same = |a: &OptimizerRow, b: &OptimizerRow| {
        (&a.kernel, &a.schedule, &a.params, &a.array) == (&b.kernel, &b.schedule, &b.params, &b.array)
    };
    let sizes: Vec<String> = auto.params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let number = |cells: Option<u64>| cells.map_or("-".to_owned(), |cells| cells.to_string());
    let mut line = vec![
        auto.kernel.clone(),
        auto.schedule.clone(),
        sizes.join(", "),
        shortened(&auto.array),
        number(auto.lower_bound_cells),
        number(auto.published_cells),
        number(auto.best_recorded_cells),
        number(auto.cells),
        auto.chosen.clone().unwrap_or_else(|| "-".to_owned()),
        auto.seconds.map_or("-".to_owned(), |s| format!("{:.1}", s * 1e3)),
        auto.published_seconds.map_or("-".to_owned(), |s| format!("{s}")),
    ];
    line.extend(strategies.iter().map(|strategy| {
        let row = found.rows.iter().find(|row| row.strategy == *strategy && same(row, auto));
        number(row.and_then(|row| row.cells))
    }));
    line
}

/// A list of names by its ends.
fn shortened(names: &str) -> String {
    let all: Vec<&str> = names.split(", ").collect();
    match all.as_slice() {
        [first, .., last] if all.len() > 2 => format!("{first} .. {last}"),
        _ => names.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kernel: &str) -> Record<Optimizer> {
        let options =
            OptimizerOptions { kernel: Some(kernel.to_owned()), quick: true, silent: true, command: "crease".into() };
        optimizer(&options).unwrap()
    }

    #[test]
    fn a_published_kernel_has_a_row_per_strategy() {
        let record = record("diamond-tile");
        assert_eq!(record.found.rows.len(), StrategyChoice::ALL.len());
        assert_eq!(record.found.broken(), Vec::<String>::new());
        let auto = record.found.rows.iter().find(|row| row.strategy == "auto").unwrap();
        assert_eq!((auto.published_cells, auto.best_recorded_cells, auto.cells), (Some(43), Some(28), Some(28)));
        assert!(record.found.render().contains("diamond-tile"), "{}", record.found.render());
    }

    #[test]
    fn arrays_that_share_buffers_are_one_row() {
        let record = record("lbm-d2q9-periodic");
        let auto: Vec<&OptimizerRow> = record.found.rows.iter().filter(|row| row.strategy == "auto").collect();
        assert!(auto.iter().any(|row| row.array.contains(", ")), "{auto:?}");
        assert!(auto.iter().all(|row| row.proof.is_some() && row.cells >= row.lower_bound_cells), "{auto:?}");
    }

    #[test]
    fn what_is_larger_than_known_is_said() {
        let mut record = record("produce-consume");
        record.found.rows.iter_mut().for_each(|row| row.best_recorded_cells = Some(1));
        assert_eq!(record.found.broken().len(), 1);
        assert!(record.found.render().contains("FAIL produce-consume"));
    }
}

//! `crease bench`: layouts of our own and C loops in contests, answers checked first.
//!
//! For each kernel, size and number of threads: every layout starts from the catalogue's initial data, takes a few
//! steps, and is compared with the naive loops. What is right is then timed in one interleaved contest.

use std::collections::BTreeMap;

use crease_kernels::{Case, Entry, Fields};

use crate::bandwidth::Probe;
use crate::cloops::{CLoop, CLoops, Source, sources};
use crate::error::BenchError;
use crate::layouts::{self, Layout};
use crate::machine::{Machine, cores, date, revision};
use crate::progress::Progress;
use crate::report::{Record, Row};
use crate::suites::Suite;
use crate::timing::{Budget, Outcome, Runner, contest};

/// What to measure and for how long.
#[derive(Debug)]
pub struct BenchOptions {
    /// Which contests, and how long.
    pub suite: &'static Suite,
    /// Only this kernel, even if the suite lacks it.
    pub kernel: Option<String>,
    /// Schedules instead of the suite's.
    pub schedules: Vec<String>,
    /// Sizes instead of the suite's.
    pub sizes: Vec<(String, i64)>,
    /// Only this number of threads; by default one, then all.
    pub threads: Option<usize>,
    /// Seconds for all measurements together instead of the suite's.
    pub seconds: Option<f64>,
    /// Storage above which a layout is not allocated, in bytes.
    pub memory_cap_bytes: u64,
    /// No progress on standard error.
    pub silent: bool,
    /// The command line, for the record.
    pub command: String,
}

/// One kernel at one size, with everything that does not depend on the number of threads.
struct Prepared {
    entry: &'static Entry,
    case: Case,
    initial: Fields,
    expected: Fields,
    sites: u64,
    plans: Vec<layouts::Planned>,
}

/// A layout that takes part.
struct Entrant {
    row: Row,
    runner: Option<Box<dyn LogicalRunner>>,
}

/// A runner that can show its state in logical order.
pub(crate) trait LogicalRunner: Runner {
    /// Every state array at the current step.
    fn read(&mut self) -> Result<Fields, BenchError>;
}

/// A contest as the suite and the options give it.
struct Planned {
    entry: &'static Entry,
    sizes: Vec<(String, i64)>,
    schedules: Vec<String>,
    check_steps: i64,
}

/// Relative to values of the order of 1 after a handful of steps: some ten thousand roundings.
const C_TOLERANCE: f64 = 1e-12;

/// Runs the contests of `options`.
///
/// # Errors
/// [`BenchError`] if a name is unknown or nothing could be run. Wrong answers are rows of the record, not errors.
pub fn bench(options: &BenchOptions) -> Result<Record, BenchError> {
    let planned = choose_contests(options)?;
    let threads = thread_counts(options);
    let mut progress = Progress::new(planned.len() * (threads.len() + 1) + 1, options.silent);
    progress.stage("looking for a C compiler, warming up memory");
    let mut c_loops = match CLoops::new() {
        Ok(loops) => Some(loops),
        Err(missing) => {
            progress.note(&format!("note: {missing}"));
            None
        }
    };
    let mut probe = Probe::new()?;
    let machine = Machine::describe(c_loops.as_ref().map(|loops| loops.compiler().describe()));
    let version = env!("CARGO_PKG_VERSION");
    let mut record =
        Record { date: date(), version, revision: revision(), command: options.command.clone(), machine, rows: vec![] };
    let groups = planned.len() * threads.len();
    let seconds = options.seconds.unwrap_or(options.suite.seconds) / groups as f64;
    let budget = Budget { seconds, rounds: options.suite.rounds };
    let mut bandwidths: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for plan in &planned {
        progress.stage(&format!("{}: planning, and the naive answer", plan.entry.name));
        let prepared = prepare(plan, options, &progress)?;
        for &count in &threads {
            progress.stage(&format!("{} on {count} threads", plan.entry.name));
            let mut entrants = layout_entrants(&prepared, count, &progress);
            if let Some(loops) = c_loops.as_mut() {
                entrants.extend(c_entrants(&prepared, loops, count, &progress));
            }
            check_answers(&prepared, &mut entrants, &progress)?;
            let measured = run_contest(&mut entrants, budget, &mut probe, count, &progress)?;
            bandwidths.entry(count).or_default().extend(measured.as_ref().map(|outcome| outcome.gb_per_s));
            record.rows.extend(finish_rows(&prepared, entrants, measured));
        }
    }
    for (count, samples) in bandwidths.iter().filter(|(_, samples)| !samples.is_empty()) {
        let median = crate::timing::Seconds::of(samples).median;
        record.machine.update_in_place_gb_per_s.insert(count.to_string(), median);
    }
    progress.clear();
    Ok(record)
}

fn choose_contests(options: &BenchOptions) -> Result<Vec<Planned>, BenchError> {
    let wanted = |name: &str| options.kernel.as_deref().is_none_or(|kernel| kernel == name);
    let mut chosen = Vec::new();
    for contest in options.suite.contests.iter().filter(|contest| wanted(contest.kernel)) {
        let entry = crate::kernel_source::entry(contest.kernel)?;
        let sizes = contest.sizes.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        let schedules = contest.schedules.iter().map(|&name| name.to_owned()).collect();
        chosen.push(Planned { entry, sizes, schedules, check_steps: contest.check_steps });
    }
    if let (Some(name), true) = (&options.kernel, chosen.is_empty()) {
        let entry = crate::kernel_source::entry(name)?;
        let preset = entry.benches.first().unwrap_or(&entry.default);
        let schedules = entry.kernel().map_err(crease::Error::from)?.schedules().iter().take(1).map(|s| s.name.clone()).collect();
        chosen.push(Planned { entry, sizes: entry.case(preset).sizes, schedules, check_steps: 5 });
    }
    for contest in &mut chosen {
        if !options.schedules.is_empty() {
            contest.schedules.clone_from(&options.schedules);
        }
        for (name, value) in &options.sizes {
            let known: Vec<String> = contest.sizes.iter().map(|(name, _)| name.clone()).collect();
            let slot = contest.sizes.iter_mut().find(|(size, _)| size == name);
            let slot = slot.ok_or_else(|| BenchError::UnknownName {
                kernel: contest.entry.name.to_owned(),
                what: "size parameter",
                name: name.clone(),
                known: known.join(", "),
            })?;
            slot.1 = *value;
        }
    }
    Ok(chosen)
}

fn thread_counts(options: &BenchOptions) -> Vec<usize> {
    let mut counts = options.threads.map_or_else(|| vec![1, cores()], |count| vec![count.max(1)]);
    counts.dedup();
    counts
}

fn prepare(plan: &Planned, options: &BenchOptions, progress: &Progress) -> Result<Prepared, BenchError> {
    let entry = plan.entry;
    let mut case = entry.case(&entry.default);
    case.sizes.clone_from(&plan.sizes);
    case.steps = plan.check_steps;
    let initial = (entry.initial)(&case)?;
    progress.detail("naive loops");
    let expected = (entry.naive)(&case, &initial)?;
    let kernel = entry.kernel().map_err(crease::Error::from)?;
    let mut plans = Vec::new();
    for schedule in &plan.schedules {
        for layout in [Layout::Full, Layout::SuccessiveModulo, Layout::Folded] {
            progress.detail(&format!("planning {schedule}, {layout}"));
            plans.push(layouts::plan(&kernel, &case, schedule, layout, options.memory_cap_bytes)?);
        }
    }
    let sites = (entry.sites)(&case)?;
    Ok(Prepared { entry, case, initial, expected, sites, plans })
}

fn empty_row(prepared: &Prepared, layout: &str, threads: usize) -> Row {
    Row {
        kernel: prepared.entry.name.to_owned(),
        params: prepared.case.sizes.iter().cloned().collect(),
        schedule: None,
        layout: layout.to_owned(),
        made_by: String::new(),
        threads,
        seconds: None,
        updates_per_second: None,
        temp_bytes: 0,
        lower_bound_bytes: None,
        max_abs_diff: None,
        tolerance: 0.0,
        bandwidth_share: None,
        update_in_place_gb_per_s: None,
        note: None,
    }
}

fn layout_entrants(prepared: &Prepared, threads: usize, progress: &Progress) -> Vec<Entrant> {
    let mut entrants = Vec::new();
    for planned in &prepared.plans {
        progress.detail(&format!("compiling {}, {}", planned.schedule, planned.layout));
        let mut row = empty_row(prepared, &planned.layout.to_string(), threads);
        row.schedule = Some(planned.schedule.clone());
        row.made_by = planned.strategies();
        row.temp_bytes = planned.bytes();
        row.lower_bound_bytes = planned.lower_bound_bytes();
        let runner = match planned.start(threads, &prepared.case, &prepared.initial) {
            Ok(runner) => Some(runner),
            Err(refusal) => {
                row.note = Some(refusal.to_string());
                None
            }
        };
        entrants.push(Entrant { row, runner });
    }
    entrants
}

fn c_entrants(prepared: &Prepared, loops: &mut CLoops, threads: usize, progress: &Progress) -> Vec<Entrant> {
    let mut entrants = Vec::new();
    for source in sources().iter().filter(|source| source.kernel == prepared.entry.name) {
        for layout in source.layouts {
            progress.detail(&format!("building {layout}"));
            let mut row = empty_row(prepared, layout, threads);
            row.made_by = "C".into();
            row.tolerance = C_TOLERANCE;
            row.lower_bound_bytes = prepared.plans.iter().find_map(|plan| plan.lower_bound_bytes());
            let started = if threads > 1 && !loops.compiler().has_threads() {
                row.note = Some("the C compiler has no OpenMP".into());
                None
            } else {
                match CRunner::open(loops, source, layout, threads, prepared) {
                    Ok(runner) => Some(runner),
                    Err(refusal) => {
                        row.note = Some(refusal.to_string());
                        None
                    }
                }
            };
            row.temp_bytes = started.as_ref().map_or(0, |runner| runner.c_loop.field_bytes());
            entrants.push(Entrant { row, runner: started.map(|runner| Box::new(runner) as Box<dyn LogicalRunner>) });
        }
    }
    entrants
}

/// A C loop and how its data are named and shaped.
struct CRunner {
    c_loop: CLoop,
    source: &'static Source,
    n: usize,
}

impl CRunner {
    fn open(
        loops: &mut CLoops,
        source: &'static Source,
        layout: &str,
        threads: usize,
        prepared: &Prepared,
    ) -> Result<CRunner, BenchError> {
        let n = prepared.case.extent("N", 3)?;
        let scalars = source.scalars.iter().map(|name| prepared.case.scalar(name)).collect::<Result<Vec<_>, _>>()?;
        let arrays = source.arrays.iter().filter_map(|name| prepared.initial.get(*name));
        let initial: Vec<f64> = arrays.flat_map(|field| field.iter().copied()).collect();
        let c_loop = loops.open(source, layout, n, threads, &scalars, &initial)?;
        Ok(CRunner { c_loop, source, n })
    }
}

impl Runner for CRunner {
    fn advance(&mut self, steps: u64) -> Result<(), BenchError> {
        Ok(self.c_loop.advance(steps)?)
    }
}

impl LogicalRunner for CRunner {
    fn read(&mut self) -> Result<Fields, BenchError> {
        let logical = self.c_loop.read();
        let shape = vec![self.n; self.source.rank as usize];
        let cells = logical.len() / self.source.arrays.len();
        let field = |part: &[f64]| {
            ndarray::ArrayD::from_shape_vec(shape.clone(), part.to_vec()).expect("each part has n^rank cells")
        };
        Ok(self.source.arrays.iter().zip(logical.chunks(cells)).map(|(&name, part)| (name.into(), field(part))).collect())
    }
}

/// Advances everyone by the case's steps and compares; what is wrong is not timed.
fn check_answers(prepared: &Prepared, entrants: &mut [Entrant], progress: &Progress) -> Result<(), BenchError> {
    for Entrant { row, runner: slot } in entrants {
        let Some(runner) = slot.as_mut() else { continue };
        progress.detail(&format!("checking {}", row.layout));
        runner.advance(prepared.case.steps.unsigned_abs())?;
        row.max_abs_diff = Some(max_abs_diff(&runner.read()?, &prepared.expected));
        if row.is_wrong() {
            row.note = Some("WRONG: not timed".into());
            *slot = None;
        }
    }
    Ok(())
}

/// Largest difference of two sets of fields: infinite if arrays or shapes differ, NaN if a value is.
fn max_abs_diff(found: &Fields, expected: &Fields) -> f64 {
    let mut largest: f64 = 0.0;
    for (name, field) in expected {
        let Some(other) = found.get(name).filter(|other| other.shape() == field.shape()) else {
            return f64::INFINITY;
        };
        for (a, b) in field.iter().zip(other) {
            // `max` would drop a NaN.
            if a.to_bits() != b.to_bits() && !((a - b).abs() <= largest) {
                largest = (a - b).abs();
                if largest.is_nan() {
                    return largest;
                }
            }
        }
    }
    largest
}

fn run_contest(
    entrants: &mut [Entrant],
    budget: Budget,
    probe: &mut Probe,
    threads: usize,
    progress: &Progress,
) -> Result<Option<Outcome>, BenchError> {
    let mut runners: Vec<&mut dyn Runner> = Vec::new();
    for entrant in entrants {
        if let Some(runner) = entrant.runner.as_mut() {
            runners.push(runner.as_mut());
        }
    }
    if runners.is_empty() {
        return Ok(None);
    }
    let count = runners.len();
    progress.detail(&format!("timing {count} layouts"));
    let mut round = |done| progress.detail(&format!("timing {count} layouts, round {done} of {}", budget.rounds));
    contest(&mut runners, budget, &mut || probe.update_in_place(threads), &mut round).map(Some)
}

fn finish_rows(prepared: &Prepared, entrants: Vec<Entrant>, outcome: Option<Outcome>) -> Vec<Row> {
    let cells: usize = prepared.initial.values().map(|field| field.len()).sum();
    let bytes_per_update = 16.0 * cells as f64 / prepared.sites as f64;
    let mut times = outcome.iter().flat_map(|outcome| outcome.seconds.iter().copied());
    let mut rows = Vec::new();
    for Entrant { mut row, runner } in entrants {
        if let Some(outcome) = &outcome {
            row.params.insert("T".into(), i64::try_from(outcome.steps).unwrap_or(i64::MAX));
            row.update_in_place_gb_per_s = Some(outcome.gb_per_s);
            if let Some(seconds) = runner.and_then(|_| times.next()) {
                let rate = prepared.sites as f64 * outcome.steps as f64 / seconds.median;
                row.seconds = Some(seconds);
                row.updates_per_second = Some(rate);
                row.bandwidth_share = Some(rate * bytes_per_update / (outcome.gb_per_s * 1e9));
            }
        }
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::arr1;

    fn fields(values: &[f64]) -> Fields {
        [("u".to_owned(), arr1(values).into_dyn())].into()
    }

    #[test]
    fn differences_of_fields_see_nan_and_missing_arrays() {
        let expected = fields(&[1.0, 2.0]);
        assert_eq!(max_abs_diff(&fields(&[1.0, 2.5]), &expected), 0.5);
        assert_eq!(max_abs_diff(&Fields::new(), &expected), f64::INFINITY);
        assert_eq!(max_abs_diff(&fields(&[1.0]), &expected), f64::INFINITY);
        assert!(max_abs_diff(&fields(&[f64::NAN, 2.0]), &expected).is_nan());
    }
}

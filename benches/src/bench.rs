//! `crease bench`: layouts of our own and C loops in contests, answers checked first.
//!
//! For each kernel, size and number of threads: every layout starts from the catalogue's initial data, takes a few
//! steps, and is compared with the naive loops. What is right is then timed in one interleaved contest.

use std::collections::BTreeMap;

use crease::kernel::graph::{Array, Role};
use crease::{Isa, IsaChoice, Kernel, Prefetch, Rounding, Streaming};
use crease_kernels::Fields;

use crate::bandwidth::{Bandwidth, Probe};
use crate::cloops::CLoops;
use crate::code_variant::CodeVariant;
use crate::contestant::{Entrant, Prepared, c_entrants, check_answers, layout_entrants};
use crate::error::BenchError;
use crate::kernel_source::catalogue_entry;
use crate::layouts::{self, Layout, Request};
use crate::machine::cores;
use crate::progress::Progress;
use crate::report::{Header, Record, Row};
use crate::suites::{Contest, Suite};
use crate::timing::{Budget, Outcome, Runner, Seconds, contest};

/// What to measure and for how long.
#[derive(Debug)]
pub struct BenchOptions {
    /// Which contests, and how long.
    pub suite: &'static Suite,
    /// Only this kernel, even if the suite lacks it.
    pub kernel: Option<String>,
    /// Schedules instead of the suite's.
    pub schedules: Vec<String>,
    /// Storage to compare with, as text, in every schedule; empty for none.
    pub mapping: String,
    /// Sizes instead of the suite's.
    pub sizes: Vec<(String, i64)>,
    /// The instructions that strips are compiled for: a contest has every layout in each of them.
    pub isas: Vec<IsaChoice>,
    /// Which stores go past the caches; as the plan says, if empty.
    pub streaming: Vec<Streaming>,
    /// Which strips call for cells ahead of time; as is estimated to be best, if empty.
    pub prefetch: Vec<Prefetch>,
    /// Whether layouts run a second time in tuned code.
    pub tuned: bool,
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

/// Runs the contests of `options`.
///
/// # Errors
/// [`BenchError`] if a name is unknown or a run fails. Wrong answers are rows of the record, not errors.
pub fn bench(options: &BenchOptions) -> Result<Record, BenchError> {
    let contests = choose_contests(options)?;
    let threads = thread_counts(options.threads);
    let mut progress = Progress::new(contests.len() * (threads.len() + 1) + 1, options.silent);
    progress.stage("looking for a C compiler, warming up memory");
    let mut c_loops = CLoops::new().map_err(|missing| progress.note(&format!("note: {missing}"))).ok();
    let mut probe = Probe::new()?;
    let c_compiler = c_loops.as_ref().map(|loops| loops.compiler().describe());
    let mut record = Record { header: Header::new(&options.command, c_compiler), rows: Vec::new() };
    let seconds = options.seconds.unwrap_or(options.suite.seconds) / (contests.len() * threads.len()).max(1) as f64;
    let steps = options.suite.steps.filter(|_| options.seconds.is_none());
    let budget = Budget { seconds, rounds: options.suite.rounds, steps };
    let mut bandwidths: BTreeMap<usize, Vec<Bandwidth>> = BTreeMap::new();
    for contest in &contests {
        progress.stage(&format!("{}: planning, and the naive answer", contest.kernel));
        let prepared = prepare(contest, options, &progress)?;
        for &count in &threads {
            progress.stage(&format!("{}, threads: {count}", contest.kernel));
            let mut entrants = layout_entrants(&prepared, count, &progress);
            if let Some(loops) = c_loops.as_mut() {
                entrants.extend(c_entrants(&prepared, loops, &|_| true, count, &progress));
            }
            check_answers(&prepared, &mut entrants, &progress)?;
            let outcome = run_contest(&mut entrants, budget, &mut probe, count, &progress)?;
            bandwidths.entry(count).or_default().extend(outcome.as_ref().map(|outcome| outcome.bandwidth));
            record.rows.extend(finish_rows(&prepared, entrants, outcome));
        }
    }
    for (count, samples) in bandwidths.iter().filter(|(_, samples)| !samples.is_empty()) {
        let median = |of: fn(&Bandwidth) -> f64| Seconds::of(&samples.iter().map(of).collect::<Vec<_>>()).median;
        let machine = &mut record.header.machine;
        machine.update_in_place_gb_per_s.insert(count.to_string(), median(|b| b.update_in_place));
        machine.triad_gb_per_s.insert(count.to_string(), median(|b| b.triad));
    }
    progress.clear();
    Ok(record)
}

/// The suite's contests, narrowed and changed as the options say.
fn choose_contests(options: &BenchOptions) -> Result<Vec<Contest>, BenchError> {
    let wanted = |name: &str| options.kernel.as_deref().is_none_or(|kernel| kernel == name);
    let mut chosen: Vec<Contest> = options.suite.contests().into_iter().filter(|c| wanted(&c.kernel)).collect();
    if let (Some(name), true) = (&options.kernel, chosen.is_empty()) {
        chosen.push(Contest::of_catalogue(catalogue_entry(name)?)?);
    }
    for contest in &mut chosen {
        if !options.schedules.is_empty() {
            contest.schedules.clone_from(&options.schedules);
        }
        contest.resize(&options.sizes)?;
    }
    Ok(chosen)
}

pub(crate) fn thread_counts(only: Option<usize>) -> Vec<usize> {
    let mut counts = only.map_or_else(|| vec![1, cores()], |count| vec![count.max(1)]);
    counts.dedup();
    counts
}

/// Everything of a contest that does not depend on the number of threads.
fn prepare(contest: &Contest, options: &BenchOptions, progress: &Progress) -> Result<Prepared, BenchError> {
    let entry = catalogue_entry(&contest.kernel)?;
    let mut case = entry.case(&entry.default);
    case.sizes.clone_from(&contest.sizes);
    case.steps = contest.check_steps;
    let initial = (entry.initial)(&case)?;
    progress.detail("naive loops");
    let expected = (entry.naive)(&case, &initial)?;
    let kernel = entry.kernel().map_err(crease::Error::from)?;
    check_schedules(&kernel, &contest.schedules)?;
    let codes = code_variants(options)?;
    let mut layouts = Vec::new();
    for schedule in &contest.schedules {
        let given = (!options.mapping.is_empty()).then_some((Layout::Given("given"), options.mapping.as_str()));
        let published = entry.published.iter().filter(|published| published.schedule == schedule);
        let published = published.map(|published| (Layout::Given(published.name), published.mapping));
        let ours = [Layout::Full, Layout::SuccessiveModulo].map(|layout| (layout, ""));
        for (layout, mapping) in ours.into_iter().chain(published).chain(given).chain([(Layout::Folded, "")]) {
            progress.detail(&format!("planning {schedule}, {layout}"));
            let (horizon, cap_bytes) = (contest.full_steps, options.memory_cap_bytes);
            for code in codes.iter().copied() {
                let rounding = Rounding::Auto;
                let request = Request { schedule, layout, mapping, code, rounding, horizon, cap_bytes };
                layouts.push(layouts::plan(&kernel, &case, &request).map_err(|refusal| {
                    let mut row = Row::new(entry.name, &case.sizes, &layout.to_string(), 1);
                    row.schedule = Some(schedule.clone());
                    row.isa = Some(code.to_string());
                    row.fail(&refusal);
                    row
                }));
            }
        }
    }
    let sites = (entry.sites)(&case)?;
    let bytes_per_site = least_traffic_bytes(&kernel, &initial, &expected) as f64 / sites as f64;
    Ok(Prepared {
        entry,
        case,
        initial,
        expected,
        sites,
        in_steps: kernel.step_param().is_some(),
        bytes_per_site,
        layouts,
    })
}

/// What to compile for on this machine, each once.
fn code_variants(options: &BenchOptions) -> Result<Vec<CodeVariant>, BenchError> {
    fn or<'a, T>(given: &'a [T], default: &'a [T]) -> &'a [T] {
        if given.is_empty() { default } else { given }
    }
    let mut variants = Vec::new();
    for choice in or(&options.isas, &[IsaChoice::Auto]) {
        let isa = Isa::detect().resolve(*choice)?;
        for &streaming in or(&options.streaming, &[Streaming::Auto]) {
            for &prefetch in or(&options.prefetch, &[Prefetch::Auto]) {
                for &tuned in if options.tuned { &[false, true][..] } else { &[false] } {
                    let variant = CodeVariant { isa, streaming, prefetch, tuned };
                    if !variants.contains(&variant) {
                        variants.push(variant);
                    }
                }
            }
        }
    }
    Ok(variants)
}

/// Bytes that one step must move: state is read and written once, inputs are read, outputs written.
pub(crate) fn least_traffic_bytes(kernel: &Kernel, initial: &Fields, expected: &Fields) -> u64 {
    let cells = |array: &Array| initial.get(&array.name).or(expected.get(&array.name)).map_or(0, |field| field.len());
    let bytes = |array: &Array| match array.role {
        Role::State => 2 * array.element.bytes() * cells(array) as u64,
        Role::Input | Role::Output => array.element.bytes() * cells(array) as u64,
        _ => 0,
    };
    kernel.arrays().iter().map(bytes).sum()
}

fn check_schedules(kernel: &Kernel, wanted: &[String]) -> Result<(), BenchError> {
    match wanted.iter().find(|name| kernel.schedule(name).is_none()) {
        None => Ok(()),
        Some(name) => {
            Err(BenchError::unknown(kernel.name(), "schedule", name, kernel.schedules().iter().map(|s| &s.name)))
        }
    }
}

/// Times what can run; none if nothing can.
pub(crate) fn run_contest(
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
    contest(&mut runners, budget, &mut || probe.measure(threads), &mut round).map(Some)
}

/// Rows with what the contest found.
pub(crate) fn finish_rows(prepared: &Prepared, entrants: Vec<Entrant>, outcome: Option<Outcome>) -> Vec<Row> {
    let mut times = outcome.iter().flat_map(|outcome| outcome.seconds.iter().copied());
    let mut rows = Vec::new();
    for Entrant { mut row, runner } in entrants {
        if let Some(outcome) = &outcome {
            if prepared.in_steps {
                row.params.insert("T".into(), i64::try_from(outcome.steps).unwrap_or(i64::MAX));
            } else {
                row.runs = Some(outcome.steps);
            }
            row.gb_per_s = Some(outcome.bandwidth);
            if let Some(seconds) = runner.and_then(|_| times.next()) {
                let rate = prepared.sites as f64 * outcome.steps as f64 / seconds.median;
                row.seconds = Some(seconds);
                row.updates_per_second = Some(rate);
                row.bandwidth_share = Some(rate * prepared.bytes_per_site / (outcome.bandwidth.update_in_place * 1e9));
            }
        }
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suites::find;

    fn options(kernel: &str, sizes: Vec<(String, i64)>) -> BenchOptions {
        BenchOptions {
            suite: find("check").unwrap(),
            kernel: Some(kernel.to_owned()),
            schedules: Vec::new(),
            mapping: String::new(),
            isas: Vec::new(),
            streaming: Vec::new(),
            prefetch: Vec::new(),
            tuned: false,
            sizes,
            threads: Some(2),
            seconds: Some(0.01),
            memory_cap_bytes: 1 << 20,
            silent: true,
            command: String::new(),
        }
    }

    #[test]
    fn our_layouts_agree_with_the_naive_loops_bit_for_bit_and_are_timed() {
        let record = bench(&options("heat-1d", vec![("N".to_owned(), 133)])).unwrap();
        for layout in ["full", "successive-modulo", "folded"] {
            let row = record.rows.iter().find(|row| row.layout == layout).unwrap();
            assert_eq!(row.max_abs_diff, Some(0.0), "{row:?}");
            assert!(row.updates_per_second.is_some_and(|rate| rate > 0.0), "{row:?}");
        }
        assert!(record.rows.iter().all(|row| !row.is_wrong()), "{:?}", record.rows);
    }

    #[test]
    fn published_and_given_storage_compete_and_a_refused_one_fails() {
        let mut options = options("blur-interleaved-f32", vec![("N".to_owned(), 21)]);
        options.schedules = vec!["sequential".to_owned()];
        options.mapping = "blurx[y, x] -> [(N*y + x) mod (2N)]".to_owned();
        let record = bench(&options).unwrap();
        let row = |layout: &str| record.rows.iter().find(|row| row.layout == layout).unwrap();
        for layout in ["full", "successive-modulo", "paper", "folded"] {
            assert_eq!(row(layout).max_abs_diff, Some(0.0), "{:?}", row(layout));
        }
        assert_eq!(row("paper").temp_bytes, row("folded").temp_bytes);
        assert!(row("paper").runs.is_some() && !row("paper").params.contains_key("T"));
        assert!(row("given").failed && row("given").note.as_ref().is_some_and(|note| note.contains("would share")));
        assert!(record.rows.iter().all(|row| !row.is_wrong()), "{:?}", record.rows);
    }

    #[test]
    fn a_layout_above_the_cap_has_its_bytes_and_no_time() {
        let record = bench(&options("heat-1d", Vec::new())).unwrap();
        let full = record.rows.iter().find(|row| row.layout == "full").unwrap();
        assert!(full.temp_bytes.is_some_and(|bytes| bytes > 1 << 20) && full.seconds.is_none(), "{full:?}");
    }
}

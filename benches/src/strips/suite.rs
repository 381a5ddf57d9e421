//! `crease bench --suite strips`: our code beside C loops for the same work, in cache and from memory.
//!
//! In: which kernel, which instructions, how many threads.   Out: a record with one row per kernel, size, instruction
//! set and number of threads, and its table; compile times of what was measured.
//!
//! A C loop is built for vectors of 256 and of 512 bits,
//! where the compiler has both, and the better one is what counts. Variants of a row are timed in turn, the
//! bandwidth probe beside them. Answers are compared with the naive loops first; for boxes so large that these would
//! take minutes, with our own answer at the first instruction set.

use crease::kernel::graph::DimKind;
use crease::{Isa, IsaChoice, Rounding};
use crease_kernels::lbm::{VelocitySet, fluid};
use crease_kernels::{Case, Fields};

use crate::catalogue::catalogue_entry;
use crate::cloops::CLoops;
use crate::code_variant::CodeVariant;
use crate::driver::{Driver, thread_counts};
use crate::error::BenchError;
use crate::layouts::{self, Request};
use crate::progress::Progress;
use crate::record::Record;
use crate::row::Row;
use crate::strips::record::{CompileRow, Strips, row};
use crate::strips::subjects::{Subject, WorkingSet, subjects};
use crate::timing::{Budget, Seconds};
use crate::variants::{Prepared, Variant, c_variants, check_answers, layout_variants, planned};

/// How the command line names the suite.
pub const SUITE: &str = "strips";

/// Seconds for each comparison in cache, and from memory.
const SECONDS: [f64; 2] = [1.5, 8.0];
/// Measurements of each variant.
const ROUNDS: u32 = 7;
/// Sites above which naive loops on a lattice take too long.
const MANY_SITES: u64 = 1 << 21;
/// Odd, so that layouts of period two are read in the middle of it.
const CHECK_STEPS: i64 = 3;

/// What to measure.
#[derive(Debug)]
pub struct StripsOptions {
    /// Only this kernel.
    pub kernel: Option<String>,
    /// Instructions; by default all that the machine has in cache, and the widest from memory.
    pub isas: Vec<IsaChoice>,
    /// Only this number of threads, for rows from memory; by default one, then all. Rows in cache and schedules that
    /// have nothing parallel are for one.
    pub threads: Option<usize>,
    /// Seconds for each comparison instead of the suite's.
    pub seconds: Option<f64>,
    /// Tiny sizes, one measurement: for the answers.
    pub quick: bool,
    /// No progress on standard error.
    pub silent: bool,
    /// The command line, for the record.
    pub command: String,
}

/// Runs the suite, or its part about one kernel.
///
/// # Errors
/// [`BenchError`] if a name is unknown or a run fails. Wrong answers are rows of the record, not errors.
pub fn strips(options: &StripsOptions) -> Result<Record<Strips>, BenchError> {
    let chosen = chosen(options)?;
    let (mut driver, found) = Driver::start(chosen.len() + 1, options.silent, &options.command)?;
    let widths = found.map(|loops| loops.compiler().widths()).unwrap_or_default();
    let mut c_loops: Vec<CLoops> = widths.into_iter().map(CLoops::with).collect();
    let (mut rows, mut compile) = (Vec::new(), Vec::new());
    for (subject, threads) in chosen {
        let what = format!("{} {:?} beside {}", subject.kernel, subject.sizes, subject.reference);
        driver.progress.stage(&format!("{what}, threads: {threads}"));
        for (found, reference) in ours_and_best(measure(subject, threads, options, &mut c_loops, &mut driver)?) {
            rows.push(row(subject, &found, reference.as_ref()));
        }
        for row in compile_rows(subject, options)? {
            if !compile.iter().any(|known: &CompileRow| (&known.kernel, &known.isa) == (&row.kernel, &row.isa)) {
                compile.push(row);
            }
        }
    }
    Ok(Record { header: driver.finish(), found: Strips { rows, compile } })
}

/// The subjects with the numbers of threads they run on.
fn chosen(options: &StripsOptions) -> Result<Vec<(&'static Subject, usize)>, BenchError> {
    let wanted = |name: &str| options.kernel.as_deref().is_none_or(|kernel| kernel == name);
    let mut chosen: Vec<(&'static Subject, usize)> = Vec::new();
    for subject in subjects().filter(|subject| wanted(subject.kernel)) {
        if options.quick && chosen.iter().any(|(known, _)| known.is_as_tiny(subject)) {
            continue;
        }
        let in_cache = subject.working_set != WorkingSet::Dram || options.quick;
        let alone = in_cache || !is_parallel(subject)?;
        let counts = if alone { vec![1] } else { thread_counts(options.threads) };
        chosen.extend(counts.into_iter().map(|threads| (subject, threads)));
    }
    match &options.kernel {
        Some(name) if chosen.is_empty() => {
            catalogue_entry(name)?;
            let (kernel, suite) = (name.clone(), SUITE);
            Err(BenchError::NotInSuite { suite, kernel })
        }
        _ => Ok(chosen),
    }
}

/// Whether the schedule leaves several threads anything to do.
fn is_parallel(subject: &Subject) -> Result<bool, BenchError> {
    let kernel = catalogue_entry(subject.kernel)?.kernel().map_err(crease::Error::from)?;
    Ok(kernel.schedule(subject.schedule).is_some_and(|schedule| schedule.dims.contains(&DimKind::Parallel)))
}

/// Every variant's row; whether it is a C loop.
fn measure(
    subject: &Subject,
    threads: usize,
    options: &StripsOptions,
    c_loops: &mut [CLoops],
    driver: &mut Driver,
) -> Result<Vec<(Row, bool)>, BenchError> {
    let progress = &driver.progress;
    let (mut prepared, naive) = prepare(subject, options, progress)?;
    let mut variants = layout_variants(&prepared, threads, progress);
    let ours = variants.len();
    for loops in c_loops {
        let flags = loops.compiler().describe();
        let mut opened = c_variants(&prepared, loops, &|layout| subject.is_beside(layout), threads, progress);
        opened.iter_mut().for_each(|variant| variant.row.made_by.clone_from(&flags));
        variants.extend(opened);
    }
    prepared.initial = Fields::new();
    let unchecked = if naive { 0 } else { take_first_answer(&mut prepared, &mut variants)? };
    check_answers(&prepared, &mut variants[unchecked..], progress)?;
    prepared.expected = Fields::new();
    let in_cache = subject.working_set != WorkingSet::Dram;
    let seconds = options.seconds.unwrap_or(SECONDS[usize::from(!in_cache)]);
    let budget = match options.quick {
        true => Budget { seconds: 0.0, rounds: 1, steps: None },
        false => Budget { seconds, rounds: ROUNDS, steps: None },
    };
    let mut rows = driver.comparison(&prepared, variants, threads, budget)?;
    rows.iter_mut().filter(|_| in_cache).for_each(|row| row.bandwidth_share = None);
    Ok(rows.into_iter().enumerate().map(|(k, row)| (row, k >= ours)).collect())
}

/// Data and plans; whether the expected answer is that of the naive loops, or still missing.
fn prepare(subject: &Subject, options: &StripsOptions, progress: &Progress) -> Result<(Prepared, bool), BenchError> {
    let entry = catalogue_entry(subject.kernel)?;
    let case = case(subject, options)?;
    let sites = (entry.sites)(&case)?;
    progress.detail("data");
    let initial = match subject.lattice {
        Some(lattice) => {
            let set = VelocitySet::new(lattice);
            let n = case.extent("N", 3)?;
            fluid::perturbed_rest(&set, &vec![n; set.dims()])?
        }
        None => (entry.initial)(&case)?,
    };
    let naive = subject.lattice.is_none() || sites <= MANY_SITES;
    progress.detail("naive loops");
    let expected = if naive { (entry.naive)(&case, &initial)? } else { Fields::new() };
    let kernel = entry.kernel().map_err(crease::Error::from)?;
    let mut layouts = Vec::new();
    for isa in isas(subject, options)? {
        layouts.push(planned(&kernel, entry, &case, &request(subject, isa)));
    }
    Ok((Prepared::new(entry, case, &kernel, initial, expected, layouts)?, naive))
}

fn case(subject: &Subject, options: &StripsOptions) -> Result<Case, BenchError> {
    let entry = catalogue_entry(subject.kernel)?;
    let mut case = entry.case(&entry.default);
    let sizes = if options.quick { subject.tiny } else { subject.sizes };
    case.sizes.iter_mut().zip(sizes).for_each(|((_, value), &size)| *value = size);
    case.steps = CHECK_STEPS;
    Ok(case)
}

/// The instruction sets of a subject on this machine, each once.
fn isas(subject: &Subject, options: &StripsOptions) -> Result<Vec<IsaChoice>, BenchError> {
    let machine = Isa::detect();
    let in_cache = subject.working_set != WorkingSet::Dram;
    if options.isas.is_empty() && in_cache {
        let known = IsaChoice::ALL.into_iter().filter(|isa| *isa != IsaChoice::Auto);
        return Ok(known.filter(|isa| machine.resolve(*isa).is_ok()).collect());
    }
    let mut isas = Vec::new();
    for choice in if options.isas.is_empty() { &[IsaChoice::Auto] } else { options.isas.as_slice() } {
        let isa = machine.resolve(*choice)?;
        if !isas.contains(&isa) {
            isas.push(isa);
        }
    }
    Ok(isas)
}

/// Rows are rounded to whole cache lines, as the C loops do it.
fn request(subject: &Subject, isa: IsaChoice) -> Request<'_> {
    let (schedule, layout) = (subject.schedule, subject.layout);
    let (code, rounding) = (CodeVariant { isa, ..CodeVariant::default() }, Rounding::Lines);
    Request { schedule, layout, mapping: "", code, rounding, horizon: 0, cap_bytes: u64::MAX, only_on: None }
}

/// Takes as expected what the first runner has after the steps that are checked. How many variants that settles.
fn take_first_answer(prepared: &mut Prepared, variants: &mut [Variant]) -> Result<usize, BenchError> {
    let first = variants.iter().position(|variant| variant.runner.is_some());
    let Some((first, runner)) = first.and_then(|k| Some((k, variants[k].runner.as_mut()?))) else {
        return Ok(variants.len());
    };
    runner.advance(prepared.case.steps.unsigned_abs())?;
    prepared.expected = runner.read()?;
    Ok(first + 1)
}

/// Our rows, each with the fastest C loop.
fn ours_and_best(rows: Vec<(Row, bool)>) -> Vec<(Row, Option<Row>)> {
    let (loops, ours): (Vec<_>, Vec<_>) = rows.into_iter().partition(|&(_, is_loop)| is_loop);
    let rate = |row: &Row| row.updates_per_second.unwrap_or(0.0);
    let best = loops.into_iter().map(|(row, _)| row).max_by(|a, b| rate(a).total_cmp(&rate(b)));
    ours.into_iter().map(|(row, _)| (row, best.clone())).collect()
}

/// Compile times of the kernel at each instruction set, medians of a few.
fn compile_rows(subject: &Subject, options: &StripsOptions) -> Result<Vec<CompileRow>, BenchError> {
    let kernel = catalogue_entry(subject.kernel)?.kernel().map_err(crease::Error::from)?;
    let case = case(subject, options)?;
    let mut rows = Vec::new();
    for isa in isas(subject, options)? {
        let Ok(planned) = layouts::plan(&kernel, &case, &request(subject, isa)) else { continue };
        let times = planned.compile_times(if options.quick { 1 } else { 5 })?;
        let median =
            |of: fn(&crease::CompileTimes) -> f64| Seconds::of(&times.iter().map(of).collect::<Vec<_>>()).median;
        rows.push(CompileRow {
            kernel: subject.kernel.to_owned(),
            isa: isa.name().to_owned(),
            seconds: median(|times| times.total().as_secs_f64()),
            wide_strips: times.first().map_or(0, |times| times.wide_strips),
            wide_strip_seconds: median(|times| times.wide.as_secs_f64() / f64::from(times.wide_strips.max(1))),
        });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Findings;

    fn options(kernel: &str) -> StripsOptions {
        StripsOptions {
            kernel: Some(kernel.to_owned()),
            isas: Vec::new(),
            threads: Some(1),
            seconds: None,
            quick: true,
            silent: true,
            command: String::new(),
        }
    }

    fn record(kernel: &str) -> Record<Strips> {
        strips(&options(kernel)).unwrap()
    }

    #[test]
    fn every_instruction_set_agrees_with_the_naive_loops_and_has_a_c_loop_beside_it() {
        // The lattice takes seconds: `.ci/run` sets the variable.
        let kernels = if std::env::var_os("CREASE_THOROUGH").is_some() { 2 } else { 1 };
        for kernel in ["heat-2d-5pt", "lbm-d2q9-box"].into_iter().take(kernels) {
            let record = record(kernel);
            assert!(record.found.verdict().is_ok(), "{record:?}");
            let has_c = record.header.machine.c_compiler.is_some();
            for row in &record.found.rows {
                assert_eq!(row.max_abs_diff, Some(0.0), "{row:?}");
                assert_eq!(row.ratio.is_some(), has_c, "{row:?}");
                assert!(row.share_of_bandwidth_limit.is_none(), "{row:?}");
            }
            assert!(record.found.render(&record.header).contains(kernel));
        }
    }

    #[test]
    fn the_record_has_the_promised_fields() {
        let json = serde_json::to_value(record("blur-interleaved-f32")).unwrap();
        assert!(json["machine"]["update_in_place_gb_per_s"]["1"].as_f64().is_some_and(|gb_per_s| gb_per_s > 0.0));
        let row = json["rows"][0].as_object().unwrap();
        assert_eq!((&row["element"], &row["working_set"], &row["n"]), (&"f32".into(), &"dram".into(), &37.into()));
        for field in [
            "kernel",
            "isa",
            "threads",
            "updates_per_second",
            "reference",
            "reference_updates_per_second",
            "ratio",
            "share_of_bandwidth_limit",
        ] {
            assert!(row.contains_key(field), "no {field}");
        }
    }

    #[test]
    fn schedules_without_a_parallel_dimension_are_measured_on_one_thread() {
        let counts = |kernel: &str| -> Vec<usize> {
            let options = StripsOptions { quick: false, threads: Some(2), ..options(kernel) };
            chosen(&options).unwrap().into_iter().map(|(_, threads)| threads).collect()
        };
        for kernel in ["blur-interleaved", "unsharp-mask-f32", "harris"] {
            assert_eq!(counts(kernel), [1], "{kernel}");
        }
        assert_eq!(counts("lbm-d2q9-periodic"), [2, 2]);
    }

    #[test]
    fn a_kernel_that_is_not_measured_is_an_error() {
        assert!(matches!(strips(&options("heat-1d")), Err(BenchError::NotInSuite { .. })));
        assert!(matches!(strips(&options("heat-9d")), Err(BenchError::UnknownKernel { .. })));
    }
}

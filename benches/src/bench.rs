//! `crease bench`: layouts of our own and C loops in comparisons, answers checked first.
//!
//! For each kernel, size and number of threads: every layout starts from the catalogue's initial data, takes a few
//! steps, and is compared with the naive loops. What is right is then timed in one interleaved comparison.

use crease::{Isa, IsaChoice, Kernel, NonTemporal, Prefetch, Rounding};

use crate::catalogue::catalogue_entry;
use crate::code_variant::CodeVariant;
use crate::driver::{Driver, thread_counts};
use crate::error::BenchError;
use crate::layouts::{AUTOMATIC, Layout, Request};
use crate::progress::Progress;
use crate::record::{Findings, Record};
use crate::row::{Comparisons, Row};
use crate::suites::{Comparison, Suite};
use crate::table;
use crate::timing::Budget;
use crate::variants::{Prepared, c_variants, check_answers, layout_variants, planned};

/// What to measure and for how long.
#[derive(Debug)]
pub struct BenchOptions {
    /// Which comparisons, and how long.
    pub suite: &'static Suite,
    /// Only this kernel, even if the suite lacks it.
    pub kernel: Option<String>,
    /// Schedules instead of the suite's.
    pub schedules: Vec<String>,
    /// Storage to compare with, as text, in every schedule; empty for none.
    pub mapping: String,
    /// Sizes instead of the suite's.
    pub sizes: Vec<(String, i64)>,
    /// The instructions that strips are compiled for: a comparison has every layout in each of them.
    pub isas: Vec<IsaChoice>,
    /// Which stores are non-temporal; as the plan says, if empty.
    pub non_temporal: Vec<NonTemporal>,
    /// Which strips prefetch cells; as is estimated to be best, if empty.
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

/// Runs the comparisons of `options`. `show` is given each table as soon as it is there.
///
/// # Errors
/// [`BenchError`] if a name is unknown or a run fails. Wrong answers are rows of the record, not errors.
pub fn bench(options: &BenchOptions, show: &mut dyn FnMut(&str)) -> Result<Record<Comparisons>, BenchError> {
    let comparisons = choose_comparisons(options)?;
    let threads = thread_counts(options.threads);
    let stages = comparisons.len() * (threads.len() + 1) + 1;
    let (mut driver, mut c_loops) = Driver::start(stages, options.silent, &options.command)?;
    let seconds = options.seconds.unwrap_or(options.suite.seconds) / (comparisons.len() * threads.len()).max(1) as f64;
    let mut rows = Vec::new();
    for comparison in &comparisons {
        driver.progress.stage(&format!("{}: planning, and the naive answer", comparison.kernel));
        let prepared = prepare(comparison, options, &threads, &driver.progress)?;
        let steps = comparison.steps.filter(|_| options.seconds.is_none());
        let budget = Budget { seconds, rounds: options.suite.rounds, steps };
        let wanted = |layout: &str| !options.suite.left_out.contains(&layout);
        for &count in &threads {
            driver.progress.stage(&format!("{}, threads: {count}", comparison.kernel));
            let mut variants = layout_variants(&prepared, count, &driver.progress);
            if let Some(loops) = c_loops.as_mut() {
                variants.extend(c_variants(&prepared, loops, &wanted, count, &driver.progress));
            }
            check_answers(&prepared, &mut variants, &driver.progress)?;
            let found = driver.comparison(&prepared, variants, count, budget)?;
            driver.progress.clear();
            show(&table::render(&found));
            rows.extend(found);
        }
    }
    let header = driver.finish();
    show(&table::machine(&header));
    Ok(Record { header, found: Comparisons { rows } })
}

impl Findings for Comparisons {
    const SUFFIX: &'static str = "";

    fn verdict(&self) -> Result<(), BenchError> {
        let count = |is: fn(&Row) -> bool| self.rows.iter().filter(|row| is(row)).count();
        match (count(Row::is_wrong), count(|row| row.failed)) {
            (0, 0) => Ok(()),
            (wrong, failed) => Err(BenchError::Failures { wrong, failed, rows: self.rows.len() }),
        }
    }
}

/// The suite's comparisons, narrowed and changed as the options say.
fn choose_comparisons(options: &BenchOptions) -> Result<Vec<Comparison>, BenchError> {
    let wanted = |name: &str| options.kernel.as_deref().is_none_or(|kernel| kernel == name);
    let mut chosen: Vec<Comparison> = options.suite.comparisons().into_iter().filter(|c| wanted(&c.kernel)).collect();
    if let (Some(name), true) = (&options.kernel, chosen.is_empty()) {
        chosen.push(Comparison::of_catalogue(catalogue_entry(name)?)?);
    }
    for comparison in &mut chosen {
        if !options.schedules.is_empty() {
            comparison.schedules.clone_from(&options.schedules);
        }
        comparison.resize(&options.sizes)?;
    }
    Ok(chosen)
}

/// Everything of a comparison that does not depend on the number of threads, and for schedules that are found a plan
/// for each number.
fn prepare(
    comparison: &Comparison,
    options: &BenchOptions,
    threads: &[usize],
    progress: &Progress,
) -> Result<Prepared, BenchError> {
    let entry = catalogue_entry(&comparison.kernel)?;
    let mut case = entry.case(&entry.default);
    case.sizes.clone_from(&comparison.sizes);
    case.steps = comparison.check_steps;
    let initial = (entry.initial)(&case)?;
    progress.detail("naive loops");
    let expected = (entry.naive)(&case, &initial)?;
    let kernel = entry.kernel().map_err(crease::Error::from)?;
    check_schedules(&kernel, &comparison.schedules)?;
    let codes = code_variants(options)?;
    let mut layouts = Vec::new();
    for schedule in &comparison.schedules {
        let given = (!options.mapping.is_empty()).then_some((Layout::Given("given"), options.mapping.as_str()));
        let published = entry.published.iter().filter(|published| published.schedule == schedule);
        let published = published.map(|published| (Layout::Given(published.name), published.mapping));
        let baselines = options.suite.baselines.iter().map(|&layout| (layout, ""));
        for (layout, mapping) in baselines.chain(published).chain(given).chain([(Layout::Folded, "")]) {
            progress.detail(&format!("planning {schedule}, {layout}"));
            let (horizon, cap_bytes) = (comparison.full_steps, options.memory_cap_bytes);
            let found_for: Vec<Option<usize>> =
                if schedule == AUTOMATIC { threads.iter().copied().map(Some).collect() } else { vec![None] };
            for (code, only_on) in codes.iter().flat_map(|code| found_for.iter().map(|only_on| (*code, *only_on))) {
                let rounding = Rounding::Auto;
                let request = Request { schedule, layout, mapping, code, rounding, horizon, cap_bytes, only_on };
                layouts.push(planned(&kernel, entry, &case, &request));
            }
        }
    }
    Prepared::new(entry, case, &kernel, initial, expected, layouts)
}

/// What to compile for on this machine, each once.
fn code_variants(options: &BenchOptions) -> Result<Vec<CodeVariant>, BenchError> {
    fn or<'a, T>(given: &'a [T], default: &'a [T]) -> &'a [T] {
        if given.is_empty() { default } else { given }
    }
    let mut variants = Vec::new();
    for choice in or(&options.isas, &[IsaChoice::Auto]) {
        let isa = Isa::detect().resolve(*choice)?;
        for &non_temporal in or(&options.non_temporal, &[NonTemporal::Auto]) {
            for &prefetch in or(&options.prefetch, &[Prefetch::Auto]) {
                for &tuned in if options.tuned { &[false, true][..] } else { &[false] } {
                    let variant = CodeVariant { isa, non_temporal, prefetch, tuned };
                    if !variants.contains(&variant) {
                        variants.push(variant);
                    }
                }
            }
        }
    }
    Ok(variants)
}

fn check_schedules(kernel: &Kernel, wanted: &[String]) -> Result<(), BenchError> {
    // Rewritings of a schedule are for the plan to read.
    let is_name = |name: &&String| *name != AUTOMATIC && !name.contains('(');
    match wanted.iter().filter(is_name).find(|name| kernel.schedule(name).is_none()) {
        None => Ok(()),
        Some(name) => {
            Err(BenchError::unknown(kernel.name(), "schedule", name, kernel.schedules().iter().map(|s| &s.name)))
        }
    }
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
            non_temporal: Vec::new(),
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
        let record = bench(&options("heat-1d", vec![("N".to_owned(), 133)]), &mut |_| {}).unwrap();
        for layout in ["full", "successive-modulo", "folded"] {
            let row = record.found.rows.iter().find(|row| row.layout == layout).unwrap();
            assert_eq!(row.max_abs_diff, Some(0.0), "{row:?}");
            assert!(row.updates_per_second.is_some_and(|rate| rate > 0.0), "{row:?}");
        }
        assert!(record.found.rows.iter().all(|row| !row.is_wrong()), "{:?}", record.found.rows);
    }

    #[test]
    fn published_and_given_storage_compete_and_a_refused_one_fails() {
        let mut options = options("blur-interleaved-f32", vec![("N".to_owned(), 21)]);
        options.schedules = vec!["sequential".to_owned()];
        options.mapping = "blurx[y, x] -> [(N*y + x) mod (2N)]".to_owned();
        let mut shown = String::new();
        let record = bench(&options, &mut |text| shown += text).unwrap();
        assert!(shown.contains("\nblur-interleaved-f32   N = 21"), "{shown}");
        let row = |layout: &str| record.found.rows.iter().find(|row| row.layout == layout).unwrap();
        for layout in ["full", "successive-modulo", "paper", "folded"] {
            assert_eq!(row(layout).max_abs_diff, Some(0.0), "{:?}", row(layout));
        }
        assert_eq!(row("paper").temp_bytes, row("folded").temp_bytes);
        assert!(row("paper").runs.is_some() && !row("paper").params.contains_key("T"));
        assert!(row("given").failed && row("given").note.as_ref().is_some_and(|note| note.contains("would share")));
        assert!(record.found.rows.iter().all(|row| !row.is_wrong()), "{:?}", record.found.rows);
    }

    #[test]
    fn a_layout_above_the_cap_has_its_bytes_and_no_time() {
        let options = BenchOptions { schedules: vec!["rows".to_owned()], ..options("heat-1d", Vec::new()) };
        let record = bench(&options, &mut |_| {}).unwrap();
        let full = record.found.rows.iter().find(|row| row.layout == "full").unwrap();
        assert!(full.temp_bytes.is_some_and(|bytes| bytes > 1 << 20) && full.seconds.is_none(), "{full:?}");
    }
}

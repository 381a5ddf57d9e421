//! Timed programs: a subject's layouts, its C loops and what is found, checked, and timed in one interleaved
//! comparison.
//!
//! In: a [`Subject`].   Out: a row for each way and C loop, on one and on all threads.
//!
//! A program whose C loops and automatic schedule belong to another kernel for the same work takes part as a whole: one
//! step of either is the whole program.

use crease::{IsaChoice, NonTemporal, Prefetch, Rounding};
use crease_kernels::Fields;

use crate::catalogue::catalogue_entry;
use crate::cloops::CLoops;
use crate::code_variant::CodeVariant;
use crate::comparable::Comparable;
use crate::driver::Driver;
use crate::error::BenchError;
use crate::layouts::{AUTOMATIC, Layout, Request};
use crate::paper::record::TimedRow;
use crate::paper::subjects::Subject;
use crate::timing::{Budget, Runner};
use crate::variants::{Prepared, Variant, c_variants, check_answers, layout_variants, planned};

/// Larger layouts are not run, only their size is told.
const MEMORY_CAP_BYTES: u64 = 4_000_000_000;

/// How much a comparison may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Seconds of one comparison, unless its steps are the publication's.
    pub(crate) seconds: f64,
    /// Measurements of each row.
    pub(crate) rounds: u32,
}

/// Times a subject on these numbers of threads.
///
/// # Errors
/// [`BenchError`] if data cannot be made or a run fails; what cannot be planned is a row.
pub(crate) fn timed(
    subject: &Subject,
    effort: Effort,
    threads: &[usize],
    driver: &mut Driver,
    loops: &mut Option<CLoops>,
) -> Result<Vec<TimedRow>, BenchError> {
    driver.progress.detail("planning, and the naive answer");
    let threads = if subject.single { &threads[..1] } else { threads };
    let own = prepare(subject.kernel, subject, &subject.ways, threads)?;
    let other = subject.beside.map(|kernel| prepare_beside(kernel, subject, threads)).transpose()?;
    let mut rows = Vec::new();
    for &count in threads {
        let mut variants = started(subject, &own, count, driver, loops)?;
        if let Some(other) = &other {
            let others = started(subject, other, count, driver, loops)?;
            variants.extend(others.into_iter().map(|variant| whole(variant, whole_steps(subject))));
        }
        let steps = subject.timed_steps.or(subject.steps).filter(|_| own.in_steps);
        let budget = Budget { seconds: effort.seconds, rounds: effort.rounds, steps };
        let found = driver.comparison(&own, variants, count, budget)?;
        rows.extend(found.into_iter().map(|row| TimedRow {
            name: subject.name.to_owned(),
            published: subject.published,
            steps: subject.steps,
            remark: subject.remark.to_owned(),
            row,
        }));
    }
    Ok(rows)
}

/// Steps of the whole program of another kernel: those that the subject's own kernel has as a size, or one run.
fn whole_steps(subject: &Subject) -> u64 {
    let steps = subject.sizes.iter().find(|(name, _)| *name == "T");
    steps.map_or(1, |(_, steps)| steps.unsigned_abs())
}

/// Layouts and C loops whose answers are right, ready to run.
fn started(
    subject: &Subject,
    prepared: &Prepared,
    threads: usize,
    driver: &Driver,
    loops: &mut Option<CLoops>,
) -> Result<Vec<Variant>, BenchError> {
    let mut variants = layout_variants(prepared, threads, &driver.progress);
    if let Some(loops) = loops.as_mut() {
        let wanted = |layout: &str| !subject.left_out.contains(&layout);
        variants.extend(c_variants(prepared, loops, &wanted, threads, &driver.progress));
    }
    check_answers(prepared, &mut variants, &driver.progress)?;
    Ok(variants)
}

fn prepare_beside(kernel: &'static str, subject: &Subject, threads: &[usize]) -> Result<Prepared, BenchError> {
    let sizes = subject.sizes.iter().copied().filter(|(name, _)| *name != "T").collect();
    let beside = Subject { sizes, check_steps: 131, ..subject.clone() };
    prepare(kernel, &beside, &[(AUTOMATIC, Layout::Folded, String::new())], threads)
}

/// Plans every way, and computes the naive answer.
fn prepare(
    kernel_name: &str,
    subject: &Subject,
    ways: &[(&'static str, Layout, String)],
    threads: &[usize],
) -> Result<Prepared, BenchError> {
    let entry = catalogue_entry(kernel_name)?;
    let mut case = entry.case(&entry.default);
    case.sizes = subject.sizes.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    case.steps = subject.check_steps;
    let initial: Fields = (entry.initial)(&case)?;
    let expected = (entry.naive)(&case, &initial)?;
    let kernel = entry.kernel().map_err(crease::Error::from)?;
    let isa = crease::Isa::detect().resolve(IsaChoice::Auto)?;
    let code = CodeVariant { isa, non_temporal: NonTemporal::Auto, prefetch: Prefetch::Auto, tuned: false };
    let mut layouts = Vec::new();
    for &(schedule, layout, ref mapping) in ways {
        let counts: Vec<Option<usize>> =
            if schedule == AUTOMATIC { threads.iter().copied().map(Some).collect() } else { vec![None] };
        for only_on in counts {
            let (horizon, cap_bytes, rounding) = (subject.full_steps, MEMORY_CAP_BYTES, Rounding::Auto);
            let request = Request { schedule, layout, mapping, code, rounding, horizon, cap_bytes, only_on };
            layouts.push(planned(&kernel, entry, &case, &request));
        }
    }
    Prepared::new(entry, case, &kernel, initial, expected, layouts)
}

/// A runner of steps that takes a whole program at a time.
struct Whole {
    runner: Box<dyn Comparable>,
    steps: u64,
}

fn whole(variant: Variant, steps: u64) -> Variant {
    let boxed = |runner| Box::new(Whole { runner, steps }) as Box<dyn Comparable>;
    Variant { row: variant.row, runner: variant.runner.map(boxed) }
}

impl Runner for Whole {
    fn advance(&mut self, steps: u64) -> Result<(), BenchError> {
        (0..steps).try_for_each(|_| self.runner.advance(self.steps))
    }
}

impl Comparable for Whole {
    fn read(&mut self) -> Result<Fields, BenchError> {
        self.runner.read()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::subjects::{figure_three, table_two};

    /// All that a subject compares, on both numbers of threads, at a size where it takes a moment.
    fn rows(subject: &Subject) -> Vec<TimedRow> {
        let (mut driver, mut loops) = Driver::start(1, true, "crease").unwrap();
        let effort = Effort { seconds: 0.01, rounds: 1 };
        timed(subject, effort, &[1, 2], &mut driver, &mut loops).unwrap()
    }

    #[test]
    fn a_lattice_is_compared_with_the_published_mapping_and_is_right() {
        let mut lattice = table_two(true).remove(4);
        (lattice.sizes, lattice.steps) = (vec![("N", 21)], Some(3));
        let rows = rows(&lattice);
        for layout in ["successive-modulo", "paper-fold", "folded"] {
            let row = rows.iter().find(|row| row.row.layout == layout && row.row.threads == 1).unwrap();
            assert_eq!(row.row.max_abs_diff, Some(0.0), "{row:?}");
            assert!(row.publication_seconds().is_some_and(|seconds| seconds > 0.0));
        }
        assert!(rows.iter().all(|row| !row.row.failed && !row.row.is_wrong()), "{rows:?}");
    }

    #[test]
    fn programs_that_run_once_are_right_with_every_storage() {
        for subject in figure_three(true).into_iter().filter(|subject| subject.name != "gauss.c") {
            let rows = rows(&subject);
            assert!(rows.len() >= 3 && rows.iter().all(|row| row.row.max_abs_diff == Some(0.0)), "{rows:?}");
        }
    }
}

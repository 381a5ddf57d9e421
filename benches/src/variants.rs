//! Variants of a comparison: our layouts and the C loops of one kernel at one size, started and with answers checked.

use crease::Kernel;
use crease::kernel::graph::{Array, Role};
use crease_kernels::{Case, Entry, Fields};

use crate::cloops::{CLoop, CLoops, Source, sources};
use crate::comparable::{Comparable, max_abs_diff};
use crate::error::BenchError;
use crate::layouts::{self, PlannedLayout, Request};
use crate::progress::Progress;
use crate::row::Row;
use crate::timing::Runner;

/// One kernel at one size, with everything that does not depend on the number of threads.
pub(crate) struct Prepared {
    pub(crate) entry: &'static Entry,
    /// Sizes, scalars, and as steps those that are checked.
    pub(crate) case: Case,
    pub(crate) initial: Fields,
    /// The naive answer after the case's steps.
    pub(crate) expected: Fields,
    /// Sites that one step updates.
    pub(crate) sites: u64,
    /// Whether the kernel advances in steps; if not, a step is a run.
    pub(crate) in_steps: bool,
    /// Bytes that must be moved for one site: the least traffic.
    pub(crate) bytes_per_site: f64,
    /// Layouts that could be planned, or the rows of those that could not.
    pub(crate) layouts: Vec<Result<PlannedLayout, Box<Refused>>>,
}

/// A layout that could not be planned.
pub(crate) struct Refused {
    /// Says why.
    row: Row,
    /// As [`PlannedLayout::only_on`].
    only_on: Option<usize>,
}

/// A row in the making; no runner if it cannot be run.
pub(crate) struct Variant {
    pub(crate) row: Row,
    pub(crate) runner: Option<Box<dyn Comparable>>,
}

impl Prepared {
    /// With what follows from the kernel and its data.
    ///
    /// # Errors
    /// [`BenchError::Data`] if the entry does not know its sites.
    pub(crate) fn new(
        entry: &'static Entry,
        case: Case,
        kernel: &Kernel,
        initial: Fields,
        expected: Fields,
        layouts: Vec<Result<PlannedLayout, Box<Refused>>>,
    ) -> Result<Prepared, BenchError> {
        let sites = (entry.sites)(&case)?;
        let bytes_per_site = least_traffic_bytes(kernel, &initial, &expected) as f64 / sites as f64;
        let in_steps = kernel.step_param().is_some();
        Ok(Prepared { entry, case, initial, expected, sites, in_steps, bytes_per_site, layouts })
    }

    /// Bytes of the most values alive at once, for rows without a schedule: the least of all schedules.
    fn lower_bound_bytes(&self, threads: usize) -> Option<u64> {
        self.layouts.iter().flatten().filter_map(|planned| planned.lower_bound_bytes(threads)).min()
    }
}

/// Bytes that one step must move: state is read and written once, inputs are read, outputs written.
fn least_traffic_bytes(kernel: &Kernel, initial: &Fields, expected: &Fields) -> u64 {
    let cells = |array: &Array| initial.get(&array.name).or(expected.get(&array.name)).map_or(0, |field| field.len());
    let bytes = |array: &Array| match array.role {
        Role::State => 2 * array.element.bytes() * cells(array) as u64,
        Role::Input | Role::Output => array.element.bytes() * cells(array) as u64,
        _ => 0,
    };
    kernel.arrays().iter().map(bytes).sum()
}

/// A planned layout, or the row that says why there is none.
pub(crate) fn planned(
    kernel: &Kernel,
    entry: &Entry,
    case: &Case,
    request: &Request<'_>,
) -> Result<PlannedLayout, Box<Refused>> {
    layouts::plan(kernel, case, request).map_err(|refusal| {
        let mut row = Row::new(entry.name, &case.sizes, &request.layout.to_string(), 1);
        row.schedule = Some(request.schedule.to_owned());
        row.isa = Some(request.code.to_string());
        row.fail(&refusal);
        Box::new(Refused { row, only_on: request.only_on })
    })
}

/// Starts every planned layout.
pub(crate) fn layout_variants(prepared: &Prepared, threads: usize, progress: &Progress) -> Vec<Variant> {
    let mut variants = Vec::new();
    for layout in &prepared.layouts {
        let only_on = layout.as_ref().map_or_else(|refused| refused.only_on, |planned| planned.only_on);
        if only_on.is_some_and(|count| count != threads) {
            continue;
        }
        let planned = match layout {
            Ok(planned) => planned,
            Err(refused) => {
                variants.push(Variant { row: Row { threads, ..Row::clone(&refused.row) }, runner: None });
                continue;
            }
        };
        progress.detail(&format!("allocating {}, {}", planned.schedule, planned.layout));
        let mut row = Row::new(prepared.entry.name, &prepared.case.sizes, &planned.layout.to_string(), threads);
        row.schedule = Some(planned.schedule.clone());
        row.isa = Some(planned.code_variant.to_string());
        row.made_by = planned.strategies();
        row.temp_bytes = Some(planned.bytes(threads));
        row.lower_bound_bytes = planned.lower_bound_bytes(threads);
        let started = planned.start(threads, &prepared.case, &prepared.initial);
        variants.push(variant(row, started.map(|run| run.map(boxed)), "above the memory cap"));
    }
    variants
}

/// Opens the C loops of the kernel whose layouts are wanted.
pub(crate) fn c_variants(
    prepared: &Prepared,
    loops: &mut CLoops,
    wanted: &dyn Fn(&str) -> bool,
    threads: usize,
    progress: &Progress,
) -> Vec<Variant> {
    let mut variants = Vec::new();
    for source in sources().iter().filter(|source| source.kernel == prepared.entry.name) {
        for layout in source.layouts.iter().filter(|layout| wanted(layout)) {
            progress.detail(&format!("building {layout}"));
            let mut row = Row::new(prepared.entry.name, &prepared.case.sizes, layout, threads);
            row.made_by = format!("benches/c/{}", source.file);
            row.tolerance = source.tolerance;
            row.lower_bound_bytes = prepared.lower_bound_bytes(threads);
            let started = if threads > 1 && !loops.compiler().has_threads() {
                Ok(None)
            } else {
                CRun::open(loops, source, layout, threads, prepared).map(Some)
            };
            if let Ok(Some(run)) = &started {
                row.temp_bytes = Some(run.c_loop.field_bytes());
            }
            variants.push(variant(row, started.map(|run| run.map(boxed)), "the C compiler has no OpenMP"));
        }
    }
    variants
}

fn boxed<C: Comparable + 'static>(comparable: C) -> Box<dyn Comparable> {
    Box::new(comparable)
}

fn variant(mut row: Row, started: Result<Option<Box<dyn Comparable>>, BenchError>, absent: &str) -> Variant {
    let runner = started.unwrap_or_else(|refusal| {
        row.fail(&refusal);
        None
    });
    if runner.is_none() && row.note.is_none() {
        row.note = Some(absent.to_owned());
    }
    Variant { row, runner }
}

/// Advances every variant by the case's steps and compares with the naive answer; what is wrong is not timed.
///
/// # Errors
/// The first error of a runner.
pub(crate) fn check_answers(
    prepared: &Prepared,
    variants: &mut [Variant],
    progress: &Progress,
) -> Result<(), BenchError> {
    for Variant { row, runner: slot } in variants {
        let Some(runner) = slot.as_mut() else { continue };
        progress.detail(&format!("checking {}", row.layout));
        runner.advance(prepared.case.steps.unsigned_abs())?;
        row.max_abs_diff = Some(max_abs_diff(&runner.read()?, &prepared.expected));
        if row.is_wrong() {
            row.note = Some("WRONG, not timed".into());
            *slot = None;
        } else {
            runner.advance(runner.warm_up_steps())?;
        }
    }
    Ok(())
}

/// A running C loop, and how its data are named and shaped.
struct CRun {
    c_loop: CLoop,
    source: &'static Source,
    sizes: Vec<usize>,
}

impl CRun {
    fn open(
        loops: &mut CLoops,
        source: &'static Source,
        layout: &str,
        threads: usize,
        prepared: &Prepared,
    ) -> Result<CRun, BenchError> {
        let sizes = prepared.case.extents(source.sizes, 3)?;
        let scalars = source.scalars.iter().map(|name| prepared.case.scalar(name)).collect::<Result<Vec<_>, _>>()?;
        let arrays = source.given.names.iter().filter_map(|name| prepared.initial.get(*name));
        let initial: Vec<f64> = arrays.flat_map(|field| field.iter().copied()).collect();
        let c_loop = loops.open(source, layout, &sizes, threads, &scalars, &initial)?;
        Ok(CRun { c_loop, source, sizes })
    }
}

impl Runner for CRun {
    fn advance(&mut self, steps: u64) -> Result<(), BenchError> {
        Ok(self.c_loop.advance(steps)?)
    }
}

impl Comparable for CRun {
    fn read(&mut self) -> Result<Fields, BenchError> {
        let results = self.source.results;
        let logical = self.c_loop.read();
        let shape = results.shape(&self.sizes).expect("the loop was opened with this shape");
        let field = |part: &[f64]| {
            let values = part.to_vec();
            ndarray::ArrayD::from_shape_vec(shape.clone(), values).expect("all parts have this shape")
        };
        let parts = results.names.iter().zip(logical.chunks(logical.len() / results.names.len()));
        Ok(parts.map(|(&name, part)| (name.to_owned(), field(part))).collect())
    }
}

//! Programs beside that of a plan, on the storage that the plan has: what observers compute, by themselves or in the
//! last step of a call, and calls of few steps in another order.
//!
//! In: the request of a plan and its layout.   Out: a program, and the layout with what else it touches. Each is found,
//! verified and lowered in the stages that a plan has, as far as it needs them.

use std::sync::Arc;

use crease_program::Verified;
use log::debug;

use crate::analysis::error::AnalysisError;
use crate::analysis::model::Model;
use crate::error::Error;
use crate::kernel::graph::{ArrayId, Kernel, Observer, Schedule};
use crate::kernel::{BoundKernel, Fused, ScheduleText, Unbound};
use crate::lower::{lower, mark_reuse, prove_bounds, verified};
use crate::pipeline::{Stages, analyse, lowered, ranges_of_statements};
use crate::plan::layout::Layout;
use crate::plan::request::Request;
use crate::schedule::automatic::MANY_STEPS;
use crate::schedule::bands::Bands;
use crate::schedule::by_step::{self, StepsAtOnce};
use crate::schedule::legality::verify_bounds;
use crate::schedule::observed::verify_fused;
use crate::schedule::writes::verify_written_once;
use crate::storage::MappingError;

/// Anchors of observers' statements that are tried at most, one after the other.
const MOST_ANCHORS: usize = 4;

/// An observer's program on the storage that a plan has, and that storage with the observer's outputs behind it.
///
/// Its statements exchange no values, so that no order of them is wrong; that no two write one cell, but for those that
/// are put into a reduction, and that all they touch is there, is verified here.
pub(crate) fn observed(
    request: &Request,
    layout: &Layout,
    observer: &Observer,
) -> Result<(BoundKernel, Layout, Verified), Error> {
    let stages = Stages::new(request)?;
    let mut kernel = request.bound.written().observing(observer);
    if observer.reduces() {
        let ranges = ranges_of_statements(&bind_at_the_sizes_of(request, kernel)?, &stages)?;
        let accumulating = request.bound.written().accumulating(observer, &ranges);
        kernel = accumulating.map_err(AnalysisError::from)?;
    }
    let bound = bind_at_the_sizes_of(request, kernel)?;
    let model = stages.run("model", || Model::new(&stages.context, bound.kernel(), bound.schedule()))?;
    let arrays: Vec<ArrayId> = model.kernel.array_ids().collect();
    let first = request.kernel().arrays().len();
    let is_array = |id: ArrayId| id.index().checked_sub(first).is_none_or(|k| observer.reductions[k].is_none());
    let once = || verify_bounds(&model, &arrays).and_then(|()| verify_written_once(&model, &bound, &is_array));
    stages.run("legality", once)?;
    let layout = stages.run("layout", || layout.with_observed(&model))?;
    let program = beside(request, &stages, &model, &layout)?;
    drop(model);
    Ok((bound, layout, program))
}

/// The program of the steps in which some observers, none of which has a reduction, are computed in the last step of a
/// call, on the storage that a plan has, and that storage with their outputs behind it, in the order of the observers.
/// None if their statements have no legal place among those of the steps; each observer by itself was [`observed`].
pub(crate) fn fused(
    request: &Request,
    layout: &Layout,
    observers: &[Observer],
) -> Result<Option<(Layout, Verified)>, Error> {
    let (written, schedule) = (request.bound.written(), request.bound.written_schedule());
    for attempt in 0..MOST_ANCHORS {
        let fused = written.fusing(observers, schedule, attempt).map_err(AnalysisError::from)?;
        let Some(fused) = fused else { return Ok(None) };
        match fused_on(request, layout, fused) {
            Err(error @ Error::Illegal(_)) => debug!("observers cannot run in steps: {error}"),
            Ok(None) => debug!("observers in steps would read what is not there yet"),
            found => return found,
        }
    }
    Ok(None)
}

/// The program of steps and observers; none if the order is not legal.
fn fused_on(request: &Request, layout: &Layout, fused: Fused) -> Result<Option<(Layout, Verified)>, Error> {
    let stages = Stages::new(request)?;
    let Fused { kernel, cut } = fused;
    let bound = bind_at_the_sizes_of(request, kernel)?;
    let model = stages.run("model", || Model::new(&stages.context, bound.kernel(), bound.schedule()))?;
    let first = request.kernel().stmts().len();
    if !stages.run("legality", || verify_fused(&model, &bound, first, &cut))? {
        return Ok(None);
    }
    let layout = stages.run("layout", || layout.with_observed(&model))?;
    let program = beside(request, &stages, &model, &layout)?;
    log_stages(&stages);
    Ok(Some((layout, program)))
}

/// Lowers a kernel for a layout, and proves that no call of it leaves its storage.
fn beside<'c>(
    request: &Request,
    stages: &'c Stages,
    model: &Model<'c, '_>,
    layout: &Layout,
) -> Result<Verified, Error> {
    let lowered = stages.run("lower", || lower(&stages.context, model, layout, request.work_limit))?;
    let program = stages.time("reuse", || mark_reuse(lowered.program, model.kernel, &request.machine));
    let bounded = stages.run("bounds", || prove_bounds(&stages.context, model.kernel.name(), program))?;
    stages.run("bounds", || verified(bounded, model, layout))
}

fn log_stages(stages: &Stages) {
    let seconds: Vec<String> =
        stages.clock.stages().iter().map(|(name, seconds)| format!("{name} {seconds:.3} s")).collect();
    debug!("observers in steps: {}", seconds.join(", "));
}

/// A program that runs step by step, on the storage that a plan has for tiles whose steps run at once: for calls of few
/// steps on this many threads. None if the plan has no such tiles, or no order by step is legal and keeps to that
/// storage.
pub(crate) fn by_step(request: &Request, layout: &Layout, threads: usize) -> Result<Option<Verified>, Error> {
    let (written, schedule) = (request.bound.written(), request.bound.written_schedule());
    let Some(at_once) = StepsAtOnce::of(written, schedule) else { return Ok(None) };
    let params = request.bound.params_at(MANY_STEPS);
    for candidate in by_step::by_step(written, schedule, at_once, (&params, threads))? {
        if let Some(program) = kept_to(request, layout, candidate)? {
            return Ok(Some(program));
        }
    }
    Ok(None)
}

/// A program in bands of fewer steps, on the storage that a plan has for bands that run at once. None if they do not
/// keep to that storage.
pub(crate) fn in_smaller_bands(
    request: &Request,
    layout: &Layout,
    (bands, steps): (Bands, i64),
) -> Result<Option<Verified>, Error> {
    let lowered = bands.lowered(request.bound.written_schedule(), steps).map_err(AnalysisError::from)?;
    kept_to(request, layout, lowered)
}

/// A program under another schedule on the storage of a plan; none if that order is wrong, or does not keep to it.
fn kept_to(request: &Request, layout: &Layout, schedule: Schedule) -> Result<Option<Verified>, Error> {
    let kernel = request.bound.written().statements_alone().with_schedule(schedule)?;
    let bound = Arc::new(bind_at_the_sizes_of(request, kernel)?);
    let request = Request { bound, ..request.clone() };
    match program_on(&request, layout) {
        Err(error @ (Error::Illegal(_) | Error::Mapping(MappingError::Unproved { .. }))) => {
            let text = ScheduleText(request.kernel(), request.bound.written_schedule());
            debug!("short calls cannot run as {text}: {error}");
            Ok(None)
        }
        program => program.map(Some),
    }
}

/// A program under a schedule, on storage that was found for another one: it is proved again.
fn program_on(request: &Request, layout: &Layout) -> Result<Verified, Error> {
    let stages = Stages::new(request)?;
    let analysed = analyse(request, &stages)?;
    let problem = analysed.problem(request);
    stages.run("proof", || analysed.checker.prove(layout.folded_mapping()))?;
    let lowered = lowered(request, &problem, layout, &stages)?;
    let bounded = stages.run("bounds", || prove_bounds(&stages.context, request.kernel().name(), lowered.program))?;
    stages.run("bounds", || verified(bounded, problem.model, layout))
}

/// Another kernel with the parameters of a plan's, an observer's statements say, at the sizes of the plan.
fn bind_at_the_sizes_of(request: &Request, kernel: Kernel) -> Result<BoundKernel, Error> {
    let sizes = request.bound.sizes().map(|(_, size)| size).collect();
    // The sizes are those of the plan, for which the kernel is defined.
    BoundKernel::new(Arc::new(kernel), 0, sizes).map_err(|unbound| match unbound {
        Unbound::Overflow(overflow) => Error::from(AnalysisError::from(overflow)),
        Unbound::OutsideContext => unreachable!("no condition was added to those of the kernel"),
    })
}

//! The stages, in order: each is one line, has a quota and a time of its own, and is verified.
//!
//! In: a request.   Out: an [`Outcome`] of plain values; nothing of isl leaves a run. One isl context serves one run,
//! under the request's operation quota, which each stage has for itself (lifetimes per array, mapping per strategy): an
//! array that takes too much is kept in full, where that is possible, and the rest of the plan does not suffer.
//!
//! [`analyse`] lists the stages that no strategy takes part in, [`finish`] those from the choice of storage on. What
//! verifies a stage stands below it; where that costs more than a walk over its result, debug builds alone do it.
//! What is found when it is first asked for, such as conflicts, is timed as a stage of its own ([`Clock`]). Programs of
//! observers and of short calls, [`beside`] that of a plan, take the same stages, as far as they need them.

pub(crate) mod beside;

use std::rc::Rc;

use crease_isl::{Context, Set};
use log::{debug, trace};

use crate::analysis::conflicts::Conflicts;
use crate::analysis::error::AnalysisError;
use crate::analysis::model::Model;
use crate::analysis::privatization::Privatization;
use crate::analysis::step_dependences::StepDependences;
use crate::check::{Checker, Proved};
use crate::clock::Clock;
use crate::error::Error;
use crate::kernel::graph::{ArrayId, Kernel, Role, Stmt};
use crate::kernel::{BoundKernel, MappingRule, Ranges, parse_mapping};
use crate::lower::{
    Bounded, LowerError, Lowered, Origins, jam_rows, lower, mark_reuse, prove_bounds, split_index_sets, verified,
};
use crate::plan::bounds::{BufferBounds, buffer_bounds, known_bounds};
use crate::plan::footprint::Storage;
use crate::plan::layout::{BufferLayout, Layout, lay_out};
use crate::plan::outcome::Outcome;
use crate::plan::request::Request;
use crate::schedule::legality::verify_schedule;
use crate::schedule::writes::{later_steps_write_last, verify_writes};
use crate::sets::boxes::{Boxed, boxes_of};
use crate::stage::{LOWER_BOUND, Stage};
use crate::storage::choose::choice::choose_mapping;
use crate::storage::choose::decision::Chosen;
use crate::storage::options::StrategyChoice;
use crate::storage::problem::{Problem, Span};
use crate::storage::{MappingError, StorageMapping};

/// Runs every stage.
pub(crate) fn run(request: &Request) -> Result<Outcome, Error> {
    let stages = Stages::new(request)?;
    let analysed = analyse(request, &stages)?;
    finish(request, &analysed, &stages)
}

/// Runs the analyses once, and what follows for each strategy.
pub(crate) fn run_each(request: &Request, strategies: &[StrategyChoice]) -> Result<Vec<Result<Outcome, Error>>, Error> {
    let stages = Stages::new(request)?;
    let analysed = analyse(request, &stages)?;
    let before = stages.clock.stages();
    let run = |&strategy: &StrategyChoice| {
        stages.clock.set(before.clone());
        finish(&Request { strategy, ..request.clone() }, &analysed, &stages)
    };
    Ok(strategies.iter().map(run).collect())
}

/// Runs every stage, unless analysis leaves it open which value of a cell a read means: then the array whose cell it
/// is.
pub(crate) fn run_in_order(request: &Request) -> Result<Result<Outcome, ArrayId>, Error> {
    let stages = Stages::new(request)?;
    let analysed = analyse(request, &stages)?;
    match ambiguous_array(request, &analysed, &stages)? {
        Some(array) => Ok(Err(array)),
        None => finish(request, &analysed, &stages).map(Ok),
    }
}

/// Whether the schedule is legal: the stages up to that one, and what they leave open as [`run_in_order`] has it.
pub(crate) fn verify_order(request: &Request) -> Result<Result<(), ArrayId>, Error> {
    let stages = Stages::new(request)?;
    let analysed = analyse(request, &stages)?;
    Ok(ambiguous_array(request, &analysed, &stages)?.map_or(Ok(()), Err))
}

/// An array of which a read may mean one value or another: another schedule might compute something else.
fn ambiguous_array(request: &Request, analysed: &Analysed<'_, '_>, stages: &Stages) -> Result<Option<ArrayId>, Error> {
    let kernel = request.bound.kernel();
    for array in kernel.array_ids() {
        let is_written = kernel.stmts().iter().any(|stmt| stmt.assigns.iter().any(|assign| assign.array == array));
        let had_values = kernel.array(array).live_in.is_some();
        let says_what_is_left = || -> Result<bool, AnalysisError> {
            let model = &analysed.model;
            if analysed.checker.readers().is_some_and(|readers| readers.of(array).is_some()) {
                return Ok(true);
            }
            let is_written_once = !had_values && model.writes(array)?.is_single_valued()?;
            Ok(is_written_once || later_steps_write_last(model, array)?)
        };
        if is_written && !stages.run("legality", says_what_is_left)? {
            return Ok(Some(array));
        }
    }
    Ok(None)
}

/// The storage mapping alone: the stages up to the choice.
pub(crate) fn chosen_mapping(request: &Request) -> Result<StorageMapping, Error> {
    let stages = Stages::new(request)?;
    let analysed = analyse(request, &stages)?;
    let chosen = choose(request, &analysed.problem(request), &analysed.given, &stages)?;
    Ok(chosen.mapping.into_inner())
}

/// The checker's word on each of some mappings.
pub(crate) fn prove_each(
    request: &Request,
    storage: &[StorageMapping],
) -> Result<Vec<Result<Proved<StorageMapping>, Error>>, Error> {
    let stages = Stages::new(request)?;
    let analysed = analyse(request, &stages)?;
    let prove = |mapping: &StorageMapping| {
        let mut mapping = mapping.clone();
        for piece in mapping.arrays.iter_mut().flat_map(|array| &mut array.pieces) {
            piece.when = request.bound.bind(&piece.when).map_err(AnalysisError::from)?;
        }
        stages.run("proof", || analysed.checker.prove(mapping))
    };
    Ok(storage.iter().map(prove).collect())
}

/// Sizes of storage alone: the stages up to the layout.
pub(crate) fn storage(request: &Request) -> Result<Storage, Error> {
    let stages = Stages::new(request)?;
    let analysed = analyse(request, &stages)?;
    let problem = analysed.problem(request);
    let chosen = choose(request, &problem, &analysed.given, &stages)?;
    let layout = stages.run("layout", || lay_out(&problem, &chosen.mapping))?;
    let extents = stages.run("extents", || Extents::new(&problem))?;
    Ok(Storage::new(request.kernel(), &layout, &extents.index_boxes))
}

/// Lower bounds of all buffers, from the lifetimes, which are found again, and from what the choice of storage knew.
pub(crate) fn lower_bounds(request: &Request, outcome: &Outcome) -> Result<BufferBounds, Error> {
    let stages = Stages::new(request)?;
    let analysed = analyse(request, &stages)?;
    let (problem, known) = (analysed.problem(request), &outcome.lower_bounds);
    let mut bounds = stages.run(LOWER_BOUND, || buffer_bounds(&problem, &outcome.layout, known))?;
    bounds.seconds = stages.clock.stages().iter().map(|(_, seconds)| seconds).sum();
    Ok(bounds)
}

/// The smallest and the largest value of each iterator of the statements but the step; it may be any.
fn ranges_of_statements(bound: &BoundKernel, stages: &Stages) -> Result<Vec<Ranges>, Error> {
    let model = stages.run("model", || Model::new(&stages.context, bound.kernel(), bound.schedule()))?;
    let ranges = |(stmt, domain): (&Stmt, &Set<'_>)| -> Result<Ranges, Error> {
        let instances = domain.project_out_params()?;
        if instances.is_empty()? {
            return Ok(None);
        }
        let unbounded =
            |dim: usize| LowerError::UnboundedIterator { statement: stmt.name.clone(), iter: stmt.iters[dim].clone() };
        let range = |dim: usize| match dim {
            0 => Ok((0, 0)),
            _ => Ok(instances.dim_range(dim)?.ok_or_else(|| unbounded(dim))?),
        };
        (0..stmt.iters.len()).map(range).collect::<Result<_, Error>>().map(Some)
    };
    stages.run("model", || model.kernel.stmts().iter().zip(&model.domains).map(ranges).collect())
}

/// Runs the analyses again to print what a plan does not keep: schedule, lifetimes, conflicts, else the loops.
pub(crate) fn dump(request: &Request, layout: &Layout, stage: Stage) -> Result<String, Error> {
    let stages = Stages::new(request)?;
    let analysed = analyse(request, &stages)?;
    let problem = analysed.problem(request);
    match stage {
        Stage::Schedule => print_schedule(&analysed.model),
        Stage::Lifetimes => print_lifetimes(&problem),
        Stage::Conflicts => print_conflicts(&problem),
        _ => Ok(lowered(request, &problem, layout, &stages)?.loops),
    }
}

/// What the stages leave that no strategy takes part in.
struct Analysed<'c, 'k> {
    bound: &'k BoundKernel,
    /// Storage that the caller gave.
    given: Vec<MappingRule>,
    model: Rc<Model<'c, 'k>>,
    checker: Checker<'c, 'k>,
    conflicts: Conflicts<'c, 'k>,
}

impl<'c, 'k> Analysed<'c, 'k> {
    /// What strategies see.
    fn problem(&self, request: &Request) -> Problem<'_, 'c, 'k> {
        Problem {
            model: &self.model,
            bound: self.bound,
            conflicts: &self.conflicts,
            checker: &self.checker,
            horizon: request.horizon,
            rounding: request.rounding,
            rings: request.rings,
            machine: request.machine,
            alive: Default::default(),
            spent: Default::default(),
            searched: Default::default(),
            small_sizes: Default::default(),
            spans: Default::default(),
        }
    }
}

/// The stages that do not depend on the strategy.
fn analyse<'c, 'k>(request: &'k Request, stages: &'c Stages) -> Result<Analysed<'c, 'k>, Error> {
    let (bound, context) = (&*request.bound, &stages.context);
    let (kernel, schedule) = (bound.kernel(), bound.schedule());
    debug_assert_eq!(kernel.verify(), Ok(()), "sizes that are numbers break no rule");
    let given = parse_mapping(&request.mapping, bound).map_err(MappingError::Text)?;
    let model = Rc::new(stages.run("model", || Model::new(context, kernel, schedule))?.timed_by(&stages.clock));
    let claim = model.step_dependences.as_ref().map(StepDependences::certificate);
    let checker = stages.time("certificate", || Checker::new(context, kernel, schedule, claim.as_ref()));
    let legal = || verify_writes(&model, bound).and_then(|()| verify_schedule(&model, checker.readers()));
    stages.run("legality", legal)?;
    let shown = if checker.readers().is_some() { "who reads the states" } else { "integer sets" };
    debug!("schedule `{}` is legal, as {shown} show", schedule.name);
    let privatization = stages.run("privatization", || privatization(request, &model))?;
    log_private(kernel, &privatization);
    let conflicts = stages.run("lifetimes", || Conflicts::new(&model, privatization))?;
    Ok(Analysed { bound, given, model, checker, conflicts })
}

/// The stages from the choice of storage on.
fn finish(request: &Request, analysed: &Analysed<'_, '_>, stages: &Stages) -> Result<Outcome, Error> {
    let problem = &analysed.problem(request);
    let chosen = choose(request, problem, &analysed.given, stages)?;
    let layout = stages.run("layout", || lay_out(problem, &chosen.mapping))?;
    layout.verify();
    log_layout(&layout);
    let lowered = lowered(request, problem, &layout, stages)?;
    let in_registers = lowered.in_registers.clone();
    let (bounded, origins) = inside(request, lowered, stages)?;
    let program = stages.run("bounds", || verified(bounded, problem.model, &layout))?;
    let extents = stages.run("extents", || Extents::new(problem))?;
    Ok(Outcome {
        lower_bounds: known_bounds(problem, &layout),
        layout,
        program,
        origins,
        full_cells: extents.full_cells,
        index_boxes: extents.index_boxes,
        params: request.bound.params_at(0),
        in_registers,
        notes: chosen.notes,
        decisions: chosen.decisions,
        stages: stages.clock.stages(),
    })
}

/// Which arrays live inside tasks. Full storage is the unfolded array, one for all.
fn privatization<'c>(request: &Request, model: &Model<'c, '_>) -> Result<Privatization<'c>, AnalysisError> {
    if request.strategy == StrategyChoice::Full { Ok(Privatization::none()) } else { Privatization::new(model) }
}

/// The choice of storage, which the checker has proved.
fn choose(
    request: &Request,
    problem: &Problem<'_, '_, '_>,
    given: &[MappingRule],
    stages: &Stages,
) -> Result<Chosen, Error> {
    let choice = (request.strategy, request.objective);
    let mut chosen = stages.run("mapping", || choose_mapping(problem, choice, given))?;
    if let Some(refusal) = problem.checker.refusal() {
        chosen.notes.push(format!("a certificate of who reads the states is not believed: {refusal}"));
    }
    chosen.notes.iter().for_each(|note| debug!("note: {note}"));
    Ok(chosen)
}

/// The program, not yet known to stay inside its buffers.
fn lowered(
    request: &Request,
    problem: &Problem<'_, '_, '_>,
    layout: &Layout,
    stages: &Stages,
) -> Result<Lowered, Error> {
    let lowered = stages.run("lower", || lower(problem.model.context, problem.model, layout, request.work_limit))?;
    debug_assert_eq!(lowered.program.verify(), Ok(()), "lowering keeps to the loop language");
    let program = stages.time("reuse", || mark_reuse(lowered.program, request.kernel(), &request.machine));
    debug_assert_eq!(program.verify(), Ok(()), "marks keep to the loop language");
    Ok(Lowered { program, ..lowered })
}

/// The program, known to stay inside its buffers, and what its operations come from: with rows jammed, and index sets
/// split, where that can be shown of it, too.
fn inside(request: &Request, lowered: Lowered, stages: &Stages) -> Result<(Bounded, Origins), Error> {
    let prove = |program| stages.run("bounds", || prove_bounds(&stages.context, request.kernel().name(), program));
    let Lowered { program, origins, .. } = lowered;
    let jammed = stages.time("jam", || jam_rows(&program, &origins));
    let (latest, origins_of_latest) = jammed.as_ref().map_or((&program, &origins), |(program, of)| (program, of));
    let split = stages.time("split", || split_index_sets(latest, origins_of_latest));
    for (program, origins) in split.into_iter().chain(jammed) {
        debug_assert_eq!(program.verify(), Ok(()), "other forms of loops keep to the loop language");
        match prove(program) {
            Ok(bounded) => return Ok((bounded, origins)),
            Err(error) => debug!("loops over rows are left as they were: {error}"),
        }
    }
    Ok((prove(program)?, origins))
}

/// What stages have in common: the integer sets of a run, and the clock.
struct Stages {
    context: Context,
    clock: Clock,
}

impl Stages {
    fn new(request: &Request) -> Result<Stages, Error> {
        Ok(Stages { context: Context::new(request.quota)?, clock: Clock::default() })
    }

    /// Runs a stage under a quota of its own and keeps the time it took.
    fn run<T, E: Into<Error>>(&self, name: &'static str, stage: impl FnOnce() -> Result<T, E>) -> Result<T, Error> {
        self.time(name, stage).map_err(|error| error.into().in_stage(name))
    }

    /// The same of a stage that cannot fail.
    fn time<T>(&self, name: &'static str, stage: impl FnOnce() -> T) -> T {
        self.context.reset_operations();
        let result = self.clock.time(name, stage);
        trace!("stage {name}: {} operations since the last count", self.context.operations());
        result
    }
}

/// How large arrays are.
struct Extents {
    /// Per array, cells of its bounding box; none if the number of steps bounds it.
    full_cells: Vec<Option<u64>>,
    /// Per array, first and last value of each index.
    index_boxes: Vec<Vec<(i64, i64)>>,
}

impl Extents {
    fn new(problem: &Problem<'_, '_, '_>) -> Result<Extents, AnalysisError> {
        let arrays = || problem.model.kernel.array_ids();
        Ok(Extents {
            full_cells: arrays().map(|id| full_cells(problem, id)).collect(),
            index_boxes: arrays().map(|id| index_box(problem, id)).collect::<Result<_, _>>()?,
        })
    }
}

fn full_cells(problem: &Problem<'_, '_, '_>, id: ArrayId) -> Option<u64> {
    let body = problem.model.kernel.array(id);
    if problem.readers(id).is_some() {
        return None;
    }
    let set = match body.role {
        Role::Input | Role::Output => problem.model.index_space(id).ok()?.project_out_params().ok()?,
        Role::Temp | Role::State => problem.cells(id).ok()?,
    };
    (0..body.index.len()).try_fold(1_u64, |n, k| {
        let (min, max) = set.dim_range(k).ok()??;
        n.checked_mul(Span::between(min, max).extent()? as u64)
    })
}

/// First and last value of each index over the index space, `(0, -1)` if that is empty; unbounded ones (the step of a
/// state) as `(0, 0)`, those bounded from below alone (the step of an input over steps) as that value.
fn index_box(problem: &Problem<'_, '_, '_>, id: ArrayId) -> Result<Vec<(i64, i64)>, AnalysisError> {
    let body = problem.model.kernel.array(id);
    let n = body.index.len();
    if let Some(Boxed { boxes, rest }) = boxes_of(&body.domain, n)
        && let ([one], []) = (boxes.as_slice(), rest.as_slice())
    {
        let ends = |range: &Span| range.ends().unwrap_or_else(|| range.lower().map_or((0, 0), |low| (low, low)));
        return Ok(one.ranges().iter().map(ends).collect());
    }
    let space = problem.model.index_space(id)?.project_out_params()?;
    let range = |k| match space.dim_range(k)? {
        Some(range) => Ok(range),
        None => Ok(space.dim_min(k)?.map_or((0, 0), |low| (low, low))),
    };
    (0..n).map(range).collect()
}

fn log_private(kernel: &Kernel, privatization: &Privatization<'_>) {
    for id in kernel.array_ids().filter(|&id| privatization.is_private(id)) {
        debug!("`{}` is private: each worker has a copy", kernel.array(id).name);
    }
}

fn log_layout(layout: &Layout) {
    for buffer in &layout.buffers {
        let BufferLayout { name, moduli, strides, cells, allocated_cells, strategy, .. } = buffer;
        debug!("buffer `{name}` ({strategy}): {moduli:?} by {strides:?}, {cells} cells, {allocated_cells} allocated");
    }
}

fn print_schedule(model: &Model<'_, '_>) -> Result<String, Error> {
    let mut text = String::new();
    for time in &model.times {
        text.push_str(&time.to_text()?);
        text.push('\n');
    }
    Ok(text)
}

fn print_lifetimes(problem: &Problem<'_, '_, '_>) -> Result<String, Error> {
    let mut text = String::from("; times are [epoch, ..]: 0 before the run, 1 during it, 2 after it\n");
    for array in problem.folded_arrays() {
        let lifetimes = problem.conflicts.lifetimes(array)?;
        let name = &problem.model.kernel.array(array).name;
        text.push_str(&format!("{name} written: {}\n", lifetimes.write.to_text()?));
        text.push_str(&format!("{name} read:    {}\n", lifetimes.reads.to_text()?));
    }
    Ok(text)
}

fn print_conflicts(problem: &Problem<'_, '_, '_>) -> Result<String, Error> {
    let mut text = String::new();
    for array in problem.folded_arrays() {
        text.push_str(&problem.conflicts.between(array, array)?.to_text()?);
        text.push('\n');
    }
    Ok(text)
}

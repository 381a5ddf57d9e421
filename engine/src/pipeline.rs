//! The stages, in order: each is one function, timed, and its result can be printed.
//!
//! In: a request.   Out: an [`Outcome`] of plain values; nothing of isl leaves a run. One isl context serves one run,
//! under the request's operation quota, which each stage has for itself (lifetimes per array, mapping per strategy): an
//! array that takes too much is kept in full, where that is possible, and the rest of the plan does not suffer.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Instant;

use crease_isl::Context;
use crease_jit::program::Program;

use crate::analysis::bound::{Group, lower_bounds};
use crate::analysis::conflicts::Conflicts;
use crate::analysis::model::{AnalysisError, Model};
use crate::analysis::privacy::Privacy;
use crate::error::Error;
use crate::kernel::graph::{ArrayId, Role};
use crate::kernel::{MappingRule, parse_mapping};
use crate::lower::{LowerError, Lowered, Origins, lower, mark_reuse};
use crate::mapping::choice::{StrategyChoice, choose_mapping};
use crate::mapping::{MappingError, Problem, Span, StorageMapping};
use crate::plan::Request;
use crate::plan::layout::{Layout, Owner, lay_out};
use crate::plan::report::mapping_formulas;
use crate::schedule::legality::verify_schedule;

/// A stage whose result can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The kernel in text form.
    Kernel,
    /// Domains and time vectors as relations.
    Schedule,
    /// When each cell is written and read.
    Lifetimes,
    /// Which cells may not share storage.
    Conflicts,
    /// The storage mapping as formulas.
    Mapping,
    /// The loops that scan the schedule.
    Loops,
    /// The lowered program.
    Program,
    /// Cranelift's intermediate form.
    Clif,
    /// Machine code.
    Asm,
}

crease_jit::named_choices! {
    Stage = [
        ("kernel", Stage::Kernel),
        ("schedule", Stage::Schedule),
        ("lifetimes", Stage::Lifetimes),
        ("conflicts", Stage::Conflicts),
        ("mapping", Stage::Mapping),
        ("loops", Stage::Loops),
        ("program", Stage::Program),
        ("clif", Stage::Clif),
        ("asm", Stage::Asm),
    ]
}

/// What a run of all stages leaves.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) layout: Layout,
    pub(crate) program: Program,
    /// For each strip, by its variable, what its operations come from.
    pub(crate) origins: Origins,
    /// Per buffer of the layout, a number of cells that no storage can go below.
    pub(crate) lower_bounds: Vec<Option<u64>>,
    /// Per array, cells of its index space that hold a value; none if unbounded.
    pub(crate) full_cells: Vec<Option<u64>>,
    /// Per array and index, first and last value; the step index of a state array as `(0, 0)`.
    pub(crate) index_boxes: Vec<Vec<(i64, i64)>>,
    /// Bound parameters; 0 for run parameters.
    pub(crate) params: Vec<i64>,
    /// Arrays whose values live in registers.
    pub(crate) in_registers: Vec<ArrayId>,
    /// What was tried and rejected.
    pub(crate) notes: Vec<String>,
    /// Name and seconds of each stage.
    pub(crate) stages: Vec<(&'static str, f64)>,
}

/// Runs every stage.
pub(crate) fn run(request: &Request) -> Result<Outcome, Error> {
    Ok(Runner::default().run(request, Until::Lowered)?.expect("a full run has an outcome"))
}

/// Runs the analyses once, and what follows for each strategy.
pub(crate) fn run_each(request: &Request, strategies: &[StrategyChoice]) -> Result<Vec<Result<Outcome, Error>>, Error> {
    let mut runner = Runner::default();
    runner.analyse(request, |runner, problem, given| {
        let analysed = runner.stages.clone();
        let finish = |&strategy: &StrategyChoice| {
            runner.stages.clone_from(&analysed);
            let outcome = runner.finish(request, strategy, problem, given, Until::Lowered)?;
            Ok(outcome.expect("a full run has an outcome"))
        };
        Ok(strategies.iter().map(finish).collect())
    })
}

/// The storage mapping alone: the stages up to the choice.
pub(crate) fn chosen_mapping(request: &Request) -> Result<StorageMapping, Error> {
    Runner::default().analyse(request, |runner, problem, given| {
        let context = problem.model.context;
        Ok(runner
            .time("mapping", context, || choose_mapping(problem, (request.strategy, request.objective), given))?
            .mapping)
    })
}

/// Predicted bytes of folded storage: the stages up to the layout.
pub(crate) fn storage_bytes(request: &Request) -> Result<u64, Error> {
    let mut runner = Runner::default();
    runner.run(request, Until::LaidOut)?;
    Ok(runner.bytes)
}

/// Runs the stages again, as far as needed, to print one.
pub(crate) fn dump(request: &Request, stage: Stage) -> Result<String, Error> {
    let mut runner = Runner { wanted: Some(stage), ..Runner::default() };
    runner.run(request, Until::Lowered)?;
    Ok(runner.text)
}

#[derive(Clone, Copy, PartialEq)]
enum Until {
    LaidOut,
    Lowered,
}

#[derive(Default)]
struct Runner {
    wanted: Option<Stage>,
    text: String,
    bytes: u64,
    stages: Vec<(&'static str, f64)>,
}

impl Runner {
    fn run(&mut self, request: &Request, until: Until) -> Result<Option<Outcome>, Error> {
        self.analyse(request, |runner, problem, given| match runner.has_printed() {
            true => Ok(None),
            false => runner.finish(request, request.strategy, problem, given, until),
        })
    }

    /// The stages that do not depend on the strategy; `then` sees what they leave.
    fn analyse<R>(
        &mut self,
        request: &Request,
        then: impl FnOnce(&mut Self, &Problem<'_, '_, '_>, &[MappingRule]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let kernel = &*request.kernel;
        let schedule = &kernel.schedules()[request.schedule];
        self.print(Stage::Kernel, || Ok(kernel.to_string()))?;
        let given = parse_mapping(&request.mapping, kernel, &request.values).map_err(MappingError::Text)?;
        let context = Context::new(request.quota)?;
        let model = self.time("model", &context, || Model::new(&context, kernel, schedule, request.values.clone()))?;
        let model = Rc::new(model);
        self.print(Stage::Schedule, || print_schedule(&model))?;
        self.time("legality", &context, || verify_schedule(&model))?;
        // Full storage is the unfolded array, one for all.
        let derives = request.strategy != StrategyChoice::Full;
        let private = || if derives { Privacy::new(&model) } else { Ok(Privacy::none()) };
        let privacy = self.time("privacy", &context, private)?;
        let conflicts = self.time("lifetimes", &context, || Conflicts::new(&model, privacy))?;
        let problem = Problem {
            model: &model,
            conflicts: &conflicts,
            horizon: request.horizon,
            rounding: request.rounding,
            rings: request.rings,
            spans: Default::default(),
        };
        self.print(Stage::Lifetimes, || print_lifetimes(&problem))?;
        self.print(Stage::Conflicts, || print_conflicts(&problem))?;
        then(self, &problem, &given)
    }

    /// The stages from the choice of storage on.
    fn finish(
        &mut self,
        request: &Request,
        strategy: StrategyChoice,
        problem: &Problem<'_, '_, '_>,
        given: &[MappingRule],
        until: Until,
    ) -> Result<Option<Outcome>, Error> {
        let (kernel, context) = (problem.model.kernel, problem.model.context);
        let mut choice =
            self.time("mapping", context, || choose_mapping(problem, (strategy, request.objective), given))?;
        let layout = self.time("layout", context, || lay_out(problem, &choice.mapping))?;
        self.print(Stage::Mapping, || Ok(mapping_formulas(kernel, &layout)))?;
        self.bytes = layout.folded_bytes(request.threads);
        if until == Until::LaidOut || self.has_printed() {
            return Ok(None);
        }
        let lower_bounds = self.time("lower bound", context, || buffer_bounds(problem, &layout, &mut choice.notes))?;
        let lowered = self.time("lower", context, || -> Result<Lowered, Error> {
            let lowered = lower(context, problem.model, &layout)?;
            Ok(Lowered { program: mark_reuse(lowered.program, kernel, request.cache_bytes), ..lowered })
        })?;
        self.print(Stage::Loops, || Ok(lowered.loops.clone()))?;
        self.print(Stage::Program, || Ok(lowered.program.to_string()))?;
        if cfg!(debug_assertions) {
            lowered.program.verify().expect("lowering makes valid programs");
        }
        context.reset_operations();
        let full_cells = kernel.array_ids().map(|id| full_cells(problem, id)).collect();
        let index_boxes = kernel.array_ids().map(|id| index_box(problem, id)).collect::<Result<Vec<_>, _>>()?;
        let params = request.values.iter().map(|v| v.unwrap_or(0)).collect();
        let (notes, stages) = (choice.notes, std::mem::take(&mut self.stages));
        let Lowered { program, origins, in_registers, .. } = lowered;
        Ok(Some(Outcome {
            layout,
            program,
            origins,
            lower_bounds,
            full_cells,
            index_boxes,
            params,
            in_registers,
            notes,
            stages,
        }))
    }

    /// Runs a stage under a quota of its own and keeps the time it took.
    fn time<T, E: Into<Error>>(
        &mut self,
        name: &'static str,
        context: &Context,
        stage: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, Error> {
        context.reset_operations();
        let start = Instant::now();
        let result = stage().map_err(|error| name_stage(error.into(), name))?;
        self.stages.push((name, start.elapsed().as_secs_f64()));
        Ok(result)
    }

    fn print(&mut self, stage: Stage, text: impl FnOnce() -> Result<String, Error>) -> Result<(), Error> {
        if self.wanted == Some(stage) {
            self.text = text()?;
        }
        Ok(())
    }

    fn has_printed(&self) -> bool {
        !self.text.is_empty()
    }
}

/// Names the stage in which the quota was spent.
fn name_stage(error: Error, stage: &'static str) -> Error {
    let cause = match &error {
        Error::Analysis(cause)
        | Error::Mapping(MappingError::Analysis(cause))
        | Error::Lower(LowerError::Analysis(cause)) => cause,
        _ => return error,
    };
    cause.spent_quota().map_or(error, |limit| AnalysisError::Quota { stage, limit }.into())
}

/// Lower bounds of buffers; none, and a note, where they take too long. Arrays that share buffers are counted together,
/// and each of their buffers gets its share of the bound.
fn buffer_bounds(
    problem: &Problem<'_, '_, '_>,
    layout: &Layout,
    notes: &mut Vec<String>,
) -> Result<Vec<Option<u64>>, Error> {
    let shared = buffers_in_common(problem, layout);
    let cells =
        |buffers: &BTreeSet<usize>| buffers.iter().map(|&b| layout.buffers[b].cells).fold(0, u64::saturating_add);
    let group =
        |(arrays, buffers): &(Vec<ArrayId>, BTreeSet<usize>)| Group { arrays: arrays.clone(), cells: cells(buffers) };
    let groups: Vec<Group> = shared.iter().map(group).collect();
    let bounds = match lower_bounds(problem.model, problem.conflicts, &groups) {
        Err(error) if error.spent_quota().is_some() => {
            notes.push(format!("no lower bound is known: {error}"));
            vec![None; groups.len()]
        }
        bounds => bounds?,
    };
    let mut of_buffer = vec![None; layout.buffers.len()];
    for ((group, (_, buffers)), bound) in groups.iter().zip(&shared).zip(bounds) {
        let (mut cells_left, mut bound_left) = (group.cells, bound);
        for &buffer in buffers {
            let cells = layout.buffers[buffer].cells;
            let share = |bound: u64| (u128::from(bound) * u128::from(cells) / u128::from(cells_left.max(1))) as u64;
            of_buffer[buffer] = bound_left.map(share);
            bound_left = bound_left.zip(of_buffer[buffer]).map(|(left, share)| left - share);
            cells_left = cells_left.saturating_sub(cells);
        }
    }
    for buffer in &layout.buffers {
        if buffer.owner != Owner::Folded {
            of_buffer[buffer.id as usize] = Some(buffer.cells);
        }
    }
    Ok(of_buffer)
}

/// The folded arrays, those that share a buffer together, and the buffers that they are kept in.
fn buffers_in_common(problem: &Problem<'_, '_, '_>, layout: &Layout) -> Vec<(Vec<ArrayId>, BTreeSet<usize>)> {
    let mut groups: Vec<(Vec<ArrayId>, BTreeSet<usize>)> = Vec::new();
    for array in problem.folded_arrays() {
        let pieces = &layout.array(array).expect("folded arrays have a layout").pieces;
        let mut own = (vec![array], pieces.iter().map(|piece| piece.buffer).collect::<BTreeSet<usize>>());
        let (joined, rest) = groups.into_iter().partition::<Vec<_>, _>(|(_, buffers)| !buffers.is_disjoint(&own.1));
        for (arrays, buffers) in joined {
            own.0.splice(0..0, arrays);
            own.1.extend(buffers);
        }
        groups = rest;
        groups.push(own);
    }
    groups
}

/// Cells of an array's bounding box; none if the number of steps bounds it.
fn full_cells(problem: &Problem<'_, '_, '_>, id: ArrayId) -> Option<u64> {
    let body = problem.model.kernel.array(id);
    let set = match body.role {
        Role::Input | Role::Output => problem.model.index_space(id).ok()?.project_out_params().ok()?,
        Role::Temp | Role::State => problem.cells(id).ok()?,
    };
    (0..body.index.len()).try_fold(1_u64, |n, k| {
        let (min, max) = set.dim_range(k).ok()??;
        n.checked_mul(Span { min: Some(min), max: Some(max) }.extent()? as u64)
    })
}

/// First and last value of each index over the index space, `(0, -1)` if that is empty; unbounded ones (the step of a
/// state) as `(0, 0)`.
fn index_box(problem: &Problem<'_, '_, '_>, id: ArrayId) -> Result<Vec<(i64, i64)>, Error> {
    let space = problem.model.index_space(id)?.project_out_params()?;
    let n = problem.model.kernel.array(id).index.len();
    (0..n).map(|k| Ok(space.dim_range(k)?.unwrap_or((0, 0)))).collect()
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

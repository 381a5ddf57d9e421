//! The stages, in order: each is one function, timed, and its result can be printed.
//!
//! In: a request.   Out: an [`Outcome`] of plain values; nothing of isl leaves a run. One isl context serves one run,
//! under the request's operation quota, which each stage has for itself (lifetimes per array, mapping per strategy): an
//! array that takes too much is kept in full, where that is possible, and the rest of the plan does not suffer.

use std::rc::Rc;
use std::time::Instant;

use crease_isl::Context;
use crease_program::Verified;

use crate::analysis::conflicts::Conflicts;
use crate::analysis::error::AnalysisError;
use crate::analysis::model::Model;
use crate::analysis::privacy::Privacy;
use crate::analysis::turnover::Turnover;
use crate::check::{Checker, Proved};
use crate::error::Error;
use crate::kernel::graph::{ArrayId, Role};
use crate::kernel::{MappingRule, parse_mapping};
use crate::lower::{LowerError, Lowered, lower, mark_reuse, prove_bounds, verified};
use crate::mapping::choice::choose_mapping;
use crate::mapping::decision::Chosen;
use crate::mapping::options::StrategyChoice;
use crate::mapping::{Problem, Span};
use crate::plan::bounds::{BufferBounds, buffer_bounds, known_bounds};
use crate::plan::footprint::Storage;
use crate::plan::layout::{Layout, lay_out};
use crate::plan::outcome::Outcome;
use crate::plan::report::mapping_formulas;
use crate::plan::request::Request;
use crate::schedule::legality::verify_schedule;
use crate::schedule::writes::verify_writes;
use crate::stage::{LOWER_BOUND, Stage};
use crate::storage::{MappingError, StorageMapping};

/// Runs every stage.
pub(crate) fn run(request: &Request) -> Result<Outcome, Error> {
    Ok(Runner::default().run(request)?.expect("a full run has an outcome"))
}

/// Runs the analyses once, and what follows for each strategy.
pub(crate) fn run_each(request: &Request, strategies: &[StrategyChoice]) -> Result<Vec<Result<Outcome, Error>>, Error> {
    let mut runner = Runner::default();
    runner.analyse(request, |runner, problem, given| {
        let analysed = runner.stages.clone();
        let finish = |&strategy: &StrategyChoice| {
            runner.stages.clone_from(&analysed);
            let outcome = runner.finish(request, strategy, problem, given)?;
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
            .mapping
            .into_inner())
    })
}

/// The checker's word on each of some mappings.
pub(crate) fn prove_each(
    request: &Request,
    storage: &[StorageMapping],
) -> Result<Vec<Result<Proved<StorageMapping>, Error>>, Error> {
    Runner::default().analyse(request, |_, problem, _| {
        let prove = |mapping: &StorageMapping| {
            problem.model.context.reset_operations();
            problem.checker.prove(mapping.clone()).map_err(|error| name_stage(error.into(), "proof"))
        };
        Ok(storage.iter().map(prove).collect())
    })
}

/// Sizes of storage alone: the stages up to the layout.
pub(crate) fn storage(request: &Request) -> Result<Storage, Error> {
    Runner::default().analyse(request, |runner, problem, given| {
        let (_, layout) = runner.lay_out(request, request.strategy, problem, given)?;
        Ok(Storage::new(&request.kernel, &layout, &index_boxes(problem)?))
    })
}

/// Lower bounds of all buffers, from the lifetimes, which are found again.
pub(crate) fn lower_bounds(request: &Request, layout: &Layout) -> Result<BufferBounds, Error> {
    Runner::default().analyse(request, |runner, problem, _| {
        let mut bounds = runner.time(LOWER_BOUND, problem.model.context, || buffer_bounds(problem, layout))?;
        bounds.seconds = runner.stages.iter().map(|(_, seconds)| seconds).sum();
        Ok(bounds)
    })
}

/// Runs the stages again, as far as needed, to print one.
pub(crate) fn dump(request: &Request, stage: Stage) -> Result<String, Error> {
    let mut runner = Runner { wanted: Some(stage), ..Runner::default() };
    runner.run(request)?;
    Ok(runner.text)
}

#[derive(Default)]
struct Runner {
    wanted: Option<Stage>,
    text: String,
    stages: Vec<(&'static str, f64)>,
}

impl Runner {
    fn run(&mut self, request: &Request) -> Result<Option<Outcome>, Error> {
        self.analyse(request, |runner, problem, given| match runner.has_printed() {
            true => Ok(None),
            false => runner.finish(request, request.strategy, problem, given),
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
        let certificate = model.turnover.as_ref().map(Turnover::certificate);
        let checker = self.time("certificate", &context, || -> Result<Checker<'_, '_>, Error> {
            Ok(Checker::new(&context, kernel, schedule, &request.values, certificate.as_ref()))
        })?;
        let legal = || verify_writes(&model).and_then(|()| verify_schedule(&model, checker.readers()));
        self.time("legality", &context, legal)?;
        // Full storage is the unfolded array, one for all.
        let derives = request.strategy != StrategyChoice::Full;
        let private = || if derives { Privacy::new(&model) } else { Ok(Privacy::none()) };
        let privacy = self.time("privacy", &context, private)?;
        let conflicts = self.time("lifetimes", &context, || Conflicts::new(&model, privacy))?;
        let problem = Problem {
            model: &model,
            conflicts: &conflicts,
            checker: &checker,
            horizon: request.horizon,
            rounding: request.rounding,
            rings: request.rings,
            machine: request.machine,
            alive: Default::default(),
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
    ) -> Result<Option<Outcome>, Error> {
        let (kernel, context) = (problem.model.kernel, problem.model.context);
        let (choice, layout) = self.lay_out(request, strategy, problem, given)?;
        if self.has_printed() {
            return Ok(None);
        }
        let lower_bounds = known_bounds(problem, &layout);
        let lowered = self.time("lower", context, || -> Result<Lowered, Error> {
            let lowered = lower(context, problem.model, &layout, request.work_limit)?;
            Ok(Lowered { program: mark_reuse(lowered.program, kernel, &request.machine), ..lowered })
        })?;
        self.print(Stage::Loops, || Ok(lowered.loops.clone()))?;
        let program = self.time("bounds", context, || -> Result<Verified, Error> {
            let bounded = prove_bounds(context, kernel.name(), lowered.program)?;
            Ok(verified(bounded, problem.model, &layout)?)
        })?;
        self.print(Stage::Program, || Ok(program.to_string()))?;
        context.reset_operations();
        let full_cells = kernel.array_ids().map(|id| full_cells(problem, id)).collect();
        let index_boxes = index_boxes(problem)?;
        let params = request.values.iter().map(|v| v.unwrap_or(0)).collect();
        let (notes, decisions, stages) = (choice.notes, choice.decisions, std::mem::take(&mut self.stages));
        let (origins, in_registers) = (lowered.origins, lowered.in_registers);
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
            decisions,
            stages,
        }))
    }

    /// The choice of storage, and its layout.
    fn lay_out(
        &mut self,
        request: &Request,
        strategy: StrategyChoice,
        problem: &Problem<'_, '_, '_>,
        given: &[MappingRule],
    ) -> Result<(Chosen, Layout), Error> {
        let (kernel, context) = (problem.model.kernel, problem.model.context);
        let mut choice =
            self.time("mapping", context, || choose_mapping(problem, (strategy, request.objective), given))?;
        if let Some(refusal) = problem.checker.refusal() {
            choice.notes.push(format!("a certificate of who reads the states is not believed: {refusal}"));
        }
        let layout = self.time("layout", context, || lay_out(problem, &choice.mapping))?;
        self.print(Stage::Mapping, || Ok(mapping_formulas(kernel, &layout)))?;
        Ok((choice, layout))
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

/// Cells of an array's bounding box; none if the number of steps bounds it.
fn full_cells(problem: &Problem<'_, '_, '_>, id: ArrayId) -> Option<u64> {
    let body = problem.model.kernel.array(id);
    let set = match body.role {
        Role::Input | Role::Output => problem.model.index_space(id).ok()?.project_out_params().ok()?,
        Role::Temp | Role::State => problem.cells(id).ok()?,
    };
    (0..body.index.len()).try_fold(1_u64, |n, k| {
        let (min, max) = set.dim_range(k).ok()??;
        n.checked_mul(Span::between(min, max).extent()? as u64)
    })
}

/// [`index_box`] of every array.
fn index_boxes(problem: &Problem<'_, '_, '_>) -> Result<Vec<Vec<(i64, i64)>>, Error> {
    problem.model.kernel.array_ids().map(|id| index_box(problem, id)).collect()
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

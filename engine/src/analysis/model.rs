//! The kernel as integer relations: domains, access relations, the schedule in extended time.
//!
//! In: a verified kernel and one of its schedules.   Out: [`Model`].
//!
//! The kernel's sizes are usually bound ([`BoundKernel`](crate::kernel::BoundKernel)): analysis at N = 1024 costs the
//! same as at N = 8, and its answers are exact for that size. Parameters that a kernel has stay symbols: those that
//! calls bind, since compiled code serves any number of steps, and sizes where they are not bound.
//!
//! Events are relations made when they are asked for (`events`): where comparing bounds answers a question, as
//! `step_dependences` does for the states of many kernels, nothing does.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crease_isl::{Constraint, Context, Map, Set, Tuple};

use crate::analysis::accesses::{Events, Reference};
use crate::analysis::error::AnalysisError;
use crate::analysis::step_dependences::StepDependences;
use crate::clock::Clock;
use crate::sets::boxes::{Boxed, boxes_of};
use crate::sets::relations::Params;

use crate::kernel::FROM_STEP;
use crate::kernel::affine::Affine;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, DimKind, Kernel, ParamId, Role, Schedule, Stmt, StmtId};
use crate::schedule::order::{Epoch, HappensBefore, told_apart};

/// Begins every name of a parameter, index or iterator that the engine adds to those of a kernel, whose names begin
/// with a letter: else a run parameter called `c0`, say, would be taken for a loop's iterator.
pub(crate) const OWN: char = '_';

/// Whether lifetimes depend on where a call starts. They do not if every statement runs by its step first, and no time
/// names that start: the values alive where a later call starts are then those alive between two steps of any call, and
/// step 0 can stand for all.
fn needs_from_step(kernel: &Kernel, schedule: &Schedule) -> bool {
    let step_first = schedule.dims.first() == Some(&DimKind::Sequential)
        && schedule.times.iter().all(|time| time.first() == Some(&Affine::iter(0)));
    kernel.has_state() && (!step_first || schedule.names_from_step())
}

/// What a set says of the step a call starts from, where that is a parameter.
#[derive(Clone, Copy)]
pub(crate) enum FromStep {
    /// Nothing.
    Anything,
    /// It is at most the last step, the value of this parameter; it is 0 if it is no parameter.
    AtMost(ParamId),
    /// It comes before the first dimension, the step of an instance.
    BeforeInstances,
}

/// Relations of one kernel under one schedule. All of them live in one isl context.
pub(crate) struct Model<'c, 'k> {
    pub(crate) context: &'c Context,
    /// Times what is found when it is first asked for.
    pub(crate) clock: Clock,
    pub(crate) kernel: &'k Kernel,
    pub(crate) schedule: &'k Schedule,
    pub(crate) order: HappensBefore<'c>,
    /// Per statement, its domain.
    pub(crate) domains: Vec<Set<'c>>,
    /// Per statement, instance -> extended time.
    pub(crate) times: Vec<Map<'c>>,
    /// Per statement, its domain as boxes, where it is made of some.
    pub(crate) boxes: Vec<Option<Boxed>>,
    /// Who reads the states, where every step replaces them alike.
    pub(crate) step_dependences: Option<StepDependences>,
    /// Per statement, its last time component, which tells apart those that share time vectors; none if none do.
    /// Statements that certainly share none, such as those of an inside and its borders, may have one number.
    pub(crate) statement_dim: Option<Vec<i64>>,
    pub(super) references: OnceCell<Vec<Reference<'c>>>,
    /// Per array, its live-in and live-out cells.
    live: Vec<(Set<'c>, Set<'c>)>,
    /// Per array, its events, once they were asked for.
    pub(super) events: Vec<OnceCell<Events<'c>>>,
    /// Parameters of the relations: those of the kernel, then perhaps [`FROM_STEP`].
    params: Params,
    /// Whether the step a call starts from is a parameter, [`FROM_STEP`], rather than 0.
    from_step: bool,
}

impl<'c, 'k> Model<'c, 'k> {
    pub(crate) fn new(context: &'c Context, kernel: &'k Kernel, schedule: &'k Schedule) -> Result<Self, AnalysisError> {
        let from_step = needs_from_step(kernel, schedule);
        let own = kernel.params().iter().map(|param| param.name.clone());
        let params = Params { names: own.chain(from_step.then(|| FROM_STEP.to_owned())).collect() };
        let order = HappensBefore::new(context, &schedule.dims, false);
        let mut model = Model {
            context,
            clock: Clock::default(),
            kernel,
            schedule,
            order,
            domains: Vec::new(),
            times: Vec::new(),
            boxes: Vec::new(),
            step_dependences: StepDependences::new(kernel),
            statement_dim: None,
            references: OnceCell::new(),
            live: Vec::new(),
            events: kernel.array_ids().map(|_| OnceCell::new()).collect(),
            params,
            from_step,
        };
        model.domains = model.build_domains()?;
        model.boxes = kernel.stmts().iter().map(|stmt| boxes_of(&stmt.domain, stmt.iters.len())).collect();
        model.times = model.build_times()?;
        if model.statements_share_times()? {
            model.order = HappensBefore::new(context, &schedule.dims, true);
            let stmts: Vec<StmtId> = kernel.stmt_ids().collect();
            let run_apart = |a: usize, b: usize| model.run_apart(stmts[a], stmts[b]);
            model.statement_dim = Some(told_apart(stmts.len(), run_apart));
            model.times = model.build_times()?;
        }
        model.live = model.build_live()?;
        Ok(model)
    }

    /// The same, by this clock.
    pub(crate) fn timed_by(self, clock: &Clock) -> Self {
        Model { clock: clock.clone(), ..self }
    }

    /// Whether every statement of a kernel with state runs by its step first.
    pub(crate) fn steps_come_first(&self) -> bool {
        self.kernel.step_param().is_some() && !self.from_step
    }

    /// The parameters of every set this model makes.
    pub(crate) fn params(&self) -> &Params {
        &self.params
    }

    /// The index space of an array; a state array's step index is unbounded.
    pub(crate) fn index_space(&self, array: ArrayId) -> Result<Set<'c>, AnalysisError> {
        let domain = self.kernel.array(array).domain.clone();
        self.cells(array, &domain)
    }

    /// Cells of an array that satisfy a formula.
    pub(crate) fn cells(&self, array: ArrayId, formula: &Formula) -> Result<Set<'c>, AnalysisError> {
        let array = self.kernel.array(array);
        let last = self.kernel.step_param().filter(|_| array.role == Role::State);
        let from = last.map_or(FromStep::Anything, FromStep::AtMost);
        self.points(Some(&array.name), &array.index, formula, from)
    }

    /// The points of a tuple that satisfy a formula, and what holds of the step a call starts from.
    pub(crate) fn points(
        &self,
        name: Option<&str>,
        dims: &[String],
        formula: &Formula,
        from: FromStep,
    ) -> Result<Set<'c>, AnalysisError> {
        self.params.set(self.context, Tuple { name, dims }, formula, &self.of_from_step(from, dims))
    }

    /// The map from a tuple to expressions over its dimensions.
    pub(crate) fn function(
        &self,
        from: Tuple<'_>,
        to: Option<&str>,
        values: &[Affine],
    ) -> Result<Map<'c>, AnalysisError> {
        self.params.function(self.context, from, to, values)
    }

    /// A condition on the step a call starts from.
    fn of_from_step(&self, from: FromStep, dims: &[String]) -> Vec<Constraint> {
        // Columns: parameters, the last of which is the step if it is one; then dimensions.
        let row = |param: Option<usize>, dim: Option<usize>, from: i64, constant: i64| {
            let mut row = Constraint {
                is_equality: false,
                params: vec![0; self.params.names.len()],
                dims: vec![0; dims.len()],
                divs: Vec::new(),
                constant,
            };
            param.into_iter().for_each(|p| row.params[p] = 1);
            dim.into_iter().for_each(|d| row.dims[d] = 1);
            row.params.last_mut().filter(|_| self.from_step).into_iter().for_each(|own| *own = from);
            row
        };
        match (from, self.from_step) {
            (FromStep::Anything, _) | (FromStep::BeforeInstances, false) => Vec::new(),
            (FromStep::BeforeInstances, true) => {
                let step = (!dims.is_empty()).then_some(0);
                let later = step.map(|step| row(None, Some(step), -1, -1));
                later.map_or(Vec::new(), |later| vec![later, row(None, None, 1, 0)])
            }
            (FromStep::AtMost(last), is_param) => {
                let upper = row(Some(last.index()), None, -1, 0);
                if is_param { vec![row(None, None, 1, 0), upper] } else { vec![upper] }
            }
        }
    }

    /// Cells of an array that hold a value before the kernel starts.
    pub(crate) fn live_in(&self, id: ArrayId) -> &Set<'c> {
        &self.live[id.index()].0
    }

    /// Cells of an array whose final value is needed after the kernel.
    pub(crate) fn live_out(&self, id: ArrayId) -> &Set<'c> {
        &self.live[id.index()].1
    }

    /// Live-in and live-out cells of every array. Arrays that differ in nothing but their names share the work.
    fn build_live(&self) -> Result<Vec<(Set<'c>, Set<'c>)>, AnalysisError> {
        let mut known: HashMap<_, (Set<'c>, Set<'c>)> = HashMap::new();
        let mut all = Vec::new();
        for id in self.kernel.array_ids() {
            let array = self.kernel.array(id);
            let kind = (array.role, &array.domain, &array.live_in, &array.live_out, self.kernel.state_depth(id));
            let (live_in, live_out) = match known.entry(kind) {
                Entry::Occupied(alike) => alike.into_mut(),
                Entry::Vacant(first) => first.insert(self.live_of(id)?),
            };
            all.push((live_in.set_tuple_name(&array.name)?, live_out.set_tuple_name(&array.name)?));
        }
        Ok(all)
    }

    /// Live-in and live-out cells: those the array's role implies and those declared.
    fn live_of(&self, id: ArrayId) -> Result<(Set<'c>, Set<'c>), AnalysisError> {
        let array = self.kernel.array(id);
        let space = self.index_space(id)?;
        let nothing = space.subtract(&space)?;
        let (mut live_in, mut live_out) = match (array.role, self.kernel.step_param()) {
            (Role::Input, _) => (space.clone(), nothing),
            (Role::Output, _) => (nothing, space.clone()),
            (Role::State, Some(last)) => {
                let first = self.cells(id, &self.levels(id, &Affine::constant(0))?)?;
                let first = if self.from_step { self.later_by_from_step(id, &first)? } else { first };
                let last = self.cells(id, &self.levels(id, &Affine::param(last))?)?;
                (first.intersect(&space)?, last.intersect(&space)?)
            }
            (Role::Temp | Role::State, _) => (nothing.clone(), nothing),
        };
        for (declared, live) in [(&array.live_in, &mut live_in), (&array.live_out, &mut live_out)] {
            if let Some(formula) = declared {
                *live = live.union(&self.cells(id, formula)?.intersect(&space)?)?;
            }
        }
        Ok((live_in, live_out))
    }

    /// Cells of a state array moved from step 0 to the step a call starts from.
    fn later_by_from_step(&self, id: ArrayId, cells: &Set<'c>) -> Result<Set<'c>, AnalysisError> {
        let array = self.kernel.array(id);
        let (params, from_step) = Params::none().and([FROM_STEP.to_owned()]);
        let mut moved: Vec<Affine> = (0..array.index.len()).map(Affine::iter).collect();
        moved[0] = moved[0].add(&from_step[0])?;
        let from = Tuple { name: Some(&array.name), dims: &array.index };
        Ok(cells.apply(&params.function(self.context, from, Some(&array.name), &moved)?)?)
    }

    /// The levels of a state array that exist after `step` steps.
    fn levels(&self, id: ArrayId, step: &Affine) -> Result<Formula, AnalysisError> {
        let depth = i64::from(self.kernel.state_depth(id));
        let newest = step.add(&Affine::constant(self.kernel.state_write_offset()))?;
        let after = Formula::lt(&newest.add(&Affine::constant(-depth))?, &Affine::iter(0))?;
        Ok(after.and(Formula::le(&Affine::iter(0), &newest)?))
    }

    /// All cells of `cells` at one program point outside the run.
    pub(crate) fn at_epoch(&self, cells: &Set<'c>, array: ArrayId, epoch: Epoch) -> Result<Map<'c>, AnalysisError> {
        let mut time = vec![Affine::constant(epoch as i64)];
        time.resize(self.order.n_dims(), Affine::constant(0));
        let array = self.kernel.array(array);
        let all = self.function(Tuple { name: Some(&array.name), dims: &array.index }, None, &time)?;
        Ok(all.intersect_domain(cells)?)
    }

    /// Instances, iterators given by name, that satisfy a formula and what all domains have in common: the kernel's
    /// context and, if that is a parameter, the step a call starts from.
    pub(crate) fn instances(
        &self,
        name: Option<&str>,
        iters: &[String],
        formula: &Formula,
    ) -> Result<Set<'c>, AnalysisError> {
        let formula = formula.clone().and(self.kernel.context().clone());
        self.points(name, iters, &formula, FromStep::BeforeInstances)
    }

    fn build_domains(&self) -> Result<Vec<Set<'c>>, AnalysisError> {
        let domain = |stmt: &Stmt| self.instances(Some(&stmt.name), &stmt.iters, &stmt.domain);
        self.kernel.stmts().iter().map(domain).collect()
    }

    /// The extended time of a statement's instances over its iterators.
    pub(crate) fn time_vector(&self, stmt: StmtId) -> Vec<Affine> {
        let mut time = vec![Affine::constant(Epoch::During as i64)];
        time.extend_from_slice(&self.schedule.times[stmt.index()]);
        time.extend(self.statement_dim.iter().map(|numbers| Affine::constant(numbers[stmt.index()])));
        time
    }

    fn build_times(&self) -> Result<Vec<Map<'c>>, AnalysisError> {
        let mut times = Vec::new();
        for id in self.kernel.stmt_ids() {
            let stmt = self.kernel.stmt(id);
            let from = Tuple { name: Some(&stmt.name), dims: &stmt.iters };
            let map = self.function(from, None, &self.time_vector(id))?;
            times.push(map.intersect_domain(&self.domains[id.index()])?);
        }
        Ok(times)
    }

    /// Whether instances of two statements, or two of one, have equal time vectors.
    fn statements_share_times(&self) -> Result<bool, AnalysisError> {
        let mut ranges: Vec<Option<Set<'c>>> = vec![None; self.times.len()];
        for a in self.kernel.stmt_ids() {
            for b in self.kernel.stmt_ids().take(a.index()) {
                if self.run_apart(a, b) {
                    continue;
                }
                for stmt in [a, b] {
                    if ranges[stmt.index()].is_none() {
                        ranges[stmt.index()] = Some(self.times[stmt.index()].range()?);
                    }
                }
                let [Some(a), Some(b)] = [&ranges[a.index()], &ranges[b.index()]] else {
                    unreachable!("both were just made")
                };
                if !a.is_disjoint(b)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether comparing bounds shows that two statements have no time vector in common: vectors that differ in a
    /// constant, or tell iterators of disjoint boxes alike.
    fn run_apart(&self, a: StmtId, b: StmtId) -> bool {
        let (time_a, time_b) = (&self.schedule.times[a.index()], &self.schedule.times[b.index()]);
        let constants = |(a, b): (&Affine, &Affine)| a.as_constant().zip(b.as_constant());
        if time_a.iter().zip(time_b).filter_map(constants).any(|(a, b)| a != b) {
            return true;
        }
        let (Some(box_a), Some(box_b)) = (&self.boxes[a.index()], &self.boxes[b.index()]) else { return false };
        let n = self.kernel.stmt(a).iters.len();
        n == self.kernel.stmt(b).iters.len()
            && (0..n).all(|k| time_a.iter().any(|e| e.only_iter() == Some(k)))
            && time_a == time_b
            && box_a.boxes.iter().all(|a| box_b.boxes.iter().all(|b| a.is_disjoint(b)))
    }
}

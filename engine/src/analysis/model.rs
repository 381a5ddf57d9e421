//! The kernel as integer relations: domains, access relations, the schedule in extended time.
//!
//! In: a verified kernel, one of its schedules, values for (some of) its parameters.   Out: [`Model`].
//!
//! Sizes are usually bound: analysis at N = 1024 costs the same as at N = 8, and its answers are exact for that size. Run
//! parameters stay symbolic, since one compiled kernel serves any number of steps.

use crease_isl::{Context, IslError, Map, Set};

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, DimKind, Kernel, Role, Schedule, StmtId};
use crate::schedule::order::{Epoch, HappensBefore};

/// Why an analysis gave no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// The integer set library failed.
    #[error("integer set analysis failed: {0}")]
    Isl(#[from] IslError),
    /// A stage used up its quota.
    #[error("stage `{stage}` takes more than {limit} integer-set operations, its quota")]
    Quota {
        /// The stage, as the report names it.
        stage: &'static str,
        /// The quota.
        limit: u64,
    },
    /// An index, a bound or a time left 64 bits when sizes were put in.
    #[error("{0} at the sizes of the plan")]
    Overflow(#[from] AffineOverflow),
}

impl AnalysisError {
    /// The quota, if running out of it is what happened.
    pub(crate) fn spent_quota(&self) -> Option<u64> {
        match self {
            AnalysisError::Isl(IslError::Quota { limit }) | AnalysisError::Quota { limit, .. } => Some(*limit),
            _ => None,
        }
    }
}

/// One place in a statement that touches an array.
pub(crate) struct Reference<'c> {
    pub(crate) stmt: StmtId,
    pub(crate) array: ArrayId,
    pub(crate) is_write: bool,
    /// Instance -> cell, for the instances of the domain.
    pub(crate) access: Map<'c>,
}

/// Begins every name of a parameter, index or iterator that the engine adds to those of a kernel, whose names begin with
/// a letter: else a run parameter called `c0`, say, would be taken for a loop's iterator.
pub(crate) const OWN: char = '_';

/// The parameter and argument that holds the step a call starts from.
pub(crate) const FROM_STEP: &str = "_from";

/// Whether lifetimes depend on where a call starts. They do not if every statement runs by its step first: the values alive
/// where a later call starts are then those alive between two steps of any call, and step 0 can stand for all.
fn needs_from_step(kernel: &Kernel, schedule: &Schedule) -> bool {
    let step_first = schedule.dims.first() == Some(&DimKind::Sequential)
        && schedule.times.iter().all(|time| time.first() == Some(&Affine::iter(0)));
    kernel.has_state() && !step_first
}

/// Relations of one kernel under one schedule. All of them live in one isl context.
pub(crate) struct Model<'c, 'k> {
    pub(crate) context: &'c Context,
    pub(crate) kernel: &'k Kernel,
    pub(crate) schedule: &'k Schedule,
    /// Bound parameters, by position.
    pub(crate) values: Vec<Option<i64>>,
    pub(crate) order: HappensBefore<'c>,
    /// Per statement, its domain.
    pub(crate) domains: Vec<Set<'c>>,
    /// Per statement, instance -> extended time.
    pub(crate) times: Vec<Map<'c>>,
    /// Every reference, statement by statement: its reads in expression order, then its writes.
    pub(crate) references: Vec<Reference<'c>>,
    /// Per array, its live-in and live-out cells.
    live: Vec<(Set<'c>, Set<'c>)>,
    /// Per array, cell -> extended time of its reads and of its writes.
    events: Vec<(Map<'c>, Map<'c>)>,
    param_names: Vec<String>,
    /// `[N, T] -> `, the names of parameters that are not bound.
    prefix: String,
    /// Whether the step a call starts from is a parameter, [`FROM_STEP`], rather than 0.
    from_step: bool,
}

impl<'c, 'k> Model<'c, 'k> {
    pub(crate) fn new(
        context: &'c Context,
        kernel: &'k Kernel,
        schedule: &'k Schedule,
        values: Vec<Option<i64>>,
    ) -> Result<Self, AnalysisError> {
        let from_step = needs_from_step(kernel, schedule);
        let param_names = kernel.params().iter().map(|p| p.name.clone()).collect();
        let order = HappensBefore::new(context, &schedule.dims, false);
        let mut model = Model {
            context,
            kernel,
            schedule,
            values,
            order,
            domains: Vec::new(),
            times: Vec::new(),
            references: Vec::new(),
            live: Vec::new(),
            events: Vec::new(),
            param_names,
            prefix: String::new(),
            from_step,
        };
        model.prefix = model.prefix_with(&[]);
        model.domains = model.build_domains()?;
        model.times = model.build_times(false)?;
        if model.statements_share_times()? {
            model.order = HappensBefore::new(context, &schedule.dims, true);
            model.times = model.build_times(true)?;
        }
        model.references = model.build_references()?;
        model.live = kernel.array_ids().map(|id| model.build_live(id)).collect::<Result<_, _>>()?;
        model.events = model.build_events()?;
        Ok(model)
    }

    /// Whether every statement of a kernel with state runs by its step first.
    pub(crate) fn steps_come_first(&self) -> bool {
        self.kernel.step_param().is_some() && !self.from_step
    }

    /// The parameter prefix of every set this model writes.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The same with more parameters.
    pub(crate) fn prefix_with(&self, more: &[String]) -> String {
        let free = self.param_names.iter().zip(&self.values).filter(|(_, value)| value.is_none());
        let mut names: Vec<&str> = free.map(|(name, _)| name.as_str()).collect();
        names.extend(self.from_step.then_some(FROM_STEP));
        names.extend(more.iter().map(String::as_str));
        format!("[{}] -> ", names.join(", "))
    }

    /// An affine expression in isl's notation, bound parameters replaced by their values.
    pub(crate) fn affine(&self, e: &Affine, iters: &[String]) -> Result<String, AnalysisError> {
        Ok(e.bind_params(&self.values)?.display(iters, &self.param_names))
    }

    /// A formula in isl's notation, bound parameters replaced by their values.
    pub(crate) fn formula(&self, f: &Formula, iters: &[String]) -> Result<String, AnalysisError> {
        Ok(f.map(&|e| e.bind_params(&self.values))?.display(iters, &self.param_names))
    }

    /// The index space of an array; a state array's step index is unbounded.
    pub(crate) fn index_space(&self, array: ArrayId) -> Result<Set<'c>, AnalysisError> {
        let domain = self.kernel.array(array).domain.clone();
        self.cells(array, &domain)
    }

    /// Cells of an array that satisfy a formula.
    pub(crate) fn cells(&self, array: ArrayId, formula: &Formula) -> Result<Set<'c>, AnalysisError> {
        let array = self.kernel.array(array);
        let mut formula = self.formula(formula, &array.index)?;
        if let (Some(p), true) = (self.kernel.step_param(), array.role == Role::State) {
            let from = if self.from_step { FROM_STEP } else { "0" };
            formula = format!("({formula}) and 0 <= {from} <= {}", self.param_names[p.index()]);
        }
        Ok(self.context.set(&format!("{}{{ {}[{}] : {formula} }}", self.prefix, array.name, array.index.join(", ")))?)
    }

    /// Cells of an array that hold a value before the kernel starts.
    pub(crate) fn live_in(&self, id: ArrayId) -> &Set<'c> {
        &self.live[id.index()].0
    }

    /// Cells of an array whose final value is needed after the kernel.
    pub(crate) fn live_out(&self, id: ArrayId) -> &Set<'c> {
        &self.live[id.index()].1
    }

    /// Live-in and live-out cells: those the array's role implies and those declared.
    fn build_live(&self, id: ArrayId) -> Result<(Set<'c>, Set<'c>), AnalysisError> {
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
        let (name, index) = (&array.name, array.index.join(", "));
        let rest = array.index[1..].iter().map(|i| format!(", {i}")).collect::<String>();
        let step = &array.index[0];
        let map = format!("{}{{ {name}[{index}] -> {name}[{step} + {FROM_STEP}{rest}] }}", self.prefix);
        Ok(cells.apply(&self.context.map(&map)?)?)
    }

    /// The levels of a state array that exist after `step` steps.
    fn levels(&self, id: ArrayId, step: &Affine) -> Result<Formula, AnalysisError> {
        let depth = i64::from(self.kernel.state_depth(id));
        let newest = step.add(&Affine::constant(self.kernel.state_write_offset()))?;
        let after = Formula::lt(&newest.add(&Affine::constant(-depth))?, &Affine::iter(0))?;
        Ok(after.and(Formula::le(&Affine::iter(0), &newest)?))
    }

    /// Every write of an array: cell -> extended time.
    pub(crate) fn writes(&self, array: ArrayId) -> &Map<'c> {
        &self.events[array.index()].1
    }

    /// Every read of an array: cell -> extended time.
    pub(crate) fn reads(&self, array: ArrayId) -> &Map<'c> {
        &self.events[array.index()].0
    }

    /// All cells of `cells` at one moment outside the run.
    pub(crate) fn at_epoch(&self, cells: &Set<'c>, array: ArrayId, epoch: Epoch) -> Result<Map<'c>, AnalysisError> {
        let mut time = vec![(epoch as u8).to_string()];
        time.resize(self.order.n_dims(), "0".to_string());
        let array = self.kernel.array(array);
        let (name, index, time) = (&array.name, array.index.join(", "), time.join(", "));
        let all = self.context.map(&format!("{}{{ {name}[{index}] -> [{time}] }}", self.prefix))?;
        Ok(all.intersect_domain(cells)?)
    }

    fn no_events(&self, array: ArrayId) -> Result<Map<'c>, AnalysisError> {
        let array = self.kernel.array(array);
        let time = (0..self.order.n_dims()).map(|k| format!("{OWN}{k}")).collect::<Vec<_>>().join(", ");
        let index = array.index.join(", ");
        Ok(self.context.map(&format!("{}{{ {}[{index}] -> [{time}] : false }}", self.prefix, array.name))?)
    }

    fn build_references(&self) -> Result<Vec<Reference<'c>>, AnalysisError> {
        let mut references = Vec::new();
        for stmt in self.kernel.stmt_ids() {
            let body = self.kernel.stmt(stmt);
            let iters = body.iters.join(", ");
            let mut known = std::collections::HashMap::new();
            let writes = body.assigns.iter().map(|a| (a.array, a.index.as_slice(), true));
            for (array, index, is_write) in body.reads().map(|(array, index)| (array, index, false)).chain(writes) {
                let index =
                    index.iter().map(|e| self.affine(e, &body.iters)).collect::<Result<Vec<_>, _>>()?.join(", ");
                // Nine populations are written at one index: read the relation once, then name its range.
                if !known.contains_key(&index) {
                    let access =
                        self.context.map(&format!("{}{{ {}[{iters}] -> [{index}] }}", self.prefix, body.name))?;
                    known.insert(index.clone(), access.intersect_domain(&self.domains[stmt.index()])?);
                }
                let access = known[&index].set_range_name(&self.kernel.array(array).name)?;
                references.push(Reference { stmt, array, is_write, access });
            }
        }
        Ok(references)
    }

    fn build_events(&self) -> Result<Vec<(Map<'c>, Map<'c>)>, AnalysisError> {
        let mut events = Vec::new();
        for array in self.kernel.array_ids() {
            let none = self.no_events(array)?;
            events.push((none.clone(), none));
        }
        for reference in &self.references {
            let touched = reference.access.reverse()?.apply_range(&self.times[reference.stmt.index()])?;
            let (reads, writes) = &mut events[reference.array.index()];
            let all = if reference.is_write { writes } else { reads };
            *all = all.union(&touched)?;
        }
        events.iter().map(|(reads, writes)| Ok((reads.coalesce()?, writes.coalesce()?))).collect()
    }

    fn build_domains(&self) -> Result<Vec<Set<'c>>, AnalysisError> {
        let context = self.formula(self.kernel.context(), &[])?;
        let domain = |stmt: &crate::kernel::graph::Stmt| {
            let formula = self.formula(&stmt.domain, &stmt.iters)?;
            let (name, iters) = (&stmt.name, stmt.iters.join(", "));
            let later = if self.from_step { format!("{} > {FROM_STEP} >= 0", stmt.iters[0]) } else { "true".into() };
            let condition = format!("({formula}) and ({context}) and {later}");
            Ok(self.context.set(&format!("{}{{ {name}[{iters}] : {condition} }}", self.prefix))?)
        };
        self.kernel.stmts().iter().map(domain).collect()
    }

    fn build_times(&self, statement_dim: bool) -> Result<Vec<Map<'c>>, AnalysisError> {
        let mut times = Vec::new();
        for (position, stmt) in self.kernel.stmts().iter().enumerate() {
            let mut time = vec![(Epoch::During as u8).to_string()];
            for e in &self.schedule.times[position] {
                time.push(self.affine(e, &stmt.iters)?);
            }
            if statement_dim {
                time.push(position.to_string());
            }
            let (from, to) = (stmt.iters.join(", "), time.join(", "));
            let map = self.context.map(&format!("{}{{ {}[{from}] -> [{to}] }}", self.prefix, stmt.name))?;
            times.push(map.intersect_domain(&self.domains[position])?);
        }
        Ok(times)
    }

    /// Whether instances of two statements, or two of one, have equal time vectors.
    fn statements_share_times(&self) -> Result<bool, AnalysisError> {
        for (position, time) in self.times.iter().enumerate() {
            let range = time.range()?;
            for other in &self.times[..position] {
                if !range.is_disjoint(&other.range()?)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

//! Facts: what the checker derives of a kernel under a schedule, for itself.
//!
//! In: a kernel, a schedule, values of (some of) its parameters.   Out: [`Values`] of arrays: when each value is
//! written and read, and at which times a write would destroy it; which arrays are private to tasks.
//!
//! Everything is computed when a proof first asks for it and kept, under a quota of its own for each array. The
//! analyses that proposals rest on (`engine/src/analysis/`) compute lifetimes and conflicts as well; nothing of them is
//! used here. What both share is the definition of order and task (`engine/src/schedule/order.rs`).
//!
//! A value is a cell where each cell is written once, else a cell with the time of its write; a read belongs to the
//! last write before it. States are live-in at the levels that the first step reads back, at whatever step a call
//! starts: a parameter, unless all of a step runs before the next one. Then what is alive where a later call starts is
//! what is alive between two steps of any call, and step 0 stands for all.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use crease_isl::{Context, Map, Set, Tuple};

use crate::analysis::error::AnalysisError;
use crate::check::cuboid::{Bounds, bounds_of};
use crate::check::domains::{are_apart, united};
use crate::check::translate::Translator;
use crate::kernel::affine::Affine;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Array, ArrayId, DimKind, Kernel, ParamId, Role, Schedule, Stmt, StmtId};
use crate::schedule::order::{Epoch, HappensBefore, Phase, task_depth, told_apart};
use crate::storage::Sharing;

/// The parameter that holds the step a call starts from; no name of a kernel begins like this.
const START: &str = "_from";

/// First and last value of an index; none if unbounded.
pub(super) type Ends = Option<(i64, i64)>;

/// What is derived of a kernel.
pub(super) struct Facts<'c, 'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) schedule: &'k Schedule,
    pub(super) translator: Translator<'c>,
    /// The parameter that holds the step a call starts from, if it makes a difference.
    start: Option<ParamId>,
    /// Operations that the facts of an array may take.
    quota: u64,
    timing: OnceCell<Timing<'c>>,
    /// Unions of the domains of statements, without their names.
    domains: RefCell<BTreeMap<Vec<StmtId>, Set<'c>>>,
    written: Vec<OnceCell<Result<Map<'c>, AnalysisError>>>,
    values: Vec<OnceCell<Result<Values<'c>, AnalysisError>>>,
    private: Vec<OnceCell<Result<bool, AnalysisError>>>,
    alive: RefCell<BTreeMap<(ArrayId, bool), [Map<'c>; 2]>>,
    spans: RefCell<BTreeMap<ArrayId, Vec<Ends>>>,
}

/// When instances run.
struct Timing<'c> {
    order: HappensBefore<'c>,
    /// Per statement, the extended time vector over its iterators.
    times: Vec<Vec<Affine>>,
}

/// The values of an array.
pub(super) struct Values<'c> {
    /// Value -> the time of its write.
    pub(super) write: Map<'c>,
    /// Value -> the times of its reads.
    pub(super) reads: Map<'c>,
    /// Value -> cell, where a cell may hold several values; none if a value is its cell.
    pub(super) to_cell: Option<Map<'c>>,
}

impl<'c, 'k> Facts<'c, 'k> {
    pub(super) fn new(context: &'c Context, kernel: &'k Kernel, schedule: &'k Schedule) -> Facts<'c, 'k> {
        let is_open = kernel.has_state() && !steps_come_first(kernel, schedule);
        let start = is_open.then_some(ParamId::FROM_STEP);
        let arrays = kernel.arrays().len();
        Facts {
            kernel,
            schedule,
            translator: Translator::new(context, kernel, start.map(|_| START)),
            start,
            quota: context.max_operations(),
            timing: OnceCell::new(),
            domains: RefCell::default(),
            written: (0..arrays).map(|_| OnceCell::new()).collect(),
            values: (0..arrays).map(|_| OnceCell::new()).collect(),
            private: (0..arrays).map(|_| OnceCell::new()).collect(),
            alive: RefCell::default(),
            spans: RefCell::default(),
        }
    }

    /// Cells of an array that hold a value at some time.
    pub(super) fn cells(&self, array: ArrayId) -> Result<Set<'c>, AnalysisError> {
        Ok(self.written(array)?.domain()?)
    }

    /// First and last value of each index over these cells, for all values of the parameters; none where unbounded.
    pub(super) fn spans(&self, array: ArrayId) -> Result<Vec<Ends>, AnalysisError> {
        if let Some(known) = self.spans.borrow().get(&array) {
            return Ok(known.clone());
        }
        let cells = self.cells(array)?.project_out_params()?;
        let n = self.kernel.array(array).index.len();
        let ends = |k: usize| Ok(cells.dim_min(k)?.zip(cells.dim_max(k)?));
        let spans = match cells.is_empty()? {
            true => vec![Some((0, 0)); n],
            false => (0..n).map(ends).collect::<Result<Vec<_>, AnalysisError>>()?,
        };
        self.spans.borrow_mut().insert(array, spans.clone());
        Ok(spans)
    }

    /// Every write of an array, that of live-in values before everything: cell -> time.
    fn written(&self, array: ArrayId) -> Result<&Map<'c>, AnalysisError> {
        let compute = || {
            let writes = self.events(array, Side::Write)?;
            let before = self.at(Epoch::Before, array, &self.live(array, Epoch::Before)?)?;
            Ok(writes.union(&before)?.coalesce()?)
        };
        self.known(&self.written[array.index()], compute)
    }

    /// The values of an array.
    pub(super) fn values(&self, array: ArrayId) -> Result<&Values<'c>, AnalysisError> {
        let written = self.written(array)?;
        self.known(&self.values[array.index()], || {
            let survivors = self.live(array, Epoch::After)?.intersect(&written.domain()?)?;
            let reads =
                self.events(array, Side::Read)?.union(&self.at(Epoch::After, array, &survivors)?)?.coalesce()?;
            if self.is_written_once(array)? || written.is_single_valued()? {
                return Ok(Values { write: written.clone(), reads, to_cell: None });
            }
            self.dataflow(written, &reads)
        })
    }

    /// Whether who writes an array shows that no cell is written twice: each statement writes the cells at its own
    /// iterators, no two have an instance in common, and none is at a live-in cell.
    fn is_written_once(&self, array: ArrayId) -> Result<bool, AnalysisError> {
        let mut writers: Vec<(Set<'c>, Option<Vec<Bounds>>)> = Vec::new();
        let before = self.live(array, Epoch::Before)?;
        for id in self.kernel.stmt_ids() {
            let (stmt, n) = (self.kernel.stmt(id), self.kernel.stmt(id).iters.len());
            let mut writes = stmt.assigns.iter().filter(|assign| assign.array == array);
            let Some(write) = writes.next() else { continue };
            let is_own = write.index.len() == n && write.index.iter().enumerate().all(|(k, e)| *e == Affine::iter(k));
            if !is_own || writes.next().is_some() {
                return Ok(false);
            }
            let cells = self.instances(vec![id])?.set_tuple_name(&self.kernel.array(array).name)?;
            // Further conditions leave fewer points.
            let bounds = bounds_of(&stmt.domain, n, &mut |_| true);
            if !cells.is_disjoint(&before)? {
                return Ok(false);
            }
            for (others, their_bounds) in &writers {
                let is_apart = matches!((&bounds, their_bounds), (Some(one), Some(other)) if are_apart(one, other));
                if !is_apart && !cells.is_disjoint(others)? {
                    return Ok(false);
                }
            }
            writers.push((cells, bounds));
        }
        Ok(true)
    }

    /// Whether two arrays have the same cells, written and read at the same times, as the same instances touch the same
    /// cells of both, or as integer sets show. These are not looked at where a cell has several values.
    pub(super) fn have_values_alike(&self, one: ArrayId, other: ArrayId) -> Result<bool, AnalysisError> {
        if self.are_touched_alike(one, other) {
            return Ok(true);
        }
        if self.kernel.array(one).index.len() != self.kernel.array(other).index.len() {
            return Ok(false);
        }
        let (values, others) = (self.values(one)?, self.values(other)?);
        if values.to_cell.is_some() || others.to_cell.is_some() {
            return Ok(false);
        }
        let unnamed = |map: &Map<'c>| map.set_domain_name("cell");
        let is_same = |map: &Map<'c>, other: &Map<'c>| unnamed(map)?.is_equal(&unnamed(other)?);
        Ok(is_same(&values.write, &others.write)? && is_same(&values.reads, &others.reads)?)
    }

    /// Whether two arrays have one index space, hold values before and after a run in the same cells of it, and every
    /// statement writes the same cells of both, and reads the same.
    fn are_touched_alike(&self, one: ArrayId, other: ArrayId) -> bool {
        let space = |id: ArrayId| {
            let Array { role, domain, live_in, live_out, index, .. } = self.kernel.array(id);
            (role, domain, live_in, live_out, index.len(), self.kernel.state_depth(id))
        };
        let touched = |stmt: &'k Stmt, id: ArrayId| {
            let writes: BTreeSet<&[Affine]> =
                stmt.assigns.iter().filter(|assign| assign.array == id).map(|assign| assign.index.as_slice()).collect();
            let reads: BTreeSet<&[Affine]> = stmt.reads().filter(|(of, _)| *of == id).map(|(_, index)| index).collect();
            (writes, reads)
        };
        space(one) == space(other) && self.kernel.stmts().iter().all(|stmt| touched(stmt, one) == touched(stmt, other))
    }

    /// Values `[cell -> time]` where cells are written several times: each read sees the last write before it.
    fn dataflow(&self, written: &Map<'c>, reads: &Map<'c>) -> Result<Values<'c>, AnalysisError> {
        let order = &self.timing()?.order;
        let (cell, time) = (written.domain_map()?, written.range_map()?);
        let rewrites = cell.apply_range(written)?;
        // Reads of the cell after the value was written, but not after it was written over.
        let after =
            cell.apply_range(reads)?.intersect(&time.apply_range(&order.before(Phase::Write, Phase::Read)?)?)?;
        let over = rewrites.intersect(&time.apply_range(&order.before(Phase::Write, Phase::Write)?)?)?;
        let too_late = over.apply_range(&order.before(Phase::Write, Phase::Read)?)?;
        let reads = after.subtract(&too_late)?.coalesce()?;
        Ok(Values { write: time, reads, to_cell: Some(cell) })
    }

    /// Value -> times of writes that would destroy it: some event of the value is not certain to come before them. In a
    /// private buffer only writes of the value's own task count. Two parts, because of its reads and because of its own
    /// write: together they would have pieces that isl compares in vain.
    pub(super) fn alive(&self, array: ArrayId, sharing: Sharing) -> Result<[Map<'c>; 2], AnalysisError> {
        let key = (array, sharing == Sharing::Private);
        if let Some(known) = self.alive.borrow().get(&key) {
            return Ok(known.clone());
        }
        let (values, [after_read, after_write]) = (self.values(array)?, self.too_early(sharing)?);
        let alive =
            [values.reads.apply_range(&after_read)?.coalesce()?, values.write.apply_range(&after_write)?.coalesce()?];
        self.alive.borrow_mut().insert(key, alive.clone());
        Ok(alive)
    }

    /// Whether [`Self::alive`] was asked for before.
    pub(super) fn is_alive_known(&self, array: ArrayId, sharing: Sharing) -> bool {
        self.alive.borrow().contains_key(&(array, sharing == Sharing::Private))
    }

    /// From the time of a read, and of a write, to the times of writes that are not certain to come after it. In a
    /// private buffer only those of the same task count.
    pub(super) fn too_early(&self, sharing: Sharing) -> Result<[Map<'c>; 2], AnalysisError> {
        let order = &self.timing()?.order;
        let after_read = order.not_before(Phase::Read, Phase::Write)?;
        let after_write = order.not_before(Phase::Write, Phase::Write)?;
        match self.same_task()?.filter(|_| sharing == Sharing::Private) {
            Some(same_task) => Ok([after_read.intersect(&same_task)?, after_write.intersect(&same_task)?]),
            None => Ok([after_read, after_write]),
        }
    }

    /// Whether the array is used, each cell of it inside one task, and is neither live-in nor live-out: then each
    /// worker may have storage of its own for it.
    pub(super) fn is_private(&self, array: ArrayId) -> Result<bool, AnalysisError> {
        self.known(&self.private[array.index()], || {
            let Some(depth) = task_depth(self.schedule) else { return Ok(false) };
            let is_temp = self.kernel.array(array).role == Role::Temp;
            let lives = |epoch| Ok::<_, AnalysisError>(!self.live(array, epoch)?.is_empty()?);
            if !is_temp || lives(Epoch::Before)? || lives(Epoch::After)? {
                return Ok(false);
            }
            let events = self.events(array, Side::Write)?.union(&self.events(array, Side::Read)?)?;
            if events.is_empty()? {
                return Ok(false);
            }
            // The epoch comes before the components that name a task.
            let (named, all) = (depth + 1, self.timing()?.order.n_dims());
            Ok(events.project_out_out(named, all - named)?.coalesce()?.is_single_valued()?)
        })
        .copied()
    }

    /// Pairs of times of one task; none if the schedule has no tasks.
    fn same_task(&self) -> Result<Option<Map<'c>>, AnalysisError> {
        let Some(depth) = task_depth(self.schedule) else { return Ok(None) };
        self.timing()?.order.equal_up_to(depth + 1).map(Some)
    }

    /// Computes something once, under the quota of an array. A failure is kept as well: it took the whole quota.
    fn known<'s, T>(
        &self,
        slot: &'s OnceCell<Result<T, AnalysisError>>,
        compute: impl FnOnce() -> Result<T, AnalysisError>,
    ) -> Result<&'s T, AnalysisError> {
        if slot.get().is_none() {
            let _ = slot.set(self.translator.context.under_quota(self.quota, compute));
        }
        slot.get().expect("it was just set").as_ref().map_err(Clone::clone)
    }

    /// All events of one side during the run, not coalesced: cell -> time. Statements that touch cells in the same way
    /// at the same times differ in their domains alone, which are united first.
    fn events(&self, array: ArrayId, side: Side) -> Result<Map<'c>, AnalysisError> {
        let timing = self.timing()?;
        // Instances of one group touch the same cells at the same times, as functions of equally many iterators.
        type Touch<'t> = (&'t [Affine], &'t [Affine], usize);
        let mut groups: Vec<(Touch<'_>, Vec<StmtId>)> = Vec::new();
        for id in self.kernel.stmt_ids() {
            let (stmt, time) = (self.kernel.stmt(id), timing.times[id.index()].as_slice());
            let reads = stmt.reads().filter(|_| side == Side::Read);
            let writes = stmt.assigns.iter().filter(|_| side == Side::Write).map(|a| (a.array, a.index.as_slice()));
            for (_, index) in reads.chain(writes).filter(|(touched, _)| *touched == array) {
                let n = stmt.iters.len();
                let touch = (index, time, n);
                match groups.iter_mut().find(|(known, _)| *known == touch) {
                    Some((_, stmts)) if stmts.last() == Some(&id) => {}
                    Some((_, stmts)) => stmts.push(id),
                    None => groups.push((touch, vec![id])),
                }
            }
        }
        let body = self.kernel.array(array);
        let mut events = self.at(Epoch::During, array, &self.empty(array)?)?;
        for ((index, time, n), stmts) in groups {
            let iters = iterators(n);
            let from = Tuple { name: None, dims: &iters };
            let cells = self.translator.function(from, Some(&body.name), index)?;
            let cells = cells.intersect_domain(&self.instances(stmts)?)?;
            events = events.union(&cells.reverse()?.apply_range(&self.translator.function(from, None, time)?)?)?;
        }
        Ok(events)
    }

    /// The instances of statements with equally many iterators, without names.
    fn instances(&self, stmts: Vec<StmtId>) -> Result<Set<'c>, AnalysisError> {
        if let Some(known) = self.domains.borrow().get(&stmts) {
            return Ok(known.clone());
        }
        let mut domains = Vec::new();
        let n = stmts.first().map_or(0, |&id| self.kernel.stmt(id).iters.len());
        for &id in &stmts {
            let mut formula = self.kernel.stmt(id).domain.clone().and(self.kernel.context().clone());
            if let Some(start) = self.start {
                formula = formula.and(Formula::le(&Affine::constant(0), &Affine::param(start))?);
                if n > 0 {
                    formula = formula.and(Formula::lt(&Affine::param(start), &Affine::iter(0))?);
                }
            }
            domains.push(formula);
        }
        let (mut all, iters): (Option<Set<'c>>, _) = (None, iterators(n));
        for domain in united(domains, n)? {
            let domain = self.translator.set(Tuple { name: None, dims: &iters }, &domain)?;
            all = Some(all.map_or(Ok(domain.clone()), |all| all.union(&domain))?);
        }
        let all = simplified(&all.expect("a group has a statement"))?;
        self.domains.borrow_mut().insert(stmts, all.clone());
        Ok(all)
    }

    /// Cells of an array that hold a value before the run, or whose value is needed after it: those that its role
    /// implies and those declared.
    fn live(&self, array: ArrayId, epoch: Epoch) -> Result<Set<'c>, AnalysisError> {
        let body = self.kernel.array(array);
        let declared = if epoch == Epoch::Before { &body.live_in } else { &body.live_out };
        let whole = if epoch == Epoch::Before { Role::Input } else { Role::Output };
        let mut live = Vec::from_iter(declared.clone());
        if body.role == whole {
            live.push(Formula::everything());
        }
        if let (Role::State, Some(last)) = (body.role, self.kernel.step_param()) {
            let start = self.start.map_or(Affine::constant(0), Affine::param);
            let step = if epoch == Epoch::Before { start.clone() } else { Affine::param(last) };
            let newest = step.add(&Affine::constant(self.kernel.state_write_offset()))?;
            let oldest = newest.add(&Affine::constant(1 - i64::from(self.kernel.state_depth(array))))?;
            let levels = Formula::le(&oldest, &Affine::iter(0))?.and(Formula::le(&Affine::iter(0), &newest)?);
            live.push(levels);
        }
        let mut cells = self.empty(array)?;
        for part in live {
            cells = cells.union(&self.part(array, &part)?)?;
        }
        simplified(&cells)
    }

    /// The cells of an array's index space that satisfy a formula.
    fn part(&self, array: ArrayId, formula: &Formula) -> Result<Set<'c>, AnalysisError> {
        let body = self.kernel.array(array);
        let mut all = body.domain.clone().and(formula.clone());
        if let (Role::State, Some(last)) = (body.role, self.kernel.step_param()) {
            let start = self.start.map_or(Affine::constant(0), Affine::param);
            all = all.and(Formula::le(&Affine::constant(0), &start)?).and(Formula::le(&start, &Affine::param(last))?);
        }
        self.all_where(array, &all)
    }

    /// The cells of an array, in its index space or not, that satisfy a formula.
    pub(super) fn all_where(&self, array: ArrayId, formula: &Formula) -> Result<Set<'c>, AnalysisError> {
        let body = self.kernel.array(array);
        self.translator.set(Tuple { name: Some(&body.name), dims: &body.index }, formula)
    }

    fn empty(&self, array: ArrayId) -> Result<Set<'c>, AnalysisError> {
        self.all_where(array, &Formula::nothing())
    }

    /// All of some cells at one program point: cell -> time.
    fn at(&self, epoch: Epoch, array: ArrayId, cells: &Set<'c>) -> Result<Map<'c>, AnalysisError> {
        let mut time = vec![Affine::constant(epoch as i64)];
        time.resize(self.timing()?.order.n_dims(), Affine::constant(0));
        let body = self.kernel.array(array);
        let all = self.translator.function(Tuple { name: Some(&body.name), dims: &body.index }, None, &time)?;
        Ok(all.intersect_domain(cells)?)
    }

    /// Times of instances. If two statements share time vectors, a last component tells them apart.
    fn timing(&self) -> Result<&Timing<'c>, AnalysisError> {
        if self.timing.get().is_none() {
            let context = self.translator.context;
            let is_shared = self.statements_share_times()?;
            let order = HappensBefore::new(context, &self.schedule.dims, is_shared);
            let numbers = if is_shared { self.numbers() } else { Vec::new() };
            let mut times = Vec::new();
            for (k, own) in self.schedule.times.iter().enumerate() {
                let mut time = vec![Affine::constant(Epoch::During as i64)];
                time.extend_from_slice(own);
                time.extend(numbers.get(k).map(|number| Affine::constant(*number)));
                times.push(time);
            }
            let _ = self.timing.set(Timing { order, times });
        }
        Ok(self.timing.get().expect("it was just set"))
    }

    /// Numbers of statements that share time vectors: two have the same one where both tell all iterators alike, and their
    /// domains are apart.
    fn numbers(&self) -> Vec<i64> {
        let times = &self.schedule.times;
        let told = |(stmt, time): (&Stmt, &Vec<Affine>)| {
            let n = stmt.iters.len();
            let tells_all = (0..n).all(|k| time.iter().any(|e| e.only_iter() == Some(k)));
            bounds_of(&stmt.domain, n, &mut |_| true).filter(|_| tells_all)
        };
        let bounds: Vec<Option<Vec<Bounds>>> = self.kernel.stmts().iter().zip(times).map(told).collect();
        told_apart(bounds.len(), |a, b| match (&bounds[a], &bounds[b]) {
            (Some(one), Some(other)) => one.len() == other.len() && times[a] == times[b] && are_apart(one, other),
            _ => false,
        })
    }

    fn statements_share_times(&self) -> Result<bool, AnalysisError> {
        let mut known: Vec<Set<'c>> = Vec::new();
        for id in self.kernel.stmt_ids() {
            let iters = iterators(self.kernel.stmt(id).iters.len());
            let from = Tuple { name: None, dims: &iters };
            let time = self.translator.function(from, None, &self.schedule.times[id.index()])?;
            let time = time.intersect_domain(&self.instances(vec![id])?)?.range()?;
            for other in &known {
                if !time.is_disjoint(other)? {
                    return Ok(true);
                }
            }
            known.push(time);
        }
        Ok(false)
    }
}

/// Whether all of a step runs before the next one, in the same way wherever a call starts.
pub(crate) fn steps_come_first(kernel: &Kernel, schedule: &Schedule) -> bool {
    kernel.step_param().is_some()
        && !schedule.names_from_step()
        && schedule.dims.first() == Some(&DimKind::Sequential)
        && schedule.times.iter().all(|time| time.first() == Some(&Affine::iter(0)))
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Read,
    Write,
}

/// Names of iterators that are no kernel's.
fn iterators(n: usize) -> Vec<String> {
    (0..n).map(|k| format!("_i{k}")).collect()
}

/// The same set in fewer pieces: a single one where the union is convex.
fn simplified<'c>(set: &Set<'c>) -> Result<Set<'c>, AnalysisError> {
    let set = set.coalesce()?;
    if set.n_basic_sets()? <= 1 {
        return Ok(set);
    }
    let hull = set.simple_hull()?;
    Ok(if hull.is_subset(&set)? { hull } else { set })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Statements over `[i, j]` that write `A` in turn.
    fn facts_of(stmts: &str, check: impl FnOnce(&Facts<'_, '_>, ArrayId)) {
        let text = format!(
            "kernel k(size N) for N >= 3 {{
               temp A[i, j]: f64 for 0 <= i, j < N live in for i = 0 and 1 <= j < N
               output out[i, j]: f64 for 0 <= i, j < N
               {stmts}
               O[i, j] for 0 <= i, j < N {{ out[i, j] = A[i, j] }}
               schedule rows {{ S -> [0, i, j]; R -> [1, i, j]; O -> [2, i, j] }}
             }}"
        );
        let kernel = Kernel::parse(&text).unwrap();
        let context = Context::new(1 << 24).unwrap();
        let array = kernel.array_ids().find(|&id| kernel.array(id).name == "A").unwrap();
        check(&Facts::new(&context, &kernel, &kernel.schedules()[0]), array);
    }

    #[test]
    fn cells_that_are_written_once_are_told_by_who_writes_them() {
        let rest = "R[i, j] for i = 0 and j = 0 { A[i, j] = 2 }";
        let cases = [
            ("S[i, j] for 1 <= i < N and 0 <= j < N { A[i, j] = 1 }", rest, true),
            // An edge that is no box.
            ("S[i, j] for 1 <= i < N and 0 <= j < N and (i = 1 or j = 1) { A[i, j] = 1 }", rest, true),
            (
                "S[i, j] for 1 <= i < N and 0 <= j < N { A[i, j] = 1 }",
                "R[i, j] for i = 1 and j = 1 { A[i, j] = 2 }",
                false,
            ),
            // Of these cells, some are live-in.
            (
                "S[i, j] for 0 <= i < N and 1 <= j < N { A[i, j] = 1 }",
                "R[i, j] for 0 <= i < N and j = 0 { A[i, j] = 2 }",
                false,
            ),
        ];
        for (first, second, is_once) in cases {
            facts_of(&format!("{first} {second}"), |facts, array| {
                assert_eq!(facts.is_written_once(array).unwrap(), is_once, "{first} {second}");
                assert_eq!(facts.written(array).unwrap().is_single_valued().unwrap(), is_once, "{first} {second}");
            });
        }
    }

    /// Whether two relations are the same, whatever their cells are called.
    fn is_same<'c>(one: &Map<'c>, other: &Map<'c>) -> bool {
        let [one, other] = [one, other].map(|map| map.set_domain_name("cell").unwrap());
        one.is_equal(&other).unwrap()
    }

    #[test]
    fn arrays_that_the_same_instances_touch_have_values_alike() {
        let kernel = Kernel::parse(
            "kernel flux(size N; run T) for N >= 4 {
               state u[t, x]: f64 for 0 <= x < N
               temp f[t, x]: f64 for 1 <= t <= T and 0 <= x < N
               temp g[t, x]: f64 for 1 <= t <= T and 0 <= x < N
               temp h[t, x]: f64 for 1 <= t <= T and 0 <= x < N
               F[t, x] for 1 <= t <= T and 0 <= x < N { f[t,x] = u[t-1,x] g[t,x] = 2 * u[t-1,x] h[t,x] = 3 * u[t-1,x] }
               U[t, x] for 1 <= t <= T and 1 <= x < N { u[t,x] = f[t,x] - f[t,x-1] + g[t,x-1] * g[t,x] + h[t,x] }
               E[t, x] for 1 <= t <= T and x = 0 { u[t,x] = u[t-1,x] }
               schedule rows { F -> [t, 0, x]; U, E -> [t, 1, x] }
             }",
        )
        .unwrap();
        let context = Context::new(1 << 24).unwrap();
        let facts = Facts::new(&context, &kernel, &kernel.schedules()[0]);
        let id = |name: &str| kernel.array_ids().find(|&id| kernel.array(id).name == name).unwrap();
        for (one, other, are_alike) in [("f", "g", true), ("f", "h", false), ("f", "u", false)] {
            let (one, other) = (id(one), id(other));
            assert_eq!(facts.are_touched_alike(one, other), are_alike);
            assert_eq!(facts.have_values_alike(one, other).unwrap(), are_alike);
            // As integer sets show.
            let [one, other] = [one, other].map(|array| facts.values(array).unwrap());
            assert_eq!(is_same(&one.write, &other.write) && is_same(&one.reads, &other.reads), are_alike);
        }
    }

    #[test]
    fn cells_in_other_places_than_the_iterators_are_for_integer_sets_to_tell() {
        let stmts =
            "S[i, j] for 1 <= i < N and 0 <= j < N { A[i, N - 1 - j] = 1 } R[i, j] for i = 0 and j = 0 { A[i, j] = 2 }";
        facts_of(stmts, |facts, array| {
            assert!(!facts.is_written_once(array).unwrap());
            assert!(facts.written(array).unwrap().is_single_valued().unwrap());
            assert!(facts.values(array).unwrap().to_cell.is_none());
        });
    }
}

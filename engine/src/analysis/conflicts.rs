//! Conflict sets: which cells may not share storage, within one array and across arrays.
//!
//! In: [`Lifetimes`] of two arrays.   Out: `{ A[x] -> B[y] }`, the pairs of cells alive at the same time.
//! Source: Bhaskaracharya, Bondhugula and Cohen (2016), section 3; Darte, Schreiber and Villard (2005).
//!
//! Two values conflict unless all events of one come before the write of the other. Say `A[t, i]` is computed from
//! `A[t-1, i-1..=i+1]`, by `t` and then by `i`: when `A[t, i]` is written, row `t-1` is still needed from `i`
//! rightwards, so `N + 1` cells hold everything alive.
//!
//! Values of private arrays conflict only inside a task, as their storage is the worker's own. A private array and a
//! shared one have no storage in common: whatever is asked about such a pair, the answer is that everything conflicts.
//!
//! In tiles, differences of conflicting cells come from time vectors alone where these tell (`uniform`): then they may
//! be more than those of the pairs.
//!
//! Invariant: the relation of an array with itself is symmetric and holds no pair `(c, c)`; the checker relies on both.
//! Cost: the product of the piece counts of the two lifetimes and of the order; time vectors of all statements are
//! coalesced first, so that a kernel split into many statements costs little more than the unsplit one.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crease_isl::{Map, Set};

use crate::analysis::error::AnalysisError;
use crate::analysis::lifetimes::{Lifetimes, NotBefore, lifetimes};
use crate::analysis::model::Model;
use crate::analysis::privatization::Privatization;
use crate::analysis::uniform;
use crate::kernel::affine::Affine;
use crate::kernel::graph::{ArrayId, Role};
use crate::schedule::order::Phase;

/// Lifetimes of all folded arrays of a kernel and the conflicts between them, computed when asked for. An array whose
/// analysis used up the quota has none; others are not affected. States that are replaced step by step have their
/// lifetimes computed late as well: what is asked of them can mostly be answered without.
pub(crate) struct Conflicts<'c, 'k> {
    model: Rc<Model<'c, 'k>>,
    /// When it was first asked for.
    not_before: OnceCell<NotBefore<'c>>,
    /// The same among events of one task, for private arrays.
    in_task: OnceCell<NotBefore<'c>>,
    /// Operations that the lifetimes of an array may take.
    quota: u64,
    /// One entry per array; empty for the caller's arrays.
    arrays: Vec<OnceCell<Known<'c>>>,
    privatization: Privatization<'c>,
    /// Failures are kept as well, for as long as the quota is no larger.
    pairs: RefCell<BTreeMap<(ArrayId, ArrayId), Result<Map<'c>, AnalysisError>>>,
    differences: RefCell<BTreeMap<ArrayId, Set<'c>>>,
    /// [`Self::uniform`] of each array, once it was asked for.
    uniform: Vec<RefCell<Option<Uniform<'c>>>>,
    /// [`Self::later_half`] of each array, once it was asked for.
    halves: Vec<RefCell<Option<Half<'c>>>>,
}

/// Conflicts of an array with itself, one of each two opposite ones; none if they are not found so.
type Half<'c> = Result<Option<Map<'c>>, AnalysisError>;

/// Differences that time vectors alone tell; none where they do not.
type Uniform<'c> = Result<Option<Set<'c>>, AnalysisError>;

/// What is known of a folded array.
enum Known<'c> {
    Lifetimes(Lifetimes<'c>),
    /// The quota did not suffice for more than the cells that hold a value at some time.
    Cells(Set<'c>, AnalysisError),
}

impl<'c, 'k> Conflicts<'c, 'k> {
    /// Computes the lifetimes of every array that is ours to fold.
    pub(crate) fn new(
        model: &Rc<Model<'c, 'k>>,
        privatization: Privatization<'c>,
    ) -> Result<Conflicts<'c, 'k>, AnalysisError> {
        let model = Rc::clone(model);
        let arrays = model.kernel.array_ids().map(|_| OnceCell::new()).collect();
        let quota = model.context.max_operations();
        let halves = model.kernel.array_ids().map(|_| RefCell::default()).collect();
        let uniform = model.kernel.array_ids().map(|_| RefCell::default()).collect();
        let (not_before, in_task, pairs, differences) = Default::default();
        let conflicts = Conflicts {
            model: Rc::clone(&model),
            not_before,
            in_task,
            quota,
            arrays,
            privatization,
            pairs,
            differences,
            uniform,
            halves,
        };
        let replaced = |id: ArrayId| {
            model.step_dependences.as_ref().is_some_and(|step_dependences| step_dependences.readers(id).is_some())
        };
        for id in model.kernel.array_ids().filter(|&id| !replaced(id)) {
            let is_folded = matches!(model.kernel.array(id).role, Role::Temp | Role::State);
            if is_folded && !conflicts.may_be_uniform(id)? {
                conflicts.known(id)?;
            }
        }
        Ok(conflicts)
    }

    /// Whether each worker has storage of its own for the array.
    pub(crate) fn is_private(&self, array: ArrayId) -> bool {
        self.privatization.is_private(array)
    }

    /// Lifetimes of a folded array.
    pub(crate) fn lifetimes(&self, array: ArrayId) -> Result<&Lifetimes<'c>, AnalysisError> {
        match self.known(array)? {
            Known::Lifetimes(lifetimes) => Ok(lifetimes),
            Known::Cells(_, error) => Err(error.clone()),
        }
    }

    /// Cells of a folded array that hold a value at some time.
    pub(crate) fn cells(&self, array: ArrayId) -> Result<Set<'c>, AnalysisError> {
        if self.arrays[array.index()].get().is_none() {
            return Ok(self.model.writes(array)?.domain()?.union(self.model.live_in(array))?.coalesce()?);
        }
        match self.known(array)? {
            Known::Lifetimes(lifetimes) => lifetimes.cells(),
            Known::Cells(cells, _) => Ok(cells.clone()),
        }
    }

    /// What is known of a folded array, under a quota of its own.
    fn known(&self, array: ArrayId) -> Result<&Known<'c>, AnalysisError> {
        let slot = &self.arrays[array.index()];
        if let Some(known) = slot.get() {
            return Ok(known);
        }
        let find = || {
            let order = self.order_of(array)?;
            self.model.context.under_quota(self.quota, || known(&self.model, order, array))
        };
        let known = self.model.clock.time("lifetimes", find)?;
        Ok(slot.get_or_init(|| known))
    }

    /// The order of an array's events: among those of one task, if it is private.
    fn order_of(&self, array: ArrayId) -> Result<&NotBefore<'c>, AnalysisError> {
        if self.not_before.get().is_none() {
            let all = NotBefore::new(&self.model)?;
            self.not_before.get_or_init(|| all);
        }
        let all = self.not_before.get().expect("it was just made");
        let Some(same_task) = self.privatization.same_task.as_ref().filter(|_| self.is_private(array)) else {
            return Ok(all);
        };
        if self.in_task.get().is_none() {
            let within = all.within(same_task)?;
            self.in_task.get_or_init(|| within);
        }
        Ok(self.in_task.get().expect("it was just made"))
    }

    /// `{ A[x] -> B[y] }`: cells that hold values alive at the same time.
    pub(crate) fn between(&self, a: ArrayId, b: ArrayId) -> Result<Map<'c>, AnalysisError> {
        if let Some(known) = self.pairs.borrow().get(&(a, b)).filter(|known| self.is_final(known)) {
            return known.clone();
        }
        let pairs = self.model.clock.time("conflicts", || self.compute(a, b));
        self.pairs.borrow_mut().insert((a, b), pairs.clone());
        pairs
    }

    /// `{ y - x }` over conflicting cells `x`, `y` of one array, for any number of steps; symmetric, without zero. For
    /// proposals: in tiles there may be more of them than there are conflicts, never less.
    pub(crate) fn differences(&self, array: ArrayId) -> Result<Set<'c>, AnalysisError> {
        if let Some(known) = self.differences.borrow().get(&array) {
            return Ok(known.clone());
        }
        let differences = self.model.clock.time("conflicts", || self.find_differences(array))?;
        self.differences.borrow_mut().insert(array, differences.clone());
        Ok(differences)
    }

    fn find_differences(&self, array: ArrayId) -> Result<Set<'c>, AnalysisError> {
        if let Some(uniform) = self.uniform(array)? {
            return Ok(uniform);
        }
        let Some(half) = self.later_half(array)? else {
            return Ok(self.between(array, array)?.deltas()?.coalesce()?.project_out_params()?);
        };
        let half = half.deltas()?.project_out_params()?.coalesce()?;
        Ok(half.union(&half.neg()?)?)
    }

    /// [`Self::differences`] from time vectors alone, where these tell: perhaps more than there are, at corners.
    fn uniform(&self, array: ArrayId) -> Uniform<'c> {
        self.remembered(&self.uniform[array.index()], || self.find_uniform(array))
    }

    fn find_uniform(&self, array: ArrayId) -> Uniform<'c> {
        if !self.may_be_uniform(array)? {
            return Ok(None);
        }
        uniform::differences(&self.model, array, &self.cells(array)?.project_out_params()?)
    }

    /// Whether time vectors alone may tell an array's differences: lifetimes then wait until they are asked for. Loops
    /// without tiles have few pieces anyway.
    pub(crate) fn may_be_uniform(&self, array: ArrayId) -> Result<bool, AnalysisError> {
        let is_tiled = self.model.schedule.times.iter().flatten().any(Affine::has_floor);
        Ok(!self.is_private(array) && is_tiled && uniform::may_tell(&self.model, array)?)
    }

    /// Those of [`Self::differences`] that are zero in `dims`, at least one of each two that are opposite. Costs little
    /// where few dimensions are left: tiles in parallel make thousands of pieces of all conflicts, but few of those in
    /// one place.
    pub(crate) fn differences_within(&self, array: ArrayId, dims: &[usize]) -> Result<Set<'c>, AnalysisError> {
        let is_known = self.differences.borrow().contains_key(&array);
        if is_known || self.uniform(array)?.is_some() || self.later_half(array)?.is_some() {
            let all = self.differences(array)?;
            return Ok(dims.iter().try_fold(all, |all, &dim| all.fix_dim(dim, 0))?);
        }
        let mut candidates = Map::lex_lt(&self.cells(array)?)?;
        for &dim in dims {
            candidates = candidates.equate(dim, dim)?;
        }
        Ok(self.among(array, array, &candidates)?.deltas()?.project_out_params()?)
    }

    /// Whether two conflicting cells agree in all indices but `dim`, where one is `low` and the other `high`, by
    /// [`Self::differences`] where these are from time vectors.
    pub(crate) fn spans(&self, array: ArrayId, dim: usize, (low, high): (i64, i64)) -> Result<bool, AnalysisError> {
        if let Some(uniform) = self.uniform(array)? {
            let apart = high.saturating_sub(low);
            let at = |k: usize| if k == dim { apart } else { 0 };
            let there = (0..uniform.n_dims()?).try_fold(uniform, |rest, k| rest.fix_dim(k, at(k)))?;
            return Ok(!there.is_empty()?);
        }
        let cells = self.cells(array)?;
        let mut candidates = cells.fix_dim(dim, low)?.pairs_with(&cells.fix_dim(dim, high)?)?;
        for other in (0..cells.n_dims()?).filter(|other| *other != dim) {
            candidates = candidates.equate(other, other)?;
        }
        Ok(!self.among(array, array, &candidates)?.is_empty()?)
    }

    /// Pairs of `candidates` (`{ A[x] -> B[y] }`, without equal cells of one array) that are alive at the same time.
    /// Costs less than [`Self::between`] where the candidates are few, as cells are that a mapping sends to one place.
    pub(crate) fn among(&self, a: ArrayId, b: ArrayId, candidates: &Map<'c>) -> Result<Map<'c>, AnalysisError> {
        if self.is_private(a) != self.is_private(b) {
            return Ok(candidates.clone());
        }
        if let Some(half) = self.later_half_of(a, b)? {
            return Ok(half.intersect(candidates)?.union(&half.reverse()?.intersect(candidates)?)?);
        }
        let (la, lb) = (self.lifetimes(a)?, self.lifetimes(b)?);
        if la.to_cell.is_some() || lb.to_cell.is_some() {
            return Ok(self.between(a, b)?.intersect(candidates)?);
        }
        let forwards = written_while_alive(la, lb, candidates)?;
        if forwards.is_empty()? {
            return Ok(forwards);
        }
        Ok(written_while_alive(lb, la, &forwards.reverse()?)?.reverse()?)
    }

    /// `{ A[x] -> A[y] }`: conflicting cells, the second written after the first, or at the same time and behind it in
    /// the array. None unless each cell has one value and times are ordered: all events of `y` then come after the
    /// write of `x`, and only those of `x` need a look.
    fn later_half(&self, array: ArrayId) -> Half<'c> {
        self.remembered(&self.halves[array.index()], || self.find_later_half(array))
    }

    /// What was found before, or is found now.
    fn remembered<T: Clone>(
        &self,
        slot: &RefCell<Option<Result<T, AnalysisError>>>,
        find: impl FnOnce() -> Result<T, AnalysisError>,
    ) -> Result<T, AnalysisError> {
        if let Some(known) = slot.borrow().as_ref().filter(|known| self.is_final(known)) {
            return known.clone();
        }
        let found = self.model.clock.time("conflicts", find);
        *slot.borrow_mut() = Some(found.clone());
        found
    }

    /// Whether asking again would give the same: a quota that did not suffice may be larger now.
    fn is_final<T>(&self, known: &Result<T, AnalysisError>) -> bool {
        let spent = known.as_ref().err().and_then(AnalysisError::spent_quota);
        spent.is_none_or(|limit| limit >= self.model.context.max_operations())
    }

    /// The same of two arrays, if they are one.
    fn later_half_of(&self, a: ArrayId, b: ArrayId) -> Result<Option<Map<'c>>, AnalysisError> {
        if a == b { self.later_half(a) } else { Ok(None) }
    }

    fn find_later_half(&self, array: ArrayId) -> Result<Option<Map<'c>>, AnalysisError> {
        let of = self.lifetimes(array)?;
        if of.to_cell.is_some() || !self.model.order.is_total() {
            return Ok(None);
        }
        let cells = of.write.reverse()?;
        let later = self.model.order.before(Phase::Write, Phase::Write)?;
        let later = of.write.apply_range(&later)?.apply_range(&cells)?;
        let half = of.alive.apply_range(&cells)?.intersect(&later)?;
        let at_once = of.write.apply_range(&cells)?.intersect(&Map::lex_lt(&of.cells()?)?)?;
        Ok(Some(half.union(&at_once)?))
    }

    fn compute(&self, a: ArrayId, b: ArrayId) -> Result<Map<'c>, AnalysisError> {
        if let Some(half) = self.later_half_of(a, b)? {
            let half = half.coalesce()?;
            return Ok(half.union(&half.reverse()?)?);
        }
        let (la, lb) = (self.lifetimes(a)?, self.lifetimes(b)?);
        if self.is_private(a) != self.is_private(b) {
            return Ok(la.cells()?.pairs_with(&lb.cells()?)?);
        }
        let forwards = la.alive.apply_range(&lb.write.reverse()?)?.coalesce()?;
        if a == b && la.to_cell.is_none() {
            // Values are cells and the relation is symmetric: half of it is enough.
            let half = forwards.intersect(&Map::lex_lt(&la.cells()?)?)?.intersect(&forwards.reverse()?)?.coalesce()?;
            return Ok(half.union(&half.reverse()?)?);
        }
        let backwards =
            if a == b { forwards.clone() } else { lb.alive.apply_range(&la.write.reverse()?)?.coalesce()? };
        let values = forwards.intersect(&backwards.reverse()?)?;
        let left = la.to_cell.as_ref().map_or(Ok(values.clone()), |to_cell| values.apply_domain(to_cell))?;
        let cells = lb.to_cell.as_ref().map_or(Ok(left.clone()), |to_cell| left.apply_range(to_cell))?;
        let distinct = if a == b { cells.subtract(&la.cells()?.identity()?)? } else { cells };
        Ok(distinct.coalesce()?)
    }
}

/// Lifetimes of an array, or its cells alone if the quota does not suffice for more.
fn known<'c>(model: &Model<'c, '_>, not_before: &NotBefore<'c>, array: ArrayId) -> Result<Known<'c>, AnalysisError> {
    match lifetimes(model, not_before, array) {
        Ok(lifetimes) => Ok(Known::Lifetimes(lifetimes)),
        Err(error) if error.spent_quota().is_some() => {
            model.context.reset_operations();
            let cells = model.writes(array)?.domain()?.union(model.live_in(array))?;
            Ok(Known::Cells(cells, error))
        }
        Err(error) => Err(error),
    }
}

/// Pairs `x -> y` of `candidates` such that `y` may be written before `x` is dead.
fn written_while_alive<'c>(
    x: &Lifetimes<'c>,
    y: &Lifetimes<'c>,
    candidates: &Map<'c>,
) -> Result<Map<'c>, AnalysisError> {
    let writes = candidates.apply_range(&y.write)?.intersect(&x.alive)?;
    if writes.is_empty()? {
        return Ok(candidates.subtract(candidates)?);
    }
    Ok(writes.coalesce()?.apply_range(&y.write.reverse()?)?.intersect(candidates)?)
}

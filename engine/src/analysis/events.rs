//! Events: when the cells of an array are read and written, as relations.
//!
//! In: a [`Model`].   Out: [`Events`] of one array; [`Reference`]s, one by one, for messages.
//!
//! Statements that touch an array in the same way at the same times, such as the inside of a grid and its walls, differ
//! in their domains alone. Where those are boxes they are united first, so that twenty-seven statements make one
//! relation, and the integer set library need not find that out.
//!
//! Cost: for each way to touch the array, one relation composed with the times.

use std::collections::HashMap;

use crease_isl::{Map, Set, Tuple};

use crate::analysis::accesses::{Events, Reference};
use crate::analysis::error::AnalysisError;
use crate::analysis::model::{Model, OWN};
use crate::kernel::affine::Affine;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, Stmt, StmtId};
use crate::sets::boxes::{IntBox, united};
use crate::sets::relations::compact_set;

/// Ways to touch an array that are coalesced together, and not by and by.
const MOST_AT_ONCE: usize = 64;

/// Instances of several statements that touch an array alike: cells and times are the same functions of the iterators.
struct Group<'m> {
    index: &'m [Affine],
    time: Vec<Affine>,
    stmts: Vec<StmtId>,
}

impl<'c> Model<'c, '_> {
    /// Every write of an array: cell -> extended time.
    pub(crate) fn writes(&self, array: ArrayId) -> Result<&Map<'c>, AnalysisError> {
        Ok(&self.events(array)?.writes)
    }

    /// Every read of an array: cell -> extended time.
    pub(crate) fn reads(&self, array: ArrayId) -> Result<&Map<'c>, AnalysisError> {
        Ok(&self.events(array)?.reads)
    }

    /// The reads of an array by statements from this position on: cell -> extended time.
    pub(crate) fn reads_from(&self, first: usize, array: ArrayId) -> Result<Map<'c>, AnalysisError> {
        let is_among = |id: StmtId| id.index() >= first;
        let indices = |id| if is_among(id) { indices_read(self.kernel.stmt(id), array) } else { Vec::new() };
        self.clock.time("events", || side(self, array, &indices))
    }

    fn events(&self, array: ArrayId) -> Result<&Events<'c>, AnalysisError> {
        let known = &self.events[array.index()];
        if known.get().is_none() {
            let events = self.clock.time("events", || Events::of(self, array))?;
            return Ok(known.get_or_init(|| events));
        }
        Ok(known.get().expect("it was just seen"))
    }

    /// Every reference, statement by statement: its reads in expression order, then its writes.
    pub(crate) fn references(&self) -> Result<&[Reference<'c>], AnalysisError> {
        if self.references.get().is_none() {
            let all = self.clock.time("events", || references(self))?;
            return Ok(self.references.get_or_init(|| all));
        }
        Ok(self.references.get().expect("they were just seen"))
    }
}

impl<'c> Events<'c> {
    /// The events of `array`.
    pub(crate) fn of(model: &Model<'c, '_>, array: ArrayId) -> Result<Events<'c>, AnalysisError> {
        let writes = |id: StmtId| {
            let assigns = model.kernel.stmt(id).assigns.iter();
            assigns.filter(|a| a.array == array).map(|a| a.index.clone()).collect()
        };
        let reads = side(model, array, &|id| indices_read(model.kernel.stmt(id), array))?;
        Ok(Events { reads, writes: side(model, array, &writes)? })
    }
}

/// The cells of an array that an instance reads.
fn indices_read(stmt: &Stmt, array: ArrayId) -> Vec<Vec<Affine>> {
    stmt.reads().filter(|(a, _)| *a == array).map(|(_, index)| index.to_vec()).collect()
}

/// All events of one side; `indices` gives the cells that an instance of a statement touches.
fn side<'c>(
    model: &Model<'c, '_>,
    array: ArrayId,
    indices: &dyn Fn(StmtId) -> Vec<Vec<Affine>>,
) -> Result<Map<'c>, AnalysisError> {
    let all: Vec<(StmtId, Vec<Vec<Affine>>)> = model.kernel.stmt_ids().map(|id| (id, indices(id))).collect();
    let touched: Result<Vec<Map<'c>>, AnalysisError> =
        groups(model, &all)?.iter().map(|group| touched(model, array, group)).collect();
    match union_of(touched?)? {
        Some(events) => Ok(events.coalesce()?),
        None => no_events(model, array),
    }
}

/// The union of all, in their order; none of none. By halves: the library compares the two parts of every union, so
/// that one part after the other would take the square of their number. Coalescing takes that too; so where there are
/// very many, neighbours, which are mostly the ones that become one, are coalesced on the way.
fn union_of<'c>(mut parts: Vec<Map<'c>>) -> Result<Option<Map<'c>>, AnalysisError> {
    let are_many = parts.len() > MOST_AT_ONCE;
    while parts.len() > 1 {
        let mut left = parts.into_iter();
        parts = Vec::new();
        while let Some(first) = left.next() {
            parts.push(match left.next() {
                Some(second) if are_many => first.union(&second)?.coalesce()?,
                Some(second) => first.union(&second)?,
                None => first,
            });
        }
    }
    Ok(parts.pop())
}

/// Puts together what differs in domains only.
fn groups<'m>(model: &Model<'_, '_>, all: &'m [(StmtId, Vec<Vec<Affine>>)]) -> Result<Vec<Group<'m>>, AnalysisError> {
    let mut groups: Vec<Group<'m>> = Vec::new();
    let mut known: HashMap<(&'m [Affine], Vec<Affine>, usize), usize> = HashMap::new();
    for (stmt, indices) in all {
        let time = if indices.is_empty() { Vec::new() } else { model.time_vector(*stmt) };
        for index in indices {
            let n_iters = model.kernel.stmt(*stmt).iters.len();
            let alike = *known.entry((index, time.clone(), n_iters)).or_insert(groups.len());
            match groups.get_mut(alike) {
                Some(group) if group.stmts.last() == Some(stmt) => {}
                Some(group) => group.stmts.push(*stmt),
                None => groups.push(Group { index, time: time.clone(), stmts: vec![*stmt] }),
            }
        }
    }
    Ok(groups)
}

/// Names that all statements with `n` iterators share.
fn positional(n: usize) -> Vec<String> {
    (0..n).map(|k| format!("{OWN}{k}")).collect()
}

/// Cell -> time for the instances of a group.
fn touched<'c>(model: &Model<'c, '_>, array: ArrayId, group: &Group<'_>) -> Result<Map<'c>, AnalysisError> {
    let iters = positional(model.kernel.stmt(group.stmts[0]).iters.len());
    let from = Tuple { name: None, dims: &iters };
    let domain = group_domain(model, &group.stmts, &iters)?;
    let access = model.function(from, Some(&model.kernel.array(array).name), group.index)?;
    let time = model.function(from, None, &group.time)?;
    Ok(access.intersect_domain(&domain)?.reverse()?.apply_range(&time)?)
}

/// The instances of all statements of a group, without their names.
fn group_domain<'c>(model: &Model<'c, '_>, stmts: &[StmtId], iters: &[String]) -> Result<Set<'c>, AnalysisError> {
    let boxed = |stmt: &StmtId| model.boxes[stmt.index()].as_ref();
    let mut domains: Vec<Set<'c>> = Vec::new();
    let mut left = stmts.to_vec();
    while let Some(first) = left.first().copied() {
        // Boxes that the same other conditions cut.
        let of_first = boxed(&first);
        let alike =
            |stmt: &StmtId| *stmt == first || of_first.is_some_and(|f| boxed(stmt).is_some_and(|b| b.rest == f.rest));
        let (group, others): (Vec<StmtId>, Vec<StmtId>) = left.iter().partition(|stmt| alike(stmt));
        left = others;
        let (Some(of_first), true) = (of_first, group.len() > 1) else {
            domains.push(model.domains[first.index()].reset_tuple_id()?);
            continue;
        };
        let boxes = united(&group.iter().filter_map(boxed).flat_map(|b| b.boxes.iter().cloned()).collect::<Vec<_>>());
        let space = IntBox::everything(iters.len());
        let boxes = boxes.iter().map(|b| b.within(&space, 0).unwrap_or(Formula::nothing())).collect();
        let conditions = [vec![Formula::Or(boxes)], of_first.rest.clone()].concat();
        domains.push(model.instances(None, iters, &Formula::And(conditions))?);
    }
    let mut domains = domains.into_iter();
    let first = domains.next().expect("a group has a statement");
    let Some(second) = domains.next() else { return Ok(first) };
    let all = domains.try_fold(first.union(&second)?, |all, domain| all.union(&domain))?;
    compact_set(&all)
}

fn no_events<'c>(model: &Model<'c, '_>, array: ArrayId) -> Result<Map<'c>, AnalysisError> {
    let array = model.kernel.array(array);
    let time = vec![Affine::constant(0); model.order.n_dims()];
    let all = model.function(Tuple { name: Some(&array.name), dims: &array.index }, None, &time)?;
    Ok(all.subtract(&all)?)
}

/// Every reference, statement by statement: its reads in expression order, then its writes.
pub(crate) fn references<'c>(model: &Model<'c, '_>) -> Result<Vec<Reference<'c>>, AnalysisError> {
    let mut references = Vec::new();
    for stmt in model.kernel.stmt_ids() {
        let body = model.kernel.stmt(stmt);
        let mut known = HashMap::new();
        let writes = body.assigns.iter().map(|a| (a.array, a.index.as_slice(), true));
        for (array, index, is_write) in body.reads().map(|(array, index)| (array, index, false)).chain(writes) {
            // Nine populations are written at one index: make the relation once, then name its range.
            if !known.contains_key(index) {
                let access = model.function(Tuple { name: Some(&body.name), dims: &body.iters }, None, index)?;
                known.insert(index, access.intersect_domain(&model.domains[stmt.index()])?);
            }
            let access = known[index].set_range_name(&model.kernel.array(array).name)?;
            references.push(Reference { stmt, array, is_write, access });
        }
    }
    Ok(references)
}

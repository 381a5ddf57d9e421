//! Independence: what a program claims of its memory accesses, proved from the program alone.
//!
//! In: a program that is well-formed.   Out: nothing, or the first claim that could not be shown.
//!
//! Four kinds of claims let code reorder accesses: alias facts, the number of lanes that may run in lock-step, parallel
//! loops, and loops of fronts (`fronts`). Each says that certain pairs of accesses never meet in a cell, and each is shown pair by pair
//! (`apart`), with variables for the two iterations:
//! - **alias fact**: a load and a store of one strip, in the iterations in which the fact says that they do not meet;
//! - **lanes**: of two operations, the one that comes first in the strip, in one of the next `lanes - 1` iterations,
//!   and the other: lock-step exchanges these two;
//! - **parallel loop**: two accesses in different iterations, one of them a store. The later iteration is a copy of the
//!   loop's body with variables of its own. Copies of a buffer per worker cannot meet. A loop inside a parallel loop
//!   is not parallel, whatever it claims.
//!
//! It holds for every run whose integers stay in 64 bits and whose positions start in their rings, whatever the
//! arguments; each call sees to that. It says nothing of what a load from a worker's copy finds there.
//!
//! Cost: strips squared in a parallel loop, memory operations squared in a strip; in all at most the effort of a scope.

use super::accesses::{accesses, last_of, may_meet, stored, stream_of};
use super::affine::Affine;
use super::apart::Cell;
use super::fault::{Fault, VerifyError};
use super::fronts;
use super::place::{Part, Place, Step};
use super::rename::{Renamed, renamed};
use super::sites::{Site, Steps, Visited, Walker};
use super::types::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// Proves all claims of a program that is well-formed.
///
/// # Errors
/// The first claim that could not be shown; it may hold nevertheless.
pub(super) fn prove_independence(program: &Program) -> Result<(), VerifyError> {
    Walker::new(program).visit(&program.body, &mut |walker, site| match site {
        Site::Strip(strip) => {
            let facts = alias_facts(walker, strip)?;
            lanes(walker, strip, &facts)
        }
        Site::Parallel { steps, count, body } => parallel(program, walker, &steps, count, body),
        Site::Fronts { steps, needs, body } => fronts::prove(program, walker, steps, needs, body),
    })
}

type Facts = FxHashMap<(ValueId, ValueId), AliasRelation>;

/// By how many iterations the first of two accesses is ahead of the second one; `None` where that has no end.
#[derive(Clone, Copy)]
struct Ahead {
    least: Option<i128>,
    most: Option<i128>,
}

/// Proves the alias facts of a strip and returns them.
fn alias_facts(walker: &mut Walker, strip: &Strip) -> Result<Facts, VerifyError> {
    let mut facts = Facts::default();
    for (position, AliasFact { load, store, relation }) in (0..).zip(strip.alias.iter().copied()) {
        let apart_at = match met_at(relation) {
            None => vec![Ahead { least: None, most: None }],
            Some(met) => {
                vec![Ahead { least: met.checked_add(1), most: None }, Ahead { least: None, most: met.checked_sub(1) }]
            }
        };
        let is_shown = |ahead: Ahead| are_apart(walker, strip, (load, store), ahead);
        // Different buffers are disjoint.
        if strip.have_one_buffer(load, store) && !apart_at.into_iter().all(is_shown) {
            return Err(walker.error(Part::Alias(position), Fault::AliasUnproved { load, store, relation }));
        }
        facts.insert((load, store), relation);
    }
    Ok(facts)
}

/// By how many iterations a load is ahead of the store whose cell it touches, if ever.
fn met_at(relation: AliasRelation) -> Option<i128> {
    match relation {
        AliasRelation::Disjoint => None,
        AliasRelation::SameLane => Some(0),
        AliasRelation::Distance(distance) => Some(i128::from(distance)),
    }
}

/// Proves that blocks of any size up to the strip's lanes do the same.
fn lanes(walker: &mut Walker, strip: &Strip, facts: &Facts) -> Visited {
    let reach = i128::from(strip.lanes) - 1;
    let is_store = |id: ValueId| matches!(strip.ops[id.index()], Op::Store { .. });
    let numbered = (0..).map(ValueId).zip(&strip.ops);
    let memory: Vec<ValueId> = numbered.filter(|(_, op)| stream_of(op).is_some()).map(|(id, _)| id).collect();
    for (at, &later) in memory.iter().enumerate().filter(|_| reach > 0) {
        for &earlier in &memory[..at] {
            if !(is_store(earlier) || is_store(later)) || !strip.have_one_buffer(earlier, later) {
                continue;
            }
            // By how many iterations the earlier operation is ahead where they meet, if that is known.
            let known = match (is_store(earlier), is_store(later)) {
                (false, true) => facts.get(&(earlier, later)).map(|relation| met_at(*relation)),
                (true, false) => facts.get(&(later, earlier)).map(|relation| met_at(*relation).map(|met| -met)),
                _ => None,
            };
            let is_known = known.is_some_and(|met| met.is_none_or(|ahead| !(1..=reach).contains(&ahead)));
            let ahead = Ahead { least: Some(1), most: Some(reach) };
            if !is_known && !are_apart(walker, strip, (earlier, later), ahead) {
                let fault = Fault::LanesUnproved { earlier, later, lanes: strip.lanes };
                return Err(walker.error(Part::Op(later), fault));
            }
        }
    }
    Ok(())
}

/// Whether two memory operations of a strip touch different cells, in all its iterations that relate so.
fn are_apart(walker: &mut Walker, strip: &Strip, (first, second): (ValueId, ValueId), ahead: Ahead) -> bool {
    let Some(lo) = Affine::of(&strip.lo) else { return false };
    let Some(last) = last_of(strip) else { return false };
    let outer = walker.scope.len();
    let (one, other) = (walker.fresh(), walker.fresh());
    let beyond = |by: i128| Affine::var(other).plus(&Affine::constant(by), 1);
    let lower: Vec<Affine> = [lo.clone()].into_iter().chain(ahead.least.and_then(beyond)).collect();
    let upper: Vec<Affine> = [last.clone()].into_iter().chain(ahead.most.and_then(beyond)).collect();
    let scope = &mut walker.scope;
    let is_possible = scope.choose(other, vec![lo.clone()], vec![last]) && scope.choose(one, lower, upper);
    let cell = |op: ValueId, at: Var| {
        let stream = &strip.streams[stream_of(&strip.ops[op.index()])?.index()];
        Cell::of(stream, &lo, &Affine::var(at))
    };
    let differ = || Some(cell(first, one)?.differs(&cell(second, other)?, scope));
    let apart = !is_possible || differ() == Some(true);
    walker.scope.truncate(outer);
    apart
}

/// Proves that no two iterations of a parallel loop touch one cell that one of them writes. The variables of the
/// earlier one are in scope.
fn parallel(program: &Program, walker: &Walker, steps: &Steps<'_>, count: Var, body: &[Node]) -> Visited {
    let mut written = FxHashSet::default();
    stored(program, body, &mut written);
    if written.is_empty() {
        return Ok(());
    }
    let mut earlier = walker.clone();
    let copy = renamed(steps.var, body, &mut earlier.fresh);
    let steps = Steps { var: copy.var, ..*steps };
    let pair = Pair { program, written: &written, steps, count, copy: &copy, loop_path: &walker.path };
    earlier.visit(body, &mut |walker, site| match site {
        Site::Strip(strip) => pair.earlier(walker, strip),
        Site::Parallel { .. } | Site::Fronts { .. } => Ok(()),
    })
}

/// Two iterations of a parallel loop.
struct Pair<'p> {
    program: &'p Program,
    written: &'p FxHashSet<BufferId>,
    /// The loop's head, with the variable of the later iteration.
    steps: Steps<'p>,
    /// Counts the earlier iteration.
    count: Var,
    /// The body of the later iteration.
    copy: &'p Renamed,
    loop_path: &'p [Step],
}

impl Pair<'_> {
    /// Compares a strip of the earlier iteration with all strips of the later one.
    fn earlier(&self, walker: &mut Walker, strip: &Strip) -> Visited {
        let mut later = walker.clone();
        let Some(own) = accesses(self.written, &mut later, strip).filter(|own| !own.is_empty()) else { return Ok(()) };
        if later.iteration(&self.steps, Some(self.count)).is_none() {
            return Ok(());
        }
        let place = |op: ValueId| Place { path: walker.path.clone(), part: Part::Op(op) };
        later.path = self.loop_path.to_vec();
        later.visit(&self.copy.body, &mut |walker, site| {
            let Site::Strip(strip) = site else { return Ok(()) };
            let outer = walker.scope.len();
            for other in accesses(self.written, walker, strip).iter().flatten() {
                let Some(one) = own.iter().find(|one| may_meet(one, other, &walker.scope)) else { continue };
                let other = Place { path: self.original(&walker.path), part: Part::Op(other.op) };
                let buffer = self.program.buffers[one.buffer.index()].name.clone();
                let var = self.copy.originals[&self.steps.var];
                let fault = Fault::RaceUnproved { var, buffer, other: Box::new(other) };
                return Err(VerifyError { place: place(one.op), ..walker.error(Part::Program, fault) });
            }
            walker.scope.truncate(outer);
            Ok(())
        })
    }

    /// A path in the later iteration by the names of the program.
    fn original(&self, path: &[Step]) -> Vec<Step> {
        let name = |var: Var| self.copy.originals.get(&var).copied().unwrap_or(var);
        let step = |step: &Step| match *step {
            Step::For { node, var } => Step::For { node, var: name(var) },
            Step::Strip { node, var } => Step::Strip { node, var: name(var) },
            other => other,
        };
        path.iter().map(step).collect()
    }
}

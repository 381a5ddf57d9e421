//! `HappensBefore`: when one event is certain to precede another; and what a task is.
//!
//! In: the kinds of the time dimensions.   Out: relations between time vectors, one for each pair of phases.
//! Source: docs/ARCHITECTURE.md, section 3; Lefebvre and Feautrier (1998) for the sequential case.
//!
//! An event is an instance with a phase: it reads, then it writes. Time vectors are compared lexicographically, except
//! that instances which first differ in a parallel dimension are unordered, and that the lanes of a vector block run in
//! lock-step: all their reads, then all their writes, statement by statement. Blocks may be cut anywhere, so two lanes
//! at a distance below the block length are ordered only if they are both inside one block and in two.
//!
//! Time vectors are *extended*: a leading epoch says whether the event is the (common) write of all live-in values, an
//! ordinary one, or the read of all live-out values; see [`Epoch`].

use std::cell::RefCell;

use crease_isl::{Context, Map, Tuple};

use crate::analysis::error::AnalysisError;
use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{DimKind, Schedule};
use crate::sets::relations::Params;

/// What an instance does at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Phase {
    /// All loads of an instance.
    Read,
    /// All its stores.
    Write,
}

/// The leading component of an extended time vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Epoch {
    /// Before everything: live-in values are written.
    Before = 0,
    /// The kernel runs.
    During = 1,
    /// After everything: live-out values are read.
    After = 2,
}

/// Leading time dimensions that tell tasks apart: one more than the position of the first parallel one. None if nothing
/// runs in parallel, or if no task of this schedule keeps a copy of anything:
///
/// - lanes of an earlier vector dimension would run several tasks in lock-step;
/// - where nothing moves behind the parallel dimension, its own iterations become the lanes of strips.
pub(crate) fn task_depth(schedule: &Schedule) -> Option<usize> {
    let first = schedule.dims.iter().position(|kind| *kind != DimKind::Sequential)?;
    let depth = first + 1;
    let moves = |k: &usize| schedule.times.iter().any(|time| time[*k].as_constant().is_none());
    let has_inside = (depth..schedule.dims.len()).any(|k| moves(&k));
    (schedule.dims[first] == DimKind::Parallel && has_inside).then_some(depth)
}

/// Numbers for so many statements, as their last time component: two have the same one only if they `run_apart`, which is
/// to say that they certainly share no time vector. So the pieces of one statement, at borders and inside, stay alike.
pub(crate) fn told_apart(statements: usize, run_apart: impl Fn(usize, usize) -> bool) -> Vec<i64> {
    let mut numbered: Vec<Vec<usize>> = Vec::new();
    let mut number = |statement: usize| {
        let fits = |others: &Vec<usize>| others.iter().all(|other| run_apart(statement, *other));
        let number = numbered.iter().position(fits).unwrap_or(numbered.len());
        numbered.resize(numbered.len().max(number + 1), Vec::new());
        numbered[number].push(statement);
        number as i64
    };
    (0..statements).map(&mut number).collect()
}

/// The order of events, as relations between extended time vectors.
pub(crate) struct HappensBefore<'c> {
    context: &'c Context,
    /// Kinds of the extended time vector's components.
    kinds: Vec<DimKind>,
    /// [`Self::not_before`] of the pairs of phases asked for so far.
    known: RefCell<Vec<((Phase, Phase), Map<'c>)>>,
}

impl<'c> HappensBefore<'c> {
    /// The order given by the kinds of a schedule's time dimensions. If statements may share a time vector,
    /// `statement_dim` adds a last, unordered component that tells them apart.
    pub(crate) fn new(context: &'c Context, schedule: &[DimKind], statement_dim: bool) -> HappensBefore<'c> {
        let mut kinds = vec![DimKind::Sequential];
        kinds.extend_from_slice(schedule);
        if statement_dim {
            kinds.push(DimKind::Parallel);
        }
        HappensBefore { context, kinds, known: RefCell::default() }
    }

    /// Number of components of an extended time vector.
    pub(crate) fn n_dims(&self) -> usize {
        self.kinds.len()
    }

    /// Whether any two instances with different time vectors are ordered.
    pub(crate) fn is_total(&self) -> bool {
        self.kinds.iter().all(|kind| *kind == DimKind::Sequential)
    }

    /// `{ a -> b }` such that phase `first` of an instance at `a` certainly precedes phase `second` of one at `b`.
    pub(crate) fn before(&self, first: Phase, second: Phase) -> Result<Map<'c>, AnalysisError> {
        self.relation(&self.formula(first, second)?)
    }

    /// The complement of [`Self::before`]: the first event may happen at the same time as the second, or after it.
    pub(crate) fn not_before(&self, first: Phase, second: Phase) -> Result<Map<'c>, AnalysisError> {
        let pair = (first, second);
        if let Some((_, known)) = self.known.borrow().iter().find(|(of, _)| *of == pair) {
            return Ok(known.clone());
        }
        let relation = self.relation(&Formula::everything())?.subtract(&self.before(first, second)?)?.coalesce()?;
        self.known.borrow_mut().push((pair, relation.clone()));
        Ok(relation)
    }

    /// `{ a -> b }` with the same first `n` components.
    pub(crate) fn equal_up_to(&self, n: usize) -> Result<Map<'c>, AnalysisError> {
        let equal = (0..n).map(|k| self.apart(k, 0).map(Formula::Zero)).collect::<Result<_, _>>()?;
        self.relation(&Formula::And(equal))
    }

    /// The pairs of time vectors that satisfy a formula over the components of both.
    fn relation(&self, formula: &Formula) -> Result<Map<'c>, AnalysisError> {
        let tuple = |letter: &str| (0..self.kinds.len()).map(|k| format!("{letter}{k}")).collect::<Vec<_>>();
        let (a, b) = (tuple("a"), tuple("b"));
        let [from, to] = [&a, &b].map(|dims| Tuple { name: None, dims });
        Params::none().relation(self.context, from, to, formula)
    }

    /// `b - a - distance` in component `k`.
    fn apart(&self, k: usize, distance: i64) -> Result<Affine, AffineOverflow> {
        Affine::iter(self.kinds.len() + k).sub(&Affine::iter(k))?.add(&Affine::constant(-distance))
    }

    fn formula(&self, first: Phase, second: Phase) -> Result<Formula, AffineOverflow> {
        let same_instance = if first < second { Formula::everything() } else { Formula::nothing() };
        self.formula_from(0, &same_instance, first, second)
    }

    /// The condition on components from `k` on, those before being equal or lanes of one vector block; `equal` is what
    /// holds if all of these are equal too.
    fn formula_from(&self, k: usize, equal: &Formula, first: Phase, second: Phase) -> Result<Formula, AffineOverflow> {
        let Some(kind) = self.kinds.get(k) else {
            return Ok(equal.clone());
        };
        let at_least = |distance: i64| self.apart(k, distance).map(Formula::NonNegative);
        let rest = self.formula_from(k + 1, equal, first, second)?;
        let tie = Formula::Zero(self.apart(k, 0)?).and(rest);
        Ok(match *kind {
            DimKind::Sequential => Formula::Or(vec![at_least(1)?, tie]),
            DimKind::Parallel | DimKind::Overlapped => tie,
            DimKind::Vector(lanes) => {
                // Lanes of one block: later components first, then lock-step.
                let in_step = first == Phase::Read && second == Phase::Write;
                let lock_step = if in_step { Formula::everything() } else { Formula::nothing() };
                let lanes_apart = self.formula_from(k + 1, &lock_step, first, second)?;
                let in_block = at_least(1)?
                    .and(Formula::NonNegative(self.apart(k, i64::from(lanes))?.scale(-1)?.add(&Affine::constant(-1))?));
                Formula::Or(vec![at_least(i64::from(lanes))?, in_block.and(lanes_apart), tie])
            }
        })
    }
}

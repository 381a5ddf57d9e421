//! Conditions of pieces as a statement sees them, and what is known of them without asking the set library.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;

use crease_program::Interval;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::kernel::affine::{Affine, Term};
use crate::kernel::formula::Formula;
use crate::sets::boxes::IntBox;

/// A formula of which [`Formulas`] keeps one copy, so that equal ones are told by their place.
#[derive(Clone, Debug)]
pub(crate) struct Interned(Rc<Formula>);

impl Deref for Interned {
    type Target = Formula;

    fn deref(&self) -> &Formula {
        &self.0
    }
}

impl PartialEq for Interned {
    fn eq(&self, other: &Interned) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Interned {}

impl Hash for Interned {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Rc::as_ptr(&self.0).hash(state);
    }
}

/// The formulas of a kernel's versions, each once. Those of two tables are never compared.
#[derive(Default)]
pub(super) struct Formulas(RefCell<FxHashSet<Rc<Formula>>>);

impl Formulas {
    pub(super) fn intern(&self, formula: Formula) -> Interned {
        let mut all = self.0.borrow_mut();
        if let Some(known) = all.get(&formula) {
            return Interned(Rc::clone(known));
        }
        let new = Rc::new(formula);
        all.insert(Rc::clone(&new));
        Interned(new)
    }

    /// The condition of which these are the parts.
    pub(super) fn condition(&self, step: Formula, rest: Formula) -> Condition {
        let whole = self.intern(step.clone().and(rest.clone()));
        Condition { whole, step: self.intern(step), rest: self.intern(rest) }
    }
}

/// When a reference has a certain piece: both parts hold.
pub(super) struct Condition {
    /// What the step alone decides.
    pub(super) step: Interned,
    /// All else.
    pub(super) rest: Interned,
    /// Both.
    pub(super) whole: Interned,
}

/// Formulas that are decided on a part.
#[derive(Clone, Default)]
pub(super) struct Known(pub(super) FxHashMap<Interned, bool>);

impl Known {
    /// Whether the formula holds, if that is known.
    pub(super) fn get(&self, formula: &Interned) -> Option<bool> {
        if **formula == Formula::everything() { Some(true) } else { self.0.get(formula).copied() }
    }
}

/// The parts of a conjunction.
pub(super) fn conjuncts(formula: Formula) -> Vec<Formula> {
    match formula {
        Formula::And(parts) => parts.into_iter().flat_map(conjuncts).collect(),
        other => vec![other],
    }
}

pub(super) fn distinct<'f>(formulas: impl Iterator<Item = &'f Interned>) -> Vec<Interned> {
    let mut all: Vec<Interned> = Vec::new();
    for formula in formulas {
        if !all.contains(formula) {
            all.push(formula.clone());
        }
    }
    all
}

/// Whether formulas exclude each other because they set one expression to different values, as residues of the step do.
pub(super) fn are_residues(formulas: &[Interned]) -> bool {
    let excluded = |(a, b): (&Interned, &Interned)| match (&**a, &**b) {
        (Formula::Zero(a), Formula::Zero(b)) => a.sub(b).ok().and_then(|d| d.as_constant()).is_some_and(|d| d != 0),
        _ => false,
    };
    formulas.iter().enumerate().all(|(k, a)| formulas[..k].iter().all(|b| excluded((a, b))))
}

/// The period `p` and the residue `r` of a formula that says `t mod p = r` of the first iterator, or the same of the
/// iterator and a constant: that is so in one step of `p`.
pub(super) fn residue_of_step(formula: &Formula) -> Option<(i64, i64)> {
    let Formula::Zero(e) = formula else { return None };
    let floor = |(term, _): (&Term, i64)| match term {
        Term::Floor(inner, divisor) => Some((inner.constant_part(), *divisor)),
        _ => None,
    };
    let (shift, period) = e.terms().find_map(floor)?;
    let shifted = Affine::iter(0).add(&Affine::constant(shift)).ok()?;
    let residue = shifted.modulo(period).ok()?;
    // All of `(t + shift) mod p` but what is added to it, which sets it to a value.
    let value = residue.sub(e).ok()?.as_constant().filter(|value| (0..period).contains(value))?;
    Some((period, value.checked_sub(shift)?.rem_euclid(period)))
}

/// The residue of the step that each of some conditions asks for, if all ask for the same one.
pub(super) fn common_residue(when: &[Interned]) -> Option<(i64, i64)> {
    let (first, rest) = when.split_first()?;
    let residue = residue_of_step(first)?;
    rest.iter().all(|other| residue_of_step(other) == Some(residue)).then_some(residue)
}

/// Whether the first iterator has each residue of some period in one of these conditions, none of which says more: one
/// of them holds in any step.
pub(super) fn are_all_residues(conditions: &[&[Interned]]) -> bool {
    let Some(mut residues) = conditions.iter().map(|when| common_residue(when)).collect::<Option<Vec<_>>>() else {
        return false;
    };
    residues.sort_unstable();
    residues.dedup();
    let Some((period, _)) = residues.first().copied() else { return false };
    residues.iter().all(|(other, _)| *other == period) && i64::try_from(residues.len()) == Ok(period)
}

/// Whether a condition looks at iterators behind the first one alone: then it is the same in every step.
pub(super) fn is_of_space(formula: &Formula) -> bool {
    !formula.names(&|term| !matches!(term, Term::Iter(1..)))
}

/// Whether a formula holds at all points of a box or at none, if its constraints tell one by one.
pub(super) fn holds_in(space: &IntBox, formula: &Formula) -> Option<bool> {
    match formula {
        Formula::NonNegative(e) => {
            let range = range_in(space, e)?;
            if range.min >= 0 { Some(true) } else { (range.max < 0).then_some(false) }
        }
        Formula::Zero(e) => {
            let range = range_in(space, e)?;
            if range == Interval::point(0) { Some(true) } else { (range.min > 0 || range.max < 0).then_some(false) }
        }
        Formula::And(parts) => {
            let answers: Vec<Option<bool>> = parts.iter().map(|part| holds_in(space, part)).collect();
            if answers.contains(&Some(false)) {
                return Some(false);
            }
            answers.iter().all(|a| *a == Some(true)).then_some(true)
        }
        Formula::Or(_) | Formula::Not(_) => None,
    }
}

/// Smallest and largest value of an expression over a box; none if it has other terms than iterators with both bounds.
fn range_in(space: &IntBox, e: &Affine) -> Option<Interval> {
    let mut range = Interval::point(e.constant_part());
    for (term, c) in e.terms() {
        let Term::Iter(i) = term else { return None };
        range = range + space.ranges().get(*i as usize)?.scaled(c);
    }
    Some(range).filter(|range| range.is_bounded())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `(t + shift) mod period = residue`.
    fn residue(shift: i64, period: i64, residue: i64) -> Formula {
        let shifted = Affine::iter(0).add(&Affine::constant(shift)).unwrap();
        Formula::Zero(shifted.modulo(period).unwrap().sub(&Affine::constant(residue)).unwrap())
    }

    #[test]
    fn residues_are_those_of_the_step_itself() {
        for (period, shift) in [(2, -1), (2, 0), (3, -1), (3, 4), (5, -7)] {
            for value in 0..period {
                let (found_period, found) = residue_of_step(&residue(shift, period, value)).unwrap();
                assert_eq!((found_period, (found + shift).rem_euclid(period)), (period, value), "shifted by {shift}");
                assert!((0..period).contains(&found));
            }
        }
        assert_eq!(residue_of_step(&residue(0, 2, 2)), None, "no step has this one");
        assert_eq!(residue_of_step(&Formula::Zero(Affine::iter(0))), None);
    }

    #[test]
    fn the_same_residue_of_the_step_and_of_the_one_before_is_one_condition() {
        let formulas = Formulas::default();
        let [now, before, other] =
            [residue(0, 2, 1), residue(-1, 2, 0), residue(-1, 2, 1)].map(|formula| formulas.intern(formula));
        assert_eq!(common_residue(&[now.clone(), before.clone()]), Some((2, 1)));
        assert_eq!(common_residue(&[now.clone(), other.clone()]), None);
        assert!(are_all_residues(&[&[now.clone(), before.clone()], &[other]]));
        assert!(!are_all_residues(&[&[now], &[before]]));
    }
}

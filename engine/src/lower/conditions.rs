//! Conditions of pieces as a statement sees them, and what is known of them without asking the set library.

use crease_program::Interval;
use rustc_hash::FxHashMap;

use crate::kernel::affine::{Affine, Term};
use crate::kernel::formula::Formula;
use crate::sets::boxes::IntBox;

/// When a reference has a certain piece: both parts hold.
pub(super) struct Condition {
    /// What the step alone decides.
    pub(super) step: Formula,
    /// All else.
    pub(super) rest: Formula,
    /// Both.
    pub(super) whole: Formula,
}

impl Condition {
    pub(super) fn new(step: Formula, rest: Formula) -> Condition {
        Condition { whole: step.clone().and(rest.clone()), step, rest }
    }
}

/// Formulas that are decided on a part.
#[derive(Clone, Default)]
pub(super) struct Known(pub(super) FxHashMap<Formula, bool>);

impl Known {
    /// Whether the formula holds, if that is known.
    pub(super) fn get(&self, formula: &Formula) -> Option<bool> {
        if *formula == Formula::everything() { Some(true) } else { self.0.get(formula).copied() }
    }
}

/// The parts of a conjunction.
pub(super) fn conjuncts(formula: Formula) -> Vec<Formula> {
    match formula {
        Formula::And(parts) => parts.into_iter().flat_map(conjuncts).collect(),
        other => vec![other],
    }
}

pub(super) fn distinct<'f>(formulas: impl Iterator<Item = &'f Formula>) -> Vec<Formula> {
    let mut all: Vec<Formula> = Vec::new();
    for formula in formulas {
        if !all.contains(formula) {
            all.push(formula.clone());
        }
    }
    all
}

/// Whether formulas exclude each other because they set one expression to different values, as residues of the step do.
pub(super) fn are_residues(formulas: &[Formula]) -> bool {
    let excluded = |(a, b): (&Formula, &Formula)| match (a, b) {
        (Formula::Zero(a), Formula::Zero(b)) => a.sub(b).ok().and_then(|d| d.as_constant()).is_some_and(|d| d != 0),
        _ => false,
    };
    formulas.iter().enumerate().all(|(k, a)| formulas[..k].iter().all(|b| excluded((a, b))))
}

/// The period `p` and the residue `r` of a formula that says `t mod p = r` of the first iterator: that is so in one step
/// of `p`.
pub(super) fn residue_of_step(formula: &Formula) -> Option<(i64, i64)> {
    let Formula::Zero(e) = formula else { return None };
    let divisor = |(term, _): (&Term, i64)| if let Term::Floor(_, divisor) = term { Some(*divisor) } else { None };
    let (period, constant) = (e.terms().find_map(divisor)?, e.constant_part());
    let expected = Affine::iter(0).modulo(period).and_then(|residue| residue.add(&Affine::constant(constant))).ok()?;
    ((1 - period..=0).contains(&constant) && expected == *e).then_some((period, -constant))
}

/// Whether the first iterator has each residue of some period in one of these conditions, none of which says more: one
/// of them holds in any step.
pub(super) fn are_all_residues(conditions: &[&[Formula]]) -> bool {
    let residue = |all: &&[Formula]| match all {
        [one] => residue_of_step(one),
        _ => None,
    };
    let Some(mut residues) = conditions.iter().map(residue).collect::<Option<Vec<_>>>() else { return false };
    residues.sort_unstable();
    residues.dedup();
    let Some((period, _)) = residues.first().copied() else { return false };
    residues.iter().all(|(other, _)| *other == period) && i64::try_from(residues.len()) == Ok(period)
}

/// Whether a condition looks at iterators behind the first one alone: then it is the same in every step.
pub(super) fn is_of_space(formula: &Formula) -> bool {
    fn of_space(e: &Affine) -> bool {
        e.terms().all(|(term, _)| match term {
            Term::Iter(i) => *i != 0,
            Term::Param(_) => false,
            Term::Floor(inner, _) => of_space(inner),
        })
    }
    match formula {
        Formula::NonNegative(e) | Formula::Zero(e) => of_space(e),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().all(is_of_space),
        Formula::Not(part) => is_of_space(part),
    }
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

//! Scopes: what is known about arguments and variables where an expression stands.
//!
//! In: the loops, definitions and conditions around it, from the outside in.   Out: a [`Scope`], of which `ranges` asks
//! between which values an expression lies.

use super::affine::{Affine, Atom};
use super::interval::Interval;
use super::types::*;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A variable in scope.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) var: Var,
    pub(super) meaning: Meaning,
    pub(super) interval: Interval,
    /// What all its values are multiples of; 0 if it is 0.
    pub(super) divisor: u64,
}

#[derive(Clone, Debug)]
pub(super) enum Meaning {
    /// Defined by a `let`; `None` if its value has no affine form.
    Equal(Option<Affine>),
    /// Bounded by a loop or a condition, both ends included, by expressions of variables defined earlier.
    Between { lower: Vec<Bound>, upper: Vec<Bound> },
}

/// A bound of a multiple of a variable: `scale * variable` is at least, or at most, `form`.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    /// Positive.
    pub(super) scale: i128,
    pub(super) form: Affine,
}

impl From<Affine> for Bound {
    fn from(form: Affine) -> Bound {
        Bound { scale: 1, form }
    }
}

/// What is known about arguments and about the variables in scope, earliest definition first.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) args: Vec<Interval>,
    /// Branches share them until a condition says more.
    pub(super) known: Vec<Rc<Known>>,
    /// Steps that are left to this scope and all that were cloned from it.
    effort: Rc<Cell<u64>>,
    pub(super) answers: Answers,
}

/// Ranges of forms without their constants, which streams of a strip share: true until a condition is added. A clone is
/// there to be changed, and begins without.
#[derive(Debug, Default)]
pub(super) struct Answers {
    ranges: RefCell<FxHashMap<Affine, Option<Interval>>>,
    /// Upper bounds of the forms that come up on the way.
    upper: RefCell<FxHashMap<Affine, i128>>,
}

impl Clone for Answers {
    fn clone(&self) -> Answers {
        Answers::default()
    }
}

impl Answers {
    /// The range of a form without constant, found if it is not known.
    pub(super) fn of(&self, form: &Affine, find: impl FnOnce() -> Option<Interval>) -> Option<Interval> {
        let known = self.ranges.borrow().get(form).copied();
        known.unwrap_or_else(|| {
            let found = find();
            let mut answers = self.ranges.borrow_mut();
            if answers.len() < MOST_ANSWERS {
                answers.insert(form.clone(), found);
            }
            found
        })
    }

    /// The upper bound of a form without constant, if it is known.
    pub(super) fn upper(&self, form: &Affine) -> Option<i128> {
        self.upper.borrow().get(form).copied()
    }

    /// Remembers an upper bound of a form without constant.
    pub(super) fn remember_upper(&self, form: Affine, bound: i128) {
        let mut answers = self.upper.borrow_mut();
        if answers.len() < MOST_ANSWERS {
            answers.insert(form, bound);
        }
    }

    /// Whether there may soon be no room for further ones.
    fn are_many(&self) -> bool {
        self.ranges.borrow().len().max(self.upper.borrow().len()) > MOST_ANSWERS / 2
    }

    fn forget(&mut self) {
        self.ranges.get_mut().clear();
        self.upper.get_mut().clear();
    }
}

/// Ranges that are remembered of one scope. Not measured: a strip asks for some hundred.
const MOST_ANSWERS: usize = 1 << 12;

/// Steps of one analysis: terms looked at, and variables. A second or two; real programs take a hundredth.
pub(super) const MOST_EFFORT: u64 = 1 << 28;

impl Scope {
    pub(super) fn new(args: Vec<Interval>) -> Scope {
        let effort = Rc::new(Cell::new(MOST_EFFORT));
        Scope { args, known: Vec::new(), effort, answers: Answers::default() }
    }

    /// Whether questions are no longer answered.
    pub(super) fn is_exhausted(&self) -> bool {
        self.effort.get() == 0
    }

    /// Takes from the effort that is left; `None` if that is not enough.
    pub(super) fn spend(&self, steps: usize) -> Option<()> {
        let left = self.effort.get().saturating_sub(steps as u64);
        self.effort.set(left);
        (left > 0).then_some(())
    }

    /// A scope to change for a while.
    pub(super) fn branch(&self) -> Scope {
        let _ = self.spend(self.known.len());
        self.clone()
    }

    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// Forgets all but the first `len` variables.
    pub(super) fn truncate(&mut self, len: usize) {
        if len < self.known.len() {
            self.answers.forget();
        }
        self.known.truncate(len);
    }

    /// The same where none of the variables that are forgotten is ever asked for again, or defined anew: what is known
    /// of forms of the others stays true.
    pub(super) fn leave(&mut self, len: usize) {
        if self.answers.are_many() {
            self.answers.forget();
        }
        self.known.truncate(len);
    }

    fn add(&mut self, known: Known) {
        self.known.push(Rc::new(known));
    }

    /// Adds a variable defined by a `let`.
    pub(super) fn define(&mut self, var: Var, value: &Int) {
        let interval = self.range(value).unwrap_or(Interval::ALL).narrowed(Interval::ALL);
        let divisor = self.divisor(value);
        self.add(Known { var, meaning: Meaning::Equal(Affine::of(value)), interval, divisor });
    }

    /// Adds a variable that stands for one value between these bounds, ends included. False, and nothing is added, if
    /// there is none.
    pub(super) fn choose(&mut self, var: Var, lower: Vec<Affine>, upper: Vec<Affine>) -> bool {
        let mut interval = Interval::ALL;
        for low in &lower {
            for high in &upper {
                let extent = high.clone().plus(low, -1).and_then(|extent| self.affine_range(extent));
                if extent.is_some_and(|extent| extent.max < 0) {
                    return false;
                }
            }
        }
        for low in &lower {
            interval.min = interval.min.max(self.affine_range(low.clone()).unwrap_or(Interval::ALL).min);
        }
        for high in &upper {
            interval.max = interval.max.min(self.affine_range(high.clone()).unwrap_or(Interval::ALL).max);
        }
        if interval.max < interval.min {
            return false;
        }
        let [lower, upper] = [lower, upper].map(|ends| ends.into_iter().map(Bound::from).collect());
        self.add(Known { var, meaning: Meaning::Between { lower, upper }, interval, divisor: 1 });
        true
    }

    /// Adds a variable that is the value of a form.
    pub(super) fn equate(&mut self, var: Var, value: Affine) {
        let interval = self.affine_range(value.clone()).unwrap_or(Interval::ALL).narrowed(Interval::ALL);
        self.add(Known { var, meaning: Meaning::Equal(Some(value)), interval, divisor: 1 });
    }

    /// The form with variables that a `let` defines replaced by what they are.
    pub(super) fn expanded(&self, mut form: Affine) -> Option<Affine> {
        loop {
            self.spend(1 + form.terms().len())?;
            let definition = |(atom, _): &(Atom, i128)| match atom {
                Atom::Var(var) => match &self.known[self.position(*var)].meaning {
                    Meaning::Equal(Some(value)) => Some(value.clone()),
                    _ => None,
                },
                // One of the factors may turn out to be a constant.
                Atom::Term(term) => match &**term {
                    Int::Mul(a, b) => {
                        let (a, b) = (self.expanded(Affine::of(a)?)?, self.expanded(Affine::of(b)?)?);
                        match (a.as_constant(), b.as_constant()) {
                            (Some(factor), _) => b.times(factor),
                            (_, Some(factor)) => a.times(factor),
                            _ => None,
                        }
                    }
                    _ => None,
                },
                Atom::Arg(_) => None,
            };
            let found = form.terms().iter().enumerate().find_map(|(at, term)| Some((at, definition(term)?)));
            let Some((at, value)) = found else { return Some(form) };
            let (_, coefficient) = form.take(at);
            form = form.plus(&value, coefficient)?;
        }
    }

    /// What all values of an atom are multiples of; 0 if it is 0.
    pub(super) fn atom_divisor(&self, atom: &Atom) -> u64 {
        match atom {
            Atom::Arg(_) => 1,
            Atom::Var(var) => self.known[self.position(*var)].divisor,
            Atom::Term(term) => self.divisor(term),
        }
    }

    /// Adds a variable that takes values of `lo..hi`. False, and nothing is added, if there are none.
    pub(super) fn enter(&mut self, var: Var, lo: &Int, hi: &Int) -> bool {
        let lower: Vec<_> = Affine::of(lo).into_iter().collect();
        let upper: Vec<_> = Affine::of(hi).and_then(|hi| hi.plus(&Affine::constant(1), -1)).into_iter().collect();
        if let ([lower], [upper]) = (&lower[..], &upper[..]) {
            let extent = upper.clone().plus(lower, -1).and_then(|extent| self.affine_range(extent));
            if extent.is_some_and(|extent| extent.max < 0) {
                return false;
            }
        }
        let [first, end] = [lo, hi].map(|bound| self.range(bound).unwrap_or(Interval::ALL));
        if end.max <= first.min {
            return false;
        }
        let interval = Interval { min: first.min, max: end.max.saturating_sub(1) }.narrowed(Interval::ALL);
        let [lower, upper] = [lower, upper].map(|ends| ends.into_iter().map(Bound::from).collect());
        self.add(Known { var, meaning: Meaning::Between { lower, upper }, interval, divisor: 1 });
        true
    }

    /// Notes that a condition holds, or that it does not.
    pub(super) fn assume(&mut self, cond: &Cond, holds: bool) {
        match cond {
            Cond::Compare(op, lhs, rhs) => {
                let difference = Affine::of(rhs).zip(Affine::of(lhs)).and_then(|(rhs, lhs)| rhs.plus(&lhs, -1));
                let Some(difference) = difference else { return };
                let op = if holds { *op } else { op.negated() };
                let (rising, falling) = match op {
                    CompareOp::Lt => (Some(-1), None),
                    CompareOp::Le => (Some(0), None),
                    CompareOp::Gt => (None, Some(-1)),
                    CompareOp::Ge => (None, Some(0)),
                    CompareOp::Eq => (Some(0), Some(0)),
                    CompareOp::Ne => self.unequal(&difference),
                };
                for (sign, slack) in [(1, rising), (-1, falling)] {
                    let Some(slack) = slack else { continue };
                    if let Some(form) = Affine::constant(slack).plus(&difference, sign) {
                        self.assume_not_negative(form);
                    }
                }
            }
            Cond::And(conds) if holds => conds.iter().for_each(|cond| self.assume(cond, true)),
            Cond::Or(conds) if !holds => conds.iter().for_each(|cond| self.assume(cond, false)),
            Cond::Not(cond) => self.assume(cond, !holds),
            Cond::And(_) | Cond::Or(_) => {}
        }
    }

    /// What `difference != 0` adds where 0 is one end of its range.
    fn unequal(&self, difference: &Affine) -> (Option<i128>, Option<i128>) {
        let range = self.affine_range(difference.clone());
        let end = |pick: fn(&Interval) -> i128| range.as_ref().map(pick) == Some(0);
        (end(|range| range.min).then_some(-1), end(|range| range.max).then_some(-1))
    }

    /// Bounds the latest variable of `form` that is no `let`'s, by `form >= 0`.
    fn assume_not_negative(&mut self, mut form: Affine) {
        self.answers.forget();
        while let Some(at) = self.latest(&form) {
            let (atom, coefficient) = form.take(at);
            let var = match atom {
                Atom::Var(var) => var,
                Atom::Term(term) => return self.assume_of_term(&form, &term, coefficient),
                Atom::Arg(_) => return,
            };
            let position = self.position(var);
            let substituted = match &mut Rc::make_mut(&mut self.known[position]).meaning {
                Meaning::Equal(Some(value)) => form.plus(value, coefficient),
                Meaning::Equal(None) => None,
                Meaning::Between { lower, .. } if coefficient > 0 => {
                    let negative = form.times(-1);
                    lower.extend(negative.map(|form| Bound { scale: coefficient, form }));
                    None
                }
                Meaning::Between { upper, .. } => {
                    upper.extend(coefficient.checked_neg().map(|scale| Bound { scale, form }));
                    None
                }
            };
            let Some(substituted) = substituted else {
                let known = &self.known[position];
                let refined = self.affine_range(Affine::var(var)).map(|range| known.interval.narrowed(range));
                if let Some(refined) = refined {
                    Rc::make_mut(&mut self.known[position]).interval = refined;
                }
                self.answers.forget();
                return;
            };
            form = substituted;
        }
    }

    /// The same of `rest + coefficient * term`: where the smaller of two numbers is large enough, both are.
    fn assume_of_term(&mut self, rest: &Affine, term: &Int, coefficient: i128) {
        let (Int::Min(a, b) | Int::Max(a, b)) = term else { return };
        if matches!(term, Int::Min(..)) == (coefficient > 0) {
            for operand in [a, b] {
                let form = Affine::of(operand).and_then(|operand| rest.clone().plus(&operand, coefficient));
                form.into_iter().for_each(|form| self.assume_not_negative(form));
            }
        }
    }

    /// Where in the scope a variable is.
    pub(super) fn position(&self, var: Var) -> usize {
        // The last ones are found first; what is asked for is mostly among them.
        let position = self.known.iter().rposition(|known| known.var == var);
        position.expect("the program has verified, so every variable used is in scope")
    }
}

impl CompareOp {
    /// The comparison that holds, of integers, exactly if this one does not.
    pub(super) fn negated(self) -> CompareOp {
        match self {
            CompareOp::Lt => CompareOp::Ge,
            CompareOp::Le => CompareOp::Gt,
            CompareOp::Gt => CompareOp::Le,
            CompareOp::Ge => CompareOp::Lt,
            CompareOp::Eq => CompareOp::Ne,
            CompareOp::Ne => CompareOp::Eq,
        }
    }
}

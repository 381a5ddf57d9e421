//! The rows of a loop for which some inequalities hold.
//!
//! In: linear forms of the row and of what does not change in the loop, which are to be not negative.   Out: three
//! comparisons in the loop with numbers that are computed before it.

use crate::forms::{Form, Scope, plus_constant, terms};
use crate::types::*;

/// Solutions of inequalities in the row.
pub(super) struct Domain<'s> {
    /// What the row is no less than,
    lower: Vec<Int>,
    /// and no more than.
    upper: Vec<Int>,
    /// What the row does not change, and is not negative.
    unchanged: Vec<Form<'s>>,
}

impl<'s> Domain<'s> {
    /// The rows of a loop over `lo..hi` for which no form is negative; none if a number leaves 64 bits.
    pub(super) fn new(
        holds: Vec<Form<'s>>,
        row: &'s Int,
        (lo, hi): (&'s Int, &'s Int),
        outside: &Scope<'s>,
    ) -> Option<Self> {
        let mut least: Vec<Form<'s>> = Vec::new();
        for form in holds {
            match least.iter_mut().find(|known| known.terms() == form.terms()) {
                Some(known) => known.constant = known.constant.min(form.constant),
                None => least.push(form),
            }
        }
        let ends = |end: &'s Int, is_lower: bool, more: i64| {
            let leaves = outside.leaves(end, is_lower).unwrap_or_default();
            leaves.iter().filter_map(|leaf| outside.of_leaf(leaf)?.plus_constant(more)).collect::<Vec<_>>()
        };
        let (first, last) = (ends(lo, true, 0), ends(hi, false, -1));
        let mut domain = Domain { lower: Vec::new(), upper: Vec::new(), unchanged: Vec::new() };
        for form in least {
            let coefficient = form.coefficient(&row);
            // Where it holds at an end of the loop, it does in all of it.
            let at_end = |end: &Form<'s>| form.clone().substitute(&row, end)?.as_constant();
            let ends = if coefficient > 0 { &first } else { &last };
            if coefficient != 0 && ends.iter().filter_map(at_end).any(|least| least >= 0) {
                continue;
            }
            match coefficient {
                0 => domain.unchanged.push(form),
                1.. => {
                    // Rounded up.
                    let rest = form.plus_term(&row, coefficient.checked_neg()?)?.times(-1)?;
                    domain.lower.push(quotient(&rest.plus_constant(coefficient - 1)?, coefficient));
                }
                _ => {
                    let divisor = coefficient.checked_neg()?;
                    domain.upper.push(quotient(&form.plus_term(&row, divisor)?, divisor));
                }
            }
        }
        Some(domain)
    }

    /// The condition that a row is one of them, and what has to be defined before the loop for it; variables are numbered
    /// from `fresh` on.
    pub(super) fn cond(&self, row: &Int, lets: &mut Vec<Node>, fresh: &mut u32) -> Cond {
        let mut number = |value: Int| match value {
            Int::Const(_) => value,
            value => {
                let var = Var(*fresh);
                *fresh += 1;
                lets.push(Node::Let { var, value });
                Int::Var(var)
            }
        };
        let mut all = Vec::new();
        let unchanged = extreme(self.unchanged.iter().map(int).collect(), false);
        all.extend(unchanged.map(|least| Cond::Compare(CompareOp::Ge, number(least), Int::Const(0))));
        let lower = extreme(self.lower.clone(), true);
        all.extend(lower.map(|lower| Cond::Compare(CompareOp::Ge, row.clone(), number(lower))));
        let upper = extreme(self.upper.clone(), false);
        all.extend(upper.map(|upper| Cond::Compare(CompareOp::Le, row.clone(), number(upper))));
        Cond::And(all)
    }
}

/// The largest or the smallest of some numbers, of which all constants are one; none if there are none.
fn extreme(numbers: Vec<Int>, is_max: bool) -> Option<Int> {
    let constants = numbers.iter().filter_map(|number| if let Int::Const(c) = number { Some(*c) } else { None });
    let constant = if is_max { constants.max() } else { constants.min() };
    let others = numbers.into_iter().filter(|number| !matches!(number, Int::Const(_)));
    let of_two = |a: Int, b: Int| {
        let (a, b) = (Box::new(a), Box::new(b));
        if is_max { Int::Max(a, b) } else { Int::Min(a, b) }
    };
    constant.map(Int::Const).into_iter().chain(others).reduce(of_two)
}

/// A form as an expression.
fn int(form: &Form<'_>) -> Int {
    plus_constant(terms(form), form.constant)
}

/// The quotient of a form by a positive number, rounded down.
fn quotient(form: &Form<'_>, divisor: i64) -> Int {
    match form.as_constant() {
        Some(constant) => Int::Const(constant.div_euclid(divisor)),
        None if divisor == 1 => int(form),
        None => Int::FloorDiv(Box::new(int(form)), divisor),
    }
}

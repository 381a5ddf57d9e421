//! Linear forms over the loop language's variables: addresses before they become integer expressions.
//!
//! Terms have an order, which becomes that of the expressions. Ranges, which ask about expressions of any kind, have
//! forms over those (`jit/program/src/affine.rs`).

use std::collections::BTreeMap;

use crease_program::{ArgId, Cond, Int, Var};

/// `sum of coefficient * variable + constant`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Linear {
    terms: BTreeMap<Atom, i64>,
    pub(crate) constant: i64,
}

/// What a coefficient multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Atom {
    /// A variable in scope.
    Var(Var),
    /// An argument of the program.
    Arg(ArgId),
}

impl Linear {
    pub(crate) fn constant(value: i64) -> Linear {
        Linear { terms: BTreeMap::new(), constant: value }
    }

    pub(crate) fn atom(atom: Atom) -> Linear {
        Linear { terms: BTreeMap::from([(atom, 1)]), constant: 0 }
    }

    /// Coefficient of a variable.
    pub(crate) fn coefficient(&self, var: Var) -> i64 {
        self.terms.get(&Atom::Var(var)).copied().unwrap_or(0)
    }

    /// What occurs, with its coefficient.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (Atom, i64)> {
        self.terms.iter().map(|(&atom, &coefficient)| (atom, coefficient))
    }

    /// The coefficients of all variables.
    pub(crate) fn coefficients(&self) -> impl Iterator<Item = i64> {
        self.terms.values().copied()
    }

    /// The value, if there are no variables.
    pub(crate) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// `self + factor * other`; none if a coefficient leaves 64 bits.
    pub(crate) fn add_scaled(&self, other: &Linear, factor: i64) -> Option<Linear> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for (&atom, &c) in &other.terms {
            let entry = sum.terms.entry(atom).or_insert(0);
            *entry = entry.checked_add(c.checked_mul(factor)?)?;
            if *entry == 0 {
                sum.terms.remove(&atom);
            }
        }
        Some(sum)
    }

    /// The form with `var` replaced by `value`.
    pub(crate) fn substitute(&self, var: Var, value: &Linear) -> Option<Linear> {
        let c = self.coefficient(var);
        let mut rest = self.clone();
        rest.terms.remove(&Atom::Var(var));
        rest.add_scaled(value, c)
    }

    /// As an integer expression.
    pub(crate) fn to_int(&self) -> Int {
        let mut sum: Option<Int> = None;
        for (&atom, &c) in &self.terms {
            let variable = match atom {
                Atom::Var(var) => Int::Var(var),
                Atom::Arg(arg) => Int::Arg(arg),
            };
            let product = if c == 1 { variable } else { Int::Mul(Box::new(Int::Const(c)), Box::new(variable)) };
            sum = Some(match sum {
                None => product,
                Some(sum) => Int::Add(Box::new(sum), Box::new(product)),
            });
        }
        match (sum, self.constant) {
            (None, c) => Int::Const(c),
            (Some(sum), 0) => sum,
            (Some(sum), c) => Int::Add(Box::new(sum), Box::new(Int::Const(c))),
        }
    }
}

/// A constant, variable or argument as a linear form.
pub(crate) fn linear_of(value: &Int) -> Option<Linear> {
    match value {
        Int::Const(c) => Some(Linear::constant(*c)),
        Int::Var(var) => Some(Linear::atom(Atom::Var(*var))),
        Int::Arg(arg) => Some(Linear::atom(Atom::Arg(*arg))),
        _ => None,
    }
}

/// Whether an integer expression depends on a variable.
pub(crate) fn mentions(value: &Int, var: Var) -> bool {
    value.vars().any(|v| v == var)
}

/// Whether a condition depends on a variable.
pub(crate) fn cond_mentions(cond: &Cond, var: Var) -> bool {
    cond.ints().any(|int| mentions(int, var))
}

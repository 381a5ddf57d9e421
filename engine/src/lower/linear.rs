//! Linear forms over the loop language's variables: addresses before they become integer expressions.
//!
//! The order of terms becomes that of the expressions: variables, as they are numbered, then arguments.

use crease_program::{ArgId, Cond, Int, LinearForm, Var};

/// `sum of coefficient * variable + constant`.
pub(crate) type Linear = LinearForm<Atom, i64>;

/// What a coefficient multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Atom {
    /// A variable in scope.
    Var(Var),
    /// An argument of the program.
    Arg(ArgId),
}

/// A linear form as an integer expression.
pub(crate) fn to_int(form: &Linear) -> Int {
    let product = |&(atom, c): &(Atom, i64)| {
        let variable = match atom {
            Atom::Var(var) => Int::Var(var),
            Atom::Arg(arg) => Int::Arg(arg),
        };
        if c == 1 { variable } else { Int::Mul(Box::new(Int::Const(c)), Box::new(variable)) }
    };
    let sum = form.terms().iter().map(product).reduce(|sum, product| Int::Add(Box::new(sum), Box::new(product)));
    match (sum, form.constant) {
        (None, c) => Int::Const(c),
        (Some(sum), 0) => sum,
        (Some(sum), c) => Int::Add(Box::new(sum), Box::new(Int::Const(c))),
    }
}

/// A constant, variable or argument as a linear form.
pub(crate) fn linear_of(value: &Int) -> Option<Linear> {
    match value {
        Int::Const(c) => Some(Linear::constant(*c)),
        Int::Var(var) => Some(Linear::term(Atom::Var(*var))),
        Int::Arg(arg) => Some(Linear::term(Atom::Arg(*arg))),
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

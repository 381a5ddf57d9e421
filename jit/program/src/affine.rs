//! Affine forms of integer expressions.
//!
//! In: an expression.   Out: a constant and multiples of **atoms**: arguments, variables, and terms that are not
//! affine.

use super::linear_form::LinearForm;
use super::types::*;
use std::rc::Rc;

/// What an affine form is made of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Atom {
    Arg(ArgId),
    Var(Var),
    /// Not affine. Forms are copied often, and share it.
    Term(Rc<Int>),
}

impl Atom {
    /// What is not affine, if it is that.
    pub(super) fn term(&self) -> Option<&Int> {
        if let Atom::Term(term) = self { Some(term) } else { None }
    }
}

/// Of 128 bits, so that what an expression of 64 bits can be has a form.
pub(super) type Affine = LinearForm<Atom, i128>;

impl Affine {
    pub(super) fn var(var: Var) -> Affine {
        Affine::term(Atom::Var(var))
    }

    /// `None` if a coefficient exceeds 128 bits.
    pub(super) fn of(int: &Int) -> Option<Affine> {
        let as_term = || Some(Affine::term(Atom::Term(Rc::new(int.clone()))));
        match int {
            Int::Const(value) => Some(Affine::constant(i128::from(*value))),
            Int::Arg(id) => Some(Affine::term(Atom::Arg(*id))),
            Int::Var(var) => Some(Affine::var(*var)),
            Int::Add(a, b) => Affine::of(a)?.plus(&Affine::of(b)?, 1),
            Int::Sub(a, b) => Affine::of(a)?.plus(&Affine::of(b)?, -1),
            Int::Mul(a, b) => {
                let (a, b) = (Affine::of(a)?, Affine::of(b)?);
                match (a.as_constant(), b.as_constant()) {
                    (Some(factor), _) => b.times(factor),
                    (_, Some(factor)) => a.times(factor),
                    _ => as_term(),
                }
            }
            Int::Mod(x, 2) => match &**x {
                Int::Add(y, constant) if matches!(**constant, Int::Const(_)) => Affine::parity(y, constant),
                _ => as_term(),
            },
            _ => as_term(),
        }
    }

    /// `(y + constant) mod 2` by `y mod 2`: the two colours of a grid add up to 1.
    fn parity(y: &Int, constant: &Int) -> Option<Affine> {
        let Int::Const(constant) = constant else { return None };
        let even = Affine::of(&Int::Mod(Box::new(y.clone()), 2))?;
        match constant.rem_euclid(2) {
            0 => Some(even),
            _ => Affine::constant(1).plus(&even, -1),
        }
    }

    /// Whether some atom has opposite signs in both.
    pub(super) fn moves_against(&self, other: &Affine) -> bool {
        let mut terms = self.terms().iter();
        terms.any(|(atom, coefficient)| coefficient.signum() * other.coefficient(atom).signum() < 0)
    }
}

//! Affine forms of integer expressions.
//!
//! In: an expression.   Out: a constant and multiples of **atoms**: arguments, variables, and terms that are not
//! affine.

use super::types::*;

/// What an affine form is made of.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Atom {
    Arg(ArgId),
    Var(Var),
    /// Not affine.
    Term(Int),
}

/// `constant + sum of coefficient * atom`; no coefficient is 0, no atom occurs twice.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Affine {
    pub(super) terms: Vec<(Atom, i128)>,
    pub(super) constant: i128,
}

impl Affine {
    pub(super) fn constant(constant: i128) -> Affine {
        Affine { terms: Vec::new(), constant }
    }

    pub(super) fn var(var: Var) -> Affine {
        Affine { terms: vec![(Atom::Var(var), 1)], constant: 0 }
    }

    /// `None` if a coefficient exceeds 128 bits.
    pub(super) fn of(int: &Int) -> Option<Affine> {
        let atom = |atom| Some(Affine { terms: vec![(atom, 1)], constant: 0 });
        match int {
            Int::Const(value) => Some(Affine::constant(i128::from(*value))),
            Int::Arg(id) => atom(Atom::Arg(*id)),
            Int::Var(var) => Some(Affine::var(*var)),
            Int::Add(a, b) => Affine::of(a)?.plus(&Affine::of(b)?, 1),
            Int::Sub(a, b) => Affine::of(a)?.plus(&Affine::of(b)?, -1),
            Int::Mul(a, b) => {
                let (a, b) = (Affine::of(a)?, Affine::of(b)?);
                match (a.terms.is_empty(), b.terms.is_empty()) {
                    (true, _) => Affine::constant(0).plus(&b, a.constant),
                    (_, true) => Affine::constant(0).plus(&a, b.constant),
                    _ => atom(Atom::Term(int.clone())),
                }
            }
            Int::Mod(x, 2) => match &**x {
                Int::Add(y, constant) if matches!(**constant, Int::Const(_)) => Affine::parity(y, constant),
                _ => atom(Atom::Term(int.clone())),
            },
            _ => atom(Atom::Term(int.clone())),
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
        let sign = |atom: &Atom| other.terms.iter().find(|(own, _)| own == atom).map_or(0, |(_, c)| c.signum());
        self.terms.iter().any(|(atom, coefficient)| coefficient.signum() * sign(atom) < 0)
    }

    /// `self + factor * other`.
    pub(super) fn plus(mut self, other: &Affine, factor: i128) -> Option<Affine> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for (atom, coefficient) in &other.terms {
            let added = coefficient.checked_mul(factor)?;
            match self.terms.iter_mut().find(|(own, _)| own == atom) {
                Some((_, own)) => *own = own.checked_add(added)?,
                None => self.terms.push((atom.clone(), added)),
            }
        }
        self.terms.retain(|(_, coefficient)| *coefficient != 0);
        Some(self)
    }
}

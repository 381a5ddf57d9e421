//! Normal forms of formulas, so that kernels which mean the same text compare equal.
//!
//! Nested conjunctions and disjunctions are flattened, those with one part are that part, and exact multiples are taken
//! out of floors. Parser and builder make only such formulas; printing and parsing gives them back.

use crate::kernel::affine::{Affine, AffineOverflow, Term};
use crate::kernel::formula::Formula;

/// All of the parts, flattened.
pub(super) fn and(parts: Vec<Formula>) -> Formula {
    // The first list is the one that grows where conditions are added one by one.
    let mut parts = parts.into_iter();
    let mut flat = match parts.next() {
        Some(Formula::And(inner)) => inner,
        first => first.into_iter().collect(),
    };
    for part in parts {
        match part {
            Formula::And(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    if flat.len() == 1 { flat.remove(0) } else { Formula::And(flat) }
}

/// One of the parts, flattened.
pub(super) fn or(parts: Vec<Formula>) -> Formula {
    let mut parts = parts.into_iter();
    let mut flat = match parts.next() {
        Some(Formula::Or(inner)) => inner,
        first => first.into_iter().collect(),
    };
    for part in parts {
        match part {
            Formula::Or(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    if flat.len() == 1 { flat.remove(0) } else { Formula::Or(flat) }
}

/// `a != b`.
pub(super) fn ne(a: &Affine, b: &Affine) -> Result<Formula, AffineOverflow> {
    Ok(Formula::Or(vec![Formula::lt(a, b)?, Formula::lt(b, a)?]))
}

/// The normal form of any formula.
pub(super) fn normal(formula: &Formula) -> Result<Formula, AffineOverflow> {
    let all = |parts: &[Formula]| parts.iter().map(normal).collect::<Result<Vec<_>, _>>();
    Ok(match formula {
        Formula::NonNegative(e) => Formula::NonNegative(normal_affine(e)?),
        Formula::Zero(e) => Formula::Zero(normal_affine(e)?),
        Formula::And(parts) => and(all(parts)?),
        Formula::Or(parts) => or(all(parts)?),
        Formula::Not(part) => Formula::Not(Box::new(normal(part)?)),
    })
}

/// The expression with every floor rebuilt, innermost first.
pub(super) fn normal_affine(e: &Affine) -> Result<Affine, AffineOverflow> {
    if !e.has_floor() {
        return Ok(e.clone());
    }
    let mut sum = Affine::constant(e.constant_part());
    for (term, c) in e.terms() {
        let value = match term {
            Term::Floor(inner, d) => normal_affine(inner)?.floor_div(*d)?,
            other => Affine::term(other.clone()),
        };
        sum = sum.add(&value.scale(c)?)?;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_conjunctions_are_flat() {
        let x = || Formula::NonNegative(Affine::iter(0));
        let nested = Formula::And(vec![Formula::And(vec![x(), Formula::And(vec![x()])])]);
        assert_eq!(normal(&nested), Ok(Formula::And(vec![x(), x()])));
        assert_eq!(normal(&Formula::Or(vec![Formula::And(vec![x()])])), Ok(x()));
    }

    #[test]
    fn floors_hold_no_multiples() {
        let e = Affine::term(Term::Floor(Box::new(Affine::iter(0).scale(4).unwrap()), 2));
        assert_eq!(normal_affine(&e), Affine::iter(0).scale(2));
    }
}

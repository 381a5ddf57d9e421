//! Normal forms of formulas, so that kernels which mean the same text compare equal.
//!
//! Nested conjunctions and disjunctions are flattened, those with one part are that part. Parser and builder make only
//! such formulas; printing and parsing gives them back.

use crate::kernel::affine::{Affine, AffineOverflow};
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_conjunctions_are_flat() {
        let x = || Formula::NonNegative(Affine::iter(0));
        assert_eq!(and(vec![and(vec![x(), x()]), x()]), Formula::And(vec![x(), x(), x()]));
        assert_eq!(or(vec![or(vec![x()])]), x());
    }
}

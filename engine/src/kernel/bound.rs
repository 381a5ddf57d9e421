//! Affine expressions and formulas with their parameters bound: what enumeration and interpretation evaluate.
//!
//! A flat list of terms instead of a tree, a constant that holds all parameters: one evaluation costs a few
//! nanoseconds.

use crate::kernel::affine::{Affine, AffineOverflow, Term};
use crate::kernel::formula::Formula;
use crate::kernel::ids::ParamId;

/// An affine expression over iterators alone.
#[derive(Clone, Debug)]
pub(super) struct BoundAffine {
    pub(super) constant: i64,
    /// Iterator and coefficient.
    pub(super) terms: Vec<(usize, i64)>,
    pub(super) floors: Vec<BoundFloor>,
}

/// `coefficient * floor(inner / divisor)`.
#[derive(Clone, Debug)]
pub(super) struct BoundFloor {
    pub(super) coefficient: i64,
    pub(super) inner: BoundAffine,
    pub(super) divisor: i64,
}

/// A formula over iterators alone.
#[derive(Clone, Debug)]
pub(super) enum BoundFormula {
    NonNegative(BoundAffine),
    Zero(BoundAffine),
    And(Vec<BoundFormula>),
    Or(Vec<BoundFormula>),
    Not(Box<BoundFormula>),
}

impl BoundAffine {
    /// Binds parameters by position; all of the expression's must be there. Times are those of a run's first call.
    pub(super) fn new(e: &Affine, params: &[i64]) -> Result<BoundAffine, AffineOverflow> {
        let mut bound = BoundAffine { constant: e.constant_part(), terms: Vec::new(), floors: Vec::new() };
        for (term, coefficient) in e.terms() {
            match term {
                Term::Iter(i) => bound.terms.push((*i as usize, coefficient)),
                Term::Param(ParamId::FROM_STEP) => {}
                Term::Param(p) => {
                    let product = params[p.index()].checked_mul(coefficient).ok_or(AffineOverflow)?;
                    bound.constant = bound.constant.checked_add(product).ok_or(AffineOverflow)?;
                }
                Term::Floor(inner, divisor) => {
                    let inner = BoundAffine::new(inner, params)?;
                    bound.floors.push(BoundFloor { coefficient, inner, divisor: *divisor });
                }
            }
        }
        Ok(bound)
    }

    /// The value at a point.
    pub(super) fn eval(&self, iters: &[i64]) -> Result<i64, AffineOverflow> {
        let add = |sum: i64, c: i64, value: i64| c.checked_mul(value).and_then(|p| sum.checked_add(p));
        let mut sum = self.constant;
        for &(i, c) in &self.terms {
            sum = add(sum, c, iters[i]).ok_or(AffineOverflow)?;
        }
        for floor in &self.floors {
            let value = floor.inner.eval(iters)?.div_euclid(floor.divisor);
            sum = add(sum, floor.coefficient, value).ok_or(AffineOverflow)?;
        }
        Ok(sum)
    }
}

impl BoundFormula {
    /// Binds parameters by position; all of the formula's must be there.
    pub(super) fn new(formula: &Formula, params: &[i64]) -> Result<BoundFormula, AffineOverflow> {
        let all = |parts: &[Formula]| parts.iter().map(|p| BoundFormula::new(p, params)).collect::<Result<_, _>>();
        Ok(match formula {
            Formula::NonNegative(e) => BoundFormula::NonNegative(BoundAffine::new(e, params)?),
            Formula::Zero(e) => BoundFormula::Zero(BoundAffine::new(e, params)?),
            Formula::And(parts) => BoundFormula::And(all(parts)?),
            Formula::Or(parts) => BoundFormula::Or(all(parts)?),
            Formula::Not(part) => BoundFormula::Not(Box::new(BoundFormula::new(part, params)?)),
        })
    }

    /// Whether the point belongs to the set.
    pub(super) fn holds(&self, iters: &[i64]) -> Result<bool, AffineOverflow> {
        Ok(match self {
            BoundFormula::NonNegative(e) => e.eval(iters)? >= 0,
            BoundFormula::Zero(e) => e.eval(iters)? == 0,
            BoundFormula::And(parts) => {
                for part in parts {
                    if !part.holds(iters)? {
                        return Ok(false);
                    }
                }
                true
            }
            BoundFormula::Or(parts) => {
                for part in parts {
                    if part.holds(iters)? {
                        return Ok(true);
                    }
                }
                false
            }
            BoundFormula::Not(part) => !part.holds(iters)?,
        })
    }

    /// Whether it is a conjunction of constraints without floors. Propagation is then exact for one free iterator.
    pub(super) fn is_linear_conjunction(&self) -> bool {
        match self {
            BoundFormula::NonNegative(e) | BoundFormula::Zero(e) => e.floors.is_empty(),
            BoundFormula::And(parts) => parts.iter().all(|p| p.is_linear_conjunction()),
            BoundFormula::Or(_) | BoundFormula::Not(_) => false,
        }
    }
}

//! Integer expressions as sums of products with constants: tells that two of them differ by a constant.
//!
//! A strip uses it to find its length where that is constant and to let streams share one pointer.

use crate::program::Int;

/// `sum(factor * term) + constant`; no factor is 0, no term is itself a sum or a product with a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Linear<'a> {
    terms: Vec<(&'a Int, i64)>,
    constant: i64,
}

impl<'a> Linear<'a> {
    /// The linear form of `expression`; `None` if a coefficient leaves 64 bits.
    pub(super) fn new(expression: &'a Int) -> Option<Self> {
        let mut linear = Linear { terms: Vec::new(), constant: 0 };
        linear.add_scaled(expression, 1)?;
        Some(linear)
    }

    /// The linear form of `a + b`.
    pub(super) fn sum(a: &'a Int, b: &'a Int) -> Option<Self> {
        let mut linear = Self::new(a)?;
        linear.add_scaled(b, 1)?;
        Some(linear)
    }

    /// `self - other` if that is a constant.
    pub(super) fn constant_difference(&self, other: &Linear<'a>) -> Option<i64> {
        let mut difference = self.clone();
        difference.constant = difference.constant.checked_sub(other.constant)?;
        for (term, factor) in &other.terms {
            difference.add_term(term, factor.checked_neg()?)?;
        }
        difference.terms.is_empty().then_some(difference.constant)
    }

    fn add_scaled(&mut self, expression: &'a Int, factor: i64) -> Option<()> {
        match expression {
            Int::Const(value) => {
                self.constant = self.constant.checked_add(value.checked_mul(factor)?)?;
            }
            Int::Add(a, b) => {
                self.add_scaled(a, factor)?;
                self.add_scaled(b, factor)?;
            }
            Int::Sub(a, b) => {
                self.add_scaled(a, factor)?;
                self.add_scaled(b, factor.checked_neg()?)?;
            }
            Int::Mul(a, b) => match (&**a, &**b) {
                (Int::Const(c), x) | (x, Int::Const(c)) => self.add_scaled(x, factor.checked_mul(*c)?)?,
                _ => self.add_term(expression, factor)?,
            },
            _ => self.add_term(expression, factor)?,
        }
        Some(())
    }

    fn add_term(&mut self, term: &'a Int, factor: i64) -> Option<()> {
        match self.terms.iter().position(|(known, _)| *known == term) {
            Some(at) => {
                self.terms[at].1 = self.terms[at].1.checked_add(factor)?;
                if self.terms[at].1 == 0 {
                    self.terms.swap_remove(at);
                }
            }
            None if factor != 0 => self.terms.push((term, factor)),
            None => {}
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Var;

    fn add(a: Int, b: Int) -> Int {
        Int::Add(Box::new(a), Box::new(b))
    }

    #[test]
    fn neighbours_in_a_row_differ_by_a_constant() {
        let row = || Int::Mul(Box::new(Int::Const(64)), Box::new(Int::Var(Var(0))));
        let (left, right) = (add(row(), Int::Const(-1)), add(Int::Const(1), row()));
        let (left, right) = (Linear::new(&left).unwrap(), Linear::new(&right).unwrap());
        assert_eq!(right.constant_difference(&left), Some(2));
    }

    #[test]
    fn different_wraps_do_not() {
        let wrap = |c| Int::Wrap(Box::new(add(Int::Var(Var(0)), Int::Const(c))), 10);
        let (a, b) = (wrap(0), wrap(1));
        assert_eq!(Linear::new(&a).unwrap().constant_difference(&Linear::new(&b).unwrap()), None);
    }

    #[test]
    fn overflow_is_not_a_constant() {
        let huge = Int::Mul(Box::new(Int::Const(i64::MAX)), Box::new(Int::Const(2)));
        assert_eq!(Linear::new(&huge), None);
    }
}

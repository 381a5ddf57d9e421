//! Linear forms: a constant and terms with coefficients; the one type that adds them up, for all crates.
//!
//! In: terms of any ordered type, numbers of 64 or 128 bits.   Out: sums, multiples, differences and quotients; `None`
//! where a number would leave its bits.
//!
//! What a term is, and what becomes of a form, is its user's: affine expressions of kernels
//! (`engine/src/kernel/affine.rs`), addresses (`engine/src/lower/linear.rs`), ranges (`affine`), and positions of
//! strips (`jit/src/strip/linear.rs`). Rows over fixed columns, as of constraints, are no such forms: they have an
//! entry for every column.
//!
//! Invariant: terms ascend, none occurs twice, and no coefficient is 0. So forms that are equal compare equal, in
//! whatever order they were added up, and the order of terms is that of the expressions and texts made of them.
//! Cost: a search by halves for every term that is added; forms have a handful of them, and a sorted list of those is
//! faster than a tree.

use num_integer::Integer;
use num_traits::PrimInt;
use serde::{Deserialize, Serialize};

/// `constant + sum of coefficient * term`, with terms `T` and numbers `N`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LinearForm<T, N> {
    /// Ascending, each once; no coefficient is 0.
    terms: Vec<(T, N)>,
    /// The part without a term.
    pub constant: N,
}

impl<T, N: PrimInt> Default for LinearForm<T, N> {
    /// 0.
    fn default() -> Self {
        LinearForm::constant(N::zero())
    }
}

impl<T, N: PrimInt> LinearForm<T, N> {
    /// A constant.
    pub fn constant(constant: N) -> Self {
        LinearForm { terms: Vec::new(), constant }
    }

    /// A single term, once.
    pub fn term(term: T) -> Self {
        LinearForm { terms: vec![(term, N::one())], constant: N::zero() }
    }

    /// The terms, ascending, with their coefficients, of which none is 0.
    pub fn terms(&self) -> &[(T, N)] {
        &self.terms
    }

    /// Whether there are no terms.
    pub fn is_constant(&self) -> bool {
        self.terms.is_empty()
    }

    /// The value, if there are no terms.
    pub fn as_constant(&self) -> Option<N> {
        self.is_constant().then_some(self.constant)
    }

    /// Takes out the term at a position of [`terms`](Self::terms), with its coefficient.
    ///
    /// # Panics
    /// If there is none.
    pub fn take(&mut self, position: usize) -> (T, N) {
        self.terms.remove(position)
    }

    /// The same terms with other coefficients; those that become 0 are gone.
    pub fn with_coefficients(mut self, new: impl Fn(N) -> N) -> Self {
        self.terms.iter_mut().for_each(|(_, coefficient)| *coefficient = new(*coefficient));
        self.terms.retain(|(_, coefficient)| !coefficient.is_zero());
        self
    }
}

impl<T: Ord + Clone, N: PrimInt> LinearForm<T, N> {
    /// The coefficient of a term; 0 if it does not occur.
    pub fn coefficient(&self, term: &T) -> N {
        self.find(0, term).map_or(N::zero(), |at| self.terms[at].1)
    }

    /// `self + factor * other`; none on overflow.
    pub fn plus(mut self, other: &Self, factor: N) -> Option<Self> {
        self.constant = self.constant.checked_add(&other.constant.checked_mul(&factor)?)?;
        let mut from = 0;
        for (term, coefficient) in &other.terms {
            from = self.add(from, term, coefficient.checked_mul(&factor)?)?;
        }
        Some(self)
    }

    /// `self + coefficient * term`; none on overflow.
    pub fn plus_term(mut self, term: &T, coefficient: N) -> Option<Self> {
        self.add(0, term, coefficient)?;
        Some(self)
    }

    /// `self + value`; none on overflow.
    pub fn plus_constant(mut self, value: N) -> Option<Self> {
        self.constant = self.constant.checked_add(&value)?;
        Some(self)
    }

    /// `factor * self`; none on overflow.
    pub fn times(&self, factor: N) -> Option<Self> {
        let constant = self.constant.checked_mul(&factor)?;
        if factor.is_zero() {
            return Some(LinearForm::constant(constant));
        }
        let product = |(term, coefficient): &(T, N)| Some((term.clone(), coefficient.checked_mul(&factor)?));
        Some(LinearForm { terms: self.terms.iter().map(product).collect::<Option<_>>()?, constant })
    }

    /// `self - other` if that is a constant, and no overflow.
    pub fn constant_difference(&self, other: &Self) -> Option<N> {
        if self.terms == other.terms { self.constant.checked_sub(&other.constant) } else { None }
    }

    /// The form with `term` replaced by `value`; none on overflow.
    pub fn substitute(mut self, term: &T, value: &Self) -> Option<Self> {
        match self.find(0, term) {
            Ok(at) => {
                let (_, coefficient) = self.take(at);
                self.plus(value, coefficient)
            }
            Err(_) => Some(self),
        }
    }

    /// The position of a term, which is not before `from`, or where it would be.
    fn find(&self, from: usize, term: &T) -> Result<usize, usize> {
        let found = self.terms[from..].binary_search_by(|(own, _)| own.cmp(term));
        found.map(|at| from + at).map_err(|at| from + at)
    }

    /// Adds a term, which is not before the position `from`; returns a position that no later term is before. None on
    /// overflow; then nothing has changed.
    fn add(&mut self, from: usize, term: &T, coefficient: N) -> Option<usize> {
        if coefficient.is_zero() {
            return Some(from);
        }
        match self.find(from, term) {
            Ok(at) => {
                let sum = self.terms[at].1.checked_add(&coefficient)?;
                if sum.is_zero() {
                    self.terms.remove(at);
                } else {
                    self.terms[at].1 = sum;
                }
                Some(at)
            }
            Err(at) => {
                self.terms.insert(at, (term.clone(), coefficient));
                Some(at)
            }
        }
    }
}

impl<T: Clone, N: PrimInt + Integer> LinearForm<T, N> {
    /// `quotient` and `rest`, of `self = divisor * quotient + rest`: the terms whose coefficients are multiples of a
    /// positive divisor and the others, and `0 <= rest.constant < divisor`.
    ///
    /// # Panics
    /// If the divisor is not positive.
    pub fn divided(&self, divisor: N) -> (Self, Self) {
        assert!(divisor > N::zero(), "division by a number that is not positive");
        let (whole, left) = self.constant.div_mod_floor(&divisor);
        let (mut quotient, mut rest) = (LinearForm::constant(whole), LinearForm::constant(left));
        for (term, coefficient) in &self.terms {
            let (whole, left) = coefficient.div_rem(&divisor);
            match left.is_zero() {
                true => quotient.terms.push((term.clone(), whole)),
                false => rest.terms.push((term.clone(), *coefficient)),
            }
        }
        (quotient, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Form = LinearForm<char, i64>;

    /// The form added up in the order given.
    fn form<N: PrimInt>(terms: &[(char, N)], constant: N) -> LinearForm<char, N> {
        let start = LinearForm::constant(constant);
        terms.iter().fold(start, |sum, (term, coefficient)| sum.plus_term(term, *coefficient).unwrap())
    }

    #[test]
    fn terms_ascend_in_whatever_order_they_are_added() {
        let sorted = form(&[('a', 3), ('b', -1), ('c', 2)], 7);
        assert_eq!(sorted, form(&[('c', 1), ('a', 3), ('b', -1), ('c', 1)], 7));
        assert_eq!(sorted.terms(), [('a', 3), ('b', -1), ('c', 2)]);
        let (odd, even) = (form(&[('a', 3), ('c', 2)], 0), form(&[('b', -1)], 7));
        assert_eq!(odd.clone().plus(&even, 1), even.plus(&odd, 1));
    }

    #[test]
    fn what_cancels_is_gone() {
        let (a, b) = (form(&[('a', 2), ('b', 3), ('c', 4)], 1), form(&[('a', 1), ('c', 2), ('d', 0)], 0));
        assert_eq!(a.clone().plus(&b, -2), Some(form(&[('b', 3)], 1)));
        assert_eq!(a.clone().plus(&a, -1), Some(Form::default()));
        assert_eq!(a.times(0), Some(Form::default()));
        assert_eq!(a.clone().plus(&b, 0), Some(a.clone()));
        assert_eq!(a.clone().with_coefficients(|c| c % 2), form(&[('b', 1)], 1));
        assert_eq!(a.plus_term(&'b', -3).unwrap().coefficient(&'b'), 0);
    }

    #[test]
    fn forms_compare_term_by_term_and_then_by_their_constants() {
        let (a, b) = (Form::term('a'), Form::term('b'));
        assert!(Form::constant(9) < a && a < b);
        assert!(a < a.times(2).unwrap() && a < a.clone().plus(&b, 1).unwrap());
        assert!(a < a.clone().plus_constant(1).unwrap());
    }

    #[test]
    fn forms_of_the_same_terms_differ_by_a_constant() {
        let (a, b) = (form(&[('a', 2)], 5), form(&[('a', 2)], -3));
        assert_eq!(a.constant_difference(&b), Some(8));
        assert_eq!(a.constant_difference(&Form::term('a')), None);
        assert_eq!((a.is_constant(), a.as_constant(), Form::constant(4).as_constant()), (false, None, Some(4)));
    }

    #[test]
    fn a_term_is_replaced_by_a_form() {
        let form_of = form(&[('a', 2), ('b', 1)], 1);
        let value = form(&[('a', 1), ('b', -1)], 3);
        assert_eq!(form_of.clone().substitute(&'a', &value), Some(form(&[('a', 2), ('b', -1)], 7)));
        assert_eq!(form_of.clone().substitute(&'c', &value), Some(form_of));
    }

    #[test]
    fn division_leaves_a_rest_that_is_not_negative() {
        let (quotient, rest) = form(&[('a', 6), ('b', 4), ('c', -3)], -1).divided(3);
        assert_eq!((quotient, rest), (form(&[('a', 2), ('c', -1)], -1), form(&[('b', 4)], 2)));
        let (quotient, rest) = form(&[('a', i64::MIN)], i64::MIN).divided(i64::MAX);
        assert_eq!((quotient, rest), (Form::constant(-2), form(&[('a', i64::MIN)], i64::MAX - 1)));
    }

    /// What overflows does so at both ends, in terms and in the constant, and what just fits does not.
    fn keeps_to_its_bits<N: PrimInt + std::fmt::Debug>() {
        let (one, minus_one) = (N::one(), N::zero() - N::one());
        for (end, out) in [(N::max_value(), one), (N::min_value(), minus_one)] {
            let (term, constant) = (form(&[('a', end)], N::zero()), LinearForm::<char, N>::constant(end));
            assert_eq!(term.clone().plus_term(&'a', out), None);
            assert_eq!(term.clone().plus(&form(&[('a', out)], N::zero()), one), None);
            assert_eq!(term.times(one + one), None);
            assert_eq!(constant.clone().plus_constant(out), None);
            assert_eq!(constant.clone().plus(&LinearForm::constant(out), one), None);
            assert_eq!(constant.times(one + one), None);
            assert_eq!(constant.constant_difference(&LinearForm::constant(N::zero() - out)), None);
            let inward = N::zero() - out;
            assert_eq!(term.plus_term(&'a', inward), Some(form(&[('a', end + inward)], N::zero())));
            assert_eq!(constant.plus_constant(inward), Some(LinearForm::constant(end + inward)));
        }
        // The smallest number has no opposite, though `-1 - smallest` has a place: products are checked by themselves.
        let smallest = form(&[('a', N::min_value())], N::zero());
        assert_eq!(smallest.times(minus_one), None);
        assert_eq!(form(&[('a', minus_one)], N::zero()).plus(&smallest, minus_one), None);
        assert_eq!(form(&[('b', one + one)], N::zero()).substitute(&'b', &smallest), None);
    }

    #[test]
    fn overflow_is_none_at_both_ends() {
        keeps_to_its_bits::<i64>();
        keeps_to_its_bits::<i128>();
    }
}

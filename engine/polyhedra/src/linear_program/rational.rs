//! Fractions, and points whose coordinates are fractions with one denominator.
//!
//! In: integers of 127 bits.   Out: comparisons and values, exact; `None` says that a number left that range.

use num_integer::gcd;

/// A fraction with a positive denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// Above the line.
    pub numerator: i128,
    /// Below the line; positive.
    pub denominator: i128,
}

/// A point `numerators / denominator`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RationalPoint {
    /// Positive, and the smallest one possible: 1 if and only if the point is an integer one.
    pub denominator: i128,
    /// One per coordinate.
    pub numerators: Vec<i128>,
}

/// The product of two numbers, most of which are small: multiplying 128 bits takes several times as long. None on
/// overflow.
pub(super) fn product(a: i128, b: i128) -> Option<i128> {
    match (i64::try_from(a), i64::try_from(b)) {
        (Ok(a), Ok(b)) => Some(i128::from(a) * i128::from(b)),
        _ => a.checked_mul(b),
    }
}

impl Ratio {
    /// Whether it is less than `other`.
    pub fn is_less(self, other: Ratio) -> Option<bool> {
        let left = self.numerator.checked_mul(other.denominator)?;
        Some(left < other.numerator.checked_mul(self.denominator)?)
    }

    /// The largest integer that is not greater.
    pub fn floor(self) -> i128 {
        self.numerator.div_euclid(self.denominator)
    }

    /// One over it; it is positive.
    pub fn inverse(self) -> Ratio {
        Ratio { numerator: self.denominator, denominator: self.numerator }
    }
}

impl RationalPoint {
    /// `numerators / denominator`, which is positive, in lowest terms.
    pub fn reduced(mut numerators: Vec<i128>, denominator: i128) -> RationalPoint {
        // A divisor of the denominator is at most as large.
        let common = numerators.iter().fold(denominator.unsigned_abs(), |common, x| match common {
            1 => 1,
            _ => gcd(common, x.unsigned_abs()),
        }) as i128;
        if common > 1 {
            numerators.iter_mut().for_each(|x| *x /= common);
        }
        RationalPoint { denominator: denominator / common, numerators }
    }

    /// The value of `coefficients . x + constant` here, times the denominator.
    pub fn value(&self, coefficients: &[i128], constant: i128) -> Option<i128> {
        let start = product(constant, self.denominator)?;
        let mut terms = coefficients.iter().zip(&self.numerators).filter(|(c, _)| **c != 0);
        terms.try_fold(start, |sum, (c, x)| sum.checked_add(product(*c, *x)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_in_lowest_terms() {
        let point = RationalPoint::reduced(vec![6, -9, 0], 12);
        assert_eq!(point, RationalPoint { denominator: 4, numerators: vec![2, -3, 0] });
        assert_eq!(RationalPoint::reduced(vec![-8, 4], 4).denominator, 1);
        assert_eq!(point.value(&[1, 2, 7], 3), Some(8));
        assert_eq!(point.value(&[i128::MAX, 0, 0], 0), None);
    }

    #[test]
    fn fractions_compare_exactly() {
        let ratio = |numerator, denominator| Ratio { numerator, denominator };
        assert_eq!(ratio(1, 3).is_less(ratio(2, 5)), Some(true));
        assert_eq!(ratio(2, 6).is_less(ratio(1, 3)), Some(false));
        assert_eq!(ratio(i128::MAX, 1).is_less(ratio(1, 2)), None);
        assert_eq!([ratio(-1, 3).floor(), ratio(7, 3).floor()], [-1, 2]);
    }
}

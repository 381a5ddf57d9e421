//! Intervals of integers, wider than the 64 bits that programs compute in, so that an overflow shows as a number.
//!
//! The one interval of the workspace: ranges of integer expressions, of iterators and of storage's coordinates. An end
//! at the limits of 128 bits is no bound: what a sum or a product cannot say, it leaves open.

use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};

/// Integers from `min` to `max`, both included; none if `max` is less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    /// The smallest; [`i128::MIN`] if there is none.
    pub min: i128,
    /// The largest; [`i128::MAX`] if there is none.
    pub max: i128,
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..={}", self.min, self.max)
    }
}

impl Interval {
    /// Everything an integer of a program can be.
    pub const ALL: Interval = Interval { min: i64::MIN as i128, max: i64::MAX as i128 };
    /// All integers.
    pub const UNBOUNDED: Interval = Interval { min: i128::MIN, max: i128::MAX };

    /// Between these ends; one that is none is no bound.
    pub fn between(min: impl Into<Option<i64>>, max: impl Into<Option<i64>>) -> Interval {
        Interval { min: min.into().map_or(i128::MIN, i128::from), max: max.into().map_or(i128::MAX, i128::from) }
    }

    /// One integer.
    pub fn point(value: i64) -> Interval {
        Interval::between(value, value)
    }

    /// Whether it holds nothing.
    pub fn is_empty(self) -> bool {
        self.max < self.min
    }

    /// Whether both ends are bounds.
    pub fn is_bounded(self) -> bool {
        self.min != i128::MIN && self.max != i128::MAX
    }

    /// The smallest, if it is a bound that fits 64 bits.
    pub fn lower(self) -> Option<i64> {
        i64::try_from(self.min).ok()
    }

    /// The largest, if it is a bound that fits 64 bits.
    pub fn upper(self) -> Option<i64> {
        i64::try_from(self.max).ok()
    }

    /// Both ends, if they are bounds that fit 64 bits.
    pub fn ends(self) -> Option<(i64, i64)> {
        self.lower().zip(self.upper())
    }

    /// How many integers it holds; none if it has no bounds, or if they cannot be moved to 0 and counted in 63 bits.
    pub fn extent(self) -> Option<i64> {
        let (min, max) = self.ends()?;
        min.checked_neg()?;
        max.checked_sub(min)?.checked_add(1)
    }

    /// Whether all of it lies in `other`.
    pub fn within(self, other: Interval) -> bool {
        other.min <= self.min && self.max <= other.max
    }

    /// What lies in both.
    pub fn intersect(self, other: Interval) -> Interval {
        Interval { min: self.min.max(other.min), max: self.max.min(other.max) }
    }

    /// What lies in both; `self` if nothing does.
    pub(super) fn narrowed(self, other: Interval) -> Interval {
        let both = self.intersect(other);
        if both.is_empty() { self } else { both }
    }

    /// From the smallest to the largest of both.
    pub fn hull(self, other: Interval) -> Interval {
        Interval { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Multiples of members.
    pub fn scaled(self, factor: i64) -> Interval {
        let by = |end: Option<i128>| end.and_then(|end| end.checked_mul(i128::from(factor)));
        match factor.signum() {
            0 => Interval::point(0),
            1 => Interval::of(by(self.low()), by(self.high())),
            _ => Interval::of(by(self.high()), by(self.low())),
        }
    }

    /// The `x` with `factor * x` in it; the factor is not 0.
    pub fn divided(self, factor: i64) -> Interval {
        let divisor = i128::from(factor).abs();
        let ends = if factor < 0 { -self } else { self };
        // The smallest is rounded up.
        Interval::of(ends.low().map(|end| -(-end).div_euclid(divisor)), ends.high().map(|end| end.div_euclid(divisor)))
    }

    /// Quotients rounded down; the divisor is positive.
    pub fn floor_div(self, divisor: i64) -> Interval {
        let divide = |end: i128| end.div_euclid(i128::from(divisor));
        Interval::of(self.low().map(divide), self.high().map(divide))
    }

    /// Of non-negative remainders: exact within one period, else all of them.
    pub(super) fn modulo(self, modulus: i64) -> Interval {
        let modulus_wide = i128::from(modulus);
        match self.quotient(modulus) {
            Some(_) => Interval { min: self.min.rem_euclid(modulus_wide), max: self.max.rem_euclid(modulus_wide) },
            None => Interval { min: 0, max: modulus_wide - 1 },
        }
    }

    /// The quotient by `divisor` if it is the same everywhere.
    pub(super) fn quotient(self, divisor: i64) -> Option<i128> {
        let quotients = self.floor_div(divisor);
        (quotients.is_bounded() && quotients.min == quotients.max).then_some(quotients.min)
    }

    fn low(self) -> Option<i128> {
        (self.min != i128::MIN).then_some(self.min)
    }

    fn high(self) -> Option<i128> {
        (self.max != i128::MAX).then_some(self.max)
    }

    fn of(low: Option<i128>, high: Option<i128>) -> Interval {
        Interval { min: low.unwrap_or(i128::MIN), max: high.unwrap_or(i128::MAX) }
    }
}

/// Sums of members.
impl Add for Interval {
    type Output = Interval;

    fn add(self, other: Interval) -> Interval {
        let sum = |a: Option<i128>, b: Option<i128>| a?.checked_add(b?);
        Interval::of(sum(self.low(), other.low()), sum(self.high(), other.high()))
    }
}

/// Differences of members.
impl Sub for Interval {
    type Output = Interval;

    fn sub(self, other: Interval) -> Interval {
        self + -other
    }
}

/// Negatives of members.
impl Neg for Interval {
    type Output = Interval;

    fn neg(self) -> Interval {
        Interval::of(self.high().and_then(i128::checked_neg), self.low().and_then(i128::checked_neg))
    }
}

/// Products of members; no bounds where a factor has none.
impl Mul for Interval {
    type Output = Interval;

    fn mul(self, other: Interval) -> Interval {
        let ends = |of: Interval| Some([of.low()?, of.high()?]);
        let corners = || {
            let ([a, b], [c, d]) = (ends(self)?, ends(other)?);
            let corners = [a.checked_mul(c)?, a.checked_mul(d)?, b.checked_mul(c)?, b.checked_mul(d)?];
            Some(Interval { min: *corners.iter().min()?, max: *corners.iter().max()? })
        };
        corners().unwrap_or(Interval::UNBOUNDED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_end_stays_open() {
        let (from_two, to_five) = (Interval::between(2, None), Interval::between(None, 5));
        assert_eq!(from_two + Interval::point(3), Interval::between(5, None));
        assert_eq!(from_two - to_five, Interval::between(-3, None));
        assert_eq!([from_two.scaled(-3), from_two.scaled(0)], [Interval::between(None, -6), Interval::point(0)]);
        assert_eq!(from_two * Interval::point(3), Interval::UNBOUNDED);
        assert_eq!([from_two.divided(-2), to_five.divided(2)], [-1, 2].map(|end| Interval::between(None, end)));
        assert_eq!((from_two.ends(), from_two.intersect(to_five).ends()), (None, Some((2, 5))));
    }

    #[test]
    fn what_leaves_128_bits_has_no_bound() {
        let huge = Interval { min: i128::MAX - 1, max: i128::MAX - 1 };
        // Taken back, it is not known again: a smallest that was too large to tell is none.
        assert_eq!(huge + huge - huge, Interval::UNBOUNDED);
        assert_eq!(huge * huge, Interval::UNBOUNDED);
        assert_eq!(
            Interval::between(i64::MIN, i64::MIN) - Interval::point(1),
            Interval { min: i128::from(i64::MIN) - 1, max: i128::from(i64::MIN) - 1 }
        );
    }

    #[test]
    fn quotients_are_rounded_to_what_is_inside() {
        assert_eq!(Interval::between(-7, 7).divided(3), Interval::between(-2, 2));
        assert_eq!(Interval::between(-7, 7).floor_div(3), Interval::between(-3, 2));
        assert!(Interval::between(1, 2).divided(3).is_empty());
    }
}

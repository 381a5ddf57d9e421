//! Intervals of integers, wider than the 64 bits that programs compute in, so that an overflow shows as a number.

use std::fmt;

/// Integers from `min` to `max`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The smallest.
    pub min: i128,
    /// The largest.
    pub max: i128,
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..={}", self.min, self.max)
    }
}

impl Interval {
    /// Everything an integer of a program can be.
    pub(super) const ALL: Interval = Interval { min: i64::MIN as i128, max: i64::MAX as i128 };

    /// Whether all of it lies in `other`.
    pub fn within(self, other: Interval) -> bool {
        other.min <= self.min && self.max <= other.max
    }

    /// What lies in both; `self` if nothing does.
    pub(super) fn intersect(self, other: Interval) -> Interval {
        let (min, max) = (self.min.max(other.min), self.max.min(other.max));
        if min <= max { Interval { min, max } } else { self }
    }

    /// Of sums; `None` beyond 128 bits.
    pub(super) fn add(self, other: Interval) -> Option<Interval> {
        Some(Interval { min: self.min.checked_add(other.min)?, max: self.max.checked_add(other.max)? })
    }

    /// Of negatives; `None` beyond 128 bits.
    pub(super) fn negate(self) -> Option<Interval> {
        Some(Interval { min: self.max.checked_neg()?, max: self.min.checked_neg()? })
    }

    /// Of products; `None` beyond 128 bits.
    pub(super) fn multiply(self, other: Interval) -> Option<Interval> {
        let corners = [
            self.min.checked_mul(other.min)?,
            self.min.checked_mul(other.max)?,
            self.max.checked_mul(other.min)?,
            self.max.checked_mul(other.max)?,
        ];
        Some(Interval { min: *corners.iter().min()?, max: *corners.iter().max()? })
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
        let divisor = i128::from(divisor);
        let quotient = self.min.div_euclid(divisor);
        (quotient == self.max.div_euclid(divisor)).then_some(quotient)
    }
}

//! Numbers as recipes see them: values, or records of what is done to values.

use super::format::{DOUBLE, Format, SINGLE};
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// A number of a format, with the operations that recipes use; each is one operation of the loop language.
pub trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// The result of a comparison.
    type Truth: Copy + BitAnd<Output = Self::Truth> + BitOr<Output = Self::Truth> + Not<Output = Self::Truth>;

    /// Its format.
    #[doc(hidden)]
    fn format(self) -> &'static Format;
    /// The number of its format with these bits.
    fn with_bits(self, bits: u64) -> Self;
    /// `self * factor + term`, rounded once.
    fn fma(self, factor: Self, term: Self) -> Self;
    /// Magnitude.
    fn abs(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Integer part.
    fn trunc(self) -> Self;
    /// Remainder of the quotient's integer part.
    fn rem(self, divisor: Self) -> Self;
    /// `self < other ? self : other`.
    fn min(self, other: Self) -> Self;
    /// `self > other ? self : other`.
    fn max(self, other: Self) -> Self;
    /// `self < other`.
    fn less(self, other: Self) -> Self::Truth;
    /// `self == other`.
    fn equals(self, other: Self) -> Self::Truth;
    /// One of two.
    fn select(condition: Self::Truth, then: Self, otherwise: Self) -> Self;
    /// Bits in both.
    fn and_bits(self, other: Self) -> Self;
    /// Bits in either.
    fn or_bits(self, other: Self) -> Self;
    /// Bits in one.
    fn xor_bits(self, other: Self) -> Self;
    /// Sum of the bits as integers.
    fn add_bits(self, other: Self) -> Self;
    /// Moves bits up.
    fn shift_left(self, count: u8) -> Self;
    /// Moves bits down.
    fn shift_right(self, count: u8) -> Self;

    /// The number of its format nearest to `value`.
    fn literal(self, value: f64) -> Self {
        self.with_bits(self.format().bits_of(value))
    }

    /// The sign bit alone.
    fn sign_bit(self) -> Self {
        self.and_bits(self.literal(-0.0))
    }
}

/// The numbers that functions compute with at once: `f64` and `f32`.
pub trait Real: Number<Truth = bool> + PartialOrd + 'static {}

macro_rules! real {
    ($float:ty, $bits:ty, $format:expr) => {
        impl Number for $float {
            type Truth = bool;

            fn format(self) -> &'static Format {
                &$format
            }

            fn with_bits(self, bits: u64) -> Self {
                <$float>::from_bits(bits as $bits)
            }

            fn fma(self, factor: Self, term: Self) -> Self {
                self.mul_add(factor, term)
            }

            fn abs(self) -> Self {
                <$float>::abs(self)
            }

            fn sqrt(self) -> Self {
                <$float>::sqrt(self)
            }

            fn trunc(self) -> Self {
                <$float>::trunc(self)
            }

            fn rem(self, divisor: Self) -> Self {
                self % divisor
            }

            fn min(self, other: Self) -> Self {
                if self < other { self } else { other }
            }

            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }

            fn less(self, other: Self) -> bool {
                self < other
            }

            fn equals(self, other: Self) -> bool {
                self == other
            }

            fn select(condition: bool, then: Self, otherwise: Self) -> Self {
                if condition { then } else { otherwise }
            }

            fn and_bits(self, other: Self) -> Self {
                <$float>::from_bits(self.to_bits() & other.to_bits())
            }

            fn or_bits(self, other: Self) -> Self {
                <$float>::from_bits(self.to_bits() | other.to_bits())
            }

            fn xor_bits(self, other: Self) -> Self {
                <$float>::from_bits(self.to_bits() ^ other.to_bits())
            }

            fn add_bits(self, other: Self) -> Self {
                <$float>::from_bits(self.to_bits().wrapping_add(other.to_bits()))
            }

            fn shift_left(self, count: u8) -> Self {
                <$float>::from_bits(self.to_bits() << count)
            }

            fn shift_right(self, count: u8) -> Self {
                <$float>::from_bits(self.to_bits() >> count)
            }
        }

        impl Real for $float {}
    };
}

real!(f64, u64, DOUBLE);
real!(f32, u32, SINGLE);

/// `c[0] + c[1] x + ..`, from the highest power down.
pub(super) fn polynomial<N: Number>(x: N, coefficients: &[f64]) -> N {
    let (highest, rest) = coefficients.split_last().expect("a polynomial has coefficients");
    rest.iter().rev().fold(x.literal(*highest), |sum, c| sum.fma(x, x.literal(*c)))
}

/// `x` within two bounds; NaN stays NaN.
pub(super) fn bounded<N: Number>(x: N, (least, most): (f64, f64)) -> N {
    x.literal(least).max(x.literal(most).min(x))
}

/// 2 to the power of an integer `n` within the range of normal numbers.
pub(super) fn power_of_two<N: Number>(n: N) -> N {
    let format = n.format();
    // The sum counts in ones, so that its lowest bits are those of the biased exponent.
    let biased = n + n.literal(format.to_integer + format.bias);
    biased.shift_left(format.mantissa_bits)
}

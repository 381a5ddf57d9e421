//! Numbers that naive loops compute with, in the kernel's own precision.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A floating-point type of values.
pub(crate) trait Real:
    Copy
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Into<f64>
{
    /// The nearest number: what becomes of a literal or a scalar.
    fn of(value: f64) -> Self;

    /// `self * factor + addend`, rounded once.
    fn fma(self, factor: Self, addend: Self) -> Self;

    /// The value without its sign.
    fn magnitude(self) -> Self;
}

impl Real for f64 {
    fn of(value: f64) -> f64 {
        value
    }

    fn fma(self, factor: f64, addend: f64) -> f64 {
        self.mul_add(factor, addend)
    }

    fn magnitude(self) -> f64 {
        self.abs()
    }
}

impl Real for f32 {
    fn of(value: f64) -> f32 {
        value as f32
    }

    fn fma(self, factor: f32, addend: f32) -> f32 {
        self.mul_add(factor, addend)
    }

    fn magnitude(self) -> f32 {
        self.abs()
    }
}

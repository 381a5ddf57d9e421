//! Numbers that naive loops compute with, in the kernel's own precision.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crease::kernel::KernelError;
use crease::kernel::graph::Element;
use crease::{Kernel, functions};

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
    /// The same for kernels.
    const ELEMENT: Element;

    /// How many of them the widest vectors hold.
    const LANES: u32;

    /// The nearest number: what becomes of a literal or a scalar.
    fn of(value: f64) -> Self;

    /// `self * factor + addend`, rounded once.
    fn fma(self, factor: Self, addend: Self) -> Self;

    /// The value without its sign.
    fn magnitude(self) -> Self;

    /// The square root.
    fn root(self) -> Self;

    /// The exponential, as kernels have it.
    fn exponential(self) -> Self;

    /// The kernel of a text that is written for doubles, with arrays, scalars and conversions of this type, and as many
    /// of them in a vector as fit: the language has no names for types.
    fn parse(text: &str) -> Result<Kernel, KernelError>;
}

impl Real for f64 {
    const ELEMENT: Element = Element::F64;
    const LANES: u32 = 8;

    fn of(value: f64) -> f64 {
        value
    }

    fn fma(self, factor: f64, addend: f64) -> f64 {
        self.mul_add(factor, addend)
    }

    fn magnitude(self) -> f64 {
        self.abs()
    }

    fn root(self) -> f64 {
        self.sqrt()
    }

    fn exponential(self) -> f64 {
        functions::exp(self)
    }

    fn parse(text: &str) -> Result<Kernel, KernelError> {
        Kernel::parse(text)
    }
}

impl Real for f32 {
    const ELEMENT: Element = Element::F32;
    const LANES: u32 = 16;

    fn of(value: f64) -> f32 {
        value as f32
    }

    fn fma(self, factor: f32, addend: f32) -> f32 {
        self.mul_add(factor, addend)
    }

    fn magnitude(self) -> f32 {
        self.abs()
    }

    fn root(self) -> f32 {
        self.sqrt()
    }

    fn exponential(self) -> f32 {
        functions::exp(self)
    }

    fn parse(text: &str) -> Result<Kernel, KernelError> {
        Kernel::parse(&text.replace(": f64", ": f32").replace("f64(", "f32(").replace("vector(8)", "vector(16)"))
    }
}

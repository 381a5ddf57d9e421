//! Pixels: the arithmetic that naive loops do in the kernel's own precision, and images to start from.

use std::ops::{Add, Mul};

use crate::fields::{Field, KernelDataError, cells, noise};

/// An element type of images.
pub(super) trait Pixel: Copy + Default + Add<Output = Self> + Mul<Output = Self> {
    /// Its name in the text form.
    const ELEMENT: &'static str;

    /// The nearest pixel value.
    fn nearest(value: f64) -> Self;

    /// The value, exactly.
    fn widened(self) -> f64;
}

impl Pixel for f32 {
    const ELEMENT: &'static str = "f32";

    fn nearest(value: f64) -> f32 {
        value as f32
    }

    fn widened(self) -> f64 {
        f64::from(self)
    }
}

impl Pixel for f64 {
    const ELEMENT: &'static str = "f64";

    fn nearest(value: f64) -> f64 {
        value
    }

    fn widened(self) -> f64 {
        self
    }
}

/// A third, as the text forms write it: rounded to a double, then to the pixel's type.
pub(super) const THIRD: f64 = 1.0 / 3.0;

/// The mean of three pixels, summed from the left.
pub(super) fn mean<P: Pixel>(a: P, b: P, c: P) -> P {
    (a + b + c) * P::nearest(THIRD)
}

/// A bright disc on a slope, with noise; every value is one of the pixel's type.
pub(super) fn disc<P: Pixel>(shape: [usize; 2]) -> Result<Field, KernelDataError> {
    cells(&shape)?;
    let centred = |position: usize, extent: usize| 2.0 * position as f64 / extent as f64 - 1.0;
    let value = |p: [usize; 2]| {
        let (v, u) = (centred(p[0], shape[0]), centred(p[1], shape[1]));
        let disc = if v * v + u * u < 0.3 { 0.5 } else { 0.0 };
        0.25 + disc + 0.1 * u + 0.1 * noise(5, &p)
    };
    Ok(Field::from_shape_fn(shape.to_vec(), |p| P::nearest(value([p[0], p[1]])).widened()))
}

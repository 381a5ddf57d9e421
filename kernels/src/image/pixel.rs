//! Pixels: their mean, and images to start from.

use ndarray::Dimension;

use crate::fields::{Field, KernelDataError, cells, noise};
use crate::real::Real;

/// A third, as the kernels write it: rounded to a double, then to the pixel's type.
pub(super) const THIRD: f64 = 1.0 / 3.0;

/// The mean of three pixels, summed from the left.
pub(super) fn mean<P: Real>(a: P, b: P, c: P) -> P {
    (a + b + c) * P::of(THIRD)
}

/// A bright disc on a slope, with noise, in every plane; the last two extents are those of a plane. Every value is one
/// of the pixel's type.
pub(super) fn disc<P: Real>(shape: &[usize]) -> Result<Field, KernelDataError> {
    cells(shape)?;
    let [.., height, width] = *shape else {
        return Err(KernelDataError::Axes { expected: 2, shape: shape.to_vec() });
    };
    let centred = |position: usize, extent: usize| 2.0 * position as f64 / extent as f64 - 1.0;
    let value = |p: &[usize]| {
        let (v, u) = (centred(p[p.len() - 2], height), centred(p[p.len() - 1], width));
        let disc = if v * v + u * u < 0.3 { 0.5 } else { 0.0 };
        0.25 + disc + 0.1 * u + 0.1 * noise(5, p)
    };
    Ok(Field::from_shape_fn(shape.to_vec(), |p| P::of(value(p.slice())).into()))
}

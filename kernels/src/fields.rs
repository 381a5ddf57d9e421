//! Fields: the data that kernels start from and end with, and reproducible noise to fill them.

use std::collections::BTreeMap;

use ndarray::{ArrayD, Dimension, IxDyn};

/// One array's data in logical order, without the step index of a state array. Single-precision arrays are held
/// widened.
pub type Field = ArrayD<f64>;

/// Data by array name.
pub type Fields = BTreeMap<String, Field>;

/// Why a kernel's data could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelDataError {
    /// A size parameter has no value.
    #[error("size `{name}` has no value")]
    UnknownSize {
        /// The parameter.
        name: String,
    },
    /// A run-time scalar has no value.
    #[error("scalar `{name}` has no value")]
    UnknownScalar {
        /// The scalar.
        name: String,
    },
    /// The naive loops need more room.
    #[error("size `{name}` is {value}, it must be at least {at_least}")]
    BadSize {
        /// The parameter.
        name: String,
        /// Its value.
        value: i64,
        /// The least value.
        at_least: usize,
    },
    /// A shape has another number of axes than the lattice.
    #[error("shape {shape:?} does not have {expected} axes")]
    Axes {
        /// Axes of the lattice.
        expected: usize,
        /// Extents given.
        shape: Vec<usize>,
    },
    /// The product of the sizes leaves the address space.
    #[error("a field of shape {shape:?} is too large")]
    TooLarge {
        /// Extents asked for.
        shape: Vec<usize>,
    },
    /// The starting data lack an array.
    #[error("array `{array}` has no data")]
    Missing {
        /// The array.
        array: String,
    },
    /// The starting data of an array have another shape.
    #[error("array `{array}` has shape {found:?}, expected {expected:?}")]
    Shape {
        /// The array.
        array: String,
        /// Extents needed.
        expected: Vec<usize>,
        /// Extents given.
        found: Vec<usize>,
    },
}

/// Number of cells of a shape, refused where memory could not hold them.
pub(crate) fn cells(shape: &[usize]) -> Result<usize, KernelDataError> {
    let product = shape.iter().try_fold(1usize, |n, &extent| n.checked_mul(extent));
    let fits = product.filter(|&n| n <= isize::MAX as usize / size_of::<f64>());
    fits.ok_or_else(|| KernelDataError::TooLarge { shape: shape.to_vec() })
}

/// A field from its cells in row-major order; `data` must have as many as `shape` says.
pub(crate) fn field(shape: &[usize], data: Vec<f64>) -> Field {
    ArrayD::from_shape_vec(IxDyn(shape), data).expect("the loops made one value for each cell of the shape")
}

/// An array's cells in row-major order, checked against a shape.
pub(crate) fn cells_of(fields: &Fields, array: &str, shape: &[usize]) -> Result<Vec<f64>, KernelDataError> {
    let field = fields.get(array).ok_or_else(|| KernelDataError::Missing { array: array.to_owned() })?;
    if field.shape() != shape {
        let (expected, found) = (shape.to_vec(), field.shape().to_vec());
        return Err(KernelDataError::Shape { array: array.to_owned(), expected, found });
    }
    Ok(field.iter().copied().collect())
}

/// Noise in `-1 .. 1`, a hash of a seed and a position: the same on every machine and in every order.
///
/// The mixing is that of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
pub fn noise(seed: u64, position: &[usize]) -> f64 {
    let mixed = position.iter().fold(mix(seed), |state, &p| mix(state ^ p as u64));
    (mixed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// A hill or more along every axis, and noise: values from -0.25 to 1.
pub(crate) fn hills(seed: u64, shape: &[usize]) -> Result<Field, KernelDataError> {
    cells(shape)?;
    let value = |place: &[usize]| {
        let angles = place.iter().zip(shape).map(|(&i, &n)| std::f64::consts::TAU * i as f64 / n as f64);
        let hill = angles.map(|angle| 0.5 + 0.5 * angle.sin()).product::<f64>();
        0.75 * hill + 0.25 * noise(seed, place)
    };
    Ok(Field::from_shape_fn(IxDyn(shape), |place| value(place.slice())))
}

fn mix(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_centred_and_differs_from_cell_to_cell() {
        let samples: Vec<f64> = (0..10_000).map(|i| noise(7, &[i / 100, i % 100])).collect();
        assert!(samples.iter().all(|x| (-1.0..1.0).contains(x)));
        assert!(samples.iter().sum::<f64>().abs() < 200.0);
        assert_ne!(noise(7, &[1, 2]), noise(7, &[2, 1]));
    }

    #[test]
    fn a_shape_beyond_memory_is_refused() {
        assert!(cells(&[1 << 40, 1 << 40]).is_err());
        assert_eq!(cells(&[3, 4]), Ok(12));
    }
}

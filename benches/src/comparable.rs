//! Runners whose answers can be compared with those of the naive loops.

use crease_kernels::Fields;

use crate::error::BenchError;
use crate::timing::Runner;

/// A runner that can show its results in logical order.
pub(crate) trait Comparable: Runner {
    /// Every output, and every state array at the current step.
    fn read(&mut self) -> Result<Fields, BenchError>;

    /// Steps to take after the answer was checked and before anything is timed.
    fn warm_up_steps(&self) -> u64 {
        0
    }
}

/// Largest difference of two sets of fields: infinite if arrays or shapes differ, NaN if only one value is a NaN.
pub(crate) fn max_abs_diff(found: &Fields, expected: &Fields) -> f64 {
    let mut largest: f64 = 0.0;
    for (name, field) in expected {
        let Some(other) = found.get(name).filter(|other| other.shape() == field.shape()) else {
            return f64::INFINITY;
        };
        for (a, b) in field.iter().zip(other).filter(|(a, b)| a.to_bits() != b.to_bits()) {
            let difference = (a - b).abs();
            if difference.is_nan() {
                return difference;
            }
            largest = largest.max(difference);
        }
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::arr1;

    fn fields(values: &[f64]) -> Fields {
        [("u".to_owned(), arr1(values).into_dyn())].into()
    }

    #[test]
    fn differences_of_fields_see_nan_and_missing_arrays() {
        let expected = fields(&[1.0, 2.0]);
        assert_eq!(max_abs_diff(&fields(&[1.0, 2.5]), &expected), 0.5);
        assert_eq!(max_abs_diff(&Fields::new(), &expected), f64::INFINITY);
        assert_eq!(max_abs_diff(&fields(&[1.0]), &expected), f64::INFINITY);
        assert!(max_abs_diff(&fields(&[f64::NAN, 2.0]), &expected).is_nan());
    }
}

//! Reductions while an observer runs: accumulators that a call writes, and the number that becomes of them.

use crease_jit::{BufferRef, ElementType};
use ndarray::{Array, IxDyn};
use num_traits::float::FloatCore;

use crate::kernel::graph::{Element, Reduction};

/// Accumulators of one reduction.
#[derive(Debug)]
pub(super) enum Accumulators {
    F64(Reduction, Array<f64, IxDyn>),
    F32(Reduction, Array<f32, IxDyn>),
}

impl Accumulators {
    /// Accumulators of this shape that no value was put into.
    pub(super) fn new(reduction: Reduction, element: Element, shape: &[usize]) -> Accumulators {
        let identity = reduction.identity();
        match element {
            Element::F32 => Accumulators::F32(reduction, Array::from_elem(shape, identity as f32)),
            _ => Accumulators::F64(reduction, Array::from_elem(shape, identity)),
        }
    }

    /// What the call writes.
    pub(super) fn buffer(&mut self) -> BufferRef<'_> {
        match self {
            Accumulators::F64(_, cells) => BufferRef::write_view(cells.view_mut()),
            Accumulators::F32(_, cells) => BufferRef::write_view(cells.view_mut()),
        }
    }

    /// Writes the number that they all become to the one cell of the caller's, whose type is theirs.
    pub(super) fn finish(self, number: &mut BufferRef<'_>) {
        match self {
            Accumulators::F64(reduction, cells) => {
                store(number, reduced(reduction, &cells.into_raw_vec_and_offset().0))
            }
            Accumulators::F32(reduction, cells) => {
                store(number, reduced(reduction, &cells.into_raw_vec_and_offset().0))
            }
        }
    }
}

fn store<T: ElementType>(number: &mut BufferRef<'_>, value: T) {
    *number.single_mut().expect("shape and type of the number were compared") = value;
}

/// The values in halves, the halves in halves, and so on: always in the same order, with errors that grow with the
/// logarithm of their number.
fn reduced<T: FloatCore>(reduction: Reduction, values: &[T]) -> T {
    match values {
        [] => T::from(reduction.identity()).expect("it is a number of either type"),
        [value] => *value,
        _ => {
            let (low, high) = values.split_at(values.len() / 2);
            let (low, high) = (reduced(reduction, low), reduced(reduction, high));
            match reduction {
                Reduction::Sum => low + high,
                Reduction::Min if low < high || low.is_nan() => low,
                Reduction::Max if low > high || low.is_nan() => low,
                Reduction::Min | Reduction::Max => high,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_is_lost_in_halves() {
        let values: Vec<f64> = (0..37).map(f64::from).collect();
        let all = |values: &[f64]| Reduction::ALL.map(|reduction| reduced(reduction, values));
        assert_eq!(all(&values), [36.0 * 37.0 / 2.0, 0.0, 36.0]);
        for at in 0..values.len() {
            let mut values = values.clone();
            values[at] = f64::NAN;
            assert!(all(&values).iter().all(|x| x.is_nan()), "{at}");
        }
    }
}

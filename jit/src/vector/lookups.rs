//! Lookups in wide strips: the numbers that a value is compared with before it says where a table is read.
//!
//! In: an axis of a table, and the type of a value.   Out: bounds.
//!
//! Values of all lanes are brought into the ranges of their axes as vectors; then the cells are read one after the
//! other. Processors have instructions that read cells of 32 and 64 bits at places that lanes say. They are not used:
//! on an AMD EPYC with AVX-512 these take as long as single loads, which read cells of all sizes.

use crease_program::TableAxis;

use super::shape::Number;

/// The numbers of an axis that values of a type may leave at its lower and at its upper end; none if the type has no
/// number of the axis, or is none of integers.
pub(crate) fn bounds(axis: &TableAxis, number: Number) -> Option<[Option<i64>; 2]> {
    let Number::Integer(ty) = number else { return None };
    let (least, greatest) = ty.range();
    let meets = least <= axis.last && axis.first <= greatest;
    meets.then_some([(least < axis.first).then_some(axis.first), (greatest > axis.last).then_some(axis.last)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crease_program::{Along, ValueType};

    #[test]
    fn values_are_compared_with_what_their_type_may_leave() {
        let axis = |first, last| TableAxis { first, last, along: Along::Cells(1) };
        let of = |first, last| bounds(&axis(first, last), Number::Integer(ValueType::U8));
        assert_eq!(of(0, 255), Some([None, None]));
        assert_eq!(of(-5, 15), Some([None, Some(15)]));
        assert_eq!(of(3, 1000), Some([Some(3), None]));
        assert_eq!([of(256, 300), of(-9, -1)], [None, None]);
        assert_eq!(bounds(&axis(0, 1), Number::F32), None);
    }
}

//! Lookups in wide strips: the numbers that a value is compared with before it says where a table is read.
//!
//! In: an axis of a table, and the type of a value.   Out: bounds.
//!
//! Values are brought into the ranges of their axes and become distances from the corner, of 32 bits: a strip with
//! lookups has no more lanes than 32-bit integers have. Instructions gather cells of 32 and 64 bits. A narrower one is
//! cut out of the word at a multiple of four bytes that it is in, and which no page ends in.

use crease_program::{MOST_AXES, TableAxis, ValueType};

use super::conversions::{conversion_constants, kept_lanes};
use super::shape::Number;

/// Distances of cells from the corner of their table.
pub(crate) const DISTANCE: Number = Number::Integer(ValueType::I32);
/// What rounds them down to multiples of four bytes.
pub(crate) const WORD_STARTS: u64 = 0xffff_fffc_ffff_fffc;
/// Where in its word a cell begins, in bits, if its distance was multiplied by eight.
pub(crate) const WORD_BITS: u64 = 0x0000_0018_0000_0018;

/// The bytes between cells of a table along each of its axes, as far as they are known.
pub(crate) type Pitches = [Option<i64>; MOST_AXES];

/// The numbers of an axis that values of a type may leave at its lower and at its upper end; none if the type has no
/// number of the axis, or is none of integers.
pub(crate) fn bounds(axis: &TableAxis, number: Number) -> Option<[Option<i64>; 2]> {
    let Number::Integer(ty) = number else { return None };
    let (least, greatest) = ty.range();
    let meets = least <= axis.last && axis.first <= greatest;
    meets.then_some([(least < axis.first).then_some(axis.first), (greatest > axis.last).then_some(axis.last)])
}

/// The constants that a lookup needs to cut cells of a size out of words.
pub(super) fn narrow_constants(cell: Number, has_masks: bool) -> Vec<u64> {
    let kept = kept_lanes(32, 8 * cell.bytes() as u32).filter(|_| !has_masks);
    if cell.bytes() < 4 { [WORD_STARTS, WORD_BITS].into_iter().chain(kept).collect() } else { Vec::new() }
}

/// The constants that turn values of a type into distances of 32 bits.
pub(super) fn distance_constants(number: Number, has_masks: bool) -> Vec<u64> {
    conversion_constants(number, DISTANCE, has_masks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crease_program::Along;

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

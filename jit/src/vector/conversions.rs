//! Conversions between types of numbers in one strip: which there are, and the constants that they need.
//!
//! In: the types of a number before and after.   Out: whether wide code converts it, bits, and how many instructions.
//!
//! Integers become wider by their sign or by zeros, narrower by keeping their lowest bits, and floating-point numbers
//! by one rounding. Floating-point numbers are cut to integers and saturate; NaN gives 0. Of the latter, processors
//! know only the cutting: what lies outside the type is brought to its ends before, where floating-point numbers have
//! these ends, and else afterwards.

use crease_program::ValueType;

use super::integers::{LOW_BYTES, LOW_WORDS, LOWEST_BYTES, greatest};
use super::shape::Number;

/// Integers of 64 bits, signed.
pub(crate) const INT64: Number = Number::Integer(ValueType::I64);
/// The bits of 2^52: what is added to it as a double stands in the lowest bits.
pub(crate) const TWO_52: u64 = 0x4330_0000_0000_0000;
/// The bits of 2^84 + 2^63, which the upper half of a signed integer is turned over with.
pub(crate) const UPPER_HALF: u64 = 0x4530_0000_8000_0000;
/// The bits of 2^84 + 2^63 + 2^52.
pub(crate) const BOTH_HALVES: u64 = 0x4530_0000_8010_0000;

/// Whether there are instructions for a conversion: between 64-bit integers and floating-point numbers AVX2 has them
/// for doubles only, and in one direction.
pub(super) fn can_convert(from: Number, to: Number, has_masks: bool) -> bool {
    let is_long = |number| number == Number::Integer(ValueType::I64);
    match (from.is_integer(), to.is_integer()) {
        (true, false) if is_long(from) => has_masks || to == Number::F64,
        (false, true) if is_long(to) => has_masks,
        _ => true,
    }
}

/// What integers become first on their way from cells to numbers of another type, if that is wider.
pub(crate) fn wider_by_load(cell: Number, number: Number) -> Option<Number> {
    let first = match number {
        Number::Integer(_) => number,
        Number::F64 | Number::F32 => Number::Integer(ValueType::I32),
    };
    (cell.is_integer() && cell.bytes() < first.bytes()).then_some(first)
}

/// The constants that a conversion needs.
pub(super) fn conversion_constants(from: Number, to: Number, has_masks: bool) -> Vec<u64> {
    let mut constants = match (from, to) {
        (Number::F64 | Number::F32, Number::Integer(ty)) => of_saturation(from, ty, has_masks),
        (Number::Integer(ValueType::U32), Number::F32) if !has_masks => {
            vec![LOW_WORDS, float_bits(Number::F32, 65536.0)]
        }
        (Number::Integer(ValueType::U32), Number::F64) if !has_masks => vec![TWO_52],
        (Number::Integer(ValueType::I64), Number::F64) if !has_masks => vec![TWO_52, UPPER_HALF, BOTH_HALVES],
        _ => Vec::new(),
    };
    if let Number::Integer(ty) = to
        && !has_masks
    {
        let have = if from.is_integer() { from.bytes() } else { 4 };
        constants.extend(kept_lanes(8 * have as u32, ty.bits()));
    }
    constants
}

/// What is kept of integers before AVX2 packs them, which would saturate.
pub(crate) fn kept_lanes(bits: u32, kept: u32) -> Option<u64> {
    match (bits, kept) {
        (16, 8) => Some(LOW_BYTES),
        (32 | 64, 16) => Some(LOW_WORDS),
        (32 | 64, 8) => Some(LOWEST_BYTES),
        _ => None,
    }
}

/// The ends of an integer type as floating-point numbers: the lowest one of signed types, and the highest one or, if
/// numbers of that type have it not, the one above it.
pub(crate) fn ends(number: Number, ty: ValueType) -> (Option<u64>, u64) {
    let (low, high) = ty.range();
    let low = (!ty.is_unsigned()).then(|| float_bits(number, low as f64));
    // Both are exact, or rounded up to the next power of two.
    (low, float_bits(number, high as f64))
}

/// Whether floating-point numbers have the highest integer of a type.
pub(crate) fn has_highest(number: Number, ty: ValueType) -> bool {
    ty.bits() < if number == Number::F32 { 24 } else { 53 }
}

fn of_saturation(from: Number, ty: ValueType, has_masks: bool) -> Vec<u64> {
    let (low, high) = ends(from, ty);
    let to = Number::Integer(ty);
    let mut constants = vec![low.unwrap_or(0), high];
    if !has_highest(from, ty) && has_masks && !ty.is_unsigned() {
        constants.push(to.repeated(greatest(ty)));
    }
    if ty == ValueType::U32 && !has_masks {
        constants.extend(match from {
            Number::F32 => vec![float_bits(from, 2_147_483_648.0)],
            _ => vec![TWO_52],
        });
    }
    constants
}

/// The bits of a floating-point number of a type.
pub(crate) fn float_bits(number: Number, value: f64) -> u64 {
    match number {
        Number::F32 => number.repeated((value as f32).to_bits().into()),
        _ => value.to_bits(),
    }
}

/// How many instructions a conversion becomes, about.
pub(super) fn conversion_instructions(from: Number, to: Number, has_masks: bool) -> f64 {
    let packs = |from: i64, to: i64| match (from > to, has_masks) {
        (false, _) => 0.0,
        (true, true) => 1.0,
        (true, false) => 1.0 + (from / to) as f64,
    };
    match (from, to) {
        _ if from == to => 0.0,
        (Number::Integer(a), Number::Integer(b)) if a.bits() == b.bits() => 0.0,
        (Number::Integer(_), Number::Integer(_)) if from.bytes() < to.bytes() => 1.0,
        (Number::Integer(_), Number::Integer(_)) => packs(from.bytes(), to.bytes()),
        (Number::Integer(ValueType::U32 | ValueType::I64), _) => {
            if has_masks {
                1.0
            } else {
                5.0
            }
        }
        (Number::Integer(_), _) => 1.0 + f64::from(u8::from(from.bytes() < 4)),
        (_, Number::Integer(ty)) => {
            let saturating = if ty.is_unsigned() { 2.0 } else { 4.0 };
            let unsigned = if ty == ValueType::U32 && !has_masks { 5.0 } else { 0.0 };
            1.0 + saturating + unsigned + packs(4, to.bytes())
        }
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_types_are_exact_or_one_above() {
        let of = |ty| ends(Number::F32, ty);
        assert_eq!(of(ValueType::U16), (None, float_bits(Number::F32, 65535.0)));
        assert_eq!(of(ValueType::I32).1, float_bits(Number::F32, 2_147_483_648.0));
        assert_eq!(ends(Number::F64, ValueType::I32).1, 2_147_483_647.0_f64.to_bits());
        assert_eq!(ends(Number::F64, ValueType::I64).1, 9_223_372_036_854_775_808.0_f64.to_bits());
        assert!(has_highest(Number::F64, ValueType::U32) && !has_highest(Number::F32, ValueType::I32));
    }
}

//! Arithmetic on integers: what operations on them give, for interpreters and for whoever folds constants.
//!
//! In: numbers of an integer type, as `i64`s in its range.   Out: a number in the range of the result's type.
//!
//! Sums, differences, products, signs and absolute values wrap: they are taken modulo two to the number of bits. What
//! saturates gives the number of the range that is closest. Every operation is defined for all operands.

use crate::{BinaryOp, BitOp, ShiftOp, UnaryOp, ValueType};

/// A number modulo two to the number of bits of `ty`, in its range.
pub fn wrapped(ty: ValueType, value: i64) -> i64 {
    let spare = 64 - ty.bits();
    if ty.is_unsigned() { (((value as u64) << spare) >> spare) as i64 } else { (value << spare) >> spare }
}

/// The number of the range of `ty` that is closest.
pub fn saturated(ty: ValueType, value: i128) -> i64 {
    let (low, high) = ty.range();
    value.clamp(low.into(), high.into()) as i64
}

/// A floating-point number cut to an integer and saturated; NaN gives 0.
pub fn from_float(ty: ValueType, value: f64) -> i64 {
    // `as` truncates, saturates and makes 0 of NaN; all ranges lie in that of `i64`.
    let (low, high) = ty.range();
    (value as i64).clamp(low, high)
}

/// An operation of one operand; none of those that are of floating-point numbers only.
pub fn unary(op: UnaryOp, ty: ValueType, a: i64) -> Option<i64> {
    let value = match op {
        UnaryOp::Neg => a.wrapping_neg(),
        UnaryOp::Abs => a.wrapping_abs(),
        UnaryOp::BitNot => !a,
        UnaryOp::Sqrt | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Trunc | UnaryOp::Nearest => return None,
    };
    Some(wrapped(ty, value))
}

/// An operation of two operands; none of those that are of floating-point numbers only.
pub fn binary(op: BinaryOp, ty: ValueType, a: i64, b: i64) -> Option<i64> {
    Some(match op {
        BinaryOp::Add => wrapped(ty, a.wrapping_add(b)),
        BinaryOp::Sub => wrapped(ty, a.wrapping_sub(b)),
        BinaryOp::Mul => wrapped(ty, a.wrapping_mul(b)),
        BinaryOp::Min => a.min(b),
        BinaryOp::Max => a.max(b),
        BinaryOp::AddSat => saturated(ty, i128::from(a) + i128::from(b)),
        BinaryOp::SubSat => saturated(ty, i128::from(a) - i128::from(b)),
        BinaryOp::Div | BinaryOp::Rem => return None,
    })
}

/// An operation on bits.
pub fn bits(op: BitOp, ty: ValueType, a: i64, b: i64) -> i64 {
    match op {
        BitOp::And => a & b,
        BitOp::Or => a | b,
        BitOp::Xor => a ^ b,
        BitOp::Add => wrapped(ty, a.wrapping_add(b)),
        BitOp::Sub => wrapped(ty, a.wrapping_sub(b)),
    }
}

/// A shift by less than the number of bits. To the right, the sign moves in where there is one, else 0.
pub fn shift(op: ShiftOp, ty: ValueType, a: i64, count: u8) -> i64 {
    match op {
        ShiftOp::Left => wrapped(ty, a << count),
        ShiftOp::Right => a >> count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_agree_with_those_of_rust() {
        for a in i8::MIN..=i8::MAX {
            for b in i8::MIN..=i8::MAX {
                let both = |op| binary(op, ValueType::I8, a.into(), b.into()).unwrap();
                assert_eq!(both(BinaryOp::Add), a.wrapping_add(b).into());
                assert_eq!(both(BinaryOp::Sub), a.wrapping_sub(b).into());
                assert_eq!(both(BinaryOp::Mul), a.wrapping_mul(b).into());
                assert_eq!(both(BinaryOp::AddSat), a.saturating_add(b).into());
                assert_eq!(both(BinaryOp::SubSat), a.saturating_sub(b).into());
                let (c, d) = (a as u8, b as u8);
                let both = |op| binary(op, ValueType::U8, c.into(), d.into()).unwrap();
                assert_eq!(both(BinaryOp::Add), c.wrapping_add(d).into());
                assert_eq!(both(BinaryOp::Sub), c.wrapping_sub(d).into());
                assert_eq!(both(BinaryOp::Mul), c.wrapping_mul(d).into());
                assert_eq!(both(BinaryOp::AddSat), c.saturating_add(d).into());
                assert_eq!(both(BinaryOp::SubSat), c.saturating_sub(d).into());
            }
            assert_eq!(unary(UnaryOp::Neg, ValueType::I8, a.into()), Some(a.wrapping_neg().into()));
            assert_eq!(unary(UnaryOp::Abs, ValueType::I8, a.into()), Some(a.wrapping_abs().into()));
            assert_eq!(unary(UnaryOp::BitNot, ValueType::U8, (a as u8).into()), Some((!(a as u8)).into()));
            for count in 0..8 {
                assert_eq!(shift(ShiftOp::Left, ValueType::I8, a.into(), count), (a << count).into());
                assert_eq!(shift(ShiftOp::Right, ValueType::I8, a.into(), count), (a >> count).into());
                assert_eq!(shift(ShiftOp::Right, ValueType::U8, (a as u8).into(), count), (a as u8 >> count).into());
            }
        }
    }

    #[test]
    fn conversions_wrap_or_saturate() {
        let of = |value: f64| [ValueType::U8, ValueType::I16, ValueType::I64].map(|ty| from_float(ty, value));
        assert_eq!(of(f64::NAN), [0, 0, 0]);
        assert_eq!(of(-2.9), [0, -2, -2]);
        assert_eq!(of(1e30), [255, 32767, i64::MAX]);
        assert_eq!(of(f64::NEG_INFINITY), [0, -32768, i64::MIN]);
        assert_eq!(wrapped(ValueType::U8, -1), 255);
        assert_eq!(wrapped(ValueType::I8, 255), -1);
        assert_eq!(wrapped(ValueType::U32, -1), 0xffff_ffff);
        assert_eq!(wrapped(ValueType::I64, i64::MIN), i64::MIN);
        assert_eq!(saturated(ValueType::I16, 70000), 32767);
    }
}

//! Strips of integers: which of their operations run in wide vectors, and the constants that these need.
//!
//! In: an operation.   Out: whether it is eligible, and bits.
//!
//! All values of such a strip are of one type; strips of several have `conversions` besides. Its cells are of that
//! type, of the other one of as many bits, or narrower: then loads widen them and stores keep the lowest bits, as
//! conversions do. What a processor has no instruction for is put together from several, of which some want constants.

use crease_program::{BinaryOp, Op, ShiftOp, UnaryOp, ValueType};

use super::address::StreamAddress;
use super::instruction::{Arith, Inst};
use super::shape::Number;

/// The low bytes of words, which a product of bytes leaves there.
pub(crate) const LOW_BYTES: u64 = 0x00ff_00ff_00ff_00ff;
/// The low words of 32-bit integers.
pub(crate) const LOW_WORDS: u64 = 0x0000_ffff_0000_ffff;
/// The low bytes of 32-bit integers.
pub(crate) const LOWEST_BYTES: u64 = 0x0000_00ff_0000_00ff;

/// Whether an operation of a strip whose values are of the integer type `number` may be wide.
pub(super) fn is_eligible_of_integers(op: &Op, addresses: &[StreamAddress], number: ValueType) -> bool {
    match *op {
        Op::Load { stream, ty } => {
            let StreamAddress { stride, element, .. } = addresses[stream.index()];
            let cell = element.value_type();
            matches!(stride, Some(0 | 1)) && ty == number && cell.is_integer() && cell.bits() <= number.bits()
        }
        Op::Store { stream, .. } => {
            let StreamAddress { stride, element, .. } = addresses[stream.index()];
            let cell = element.value_type();
            let is_storable = match (number.bits(), cell.bits()) {
                (have, cell) if have == cell => true,
                // Of 64 bits there is no instruction that packs them.
                (16, 8) | (32, 8 | 16) => true,
                _ => false,
            };
            stride == Some(1) && cell.is_integer() && is_storable
        }
        Op::Unary(op, _) => matches!(op, UnaryOp::Neg | UnaryOp::Abs | UnaryOp::BitNot),
        Op::Binary(op, ..) => !matches!(op, BinaryOp::Div | BinaryOp::Rem),
        Op::Int(..) | Op::Bits(..) | Op::Shift(..) | Op::Compare(..) | Op::Select(..) => true,
        Op::And(..) | Op::Or(..) | Op::Not(_) => true,
        Op::F64(_) | Op::F32(_) | Op::Scalar(_) | Op::Index { .. } | Op::Convert(..) | Op::Fma(..) => false,
        Op::Lookup { .. } | Op::OpaqueSeed(_) | Op::OpaqueMix(..) | Op::OpaqueFinish(_) => false,
    }
}

/// The constants that an operation on integers may need beside its operands.
pub(super) fn integer_constants(op: &Op, number: Number) -> Vec<u64> {
    let Number::Integer(ty) = number else { return Vec::new() };
    match *op {
        Op::Not(_) | Op::Compare(..) | Op::Unary(UnaryOp::BitNot, _) => vec![u64::MAX],
        Op::Binary(BinaryOp::AddSat | BinaryOp::SubSat, ..) if ty.bits() >= 32 => {
            vec![u64::MAX, number.repeated(greatest(ty))]
        }
        Op::Binary(BinaryOp::Mul, ..) if ty.bits() == 8 => vec![LOW_BYTES],
        Op::Shift(op, _, count) => {
            let mut constants = vec![number.repeated(lowered_sign(ty, count))];
            if ty.bits() == 8 {
                constants.push(number.repeated(kept_bits(op, count)));
            }
            constants
        }
        // By narrow cells: the bits that are kept, which differ.
        Op::Store { .. } if ty.bits() == 16 => vec![LOW_BYTES],
        Op::Store { .. } if ty.bits() == 32 => vec![LOW_WORDS, LOWEST_BYTES],
        _ => Vec::new(),
    }
}

/// How many instructions one on integers of a type becomes, about: without mask registers as with AVX2.
pub(super) fn machine_instructions(inst: &Inst, ty: ValueType, has_masks: bool) -> f64 {
    let (bits, is_unsigned) = (ty.bits(), ty.is_unsigned());
    match *inst {
        Inst::Arith { op: Arith::Mul, .. } if bits == 8 => 7.0,
        Inst::Arith { op: Arith::Mul, .. } if bits == 64 && !has_masks => 8.0,
        Inst::Arith { op: Arith::Min | Arith::Max, .. } if bits == 64 && !has_masks => 2.0,
        Inst::Arith { op: Arith::AddSat, .. } if bits >= 32 && is_unsigned => 3.0,
        Inst::Arith { op: Arith::SubSat, .. } if bits >= 32 && is_unsigned => 2.0,
        Inst::Arith { op: Arith::AddSat | Arith::SubSat, .. } if bits >= 32 => 10.0,
        Inst::ShiftBits { .. } if bits == 8 && is_unsigned => 2.0,
        Inst::ShiftBits { .. } if bits == 8 => 4.0,
        Inst::Sign { .. } | Inst::Compare { .. } if !has_masks => 2.0,
        _ => 1.0,
    }
}

/// The greatest number of a signed type.
pub(crate) fn greatest(ty: ValueType) -> i64 {
    i64::MAX >> (64 - ty.bits())
}

/// Where the sign of a number comes to lie if it is shifted to the right, zeros filling in.
pub(crate) fn lowered_sign(ty: ValueType, count: u8) -> i64 {
    (1_u64 << (ty.bits() - 1) >> count) as i64
}

/// The bits of a byte that are its own where words are shifted.
pub(crate) fn kept_bits(op: ShiftOp, count: u8) -> i64 {
    match op {
        ShiftOp::Left => 0xff << count & 0xff,
        ShiftOp::Right => 0xff >> count,
    }
}

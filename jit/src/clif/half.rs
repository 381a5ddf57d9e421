//! Conversions between `f16` cells and `f32` values, of one cell or of four: the code generator has no instructions for
//! them.
//!
//! Values are sorted by magnitude. Where both types have a full mantissa, it and the exponent are shifted from one
//! place to the other, and rounded on the way by an addition of integers that carries into the exponent, as far as
//! infinity. Denormal `f16` numbers are multiples of 2^-24: an addition or subtraction of floats aligns them, whose
//! operands and results are normal numbers or zeros. So the modes that flush denormal numbers to zero change nothing:
//! what they would flush is an `f32` far below half of 2^-24, which becomes a zero of its sign anyway.
//!
//! Source: F. Giesen, `half_to_float_fast5` and `float_to_half_fast3_rtne`, 2012 and 2016.

use super::emitter::Emitter;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};

/// Bits of the mantissa that an `f32` has and an `f16` has not.
const NARROWER: i64 = 13;
/// What is added to the exponent of an `f16` for an `f32`, in its place.
const REBIAS: i64 = (127 - 15) << 23;
/// The sign of an `f32`.
const SIGN: i64 = 1 << 31;
/// All bits but the sign.
const MAGNITUDE: i64 = SIGN - 1;
/// An `f16` with all ones in its exponent, and nothing else.
const INFINITY: i64 = 0x7c00;
/// The smallest normal `f16`, 2^-14, as an `f32`.
const SMALLEST_NORMAL: i64 = REBIAS + (1 << 23);
/// 0.5 as an `f32`: beside it, an `f32` counts in steps of 2^-24.
const HALF: i64 = 0x3f00_0000;

impl Emitter<'_, '_> {
    /// The numbers whose bits are in the lower half of each 32-bit integer, above zeros; exactly.
    pub(super) fn widen_half(&mut self, half: Value) -> Value {
        let shifted = self.shift_left(half, NARROWER);
        let magnitude = self.and(shifted, 0x7fff << NARROWER);
        let shifted = self.shift_left(half, 16);
        let sign = self.and(shifted, SIGN);
        let normal = self.plus(magnitude, REBIAS);
        // Infinities and NaN keep all ones in the exponent.
        let special = self.plus(magnitude, 2 * REBIAS);
        let is_special = self.exceeds(magnitude, (INFINITY << NARROWER) - 1);
        let normal = self.choose(is_special, special, normal);
        // A denormal number is what a mantissa adds to the smallest normal one.
        let above = self.plus(magnitude, SMALLEST_NORMAL);
        let (above, smallest) = (self.as_floats(above), self.splat_bits(magnitude, SMALLEST_NORMAL));
        let smallest = self.as_floats(smallest);
        let tiny = self.b.ins().fsub(above, smallest);
        let tiny = self.as_integers(tiny);
        let is_normal = self.exceeds(magnitude, (0x400 << NARROWER) - 1);
        let result = self.choose(is_normal, normal, tiny);
        let result = self.b.ins().bor(result, sign);
        self.as_floats(result)
    }

    /// The bits of each number as an `f16`, in the lower half of an integer above zeros; rounded to the nearest, ties
    /// to even.
    pub(super) fn narrow_to_half(&mut self, value: Value) -> Value {
        let bits = self.as_integers(value);
        let magnitude = self.and(bits, MAGNITUDE);
        let sign = self.and(bits, SIGN);
        let sign = self.shift_right(sign, 16);
        // Just less than half of the last bit that is kept, and what makes it half for odd numbers.
        let kept = self.shift_right(magnitude, NARROWER);
        let odd = self.and(kept, 1);
        let raised = self.plus(magnitude, (1 << (NARROWER - 1)) - 1 - REBIAS);
        let rounded = self.b.ins().iadd(raised, odd);
        let normal = self.shift_right(rounded, NARROWER);
        let half = self.splat_bits(magnitude, HALF);
        let (small, half) = (self.as_floats(magnitude), self.as_floats(half));
        let tiny = self.b.ins().fadd(small, half);
        let tiny = self.as_integers(tiny);
        let tiny = self.plus(tiny, -HALF);
        let is_normal = self.exceeds(magnitude, SMALLEST_NORMAL - 1);
        let result = self.choose(is_normal, normal, tiny);
        // 65536, and the infinity of an `f32`.
        let is_special = self.exceeds(magnitude, (INFINITY << NARROWER) + REBIAS - 1);
        let is_nan = self.exceeds(magnitude, 0xff << 23);
        let (nan, infinity) = (self.splat_bits(magnitude, INFINITY | 0x200), self.splat_bits(magnitude, INFINITY));
        let special = self.choose(is_nan, nan, infinity);
        let result = self.choose(is_special, special, result);
        self.b.ins().bor(result, sign)
    }

    /// The bits in each lane of a value of the same type as `like`.
    fn splat_bits(&mut self, like: Value, bits: i64) -> Value {
        let bits = bits as i32;
        let ty = self.b.func.dfg.value_type(like);
        if !ty.is_vector() {
            return self.b.ins().iconst(types::I32, i64::from(bits as u32));
        }
        let data = bits.to_le_bytes().repeat(4);
        let constant = self.b.func.dfg.constants.insert(data.into());
        self.b.ins().vconst(types::I32X4, constant)
    }

    fn and(&mut self, value: Value, bits: i64) -> Value {
        let bits = self.splat_bits(value, bits);
        self.b.ins().band(value, bits)
    }

    fn plus(&mut self, value: Value, bits: i64) -> Value {
        let bits = self.splat_bits(value, bits);
        self.b.ins().iadd(value, bits)
    }

    /// Whether an integer that is not negative exceeds a constant.
    fn exceeds(&mut self, value: Value, bits: i64) -> Value {
        let bits = self.splat_bits(value, bits);
        self.b.ins().icmp(IntCC::SignedGreaterThan, value, bits)
    }

    fn shift_left(&mut self, value: Value, by: i64) -> Value {
        let by = self.b.ins().iconst(types::I32, by);
        self.b.ins().ishl(value, by)
    }

    fn shift_right(&mut self, value: Value, by: i64) -> Value {
        let by = self.b.ins().iconst(types::I32, by);
        self.b.ins().ushr(value, by)
    }

    fn as_floats(&mut self, value: Value) -> Value {
        let ty = if self.b.func.dfg.value_type(value).is_vector() { types::F32X4 } else { types::F32 };
        self.b.ins().bitcast(ty, MemFlagsData::new(), value)
    }

    fn as_integers(&mut self, value: Value) -> Value {
        let ty = if self.b.func.dfg.value_type(value).is_vector() { types::I32X4 } else { types::I32 };
        self.b.ins().bitcast(ty, MemFlagsData::new(), value)
    }
}

//! Vectors of several types in one strip: their lanes, conversions between them, loads and stores of part of a vector.
//!
//! In: an operation of a block of lanes.   Out: its code.
//!
//! A block has as many lanes as the widest type of the strip has in a vector of 128 bits, and each value of the strip
//! is one vector. A narrower type uses its first lanes only; what is above them may be anything, as no operation traps
//! and none moves it down. A truth value is a mask as wide as what was compared, and is made as wide as what it chooses
//! from.

use crease_program::{BinaryOp, CompareOp, Element, ShiftOp, UnaryOp, ValueType};

use super::emitter::{Emitter, plain};
use super::integers::{int_cc, register};
use super::plan::Shape;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlagsData, Type, Value, types};

/// The vector of a type of numbers.
fn vector(ty: ValueType) -> Type {
    match ty {
        ValueType::F64 => types::F64X2,
        ValueType::F32 => types::F32X4,
        _ => integer_vector(ty.bits()),
    }
}

/// The register of a number of a type in a shape.
pub(super) fn register_in(shape: Shape, ty: ValueType) -> Type {
    match (shape, ty) {
        (Shape::Lanes(_), _) => vector(ty),
        (Shape::Scalar, ValueType::F64) => types::F64,
        (Shape::Scalar, ValueType::F32) => types::F32,
        (Shape::Scalar, _) => register(ty),
    }
}

fn integer_vector(bits: u32) -> Type {
    match bits {
        8 => types::I8X16,
        16 => types::I16X8,
        32 => types::I32X4,
        _ => types::I64X2,
    }
}

/// How the lanes of a vector lie in it, whatever it is taken for.
fn little() -> MemFlagsData {
    MemFlagsData::new().with_endianness(Endianness::Little)
}

impl Emitter<'_, '_> {
    /// Two truth values of a block as masks of one width, the wider one.
    pub(super) fn alike_masks(&mut self, a: Value, b: Value) -> (Value, Value) {
        let bits = |value| self.b.func.dfg.value_type(value).lane_bits();
        let widest = bits(a).max(bits(b));
        (self.mask_of(a, widest), self.mask_of(b, widest))
    }

    /// A mask with lanes of so many bits; a truth value of one cell as it is.
    pub(super) fn mask_of(&mut self, mask: Value, bits: u32) -> Value {
        let ty = self.b.func.dfg.value_type(mask);
        if !ty.is_vector() { mask } else { self.resized(mask, bits, false) }
    }

    /// Integers in lanes of so many bits: wider by their sign or by zeros, or cut to their lowest bits.
    fn resized(&mut self, mut value: Value, bits: u32, is_unsigned: bool) -> Value {
        loop {
            let have = self.b.func.dfg.value_type(value).lane_bits();
            match have.cmp(&bits) {
                std::cmp::Ordering::Equal => return value,
                std::cmp::Ordering::Greater => return self.cut(value, bits),
                std::cmp::Ordering::Less if is_unsigned => value = self.b.ins().uwiden_low(value),
                std::cmp::Ordering::Less => value = self.b.ins().swiden_low(value),
            }
        }
    }

    /// The lowest bits of each lane, in the first lanes.
    fn cut(&mut self, value: Value, bits: u32) -> Value {
        let have = self.b.func.dfg.value_type(value).lane_bits();
        let (from, to) = ((have / 8) as u8, (bits / 8) as u8);
        // Lanes above the last one repeat it.
        let lanes = 16 / from;
        let byte = |at: u8| (at / to).min(lanes - 1) * from + at % to;
        let immediate = self.b.func.dfg.immediates.push((0..16).map(byte).collect::<Vec<u8>>().into());
        let bytes = self.b.ins().bitcast(types::I8X16, little(), value);
        let bytes = self.b.ins().shuffle(bytes, bytes, immediate);
        self.b.ins().bitcast(integer_vector(bits), little(), bytes)
    }

    /// A constant in all lanes.
    pub(super) fn integer_constants(&mut self, ty: ValueType, value: i64) -> Value {
        let bytes = (ty.bits() / 8) as usize;
        let data = value.to_le_bytes()[..bytes].repeat(16 / bytes);
        let constant = self.b.func.dfg.constants.insert(data.into());
        self.b.ins().vconst(vector(ty), constant)
    }

    /// Numbers in another type of numbers.
    pub(super) fn convert_lanes(&mut self, shape: Shape, from: ValueType, to: ValueType, a: Value) -> Value {
        match (from, to) {
            _ if from == to => a,
            (ValueType::F32, ValueType::F64) => self.b.ins().fvpromote_low(a),
            (ValueType::F64, ValueType::F32) => self.b.ins().fvdemote(a),
            (ValueType::F32, to) if to.bits() <= 32 => self.cut_floats(to, a),
            (ValueType::I64, ValueType::F64) => self.b.ins().fcvt_from_sint(types::F64X2, a),
            (from, ValueType::F32) if from.bits() <= 32 => {
                let wide = self.resized(a, 32, from.is_unsigned());
                if from == ValueType::U32 {
                    self.b.ins().fcvt_from_uint(types::F32X4, wide)
                } else {
                    self.b.ins().fcvt_from_sint(types::F32X4, wide)
                }
            }
            (from, ValueType::F64) if from.bits() <= 32 => {
                let wide = self.resized(a, 32, from.is_unsigned());
                if from == ValueType::U32 {
                    let wide = self.b.ins().uwiden_low(wide);
                    self.b.ins().fcvt_from_uint(types::F64X2, wide)
                } else {
                    let wide = self.b.ins().swiden_low(wide);
                    self.b.ins().fcvt_from_sint(types::F64X2, wide)
                }
            }
            (from, to) if from.is_integer() && to.is_integer() => self.resized(a, to.bits(), from.is_unsigned()),
            // Of these there is no instruction for vectors.
            _ => self.one_by_one(shape, vector(to), a, |emitter, cell| emitter.integer_convert(from, to, cell)),
        }
    }

    /// Floats cut to integers of 32 bits at most, and saturated; NaN gives 0.
    fn cut_floats(&mut self, to: ValueType, a: Value) -> Value {
        if to == ValueType::U32 {
            return self.b.ins().fcvt_to_uint_sat(types::I32X4, a);
        }
        let mut wide = self.b.ins().fcvt_to_sint_sat(types::I32X4, a);
        if to.bits() < 32 {
            let (low, high) = to.range();
            let [low, high] = [low, high].map(|limit| self.integer_constants(ValueType::I32, limit));
            wide = self.b.ins().smax(wide, low);
            wide = self.b.ins().smin(wide, high);
        }
        self.resized(wide, to.bits(), false)
    }

    /// The lanes one after the other.
    fn one_by_one(&mut self, shape: Shape, result: Type, a: Value, each: impl Fn(&mut Self, Value) -> Value) -> Value {
        let mut lanes = None;
        for lane in 0..shape.lanes() as u8 {
            let cell = self.b.ins().extractlane(a, lane);
            let cell = each(self, cell);
            lanes = Some(match lanes {
                None => self.b.ins().splat(result, cell),
                Some(lanes) => self.b.ins().insertlane(lanes, cell, lane),
            });
        }
        lanes.expect("a block has lanes")
    }

    /// An operation of one vector of integers.
    pub(super) fn unary_lanes(&mut self, op: UnaryOp, ty: ValueType, a: Value) -> Value {
        match op {
            UnaryOp::Neg => self.b.ins().ineg(a),
            UnaryOp::Abs if ty.is_unsigned() => a,
            UnaryOp::Abs => self.b.ins().iabs(a),
            UnaryOp::BitNot => self.b.ins().bnot(a),
            UnaryOp::Sqrt | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Trunc | UnaryOp::Nearest => {
                unreachable!("the program has verified")
            }
        }
    }

    /// An operation of two vectors of integers of one type.
    pub(super) fn binary_lanes(&mut self, op: BinaryOp, ty: ValueType, a: Value, b: Value) -> Value {
        let is_unsigned = ty.is_unsigned();
        match op {
            BinaryOp::Add => self.b.ins().iadd(a, b),
            BinaryOp::Sub => self.b.ins().isub(a, b),
            BinaryOp::Mul if ty.bits() == 8 => self.multiply_bytes(a, b),
            BinaryOp::Mul => self.b.ins().imul(a, b),
            BinaryOp::Min | BinaryOp::Max if ty == ValueType::I64 => {
                let (less, more) = if op == BinaryOp::Min { (a, b) } else { (b, a) };
                let is_first = self.b.ins().icmp(int_cc(CompareOp::Lt, ty), less, more);
                self.b.ins().bitselect(is_first, a, b)
            }
            BinaryOp::Min if is_unsigned => self.b.ins().umin(a, b),
            BinaryOp::Min => self.b.ins().smin(a, b),
            BinaryOp::Max if is_unsigned => self.b.ins().umax(a, b),
            BinaryOp::Max => self.b.ins().smax(a, b),
            BinaryOp::AddSat if ty.bits() <= 16 && is_unsigned => self.b.ins().uadd_sat(a, b),
            BinaryOp::AddSat if ty.bits() <= 16 => self.b.ins().sadd_sat(a, b),
            BinaryOp::SubSat if ty.bits() <= 16 && is_unsigned => self.b.ins().usub_sat(a, b),
            BinaryOp::SubSat if ty.bits() <= 16 => self.b.ins().ssub_sat(a, b),
            BinaryOp::AddSat if is_unsigned => {
                let sum = self.b.ins().iadd(a, b);
                let carries = self.b.ins().icmp(IntCC::UnsignedLessThan, sum, a);
                self.b.ins().bor(sum, carries)
            }
            BinaryOp::SubSat if is_unsigned => {
                let most = self.b.ins().umax(a, b);
                self.b.ins().isub(most, b)
            }
            BinaryOp::AddSat | BinaryOp::SubSat => self.saturating_lanes(op, ty, a, b),
            BinaryOp::Div | BinaryOp::Rem => unreachable!("the program has verified"),
        }
    }

    /// Saturating sums or differences of signed integers of 32 or 64 bits: they overflow where the result has the wrong
    /// sign.
    fn saturating_lanes(&mut self, op: BinaryOp, ty: ValueType, a: Value, b: Value) -> Value {
        let is_sum = op == BinaryOp::AddSat;
        let result = if is_sum { self.b.ins().iadd(a, b) } else { self.b.ins().isub(a, b) };
        // Sums overflow if the result differs in sign from both operands, differences if it and `b` do from `a`.
        let (one, other) = (self.b.ins().bxor(a, result), self.b.ins().bxor(if is_sum { result } else { a }, b));
        let wrong = self.b.ins().band(one, other);
        let zero = self.integer_constants(ty, 0);
        let (_, most) = ty.range();
        let most = self.integer_constants(ty, most);
        let is_negative = self.b.ins().icmp(IntCC::SignedLessThan, a, zero);
        // The bits of the least number are those of the greatest, all turned over.
        let limit = self.b.ins().bxor(most, is_negative);
        let overflows = self.b.ins().icmp(IntCC::SignedLessThan, wrong, zero);
        self.b.ins().bitselect(overflows, limit, result)
    }

    /// Products of bytes: those of the even and of the odd ones, as words.
    fn multiply_bytes(&mut self, a: Value, b: Value) -> Value {
        let [a, b] = [a, b].map(|value| self.b.ins().bitcast(types::I16X8, little(), value));
        let even = self.b.ins().imul(a, b);
        let [odd_a, odd_b] = [a, b].map(|value| self.b.ins().ushr_imm_u(value, 8));
        let odd = self.b.ins().imul(odd_a, odd_b);
        let odd = self.b.ins().ishl_imm_u(odd, 8);
        let low = self.integer_constants(ValueType::U16, 0xff);
        let even = self.b.ins().band(even, low);
        let both = self.b.ins().bor(even, odd);
        self.b.ins().bitcast(types::I8X16, little(), both)
    }

    /// Integers by some places.
    pub(super) fn shift_lanes(&mut self, op: ShiftOp, ty: ValueType, a: Value, count: u8) -> Value {
        let count = i64::from(count);
        match op {
            ShiftOp::Left => self.b.ins().ishl_imm_u(a, count),
            ShiftOp::Right if ty.is_unsigned() => self.b.ins().ushr_imm_u(a, count),
            ShiftOp::Right => self.b.ins().sshr_imm_u(a, count),
        }
    }

    /// Loads a cell for each lane, in the type of the cells; those of half precision as floats.
    pub(super) fn load_lanes(&mut self, shape: Shape, element: Element, address: Value, offset: i32) -> Value {
        if element == Element::F16 {
            let bits = match shape.lanes() {
                4 => self.b.ins().uload16x4(plain(), address, offset),
                lanes => {
                    let halves = self.load_first(types::I16X8, 2 * lanes, address, offset);
                    self.b.ins().uwiden_low(halves)
                }
            };
            return self.widen_half(bits);
        }
        let ty = element.value_type();
        self.load_first(vector(ty), shape.lanes() * i64::from(ty.bits() / 8), address, offset)
    }

    /// Loads so many bytes, above which a vector is zero.
    fn load_first(&mut self, ty: Type, bytes: i64, address: Value, offset: i32) -> Value {
        let part = match bytes {
            16 => return self.b.ins().load(ty, plain(), address, offset),
            8 => types::F64,
            4 => types::F32,
            _ => types::I16,
        };
        let first = if part == types::I16 {
            let word = self.b.ins().uload16(types::I32, plain(), address, offset);
            self.b.ins().scalar_to_vector(types::I32X4, word)
        } else {
            let first = self.b.ins().load(part, plain(), address, offset);
            self.b.ins().scalar_to_vector(part.by(128 / part.bits()).expect("there is such a vector"), first)
        };
        if self.b.func.dfg.value_type(first) == ty { first } else { self.b.ins().bitcast(ty, little(), first) }
    }

    /// Stores the numbers of each lane, of the type of the cells; to those of half precision floats.
    pub(super) fn store_lanes(&mut self, shape: Shape, element: Element, value: Value, address: Value, offset: i32) {
        let value = if element == Element::F16 {
            let halves = self.narrow_to_half(value);
            self.b.ins().unarrow(halves, halves)
        } else {
            value
        };
        let bytes = shape.lanes() * element.bytes() as i64;
        let part = match bytes {
            16 => {
                self.b.ins().store(plain(), value, address, offset);
                return;
            }
            8 => types::F64X2,
            4 => types::F32X4,
            _ => types::I16X8,
        };
        let is_part = self.b.func.dfg.value_type(value) == part;
        let value = if is_part { value } else { self.b.ins().bitcast(part, little(), value) };
        let first = self.b.ins().extractlane(value, 0);
        self.b.ins().store(plain(), first, address, offset);
    }
}

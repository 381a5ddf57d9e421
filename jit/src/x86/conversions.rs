//! Conversions between types of numbers, in strips of several.
//!
//! In: a number in the lower part of a register.   Out: code that leaves it in another type in the lower part of the
//! same or another one.
//!
//! The types of such a strip have as many lanes, so that most conversions are one instruction, whose form is that of
//! the wider type. Registers of operands may be that of the result: it is written after they have been read. The second
//! and the third of the registers that [`INTEGER_SCRATCH`](crate::vector::INTEGER_SCRATCH) keeps free hold what is
//! between. What AVX2 has no instruction for is put together; results are those of `jit/src/clif/vectors.rs`.

use super::avx::Avx;
use super::codes::code;
use super::conversion_codes::conversion_code;
use super::encode::{Encoding, FREE_MASK, Source};
use super::integer_codes::{narrowing_code, widening_code};
use super::kinds::{Form, Kind};
use crate::vector::{
    Arith, BOTH_HALVES, Class, INT64, Number, Reg, TWO_52, UPPER_HALF, ends, float_bits, greatest, has_highest,
    kept_lanes,
};
use crease_program::{ShiftOp, ValueType};
use iced_x86::{Code, Instruction, Register};

/// Integers of 32 bits, which most conversions pass through.
const INT32: Number = Number::Integer(ValueType::I32);
const UINT32: Number = Number::Integer(ValueType::U32);

/// Where the lower halves of 64-bit integers go to the lower half of each 128 bits (`vpshufd`).
const LOWER_HALVES: u32 = 0x88;
/// Two quarters of a register, the first and the third, at its start (`vpermq`, `vpshufd`).
const FIRST_AND_THIRD: u32 = 0x08;
/// The upper halves of 64-bit numbers (`vpblendd`).
const UPPER: u32 = 0xaa;
/// Compares whether neither number is NaN.
const ORDERED: u32 = 0x07;
/// Compares whether the first number is greater or equal.
const GREATER_OR_EQUAL: u32 = 0x1d;
/// Cuts to integers, without a signal.
const TRUNCATE: u32 = 0xb;

impl Encoding<'_, '_> {
    /// Converts numbers of type `source` to `result`.
    pub(super) fn convert(&mut self, to: Reg, from: Reg, source: Number, result: Number) {
        match (source, result) {
            (Number::Integer(have), Number::Integer(want)) => self.resize(to, from, have, want.bits()),
            (Number::Integer(have), _) => self.round_integers(to, from, have, result),
            (_, Number::Integer(want)) => self.cut(to, from, source, want),
            _ if source == result => self.copy(to, from, source),
            _ => self.one_conversion(to, from, source, result),
        }
    }

    pub(super) fn copy(&mut self, to: Reg, from: Reg, number: Number) {
        if to != from {
            let code = self.code_of(Kind::Move, number);
            self.two(code, self.of(to, number), Source::Register(self.of(from, number)));
        }
    }

    /// A conversion that is one instruction.
    fn one_conversion(&mut self, to: Reg, from: Reg, source: Number, result: Number) {
        let wider = if source.bytes() < result.bytes() { result } else { source };
        let code = conversion_code(source, result, self.form_of(wider));
        let (to, from) = (self.beside(to, result, wider), self.beside(from, source, wider));
        self.two(code, to, Source::Register(from));
    }

    /// Integers of another size: wider ones of the same value, or the lowest bits.
    pub(super) fn resize(&mut self, to: Reg, from: Reg, have: ValueType, bits: u32) {
        let (source, result) = (Number::Integer(have), Number::Integer(signed_type(bits)));
        if have.bits() == bits {
            return self.copy(to, from, source);
        }
        if have.bits() < bits {
            let code = widening_code(have, bits, self.form_of(result));
            let from = self.beside(from, source, result);
            return self.two(code, self.of(to, result), Source::Register(from));
        }
        if self.isa == Avx::Avx512 {
            let code = narrowing_code(have.bits(), bits, self.form_of(source));
            let to = self.beside(to, result, source);
            return self.put(Instruction::with2(code, to, self.of(from, source)));
        }
        self.pack(to, from, have.bits(), bits, true);
    }

    /// The lowest bits of integers next to each other (AVX2); or of truth values, which are all ones or all zeros.
    pub(super) fn pack(&mut self, to: Reg, mut from: Reg, mut have: u32, bits: u32, is_number: bool) {
        let lanes = self.body.shape.lanes();
        let (first, whole) = (self.sized(to, 16), self.sized(to, 32));
        if have == 64 {
            self.put(Instruction::with3(Code::VEX_Vpshufd_ymm_ymmm256_imm8, whole, self.sized(from, 32), LOWER_HALVES));
            self.put(Instruction::with3(Code::VEX_Vpermq_ymm_ymmm256_imm8, whole, whole, FIRST_AND_THIRD));
            (from, have) = (to, 32);
        }
        if have == bits {
            return;
        }
        // Both halves of a register are packed by themselves.
        let has_halves = lanes * i64::from(have / 8) > 16;
        let (size, at) = if has_halves { (32, whole) } else { (16, first) };
        let mut packed = self.sized(from, size);
        if let Some(kept) = kept_lanes(have, bits).filter(|_| is_number) {
            // What is left fits the narrower type, so that packing changes nothing.
            let code = code(Kind::Arith(Arith::And), INT32, Form::Vex256);
            let constant = self.constant(kept);
            self.three(code, whole, self.sized(from, 32), constant);
            packed = at;
        }
        let [words, bytes] = match (has_halves, is_number) {
            (true, true) => [Code::VEX_Vpackusdw_ymm_ymm_ymmm256, Code::VEX_Vpackuswb_ymm_ymm_ymmm256],
            (true, false) => [Code::VEX_Vpackssdw_ymm_ymm_ymmm256, Code::VEX_Vpacksswb_ymm_ymm_ymmm256],
            (false, true) => [Code::VEX_Vpackusdw_xmm_xmm_xmmm128, Code::VEX_Vpackuswb_xmm_xmm_xmmm128],
            (false, false) => [Code::VEX_Vpackssdw_xmm_xmm_xmmm128, Code::VEX_Vpacksswb_xmm_xmm_xmmm128],
        };
        if have == 32 {
            self.three(words, at, packed, Source::Register(packed));
            packed = at;
        }
        if bits == 8 {
            self.three(bytes, at, packed, Source::Register(packed));
        }
        if has_halves {
            self.put(Instruction::with3(Code::VEX_Vpermq_ymm_ymmm256_imm8, whole, whole, FIRST_AND_THIRD));
            if have / bits == 4 {
                self.put(Instruction::with3(Code::VEX_Vpshufd_xmm_xmmm128_imm8, first, first, FIRST_AND_THIRD));
            }
        }
    }

    /// A truth value that is a vector (AVX2) in lanes of another size: where it is, or in the register `free`.
    pub(super) fn truth_in(&mut self, truth: Reg, have: Number, want: Number, free: Reg) -> Reg {
        let (have, bits) = (8 * have.bytes() as u32, 8 * want.bytes() as u32);
        match have.cmp(&bits) {
            std::cmp::Ordering::Equal => return truth,
            std::cmp::Ordering::Less => {
                let ty = signed_type(have);
                self.resize(free, truth, ty, bits);
            }
            std::cmp::Ordering::Greater => self.pack(free, truth, have, bits, false),
        }
        free
    }

    /// Integers as floating-point numbers, rounded once.
    fn round_integers(&mut self, to: Reg, from: Reg, have: ValueType, result: Number) {
        let source = Number::Integer(have);
        if have.bits() < 32 {
            self.resize(to, from, have, 32);
            return self.one_conversion(to, to, INT32, result);
        }
        match (have, result, self.isa) {
            (ValueType::U32, Number::F32, Avx::Avx2) => self.unsigned_to_floats(to, from),
            (ValueType::U32, _, Avx::Avx2) => {
                // Below 2^52 a double's lowest bits are the integer's.
                self.resize(to, from, have, 64);
                let to = self.of(to, result);
                self.with(Arith::Or, result, to, to, TWO_52);
                self.with(Arith::Sub, result, to, to, TWO_52);
            }
            (ValueType::I64, _, Avx::Avx2) => self.long_to_doubles(to, from),
            _ => self.one_conversion(to, from, source, result),
        }
    }

    /// Unsigned 32-bit integers as floats (AVX2): both halves are exact, and so is the upper one times 2^16.
    fn unsigned_to_floats(&mut self, to: Reg, from: Reg) {
        let (high, low) = (self.between(1), self.between(2));
        let shift = self.code_of(Kind::ShiftBits(ShiftOp::Right), UINT32);
        self.put(Instruction::with3(shift, self.of(high, UINT32), self.of(from, UINT32), 16));
        let kept = kept_lanes(32, 16).expect("words are kept of 32 bits");
        self.with(Arith::And, UINT32, self.of(low, UINT32), self.of(from, UINT32), kept);
        self.one_conversion(high, high, INT32, Number::F32);
        self.one_conversion(low, low, INT32, Number::F32);
        let (high, low) = (self.of(high, Number::F32), self.of(low, Number::F32));
        self.with(Arith::Mul, Number::F32, high, high, float_bits(Number::F32, 65536.0));
        self.three(
            self.code_of(Kind::Arith(Arith::Add), Number::F32),
            self.of(to, Number::F32),
            high,
            Source::Register(low),
        );
    }

    /// 64-bit integers as doubles (AVX2): each half is exact above a power of two, and only the sum of both is rounded.
    pub(super) fn long_to_doubles(&mut self, to: Reg, from: Reg) {
        let number = Number::F64;
        let [high, low] = [1, 2].map(|at| self.of(self.between(at), number));
        let (to, from) = (self.of(to, number), self.of(from, number));
        let shift = self.code_of(Kind::ShiftBits(ShiftOp::Right), INT64);
        self.put(Instruction::with3(shift, high, from, 32));
        self.with(Arith::Xor, INT64, high, high, UPPER_HALF);
        let Source::Constant(exponent, constant) = self.constant(TWO_52) else { unreachable!("a constant") };
        let blend = Instruction::with4(Code::VEX_Vpblendd_ymm_ymm_ymmm256_imm8, low, from, exponent, UPPER);
        self.put_with_constant(&blend.expect("the operands fit the code"), constant);
        self.with(Arith::Sub, number, high, high, BOTH_HALVES);
        self.three(self.code_of(Kind::Arith(Arith::Add), number), to, high, Source::Register(low));
    }

    /// Floating-point numbers cut to integers, and saturated; NaN gives 0.
    fn cut(&mut self, to: Reg, from: Reg, source: Number, want: ValueType) {
        let (between, (low, high)) = (self.between(1), ends(source, want));
        let inside = self.of(between, source);
        match (has_highest(source, want), low) {
            (false, Some(_)) => return self.cut_at_end(to, from, source, want),
            // Where one of them is NaN, the second operand is the result.
            (_, None) => self.with(Arith::Max, source, inside, self.of(from, source), 0),
            (true, Some(low)) => {
                self.without_nans(between, from, source);
                self.with(Arith::Max, source, inside, inside, low);
            }
        }
        match (want, source, self.isa) {
            // Of what is too large the instruction makes all ones.
            (ValueType::U32, Number::F32, Avx::Avx512) => return self.one_conversion(to, between, source, UINT32),
            (ValueType::U32, Number::F32, Avx::Avx2) => return self.floats_to_unsigned(to, between, high),
            _ => self.with(Arith::Min, source, inside, inside, high),
        }
        match (want, self.isa) {
            (ValueType::U32, Avx::Avx512) => self.one_conversion(to, between, source, UINT32),
            (ValueType::U32, Avx::Avx2) => {
                // Above 2^52 a double's lowest bits are the integer's.
                self.put(Instruction::with3(self.code_of(Kind::Round, source), inside, inside, TRUNCATE));
                self.with(Arith::Add, source, inside, inside, TWO_52);
                self.pack(to, between, 64, 32, true);
            }
            _ => {
                self.one_conversion(to, between, source, INT32);
                self.resize(to, to, ValueType::I32, want.bits());
            }
        }
    }

    /// The same of signed types whose highest integer is none of the floating-point numbers. Of what is outside them
    /// the instruction makes the lowest integer.
    fn cut_at_end(&mut self, to: Reg, from: Reg, source: Number, want: ValueType) {
        let (result, (_, above)) = (Number::Integer(want), ends(source, want));
        let (between, is_above) = (self.between(1), self.between(2));
        self.without_nans(between, from, source);
        match self.isa {
            Avx::Avx512 => {
                self.compare_with(FREE_MASK, from, source, above, GREATER_OR_EQUAL);
                self.one_conversion(to, between, source, result);
                let (code, to) = (self.code_of(Kind::Blend, result), self.of(to, result));
                let Source::Constant(highest, constant) = self.constant(result.repeated(greatest(want))) else {
                    unreachable!("a constant")
                };
                let blend = Instruction::with3(code, to, to, highest);
                let mut blend = blend.expect("the operands fit the code");
                blend.set_op_mask(FREE_MASK);
                self.put_with_constant(&blend, constant);
            }
            Avx::Avx2 => {
                self.compare_with(self.of(is_above, source), from, source, above, GREATER_OR_EQUAL);
                self.one_conversion(to, between, source, result);
                // The bits of the highest integer are those of the lowest, all turned over.
                let (xor, is_above) = (self.code_of(Kind::Arith(Arith::Xor), result), self.of(is_above, result));
                self.three(xor, self.of(to, result), self.of(to, result), Source::Register(is_above));
            }
        }
    }

    /// Floats that are not negative as unsigned 32-bit integers (AVX2): those from 2^31 on without their highest bit,
    /// which is put back; all ones from 2^32 on. `from` is one of the registers for what is between.
    fn floats_to_unsigned(&mut self, to: Reg, from: Reg, above: u64) {
        let (number, half) = (Number::F32, float_bits(Number::F32, 2_147_483_648.0));
        let is_upper = self.between(2);
        self.compare_with(self.of(is_upper, number), from, number, half, GREATER_OR_EQUAL);
        let [to_of, from_of, upper] = [to, from, is_upper].map(|register| self.of(register, number));
        self.with(Arith::And, number, to_of, upper, half);
        self.three(self.code_of(Kind::Arith(Arith::Sub), number), to_of, from_of, Source::Register(to_of));
        self.one_conversion(to, to, number, INT32);
        let left = self.code_of(Kind::ShiftBits(ShiftOp::Left), UINT32);
        self.put(Instruction::with3(left, upper, upper, 31));
        self.three(self.code_of(Kind::Arith(Arith::Xor), UINT32), to_of, to_of, Source::Register(upper));
        self.compare_with(from_of, from, number, above, GREATER_OR_EQUAL);
        self.three(self.code_of(Kind::Arith(Arith::Or), UINT32), to_of, to_of, Source::Register(from_of));
    }

    /// Floating-point numbers, and 0 in the place of NaN.
    fn without_nans(&mut self, to: Reg, from: Reg, number: Number) {
        let (code, from, to) = (self.code_of(Kind::Compare, number), self.of(from, number), self.of(to, number));
        if self.isa == Avx::Avx2 {
            self.put(Instruction::with4(code, to, from, from, ORDERED));
            return self.three(self.code_of(Kind::Arith(Arith::And), number), to, to, Source::Register(from));
        }
        self.put(Instruction::with4(code, FREE_MASK, from, from, ORDERED));
        let copy = Instruction::with2(self.code_of(Kind::Move, number), to, from);
        let mut copy = copy.expect("the operands fit the code");
        copy.set_op_mask(FREE_MASK);
        copy.set_zeroing_masking(true);
        self.put(Ok(copy));
    }

    /// Compares floating-point numbers with a constant.
    fn compare_with(&mut self, to: Register, from: Reg, number: Number, bits: u64, predicate: u32) {
        let Source::Constant(operand, constant) = self.constant(bits) else { unreachable!("a constant") };
        let (code, from) = (self.code_of(Kind::Compare, number), self.of(from, number));
        let compare = Instruction::with4(code, to, from, operand, predicate);
        self.put_with_constant(&compare.expect("the operands fit the code"), constant);
    }

    /// `to = a op bits`, of numbers of a type, for bits in the pool.
    pub(super) fn with(&mut self, op: Arith, number: Number, to: Register, a: Register, bits: u64) {
        let (code, bits) = (self.code_of(Kind::Arith(op), number), self.constant(bits));
        let current = std::mem::replace(&mut self.number, number);
        self.three(code, to, a, bits);
        self.number = current;
    }

    /// A constant of the pool, which fills a vector.
    pub(super) fn constant(&self, bits: u64) -> Source {
        Source::Constant(self.assembler.constant_operand(false), self.body.constant(bits))
    }

    /// The code of an instruction on numbers of a type.
    pub(super) fn code_of(&self, kind: Kind, number: Number) -> Code {
        code(kind, number, self.form_of(number))
    }

    /// The form of instructions on numbers of a type.
    pub(super) fn form_of(&self, number: Number) -> Form {
        match (self.isa, self.body.shape.bytes_of(number)) {
            (Avx::Avx2, _) => Form::Vex256,
            (Avx::Avx512, 64) => Form::Evex512,
            (Avx::Avx512, _) => Form::Evex256,
        }
    }

    /// A register as a vector of numbers of a type.
    pub(super) fn of(&self, register: Reg, number: Number) -> Register {
        self.sized(register, self.body.shape.bytes_of(number))
    }

    /// A register as a vector of numbers of a type in an instruction whose form is that of a wider one.
    pub(super) fn beside(&self, register: Reg, number: Number, wider: Number) -> Register {
        let bytes = self.body.shape.bytes_of(wider) * number.bytes() / wider.bytes();
        self.sized(register, bytes.max(16))
    }

    /// A register for what is between.
    pub(super) fn between(&self, at: usize) -> Reg {
        Reg { class: Class::Vector, number: (self.body.shape.registers() + at) as u8 }
    }
}

/// The type of signed integers of this many bits.
fn signed_type(bits: u32) -> ValueType {
    match bits {
        8 => ValueType::I8,
        16 => ValueType::I16,
        32 => ValueType::I32,
        _ => ValueType::I64,
    }
}

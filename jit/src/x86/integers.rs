//! Operations on integers: those that are one instruction, and those that AVX2 or AVX-512 has none for.
//!
//! In: an operation on registers, within a block.   Out: code.
//!
//! Registers of the operands may be that of the result, so it is written last; what is between goes to the registers
//! that [`INTEGER_SCRATCH`] keeps free. Results are those of `jit/src/clif/vectors.rs`.

use super::codes::code;
use super::encode::{Encoding, Source};
use super::integer_codes::integer_code;
use super::kinds::Kind;
use crate::vector::{
    Arith, Class, Extent, INTEGER_SCRATCH, LOW_BYTES, Number, Operand, Reg, SignOp, greatest, kept_bits, lowered_sign,
};
use crease_program::{CompareOp, ShiftOp, ValueType};
use iced_x86::{Code, Instruction, Register};

/// Where the upper half of each 64-bit integer goes to its lower half too (`vpshufd`).
const UPPER_HALVES: u32 = 0xf5;

impl Encoding<'_, '_> {
    /// `to = a op b`.
    pub(super) fn integer_arith(&mut self, op: Arith, ty: ValueType, to: Reg, a: Reg, b: Operand) {
        let (to, a, b) = (self.vector(to), self.vector(a), self.operand(b));
        match (op, ty.bits()) {
            _ if self.code(Kind::Arith(op)) != Code::INVALID => self.three(self.code(Kind::Arith(op)), to, a, b),
            (Arith::Mul, 8) => self.multiply_bytes(to, a, b),
            (Arith::Mul, _) => self.multiply_words(to, a, b),
            (Arith::Min | Arith::Max, _) => {
                let (is_greater, b) = (self.scratch(0), self.in_register(b));
                self.three(self.code(Kind::CompareGreater), is_greater, a, Source::Register(b));
                let (otherwise, then) = if op == Arith::Min { (a, b) } else { (b, a) };
                let instruction = Instruction::with4(self.code(Kind::Blend), to, otherwise, then, is_greater);
                self.put(instruction);
            }
            (Arith::AddSat, _) if ty.is_unsigned() => {
                // What is above `!a` does not fit.
                let (room, b) = (self.scratch(0), self.in_register(b));
                self.with_bits(Arith::Xor, room, a, u64::MAX);
                self.three(self.code(Kind::Arith(Arith::Min)), room, room, Source::Register(b));
                self.three(self.code(Kind::Arith(Arith::Add)), to, a, Source::Register(room));
            }
            (Arith::SubSat, _) if ty.is_unsigned() => {
                let (most, b) = (self.scratch(0), self.in_register(b));
                self.three(self.code(Kind::Arith(Arith::Max)), most, a, Source::Register(b));
                self.three(self.code(Kind::Arith(Arith::Sub)), to, most, Source::Register(b));
            }
            (Arith::AddSat | Arith::SubSat, _) => self.saturating(op, ty, to, a, b),
            _ => unreachable!("such strips are not eligible"),
        }
    }

    /// Products of bytes: those of the even and of the odd ones, as words.
    fn multiply_bytes(&mut self, to: Register, a: Register, b: Source) {
        let (odd, other, b) = (self.scratch(0), self.scratch(1), self.in_register(b));
        let multiply = self.word_code(Kind::Arith(Arith::Mul));
        let right = self.word_code(Kind::ShiftBits(ShiftOp::Right));
        let left = self.word_code(Kind::ShiftBits(ShiftOp::Left));
        self.put(Instruction::with3(right, odd, a, 8));
        self.put(Instruction::with3(right, other, b, 8));
        self.three(multiply, odd, odd, Source::Register(other));
        self.put(Instruction::with3(left, odd, odd, 8));
        self.three(multiply, other, a, Source::Register(b));
        self.with_bits(Arith::And, other, other, LOW_BYTES);
        self.three(self.code(Kind::Arith(Arith::Or)), to, odd, Source::Register(other));
    }

    /// Products of 64 bits out of those of 32 bits.
    fn multiply_words(&mut self, to: Register, a: Register, b: Source) {
        let (crossed, other, b) = (self.scratch(0), self.scratch(1), self.in_register(b));
        let (multiply, add) = (self.code(Kind::MulHalves), self.code(Kind::Arith(Arith::Add)));
        let shift = |op| Kind::ShiftBits(op);
        self.put(Instruction::with3(self.code(shift(ShiftOp::Right)), crossed, a, 32));
        self.three(multiply, crossed, crossed, Source::Register(b));
        self.put(Instruction::with3(self.code(shift(ShiftOp::Right)), other, b, 32));
        self.three(multiply, other, other, Source::Register(a));
        self.three(add, crossed, crossed, Source::Register(other));
        self.put(Instruction::with3(self.code(shift(ShiftOp::Left)), crossed, crossed, 32));
        self.three(multiply, other, a, Source::Register(b));
        self.three(add, to, crossed, Source::Register(other));
    }

    /// Saturating sums or differences of signed integers of 32 or 64 bits: they overflow where the result has the wrong
    /// sign, and then are the limit on the side of `a`.
    fn saturating(&mut self, op: Arith, ty: ValueType, to: Register, a: Register, b: Source) {
        let (result, wrong, limit) = (self.scratch(0), self.scratch(1), self.scratch(2));
        let b = self.in_register(b);
        let is_sum = op == Arith::AddSat;
        let plain = if is_sum { Arith::Add } else { Arith::Sub };
        let xor = self.code(Kind::Arith(Arith::Xor));
        self.three(self.code(Kind::Arith(plain)), result, a, Source::Register(b));
        // Sums overflow if the result differs in sign from both operands, differences if it and `b` do from `a`.
        self.three(xor, wrong, a, Source::Register(result));
        self.three(xor, limit, b, Source::Register(if is_sum { result } else { a }));
        self.three(self.code(Kind::Arith(Arith::And)), wrong, wrong, Source::Register(limit));
        self.signs(ty, wrong, wrong);
        // The bits of the least number are those of the greatest, all turned over.
        self.signs(ty, limit, a);
        self.with_bits(Arith::Xor, limit, limit, Number::Integer(ty).repeated(greatest(ty)));
        self.three(xor, limit, limit, Source::Register(result));
        self.three(self.code(Kind::Arith(Arith::And)), limit, limit, Source::Register(wrong));
        self.three(xor, to, result, Source::Register(limit));
    }

    /// All ones where integers of 32 or 64 bits are negative, else zeros.
    fn signs(&mut self, ty: ValueType, to: Register, from: Register) {
        let signed = self.code(Kind::ShiftSigned);
        if signed != Code::INVALID {
            return self.put(Instruction::with3(signed, to, from, ty.bits() - 1));
        }
        let halves = integer_code(Kind::ShiftSigned, ValueType::I32, self.form());
        self.put(Instruction::with3(halves, to, from, 31));
        let shuffle =
            if self.is_part() { Code::VEX_Vpshufd_xmm_xmmm128_imm8 } else { Code::VEX_Vpshufd_ymm_ymmm256_imm8 };
        self.put(Instruction::with3(shuffle, to, to, UPPER_HALVES));
    }

    /// Negates integers, or takes their magnitudes.
    pub(super) fn integer_sign(&mut self, op: SignOp, ty: ValueType, to: Reg, from: Reg) {
        let (to, from) = (self.vector(to), self.vector(from));
        let (between, subtract) = (self.scratch(0), self.code(Kind::Arith(Arith::Sub)));
        let xor = self.code(Kind::Arith(Arith::Xor));
        match op {
            SignOp::Negate => {
                self.three(xor, between, between, Source::Register(between));
                self.three(subtract, to, between, Source::Register(from));
            }
            SignOp::Magnitude if ty.is_unsigned() => self.two(self.code(Kind::Move), to, Source::Register(from)),
            SignOp::Magnitude if self.code(Kind::Abs) != Code::INVALID => {
                self.two(self.code(Kind::Abs), to, Source::Register(from));
            }
            SignOp::Magnitude => {
                self.signs(ty, between, from);
                self.three(xor, to, from, Source::Register(between));
                self.three(subtract, to, to, Source::Register(between));
            }
        }
    }

    /// Shifts integers by a constant.
    pub(super) fn integer_shift(&mut self, op: ShiftOp, ty: ValueType, to: Reg, from: Reg, count: u8) {
        let (to, from) = (self.vector(to), self.vector(from));
        let is_signed = op == ShiftOp::Right && !ty.is_unsigned();
        let native = self.code(if is_signed { Kind::ShiftSigned } else { Kind::ShiftBits(op) });
        if native != Code::INVALID {
            return self.put(Instruction::with3(native, to, from, u32::from(count)));
        }
        let number = Number::Integer(ty);
        if ty.bits() == 8 {
            let words = self.word_code(Kind::ShiftBits(op));
            self.put(Instruction::with3(words, to, from, u32::from(count)));
            self.with_bits(Arith::And, to, to, number.repeated(kept_bits(op, count)));
        } else {
            self.put(Instruction::with3(self.code(Kind::ShiftBits(op)), to, from, u32::from(count)));
        }
        if is_signed {
            // What was the sign is one bit now: the bits above it become the same.
            let sign = number.repeated(lowered_sign(ty, count));
            self.with_bits(Arith::Xor, to, to, sign);
            self.with_bits(Arith::Sub, to, to, sign);
        }
    }

    /// Compares integers.
    pub(super) fn integer_compare(&mut self, op: CompareOp, ty: ValueType, to: Reg, a: Reg, b: Operand) {
        let (a, b) = (self.vector(a), self.operand(b));
        if to.class == Class::Mask {
            return self.compare_into_mask(op, self.register(to), a, b);
        }
        let to = self.vector(to);
        let (greater, equal) = (self.code(Kind::CompareGreater), self.code(Kind::CompareEqual));
        let is_negated = match op {
            CompareOp::Eq | CompareOp::Ne => {
                self.three(equal, to, a, b);
                op == CompareOp::Ne
            }
            // Not below is to be the greater of both.
            _ if ty.is_unsigned() => {
                let keeps_greater = matches!(op, CompareOp::Ge | CompareOp::Lt);
                let kind = Kind::Arith(if keeps_greater { Arith::Max } else { Arith::Min });
                let kept = self.scratch(0);
                self.three(self.code(kind), kept, a, b);
                self.three(equal, to, kept, Source::Register(a));
                matches!(op, CompareOp::Lt | CompareOp::Gt)
            }
            CompareOp::Gt | CompareOp::Le => {
                self.three(greater, to, a, b);
                op == CompareOp::Le
            }
            CompareOp::Lt | CompareOp::Ge => {
                let b = self.in_register(b);
                self.three(greater, to, b, Source::Register(a));
                op == CompareOp::Ge
            }
        };
        if is_negated {
            self.with_bits(Arith::Xor, to, to, u64::MAX);
        }
    }

    fn compare_into_mask(&mut self, op: CompareOp, to: Register, a: Register, b: Source) {
        let predicate: u32 = match op {
            CompareOp::Eq => 0,
            CompareOp::Lt => 1,
            CompareOp::Le => 2,
            CompareOp::Ne => 4,
            CompareOp::Ge => 5,
            CompareOp::Gt => 6,
        };
        let code = self.code(Kind::Compare);
        let instruction = match b {
            Source::Register(b) => Instruction::with4(code, to, a, b, predicate),
            Source::Memory(b) | Source::Cells(b) | Source::Constant(b, _) => {
                Instruction::with4(code, to, a, b, predicate)
            }
        };
        self.finish(instruction, b, false);
    }

    /// `to = a op bits`, for bits in the pool.
    pub(super) fn with_bits(&mut self, op: Arith, to: Register, a: Register, bits: u64) {
        let constant = self.body.constant(bits);
        let bits = Source::Constant(self.assembler.constant_operand(false), constant);
        self.three(self.code(Kind::Arith(op)), to, a, bits);
    }

    /// An operand in a register: where it is, or the last one for what is between.
    pub(super) fn in_register(&mut self, source: Source) -> Register {
        if let Source::Register(register) = source {
            return register;
        }
        let to = self.scratch(INTEGER_SCRATCH - 1);
        self.two(self.code(Kind::Load), to, source);
        to
    }

    /// A register for what is between.
    pub(super) fn scratch(&self, at: usize) -> Register {
        let number = self.body.shape.registers() + at;
        self.vector(Reg { class: Class::Vector, number: number as u8 })
    }

    /// Whether the block is the first integers of a vector only, in 128 bits.
    pub(super) fn is_part(&self) -> bool {
        matches!(self.extent, Extent::Part(_)) && !self.body.shape.is_mixed
    }

    /// The code of an instruction on words, which bytes have none for.
    fn word_code(&self, kind: Kind) -> Code {
        code(kind, Number::Integer(ValueType::U16), self.form())
    }
}

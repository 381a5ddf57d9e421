//! Truth values: comparisons, and what chooses by them.
//!
//! In: an instruction of a block.   Out: code.
//!
//! They are masks with one bit for each lane, or with AVX2 vectors of all ones and all zeros, as wide as what was
//! compared.

use super::encode::{Encoding, Source};
use super::kinds::Kind;
use crate::vector::{Class, Operand, Reg};
use crease_program::CompareOp;
use iced_x86::Instruction;

impl Encoding<'_, '_> {
    /// Compares numbers.
    pub(super) fn compare(&mut self, op: CompareOp, to: Reg, a: Reg, b: Operand) {
        if let Some(ty) = self.integer() {
            return self.integer_compare(op, ty, to, a, b);
        }
        // False if unordered, without a signal; "not equal" is true.
        let predicate: u32 = match op {
            CompareOp::Lt => 0x11,
            CompareOp::Le => 0x12,
            CompareOp::Gt => 0x1e,
            CompareOp::Ge => 0x1d,
            CompareOp::Eq => 0x00,
            CompareOp::Ne => 0x04,
        };
        let (code, a, b) = (self.code(Kind::Compare), self.vector(a), self.operand(b));
        let to = if to.class == Class::Mask { self.register(to) } else { self.vector(to) };
        let instruction = match b {
            Source::Register(b) => Instruction::with4(code, to, a, b, predicate),
            Source::Memory(b) | Source::Cells(b) | Source::Constant(b, _) => {
                Instruction::with4(code, to, a, b, predicate)
            }
        };
        self.finish(instruction, b, false);
    }

    /// Takes one or the other operand, lane by lane.
    pub(super) fn select(&mut self, to: Reg, cond: Reg, then: Operand, otherwise: Reg) {
        let (code, to, otherwise) = (self.code(Kind::Blend), self.vector(to), self.vector(otherwise));
        let then = self.operand(then);
        if cond.class == Class::Vector {
            let cond = self.truth_operand(0, cond, 1);
            let cond = self.vector(cond);
            let instruction = match then {
                Source::Register(then) => Instruction::with4(code, to, otherwise, then, cond),
                Source::Memory(then) | Source::Cells(then) | Source::Constant(then, _) => {
                    Instruction::with4(code, to, otherwise, then, cond)
                }
            };
            return self.finish(instruction, then, false);
        }
        let instruction = match then {
            Source::Register(then) => Instruction::with3(code, to, otherwise, then),
            Source::Memory(then) | Source::Cells(then) | Source::Constant(then, _) => {
                Instruction::with3(code, to, otherwise, then)
            }
        };
        let cond = self.register(cond);
        let masked = instruction.map(|mut instruction| {
            instruction.set_op_mask(cond);
            instruction
        });
        self.finish(masked, then, false);
    }

    /// An operand of the current operation that is a truth value in a vector, in lanes of the current type; if those
    /// are others than its own, in one of the registers for what is between.
    pub(super) fn truth_operand(&mut self, which: usize, truth: Reg, free: usize) -> Reg {
        let operand = self.body.operands(self.operation).nth(which).expect("the operation has such an operand");
        if self.body.numbers[operand].bytes() == self.number.bytes() {
            return truth;
        }
        self.truth_in(truth, self.body.numbers[operand], self.number, self.between(free))
    }

    /// Whether 16 bits hold the masks of the strip; strips with integers may have more lanes.
    pub(super) fn has_few_lanes(&self) -> bool {
        self.body.shape.is_float()
    }
}

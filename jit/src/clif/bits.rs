//! Operations on the bits of numbers, of one cell or of a vector: integers of the same width in between.

use crease_program::{BitOp, ShiftOp};

use super::emitter::Emitter;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};

impl Emitter<'_, '_> {
    /// Two numbers as integers.
    pub(super) fn combine_bits(&mut self, op: BitOp, a: Value, b: Value) -> Value {
        let ty = self.b.func.dfg.value_type(a);
        let (a, b) = (self.integers(a), self.integers(b));
        let result = match op {
            BitOp::And => self.b.ins().band(a, b),
            BitOp::Or => self.b.ins().bor(a, b),
            BitOp::Xor => self.b.ins().bxor(a, b),
            BitOp::Add => self.b.ins().iadd(a, b),
            BitOp::Sub => self.b.ins().isub(a, b),
        };
        self.b.ins().bitcast(ty, MemFlagsData::new(), result)
    }

    /// Moves the bits of a number.
    pub(super) fn shift_bits(&mut self, op: ShiftOp, a: Value, count: u8) -> Value {
        let ty = self.b.func.dfg.value_type(a);
        let (a, count) = (self.integers(a), i64::from(count));
        let result = match op {
            ShiftOp::Left => self.b.ins().ishl_imm_u(a, count),
            ShiftOp::Right => self.b.ins().ushr_imm_u(a, count),
        };
        self.b.ins().bitcast(ty, MemFlagsData::new(), result)
    }

    /// The bits of a number, or of each in a vector.
    fn integers(&mut self, value: Value) -> Value {
        let ty = self.b.func.dfg.value_type(value);
        let lane = if ty.lane_bits() == 64 { types::I64 } else { types::I32 };
        let integers = lane.by(ty.lane_count()).expect("there are integers of the width of numbers");
        self.b.ins().bitcast(integers, MemFlagsData::new(), value)
    }
}

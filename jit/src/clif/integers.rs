//! Integers of one cell: arithmetic, conversions, loads and stores. Those of several are [`super::vectors`]'.
//!
//! In: an operation of which the result or an operand is an integer.   Out: the code for one cell.
//!
//! A value is held in a register of its own width.

use crease_program::{BinaryOp, BitOp, CompareOp, ShiftOp, UnaryOp, ValueType};

use super::emitter::Emitter;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};

impl Emitter<'_, '_> {
    /// A constant of an integer type.
    pub(super) fn integer_constant(&mut self, ty: ValueType, value: i64) -> Value {
        let mask = u64::MAX >> (64 - ty.bits());
        self.b.ins().iconst(register(ty), (value as u64 & mask) as i64)
    }

    /// An operation of one integer.
    pub(super) fn integer_unary(&mut self, op: UnaryOp, ty: ValueType, a: Value) -> Value {
        match op {
            UnaryOp::Neg => self.b.ins().ineg(a),
            UnaryOp::Abs if ty.is_unsigned() => a,
            UnaryOp::Abs => {
                let (zero, negated) = (self.integer_constant(ty, 0), self.b.ins().ineg(a));
                let is_negative = self.b.ins().icmp(IntCC::SignedLessThan, a, zero);
                self.b.ins().select(is_negative, negated, a)
            }
            UnaryOp::BitNot => self.b.ins().bnot(a),
            UnaryOp::Sqrt | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Trunc | UnaryOp::Nearest => {
                unreachable!("the program has verified")
            }
        }
    }

    /// An operation of two integers of one type.
    pub(super) fn integer_binary(&mut self, op: BinaryOp, ty: ValueType, a: Value, b: Value) -> Value {
        match op {
            BinaryOp::Add => self.b.ins().iadd(a, b),
            BinaryOp::Sub => self.b.ins().isub(a, b),
            BinaryOp::Mul => self.b.ins().imul(a, b),
            BinaryOp::Min | BinaryOp::Max => {
                let (less, more) = if op == BinaryOp::Min { (a, b) } else { (b, a) };
                let is_first = self.b.ins().icmp(int_cc(CompareOp::Lt, ty), less, more);
                self.b.ins().select(is_first, a, b)
            }
            BinaryOp::AddSat | BinaryOp::SubSat if ty == ValueType::I64 => self.saturating_word(op, a, b),
            BinaryOp::AddSat | BinaryOp::SubSat => {
                let (a, b) = (self.widened(ty, a), self.widened(ty, b));
                let exact = if op == BinaryOp::AddSat { self.b.ins().iadd(a, b) } else { self.b.ins().isub(a, b) };
                self.clamped(ty, exact)
            }
            BinaryOp::Div | BinaryOp::Rem => unreachable!("the program has verified"),
        }
    }

    /// A saturating sum or difference of 64 bits: it overflows where the result has the wrong sign.
    fn saturating_word(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let is_sum = op == BinaryOp::AddSat;
        let result = if is_sum { self.b.ins().iadd(a, b) } else { self.b.ins().isub(a, b) };
        // Sums overflow if the result differs in sign from both operands, differences if it and `b` do from `a`.
        let (one, other) = (self.b.ins().bxor(a, result), self.b.ins().bxor(if is_sum { result } else { a }, b));
        let wrong = self.b.ins().band(one, other);
        let [zero, low, high] = [0, i64::MIN, i64::MAX].map(|value| self.b.ins().iconst(types::I64, value));
        let is_negative = self.b.ins().icmp(IntCC::SignedLessThan, a, zero);
        let limit = self.b.ins().select(is_negative, low, high);
        let overflows = self.b.ins().icmp(IntCC::SignedLessThan, wrong, zero);
        self.b.ins().select(overflows, limit, result)
    }

    /// Bits of two integers.
    pub(super) fn integer_bits(&mut self, op: BitOp, a: Value, b: Value) -> Value {
        match op {
            BitOp::And => self.b.ins().band(a, b),
            BitOp::Or => self.b.ins().bor(a, b),
            BitOp::Xor => self.b.ins().bxor(a, b),
            BitOp::Add => self.b.ins().iadd(a, b),
            BitOp::Sub => self.b.ins().isub(a, b),
        }
    }

    /// An integer by some places.
    pub(super) fn integer_shift(&mut self, op: ShiftOp, ty: ValueType, a: Value, count: u8) -> Value {
        let count = i64::from(count);
        match op {
            ShiftOp::Left => self.b.ins().ishl_imm_u(a, count),
            ShiftOp::Right if ty.is_unsigned() => self.b.ins().ushr_imm_u(a, count),
            ShiftOp::Right => self.b.ins().sshr_imm_u(a, count),
        }
    }

    /// Whether two integers compare so.
    pub(super) fn integer_compare(&mut self, op: CompareOp, ty: ValueType, a: Value, b: Value) -> Value {
        self.b.ins().icmp(int_cc(op, ty), a, b)
    }

    /// A number in another type of numbers, one of which at least is an integer type.
    pub(super) fn integer_convert(&mut self, from: ValueType, to: ValueType, a: Value) -> Value {
        match (from.is_integer(), to.is_integer()) {
            (true, true) => {
                let (old, new) = (register(from), register(to));
                match old.bits().cmp(&new.bits()) {
                    std::cmp::Ordering::Equal => a,
                    std::cmp::Ordering::Greater => self.b.ins().ireduce(new, a),
                    std::cmp::Ordering::Less if from.is_unsigned() => self.b.ins().uextend(new, a),
                    std::cmp::Ordering::Less => self.b.ins().sextend(new, a),
                }
            }
            (true, false) => {
                let wide = self.widened(from, a);
                let float = if to == ValueType::F32 { types::F32 } else { types::F64 };
                self.b.ins().fcvt_from_sint(float, wide)
            }
            _ => {
                let wide = self.b.ins().fcvt_to_sint_sat(types::I64, a);
                self.clamped(to, wide)
            }
        }
    }

    /// An integer in 64 bits.
    pub(super) fn widened(&mut self, ty: ValueType, a: Value) -> Value {
        match register(ty) {
            types::I64 => a,
            _ if ty.is_unsigned() => self.b.ins().uextend(types::I64, a),
            _ => self.b.ins().sextend(types::I64, a),
        }
    }

    /// The number of a type that is closest to an integer of 64 bits.
    fn clamped(&mut self, ty: ValueType, wide: Value) -> Value {
        if ty == ValueType::I64 {
            return wide;
        }
        let (low, high) = ty.range();
        let [low, high] = [low, high].map(|value| self.b.ins().iconst(types::I64, value));
        let is_low = self.b.ins().icmp(IntCC::SignedLessThan, wide, low);
        let raised = self.b.ins().select(is_low, low, wide);
        let is_high = self.b.ins().icmp(IntCC::SignedGreaterThan, raised, high);
        let within = self.b.ins().select(is_high, high, raised);
        self.b.ins().ireduce(register(ty), within)
    }
}

/// The type of the registers that hold integers of a type.
pub(super) fn register(ty: ValueType) -> Type {
    match ty.bits() {
        8 => types::I8,
        16 => types::I16,
        32 => types::I32,
        _ => types::I64,
    }
}

/// The comparison of numbers of a type.
pub(super) fn int_cc(op: CompareOp, ty: ValueType) -> IntCC {
    let signed = match op {
        CompareOp::Lt => IntCC::SignedLessThan,
        CompareOp::Le => IntCC::SignedLessThanOrEqual,
        CompareOp::Gt => IntCC::SignedGreaterThan,
        CompareOp::Ge => IntCC::SignedGreaterThanOrEqual,
        CompareOp::Eq => IntCC::Equal,
        CompareOp::Ne => IntCC::NotEqual,
    };
    if ty.is_unsigned() { signed.unsigned() } else { signed }
}

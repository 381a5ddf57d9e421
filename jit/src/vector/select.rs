//! Instruction selection: one operation of a strip becomes one instruction, with operands in memory where that saves a
//! register, and results in registers of operands that die.
//!
//! In: an [`Allocator`] at an operation.   Out: its instructions, appended.

use crease_program::{BinaryOp, BitOp, CompareOp, Op, ShiftOp, UnaryOp};

use super::allocate::Allocator;
use super::body::{Body, Role};
use super::instruction::{Arith, Class, FmaForm, Inst, Memory, Operand, Reg, Rounding, SignOp};

impl Allocator<'_, '_> {
    /// Chooses the instructions of the operation `at`.
    pub(super) fn operation(&mut self, at: usize) {
        let body = self.body;
        match body.strip.ops[at] {
            Op::F64(_) | Op::F32(_) | Op::Int(..) => {}
            Op::Scalar(scalar) => {
                let to = self.take(at, &[]);
                self.push(Inst::Scalar { to, scalar });
            }
            Op::Index { .. } => {
                let to = self.take(at, &[]);
                self.push(Inst::Index { to, index: at });
            }
            Op::Load { stream, .. } => {
                // What may be read again is loaded where it is used.
                if !matches!(body.roles[at], Role::Cell { .. }) {
                    let to = self.take(at, &[]);
                    self.push(Inst::Load { to, from: Memory::Cell(stream.index()) });
                }
            }
            Op::Store { stream, value, .. } => {
                let value = body.operand(value);
                let from = self.register(value, &[]);
                self.rescue(&[value]);
                self.push(Inst::Store { stream: stream.index(), from, hint: body.hints[at] });
                self.keep_stored(at, value, from);
                self.release(at);
            }
            Op::Unary(op, a) => self.unary(at, op, body.operand(a)),
            Op::Binary(op, a, b) => {
                let op = match op {
                    BinaryOp::Add => Arith::Add,
                    BinaryOp::Sub => Arith::Sub,
                    BinaryOp::Mul => Arith::Mul,
                    BinaryOp::Div => Arith::Div,
                    BinaryOp::Min => Arith::Min,
                    BinaryOp::Max => Arith::Max,
                    BinaryOp::AddSat => Arith::AddSat,
                    BinaryOp::SubSat => Arith::SubSat,
                    BinaryOp::Rem => unreachable!("such strips are not eligible"),
                };
                self.arith(at, op, body.operand(a), body.operand(b));
            }
            Op::Fma(a, b, c) => self.fma(at, [body.operand(a), body.operand(b), body.operand(c)]),
            Op::Bits(op, a, b) => {
                let op = match op {
                    BitOp::And => Arith::And,
                    BitOp::Or => Arith::Or,
                    BitOp::Xor => Arith::Xor,
                    BitOp::Add => Arith::AddBits,
                    BitOp::Sub => Arith::SubBits,
                };
                self.bits(at, op, body.operand(a), body.operand(b));
            }
            Op::Shift(op, a, count) => self.shift(at, op, body.operand(a), count),
            Op::Compare(op, a, b) => self.compare(at, op, body.operand(a), body.operand(b)),
            Op::And(a, b) => self.truth(at, Arith::And, body.operand(a), body.operand(b)),
            Op::Or(a, b) => self.truth(at, Arith::Or, body.operand(a), body.operand(b)),
            Op::Not(a) => self.not(at, body.operand(a)),
            Op::Select(cond, a, b) => self.select(at, [body.operand(cond), body.operand(a), body.operand(b)]),
            Op::Convert(_, a) => {
                let from = self.register(body.operand(a), &[]);
                self.release(at);
                let to = self.take(at, &[]);
                self.push(Inst::Convert { to, from, number: body.number_of(a) });
            }
            Op::Lookup { values, .. } => {
                let keep: Vec<usize> = values.iter().flatten().map(|value| body.operand(*value)).collect();
                let values = values.map(|value| value.map(|value| self.register(body.operand(value), &keep)));
                // Distances are summed up in it while values are still to be read.
                let to = self.take(at, &keep);
                self.release(at);
                self.push(Inst::LookUp { to, values });
            }
            Op::OpaqueSeed(_) | Op::OpaqueMix(..) | Op::OpaqueFinish(_) => {
                unreachable!("such strips are not eligible")
            }
        }
    }

    fn unary(&mut self, at: usize, op: UnaryOp, a: usize) {
        let body = self.body;
        let number = body.numbers[at];
        let is_integer = number.is_integer();
        let (op, bits) = match op {
            UnaryOp::Neg if is_integer => return self.sign(at, SignOp::Negate, a),
            UnaryOp::Abs if is_integer => return self.sign(at, SignOp::Magnitude, a),
            UnaryOp::Sqrt => {
                let from = self.operand(a, &[]);
                self.release(at);
                let to = self.take(at, &[]);
                return self.push(Inst::Sqrt { to, from });
            }
            UnaryOp::Floor => return self.round(at, Rounding::Floor, a),
            UnaryOp::Ceil => return self.round(at, Rounding::Ceil, a),
            UnaryOp::Trunc => return self.round(at, Rounding::Trunc, a),
            UnaryOp::Nearest => return self.round(at, Rounding::Nearest, a),
            UnaryOp::Neg => (Arith::Xor, Body::sign(number)),
            UnaryOp::Abs => (Arith::And, Body::magnitude(number)),
            UnaryOp::BitNot => (Arith::Xor, u64::MAX),
        };
        self.with_constant(at, op, a, bits);
    }

    fn sign(&mut self, at: usize, op: SignOp, a: usize) {
        let from = self.register(a, &[]);
        self.release(at);
        let to = self.take(at, &[]);
        self.push(Inst::Sign { op, to, from });
    }

    fn round(&mut self, at: usize, rounding: Rounding, a: usize) {
        let from = self.operand(a, &[]);
        self.release(at);
        let to = self.take(at, &[]);
        self.push(Inst::Round { rounding, to, from });
    }

    fn shift(&mut self, at: usize, op: ShiftOp, a: usize, count: u8) {
        let from = self.register(a, &[]);
        self.release(at);
        let to = self.take(at, &[]);
        self.push(Inst::ShiftBits { op, to, from, count });
    }

    /// Cells do not fold: for one number these instructions read 16 bytes, as they have no other form.
    fn bits(&mut self, at: usize, op: Arith, mut a: usize, mut b: usize) {
        if op != Arith::SubBits && !self.in_register(a) && self.in_register(b) {
            std::mem::swap(&mut a, &mut b);
        }
        let left = self.register(a, &[a, b]);
        let right = match self.body.roles[b] {
            Role::Cell { .. } => Operand::Reg(self.register(b, &[a, b])),
            _ => self.operand(b, &[a, b]),
        };
        self.release(at);
        let to = self.take(at, &[]);
        self.push(Inst::Arith { op, to, a: left, b: right });
    }

    /// `a op bits`, for bits in the pool.
    fn with_constant(&mut self, at: usize, op: Arith, a: usize, bits: u64) {
        let a = self.register(a, &[]);
        let constant = self.body.constant(bits);
        self.release(at);
        let to = self.take(at, &[]);
        let b = Operand::Memory(Memory::Constant(constant));
        self.push(Inst::Arith { op, to, a, b });
    }

    fn arith(&mut self, at: usize, op: Arith, mut a: usize, mut b: usize) {
        let commutes = matches!(op, Arith::Add | Arith::Mul);
        if commutes && !self.in_register(a) && self.in_register(b) {
            std::mem::swap(&mut a, &mut b);
        }
        let (left, right) = self.pair(a, b);
        self.release(at);
        let to = self.take(at, &[]);
        self.push(Inst::Arith { op, to, a: left, b: right });
    }

    /// Two operands of which the second may be in memory.
    fn pair(&mut self, a: usize, b: usize) -> (Reg, Operand) {
        let left = self.register(a, &[a, b]);
        (left, self.operand(b, &[a, b]))
    }

    fn compare(&mut self, at: usize, op: CompareOp, a: usize, b: usize) {
        let (a, b) = self.pair(a, b);
        self.release(at);
        let to = self.take(at, &[]);
        self.push(Inst::Compare { op, to, a, b });
    }

    fn truth(&mut self, at: usize, op: Arith, a: usize, b: usize) {
        let keep = [a, b];
        let (a, b) = (self.register(a, &keep), self.register(b, &keep));
        self.release(at);
        let to = self.take(at, &[]);
        self.push(match to.class {
            Class::Mask => Inst::Masks { op, to, a, b },
            Class::Vector => Inst::Arith { op, to, a, b: Operand::Reg(b) },
        });
    }

    fn not(&mut self, at: usize, a: usize) {
        if self.class(at) == Class::Vector {
            return self.with_constant(at, Arith::Xor, a, u64::MAX);
        }
        let from = self.register(a, &[]);
        self.release(at);
        let to = self.take(at, &[]);
        self.push(Inst::NotMask { to, from });
    }

    /// Only constants and slots fold here: cells behind the end of a remainder must not be read, whatever `cond` says
    /// there.
    fn select(&mut self, at: usize, operands: [usize; 3]) {
        let [cond, then, otherwise] = operands;
        let cond = self.register(cond, &operands);
        let otherwise = self.register(otherwise, &operands);
        let then = match self.body.roles[then] {
            Role::Cell { .. } => Operand::Reg(self.register(then, &operands)),
            _ => self.operand(then, &operands),
        };
        self.release(at);
        let to = self.take(at, &[]);
        self.push(Inst::Select { to, cond, then, otherwise });
    }

    /// `a * b + c`: at most one operand in memory; the result replaces one that dies, if any does.
    fn fma(&mut self, at: usize, operands: [usize; 3]) {
        let [mut a, mut b, c] = operands;
        if !self.in_register(a) && self.in_register(b) {
            std::mem::swap(&mut a, &mut b);
        }
        let left = self.register(a, &operands);
        let (mut factor, mut addend);
        if self.in_register(b) {
            factor = self.operand(b, &operands);
            addend = self.operand(c, &operands);
        } else {
            addend = self.operand(c, &operands);
            factor = self.operand(b, &operands);
        }
        if let (Operand::Memory(_), Operand::Memory(_)) = (factor, addend) {
            factor = Operand::Reg(self.register(b, &operands));
        }
        // If they are the same value, the second one may have brought it into a register.
        if b == c
            && let Operand::Reg(register) = factor
        {
            addend = Operand::Reg(register);
        }
        let dying = |selector: &Self, value: usize, operand: Operand| match operand {
            Operand::Reg(register) if selector.dies_in(value, register) => Some(register),
            _ => None,
        };
        let dies = [dying(self, a, Operand::Reg(left)), dying(self, b, factor), dying(self, c, addend)];
        self.release(at);
        let (form, to, b, c) = match (factor, addend, dies) {
            (_, _, [_, _, Some(to)]) => (FmaForm::F231, to, left, factor),
            (Operand::Reg(factor), _, [Some(to), ..]) => (FmaForm::F213, to, factor, addend),
            (_, Operand::Reg(addend), [Some(to), ..]) => (FmaForm::F132, to, addend, factor),
            (_, _, [_, Some(to), _]) => (FmaForm::F213, to, left, addend),
            _ => return self.fma_into_new(at, operands, left, factor, addend),
        };
        self.inherit(at, to);
        self.push(Inst::Fma { form, to, b, c });
    }

    /// No operand dies: one of them is copied into a register of the result.
    fn fma_into_new(&mut self, at: usize, operands: [usize; 3], left: Reg, factor: Operand, addend: Operand) {
        let to = self.take(at, &operands);
        match (factor, addend) {
            (Operand::Reg(factor), Operand::Reg(from)) => {
                self.push(Inst::Move { to, from });
                self.push(Inst::Fma { form: FmaForm::F231, to, b: left, c: Operand::Reg(factor) });
            }
            (Operand::Reg(factor), Operand::Memory(from)) => {
                self.push(Inst::Load { to, from });
                self.push(Inst::Fma { form: FmaForm::F231, to, b: left, c: Operand::Reg(factor) });
            }
            (Operand::Memory(from), addend) => {
                self.push(Inst::Load { to, from });
                self.push(Inst::Fma { form: FmaForm::F213, to, b: left, c: addend });
            }
        }
    }
}

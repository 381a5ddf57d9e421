//! Recipes as operations: what a recipe does to numbers that are recorded.
//!
//! In: a recipe.   Out: [`Steps`], whose first values are the arguments.

use super::format::Format;
use super::number::Number;
use crate::{BinaryOp, BitOp, CompareOp, Op, ShiftOp, UnaryOp, ValueId};
use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// The operations of a function, in execution order. Values below the number of arguments are these; an operation's
/// result is named by its position behind them.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    /// How many arguments.
    pub arguments: usize,
    /// What is done.
    pub ops: Vec<Op>,
    /// The value of the function.
    pub result: ValueId,
}

/// Records operations.
struct Tape {
    format: &'static Format,
    arguments: usize,
    ops: RefCell<Vec<Op>>,
}

/// A value on a tape.
#[derive(Clone, Copy)]
pub(super) struct Recorded<'t> {
    tape: &'t Tape,
    id: ValueId,
}

impl Steps {
    /// What `recipe` does to `arguments` numbers of a format.
    pub(super) fn record(
        format: &'static Format,
        arguments: usize,
        recipe: impl for<'t> Fn(&[Recorded<'t>]) -> Recorded<'t>,
    ) -> Steps {
        let tape = Tape { format, arguments, ops: RefCell::default() };
        let inputs: Vec<_> = (0..arguments as u32).map(|id| Recorded { tape: &tape, id: ValueId(id) }).collect();
        let result = recipe(&inputs).id;
        Steps { arguments, ops: tape.ops.into_inner(), result }
    }
}

impl<'t> Recorded<'t> {
    fn push(self, op: Op) -> Recorded<'t> {
        let mut ops = self.tape.ops.borrow_mut();
        ops.push(op);
        Recorded { tape: self.tape, id: ValueId((self.tape.arguments + ops.len() - 1) as u32) }
    }

    fn unary(self, op: UnaryOp) -> Recorded<'t> {
        self.push(Op::Unary(op, self.id))
    }

    fn binary(self, op: BinaryOp, other: Recorded<'t>) -> Recorded<'t> {
        self.push(Op::Binary(op, self.id, other.id))
    }

    fn bits(self, op: BitOp, other: Recorded<'t>) -> Recorded<'t> {
        self.push(Op::Bits(op, self.id, other.id))
    }
}

macro_rules! operators {
    ($($trait:ident, $method:ident, $op:expr;)*) => {$(
        impl<'t> $trait for Recorded<'t> {
            type Output = Recorded<'t>;

            fn $method(self, other: Recorded<'t>) -> Recorded<'t> {
                self.push($op(self.id, other.id))
            }
        }
    )*};
}

operators! {
    Add, add, |a, b| Op::Binary(BinaryOp::Add, a, b);
    Sub, sub, |a, b| Op::Binary(BinaryOp::Sub, a, b);
    Mul, mul, |a, b| Op::Binary(BinaryOp::Mul, a, b);
    Div, div, |a, b| Op::Binary(BinaryOp::Div, a, b);
    BitAnd, bitand, Op::And;
    BitOr, bitor, Op::Or;
}

impl<'t> Neg for Recorded<'t> {
    type Output = Recorded<'t>;

    fn neg(self) -> Recorded<'t> {
        self.unary(UnaryOp::Neg)
    }
}

impl<'t> Not for Recorded<'t> {
    type Output = Recorded<'t>;

    fn not(self) -> Recorded<'t> {
        self.push(Op::Not(self.id))
    }
}

impl<'t> Number for Recorded<'t> {
    type Truth = Recorded<'t>;

    fn format(self) -> &'static Format {
        self.tape.format
    }

    fn with_bits(self, bits: u64) -> Self {
        self.push(if self.tape.format.bits == 32 { Op::F32(bits as u32) } else { Op::F64(bits) })
    }

    fn fma(self, factor: Self, term: Self) -> Self {
        self.push(Op::Fma(self.id, factor.id, term.id))
    }

    fn abs(self) -> Self {
        self.unary(UnaryOp::Abs)
    }

    fn sqrt(self) -> Self {
        self.unary(UnaryOp::Sqrt)
    }

    fn trunc(self) -> Self {
        self.unary(UnaryOp::Trunc)
    }

    fn rem(self, divisor: Self) -> Self {
        self.binary(BinaryOp::Rem, divisor)
    }

    fn min(self, other: Self) -> Self {
        self.binary(BinaryOp::Min, other)
    }

    fn max(self, other: Self) -> Self {
        self.binary(BinaryOp::Max, other)
    }

    fn less(self, other: Self) -> Self {
        self.push(Op::Compare(CompareOp::Lt, self.id, other.id))
    }

    fn equals(self, other: Self) -> Self {
        self.push(Op::Compare(CompareOp::Eq, self.id, other.id))
    }

    fn select(condition: Self, then: Self, otherwise: Self) -> Self {
        condition.push(Op::Select(condition.id, then.id, otherwise.id))
    }

    fn and_bits(self, other: Self) -> Self {
        self.bits(BitOp::And, other)
    }

    fn or_bits(self, other: Self) -> Self {
        self.bits(BitOp::Or, other)
    }

    fn xor_bits(self, other: Self) -> Self {
        self.bits(BitOp::Xor, other)
    }

    fn add_bits(self, other: Self) -> Self {
        self.bits(BitOp::Add, other)
    }

    fn shift_left(self, count: u8) -> Self {
        self.push(Op::Shift(ShiftOp::Left, self.id, count))
    }

    fn shift_right(self, count: u8) -> Self {
        self.push(Op::Shift(ShiftOp::Right, self.id, count))
    }
}

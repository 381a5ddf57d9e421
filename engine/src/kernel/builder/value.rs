//! Values that statements compute: handles with operators, one node per different expression.

use std::fmt;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Rem, Sub};

use crate::kernel::builder::draft::Draft;
use crate::kernel::graph::{BinaryOp, BitOp, CompareOp, Element, Expr, ExprId, Function, ShiftOp, UnaryOp};

/// A value that an instance computes: a handle, which is copied. `+ - * / %` and unary `-` are arithmetic (`%` is the
/// remainder of C's `fmod`), `& | !` join truth values. Numbers may stand on either side.
///
/// Values belong to no statement: each statement that stores one computes it, at its own iterators.
#[derive(Clone, Copy)]
pub struct Value<'k> {
    draft: &'k Draft,
    id: ExprId,
}

/// What may stand as an operand.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Operand<'k> {
    /// A value.
    Value(Value<'k>),
    /// A literal: of the type of the values beside it, else `f64`.
    Number(f64),
}

impl<'k> From<Value<'k>> for Operand<'k> {
    fn from(value: Value<'k>) -> Operand<'k> {
        Operand::Value(value)
    }
}

impl From<f64> for Operand<'_> {
    fn from(number: f64) -> Self {
        Operand::Number(number)
    }
}

impl Operand<'_> {
    /// The node of the operand among those of a draft; that of 0, and a mistake, if it is of another kernel.
    pub(super) fn id_in(self, draft: &Draft) -> ExprId {
        match self {
            Operand::Value(value) if draft.owns(value.draft, "a value") => value.id,
            Operand::Value(_) => draft.add_expr(Expr::Const(0.0)),
            Operand::Number(number) => draft.add_expr(Expr::Const(number)),
        }
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)
    }
}

impl<'k> Value<'k> {
    pub(super) fn new(draft: &'k Draft, expr: Expr) -> Value<'k> {
        Value { draft, id: draft.add_expr(expr) }
    }

    pub(super) fn number(draft: &'k Draft, number: f64) -> Value<'k> {
        Value::new(draft, Expr::Const(number))
    }

    /// Square root, correctly rounded.
    pub fn sqrt(self) -> Value<'k> {
        Value::new(self.draft, Expr::Unary(UnaryOp::Sqrt, self.id))
    }

    /// Absolute value.
    pub fn abs(self) -> Value<'k> {
        Value::new(self.draft, Expr::Unary(UnaryOp::Abs, self.id))
    }

    /// `self < other ? self : other`.
    pub fn min(self, other: impl Into<Operand<'k>>) -> Value<'k> {
        self.binary(BinaryOp::Min, other)
    }

    /// `self > other ? self : other`.
    pub fn max(self, other: impl Into<Operand<'k>>) -> Value<'k> {
        self.binary(BinaryOp::Max, other)
    }

    /// `self * factor + term` with one rounding.
    pub fn fma(self, factor: impl Into<Operand<'k>>, term: impl Into<Operand<'k>>) -> Value<'k> {
        let (factor, term) = (factor.into().id_in(self.draft), term.into().id_in(self.draft));
        Value::new(self.draft, Expr::Fma(self.id, factor, term))
    }

    /// The largest integer that is not greater.
    pub fn floor(self) -> Value<'k> {
        Value::new(self.draft, Expr::Unary(UnaryOp::Floor, self.id))
    }

    /// The smallest integer that is not less.
    pub fn ceil(self) -> Value<'k> {
        Value::new(self.draft, Expr::Unary(UnaryOp::Ceil, self.id))
    }

    /// The integer part.
    pub fn trunc(self) -> Value<'k> {
        Value::new(self.draft, Expr::Unary(UnaryOp::Trunc, self.id))
    }

    /// The nearest integer, the even one of two.
    pub fn nearest(self) -> Value<'k> {
        Value::new(self.draft, Expr::Unary(UnaryOp::Nearest, self.id))
    }

    /// The truth value of being no number.
    pub fn is_nan(self) -> Value<'k> {
        self.differs(self)
    }

    /// A mathematical function whose first argument this is, such as `y.call(Function::Atan2, [x])`; with another
    /// number of arguments than it takes the kernel is refused.
    pub fn call<O: Into<Operand<'k>>>(self, function: Function, others: impl IntoIterator<Item = O>) -> Value<'k> {
        let others = others.into_iter().map(|other| other.into().id_in(self.draft));
        Value::new(self.draft, Expr::Call(function, std::iter::once(self.id).chain(others).collect()))
    }

    /// The truth value of `self < other`.
    pub fn lt(self, other: impl Into<Operand<'k>>) -> Value<'k> {
        self.compare(CompareOp::Lt, other)
    }

    /// The truth value of `self <= other`.
    pub fn le(self, other: impl Into<Operand<'k>>) -> Value<'k> {
        self.compare(CompareOp::Le, other)
    }

    /// The truth value of `self > other`.
    pub fn gt(self, other: impl Into<Operand<'k>>) -> Value<'k> {
        self.compare(CompareOp::Gt, other)
    }

    /// The truth value of `self >= other`.
    pub fn ge(self, other: impl Into<Operand<'k>>) -> Value<'k> {
        self.compare(CompareOp::Ge, other)
    }

    /// The truth value of `self == other`.
    pub fn equals(self, other: impl Into<Operand<'k>>) -> Value<'k> {
        self.compare(CompareOp::Eq, other)
    }

    /// The truth value of `self != other`.
    pub fn differs(self, other: impl Into<Operand<'k>>) -> Value<'k> {
        self.compare(CompareOp::Ne, other)
    }

    /// `then` where this truth value holds, else `otherwise`; both are evaluated.
    pub fn select(self, then: impl Into<Operand<'k>>, otherwise: impl Into<Operand<'k>>) -> Value<'k> {
        let (then, otherwise) = (then.into().id_in(self.draft), otherwise.into().id_in(self.draft));
        Value::new(self.draft, Expr::Select(self.id, then, otherwise))
    }

    /// Rounded to single precision.
    pub fn to_f32(self) -> Value<'k> {
        Value::new(self.draft, Expr::Convert(Element::F32, self.id))
    }

    /// Widened to double precision.
    pub fn to_f64(self) -> Value<'k> {
        Value::new(self.draft, Expr::Convert(Element::F64, self.id))
    }

    /// In another type of numbers: as [`crease_program::Op::Convert`] says.
    pub fn to(self, element: Element) -> Value<'k> {
        Value::new(self.draft, Expr::Convert(element, self.id))
    }

    /// The number of an integer type that is closest to the integer part of this one; NaN gives 0.
    pub fn to_saturated(self, element: Element) -> Value<'k> {
        Value::new(self.draft, Expr::Saturate(element, self.id))
    }

    /// The sum of integers, or the closest number that their type has.
    pub fn add_sat(self, other: impl Into<Operand<'k>>) -> Value<'k> {
        self.binary(BinaryOp::AddSat, other)
    }

    /// The difference of integers, or the closest number that their type has.
    pub fn sub_sat(self, other: impl Into<Operand<'k>>) -> Value<'k> {
        self.binary(BinaryOp::SubSat, other)
    }

    /// Bits that two integers have in common.
    pub fn bit_and(self, other: impl Into<Operand<'k>>) -> Value<'k> {
        self.bits(BitOp::And, other)
    }

    /// Bits of either integer.
    pub fn bit_or(self, other: impl Into<Operand<'k>>) -> Value<'k> {
        self.bits(BitOp::Or, other)
    }

    /// Bits of one integer and not of the other.
    pub fn bit_xor(self, other: impl Into<Operand<'k>>) -> Value<'k> {
        self.bits(BitOp::Xor, other)
    }

    /// The other bits of an integer.
    pub fn bit_not(self) -> Value<'k> {
        Value::new(self.draft, Expr::Unary(UnaryOp::BitNot, self.id))
    }

    /// An integer moved to higher bits, by less places than it has bits.
    pub fn shift_left(self, places: u8) -> Value<'k> {
        Value::new(self.draft, Expr::Shift(ShiftOp::Left, self.id, places))
    }

    /// An integer moved to lower bits, by less places than it has bits; the sign moves in where there is one.
    pub fn shift_right(self, places: u8) -> Value<'k> {
        Value::new(self.draft, Expr::Shift(ShiftOp::Right, self.id, places))
    }

    fn bits(self, op: BitOp, other: impl Into<Operand<'k>>) -> Value<'k> {
        let other = other.into().id_in(self.draft);
        Value::new(self.draft, Expr::Bits(op, self.id, other))
    }

    fn binary(self, op: BinaryOp, other: impl Into<Operand<'k>>) -> Value<'k> {
        let other = other.into().id_in(self.draft);
        Value::new(self.draft, Expr::Binary(op, self.id, other))
    }

    fn compare(self, op: CompareOp, other: impl Into<Operand<'k>>) -> Value<'k> {
        let other = other.into().id_in(self.draft);
        Value::new(self.draft, Expr::Compare(op, self.id, other))
    }
}

macro_rules! functions {
    ($($method:ident, $function:expr, $doc:literal;)*) => {
        impl<'k> Value<'k> {$(
            #[doc = $doc]
            pub fn $method(self) -> Value<'k> {
                Value::new(self.draft, Expr::Call($function, vec![self.id]))
            }
        )*}
    };
}

functions! {
    exp, Function::Exp, "e to the power of this value.";
    expm1, Function::Expm1, "e to the power of this value, less 1: accurate for small ones.";
    log, Function::Log, "Natural logarithm.";
    log1p, Function::Log1p, "Natural logarithm of 1 more than this value: accurate for small ones.";
    log2, Function::Log2, "Logarithm to the base 2.";
    sin, Function::Sin, "Sine of this many radians.";
    cos, Function::Cos, "Cosine of this many radians.";
    tan, Function::Tan, "Tangent of this many radians.";
    tanh, Function::Tanh, "Hyperbolic tangent.";
    cbrt, Function::Cbrt, "Cube root.";
    round, Function::Round, "The nearest integer, halves away from zero.";
    sign, Function::Sign, "-1 or 1; zeros and NaN stay what they are.";
}

impl<'k> Value<'k> {
    /// This value to the power of `exponent`.
    pub fn pow(self, exponent: impl Into<Operand<'k>>) -> Value<'k> {
        self.call(Function::Pow, [exponent.into()])
    }

    /// The angle in radians of the point with this `y` and that `x`.
    pub fn atan2(self, x: impl Into<Operand<'k>>) -> Value<'k> {
        self.call(Function::Atan2, [x.into()])
    }

    /// The root of the sum of both squares.
    pub fn hypot(self, other: impl Into<Operand<'k>>) -> Value<'k> {
        self.call(Function::Hypot, [other.into()])
    }

    /// The magnitude of this value with the sign of `other`.
    pub fn copysign(self, other: impl Into<Operand<'k>>) -> Value<'k> {
        self.call(Function::Copysign, [other.into()])
    }

    /// This value, or the bound that it is beyond; NaN stays NaN.
    pub fn clamp(self, low: impl Into<Operand<'k>>, high: impl Into<Operand<'k>>) -> Value<'k> {
        self.call(Function::Clamp, [low.into(), high.into()])
    }
}

macro_rules! arithmetic {
    ($($trait:ident, $method:ident, $op:expr;)*) => {$(
        impl<'k, O: Into<Operand<'k>>> $trait<O> for Value<'k> {
            type Output = Value<'k>;

            fn $method(self, other: O) -> Value<'k> {
                self.binary($op, other)
            }
        }

        impl<'k> $trait<Value<'k>> for f64 {
            type Output = Value<'k>;

            fn $method(self, other: Value<'k>) -> Value<'k> {
                Value::number(other.draft, self).binary($op, other)
            }
        }
    )*};
}

arithmetic! {
    Add, add, BinaryOp::Add;
    Sub, sub, BinaryOp::Sub;
    Mul, mul, BinaryOp::Mul;
    Div, div, BinaryOp::Div;
    Rem, rem, BinaryOp::Rem;
}

impl<'k> Neg for Value<'k> {
    type Output = Value<'k>;

    fn neg(self) -> Value<'k> {
        Value::new(self.draft, Expr::Unary(UnaryOp::Neg, self.id))
    }
}

impl<'k> BitAnd for Value<'k> {
    type Output = Value<'k>;

    fn bitand(self, other: Value<'k>) -> Value<'k> {
        let other = Operand::from(other).id_in(self.draft);
        Value::new(self.draft, Expr::And(self.id, other))
    }
}

impl<'k> BitOr for Value<'k> {
    type Output = Value<'k>;

    fn bitor(self, other: Value<'k>) -> Value<'k> {
        let other = Operand::from(other).id_in(self.draft);
        Value::new(self.draft, Expr::Or(self.id, other))
    }
}

impl<'k> Not for Value<'k> {
    type Output = Value<'k>;

    fn not(self) -> Value<'k> {
        Value::new(self.draft, Expr::Not(self.id))
    }
}

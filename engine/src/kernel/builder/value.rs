//! Values that statements compute: handles with operators, one node per different expression.

use std::fmt;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use crate::kernel::builder::draft::Draft;
use crate::kernel::graph::{BinaryOp, CompareOp, Element, Expr, ExprId, UnaryOp};

/// A value that an instance computes: a handle, which is copied. `+ - * /` and unary `-` are arithmetic, `& | !` join
/// truth values. Numbers may stand on either side.
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
    /// A literal: `f32` among `f32`s, otherwise `f64`.
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

    fn binary(self, op: BinaryOp, other: impl Into<Operand<'k>>) -> Value<'k> {
        let other = other.into().id_in(self.draft);
        Value::new(self.draft, Expr::Binary(op, self.id, other))
    }

    fn compare(self, op: CompareOp, other: impl Into<Operand<'k>>) -> Value<'k> {
        let other = other.into().id_in(self.draft);
        Value::new(self.draft, Expr::Compare(op, self.id, other))
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

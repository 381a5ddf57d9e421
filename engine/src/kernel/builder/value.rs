//! Values of a statement's body: handles with operators, one node per different expression.

use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use crate::kernel::affine::Affine;
use crate::kernel::builder::Index;
use crate::kernel::builder::index::IndexError;
use crate::kernel::exprs::ExprGraph;
use crate::kernel::graph::{ArrayId, Assign, BinaryOp, CompareOp, Element, Expr, ExprId, ScalarId, UnaryOp};

/// The body of a statement under construction.
#[derive(Debug)]
pub struct StmtBuilder {
    draft: RefCell<Draft>,
}

#[derive(Debug, Default)]
struct Draft {
    graph: ExprGraph,
    assigns: Vec<Assign>,
    error: Option<DraftError>,
}

/// What is wrong with a body.
#[derive(Clone, Copy, Debug)]
pub(super) enum DraftError {
    Index(IndexError),
    /// A value of another statement.
    Foreign,
}

/// A value that an instance computes. `+ - * /` and unary `-` are arithmetic, `& | !` join truth values. Numbers may
/// stand on either side.
#[derive(Clone, Copy, Debug)]
pub struct Value<'s> {
    stmt: &'s StmtBuilder,
    id: ExprId,
}

/// What may stand as an operand: a value or a number.
pub trait Operand<'s> {
    /// The operand as a value of the statement.
    fn value(self, stmt: &'s StmtBuilder) -> Value<'s>;
}

impl<'s> Operand<'s> for Value<'s> {
    fn value(self, stmt: &'s StmtBuilder) -> Value<'s> {
        if std::ptr::eq(self.stmt, stmt) {
            return self;
        }
        stmt.draft.borrow_mut().error.get_or_insert(DraftError::Foreign);
        stmt.constant(0.0)
    }
}

impl<'s> Operand<'s> for f64 {
    fn value(self, stmt: &'s StmtBuilder) -> Value<'s> {
        stmt.constant(self)
    }
}

impl StmtBuilder {
    pub(super) fn new() -> StmtBuilder {
        StmtBuilder { draft: RefCell::default() }
    }

    /// A literal: `f32` among `f32`s, otherwise `f64`.
    pub fn constant(&self, value: f64) -> Value<'_> {
        self.add(Expr::Const(value))
    }

    /// A run-time scalar.
    pub fn scalar(&self, scalar: ScalarId) -> Value<'_> {
        self.add(Expr::Scalar(scalar))
    }

    /// An affine expression as a double.
    pub fn index(&self, index: impl Into<Index>) -> Value<'_> {
        let e = self.affine(index.into());
        self.add(Expr::Index(e))
    }

    /// Reads a cell.
    pub fn load(&self, array: ArrayId, index: impl IntoIterator<Item: Into<Index>>) -> Value<'_> {
        let index = index.into_iter().map(|e| self.affine(e.into())).collect();
        self.add(Expr::Load(array, index))
    }

    /// Calls an opaque function of doubles, which the kernel declares ([`KernelBuilder::opaque`]).
    ///
    /// [`KernelBuilder::opaque`]: crate::kernel::builder::KernelBuilder::opaque
    pub fn call<'s>(&'s self, function: impl Into<String>, args: impl IntoIterator<Item = Value<'s>>) -> Value<'s> {
        let args = args.into_iter().map(|arg| arg.value(self).id).collect();
        self.add(Expr::Opaque(function.into(), args))
    }

    /// Writes a cell; after everything the instance reads.
    pub fn store<'s>(&'s self, array: ArrayId, index: impl IntoIterator<Item: Into<Index>>, value: impl Operand<'s>) {
        let index = index.into_iter().map(|e| self.affine(e.into())).collect();
        let value = value.value(self).id;
        self.draft.borrow_mut().assigns.push(Assign { array, index, value });
    }

    /// Expressions in evaluation order, assignments, and the first error.
    pub(super) fn finish(self) -> (Vec<Expr>, Vec<Assign>, Option<DraftError>) {
        let Draft { graph, mut assigns, error } = self.draft.into_inner();
        let (exprs, _) = graph.finish(&mut assigns);
        (exprs, assigns, error)
    }

    fn add(&self, expr: Expr) -> Value<'_> {
        let id = self.draft.borrow_mut().graph.add(expr);
        Value { stmt: self, id }
    }

    fn affine(&self, index: Index) -> Affine {
        index.into_affine().unwrap_or_else(|error| {
            self.draft.borrow_mut().error.get_or_insert(DraftError::Index(error));
            Affine::default()
        })
    }
}

impl<'s> Value<'s> {
    /// Square root, correctly rounded.
    pub fn sqrt(self) -> Value<'s> {
        self.stmt.add(Expr::Unary(UnaryOp::Sqrt, self.id))
    }

    /// Absolute value.
    pub fn abs(self) -> Value<'s> {
        self.stmt.add(Expr::Unary(UnaryOp::Abs, self.id))
    }

    /// `self < other ? self : other`.
    pub fn min(self, other: impl Operand<'s>) -> Value<'s> {
        self.binary(BinaryOp::Min, other)
    }

    /// `self > other ? self : other`.
    pub fn max(self, other: impl Operand<'s>) -> Value<'s> {
        self.binary(BinaryOp::Max, other)
    }

    /// `self * factor + term` with one rounding.
    pub fn fma(self, factor: impl Operand<'s>, term: impl Operand<'s>) -> Value<'s> {
        let (factor, term) = (factor.value(self.stmt).id, term.value(self.stmt).id);
        self.stmt.add(Expr::Fma(self.id, factor, term))
    }

    /// The truth value of `self < other`.
    pub fn lt(self, other: impl Operand<'s>) -> Value<'s> {
        self.compare(CompareOp::Lt, other)
    }

    /// The truth value of `self <= other`.
    pub fn le(self, other: impl Operand<'s>) -> Value<'s> {
        self.compare(CompareOp::Le, other)
    }

    /// The truth value of `self > other`.
    pub fn gt(self, other: impl Operand<'s>) -> Value<'s> {
        self.compare(CompareOp::Gt, other)
    }

    /// The truth value of `self >= other`.
    pub fn ge(self, other: impl Operand<'s>) -> Value<'s> {
        self.compare(CompareOp::Ge, other)
    }

    /// The truth value of `self == other`.
    pub fn equals(self, other: impl Operand<'s>) -> Value<'s> {
        self.compare(CompareOp::Eq, other)
    }

    /// The truth value of `self != other`.
    pub fn differs(self, other: impl Operand<'s>) -> Value<'s> {
        self.compare(CompareOp::Ne, other)
    }

    /// `then` where this truth value holds, else `otherwise`; both are evaluated.
    pub fn select(self, then: impl Operand<'s>, otherwise: impl Operand<'s>) -> Value<'s> {
        let (then, otherwise) = (then.value(self.stmt).id, otherwise.value(self.stmt).id);
        self.stmt.add(Expr::Select(self.id, then, otherwise))
    }

    /// Rounded to single precision.
    pub fn to_f32(self) -> Value<'s> {
        self.stmt.add(Expr::Convert(Element::F32, self.id))
    }

    /// Widened to double precision.
    pub fn to_f64(self) -> Value<'s> {
        self.stmt.add(Expr::Convert(Element::F64, self.id))
    }

    fn binary(self, op: BinaryOp, other: impl Operand<'s>) -> Value<'s> {
        let other = other.value(self.stmt).id;
        self.stmt.add(Expr::Binary(op, self.id, other))
    }

    fn compare(self, op: CompareOp, other: impl Operand<'s>) -> Value<'s> {
        let other = other.value(self.stmt).id;
        self.stmt.add(Expr::Compare(op, self.id, other))
    }
}

macro_rules! arithmetic {
    ($($trait:ident, $method:ident, $op:expr;)*) => {$(
        impl<'s, O: Operand<'s>> $trait<O> for Value<'s> {
            type Output = Value<'s>;

            fn $method(self, other: O) -> Value<'s> {
                self.binary($op, other)
            }
        }

        impl<'s> $trait<Value<'s>> for f64 {
            type Output = Value<'s>;

            fn $method(self, other: Value<'s>) -> Value<'s> {
                self.value(other.stmt).binary($op, other)
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

impl<'s> Neg for Value<'s> {
    type Output = Value<'s>;

    fn neg(self) -> Value<'s> {
        self.stmt.add(Expr::Unary(UnaryOp::Neg, self.id))
    }
}

impl<'s> BitAnd for Value<'s> {
    type Output = Value<'s>;

    fn bitand(self, other: Value<'s>) -> Value<'s> {
        let other = other.value(self.stmt).id;
        self.stmt.add(Expr::And(self.id, other))
    }
}

impl<'s> BitOr for Value<'s> {
    type Output = Value<'s>;

    fn bitor(self, other: Value<'s>) -> Value<'s> {
        let other = other.value(self.stmt).id;
        self.stmt.add(Expr::Or(self.id, other))
    }
}

impl<'s> Not for Value<'s> {
    type Output = Value<'s>;

    fn not(self) -> Value<'s> {
        self.stmt.add(Expr::Not(self.id))
    }
}

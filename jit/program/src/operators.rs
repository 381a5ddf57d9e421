//! What operations of strips do: their operators, and how stores are made.

use crate::named_choices;

/// What is expected of the cells that a store writes. It decides how they are written, never what they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum StoreHint {
    /// They, or the cells before, are at hand in a cache or soon needed: an ordinary store.
    #[default]
    Cached,
    /// They were not touched lately and are not read before a cache would have given them up: a code generator may
    /// write them with non-temporal stores, so that their lines are not fetched first. No load of the strip may share a
    /// cell with them.
    NonTemporal,
}

/// Operations with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Sign change.
    Neg,
    /// Absolute value.
    Abs,
    /// Square root, correctly rounded.
    Sqrt,
}

named_choices! { UnaryOp = [("neg", UnaryOp::Neg), ("abs", UnaryOp::Abs), ("sqrt", UnaryOp::Sqrt)] }

/// Operations with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient.
    Div,
    /// `a < b ? a : b`.
    Min,
    /// `a > b ? a : b`.
    Max,
}

named_choices! {
    BinaryOp = [
        ("add", BinaryOp::Add),
        ("sub", BinaryOp::Sub),
        ("mul", BinaryOp::Mul),
        ("div", BinaryOp::Div),
        ("min", BinaryOp::Min),
        ("max", BinaryOp::Max),
    ]
}

/// Comparisons, of floating-point values and of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
}

named_choices! {
    CompareOp = [
        ("lt", CompareOp::Lt),
        ("le", CompareOp::Le),
        ("gt", CompareOp::Gt),
        ("ge", CompareOp::Ge),
        ("eq", CompareOp::Eq),
        ("ne", CompareOp::Ne),
    ]
}

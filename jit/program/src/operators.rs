//! What operations of strips do: their operators, and how stores are made.

use crate::named_choices;

use serde::{Deserialize, Serialize};

/// What is expected of the cells that a store writes. It decides how they are written, never what they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum StoreHint {
    /// They, or the cells before, are at hand in a cache or soon needed: an ordinary store.
    #[default]
    Cached,
    /// They were not touched lately and are not read before a cache would have given them up: a code generator may
    /// write them with non-temporal stores, so that their lines are not fetched first. No load of the strip may share a
    /// cell with them.
    NonTemporal,
}

/// Operations with one operand. Of integers there are `Neg`, `Abs` (both wrap) and `BitNot`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UnaryOp {
    /// Sign change.
    Neg,
    /// Absolute value.
    Abs,
    /// Square root, correctly rounded.
    Sqrt,
    /// The largest integer that is not greater.
    Floor,
    /// The smallest integer that is not less.
    Ceil,
    /// The integer part.
    Trunc,
    /// The nearest integer, the even one of two.
    Nearest,
    /// All bits turned; of integers only.
    BitNot,
}

named_choices! {
    UnaryOp = [
        ("neg", UnaryOp::Neg),
        ("abs", UnaryOp::Abs),
        ("sqrt", UnaryOp::Sqrt),
        ("floor", UnaryOp::Floor),
        ("ceil", UnaryOp::Ceil),
        ("trunc", UnaryOp::Trunc),
        ("nearest", UnaryOp::Nearest),
        ("bit_not", UnaryOp::BitNot),
    ]
}

/// Operations with two operands of one type. Sums, differences and products of integers wrap; there is no quotient and
/// no remainder of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// The remainder of the quotient that is cut to an integer, with the sign of `a`: exact, C's `fmod`.
    Rem,
    /// The sum, or the closest number that the type has; of integers only.
    AddSat,
    /// The difference, or the closest number that the type has; of integers only.
    SubSat,
}

named_choices! {
    BinaryOp = [
        ("add", BinaryOp::Add),
        ("sub", BinaryOp::Sub),
        ("mul", BinaryOp::Mul),
        ("div", BinaryOp::Div),
        ("min", BinaryOp::Min),
        ("max", BinaryOp::Max),
        ("rem", BinaryOp::Rem),
        ("add_sat", BinaryOp::AddSat),
        ("sub_sat", BinaryOp::SubSat),
    ]
}

/// Operations on two numbers as the integers that their bits are; the result is the number with the resulting bits.
/// Floating-point numbers are taken apart so: what mathematical functions are made of. Which NaN an operation gives is
/// not defined, so that bits of one are not, either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BitOp {
    /// Bits in both.
    And,
    /// Bits in either.
    Or,
    /// Bits in one.
    Xor,
    /// Sum modulo two to the number of bits.
    Add,
    /// Difference modulo two to the number of bits.
    Sub,
}

named_choices! {
    BitOp = [
        ("bit_and", BitOp::And),
        ("bit_or", BitOp::Or),
        ("bit_xor", BitOp::Xor),
        ("bit_add", BitOp::Add),
        ("bit_sub", BitOp::Sub),
    ]
}

/// Shifts of a number's bits; what moves in is 0, or the sign of a signed integer that moves to the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ShiftOp {
    /// To higher bits.
    Left,
    /// To lower bits.
    Right,
}

named_choices! { ShiftOp = [("shift_left", ShiftOp::Left), ("shift_right", ShiftOp::Right)] }

/// Comparisons, of floating-point values and of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

impl CompareOp {
    /// Whether the comparison holds; of what cannot be ordered (NaN), only `Ne` does.
    pub fn holds<T: PartialOrd>(self, lhs: T, rhs: T) -> bool {
        match self {
            CompareOp::Lt => lhs < rhs,
            CompareOp::Le => lhs <= rhs,
            CompareOp::Gt => lhs > rhs,
            CompareOp::Ge => lhs >= rhs,
            CompareOp::Eq => lhs == rhs,
            CompareOp::Ne => lhs != rhs,
        }
    }
}

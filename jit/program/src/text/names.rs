//! The words of the text form that are not names: one table for the printer and the reader.

use crate::types::{BinaryOp, CompareOp, Element, StoreHint, UnaryOp, ValueType};

/// Operations with one operand.
pub(super) const UNARY: [(&str, UnaryOp); 3] = [("neg", UnaryOp::Neg), ("abs", UnaryOp::Abs), ("sqrt", UnaryOp::Sqrt)];

/// Operations with two operands.
pub(super) const BINARY: [(&str, BinaryOp); 6] = [
    ("add", BinaryOp::Add),
    ("sub", BinaryOp::Sub),
    ("mul", BinaryOp::Mul),
    ("div", BinaryOp::Div),
    ("min", BinaryOp::Min),
    ("max", BinaryOp::Max),
];

/// Comparisons of floating-point values.
pub(super) const COMPARE: [(&str, CompareOp); 6] = [
    ("lt", CompareOp::Lt),
    ("le", CompareOp::Le),
    ("gt", CompareOp::Gt),
    ("ge", CompareOp::Ge),
    ("eq", CompareOp::Eq),
    ("ne", CompareOp::Ne),
];

/// Comparisons of integers.
pub(super) const COMPARE_SIGN: [(&str, CompareOp); 6] = [
    ("<", CompareOp::Lt),
    ("<=", CompareOp::Le),
    (">", CompareOp::Gt),
    (">=", CompareOp::Ge),
    ("==", CompareOp::Eq),
    ("!=", CompareOp::Ne),
];

/// Element types.
pub(super) const ELEMENT: [(&str, Element); 4] =
    [("f64", Element::F64), ("f32", Element::F32), ("f16", Element::F16), ("u8", Element::U8)];

/// Types of computed values.
pub(super) const VALUE_TYPE: [(&str, ValueType); 3] =
    [("f64", ValueType::F64), ("f32", ValueType::F32), ("bool", ValueType::Bool)];

/// How stores end.
pub(super) const STORE_HINT: [(&str, StoreHint); 2] = [("", StoreHint::Cached), (" streaming", StoreHint::Streaming)];

/// What the word stands for, if it is in the table.
pub(super) fn meaning<T: Copy>(table: &[(&str, T)], word: &str) -> Option<T> {
    table.iter().find(|(name, _)| *name == word).map(|(_, meaning)| *meaning)
}

/// The word for it.
pub(super) fn word<T: PartialEq>(table: &[(&'static str, T)], meaning: T) -> &'static str {
    table.iter().find(|(_, other)| *other == meaning).expect("every choice is in its table").0
}

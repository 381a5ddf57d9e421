//! Signs of the text form that are not the names of what they stand for: one table for the printer and the reader.

use crate::types::{CompareOp, StoreHint};

/// Comparisons of integers.
pub(super) const COMPARE_SIGN: [(&str, CompareOp); 6] = [
    ("<", CompareOp::Lt),
    ("<=", CompareOp::Le),
    (">", CompareOp::Gt),
    (">=", CompareOp::Ge),
    ("==", CompareOp::Eq),
    ("!=", CompareOp::Ne),
];

/// How stores end.
pub(super) const STORE_HINT: [(&str, StoreHint); 2] =
    [("", StoreHint::Cached), (" nontemporal", StoreHint::NonTemporal)];

/// The word for it.
pub(super) fn word<T: PartialEq>(table: &[(&'static str, T)], meaning: T) -> &'static str {
    table.iter().find(|(_, other)| *other == meaning).expect("every choice is in its table").0
}

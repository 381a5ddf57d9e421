//! An array in two parts, and what that takes.

use crate::storage::problem::Span;

use super::fold::Fold;

/// An array cut before one of its rows.
pub(super) struct Cut {
    /// The index that counts steps, and the one that counts rows.
    pub(super) step: usize,
    pub(super) row: usize,
    /// The rows of each part and how they are kept; the part of more rows comes first.
    pub(super) parts: [(i64, i64, Fold); 2],
    /// Cells of all parts.
    pub(super) cells: i128,
}

/// Cells of one row of one step; none if they have no number.
pub(super) fn cells_of_row(spans: &[Span], step: usize, row: usize) -> Option<i128> {
    let mut others = spans.iter().enumerate().filter(|(k, _)| *k != step && *k != row);
    others.try_fold(1_i128, |cells, (_, span)| cells.checked_mul(span.extent()?.into()))
}

//! Where the cells of a strip's streams are.
//!
//! In: pointers that a call brings along.   Out: for each stream its distance from one of them.

use crease_program::Element;

/// Where a stream's cell is: `pointer + offset + stride * j`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamAddress {
    /// Which pointer.
    pub(crate) pointer: usize,
    /// From there, in bytes.
    pub(crate) offset: i32,
    /// Cells per iteration; none if only the call tells.
    pub(crate) stride: Option<i64>,
    /// The type of the cells.
    pub(crate) element: Element,
}

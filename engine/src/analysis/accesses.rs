//! Accesses: which cells instances touch, and when.

use crease_isl::Map;

use crate::kernel::graph::{ArrayId, StmtId};

/// One place in a statement that touches an array.
pub(crate) struct Reference<'c> {
    pub(crate) stmt: StmtId,
    pub(crate) array: ArrayId,
    pub(crate) is_write: bool,
    /// Instance -> cell, for the instances of the domain.
    pub(crate) access: Map<'c>,
}

/// Cell -> extended time, of all reads and of all writes of an array.
pub(crate) struct Events<'c> {
    pub(crate) reads: Map<'c>,
    pub(crate) writes: Map<'c>,
}

//! What rounding, layout and runs assume of a processor's caches.

/// A cache line: what stores write whole, and the alignment of a field's first cell.
pub(crate) const LINE_BYTES: u64 = crease_jit::ALIGN_BYTES as u64;
/// Processors take a load for one of what was stored just before if their addresses agree modulo this.
pub(crate) const ALIASING_BYTES: u64 = 4096;

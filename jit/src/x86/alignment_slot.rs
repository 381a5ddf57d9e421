//! The slot of a function for what it found out about the alignment of its stores.
//!
//! In: the number of a slot.   Out: operands that name its parts.

use super::encode::memory;
use crate::vector::Shape;
use iced_x86::{MemoryOperand, Register};

/// Where code keeps what it found out; both in one slot.
#[derive(Clone, Copy)]
pub(crate) struct AlignmentSlot {
    /// Cells before the first aligned one.
    pub(crate) count: MemoryOperand,
    /// 1 if all stores are aligned behind those, else 0. Only of non-temporal stores.
    pub(crate) all_aligned: MemoryOperand,
}

impl AlignmentSlot {
    /// The slot of this number.
    pub(crate) fn new(slot: usize, shape: Shape) -> Self {
        let start = slot as i64 * shape.bytes;
        AlignmentSlot { count: memory(Register::RSP, start), all_aligned: memory(Register::RSP, start + 8) }
    }
}

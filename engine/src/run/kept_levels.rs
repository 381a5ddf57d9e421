//! Kept levels: how many steps of each array a run holds.
//!
//! In: a kernel.   Out: a number for each array, and where the newest one is.
//!
//! The statements tell, and are asked once: they were asked for every box, and after a step of a large lattice no cache
//! has them any more. Of a D3Q19 cavity, the first cell that was read after a step took 82 microseconds, and 52 since.

use crate::kernel::graph::{ArrayId, Kernel};

/// Which levels of its arrays a kernel keeps.
#[derive(Debug)]
pub(super) struct KeptLevels {
    counts: Vec<u32>,
    /// From the first iterator of a statement to the level of a state that it writes.
    pub(super) newest: i64,
}

impl KeptLevels {
    /// Those of a kernel.
    pub(super) fn new(kernel: &Kernel) -> KeptLevels {
        let counts = kernel.array_ids().map(|id| kernel.state_depth(id).max(1)).collect();
        KeptLevels { counts, newest: kernel.state_write_offset() }
    }

    /// How many levels of an array there are: one if it is no state.
    pub(super) fn count(&self, array: ArrayId) -> u32 {
        self.counts[array.index()]
    }
}

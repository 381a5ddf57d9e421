//! What a run of all stages leaves: plain values, nothing of isl.

use crease_program::Verified;

use crate::analysis::bound::LowerBound;
use crate::kernel::graph::{ArrayId, Kernel};
use crate::lower::Origins;
use crate::plan::footprint::Storage;
use crate::plan::layout::Layout;
use crate::storage::choose::decision::Decision;

/// What a run of all stages leaves.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) layout: Layout,
    pub(crate) program: Verified,
    /// For each strip, by its variable, what its operations come from.
    pub(crate) origins: Origins,
    /// Per buffer of the layout, a number of cells that no storage can go below, as far as the choice had to know it.
    pub(crate) lower_bounds: Vec<Option<LowerBound>>,
    /// Per array, cells of its index space that hold a value; none if unbounded.
    pub(crate) full_cells: Vec<Option<u64>>,
    /// Per array and index, first and last value; the step index of a state array as `(0, 0)`.
    pub(crate) index_boxes: Vec<Vec<(i64, i64)>>,
    /// Bound parameters; 0 for run parameters.
    pub(crate) params: Vec<i64>,
    /// Arrays whose values live in registers.
    pub(crate) in_registers: Vec<ArrayId>,
    /// What was tried and rejected.
    pub(crate) notes: Vec<String>,
    /// How what was chosen compares with the smallest that was found.
    pub(crate) decisions: Vec<Decision>,
    /// Name and seconds of each stage.
    pub(crate) stages: Vec<(&'static str, f64)>,
}

impl Outcome {
    /// Threads of this many that runs take: one, unless some loop is parallel.
    pub(crate) fn threads_used(&self, threads: usize) -> usize {
        if self.program.is_parallel() { threads } else { 1 }
    }

    /// Sizes of the storage.
    pub(crate) fn storage(&self, kernel: &Kernel) -> Storage {
        Storage::new(kernel, &self.layout, &self.index_boxes)
    }
}

//! An observer that is compiled: its program, on which storage, of which arrays; and observers that are compiled among
//! the steps.

use crease_jit::Compiled;

use crate::kernel::graph::{Array, Kernel, Reduction};
use crate::plan::layout::Layout;

/// An observer that is compiled.
#[derive(Debug)]
pub(super) struct Observed {
    pub(super) compiled: Compiled,
    /// The storage of the steps, then the observer's outputs.
    pub(super) layout: Layout,
    /// The kernel's arrays, then the observer's outputs, at the plan's sizes; reductions are arrays of accumulators.
    pub(super) kernel: Kernel,
    /// The arrays that the kernel has; the others are the observer's.
    pub(super) first: usize,
    /// How the accumulators of each of the observer's outputs become one number, of those that do.
    pub(super) reductions: Vec<Option<Reduction>>,
}

/// Steps and observers in one program.
#[derive(Debug)]
pub(super) struct Fused {
    pub(super) compiled: Compiled,
    /// The storage of the steps, then the outputs of each observer.
    pub(super) layout: Layout,
}

impl Observed {
    /// Whether some statement reads an array of the kernel, by number.
    pub(super) fn reads(&self) -> Vec<bool> {
        let mut read = vec![false; self.kernel.arrays().len()];
        for (array, _) in self.kernel.stmts().iter().flat_map(|stmt| stmt.reads()) {
            read[array.index()] = true;
        }
        read.truncate(self.first);
        read
    }

    /// What the observer writes.
    pub(super) fn outputs(&self) -> &[Array] {
        &self.kernel.arrays()[self.first..]
    }

    /// Extents of an output as it is stored: of a reduction, those of its accumulators.
    pub(super) fn stored_shape(&self, output: usize) -> Vec<usize> {
        let buffer = &self.layout.buffers[self.layout.buffers.len() - self.outputs().len() + output];
        buffer.moduli.iter().map(|&extent| extent as usize).collect()
    }

    /// Extents of an output as the caller has it.
    pub(super) fn shape(&self, output: usize) -> Vec<usize> {
        if self.reductions[output].is_some() { Vec::new() } else { self.stored_shape(output) }
    }
}

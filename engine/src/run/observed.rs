//! An observer that is compiled: its program, on which storage, of which arrays.

use crease_jit::Compiled;

use crate::kernel::graph::{Expr, Kernel};
use crate::plan::layout::Layout;

/// An observer that is compiled.
#[derive(Debug)]
pub(super) struct Observed {
    pub(super) compiled: Compiled,
    /// The storage of the steps, then the observer's outputs.
    pub(super) layout: Layout,
    /// The kernel's arrays, then the observer's outputs, at the plan's sizes.
    pub(super) kernel: Kernel,
}

impl Observed {
    /// Whether some statement reads an array, by number.
    pub(super) fn reads(&self) -> Vec<bool> {
        let mut read = vec![false; self.kernel.arrays().len()];
        for expr in self.kernel.stmts().iter().flat_map(|stmt| &stmt.exprs) {
            if let Expr::Load(array, _) = expr {
                read[array.index()] = true;
            }
        }
        read
    }
}

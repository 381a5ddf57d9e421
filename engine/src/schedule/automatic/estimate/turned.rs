//! What it costs to run half of a line backwards.
//!
//! In: a workload, and a line that is folded (`fold`).   Out: the workload with what vectors take to be turned around.

use crate::kernel::affine::Affine;
use crate::kernel::graph::{ArrayId, Kernel, Role};
use crate::schedule::automatic::estimate::{CELL_NS, INSTRUCTION_NS, Workload};
use crate::schedule::automatic::space::CommonSpace;
use crate::schedule::automatic::strides::REGISTERS_WITH_WINDOWS;

/// Instructions that find a vector whose cells follow each other backwards and turn it around. Shows in
/// `run lbm-d1q3-periodic --schedule auto --set N=8000003`.
const TURNED_INSTRUCTIONS: f64 = 3.0;
/// Bytes of the smallest cells of which AVX2 turns a vector around: `is_turned` of `jit/src/x86/strided_cells.rs`.
const LEAST_TURNED_BYTES: u64 = 4;

impl Workload {
    /// The same where a line is folded. Its far half runs backwards, so that vectors of given arrays are turned around, and
    /// those of states whose values stay where they are; what moves is stored the way it is run.
    pub(in crate::schedule::automatic) fn with_turned_lines(
        mut self,
        kernel: &Kernel,
        space: &CommonSpace,
    ) -> Workload {
        let Some(halves) = space.halves.as_ref().filter(|_| self.space_dims == 1) else { return self };
        let has_windows = self.vector_registers >= REGISTERS_WITH_WINDOWS;
        for (number, stmt) in kernel.stmts().iter().enumerate().filter(|(number, _)| halves.of[*number] == 1) {
            let written = stmt.assigns.iter().map(|assign| (assign.array, assign.index.as_slice()));
            let turned = |(id, index): (ArrayId, &[Affine])| {
                let array = kernel.array(id);
                let is_turned = match array.role {
                    Role::Input | Role::Output => true,
                    Role::State => self.is_replaced,
                    Role::Temp => false,
                };
                let moves = index.iter().any(|e| (1..stmt.iters.len()).any(|iter| e.iter_coefficient(iter) != 0));
                let in_lanes = has_windows || array.element.bytes() >= LEAST_TURNED_BYTES;
                let each =
                    if in_lanes { TURNED_INSTRUCTIONS * INSTRUCTION_NS / f64::from(self.lanes) } else { CELL_NS };
                if is_turned && moves { each } else { 0.0 }
            };
            self.work[number] += self.points[number] * stmt.reads().chain(written).map(turned).sum::<f64>();
        }
        self
    }
}

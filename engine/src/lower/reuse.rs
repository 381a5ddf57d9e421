//! Marks of reuse: which stores of a program write what neither it nor its caller needs before a cache would have lost
//! it, and which streams load what no cache holds.
//!
//! In: a lowered program, the machine's caches.   Out: the same, marked; [`Program::mark_reuse`] says by what
//! model.

use crease_program::Program;

use crate::kernel::graph::Kernel;
use crate::machine::MachineModel;

/// Steps of the run by which a program is judged: storage of most mappings repeats after one or two.
const STEPS: i64 = 4;

/// Marks, in `program`, the lowered `kernel`, the stores that are to go past the last cache, and the streams that come
/// from memory.
pub(crate) fn mark_reuse(mut program: Program, kernel: &Kernel, machine: &MachineModel) -> Program {
    // The steps done so far and those to be done, or a run parameter without state.
    let args: Vec<i64> = match (program.args.len(), kernel.has_state()) {
        (2, true) => vec![0, STEPS],
        (count, _) => vec![STEPS; count],
    };
    program.mark_reuse(&args, machine.last_level_cache_bytes);
    program
}

//! Streaming stores: marks what a program writes and neither it nor its caller needs before a cache would have lost it.
//!
//! In: a lowered program.   Out: the same, with marked stores; [`Program::mark_streaming`] says by what model.

use crease_jit::program::Program;

use crate::kernel::graph::Kernel;

/// Steps of the run by which stores are judged: storage of most mappings repeats after one or two.
const STEPS: i64 = 4;

/// Marks the stores of `program`, the lowered `kernel`, that are to go past a cache of `cache_bytes`.
pub(crate) fn mark_streaming(mut program: Program, kernel: &Kernel, cache_bytes: u64) -> Program {
    // The steps done so far and those to be done, or a run parameter without state.
    let args: Vec<i64> = match (program.args.len(), kernel.has_state()) {
        (2, true) => vec![0, STEPS],
        (count, _) => vec![STEPS; count],
    };
    program.mark_streaming(&args, cache_bytes);
    program
}

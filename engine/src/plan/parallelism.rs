//! Parallelism: whether a program has work for the threads that were asked for, and words for it if not.
//!
//! In: a request and the program that it was lowered to.   Out: notes for the report.
//!
//! Nothing is wrong with a schedule that keeps fewer threads busy than were named, but whoever named them expects
//! something of them, and should not have to measure to learn that there is nothing.

use crease_program::Program;

use crate::kernel::graph::DimKind;
use crate::plan::request::Request;

/// Threads of this many that have something to do in a program.
pub(crate) fn busy_threads(program: &Program, threads: usize) -> usize {
    match program.most_parallel_iterations() {
        Some(most) => threads.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1),
        None => threads,
    }
}

/// What was asked of threads and cannot be had.
pub(crate) fn parallelism_notes(request: &Request, program: &Program) -> Vec<String> {
    let schedule = request.bound.schedule();
    let dims = schedule.dims.iter().enumerate().filter(|(_, kind)| **kind == DimKind::Parallel);
    let parallel: Vec<String> = dims.map(|(dim, _)| dim.to_string()).collect();
    let (name, asked, busy) = (&schedule.name, request.threads, busy_threads(program, request.threads));
    let mut notes = Vec::new();
    if !parallel.is_empty() && program.most_parallel_iterations().is_some_and(|most| most < 2) {
        let dims = parallel.join(", ");
        notes.push(format!(
            "schedule `{name}` marks dimension {dims} parallel, but at these sizes no two iterations can run at the \
             same time: runs take one thread"
        ));
    }
    if !request.names_threads || busy == asked {
        return notes;
    }
    if parallel.is_empty() {
        notes.push(format!(
            "{asked} threads were asked for, but schedule `{name}` has no parallel dimension: runs take one thread"
        ));
    } else if busy > 1 {
        notes.push(format!(
            "{asked} threads were asked for, but at most {busy} iterations of schedule `{name}` can run at the same \
             time"
        ));
    }
    notes
}

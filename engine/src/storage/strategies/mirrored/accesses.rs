//! Accesses to an array whose first index counts steps, and the times of their statements.
//!
//! In: a kernel under a schedule.   Out: [`Accesses`], of which the reads are those of the step in which a cell is read for
//! the last time: in one step with its write, or with the write that takes its place.

use crease_program::Interval;

use crate::kernel::affine::{Affine, Term};
use crate::kernel::graph::{ArrayId, Kernel, ParamId, Stmt};
use crate::kernel::points::bounding_box;
use crate::schedule::automatic::MANY_STEPS;

/// An access to the array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access<'k> {
    /// The statement's number.
    pub(super) stmt: usize,
    pub(super) index: &'k [Affine],
}

/// Who writes and who reads an array, and when.
pub(super) struct Accesses<'k> {
    pub(super) writes: Vec<Access<'k>>,
    /// Those in the step in which the cell is read for the last time.
    pub(super) last_reads: Vec<Access<'k>>,
    /// Per statement, its times.
    pub(super) times: &'k [Vec<Affine>],
    /// Per statement, the range of each iterator; of one that has no instances, none.
    pub(super) ranges: Vec<Vec<Interval>>,
}

impl<'k> Accesses<'k> {
    /// All of an array whose first index counts steps; none if some access is at no constant distance in it.
    pub(super) fn of(kernel: &'k Kernel, array: ArrayId, times: &'k [Vec<Affine>], depth: i64) -> Option<Accesses<'k>> {
        let params = vec![MANY_STEPS; kernel.params().len()];
        let range = |stmt: &Stmt| -> Option<Vec<Interval>> {
            let found = bounding_box(&stmt.domain, stmt.iters.len(), &params).ok()?;
            let empty = || vec![Interval::between(0, -1); stmt.iters.len()];
            Some(
                found.map_or_else(empty, |all| all.into_iter().map(|(min, max)| Interval::between(min, max)).collect()),
            )
        };
        let ranges = kernel.stmts().iter().map(range).collect::<Option<Vec<_>>>()?;
        let (mut writes, mut reads) = (Vec::new(), Vec::new());
        for (stmt, body) in kernel.stmts().iter().enumerate() {
            let assigned = body.assigns.iter().filter(|assign| assign.array == array);
            writes.extend(assigned.map(|assign| Access { stmt, index: &assign.index }));
            let read = body.reads().filter(|(of, _)| *of == array);
            reads.extend(read.map(|(_, index)| Access { stmt, index }));
        }
        // How many steps ahead of the first iterator: a read of the last step, and the write that takes its place, are in
        // one step.
        let ahead = |access: &Access<'_>| access.index.first()?.sub(&Affine::iter(0)).ok()?.as_constant();
        let written = writes.iter().map(ahead).reduce(|a, b| a.filter(|_| a == b))??;
        let mut last_reads = Vec::new();
        for read in reads {
            let back = written - ahead(&read)?;
            if !(0..=depth).contains(&back) {
                return None;
            }
            if back == depth {
                last_reads.push(read);
            }
        }
        Some(Accesses { writes, last_reads, times, ranges })
    }
}

/// The value of an expression over the iterators of a statement in one step of one call; none if it has a floor.
pub(super) fn in_step(e: &Affine, ranges: &[Interval]) -> Option<Interval> {
    let term = |(term, factor): (&Term, i64)| match term {
        Term::Iter(0) | Term::Param(ParamId::FROM_STEP) => Some(Interval::point(0)),
        Term::Iter(iter) => Some(ranges[*iter as usize].scaled(factor)),
        _ => None,
    };
    e.terms().map(term).try_fold(Interval::point(e.constant_part()), |sum, range| Some(sum + range?))
}

//! Legality of fused observers: whether their statements, among those of the steps, read what is there between steps.
//!
//! In: a [`Model`] of a kernel as [`Kernel::fusing`](crate::kernel::graph::Kernel::fusing) makes it, on a legal schedule
//! of the steps.   Out: whether the schedule with the observers is legal too, and the storage of the steps holds for it.
//!
//! Of the steps among themselves nothing is asked: their time vectors are what they were, with one more component that is
//! 0 for all, so that their order is the plan's, and so are its proofs. What observers add are reads in the last step of
//! a call of values that live out of it (`engine/src/kernel/verify/observers.rs` refuses others), and writes of arrays
//! that nothing else touches. So what has to hold is
//!
//! 1. that every value is written, by whichever statement, before it is read. As it lives out, nothing takes its place
//!    before the call ends, and no value lives longer than it did: proved storage stays proved;
//! 2. that the parts of a statement make up its instances, each once: then they write what the statement writes, which
//!    was verified to be no cell twice where the observer runs by itself; and
//! 3. that no part runs two instances at one time, as of any statement.

use crease_isl::Set;

use crate::analysis::error::AnalysisError;
use crate::analysis::model::Model;
use crate::kernel::BoundKernel;
use crate::kernel::affine::Affine;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, Stmt, StmtId};
use crate::schedule::legality::{LegalityError, verify_distinct_times};
use crate::schedule::order::{Epoch, Phase};

/// Whether the statements from position `first` on, parts of those of observers, read values after they are written, and
/// are what was `cut`.
///
/// # Errors
/// [`LegalityError`] if two instances of a part run at one time; or an analysis fails.
pub(crate) fn verify_fused(
    model: &Model<'_, '_>,
    bound: &BoundKernel,
    first: usize,
    cut: &[(Stmt, Vec<StmtId>)],
) -> Result<bool, LegalityError> {
    for (stmt, parts) in cut {
        parts.iter().try_for_each(|part| verify_distinct_times(model, *part))?;
        if !make_up(model, bound, stmt, parts)? {
            return Ok(false);
        }
    }
    let is_read =
        |id: &ArrayId| model.kernel.stmts()[first..].iter().flat_map(Stmt::reads).any(|(array, _)| array == *id);
    for array in model.kernel.array_ids().filter(is_read) {
        if !reads_come_last(model, first, array)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether each instance of a statement is one of exactly one part.
fn make_up(model: &Model<'_, '_>, bound: &BoundKernel, stmt: &Stmt, parts: &[StmtId]) -> Result<bool, LegalityError> {
    // Calls have at least one step, and the first one that there is has number 1.
    let runs = Formula::NonNegative(Affine::iter(0).add(&Affine::constant(-1))?);
    let mut rest = model.instances(None, &stmt.iters, &bound.bind(&stmt.domain)?.and(runs))?;
    for part in parts {
        let part: Set<'_> = model.domains[part.index()].reset_tuple_id()?;
        // What an earlier part has taken is not there any more.
        if !part.is_subset(&rest)? {
            return Ok(false);
        }
        rest = rest.subtract(&part)?;
    }
    Ok(rest.is_empty()?)
}

/// Whether every value of an array that observers read is written before, or was there before the call.
fn reads_come_last(model: &Model<'_, '_>, first: usize, array: ArrayId) -> Result<bool, AnalysisError> {
    let reads = model.reads_from(first, array)?;
    let before = model.at_epoch(model.live_in(array), array, Epoch::Before)?;
    let writes = model.writes(array)?.union(&before)?;
    if !reads.domain()?.is_subset(&writes.domain()?)? {
        return Ok(false);
    }
    let order = model.order.not_before(Phase::Write, Phase::Read)?;
    Ok(writes.reverse()?.apply_range(&reads)?.intersect(&order)?.is_empty()?)
}

//! Values that are known to be alive at once, at little cost.
//!
//! In: a state that every step replaces.   Out: a lower bound for its storage.

use crate::analysis::error::AnalysisError;
use crate::analysis::step_dependences::Readers;
use crate::kernel::affine::Affine;
use crate::kernel::graph::{ArrayId, DimKind};
use crate::storage::MappingError;
use crate::storage::problem::Problem;

use crease_program::Interval;

/// Cells of a step of a state that every step replaces, as all those of the last step are needed after the run; those of two
/// steps where these are alive at once.
pub(super) fn cells_of_steps(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Option<u64> {
    let readers = problem.readers(array)?;
    let extent = |cells: u64, range: &Interval| cells.checked_mul(u64::try_from(range.extent()?).ok()?);
    let steps = if outlives_a_step(problem, readers) { 2 } else { 1 };
    readers.space.ranges().iter().try_fold(steps, extent)
}

/// Whether each value of a step is alive with each of the next one: as rows of a step run at once, and each value is read by
/// two of them, one of these may come after any write.
fn outlives_a_step(problem: &Problem<'_, '_, '_>, readers: &Readers) -> bool {
    let schedule = problem.model.schedule;
    let [DimKind::Sequential, DimKind::Parallel, ..] = schedule.dims.as_slice() else { return false };
    let along = |at: usize, index: usize| schedule.times.iter().all(|time| time[at] == Affine::iter(index));
    let Some(row) = (0..readers.space.ranges().len()).find(|row| along(1, row + 1)).filter(|_| along(0, 0)) else {
        return false;
    };
    let by_two = |distances: &[Vec<i64>]| distances.iter().any(|distance| distance[row] != distances[0][row]);
    readers.regions.iter().all(|region| by_two(&region.readers))
}

/// Nothing where the quota did not suffice.
pub(super) fn unless_spent<T>(found: Result<Option<T>, AnalysisError>) -> Result<Option<T>, MappingError> {
    match found {
        Err(error) if error.spent_quota().is_some() => Ok(None),
        found => Ok(found?),
    }
}

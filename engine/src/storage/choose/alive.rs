//! Values that are known to be alive at once, at little cost.
//!
//! In: a state that every step replaces.   Out: a lower bound for its storage.

use crate::analysis::error::AnalysisError;
use crate::analysis::step_dependences::{Readers, Region};
use crate::kernel::affine::Affine;
use crate::kernel::graph::{ArrayId, DimKind};
use crate::sets::boxes::IntBox;
use crate::storage::MappingError;
use crate::storage::choose::candidate::is_near;
use crate::storage::problem::Problem;

use crease_program::Interval;

/// Cells of a step of a state that every step replaces, as all those of the last step are needed after the run; where rows
/// of a step run at once, with the cells of the step before that two of them read. Of several states these are alive at
/// once, too.
pub(super) fn cells_of_steps(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Option<u64> {
    let readers = problem.readers(array)?;
    let step = cells_of(&readers.space)?;
    let Some(row) = rows_at_once(problem, readers) else { return Some(step) };
    // One of two rows that read a cell may come after the write of any cell of the next step, which is in one of them at
    // most.
    let by_two = |region: &&Region| region.readers.iter().any(|distance| distance[row] != region.readers[0][row]);
    readers.regions.iter().filter(by_two).try_fold(step, |sum, region| sum.checked_add(cells_of(&region.cells)?))
}

/// What is known to be alive of so many cells, if they are two steps of a state whose rows run at once, and near that: of cells
/// at borders, which one row alone reads, one step would do.
pub(super) fn alive_of_two_steps(problem: &Problem<'_, '_, '_>, array: ArrayId, cells: u64) -> Option<u64> {
    let step = cells_of(&problem.readers(array)?.space)?;
    let alive = cells_of_steps(problem, array)?;
    (step.checked_mul(2)? == cells && is_near(cells, alive)).then_some(alive)
}

/// Cells of a box; none if it has no bounds or there are too many.
fn cells_of(cells: &IntBox) -> Option<u64> {
    let extent = |cells: u64, range: &Interval| cells.checked_mul(u64::try_from(range.extent()?).ok()?);
    cells.ranges().iter().try_fold(1, extent)
}

/// The index of cells along which all rows of a step run at once; none if they do not.
fn rows_at_once(problem: &Problem<'_, '_, '_>, readers: &Readers) -> Option<usize> {
    let schedule = problem.model.schedule;
    let [DimKind::Sequential, DimKind::Parallel, ..] = schedule.dims.as_slice() else { return None };
    let along = |at: usize, index: usize| schedule.times.iter().all(|time| time[at] == Affine::iter(index));
    (0..readers.space.ranges().len()).find(|row| along(1, row + 1)).filter(|_| along(0, 0))
}

/// Nothing where the quota did not suffice.
pub(super) fn unless_spent<T>(found: Result<Option<T>, AnalysisError>) -> Result<Option<T>, MappingError> {
    match found {
        Err(error) if error.spent_quota().is_some() => Ok(None),
        found => Ok(found?),
    }
}

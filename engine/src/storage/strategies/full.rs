//! Full storage: the unfolded array, the oracle and the reference size.
//!
//! A temporary array takes one cell per point of its bounding box. A state array has a level for each of the last
//! `horizon + 1` steps, so that a run of `horizon` steps overwrites nothing; longer runs reuse the oldest level. Where a
//! schedule keeps more steps alive together, as tiles of time may, it has a level for each of them.

use crate::kernel::graph::ArrayId;
use crate::storage::options::StrategyId;
use crate::storage::problem::{Problem, Strategy};
use crate::storage::{MappingError, StorageMapping};

/// The unfolded array.
pub(crate) struct Full;

impl Strategy for Full {
    fn id(&self) -> StrategyId {
        StrategyId::Full
    }

    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<StorageMapping>, MappingError> {
        let mut proposal = StorageMapping::default();
        for &array in arrays {
            let (moduli, offset) = box_of(problem, array)?;
            let matrix = identity(moduli.len());
            proposal.keep(array, problem.buffer_for(array, moduli, self.id()), matrix, offset);
        }
        Ok(vec![proposal])
    }
}

/// Extents of an array's bounding box and the offset that moves its lower corner to zero.
fn box_of(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Result<(Vec<i64>, Vec<i64>), MappingError> {
    let body = problem.model.kernel.array(array);
    let mut moduli = Vec::new();
    let mut offset = Vec::new();
    for (dim, span) in problem.spans(array)?.into_iter().enumerate() {
        let levels = problem.horizon.map(|h| h.saturating_add(1).min(i64::MAX as u64) as i64);
        match (span.extent(), body.role, levels) {
            (Some(extent), _, _) => {
                moduli.push(extent);
                offset.push(-span.lower().expect("a bounded span has a minimum"));
            }
            (None, crate::kernel::graph::Role::State, Some(levels)) if dim == 0 => {
                let depth = i64::from(problem.model.kernel.state_depth(array));
                // A step being written needs a level besides those it may read.
                let usual = levels.saturating_add(depth - 1).max(depth + 1);
                moduli.push(usual.max(steps_alive(problem, array)?));
                offset.push(0);
            }
            (None, crate::kernel::graph::Role::State, None) if dim == 0 => {
                return Err(MappingError::NoHorizon { array: body.name.clone() });
            }
            _ => {
                let (array, index) = (body.name.clone(), body.index[dim].clone());
                return Err(MappingError::UnboundedModulus { array, dim, index });
            }
        }
    }
    Ok((moduli, offset))
}

/// Steps from the first to the last of one place that are alive together; 0 if nothing bounds them.
fn steps_alive(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Result<i64, MappingError> {
    let place: Vec<usize> = (1..problem.model.kernel.array(array).index.len()).collect();
    let apart = problem.conflicts.differences_within(array, &place)?.dim_range(0)?;
    Ok(apart.map_or(0, |(first, last)| last.max(first.saturating_neg()).saturating_add(1)))
}

/// The identity matrix.
pub(crate) fn identity(n: usize) -> Vec<Vec<i64>> {
    (0..n).map(|row| (0..n).map(|column| i64::from(row == column)).collect()).collect()
}

//! Scalars: an array of which one value is alive at a time, or one in each lane of a block.
//!
//! In: the difference set.   Out: `A[i] -> [0 mod 1]`, or `[i_k mod V]` for lanes along index `k`.
//! Source: scalar replacement, Callahan, Carr and Kennedy (1990), by conflict sets instead of dependences.
//!
//! One value alive at a time, in a task if each thread has storage of its own: no two cells conflict. In lanes, the
//! values of one block do, which lie along one index and less than a block apart. A ring of this many cells would cut
//! every strip to its length, if code had to go by memory: where the value is read in the iteration that wrote it,
//! lowering keeps it in a register and the ring is never touched (`engine/src/lower/forward.rs`).

use crate::kernel::graph::{ArrayId, DimKind};
use crate::storage::options::StrategyId;
use crate::storage::problem::{Problem, Strategy};
use crate::storage::{MappingError, StorageMapping};

/// One value, or one in each lane.
pub(crate) struct Scalar;

impl Strategy for Scalar {
    fn id(&self) -> StrategyId {
        StrategyId::Scalar
    }

    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<StorageMapping>, MappingError> {
        let mut proposal = StorageMapping::default();
        for &array in arrays {
            let (row, modulus) = one_value(problem, array, self.id())?;
            let min = |k: usize| Ok::<_, MappingError>(problem.spans(array)?[k].lower().unwrap_or(0));
            // Moves the lower corner of the index space to cell 0.
            let corner = row.iter().position(|&c| c != 0).map(min).transpose()?.unwrap_or(0);
            let offset = (-i128::from(corner)).rem_euclid(i128::from(modulus)) as i64;
            proposal.keep(array, problem.buffer_for(array, vec![modulus], self.id()), vec![row], vec![offset]);
        }
        Ok(vec![proposal])
    }
}

/// The coefficients and the modulus of an array that holds one value at a time, or one in each lane.
fn one_value(
    problem: &Problem<'_, '_, '_>,
    array: ArrayId,
    strategy: StrategyId,
) -> Result<(Vec<i64>, i64), MappingError> {
    let body = problem.model.kernel.array(array);
    let mut row = vec![0; body.index.len()];
    let differences = problem.conflicts.differences(array)?;
    if differences.is_empty()? {
        return Ok((row, 1));
    }
    let lanes = problem.model.schedule.dims.iter().map(|kind| if let DimKind::Vector(v) = kind { *v } else { 1 });
    let (lanes, mut along) = (i64::from(lanes.max().unwrap_or(1)), None);
    for k in 0..row.len() {
        match differences.dim_max(k)? {
            Some(0) => {}
            Some(largest) if largest < lanes && along.is_none() => along = Some((k, largest + 1)),
            _ => {
                let reason = format!("`{}` has more than one value at a time along `{}`", body.name, body.index[k]);
                return Err(MappingError::NotApplicable { strategy: strategy.name(), reason });
            }
        }
    }
    let (k, modulus) = along.expect("differences that are not zero are positive along some index");
    row[k] = 1;
    Ok((row, modulus))
}

//! Rings of whole rows, where rows are short.
//!
//! In: the mapping of an array.   Out: the same one with its steps whole rows apart, in a ring that is made of these.
//!
//! A step of a sweep is stored as far behind the one before as its last reader is ahead, which may be some rows and a
//! cell. Rows then begin anywhere in the ring, and any of them may be cut by its end: each strip has a place computed
//! for every row that it reads, and compares them all with the end. In a ring of whole rows none is cut. Of rows of a few
//! vectors that takes as long as the rows themselves; of longer ones it is little beside them.

use crate::kernel::graph::ArrayId;
use crate::storage::knobs::placement::LONGEST_WHOLE_ROW_BYTES;
use crate::storage::problem::Problem;
use crate::storage::{MappingError, StorageMapping};

/// The mapping with whole rows from one step to the next, if its rows run in lanes, are short, and its ring cuts them.
pub(super) fn in_whole_rows(
    problem: &Problem<'_, '_, '_>,
    array: ArrayId,
    mapping: &StorageMapping,
    lanes: u64,
) -> Result<Option<StorageMapping>, MappingError> {
    let fast = problem.fast_dimension(array);
    let Some(row) = problem.spans(array)?.get(fast).and_then(|span| span.extent()) else { return Ok(None) };
    let Some((modulus, coefficients)) = mapping.one_ring() else { return Ok(None) };
    // Rows of less than half a vector go on from one to the next.
    let is_of_lanes = u64::try_from(row).is_ok_and(|row| lanes > 1 && row >= lanes / 2);
    if !is_of_lanes || coefficients.get(fast) != Some(&1) {
        return Ok(None);
    }
    let others = || coefficients.iter().enumerate().filter(|(index, c)| *index != fast && **c != 0);
    let pitch = others().filter_map(|(_, c)| c.checked_abs()).filter(|pitch| *pitch >= row).min();
    let bytes = problem.model.kernel.array(array).element.bytes();
    let longest = i64::try_from(LONGEST_WHOLE_ROW_BYTES / bytes).unwrap_or(i64::MAX);
    let Some(pitch) = pitch.filter(|pitch| *pitch <= longest) else { return Ok(None) };
    let up = |cells: i64| cells.checked_add(pitch - 1).map(|sum| sum / pitch * pitch);
    let (mut whole, mut more) = (coefficients.to_vec(), 0_i64);
    for (index, c) in others() {
        let Some(rows) = c.checked_abs().and_then(up) else { return Ok(None) };
        let Some(sum) = more.checked_add(rows - c.abs()) else { return Ok(None) };
        (whole[index], more) = (rows * c.signum(), sum);
    }
    let Some(cells) = modulus.checked_add(more).and_then(up) else { return Ok(None) };
    if more == 0 && cells == modulus {
        return Ok(None);
    }
    let mut rows = mapping.clone();
    rows.buffers[0].moduli = vec![cells];
    rows.arrays[0].pieces[0].matrix = vec![whole];
    Ok(Some(rows))
}

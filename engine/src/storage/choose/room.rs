//! Room for a vector in rings whose rows are shorter than one.
//!
//! In: the mapping of an array.   Out: the same one with a longer ring, if that lets lanes go on from row to row.
//!
//! Rows of a few cells that go on where the row before ended run as one strip ([`crease_program::Coalesced`]). A ring as
//! short as can be has room for the lanes of one row alone: a value is written where the next rows of the strip still
//! read one, so that hardly any of them may run at once. A vector more of cells keeps them apart.

use crate::kernel::graph::ArrayId;
use crate::storage::problem::Problem;
use crate::storage::{MappingError, StorageMapping};

/// The mapping with `lanes` cells more in its ring, if the rows of the array are shorter than that, and adjoin in it.
pub(super) fn with_room(
    problem: &Problem<'_, '_, '_>,
    array: ArrayId,
    mapping: &StorageMapping,
    lanes: u64,
) -> Result<Option<StorageMapping>, MappingError> {
    let (Some(row), Ok(lanes)) = (problem.spans(array)?.last().and_then(|span| span.extent()), i64::try_from(lanes))
    else {
        return Ok(None);
    };
    let Some((modulus, coefficients)) = mapping.one_ring() else { return Ok(None) };
    let adjoins = matches!(coefficients, [.., before, 1] if *before == row);
    let Some(modulus) = modulus.checked_add(lanes).filter(|_| adjoins && 1 < row && row < lanes) else {
        return Ok(None);
    };
    let mut longer = mapping.clone();
    longer.buffers[0].moduli = vec![modulus];
    Ok(Some(longer))
}

//! Storage in four pieces, one for each quarter of a box that is folded along two indices.
//!
//! In: an array under a schedule.   Out: leaning storage (`leaning`) of each quarter, as its own end of the box counts, if
//! the certificate says that it is safe.
//!
//! Tiles of both folded dimensions lean away from the ends of the box in every quarter, so that each of them is a grid of
//! its own in such tiles. With `N = 2 H` cells along both, and `z' = z` or `N - 1 - z`, `y' = y` or `N - 1 - y`:
//!
//! ```text
//! u[t, z, y, x] -> u_q[((z' - t) P + (y' - t) p + x) mod ((H + B) P)]   with   p = N_x,  P = (H + B) p
//! ```

use crate::kernel::affine::Affine;
use crate::kernel::formula::Formula;
use crate::kernel::graph::ArrayId;
use crate::storage::options::StrategyId;
use crate::storage::problem::{Problem, Span};
use crate::storage::strategies::leaning::{Leaning, leaning};
use crate::storage::{ArrayMapping, MappingError, Piece, StorageMapping};

use super::halves::seams;

/// Storage of the quarters; none if fewer than two indices are folded, or none of it is certified.
///
/// # Errors
/// [`MappingError`] if an analysis fails or a number leaves 64 bits.
pub(super) fn quarters(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Result<Option<StorageMapping>, MappingError> {
    let seams = seams(problem, array);
    if seams.len() < 2 {
        return Ok(None);
    }
    let spans = problem.spans(array)?;
    let mut extents: Vec<Option<i64>> = spans.iter().map(|span| span.extent()).collect();
    for &(index, last_near) in &seams {
        let Some((first, last)) = spans[index].ends() else { return Ok(None) };
        extents[index] =
            last_near.checked_sub(first).and_then(|near| Some(near.checked_add(1)?.max(last.checked_sub(last_near)?)));
    }
    for found in leaning(problem, array, &extents).into_iter().flatten() {
        let Some(mapping) = apart(problem, array, (&spans, &seams), &found)? else { continue };
        // Integer sets take long to find that storage is wrong.
        if problem.checker.is_certified(&mapping.buffers, &mapping.arrays) {
            return Ok(Some(mapping));
        }
    }
    Ok(None)
}

/// The same leaning storage for each of the quarters; none if an index has no bounds or a number leaves 64 bits.
fn apart(
    problem: &Problem<'_, '_, '_>,
    array: ArrayId,
    (spans, seams): (&[Span], &[(usize, i64)]),
    (gamma, modulus): &Leaning,
) -> Result<Option<StorageMapping>, MappingError> {
    let (mut buffers, mut pieces) = (Vec::new(), Vec::new());
    for quarter in 0..1_usize << seams.len() {
        let is_far = |at: usize| quarter >> (seams.len() - 1 - at) & 1 == 1;
        let mut conditions = Vec::new();
        for (at, &(index, last_near)) in seams.iter().enumerate() {
            let (index, last) = (Affine::iter(index), Affine::constant(last_near));
            conditions.push(if is_far(at) { Formula::lt(&last, &index)? } else { Formula::le(&index, &last)? });
        }
        let (mut row, mut offset) = (gamma.clone(), Some(0_i64));
        for (k, span) in spans.iter().enumerate().skip(1) {
            let Some((first, last)) = span.ends() else { return Ok(None) };
            let is_far = seams.iter().position(|(index, _)| *index == k).is_some_and(is_far);
            let from = if is_far {
                gamma[k].checked_mul(last)
            } else {
                gamma[k].checked_mul(first).and_then(i64::checked_neg)
            };
            if is_far {
                let Some(back) = row[k].checked_neg() else { return Ok(None) };
                row[k] = back;
            }
            offset = offset.zip(from).and_then(|(offset, from)| offset.checked_add(from));
        }
        let Some(offset) = offset else { return Ok(None) };
        let mut buffer = problem.buffer_for(array, vec![*modulus], StrategyId::Mirrored);
        if quarter > 0 {
            let sides = (0..seams.len()).map(|at| if is_far(at) { "far" } else { "near" });
            buffer.name = problem.free_name(&buffer.name, &sides.collect::<Vec<_>>().join("_"));
        }
        pieces.push(Piece { when: Formula::And(conditions), buffer: quarter, matrix: vec![row], offset: vec![offset] });
        buffers.push(buffer);
    }
    Ok(Some(StorageMapping { buffers, arrays: vec![ArrayMapping { array, pieces }] }))
}

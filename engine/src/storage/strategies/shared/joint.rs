//! One hyperplane for several arrays: `(gamma . i + offset_a) mod m`, with stride 1 along the fast index.
//!
//! In: the differences within the arrays and between them.   Out: the row of fewest cells that was found.
//! Source: ours; the condition is that of Darte, Schreiber and Villard (2005), with the offset of an array as the
//! coefficient of one more index that says which array it is.
//!
//! `gamma` is searched as for one array (`strided_hyperplane`), judged by the differences within all of the arrays.
//! These alone leave it open what moves from step to step, if each array is dead before its next
//! step, so many more candidates are kept. Offsets follow array by array: those that move it just past what conflicts
//! in one of the arrays before. `A[t, i]` and `B[t, i]` of two sweeps over a line: `(i - t) mod (N + 1)` for both.

use crate::kernel::graph::ArrayId;
use crate::sets::count::merged;
use crate::storage::MappingError;
use crate::storage::knobs::shared::{GAMMAS, OFFSETS};
use crate::storage::knobs::strategies::MOST_CLEARING;
use crate::storage::problem::Span;
use crate::storage::strategies::strided_hyperplane::{
    Prefix, consumer_distance, distances, extend, modulus_beyond, reached,
};

use super::differences::{Differences, order};
use super::{Member, Row};

/// Offsets of the first arrays, and what they lead to.
#[derive(Clone)]
struct Offsets {
    of: Vec<i64>,
    modulus: i64,
    distances: Vec<(i64, i64)>,
}

/// The row of fewest cells that holds the arrays, which have as many indices and the same fast one; none if their
/// conflict sets are unbounded or too complicated, or if no candidate keeps the cells apart.
pub(super) fn best_row(
    differences: &Differences<'_, '_, '_, '_>,
    arrays: &[ArrayId],
) -> Result<Option<Row>, MappingError> {
    let Some(gammas) = gammas(differences, arrays)? else { return Ok(None) };
    let mut best: Option<(Vec<i64>, Offsets)> = None;
    for Prefix { gamma, modulus, .. } in gammas {
        if best.as_ref().is_some_and(|(_, best)| best.modulus <= modulus) {
            // In ascending order: offsets only add to what is to be kept apart.
            break;
        }
        let found = best_offsets(differences, arrays, &gamma)?;
        if let Some(found) = found.filter(|found| best.as_ref().is_none_or(|(_, best)| found.modulus < best.modulus)) {
            best = Some((gamma, found));
        }
    }
    let Some((gamma, offsets)) = best else { return Ok(None) };
    let member = |(&array, &offset)| Member { array, gamma: gamma.clone(), offset };
    let members = arrays.iter().zip(&offsets.of).map(member).collect();
    Ok(Some(Row { members, modulus: offsets.modulus, distances: offsets.distances }))
}

/// Coefficients that keep the cells of each array apart, and the modulus that takes, in ascending order of it.
fn gammas(differences: &Differences<'_, '_, '_, '_>, arrays: &[ArrayId]) -> Result<Option<Vec<Prefix>>, MappingError> {
    let problem = differences.problem;
    let (order, spans) = (order(problem, arrays[0]), spans(differences, arrays)?);
    let reach = arrays.iter().map(|&array| consumer_distance(problem, array)).max().unwrap_or(0);
    let (mut beam, mut parts) = (vec![Prefix::nothing(order.len())], Vec::new());
    for (chosen, &dim) in order.iter().enumerate() {
        for &array in arrays {
            let Some(found) = differences.within(array, chosen)? else { return Ok(None) };
            parts.extend(found.iter().cloned());
        }
        let previous = chosen.checked_sub(1).map(|k| spans[order[k]]);
        beam = extend(&beam, dim, previous, reach, &parts, GAMMAS);
    }
    Ok(Some(beam))
}

/// Bounds of each index over all of the arrays.
fn spans(differences: &Differences<'_, '_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<Span>, MappingError> {
    let mut all = differences.problem.spans(arrays[0])?;
    for &array in &arrays[1..] {
        for (all, span) in all.iter_mut().zip(differences.problem.spans(array)?) {
            *all = all.hull(span);
        }
    }
    Ok(all)
}

/// Offsets of the arrays under one `gamma`; the first has 0.
fn best_offsets(
    differences: &Differences<'_, '_, '_, '_>,
    arrays: &[ArrayId],
    gamma: &[i64],
) -> Result<Option<Offsets>, MappingError> {
    let mut own = Vec::new();
    for &array in arrays {
        for chosen in 0..gamma.len() {
            let Some(parts) = differences.within(array, chosen)? else { return Ok(None) };
            let Some(reached) = reached(&parts, gamma, 1) else { return Ok(None) };
            own.extend(reached);
        }
    }
    let own = merged(own);
    let mut beam = vec![Offsets { of: vec![0], modulus: modulus_beyond(&own, 1), distances: own }];
    for (position, &array) in arrays.iter().enumerate().skip(1) {
        let mut ranges = Vec::new();
        for &before in &arrays[..position] {
            let Some(parts) = differences.between(before, array)? else { return Ok(None) };
            let found = parts.iter().map(|part| part.range(gamma)).filter(|(low, high)| low <= high);
            ranges.push(merged(found.collect()));
        }
        let mut extended: Vec<Offsets> = beam.iter().flat_map(|known| with_one_more(known, &ranges)).collect();
        extended.sort_by_key(|offsets| (offsets.modulus, offsets.of[position].unsigned_abs()));
        extended.truncate(OFFSETS);
        beam = extended;
    }
    Ok(beam.into_iter().next())
}

/// One more array, `ranges[a]` apart from array `a` before any offset, in every place that is tried.
fn with_one_more(known: &Offsets, ranges: &[Vec<(i64, i64)>]) -> Vec<Offsets> {
    let mut tried: Vec<i64> = Vec::new();
    for (ranges, &of) in ranges.iter().zip(&known.of) {
        // Just past what conflicts, on either side.
        let clearing = ranges.iter().flat_map(|(low, high)| [1_i64.checked_sub(*low), (-1_i64).checked_sub(*high)]);
        tried.push(of);
        tried.extend(clearing.take(MOST_CLEARING).filter_map(|clearing| clearing?.checked_add(of)));
    }
    tried.sort_unstable();
    tried.dedup();
    tried.into_iter().filter_map(|offset| placed(known, ranges, offset)).collect()
}

/// One more array at this offset; none if some of its cells then meet those of another, whatever the modulus.
fn placed(known: &Offsets, ranges: &[Vec<(i64, i64)>], offset: i64) -> Option<Offsets> {
    let mut all = known.distances.clone();
    for (ranges, &of) in ranges.iter().zip(&known.of) {
        let shift = offset.checked_sub(of)?;
        for &(low, high) in ranges {
            all.extend(distances((low.checked_add(shift)?, high.checked_add(shift)?))?);
        }
    }
    let all = merged(all);
    let of = known.of.iter().copied().chain([offset]).collect();
    Some(Offsets { of, modulus: modulus_beyond(&all, known.modulus), distances: all })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of `A` and `B` of 5 cells: `B[t, j]` conflicts with `A[t, i]` for `j < i`, and `B[t-1, j]` for `j >= i`.
    #[test]
    fn two_sweeps_over_a_line_fit_into_one_more_cell() {
        let known = Offsets { of: vec![0], modulus: 5, distances: vec![(1, 4)] };
        let gamma_t = -1;
        let ranges = vec![merged(vec![(-4, -1), (-gamma_t, -gamma_t + 4)])];
        assert_eq!(with_one_more(&known, &ranges).into_iter().map(|found| found.modulus).min(), Some(6));
        assert_eq!(placed(&known, &ranges, 0).unwrap().modulus, 6);
        assert!(placed(&known, &ranges, 2).is_none());
    }
}

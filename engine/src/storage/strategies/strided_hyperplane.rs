//! Strided hyperplanes: one row `gamma . i mod m`, with stride 1 along the innermost schedule dimension, so that a
//! folded strip is as contiguous as an unfolded one.
//!
//! In: the difference set at concrete sizes.   Out: the smallest moduli found, best first.
//! Source: ours; the validity condition is that of Darte, Schreiber and Villard (2005): no conflicting difference may
//! map to a multiple of `m`.
//!
//! Coefficients are chosen from the fast dimension outwards. Those of a dimension are combinations of the row pitches
//! so far with small factors (a value may take the place of one that its consumer distances say is dead); where the
//! extent is known, the next pitch; and the pitches that just clear the conflicts with the next row. A prefix is judged
//! by the differences that vanish in the dimensions not chosen yet, a lower bound for every extension, and only the
//! best prefixes are extended.
//!
//! Convex parts of the difference set are judged layer by layer along the dimension that is chosen last: a modulus may
//! lie between the layers of a part, as rows of a diamond get shorter on the way up.
//!
//! `u[t,y,x]` of a 5-point stencil, by rows, at N = 8: `(8 y + x - 8 t) mod 72`: a row of slack instead of a second
//! grid. A diamond tile of a 3-point stencil, of side B: `((2B-2) t + x) mod (4B-4)`, as many cells as are alive at
//! once.

use std::collections::BinaryHeap;
use std::iter;

use crease_isl::Set;

use crate::kernel::affine::Affine;
use crate::kernel::graph::{ArrayId, DimKind, Schedule};
use crate::sets::count::merged;
use crate::storage::knobs::strategies::{LAYER_BUDGET, MOST_CLEARING, MOST_PROPOSALS};
use crate::storage::knobs::strided_hyperplane::{BEAM, MOST_DISTANCE, MOST_LOOKS};
use crate::storage::options::StrategyId;
use crate::storage::placement::rounding::Grid;
use crate::storage::problem::{Problem, Span, Strategy};
use crate::storage::strategies::leaning::{Leaning, floors, leaning};
use crate::storage::strategies::polytope::{Polytope, polytopes};
use crate::storage::strategies::sweeping::sweeping;
use crate::storage::{MappingError, StorageMapping};

/// One-dimensional mappings with unit stride.
pub(crate) struct StridedHyperplane;

impl Strategy for StridedHyperplane {
    fn id(&self) -> StrategyId {
        StrategyId::StridedHyperplane
    }

    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<StorageMapping>, MappingError> {
        let mut per_array = Vec::new();
        for &array in arrays {
            per_array.push(search(problem, array, self.id())?);
        }
        let ranks = per_array.iter().map(Vec::len).min().unwrap_or(0);
        let proposal = |rank: usize| {
            let mut proposal = StorageMapping::default();
            for (found, &array) in per_array.iter().zip(arrays) {
                let Hyperplane { gamma, modulus, offset } = &found[rank];
                let buffer = problem.buffer_for(array, vec![*modulus], self.id());
                proposal.keep(array, buffer, vec![gamma.clone()], vec![*offset]);
            }
            proposal
        };
        Ok((0..ranks).map(proposal).collect())
    }
}

/// `(gamma . i + offset) mod modulus`.
struct Hyperplane {
    gamma: Vec<i64>,
    modulus: i64,
    offset: i64,
}

/// A choice of coefficients for the dimensions chosen so far; zero elsewhere.
#[derive(Clone)]
pub(crate) struct Prefix {
    pub(crate) gamma: Vec<i64>,
    pitches: Vec<i64>,
    pub(crate) modulus: i64,
    /// What pitches and moduli may be.
    grid: Grid,
}

impl Prefix {
    /// No coefficient chosen yet, of `n`.
    pub(crate) fn nothing(n: usize) -> Prefix {
        Prefix { gamma: vec![0; n], pitches: Vec::new(), modulus: 1, grid: Grid::Multiples(1) }
    }
}

fn search(
    problem: &Problem<'_, '_, '_>,
    array: ArrayId,
    strategy: StrategyId,
) -> Result<Vec<Hyperplane>, MappingError> {
    let body = problem.model.kernel.array(array);
    let n = body.index.len();
    let not_applicable = |reason: &str| MappingError::NotApplicable {
        strategy: strategy.name(),
        reason: format!("`{}`: {reason}", body.name),
    };
    if n == 0 {
        return Ok(vec![Hyperplane { gamma: Vec::new(), modulus: 1, offset: 0 }]);
    }
    let spans = problem.spans(array)?;
    if let Some(known) = proved_in_closed_form(problem, array, &spans) {
        return Ok(vec![known]);
    }
    let fast = problem.fast_dimension(array);
    let reach = consumer_distance(problem, array);
    let mut order = vec![fast];
    order.extend((0..n).rev().filter(|&k| k != fast));
    let all = problem.conflicts.differences(array)?;
    let mut beam = vec![Prefix { grid: Grid::of(problem, array), ..Prefix::nothing(n) }];
    let (mut parts, mut budget) = (Vec::new(), LAYER_BUDGET);
    for (chosen, &dim) in order.iter().enumerate() {
        let Some(found) = parts_along(&all, &order, chosen, &mut budget)? else {
            return Err(not_applicable("values stay live without bound, or the conflict set is too complicated"));
        };
        parts.extend(found);
        let previous = chosen.checked_sub(1).map(|k| spans[order[k]]);
        beam = extend(&beam, dim, previous, reach, &parts, BEAM);
        if beam.is_empty() {
            return Err(not_applicable("no candidate coefficient separates the conflicting cells"));
        }
    }
    beam.truncate(MOST_PROPOSALS);
    Ok(beam.into_iter().map(|prefix| finish(prefix, &spans)).collect())
}

/// Sweeping or leaning storage, if there is any that the checker takes.
fn proved_in_closed_form(problem: &Problem<'_, '_, '_>, array: ArrayId, spans: &[Span]) -> Option<Hyperplane> {
    let extents: Vec<_> = spans.iter().map(|span| span.extent()).collect();
    let of_checker = |found: Vec<Leaning>| first_of_checker(problem, array, spans, found);
    let mut margins = leaning(problem, array, &extents).into_iter();
    let first = sweeping(problem, array).into_iter().chain(margins.next().unwrap_or_default()).collect();
    iter::once(first).chain(margins).find_map(of_checker)
}

/// The first that the checker takes.
fn first_of_checker(
    problem: &Problem<'_, '_, '_>,
    array: ArrayId,
    spans: &[Span],
    found: Vec<Leaning>,
) -> Option<Hyperplane> {
    let proposals = found.into_iter().map(|(gamma, modulus)| {
        let hyperplane = finish(Prefix { gamma, modulus, ..Prefix::nothing(spans.len()) }, spans);
        let mut proposal = StorageMapping::default();
        let buffer = problem.buffer_for(array, vec![modulus], StrategyId::StridedHyperplane);
        proposal.keep(array, buffer, vec![hyperplane.gamma.clone()], vec![hyperplane.offset]);
        (hyperplane, proposal)
    });
    let mut proposals: Vec<(Hyperplane, StorageMapping)> = proposals.collect();
    // Integer sets take long to find that storage is wrong.
    let checker = problem.checker;
    let is_certified = |proposal: &StorageMapping| checker.is_certified(&proposal.buffers, &proposal.arrays);
    let is_proved = |proposal: &StorageMapping| checker.verify(&proposal.buffers, &proposal.arrays).is_ok();
    let first = proposals.iter().position(|(_, proposal)| is_certified(proposal));
    let first = first.or_else(|| proposals.iter().position(|(_, proposal)| is_proved(proposal)))?;
    Some(proposals.swap_remove(first).0)
}

/// The parts of a symmetric difference set that matter once dimension `order[chosen]` has a coefficient: differences
/// that vanish in the dimensions chosen later and are positive in this one, in layers as long as the budget lasts. None
/// if a part is unbounded or too complicated.
pub(crate) fn parts_along(
    all: &Set<'_>,
    order: &[usize],
    chosen: usize,
    budget: &mut u64,
) -> Result<Option<Vec<Polytope>>, MappingError> {
    let mut slice = all.clone();
    for &later in &order[chosen + 1..] {
        slice = slice.fix_dim(later, 0)?;
    }
    let (dim, mut parts) = (order[chosen], Vec::new());
    for part in split_by_sign(&slice, &order[..chosen], dim)? {
        let Some(found) = polytopes(&part)? else { return Ok(None) };
        parts.extend(found.into_iter().map(|part| part.layered(dim, budget)));
    }
    Ok(Some(parts))
}

/// The half of a symmetric set where `dim` is positive, cut by the signs of the `inner` dimensions: a linear form that
/// separates a part from 0 need not separate the hull of two parts.
fn split_by_sign<'c>(set: &Set<'c>, inner: &[usize], dim: usize) -> Result<Vec<Set<'c>>, MappingError> {
    let mut parts = vec![set.at_least(dim, 1)?];
    for &k in inner {
        let mut cut = Vec::new();
        for part in parts {
            if part.is_empty()? {
                continue;
            }
            cut.push(part.at_least(k, 1)?);
            cut.push(part.fix_dim(k, 0)?);
            cut.push(part.at_most(k, -1)?);
        }
        parts = cut;
    }
    parts.iter().map(|part| Ok(part.coalesce()?)).collect()
}

/// Every extension of every prefix by a coefficient for `dim`, the best `width` of them.
pub(crate) fn extend(
    beam: &[Prefix],
    dim: usize,
    previous: Option<Span>,
    reach: i64,
    parts: &[Polytope],
    width: usize,
) -> Vec<Prefix> {
    let mut untried = Vec::new();
    let corners: usize = parts.iter().map(Polytope::corners).sum();
    let reach = affordable(reach, beam.first().map_or(0, |prefix| prefix.pitches.len()), corners * beam.len());
    for prefix in beam {
        let mut tried = candidates(&prefix.pitches, previous, reach);
        if !prefix.pitches.is_empty() {
            tried.extend(clearing_pitches(parts, &prefix.gamma, dim));
            tried = tried.into_iter().flat_map(|pitch| prefix.grid.pitches(pitch)).collect();
            tried.sort_unstable();
            tried.dedup();
        }
        for candidate in tried {
            let mut gamma = prefix.gamma.clone();
            gamma[dim] = candidate;
            let Some(modulus) = modulus_at_least(parts, &gamma, prefix.modulus, prefix.grid) else {
                continue;
            };
            let mut pitches = prefix.pitches.clone();
            pitches.push(candidate);
            untried.push(Prefix { gamma, pitches, modulus, grid: prefix.grid });
        }
    }
    untried.sort_by_key(|prefix| prefix.modulus);
    let (mut extended, mut best): (Vec<Prefix>, BinaryHeap<i64>) = Default::default();
    for prefix in untried {
        if best.len() == width && best.peek().is_some_and(|worst| prefix.modulus > *worst) {
            break;
        }
        let Some(modulus) = smallest_modulus(parts, &prefix.gamma, prefix.modulus, prefix.grid) else { continue };
        best.push(modulus);
        if best.len() > width {
            best.pop();
        }
        extended.push(Prefix { modulus, ..prefix });
    }
    // Smaller modulus first; then smaller coefficients, which keep neighbours close; then rows that run forwards.
    let size = |p: &Prefix| p.gamma.iter().map(|g| u128::from(g.unsigned_abs())).sum::<u128>();
    let backwards = |p: &Prefix| p.gamma.iter().filter(|g| **g < 0).count();
    extended.sort_by_cached_key(|p| (p.modulus, size(p), backwards(p)));
    extended.dedup_by(|a, b| a.gamma == b.gamma);
    extended.truncate(width);
    extended
}

/// The farthest distance up to `reach` of which all combinations of so many pitches can be tried, if each takes this many
/// looks; 1 at least.
fn affordable(reach: i64, pitches: usize, looks: usize) -> i64 {
    let takes = |reach: i64| {
        let combinations = (reach.unsigned_abs() * 2 + 1).checked_pow(u32::try_from(pitches).ok()?)?;
        combinations.checked_mul(looks as u64)
    };
    (1..=reach).rev().find(|reach| takes(*reach).is_some_and(|looks| looks <= MOST_LOOKS)).unwrap_or(1)
}

/// Coefficients worth trying for the next dimension, given those inside it.
fn candidates(pitches: &[i64], previous: Option<Span>, reach: i64) -> Vec<i64> {
    let Some(&last) = pitches.last() else {
        return vec![1];
    };
    // Distances of reuse: a few rows, columns, .. back or forth.
    let mut distances = vec![0_i64];
    for &pitch in pitches {
        let factors = -reach..=reach;
        distances = distances
            .iter()
            .flat_map(|&d| factors.clone().filter_map(move |f| pitch.checked_mul(f)?.checked_add(d)))
            .collect();
    }
    let mut found = distances.clone();
    if let Some(next) = previous.and_then(Span::extent).and_then(|e| e.checked_mul(last)) {
        let small = -reach..=reach;
        found.extend(small.filter_map(|f| next.checked_add(f)));
        found.extend(distances.iter().filter_map(|&d| next.checked_add(d)));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Coefficients of `dim` that move the next row just past what conflicts in it: with `[low, high]` the values of the
/// prefix on differences of 1 along `dim`, they are `1 - low` and `-1 - high`.
fn clearing_pitches(parts: &[Polytope], gamma: &[i64], dim: usize) -> Vec<i64> {
    let ranges = merged(parts.iter().filter_map(|part| part.range_at(gamma, dim, 1)).collect());
    ranges.iter().flat_map(|&(low, high)| [1 - low, -1 - high]).take(MOST_CLEARING).collect()
}

/// What [`smallest_modulus`] cannot go below, for differences at corners of the parts; none if there is no modulus.
fn modulus_at_least(parts: &[Polytope], gamma: &[i64], at_least: i64, grid: Grid) -> Option<i64> {
    let mut values = Vec::new();
    for value in parts.iter().flat_map(|part| part.corner_values(gamma)) {
        values.extend(distances((value, value))?);
    }
    allowed_beyond(&values, at_least, grid)
}

/// The smallest allowed `m >= at_least` such that no part's ranges of `gamma . d` hold a multiple of `m`; none if one
/// holds 0.
fn smallest_modulus(parts: &[Polytope], gamma: &[i64], at_least: i64, grid: Grid) -> Option<i64> {
    allowed_beyond(&merged(reached(parts, gamma, at_least)?), at_least, grid)
}

/// The smallest allowed `m >= at_least` of which no positive range holds a multiple.
fn allowed_beyond(ranges: &[(i64, i64)], at_least: i64, grid: Grid) -> Option<i64> {
    let mut modulus = grid.up(at_least.max(1))?;
    loop {
        let found = modulus_beyond(ranges, modulus);
        if found == modulus {
            return Some(modulus);
        }
        modulus = grid.up(found)?;
    }
}

/// How far from 0 the values of `gamma . d` lie, as far as they reach `at_least`; none if one is 0.
pub(crate) fn reached(parts: &[Polytope], gamma: &[i64], at_least: i64) -> Option<Vec<(i64, i64)>> {
    let mut reached: Vec<(i64, i64)> = Vec::new();
    for part in parts {
        if let Some(None) = distances(part.range(gamma)).map(|whole| whole.filter(|(_, high)| *high >= at_least)) {
            continue;
        }
        part.ranges(gamma, &mut |range| {
            match distances(range)? {
                Some((low, high)) if high >= at_least => match reached.last_mut() {
                    // Layers mostly follow each other.
                    Some(last) if low <= last.1 && last.0 <= high => *last = (last.0.min(low), last.1.max(high)),
                    _ => reached.push((low, high)),
                },
                _ => {}
            }
            Some(())
        })?;
    }
    Some(reached)
}

/// How far from 0 the values of a range lie: nothing if it is empty; none if it holds 0.
pub(crate) fn distances((low, high): (i64, i64)) -> Option<Option<(i64, i64)>> {
    match (low, high) {
        _ if low > high => Some(None),
        _ if low > 0 => Some(Some((low, high))),
        _ if high < 0 => Some(Some((-high, -low))),
        _ => None,
    }
}

/// The smallest `m >= at_least` of which no positive range holds a multiple.
pub(crate) fn modulus_beyond(ranges: &[(i64, i64)], at_least: i64) -> i64 {
    let mut modulus = at_least.max(1);
    loop {
        // The largest multiple of `modulus` in a range tells how far to move on.
        let hit = ranges.iter().filter_map(|&(low, high)| {
            let factor = high / modulus;
            (factor > 0 && factor * modulus >= low).then(|| high / factor + 1)
        });
        match hit.max() {
            Some(next) => modulus = next.max(modulus + 1),
            None => return modulus,
        }
    }
}

fn finish(prefix: Prefix, spans: &[Span]) -> Hyperplane {
    // Move the lower corner of the bounded dimensions to cell 0.
    let corner: i64 = prefix.gamma.iter().zip(spans).filter_map(|(g, s)| Some(g * s.ends()?.0)).sum();
    Hyperplane { gamma: prefix.gamma, modulus: prefix.modulus, offset: (-corner).rem_euclid(prefix.modulus) }
}

/// The largest distance, along any index, between two references of one statement to the array; at least 2, and what
/// runs in one pass of the lanes.
pub(crate) fn consumer_distance(problem: &Problem<'_, '_, '_>, array: ArrayId) -> i64 {
    let kernel = problem.model.kernel;
    let mut reach = jammed(problem.model.schedule).max(2);
    for stmt in kernel.stmts() {
        let writes = stmt.assigns.iter().map(|a| (a.array, a.index.as_slice()));
        let references: Vec<_> = stmt.reads().chain(writes).filter(|(a, _)| *a == array).map(|(_, i)| i).collect();
        for k in 0..kernel.array(array).index.len() {
            // An index that is a number, as at the end of a periodic row, is at no distance from others.
            let moving = references.iter().filter(|index| index[k].as_constant().is_none());
            let constants = moving.map(|index| index[k].constant_part());
            let spread = constants.clone().max().zip(constants.min()).map_or(0, |(high, low)| high.saturating_sub(low));
            reach = reach.max(spread.min(MOST_DISTANCE));
        }
    }
    reach
}

/// The most values of a dimension that run in one pass of the lanes.
fn jammed(schedule: &Schedule) -> i64 {
    let Some(lanes) = schedule.dims.iter().position(|kind| matches!(kind, DimKind::Vector(_))) else { return 1 };
    let in_pass = |times: &Vec<Affine>| times.split_at(lanes + 1).1.iter().any(|time| time.as_constant().is_none());
    let divisors = schedule.times.iter().filter(|times| in_pass(times)).flatten().flat_map(floors);
    divisors.map(|(_, divisor)| divisor).filter(|divisor| *divisor <= MOST_DISTANCE).max().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_as_far_as_their_combinations_can_be_tried() {
        assert_eq!(affordable(8, 0, 1000), 8);
        assert_eq!(affordable(8, 3, 100), 8, "17^3 combinations");
        assert_eq!(affordable(8, 4, 937), 3, "7^4 combinations, where 9^4 would be too many");
        assert_eq!(affordable(8, 100, 937), 1);
    }

    #[test]
    fn candidates_hold_the_row_pitch_and_small_distances() {
        let rows = Span::between(0, 9);
        let found = candidates(&[1], Some(rows), 2);
        assert!(found.contains(&10) && found.contains(&-2) && found.contains(&12));
    }
}

//! Storage in two pieces, one for each half.
//!
//! In: the halves of an array.   Out: proposals, the smaller ones first.

use crate::kernel::affine::Affine;
use crate::kernel::formula::Formula;
use crate::kernel::graph::ArrayId;
use crate::storage::options::StrategyId;
use crate::storage::problem::{Problem, Span, Strategy};
use crate::storage::{ArrayMapping, MappingError, Piece, StorageMapping};

use super::halves::Halves;
use super::quarters::quarters;

/// Storage of the halves of a folded dimension.
pub(crate) struct Mirrored;

impl Strategy for Mirrored {
    fn id(&self) -> StrategyId {
        StrategyId::Mirrored
    }

    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<StorageMapping>, MappingError> {
        let quarters = arrays.iter().map(|&array| quarters(problem, array)).collect::<Result<Vec<_>, _>>()?;
        let halves = arrays.iter().map(|&array| Halves::of(problem, array)).collect::<Result<Vec<_>, _>>()?;
        // Times of rows say nothing of what runs at once.
        let with_margins =
            |are_few: bool| [0, 1].map(|more| kept(problem, arrays, (&quarters, &halves), (are_few, more)));
        let are_few = halves.iter().flatten().any(|halves| halves.in_flight.is_some());
        let few = are_few.then(|| with_margins(true)).into_iter().flatten();
        few.chain(with_margins(false)).collect()
    }
}

/// Storage of all arrays: that of quarters where there is some, else halves, in which rows live for some rows `more` than
/// their times say, with a margin of the steps in flight if those are to be the few that a front has.
fn kept(
    problem: &Problem<'_, '_, '_>,
    arrays: &[ArrayId],
    (quarters, halves): (&[Option<StorageMapping>], &[Option<Halves>]),
    (are_few, more): (bool, i64),
) -> Result<StorageMapping, MappingError> {
    let mut all = StorageMapping::default();
    for ((&array, quarters), halves) in arrays.iter().zip(quarters).zip(halves) {
        if let Some(found) = quarters {
            all.append(found.clone());
            continue;
        }
        let name = &problem.model.kernel.array(array).name;
        let not_applicable =
            |reason: String| MappingError::NotApplicable { strategy: StrategyId::Mirrored.name(), reason };
        let Some(mut halves) = *halves else {
            let reason = format!("no index of `{name}` is run upwards in one half and downwards in the other");
            return Err(not_applicable(reason));
        };
        halves.lags = halves.lags.map(|lag| lag.saturating_add(more));
        halves.steps = halves.in_flight.filter(|_| are_few).unwrap_or(halves.steps);
        let kept = keep(&halves, problem, array)?;
        all.append(kept.ok_or_else(|| not_applicable(format!("an index of `{name}` has no bounds")))?);
    }
    Ok(all)
}

/// Whether the array is folded.
///
/// # Errors
/// [`MappingError`] if a number leaves 64 bits.
pub(crate) fn may_mirror(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Result<bool, MappingError> {
    Ok(Halves::of(problem, array)?.is_some())
}

/// Storage in two pieces; none if an index has no bounds or a number leaves 64 bits.
fn keep(
    halves: &Halves,
    problem: &Problem<'_, '_, '_>,
    array: ArrayId,
) -> Result<Option<StorageMapping>, MappingError> {
    let spans = problem.spans(array)?;
    if halves.lags == [0; 2] && halves.depth == 1 && halves.index + 1 < spans.len() {
        // Rows stay where they are, so that halves have nothing to move apart; cells of a line would lie backwards.
        return Ok(in_place(&spans).map(|(moduli, piece)| StorageMapping {
            buffers: vec![problem.buffer_for(array, moduli, StrategyId::Mirrored)],
            arrays: vec![ArrayMapping { array, pieces: vec![piece] }],
        }));
    }
    let (index, last) = (Affine::iter(halves.index), Affine::constant(halves.last_near));
    let (near, far) = (Formula::le(&index, &last)?, Formula::lt(&last, &index)?);
    let (mut buffers, mut pieces) = (Vec::new(), Vec::new());
    for (buffer, when) in [near, far].into_iter().enumerate() {
        let Some((moduli, piece)) = part(halves, &spans, buffer, when) else { return Ok(None) };
        let mut kept = problem.buffer_for(array, moduli, StrategyId::Mirrored);
        if buffer > 0 {
            kept.name = problem.free_name(&kept.name, "far");
        }
        buffers.push(kept);
        pieces.push(piece);
    }
    Ok(Some(StorageMapping { buffers, arrays: vec![ArrayMapping { array, pieces }] }))
}

/// Moduli and piece of all cells of one step; none if an index has no bounds.
fn in_place(spans: &[Span]) -> Option<(Vec<i64>, Piece)> {
    let (mut moduli, mut offset) = (Vec::new(), Vec::new());
    for span in spans.iter().skip(1) {
        moduli.push(span.extent()?);
        offset.push(span.lower()?.checked_neg()?);
    }
    let row = |k: usize| (0..spans.len()).map(|at| i64::from(at == k)).collect();
    let matrix = (1..spans.len()).map(row).collect();
    Some((moduli, Piece { when: Formula::everything(), buffer: 0, matrix, offset }))
}

/// Moduli and piece of a half: buffer 0 keeps the near one.
fn part(halves: &Halves, spans: &[Span], buffer: usize, when: Formula) -> Option<(Vec<i64>, Piece)> {
    let is_near = buffer == 0;
    let (mut moduli, mut matrix, mut offset) = (Vec::new(), Vec::new(), Vec::new());
    let is_leaning = halves.tile.is_some_and(|tile| tile.lean > 0);
    if halves.depth == 0 && halves.steps > 1 && !is_leaning {
        // Each step of a tile has rows of its own.
        let mut row = vec![0; spans.len()];
        row[0] = 1;
        moduli.push(halves.steps);
        matrix.push(row);
        offset.push(0);
    }
    for (k, span) in spans.iter().enumerate().skip(1) {
        let (first, last) = span.ends()?;
        let mut row = vec![0; spans.len()];
        if k != halves.index {
            row[k] = 1;
            moduli.push(span.extent()?);
            offset.push(first.checked_neg()?);
        } else {
            let rows = if is_near {
                halves.last_near.checked_sub(first)?.checked_add(1)?
            } else {
                last.checked_sub(halves.last_near)?
            };
            let (places, drift) = ring(halves, halves.lags[buffer], rows)?;
            row[0] = drift;
            row[k] = if is_near { 1 } else { -1 };
            moduli.push(places);
            offset.push(if is_near { first.checked_neg()? } else { last });
        }
        matrix.push(row);
    }
    Some((moduli, Piece { when, buffer, matrix, offset }))
}

/// Places of a ring for some rows of every step, and by how many of them a step moves the rows.
///
/// Of an array whose values live inside of steps, as many places as rows are alive: of tiles in which all rows are
/// written before any is read, these, and those that steps lean by. Of a state, row `y` of step `t` takes
/// the place of row `y + d` of the step `k` before it, the first one that is dead by then, where `k` steps are read back:
/// places are `g` a step, with `k g + d` in all. Steps of a tile lie beside each other, each `d` rows behind the `k`-th
/// before it, so that `g` has a margin of these.
fn ring(halves: &Halves, lag: i64, rows: i64) -> Option<(i64, i64)> {
    let (depth, steps) = (halves.depth, halves.steps);
    if depth == 0 {
        let written = match halves.tile {
            Some(tile) => tile.lean.checked_mul(steps)?.checked_add(tile.rows)?,
            None => 0,
        };
        return Some((lag.checked_add(written)?.clamp(1, rows), 0));
    }
    let beside = if steps > 1 { steps.checked_add(depth - 1)?.checked_div(depth)? } else { 0 };
    let a_step = rows.checked_add(lag.checked_mul(beside)?)?;
    let places = a_step.checked_mul(depth)?.checked_add(lag)?;
    Some((places, if depth == 1 { lag.checked_neg()? } else { a_step }))
}

//! The cut that leaves fewest cells, and storage in two pieces made of it.
//!
//! In: the arrays and their conflicts.   Out: proposals, the one of fewest cells first.
//!
//! Every index may be the one that is cut; for an array that is no state, every other index its steps.

use crate::kernel::affine::Affine;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, Role};
use crate::storage::knobs::periodic::MOST_PROPOSALS;
use crate::storage::options::StrategyId;
use crate::storage::problem::{Problem, Span, Strategy};
use crate::storage::strategies::successive_modulo::SuccessiveModulo;
use crate::storage::{ArrayMapping, MappingError, Piece, StorageMapping};

use super::cut::{Cut, cells_of_row};
use super::fold::Fold;
use super::rows::RowConflicts;
use super::sweep;

/// Storage cut into what a sweep leaves behind and what waits for its end.
pub(crate) struct Periodic;

impl Strategy for Periodic {
    fn id(&self) -> StrategyId {
        StrategyId::Periodic
    }

    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<StorageMapping>, MappingError> {
        let (mut alternatives, mut refusal) = (Vec::new(), None);
        for &array in arrays {
            if let Some(kept) = self.proved_in_closed_form(problem, array)? {
                alternatives.push(vec![kept]);
                continue;
            }
            match cuts_of(problem, array, self.id())? {
                Ok(cuts) => {
                    let kept = |cut| self.keep(problem, array, cut);
                    alternatives.push(cuts.iter().map(kept).collect::<Result<Vec<_>, _>>()?);
                }
                Err(error) if arrays.len() == 1 => return Err(error),
                Err(error) => {
                    refusal.get_or_insert(error);
                    alternatives.push(SuccessiveModulo.propose(problem, &[array])?);
                }
            }
        }
        match refusal {
            // Arrays that have nothing to cut are kept as usual, if there are others.
            Some(error) if alternatives.iter().flatten().all(|kept| kept.buffers.len() == 1) => Err(error),
            _ => Ok(combined(&alternatives)),
        }
    }
}

/// The n-th proposals of all arrays together, and the last one of an array that has fewer.
fn combined(alternatives: &[Vec<StorageMapping>]) -> Vec<StorageMapping> {
    let most = alternatives.iter().map(Vec::len).max().unwrap_or(0);
    let nth = |n: usize| {
        let mut all = StorageMapping::default();
        for of_array in alternatives.iter().filter_map(|known| known.get(n.min(known.len().checked_sub(1)?))) {
            all.append(of_array.clone());
        }
        all
    };
    (0..most).map(nth).collect()
}

/// The cuts of an array that take fewer cells than none, best first. The inner error says why there are none.
fn cuts_of(
    problem: &Problem<'_, '_, '_>,
    array: ArrayId,
    strategy: StrategyId,
) -> Result<Result<Vec<Cut>, MappingError>, MappingError> {
    let body = problem.model.kernel.array(array);
    let (spans, n) = (problem.spans(array)?, body.index.len());
    let mut cuts = Vec::new();
    for step in 0..n {
        if body.role == Role::State && step > 0 {
            break;
        }
        for row in (0..n).filter(|&row| row != step) {
            cuts.extend(best_cut(problem, array, &spans, (step, row))?);
        }
    }
    cuts.sort_by_key(|cut| cut.cells);
    cuts.truncate(MOST_PROPOSALS);
    if cuts.is_empty() {
        let reason = format!(
            "`{}`: no cut across an index saves cells: nothing waits for the end of a sweep, or, as where rows of \
             a step run in parallel, every row does",
            body.name
        );
        return Ok(Err(MappingError::NotApplicable { strategy: strategy.name(), reason }));
    }
    Ok(Ok(cuts))
}

/// The cut across `row` that takes fewest cells, if that is fewer than without one.
fn best_cut(
    problem: &Problem<'_, '_, '_>,
    array: ArrayId,
    spans: &[Span],
    (step, row): (usize, usize),
) -> Result<Option<Cut>, MappingError> {
    let Some((first, last)) = spans[row].ends().filter(|_| spans[row].extent().is_some()) else {
        return Ok(None);
    };
    let Some(cells_of_row) = cells_of_row(spans, step, row) else { return Ok(None) };
    let Some(conflicts) = RowConflicts::new(problem, array, step, row)? else { return Ok(None) };
    let part = |low: i64, high: i64| -> Result<_, MappingError> {
        Ok(conflicts.within((low, high))?.map(|apart| (low, high, Fold::smallest(&apart, high - low + 1))))
    };
    let Some((_, _, whole)) = part(first, last)? else { return Ok(None) };
    let (mut best, mut fewest) = (None, whole.size());
    for cut in conflicts.cuts((first, last))? {
        let Some(mut parts) = part(first, cut - 1)?.zip(part(cut, last)?).map(|(low, high)| [low, high]) else {
            continue;
        };
        let size = parts[0].2.size() + parts[1].2.size();
        if size < fewest {
            parts.sort_by_key(|(low, high, _)| low - high);
            best = Some(Cut { step, row, parts, cells: size.saturating_mul(cells_of_row) });
            fewest = size;
        }
    }
    Ok(best)
}

impl Periodic {
    /// The first cut in closed form that the checker takes.
    fn proved_in_closed_form(
        &self,
        problem: &Problem<'_, '_, '_>,
        array: ArrayId,
    ) -> Result<Option<StorageMapping>, MappingError> {
        let spans = problem.spans(array)?;
        for cut in sweep::cuts(problem, array, &spans) {
            let kept = self.keep(problem, array, &cut)?;
            if problem.checker.verify(&kept.buffers, &kept.arrays).is_ok() {
                return Ok(Some(kept));
            }
        }
        Ok(None)
    }

    /// The pieces of a cut.
    fn keep(&self, problem: &Problem<'_, '_, '_>, array: ArrayId, cut: &Cut) -> Result<StorageMapping, MappingError> {
        let (spans, mut pieces, mut buffers) = (problem.spans(array)?, Vec::new(), Vec::new());
        for (at, &(low, high, fold)) in cut.parts.iter().enumerate() {
            let mut kept = Coordinates::default();
            if let Fold::Turns { steps, .. } = fold
                && steps > 1
            {
                kept.push(steps, unit(spans.len(), cut.step), 0);
            }
            for (k, span) in spans.iter().enumerate().filter(|(k, _)| *k != cut.step) {
                let mut row = unit(spans.len(), k);
                let min = span.lower().unwrap_or(0);
                let (places, first) = match (k == cut.row, fold) {
                    (false, _) => (span.extent().unwrap_or(1), min),
                    (true, Fold::Turns { rows, .. }) => (rows, low),
                    (true, Fold::Ring { drift, places }) => {
                        row[cut.step] = drift;
                        (places, min)
                    }
                };
                kept.push(places, row, first.checked_neg().unwrap_or(0));
            }
            let kept = kept.without_constants();
            let mut buffer = problem.buffer_for(array, kept.moduli, self.id());
            if at > 0 {
                buffer.name = problem.free_name(&buffer.name, "border");
            }
            buffers.push(buffer);
            let when = rows_between(cut.row, (low, high), &spans[cut.row])?;
            pieces.push(Piece { when, buffer: at, matrix: kept.matrix, offset: kept.offset });
        }
        Ok(StorageMapping { buffers, arrays: vec![ArrayMapping { array, pieces }] })
    }
}

/// The coordinates of a piece, one after the other.
#[derive(Default)]
struct Coordinates {
    moduli: Vec<i64>,
    matrix: Vec<Vec<i64>>,
    offset: Vec<i64>,
}

impl Coordinates {
    fn push(&mut self, modulus: i64, row: Vec<i64>, offset: i64) {
        self.moduli.push(modulus);
        self.matrix.push(row);
        self.offset.push(offset);
    }

    /// Without those that have one place only, but for one coordinate that every buffer has.
    fn without_constants(self) -> Coordinates {
        let mut left = Coordinates::default();
        let all = self.moduli.into_iter().zip(self.matrix).zip(self.offset);
        let mut all: Vec<(i64, Vec<i64>, i64)> = all.map(|((modulus, row), offset)| (modulus, row, offset)).collect();
        let last = all.pop();
        all.retain(|(modulus, ..)| *modulus > 1);
        let keeps_last = |(modulus, ..): &(i64, Vec<i64>, i64)| *modulus > 1 || all.is_empty();
        let last = last.filter(keeps_last);
        all.into_iter().chain(last).for_each(|(modulus, row, offset)| left.push(modulus, row, offset));
        left
    }
}

fn unit(n: usize, at: usize) -> Vec<i64> {
    (0..n).map(|k| i64::from(k == at)).collect()
}

/// The condition that an index lies in a range, said with no bound that it has anyway.
fn rows_between(row: usize, (low, high): (i64, i64), span: &Span) -> Result<Formula, MappingError> {
    let (index, low_end, high_end) = (Affine::iter(row), Affine::constant(low), Affine::constant(high));
    if low == high {
        return Ok(Formula::eq(&index, &low_end)?);
    }
    let mut bounds = Vec::new();
    if span.lower() != Some(low) {
        bounds.push(Formula::le(&low_end, &index)?);
    }
    if span.upper() != Some(high) {
        bounds.push(Formula::le(&index, &high_end)?);
    }
    Ok(Formula::And(bounds))
}

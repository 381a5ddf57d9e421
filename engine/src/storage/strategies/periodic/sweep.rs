//! The cut of a periodic sweep in closed form.
//!
//! In: a state that every step replaces, swept in rows one after the other.   Out: [`Cut`]s, smallest first, for the
//! checker to prove; none where nothing is read from far ahead, or who reads the state is not known.
//!
//! A row of which some cell is read from farther ahead than half of the grid waits, with the step before. All others are
//! as in a sweep between walls (`sweeping`): the last reader lies a few rows ahead, and what it writes takes their place.
//! Where `J` rows run in one pass, column after column, that is `J` rows ahead at least, or as many more as readers reach.

use crate::kernel::graph::ArrayId;
use crate::storage::problem::{Problem, Span};
use crate::storage::strategies::leaning::pass_of;
use crate::storage::strategies::sweeping::order_of_sweep;

use super::cut::{Cut, cells_of_row};
use super::fold::Fold;

/// The cuts, smallest first.
pub(super) fn cuts(problem: &Problem<'_, '_, '_>, array: ArrayId, spans: &[Span]) -> Vec<Cut> {
    cuts_along_rows(problem, array, spans).unwrap_or_default()
}

/// Whether there are such cuts.
pub(crate) fn may_wait(problem: &Problem<'_, '_, '_>, array: ArrayId) -> bool {
    problem.spans(array).is_ok_and(|spans| !cuts(problem, array, &spans).is_empty())
}

fn cuts_along_rows(problem: &Problem<'_, '_, '_>, array: ArrayId, spans: &[Span]) -> Option<Vec<Cut>> {
    let readers = problem.readers(array)?;
    let order = order_of_sweep(problem, array)?;
    let (row, inner) = order.split_first()?;
    let row = *row;
    let ((first, last), extent) = (spans.get(row)?.ends()?, spans.get(row)?.extent()?);
    let (mut waiting, mut ahead) = (0, 1);
    for region in &readers.regions {
        // A reader that lies further along its row than the cell comes after what would replace the cell: one row more.
        let along = |distance: &Vec<i64>| inner.iter().map(|&index| distance[index - 1]).find(|along| *along != 0);
        let rows = |distance: &Vec<i64>| {
            let is_behind = along(distance).is_some_and(|along| along > 0);
            distance[row - 1].saturating_add(i64::from(is_behind && distance[row - 1] > 0))
        };
        let reach = region.readers.iter().map(rows).max().unwrap_or(0);
        if reach > extent / 2 {
            waiting = waiting.max(region.cells.ranges()[row - 1].upper()?.checked_sub(first)?.checked_add(1)?);
        } else {
            ahead = ahead.max(reach);
        }
    }
    let mut steps = vec![ahead];
    if let Some(pass) = pass_of(problem, array).filter(|pass| pass.index == row) {
        steps = vec![ahead.max(pass.rows), ahead.checked_add(pass.rows)?];
        steps.dedup();
    }
    if waiting == 0 || waiting > extent / 2 {
        return None;
    }
    let cells_of_row = cells_of_row(spans, 0, row)?;
    let cut = |ahead: i64| {
        let places = extent.checked_sub(waiting)?.checked_add(ahead)?;
        let kept = (first.checked_add(waiting)?, last, Fold::Ring { drift: ahead.checked_neg()?, places });
        let waits = (first, kept.0 - 1, Fold::Turns { steps: 2, rows: waiting });
        let cells = (kept.2.size() + waits.2.size()).checked_mul(cells_of_row)?;
        Some(Cut { step: 0, row, parts: [kept, waits], cells })
    };
    steps.into_iter().map(cut).collect()
}

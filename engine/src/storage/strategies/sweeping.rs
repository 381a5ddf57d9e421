//! Sweeping storage of states: a grid that every step moves on, just as far as its last reads reach.
//!
//! In: a state that every step replaces, in rows one after the other.   Out: a strided hyperplane in closed form.
//! Source: ours; Lefebvre and Feautrier (1998) have the same window as two steps of a linear order.
//!
//! Cells are numbered in the order of the sweep. The last instance that reads cell `x` of a step is at `x + d`, with the
//! largest `d` of all readers; what it writes may take the place of `x`. So a step is stored `p(d)` cells behind the
//! last one, where `p` gives cells their numbers, in a ring of that many cells more than the grid has. With `[y, x]`
//! and a stencil of radius 1 `u[t, y, x]` is at
//!
//! ```text
//! (N_x y + x - N_x t) mod (N_y N_x + N_x)
//! ```
//!
//! As many values are alive at once but for those near borders. Where `J` rows run in one pass, column after column, a
//! reader one row ahead may be in the same pass and a later column: then cells move on by `J` rows. The checker says
//! which of both is right.

use crate::kernel::affine::Affine;
use crate::kernel::graph::{ArrayId, DimKind};
use crate::storage::placement::rounding::Grid;
use crate::storage::problem::Problem;
use crate::storage::strategies::leaning::{Leaning, Pass, floor, pass_of};

/// Readers farther away than this part of a grid are those of a periodic sweep.
const FARTHEST_PART: i64 = 2;

/// Sweeping storage, the smallest first; none where steps do not come first, rows of a step run in parallel, who reads the
/// array is not known, or the last reader is far away, as in a periodic sweep: others take less then. Nor where no reader
/// is ahead: then a step is enough, and needs no ring.
pub(crate) fn sweeping(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Vec<Leaning> {
    let passes = [None, pass_of(problem, array)];
    let passes = &passes[..if passes[1].is_some() { 2 } else { 1 }];
    passes.iter().filter_map(|pass| moved_on(problem, array, pass.as_ref())).collect()
}

/// Sweeping storage where the last reader is at least the rows of a pass ahead.
fn moved_on(problem: &Problem<'_, '_, '_>, array: ArrayId, pass: Option<&Pass>) -> Option<Leaning> {
    let order = order_of_sweep(problem, array)?;
    let readers = problem.readers(array)?;
    let (fast, grid) = (*order.last()?, Grid::of(problem, array));
    if fast != problem.fast_dimension(array) {
        return None;
    }
    let (mut gamma, mut cells) = (vec![0; order.len() + 1], 1_i64);
    for &index in order.iter().rev() {
        gamma[index] = if index == fast { 1 } else { grid.pitches(cells).into_iter().max()? };
        cells = readers.space.ranges()[index - 1].extent()?.checked_mul(gamma[index])?;
    }
    let along = |distance: &Vec<i64>| order.iter().map(|&index| distance[index - 1]).collect::<Vec<_>>();
    let last = readers.regions.iter().flat_map(|region| &region.readers).max_by_key(|distance| along(distance))?;
    let mut last = last.clone();
    if let Some(Pass { index, rows }) = pass {
        last[index - 1] = last[index - 1].max(*rows);
    }
    let ahead =
        last.iter().zip(&gamma[1..]).try_fold(0_i64, |sum, (d, pitch)| sum.checked_add(d.checked_mul(*pitch)?))?;
    let ahead = Some(ahead).filter(|ahead| (1..=cells / FARTHEST_PART).contains(ahead))?;
    let ahead = grid.pitches(ahead).into_iter().max()?;
    gamma[0] = -ahead;
    Some((gamma, grid.up(cells.checked_add(ahead)?)?))
}

/// The indices of the array, without the step, in the order in which all statements sweep over it, rows of one pass side
/// by side.
pub(crate) fn order_of_sweep(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Option<Vec<usize>> {
    let (kernel, schedule) = (problem.model.kernel, problem.model.schedule);
    let n = kernel.array(array).index.len();
    let is_ordered = schedule.dims.iter().all(|kind| *kind != DimKind::Parallel);
    let (first, rest) = schedule.times.split_first()?;
    if !is_ordered || rest.iter().any(|time| time != first) || *first.first()? != Affine::iter(0) {
        return None;
    }
    let index = |e: &Affine| (1..n).find(|&index| *e == Affine::iter(index));
    let mut order = first[1..].iter().map(|e| index(floor(e).unwrap_or(e))).collect::<Option<Vec<_>>>()?;
    if pass_of(problem, array).is_some() {
        order.pop();
    }
    (order.len() + 1 == n && (1..n).all(|index| order.contains(&index))).then_some(order)
}

/// Whether there is such storage.
pub(crate) fn may_sweep(problem: &Problem<'_, '_, '_>, array: ArrayId) -> bool {
    problem.readers(array).is_some() && order_of_sweep(problem, array).is_some()
}

//! Leaning storage of states: rows that move by some cells a step, along several dimensions at once.
//!
//! In: a state in tiles of time and of dimensions of space.   Out: strided hyperplanes in closed form, by their margins.
//! Source: ours. Where tiles lean by `r` cells a step backwards, what a step writes takes the place of what the step
//! before wrote `r` cells further back: of all that is still read of it, this is the last.
//!
//! With `[z, y, x]`, a stencil of radius 1 and tiles of `B` steps, `u[t, z, y, x]` is at
//!
//! ```text
//! ((z - t) P + (y - t) p + x) mod (N_z + B) P   with   p = N_x,  P = (N_y + B) p
//! ```
//!
//! a grid with a margin of the steps of a tile in every dimension but the fast one. Of bands of tiles that run at once,
//! these are the steps of all bands, or of one more than there are tiles in a band. Where rows themselves are cut,
//! `u[t, x]` is at `(x - t) mod (N + B)`. Where `J` rows run in one pass, column after column, what is read `r` rows
//! further back may be in the same pass and a later column: cells lean along rows as well, by what neighbours reach,
//! and what leaves the end of a row takes as many cells behind it, or one row more; or they lean by `J` rows, or by `J`
//! rows and one column. The less they lean, the fewer rows all steps of a tile touch.
//!
//! What rows read of their other end, as those of periodic boxes do, is alive until the row that reads it has ended: in
//! its place comes a row behind that one, or behind its pass.
//!
//! Cells that are alive together are at most `B` steps apart, so that rows and planes are long enough for two cells to meet
//! only where they differ by as many planes, rows and steps and by nothing else; that these are not alive together, the
//! checker proves. Found by a search, pitches would come out too small: what cells of one step need is less than what those
//! of a tile do.

use crease_program::Interval;

use crate::kernel::affine::{Affine, Term};
use crate::kernel::graph::{ArrayId, DimKind, Role, Schedule};
use crate::schedule::bands::steps_in_flight;
use crate::schedule::tile_of_steps::tile_of_steps;
use crate::sets::boxes::Boxed;
use crate::storage::placement::rounding::Grid;
use crate::storage::problem::Problem;

/// Coefficients and modulus.
pub(crate) type Leaning = (Vec<i64>, i64);

/// Leaning storage with the lean of the tiles, and against it; nothing where no dimension of space is cut into tiles, or a
/// cell is read more than one step later. First that with a margin of the bands that run at once where a front has a tile of
/// each, if that is less than that of all bands or there is no number of these; then that of the longest bands of steps.
pub(crate) fn leaning(problem: &Problem<'_, '_, '_>, array: ArrayId, extents: &[Option<i64>]) -> Vec<Vec<Leaning>> {
    let Some(found) = lean_of_tiles(problem, array) else { return Vec::new() };
    let few = found.at_once.and_then(|bands| {
        let rows = extents.get(bands.index).copied()??;
        let few = steps_in_flight(rows, (bands.steps, bands.width, bands.lean))?;
        (few < found.steps || found.steps == bands.steps).then_some(few)
    });
    few.into_iter().chain([found.steps]).map(|steps| with_margin(problem, array, extents, &found, steps)).collect()
}

/// Leaning storage with a margin of so many steps.
fn with_margin(
    problem: &Problem<'_, '_, '_>,
    array: ArrayId,
    extents: &[Option<i64>],
    found: &Lean,
    steps: i64,
) -> Vec<Leaning> {
    let Lean { lean, skew, fast_lean, slant, around, .. } = found;
    let (fast_lean, slant) = (*fast_lean, *slant);
    let fast = problem.fast_dimension(array);
    let grid = Grid::of(problem, array);
    let slant = if matches!(grid, Grid::Lines(_)) { slant } else { 0 };
    let mut leans = vec![lean.clone()];
    if skew != lean {
        leans.push(skew.clone());
    }
    let pass = pass_of(problem, array).filter(|pass| lean[pass.index] > 0);
    let at_least = |lean: &[i64], index: usize, rows: i64| -> Vec<i64> {
        lean.iter().enumerate().map(|(k, by)| if k == index { rows.max(*by) } else { *by }).collect()
    };
    if let Some(Pass { index, rows }) = pass {
        leans.push(at_least(lean, index, rows));
    }
    if let Some(around) = around {
        // Anything less is wrong: the next row, or the next pass, comes behind all that reads around the ends of this one.
        let behind_row = |k: usize| around[k].checked_add(pass.as_ref().map_or(1, |pass| pass.rows));
        let index = pass.as_ref().map(|pass| pass.index).or_else(|| (1..lean.len()).rev().find(|&k| lean[k] > 0));
        let Some((index, rows)) = index.and_then(|index| Some((index, behind_row(index)?))) else { return Vec::new() };
        leans.iter_mut().for_each(|lean| *lean = at_least(lean, index, rows));
        leans.dedup();
    }
    // Rows that lean as well are those of stencils with corners, and of passes over several rows. On a grid they lean by as
    // many cells as that has, of which a row needs as many behind it.
    let with_sign = |lean: &[i64], sign: i64, along: i64, (more_cells, more_rows): (i64, i64)| {
        let (mut gamma, mut pitch) = (vec![0; lean.len()], 1);
        gamma[fast] = 1;
        let (mut rows, mut step, mut more_rows) = (extents[fast]?.checked_add(more_cells)?, along, more_rows);
        for k in (1..lean.len()).rev().filter(|&k| k != fast) {
            let cleared = rows.checked_mul(pitch)?;
            pitch = grid.pitches(cleared).into_iter().max()?;
            gamma[k] = pitch;
            step = step.checked_add(lean[k].checked_mul(pitch)?)?;
            rows = extents[k]?.checked_add(lean[k].checked_mul(steps)?)?.checked_add(std::mem::take(&mut more_rows))?;
        }
        // Rows that begin some cells further back each step begin at multiples all the same.
        let further_back = grid.pitches(step.checked_mul(-sign)?.checked_sub(slant)?);
        gamma[0] = further_back.into_iter().max_by_key(|by| by.abs())?.checked_add(slant)?;
        let longer = gamma[0].checked_abs()?;
        let margin = steps.checked_mul(longer.checked_sub(step)?.checked_add(along)?)?;
        Some((gamma, grid.up(rows.checked_mul(pitch)?.checked_add(margin)?)?))
    };
    let mut found = Vec::new();
    for lean in &leans {
        let behind = grid.up(fast_lean.max(1)).unwrap_or(fast_lean);
        let along_rows = [(0, 0), (0, 1), (behind, 0)].map(|more| (fast_lean, more));
        for (along, more) in [(0, (0, 0))].into_iter().chain(along_rows.into_iter().filter(|_| fast_lean > 0)) {
            found.extend([1, -1].into_iter().filter_map(|sign| with_sign(lean, sign, along, more)));
        }
    }
    found.dedup();
    found
}

/// Whether the array is in tiles that such storage is for.
pub(crate) fn may_lean(problem: &Problem<'_, '_, '_>, array: ArrayId) -> bool {
    lean_of_tiles(problem, array).is_some()
}

/// Whether the margins of storage are what any storage takes, as far as is known: those of states in tiles that lean along
/// several dimensions, or that run at once, and of what lies between the stages of a step in bands of steps that run at once.
pub(crate) fn has_known_margins(problem: &Problem<'_, '_, '_>, array: ArrayId) -> bool {
    let schedule = problem.model.schedule;
    if problem.model.kernel.array(array).role == Role::Temp {
        let parallel = schedule.dims.iter().position(|kind| *kind == DimKind::Parallel);
        return parallel.is_some_and(|dim| tile_of_steps(schedule, dim).is_some());
    }
    let is_tile = |(kind, e): (&DimKind, &Affine)| *kind == DimKind::Parallel && e.has_floor();
    let at_once = schedule.times.iter().any(|time| schedule.dims.iter().zip(time).any(is_tile));
    lean_of_tiles(problem, array).is_some_and(|found| at_once || leaning_dimensions(&found.skew) > 1)
}

fn leaning_dimensions(lean: &[i64]) -> usize {
    lean.iter().filter(|lean| **lean > 0).count()
}

/// How tiles lean.
struct Lean {
    /// By how many cells a step, along each index but that of rows: what its own statement reads behind.
    lean: Vec<i64>,
    /// The same of the tiles, where they lean by more: neighbours may be read through arrays between.
    skew: Vec<i64>,
    /// How far rows reach ahead along themselves.
    fast_lean: i64,
    /// By how many cells a step rows of a tile begin further back.
    slant: i64,
    /// How far behind, along each index, what is read around the ends of rows is read at most, if anything is.
    around: Option<Vec<i64>>,
    /// The steps of a tile.
    steps: i64,
    /// The bands of steps that run at once, if there are any.
    at_once: Option<AtOnce>,
}

/// Bands of steps of which each follows the one before, one tile behind it.
#[derive(Clone, Copy)]
struct AtOnce {
    /// The steps of one of them.
    steps: i64,
    /// Along which index their tiles follow each other.
    index: usize,
    /// Cells of a tile along that.
    width: i64,
    /// By how many cells a step tiles lean.
    lean: i64,
}

impl AtOnce {
    /// Of a schedule with a parallel dimension of such bands, and a dimension before it of their sum with tiles along an index.
    fn of(schedule: &Schedule, times: &[Affine], index_of: impl Fn(&Affine) -> Option<(usize, i64)>) -> Option<AtOnce> {
        let parallel = schedule.dims.iter().position(|kind| *kind == DimKind::Parallel)?;
        let steps = tile_of_steps(schedule, parallel)?.size;
        let front = times[..parallel].last()?;
        floors(front).find_map(|(inner, width)| {
            let (index, lean) = index_of(inner)?;
            Some(AtOnce { steps, index, width, lean })
        })
    }
}

/// By how many cells a step each index leans, and the steps of a tile.
fn lean_of_tiles(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Option<Lean> {
    let (kernel, body) = (problem.model.kernel, problem.model.kernel.array(array));
    let n = body.index.len();
    if body.role != Role::State || kernel.state_depth(array) != 1 {
        return None;
    }
    let (mut tiled, mut lean, mut skew, mut steps) = (vec![false; n], vec![0_i64; n], vec![0_i64; n], 0);
    let (schedule, mut at_once, mut around) = (problem.model.schedule, None, None);
    let (fast, boxes) = (problem.fast_dimension(array), &problem.model.boxes);
    let row = problem.spans(array).ok().and_then(|spans| spans[fast].extent());
    for ((stmt, times), boxed) in kernel.stmts().iter().zip(&schedule.times).zip(boxes) {
        let boxed = boxed.as_ref();
        let Some(write) = stmt.assigns.iter().find(|assign| assign.array == array) else { continue };
        let iter_of = |k: usize| (0..stmt.iters.len()).find(|&iter| write.index[k].iter_coefficient(iter) == 1);
        for (inner, divisor) in times.iter().flat_map(floors) {
            let named = |k: &usize| iter_of(*k).is_some_and(|iter| inner.iter_coefficient(iter) != 0);
            let space: Vec<usize> = (1..n).filter(named).collect();
            space.iter().for_each(|&k| tiled[k] = true);
            if let ([k], Some(step)) = (space.as_slice(), iter_of(0)) {
                let along = iter_of(*k).map_or(0, |iter| inner.iter_coefficient(iter));
                skew[*k] = skew[*k].max(inner.iter_coefficient(step) / along.max(1));
            }
            steps = if space.is_empty() && named(&0) { steps.max(divisor) } else { steps };
        }
        let index_of = |inner: &Affine| {
            let along = |k: usize| iter_of(k).map_or(0, |iter| inner.iter_coefficient(iter));
            (1..n).find(|&k| along(k) == 1).map(|k| (k, along(0)))
        };
        at_once = at_once.or_else(|| AtOnce::of(schedule, times, index_of));
        for (_, read) in stmt.reads().filter(|(of, _)| *of == array) {
            let back = |k: usize| write.index[k].sub(&read[k]).ok().and_then(|back| back.as_constant()).unwrap_or(0);
            let is_around = reads_around(boxed, row, &write.index[fast], &read[fast]);
            for k in 1..n {
                lean[k] = lean[k].max(if is_around && k == fast { 0 } else { back(k) });
                if is_around {
                    let around = around.get_or_insert_with(|| vec![0; n]);
                    around[k] = around[k].max(back(k));
                }
            }
        }
    }
    let fast_lean = std::mem::take(&mut lean[fast]);
    lean.iter_mut().zip(&tiled).filter(|(_, is_tiled)| !**is_tiled).for_each(|(lean, _)| *lean = 0);
    let slant = std::mem::take(&mut skew[fast]);
    skew.iter_mut().zip(&lean).for_each(|(skew, lean)| *skew = (*skew).max(*lean));
    let leans = leaning_dimensions(&skew) > 0 || tiled[fast] && fast_lean > 0;
    (steps > 0 && leans).then_some(Lean { lean, skew, fast_lean, slant, around, steps, at_once })
}

/// Whether a statement on these boxes, writing at one place along rows of that length and reading at another, reads the
/// other end: as the first cell of a periodic row needs the last one.
fn reads_around(boxed: Option<&Boxed>, row: Option<i64>, write: &Affine, read: &Affine) -> bool {
    let Some((row, (first, rest))) = row.zip(boxed.and_then(|boxed| boxed.boxes.split_first())) else { return false };
    // Where a row begins or ends, its iterator is a number.
    let value = |(iter, range): (usize, &Interval)| match range.ends() {
        Some((low, high)) if low == high && rest.iter().all(|other| other.ranges()[iter] == *range) => {
            Affine::constant(low)
        }
        _ => Affine::iter(iter),
    };
    let values: Vec<Affine> = first.ranges().iter().enumerate().map(value).collect();
    let distance = write.sub(read).and_then(|distance| distance.substitute_iters(&values));
    distance
        .ok()
        .and_then(|distance| distance.as_constant())
        .is_some_and(|by| by.unsigned_abs() > row.unsigned_abs() / 2)
}

/// Rows that run in one pass of the lanes, column after column.
#[derive(Clone, Copy)]
pub(crate) struct Pass {
    /// Along which index of the array.
    pub(crate) index: usize,
    /// How many.
    pub(crate) rows: i64,
}

/// The rows of a pass, where all statements run some behind the lanes of a dimension.
pub(crate) fn pass_of(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Option<Pass> {
    let schedule = problem.model.schedule;
    let lanes = schedule.dims.iter().position(|kind| matches!(kind, DimKind::Vector(_)))?;
    let mut stmts = problem.model.kernel.stmts().iter().zip(&schedule.times);
    let (stmt, write, times) = stmts.find_map(|(stmt, times)| {
        let write = stmt.assigns.iter().find(|assign| assign.array == array)?;
        Some((stmt, write, times))
    })?;
    let (outer, inner) = times.split_at(lanes + 1);
    let iter = inner.iter().find_map(|time| (0..stmt.iters.len()).find(|&iter| time.iter_coefficient(iter) != 0))?;
    let index = write.index.iter().position(|e| e.iter_coefficient(iter) == 1)?;
    let mut cut = outer.iter().rev().flat_map(floors).filter(|(inner, _)| inner.iter_coefficient(iter) != 0);
    cut.next().map(|(_, rows)| Pass { index, rows })
}

/// What is divided, if a time is a floor and nothing else.
pub(crate) fn floor(time: &Affine) -> Option<&Affine> {
    let (inner, divisor) = floors(time).next()?;
    (inner.floor_div(divisor).ok()? == *time).then_some(inner)
}

/// Dividends and divisors of the floors of a time.
pub(crate) fn floors(time: &Affine) -> impl Iterator<Item = (&Affine, i64)> {
    time.terms().filter_map(|(term, _)| match term {
        Term::Floor(inner, divisor) => Some((&**inner, *divisor)),
        _ => None,
    })
}

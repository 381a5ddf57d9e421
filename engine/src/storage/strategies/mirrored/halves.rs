//! The halves of a folded index: which one it is, where they meet, and the statements that write and read their rows.
//!
//! In: an array under a schedule.   Out: [`Halves`], if one of its indices is run upwards in one part and downwards in
//! the part beyond it.

use crease_program::Interval;

use crate::kernel::affine::{Affine, Term};
use crate::kernel::graph::{ArrayId, Kernel, Role, Stmt};
use crate::schedule::bands::steps_in_flight;
use crate::storage::MappingError;
use crate::storage::problem::{Problem, Span};

use super::accesses::{Access, Accesses};
use super::lag::lags;

/// An index whose halves are run towards each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Halves {
    pub(super) index: usize,
    /// The last cell of the near half.
    pub(super) last_near: i64,
    /// How many rows behind the write of a row its last read is, or for how many the row of the next step that takes its
    /// place must wait, at least: in the near half and in the far one.
    pub(super) lags: [i64; 2],
    /// Steps that are read back: none where all reads are in the step of the write.
    pub(super) depth: i64,
    /// Steps of a tile.
    pub(super) steps: i64,
    /// Of bands of steps that run at once where a front has a tile of each, if fewer steps are in flight than they have
    /// together: those.
    pub(super) in_flight: Option<i64>,
    /// Where all rows of a tile are written before any is read.
    pub(super) tile: Option<Tile>,
}

/// The rows of the tiles that run between two barriers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    /// Rows in a step of all of them.
    pub(super) rows: i64,
    /// Rows by which each step lies before the one before.
    pub(super) lean: i64,
}

/// Where a statement writes and which way it runs there.
struct Sweep {
    cells: Interval,
    is_upwards: bool,
    /// Which component of time does.
    at: usize,
}

impl Halves {
    /// The halves of an array; none if it has none.
    pub(super) fn of(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Result<Option<Halves>, MappingError> {
        let (kernel, body) = (problem.model.kernel, problem.model.kernel.array(array));
        let depth = match body.role {
            Role::State => kernel.state_depth(array) as i64,
            Role::Temp => 0,
            _ => return Ok(None),
        };
        if !may_fold(kernel, array, &problem.model.schedule.times) {
            return Ok(None);
        }
        let Some(accesses) = Accesses::of(kernel, array, &problem.model.schedule.times, depth) else { return Ok(None) };
        for index in 1..body.index.len() {
            let Some((last_near, at)) = seam(&accesses, index) else { continue };
            let Some(lags) = lags(&accesses, (index, at), last_near)? else { return Ok(None) };
            let steps = steps_of_tiles(&accesses).max().unwrap_or(1);
            let tiles = Tiles::of(&accesses, (index, at));
            let in_flight = tiles.and_then(|tiles| tiles.in_flight(problem.spans(array).ok()?[index], last_near));
            let in_flight = in_flight.filter(|few| *few < steps);
            let tile = tiles.and_then(|tiles| tiles.between_barriers()).filter(|_| are_apart(&accesses, at));
            return Ok(Some(Halves { index, last_near, lags, depth, steps, in_flight, tile }));
        }
        Ok(None)
    }
}

/// The indices that are folded, each with the last cell of its near half.
pub(super) fn seams(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Vec<(usize, i64)> {
    let (kernel, body) = (problem.model.kernel, problem.model.kernel.array(array));
    let times = &problem.model.schedule.times;
    if body.role != Role::State || !may_fold(kernel, array, times) {
        return Vec::new();
    }
    let Some(accesses) = Accesses::of(kernel, array, times, kernel.state_depth(array) as i64) else {
        return Vec::new();
    };
    let seam = |index| seam(&accesses, index).map(|(last_near, _)| (index, last_near));
    (1..body.index.len()).filter_map(seam).collect()
}

/// The last cell of the near half of an index that is run upwards by some statements and downwards, beyond it, by others,
/// and the component of time that does; none if the index is not folded.
fn seam(accesses: &Accesses<'_>, index: usize) -> Option<(i64, usize)> {
    let sweeps = accesses.writes.iter().filter_map(|write| sweep(accesses, write, index)).collect::<Vec<_>>();
    let ends = |is_upwards: bool| {
        let cells = sweeps.iter().filter(move |sweep| sweep.is_upwards == is_upwards).map(|sweep| sweep.cells);
        cells.reduce(Interval::hull).and_then(Interval::ends)
    };
    let ((_, last_near), (first_far, _)) = ends(true).zip(ends(false))?;
    let at = sweeps[0].at;
    (last_near < first_far && sweeps.iter().all(|sweep| sweep.at == at)).then_some((last_near, at))
}

/// Whether some statement that writes the array runs against an iterator: a look that costs nothing.
fn may_fold(kernel: &Kernel, array: ArrayId, times: &[Vec<Affine>]) -> bool {
    let is_against = |(stmt, times): (&Stmt, &Vec<Affine>)| {
        stmt.assigns.iter().any(|assign| assign.array == array)
            && times.iter().any(|time| (0..stmt.iters.len()).any(|iter| time.iter_coefficient(iter) < 0))
    };
    kernel.stmts().iter().zip(times).any(is_against)
}

/// How a write sweeps an index; none if it does not, or along a fixed cell.
fn sweep(accesses: &Accesses<'_>, write: &Access<'_>, index: usize) -> Option<Sweep> {
    let (written, ranges) = (&write.index[index], &accesses.ranges[write.stmt]);
    let iter = (0..ranges.len()).find(|&iter| written.iter_coefficient(iter) == 1)?;
    let ahead = written.sub(&Affine::iter(iter)).ok()?.as_constant()?;
    let moving = accesses.times[write.stmt].iter().enumerate().map(|(at, time)| (at, time.iter_coefficient(iter)));
    let (at, direction) = moving.into_iter().find(|(_, by)| *by != 0)?;
    let cells = ranges[iter] + Interval::point(ahead);
    (direction.abs() == 1 && !cells.is_empty()).then_some(Sweep { cells, is_upwards: direction > 0, at })
}

/// Whether a position before the component of time that runs over rows tells a write from a read.
fn are_apart(accesses: &Accesses<'_>, at: usize) -> bool {
    let position = |access: &Access<'_>, k: usize| accesses.times[access.stmt].get(k).and_then(Affine::as_constant);
    let differ = |write: &Access<'_>, read: &Access<'_>| {
        (0..at).any(|k| matches!((position(write, k), position(read, k)), (Some(write), Some(read)) if write != read))
    };
    accesses.writes.iter().any(|write| accesses.last_reads.iter().any(|read| differ(write, read)))
}

/// Tiles of rows of a half.
#[derive(Clone, Copy)]
struct Tiles {
    width: i64,
    lean: i64,
    /// Steps of a band.
    steps: i64,
    /// Bands that run at once: as many as one kind of tiles of steps has of the other.
    bands: i64,
}

impl Tiles {
    /// The tiles of rows that are counted before the component of time that runs over rows.
    fn of(accesses: &Accesses<'_>, (index, at): (usize, usize)) -> Option<Tiles> {
        let write = accesses.writes.iter().find(|write| write.index[index].as_constant().is_none())?;
        let iter =
            (1..accesses.ranges[write.stmt].len()).find(|&iter| write.index[index].iter_coefficient(iter) != 0)?;
        let tiles = accesses.times[write.stmt].iter().take(at).flat_map(Affine::terms);
        let (width, lean) = tiles.into_iter().find_map(|(term, _)| match term {
            Term::Floor(inner, rows) if inner.iter_coefficient(iter) != 0 => Some((*rows, inner.iter_coefficient(0))),
            _ => None,
        })?;
        let steps = || steps_of_tiles(accesses);
        let (most, fewest) = (steps().max()?, steps().min()?);
        Some(Tiles { width, lean, steps: fewest, bands: most.checked_div(fewest)? })
    }

    /// The rows of those that run between two barriers.
    fn between_barriers(self) -> Option<Tile> {
        let bands = if self.lean > 0 { self.bands } else { 1 };
        Some(Tile { rows: self.width.checked_mul(bands)?, lean: self.lean })
    }

    /// By how many steps those that run at once differ, in the longer half of an index of these cells.
    fn in_flight(self, cells: Span, last_near: i64) -> Option<i64> {
        let (first, last) = cells.ends()?;
        let rows = last_near.checked_sub(first)?.checked_add(1)?.max(last.checked_sub(last_near)?);
        steps_in_flight(rows, (self.steps, self.width, self.lean))
    }
}

/// The steps of tiles of each kind: divisors of floors of the step alone.
fn steps_of_tiles(accesses: &Accesses<'_>) -> impl Iterator<Item = i64> {
    // A tile may begin at any step.
    let of_steps = |inner: &Affine| inner.sub(&Affine::iter(0)).is_ok_and(|rest| rest.is_of_params());
    let times = accesses.writes.iter().flat_map(|write| &accesses.times[write.stmt]).flat_map(Affine::terms);
    times.filter_map(move |(term, _)| match term {
        Term::Floor(inner, divisor) if of_steps(inner) => Some(*divisor),
        _ => None,
    })
}

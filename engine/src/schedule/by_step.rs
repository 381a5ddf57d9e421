//! Schedules by step, for calls of few steps on storage that was found for tiles whose steps run at once.
//!
//! In: a schedule such as `[floor(t/B), floor(y/h) + w t, t parallel, y, x vector(8)]`, the sizes of a kernel, a number
//! of threads.   Out: schedules that run a step after the other and share out what is inside each,
//! `[t, floor(y/h), y parallel, x vector(8)]`, the most promising first; or where its tiles of steps end.
//!
//! A step passes over the rows in the order of the tiles, so that storage which leans by some rows a step still holds:
//! a block of rows takes the place of one that is dead when the block before is done. Whether it does hold, and whether
//! the order is legal, is for the plan to say. What is shared out is the dimension with the most iterations inside a
//! block, or parts of the row itself.

use crate::kernel::affine::{Affine, AffineOverflow, Term};
use crate::kernel::graph::{DimKind, Kernel, ParamId, Schedule, Stmt};
use crate::kernel::points::bounding_box;
use crate::schedule::tile_of_steps::{TileOfSteps, depends_on_step_alone, tile_of_steps};
use crate::schedule::transform::TransformError;

/// Cells of a part of a row, at least, where rows are shared out: a few vectors in each turn of a strip. Shows in
/// `cargo run --release --example times_of_short_calls`.
const LEAST_PART_CELLS: i64 = 512;

/// What these schedules are called.
const BY_STEP: &str = "by_step";

/// A schedule whose tiles run their steps at once, one in parallel to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StepsAtOnce {
    /// The dimension that is the step, in parallel.
    dim: usize,
    /// None if there is one tile of all steps.
    tile: Option<TileOfSteps>,
}

impl StepsAtOnce {
    /// Of a schedule of a kernel with steps; none if it is of another kind.
    pub(crate) fn of(kernel: &Kernel, schedule: &Schedule) -> Option<StepsAtOnce> {
        kernel.step_param()?;
        let dim = schedule.dims.iter().position(|kind| *kind == DimKind::Parallel)?;
        let is_step =
            |time: &Vec<Affine>| time[dim].sub(&Affine::iter(0)).is_ok_and(|rest| rest.as_constant().is_some());
        if schedule.times.is_empty() || !schedule.times.iter().all(is_step) {
            return None;
        }
        let tile = (0..dim).find_map(|before| tile_of_steps(schedule, before));
        Some(StepsAtOnce { dim, tile })
    }

    /// Steps from the one after `from` to the end of its tile; none if it does not end.
    pub(crate) fn steps_to_end_of_tile(&self, from: i64) -> Option<i64> {
        self.tile?.steps_to_end(from)
    }

    /// Steps of a tile.
    pub(crate) fn tile_steps(&self) -> Option<i64> {
        self.tile.map(|tile| tile.size)
    }
}

/// The step before the first one of the last tile of time that a call from one step to another has, where all statements
/// run in tiles of steps, or by steps, first: another call may begin there, and neither is longer for it. Else, the step
/// from which the call starts.
pub(crate) fn start_of_last_tile(schedule: &Schedule, from: i64, to: i64) -> i64 {
    if schedule.dims.first() != Some(&DimKind::Sequential) || schedule.times.is_empty() {
        return from;
    }
    let is_step = |time: &Vec<Affine>| time[0].sub(&Affine::iter(0)).is_ok_and(|rest| rest.as_constant().is_some());
    match tile_of_steps(schedule, 0) {
        Some(tile) => tile.step_before(from, to).max(from),
        None if schedule.times.iter().all(is_step) => to.saturating_sub(1).max(from),
        None => from,
    }
}

/// The schedules by step for what runs steps at once, of a kernel in which `params` are the values of all parameters.
///
/// # Errors
/// [`TransformError::Overflow`] if a coefficient leaves 64 bits.
pub(crate) fn by_step(
    kernel: &Kernel,
    schedule: &Schedule,
    steps_at_once: StepsAtOnce,
    (params, threads): (&[i64], usize),
) -> Result<Vec<Schedule>, TransformError> {
    let base = one_after_the_other(schedule, steps_at_once.dim)?;
    let extents = Extents::of(kernel, params);
    let first_inside = base.dims.len() - (schedule.dims.len() - steps_at_once.dim - 1);
    let mut found: Vec<(i64, Schedule)> = Vec::new();
    for dim in first_inside..base.dims.len() {
        let iterations = extents.inside(&base, dim);
        let mut shared_out = base.clone();
        match base.dims[dim] {
            DimKind::Sequential => shared_out.dims[dim] = DimKind::Parallel,
            DimKind::Vector(_) => {
                let part = part_cells(iterations, threads);
                let kinds = [DimKind::Parallel];
                shared_out = base.with_dims_at(BY_STEP, dim, &kinds, |time| Ok(vec![time[dim].floor_div(part)?]))?;
                found.push((iterations / part, shared_out));
                continue;
            }
            DimKind::Parallel | DimKind::Overlapped => {}
        }
        found.push((iterations, shared_out));
    }
    let threads = i64::try_from(threads).unwrap_or(i64::MAX);
    found.retain(|(iterations, _)| *iterations > 1);
    // A stable order: of those with enough for all threads, the outermost one.
    found.sort_by_key(|(iterations, _)| -(*iterations).min(threads));
    Ok(found.into_iter().map(|(_, schedule)| schedule).collect())
}

/// Cells of a part of a row of this many.
fn part_cells(row: i64, threads: usize) -> i64 {
    let threads = i64::try_from(threads).unwrap_or(i64::MAX).max(1);
    ((row - 1).max(0) / threads + 1).max(LEAST_PART_CELLS)
}

/// The schedule with its steps first and one after the other: what a dimension before them owes to the step is left
/// out.
fn one_after_the_other(schedule: &Schedule, dim: usize) -> Result<Schedule, AffineOverflow> {
    let is_of_step = |before: usize| schedule.times.iter().all(|time| depends_on_step_alone(&time[before]));
    let kept: Vec<usize> = (0..dim).filter(|before| !is_of_step(*before)).collect();
    let inside = dim + 1..schedule.dims.len();
    let sequential = std::iter::repeat_n(DimKind::Sequential, 1 + kept.len());
    let dims = sequential.chain(schedule.dims[inside.clone()].iter().copied()).collect();
    let is_of_steps = |term: &Term| matches!(term, Term::Iter(0) | Term::Param(ParamId::FROM_STEP));
    let without_step = |value: &Affine| {
        let mut of_steps = value.terms().filter(|(term, _)| is_of_steps(term));
        of_steps.try_fold(value.clone(), |rest, (term, c)| rest.sub(&Affine::term(term.clone()).scale(c)?))
    };
    let mut times = Vec::with_capacity(schedule.times.len());
    for time in &schedule.times {
        let mut own = vec![time[dim].clone()];
        for &before in &kept {
            own.push(without_step(&time[before])?);
        }
        own.extend_from_slice(&time[inside.clone()]);
        times.push(own);
    }
    Ok(Schedule { name: BY_STEP.to_string(), dims, times })
}

/// How many values the iterators of each statement have.
struct Extents(Vec<Vec<i64>>);

impl Extents {
    fn of(kernel: &Kernel, params: &[i64]) -> Extents {
        let lengths = |(min, max): (i64, i64)| max.saturating_sub(min).saturating_add(1);
        let of_stmt = |stmt: &Stmt| {
            let found = bounding_box(&stmt.domain, stmt.iters.len(), params).ok().flatten();
            found.map_or_else(|| vec![0; stmt.iters.len()], |ranges| ranges.into_iter().map(lengths).collect())
        };
        Extents(kernel.stmts().iter().map(of_stmt).collect())
    }

    /// Iterations of a dimension, inside one block of each dimension before it: of the statement that has most.
    fn inside(&self, schedule: &Schedule, dim: usize) -> i64 {
        let of_stmt = |(time, extents): (&Vec<Affine>, &Vec<i64>)| {
            let iter = (0..extents.len()).find(|&iter| time[dim].iter_coefficient(iter) != 0)?;
            let blocks = time[..dim].iter().flat_map(Affine::terms).filter_map(|(term, _)| match term {
                Term::Floor(inner, size) if inner.iter_coefficient(iter) != 0 => Some(*size),
                _ => None,
            });
            Some(blocks.chain([extents[iter]]).min().unwrap_or(0))
        };
        schedule.times.iter().zip(&self.0).filter_map(of_stmt).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::tile_of_steps::tests::kernel;

    fn found(schedule: &str, n: i64, threads: usize) -> Vec<String> {
        let kernel = kernel(schedule);
        let tiles = &kernel.schedules()[0];
        let at_once = StepsAtOnce::of(&kernel, tiles).unwrap();
        let found = by_step(&kernel, tiles, at_once, (&[n, 100], threads)).unwrap();
        let text = |schedule| kernel.without_schedules().with_schedule(schedule).unwrap().to_string();
        let time = |text: String| text.lines().find(|l| l.contains("S ->")).unwrap().trim().to_string();
        found.into_iter().map(|schedule| time(text(schedule))).collect()
    }

    #[test]
    fn a_block_of_rows_is_shared_out_or_parts_of_its_rows() {
        let schedule = "[floor(t/8), floor(y/4) + 2*t, t parallel, y, x vector(8)]";
        assert_eq!(
            found(schedule, 4000, 2),
            [
                "S -> [t, floor(y/4), y parallel, x vector(8)]",
                "S -> [t, floor(y/4), y, floor(x/2000) parallel, x vector(8)]"
            ]
        );
        let of_calls = "[floor((t - _from - 1)/8), floor(y/4) + 2*t - 2*_from, t parallel, y, x vector(8)]";
        assert_eq!(found(of_calls, 4000, 2), found(schedule, 4000, 2));
        // Four rows are too few for sixteen threads, seven parts of a row are more.
        assert!(found(schedule, 4000, 16)[0].contains("floor(x/512) parallel"));
    }

    #[test]
    fn of_single_rows_parts_are_shared_out_if_they_are_long_enough() {
        let schedule = "[floor(t/8), y + 2*t, t parallel, x vector(8)]";
        assert_eq!(found(schedule, 4000, 2), ["S -> [t, y, floor(x/2000) parallel, x vector(8)]"]);
        assert!(found(schedule, 600, 2).is_empty());
    }

    #[test]
    fn the_last_tile_of_a_call_is_what_its_last_step_is_in() {
        let start = |schedule: &str, from, to| start_of_last_tile(&kernel(schedule).schedules()[0], from, to);
        assert_eq!(start("[t, y, x]", 3, 50), 49);
        assert_eq!(start("[floor(t/8), y + t, t, x]", 3, 50), 47);
        assert_eq!(start("[floor(t/8), y + t, t, x]", 48, 50), 48);
        assert_eq!(start("[floor(t/8), y + t, t, x]", 3, 47), 39);
        let of_calls = "[floor((t - _from - 1)/8), y + t - _from, t, x]";
        assert_eq!((start(of_calls, 3, 50), start(of_calls, 3, 51), start(of_calls, 3, 9)), (43, 43, 3));
        assert_eq!((start(of_calls, 3, 11), start(of_calls, 3, 12)), (3, 11));
        // Nothing says where a call could end.
        assert_eq!(start("[y + t, t, x]", 3, 50), 3);
        assert_eq!(start("[y parallel, t, x]", 3, 50), 3);
    }

    #[test]
    fn only_steps_in_parallel_are_steps_at_once() {
        let of = |schedule: &str| {
            let kernel = kernel(schedule);
            StepsAtOnce::of(&kernel, &kernel.schedules()[0])
        };
        assert_eq!(of("[t, y parallel, x]"), None);
        assert_eq!(of("[floor(t/8), floor(y/4) + 2*t, floor(t/2) parallel, t, y, x]"), None);
        assert_eq!(of("[y + 2*t, t parallel, x]"), Some(StepsAtOnce { dim: 1, tile: None }));
        let tiles = of("[floor((t+1)/8), y + 2*t, t parallel, x]").unwrap();
        assert_eq!(
            (tiles.tile_steps(), tiles.steps_to_end_of_tile(0), tiles.steps_to_end_of_tile(6)),
            (Some(8), Some(6), Some(8))
        );
        assert_eq!(tiles.steps_to_end_of_tile(5), Some(1));
        let of_calls = of("[floor((t - _from - 1)/8), y + 2*t - 2*_from, t parallel, x]").unwrap();
        assert_eq!((of_calls.tile_steps(), of_calls.steps_to_end_of_tile(5)), (Some(8), Some(8)));
    }
}

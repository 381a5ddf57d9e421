//! The shapes that schedules are found in.
//!
//! In: a kernel in its common space, its distances, its workload.   Out: candidates, from the simplest on. With the
//! dimensions `[t, y, x]`, where the `t` of tiles counts the steps of a call, from 0 (`restart`):
//!
//! - rows, `[t, y, x vector]`: statements are shifted until each row is used as soon as it is there; those of a kernel
//!   without steps of which each cell needs the same cell of the others alone share the lanes, `[y, x vector, stage]`;
//! - rows in parallel, `[t, y parallel, x vector]`, where nothing is left to be ordered within a step;
//! - columns, `[t, floor(x/w) parallel, y, x vector]`, where nothing goes along rows: a part of each for each thread;
//! - lanes along another dimension than the last, or in parts of a line, `[t, stage, floor(y/w) parallel, x, y vector]`
//!   (`across`), where need be in each iteration of another dimension, `[k, stage, floor(y/w) parallel, x, y vector]`; or
//!   along diagonals, `[t, floor(y/V), x + s y, y vector(V)]` (`diagonals`);
//! - overlapped tiles of a dimension, `[t, floor(y/h) overlapped, y, x vector]`, where statements of a step need each
//!   other's rows: each tile computes those of its neighbours that it needs by itself;
//! - one stage after the other, `[t, stage, y parallel, x vector]`, where statements of a step need each other's rows;
//! - stages at once, each some rows behind the one before: `[floor(y/h) + stage, stage parallel, y, x vector]`;
//! - skewed tiles, `[floor(t/B), floor((y + r t)/h), t, y, x vector]`, one after the other: a row is used for several
//!   steps while it is in a cache; on several threads the tiles of as many bands of `B` steps at once, or of some for
//!   each thread, each one tile behind the one before, `[floor(t/(P B)), floor(t/B) + floor((y + r t)/h), floor(t/B) parallel, t, y, x vector]`;
//!   of more bands than there are tiles in one, some begin as others end, and each thread stays where it is in space;
//! - skewed blocks, `[floor(t/B), floor((z + r t)/h), floor((y + r t)/w), t, z, y, x]`: tiles of two dimensions where
//!   planes are too large for a cache and each step reads the one before alone; on several threads as many rows of
//!   blocks at once, each one block behind the one before, `[floor(t/B), floor((z + r t)/(P h)), floor((z + r t)/h) +
//!   floor((y + r t)/w), floor((z + r t)/h) parallel, t, z, y, x]`, so that each thread marches along `y` beside what
//!   is in its cache. Whole diagonals of blocks would have as few barriers, but by the next one their edges are in no
//!   cache. Or each thread has the rows of blocks of a band of its own, each one row behind that of the band before,
//!   `[floor(t/(P B)), floor(t/B) + floor((z + r t)/h), floor(t/B) parallel, floor((y + r t)/w), t, z, y, x]`: no
//!   thread takes what another one is just writing, which takes long between cores that share no cache. Bands of a lattice
//!   are in a row: a thread goes on with a band of the next group as its own ends, `[floor(t/B) + floor((z + r t)/h) +
//!   D floor(t/(P B)), floor(t/B) parallel, floor(t/(P B)), floor((y + r t)/w), t, z, y, x]`. Where a step has stages, each
//!   of a block is behind those that it needs, `[.., t, stage, z, y, x]`;
//! - pipelined tiles, `[floor(t/B), floor(y/h) + w t, t parallel, y, x vector]`: the steps of a tile run at once, each
//!   some rows behind the one before. No thread waits for a tile to begin, and a value dies as soon as the step behind
//!   has passed, so that storage takes hardly more than one level;
//! - of a box that is folded in the middle, rows of the stages of a step, `[t, y, half, stage, x vector]`, and all tiles of
//!   time; of one that is folded in two dimensions, blocks. Where each cell is read once, as those of a lattice are, the
//!   halves, or quarters, of each step of a tile run one after the other, or at once, and hand on their ends alone,
//!   `[floor(t/B), floor((y + t)/h), t, half parallel, y, x vector]`;
//! - rows, skewed and pipelined tiles once more with several rows in one pass of the lanes, `[.., floor(y/4), x vector,
//!   y]`, where that saves loads (`passes`); blocks with rows of several planes, `[.., floor(z/4), y, x vector, z]`: what
//!   a pass goes on to read is in the first-level cache, as it is a few rows, where planes of a block would not fit.
//!
//! Sources: Wonnacott (2000) for skewed tiles; Wellein, Hager, Zeiser, Wittmann and Fehske, Efficient temporal blocking
//! for stencil computations by multicore-aware wavefront parallelization (COMPSAC 2009) for pipelined ones.

mod blocks;
mod skewed;

use std::collections::BTreeSet;

use crate::kernel::AUTOMATIC;
use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::graph::{DimKind, Kernel, Schedule};
use crate::schedule::automatic::Candidate;
use crate::schedule::automatic::chains::are_wanted_apart;
use crate::schedule::automatic::distances::Distance;
use crate::schedule::automatic::estimate::{Estimate, Tile, Workload};
use crate::schedule::automatic::fusion::{MOST_SHIFT, Open, Row};
use crate::schedule::automatic::passes::{MOST_OF_A_SWEEP_LEFT, ROWS_OF_A_PASS, in_passes, time_left};
use crate::schedule::automatic::space::CommonSpace;
use crate::schedule::pipelined::{Pipeline, behind_for, front};
use crate::schedule::restart::in_call;
use crate::schedule::skewed::lean_for;
use crease_program::Interval;
use skewed::AtOnce;

/// Steps of a tile that are tried.
const TILE_STEPS: [i64; 5] = [4, 8, 16, 32, 64];
/// Rows of a tile that are tried are powers of two up to this.
const MOST_TILE_ROWS: i64 = 1 << 16;

/// Cells of columns are a multiple of this: whole lines of the cache, so that no two threads write into one.
pub(super) const CELLS_OF_COLUMNS: i64 = 64;

/// All candidates.
///
/// # Errors
/// [`AffineOverflow`] if a coefficient leaves 64 bits.
pub(super) fn candidates(
    kernel: &Kernel,
    space: &CommonSpace,
    distances: &[Distance],
    workload: &Workload,
    params: &[i64],
) -> Result<Vec<Candidate>, AffineOverflow> {
    let shapes = Shapes { stmts: kernel.stmts().len(), space, distances, workload, passes: None };
    if workload.skips_cells() {
        // Storage of tiles of time in which statements skip cells takes integer sets more than a minute to find.
        let found = [shapes.rows(false), shapes.rows(true), shapes.stages(kernel, params)];
        return found.into_iter().filter_map(Result::transpose).collect();
    }
    let within = shapes.within_blocks(kernel, params);
    let mut found = vec![
        shapes.rows(false),
        shapes.rows(true),
        shapes.stages(kernel, params),
        shapes.staged_rows(),
        shapes.skewed(None),
        shapes.skewed(Some(AtOnce::Bands)),
        shapes.blocks(within.as_ref()),
        shapes.blocks_of_bands(within.as_ref()),
        shapes.pipelined(),
    ];
    for dim in shapes.outer()..shapes.last() {
        found.push(shapes.overlapped(kernel, dim));
    }
    // Where rows run in parallel, parts of them need not.
    if matches!(found[1], Ok(None)) {
        found.push(shapes.columns());
    }
    // Rows of a few cells that go on from one to the next are whole in one strip, not four in each.
    let in_passes = |dim: usize| -> Result<Option<(Workload, Passes)>, AffineOverflow> {
        let is_of_rows = (shapes.outer()..shapes.last()).contains(&dim) && !workload.has_short_rows;
        let left = if is_of_rows { time_left(kernel, space, workload, dim)? } else { None };
        Ok(left.map(|left| match shapes.outer() + 1 == shapes.last() {
            true => (workload.clone(), Passes { dim, left }),
            false => (workload.clone().with_work_left(left), Passes { dim, left: 1.0 }),
        }))
    };
    let nanoseconds = |found: &Found| found.as_ref().ok()?.as_ref().map(|found| found.estimate.nanoseconds);
    let pays = |rows: &Found, plain: Option<f64>| match (nanoseconds(rows), plain) {
        (Some(rows), Some(plain)) => rows <= plain * MOST_OF_A_SWEEP_LEFT,
        _ => true,
    };
    let plain = [nanoseconds(&found[0]), nanoseconds(&found[1])];
    if let Some((workload, passes)) = &in_passes(shapes.last().saturating_sub(1))? {
        let shapes = Shapes { workload, passes: Some(*passes), ..shapes };
        for (is_parallel, plain) in [false, true].into_iter().zip(plain) {
            let rows = shapes.rows(is_parallel);
            if pays(&rows, plain) {
                found.push(rows);
            }
        }
        found.extend([shapes.skewed(None), shapes.skewed(Some(AtOnce::Bands)), shapes.pipelined()]);
    }
    if let Some((workload, passes)) = &in_passes(shapes.outer())? {
        let shapes = Shapes { workload, passes: Some(*passes), ..shapes };
        found.extend([shapes.blocks(within.as_ref()), shapes.blocks_of_bands(within.as_ref())]);
    }
    found.into_iter().filter_map(Result::transpose).collect()
}

/// The candidate in lanes that are not along rows, where rows have none, or in parts of a line; in diagonals where no
/// dimension is free.
///
/// # Errors
/// As [`candidates`].
pub(super) fn not_along_rows(
    kernel: &Kernel,
    space: &CommonSpace,
    distances: &[Distance],
    workload: &Workload,
) -> Found {
    let shapes = Shapes { stmts: kernel.stmts().len(), space, distances, workload, passes: None };
    match shapes.across(kernel)? {
        Some(across) => Ok(Some(across)),
        None => shapes.diagonals(kernel),
    }
}

/// Candidates that go through the outermost dimension of space one by one: rows, where they have lanes, and stages within
/// each iteration, unless rows run in parallel.
///
/// # Errors
/// As [`candidates`].
pub(super) fn within_outermost(
    kernel: &Kernel,
    space: &CommonSpace,
    distances: &[Distance],
    workload: &Workload,
) -> Result<Vec<Candidate>, AffineOverflow> {
    let shapes = Shapes { stmts: kernel.stmts().len(), space, distances, workload, passes: None };
    let mut found = Vec::new();
    if workload.has_lanes() {
        found.extend([shapes.rows(false), shapes.rows(true)]);
    }
    if !matches!(found.last(), Some(Ok(Some(_)))) {
        found.push(shapes.across_within(kernel));
    }
    found.into_iter().filter_map(Result::transpose).collect()
}

/// Candidates for a dimension that is folded: tiles of time and, where a step has stages, rows of all of them; for two of
/// them blocks.
///
/// # Errors
/// As [`candidates`].
pub(super) fn in_halves(
    kernel: &Kernel,
    space: &CommonSpace,
    distances: &[Distance],
    workload: &Workload,
    params: &[i64],
) -> Result<Vec<Candidate>, AffineOverflow> {
    let shapes = Shapes { stmts: kernel.stmts().len(), space, distances, workload, passes: None };
    let within = shapes.within_blocks(kernel, params);
    let blocks = [shapes.blocks(within.as_ref()), shapes.blocks_of_parts(within.as_ref())];
    if space.halves.as_ref().is_some_and(|halves| halves.dims > 1) {
        // On one thread stencils in such blocks have 1.17 times the speed of rows at most, and less than it where rows are no
        // whole lines. Shows in `run heat-3d-periodic --schedule auto --threads 1`, of N = 250 and 256.
        if workload.threads < 2.0 && shapes.free_parts().is_none() {
            return Ok(Vec::new());
        }
        return blocks.into_iter().filter_map(Result::transpose).collect();
    }
    // What lies between the stages of a line is there as a whole, folded or not.
    let has_rows = !shapes.is_line() && distances.iter().any(|d| d.by[0] == Interval::point(0));
    let rows = if has_rows { shapes.rows(false) } else { Ok(None) };
    let tiles = [None, Some(AtOnce::Bands), Some(AtOnce::Parts)].map(|at_once| shapes.skewed(at_once));
    let found = [rows].into_iter().chain(tiles).chain(blocks).chain([shapes.pipelined()]);
    found.filter_map(Result::transpose).collect()
}

pub(super) type Found = Result<Option<Candidate>, AffineOverflow>;

pub(super) struct Shapes<'a> {
    pub(super) stmts: usize,
    pub(super) space: &'a CommonSpace,
    pub(super) distances: &'a [Distance],
    pub(super) workload: &'a Workload,
    /// If several rows are to run in one pass of the lanes, which.
    passes: Option<Passes>,
}

/// Rows that run in one pass of the lanes.
#[derive(Clone, Copy)]
struct Passes {
    /// The dimension that they follow each other in.
    dim: usize,
    /// What is left of the time: of a plane as much as of the arithmetic, as rows of a pass are also read from caches once
    /// for all of them. Of a cube they are mostly there, and the workload says what is left of its arithmetic.
    left: f64,
}

/// Time vectors while they are made: a dimension at a time.
pub(super) struct Draft {
    pub(super) dims: Vec<DimKind>,
    pub(super) times: Vec<Vec<Affine>>,
}

impl Draft {
    pub(super) fn new(stmts: usize) -> Draft {
        Draft { dims: Vec::new(), times: vec![Vec::new(); stmts] }
    }

    pub(super) fn push(&mut self, kind: DimKind, values: Vec<Affine>) {
        self.dims.push(kind);
        self.times.iter_mut().zip(values).for_each(|(time, value)| time.push(value));
    }

    pub(super) fn candidate(self, shape: String, estimate: Estimate) -> Candidate {
        let schedule = Schedule { name: AUTOMATIC.to_string(), dims: self.dims, times: self.times };
        Candidate { schedule, shape, estimate, cuts: Vec::new(), is_of_sizes: false }
    }
}

impl Shapes<'_> {
    /// The outermost dimension of space.
    pub(super) fn outer(&self) -> usize {
        usize::from(self.space.has_steps)
    }

    pub(super) fn last(&self) -> usize {
        self.space.names.len() - 1
    }

    /// Whether the outermost dimension of space is the last one.
    pub(super) fn is_line(&self) -> bool {
        self.outer() == self.last()
    }

    /// A dimension along which no statement is shifted.
    fn unshifted(&self, dim: usize) -> Row {
        Row::Dim { dim, shifts: vec![0; self.stmts] }
    }

    /// Tiles of time and space whose steps run at once.
    fn pipelined(&self) -> Found {
        let Some((shifts, mut open)) = self.within_step() else { return Ok(None) };
        let dim = self.outer();
        let estimate = |tile: &Tile| self.with_temps(self.workload.pipelined(dim, *tile), tile.steps, &shifts);
        let tile = |steps, width| Some(Tile { steps, width, lean: self.distance_in_tiles(&shifts, width)? });
        let Some(tile) = self.best_tile(tile, &estimate).filter(|_| self.workload.threads > 1.0) else {
            return Ok(None);
        };
        let estimate = estimate(&tile);
        let (steps, row) = (Row::Dim { dim: 0, shifts: vec![0; self.stmts] }, Row::Dim { dim, shifts });
        let (time, of_call) = (self.values(&steps)?, self.steps_of_call()?);
        let mut draft = Draft::new(self.stmts);
        draft.push(DimKind::Sequential, in_bands(&of_call, tile.steps)?);
        let pipeline = Pipeline { height: tile.steps, width: tile.width, behind: tile.lean };
        let behind = |row: &Affine, stmt: usize| front(&of_call[stmt], row, pipeline);
        draft.push(DimKind::Sequential, self.map(&row, behind)?);
        draft.push(DimKind::Parallel, time);
        if !self.inside(&mut draft, &mut open, &row, tile)? {
            return Ok(None);
        }
        let (steps, width) = (tile.steps, tile.width);
        let shape = format!("{steps} steps at once, in blocks of {width} of {}", self.space.names[dim]);
        self.candidate(draft, (tile.steps, 0), shape, estimate)
    }

    /// A candidate, in tiles of some steps; in passes if these are wanted, which then lean by `lean` rows a step.
    pub(super) fn candidate(
        &self,
        mut draft: Draft,
        (steps, lean): (i64, i64),
        shape: String,
        estimate: Estimate,
    ) -> Found {
        let Some(Passes { dim, left }) = self.passes else { return Ok(Some(draft.candidate(shape, estimate))) };
        // Of planes whose rows are read around their ends, a step takes the place of the one before as many rows away as a
        // pass has.
        let is_plane = self.outer() + 1 == self.last();
        let rows = self.workload.extents[dim];
        let more = if is_plane && self.reads_around() { (steps * ROWS_OF_A_PASS) as f64 } else { 0.0 };
        let Estimate { nanoseconds, bytes } = estimate;
        let estimate = Estimate { nanoseconds: nanoseconds * left, bytes: bytes * (1.0 + more / rows.max(1.0)) };
        let is_found = in_passes((&mut draft.dims, &mut draft.times), self.space, (dim, lean))?;
        let shape = format!("{shape}, {ROWS_OF_A_PASS} of {} in a pass", self.space.names[dim]);
        Ok(is_found.then(|| draft.candidate(shape, estimate)))
    }

    /// Whether cells of a row are read around its ends.
    fn reads_around(&self) -> bool {
        let (last, half) = (self.last(), self.workload.extents[self.last()] / 2.0);
        self.distances.iter().any(|d| d.by[last].max as f64 > half || (d.by[last].min as f64) < -half)
    }

    /// Shifts that order the statements of a step in the outermost dimension of space, and what these leave; none if
    /// the kernel has no steps, or a dependence is not known to point forwards in them.
    fn within_step(&self) -> Option<(Vec<i64>, Open<'_>)> {
        let mut open = Open::all(&self.space.alike, self.distances);
        if !self.space.has_steps || self.outer() > self.last() || self.distances.iter().any(|d| d.by[0].min < 0) {
            return None;
        }
        open.carry(0, &vec![0; self.stmts]);
        let shifts = open.shifts(self.outer())?;
        // What is shifted by whole planes makes no tiles.
        if shifts.iter().any(|&shift| shift > MOST_SHIFT) {
            return None;
        }
        open.carry(self.outer(), &shifts);
        Some((shifts, open))
    }

    /// The rows of a tile, and all within: false if that cannot be ordered.
    fn inside(&self, draft: &mut Draft, open: &mut Open<'_>, row: &Row, tile: Tile) -> Result<bool, AffineOverflow> {
        if self.is_line() {
            return self.along(draft, open, row);
        }
        if tile.width > 1 {
            draft.push(DimKind::Sequential, self.values(row)?);
        }
        Ok(self.half(draft, open)? && self.middle(draft, open)? && self.along_rows(draft, open)?)
    }

    /// Of a row of a folded dimension, one half, then the other one; where each needs the other, group after group of
    /// statements in halves. False if neither orders what is left.
    pub(super) fn half(&self, draft: &mut Draft, open: &mut Open<'_>) -> Result<bool, AffineOverflow> {
        let Some(halves) = &self.space.halves else { return Ok(true) };
        let Some(row) = open.halves(&halves.of) else { return Ok(false) };
        draft.push(DimKind::Sequential, self.values(&row)?);
        Ok(true)
    }

    /// The next row over a dimension, and what comes before it: groups, where shifts do not do. In front of rows of a few
    /// cells, which go on from one to the next if one strip has them all, what does not share its strip is apart.
    pub(super) fn next(&self, open: &mut Open<'_>, dim: usize) -> Option<Vec<Row>> {
        if dim + 1 == self.last() && self.workload.has_short_rows {
            let share = |row: &Row| matches!(row, Row::Dim { shifts, .. } if shifts.iter().all(|s| *s == shifts[0]));
            let is_shared = self.workload.has_rows_alike
                && open.clone().next(dim).is_some_and(|rows| rows.len() == 1 && rows.iter().all(share));
            if !is_shared && let Some(positions) = open.positions() {
                let rows = open.next(dim)?;
                return Some([positions].into_iter().chain(rows).collect());
            }
        }
        open.next(dim)
    }

    /// Dimensions between the outermost of space and the last.
    pub(super) fn middle(&self, draft: &mut Draft, open: &mut Open<'_>) -> Result<bool, AffineOverflow> {
        for dim in self.outer() + 1..self.last() {
            let Some(rows) = self.next(open, dim) else { return Ok(false) };
            for row in rows {
                draft.push(DimKind::Sequential, self.values(&row)?);
            }
        }
        Ok(true)
    }

    /// The positions that are left to be ordered, and the last dimension, in lanes if nothing depends on it.
    /// Where there are steps and nothing else, the positions are all.
    pub(super) fn along_rows(&self, draft: &mut Draft, open: &mut Open<'_>) -> Result<bool, AffineOverflow> {
        if self.outer() > self.last() {
            if let Some(positions) = open.positions() {
                draft.push(DimKind::Sequential, self.values(&positions)?);
            }
            return Ok(open.left().is_empty());
        }
        self.along(draft, open, &self.unshifted(self.last()))
    }

    fn along(&self, draft: &mut Draft, open: &mut Open<'_>, last: &Row) -> Result<bool, AffineOverflow> {
        let shifts = match last {
            Row::Dim { shifts, .. } => shifts.clone(),
            Row::Position(_) => vec![0; self.stmts],
        };
        // Rows of pipelines stay in registers from one stage to the next. Stages of a step have been seen to gain nothing,
        // as all their rows are in a cache (`crease run acoustic-2d --schedule auto --set T=400`, and `elastic-2d`).
        let shared = (!self.space.has_steps).then_some(shifts.as_slice());
        if let Some((before, behind)) = open.positions_around(self.last(), shared) {
            if let Some(before) = self.ends_first(before) {
                draft.push(DimKind::Sequential, self.values(&before)?);
            }
            draft.push(self.workload.along_rows(), self.values(last)?);
            if let Some(behind) = behind {
                draft.push(DimKind::Sequential, self.values(&behind)?);
            }
            return Ok(true);
        }
        // What is left runs along the row itself, cell after cell, but for groups of which nothing goes along it.
        let are_wanted = |free: &[bool]| are_wanted_apart(self.space, &self.workload.work_in_lanes, free);
        let Some((groups, row, in_lanes)) = open.cell_by_cell(self.last(), are_wanted) else { return Ok(false) };
        for group in &groups {
            draft.push(DimKind::Sequential, self.values(group)?);
        }
        let of = |row: &Row, wanted: bool| {
            self.map(row, |value, stmt| Ok(if in_lanes[stmt] == wanted { value.clone() } else { Affine::default() }))
        };
        draft.push(DimKind::Sequential, of(&row, false)?);
        if let Some(positions) = open.positions() {
            draft.push(DimKind::Sequential, self.values(&positions)?);
        }
        if in_lanes.contains(&true) {
            draft.push(DimKind::Vector(self.workload.lanes), of(&row, true)?);
        }
        Ok(open.left().is_empty())
    }

    /// Positions on a line: of one that is folded, one half of each stage before the other. Where a stage takes the place
    /// of what the other half of it reads, in the last step, the reader comes first: it stands at an end, and statements
    /// are in the order in which they begin.
    fn ends_first(&self, stages: Option<Row>) -> Option<Row> {
        let Some(halves) = self.space.halves.as_ref().filter(|_| self.is_line()) else { return stages };
        let stages = match stages {
            Some(Row::Position(positions)) => positions,
            _ => vec![0; self.stmts],
        };
        let crosses = |d: &&Distance| stages[d.from] == stages[d.to] && halves.of[d.from] != halves.of[d.to];
        let crossed: BTreeSet<i64> = self.distances.iter().filter(crosses).map(|d| stages[d.to]).collect();
        let first = |stmt: usize| if crossed.contains(&stages[stmt]) { halves.firsts[stmt] } else { 0 };
        let keys: Vec<_> = (0..self.stmts).map(|stmt| (stages[stmt], first(stmt), halves.of[stmt])).collect();
        let sorted: BTreeSet<_> = keys.iter().collect();
        Some(Row::Position(
            keys.iter().map(|key| sorted.iter().take_while(|other| **other < key).count() as i64).collect(),
        ))
    }

    /// The kind of a row, if one in parallel is wanted.
    pub(super) fn kind(&self, row: &Row, is_wanted: bool, open: &Open<'_>) -> DimKind {
        match row {
            Row::Dim { dim, shifts } if is_wanted && *dim >= self.outer() && open.is_parallel(*dim, shifts) => {
                DimKind::Parallel
            }
            _ => DimKind::Sequential,
        }
    }

    pub(super) fn advance(&self, open: &mut Open<'_>, row: &Row) {
        match row {
            Row::Dim { dim, shifts } => open.carry(*dim, shifts),
            Row::Position(_) => drop(open.groups()),
        }
    }

    /// What a row is for each statement.
    pub(super) fn values(&self, row: &Row) -> Result<Vec<Affine>, AffineOverflow> {
        self.map(row, |value, _| Ok(value.clone()))
    }

    pub(super) fn map(
        &self,
        row: &Row,
        value: impl Fn(&Affine, usize) -> Result<Affine, AffineOverflow>,
    ) -> Result<Vec<Affine>, AffineOverflow> {
        (0..self.stmts).map(|stmt| value(&self.value(row, stmt)?, stmt)).collect()
    }

    /// What a row is for a statement.
    pub(super) fn value(&self, row: &Row, stmt: usize) -> Result<Affine, AffineOverflow> {
        match row {
            Row::Dim { dim, shifts } => self.space.coordinates[stmt][*dim].add(&Affine::constant(shifts[stmt])),
            Row::Position(positions) => Ok(Affine::constant(positions[stmt])),
        }
    }

    /// Of each statement, the number of a step in its call, from 0.
    pub(super) fn steps_of_call(&self) -> Result<Vec<Affine>, AffineOverflow> {
        self.space.coordinates.iter().map(|coordinates| in_call(&coordinates[0])).collect()
    }

    /// By how many blocks a step must be behind the one before, to run at the same time.
    fn distance_in_tiles(&self, shifts: &[i64], width: i64) -> Option<i64> {
        let behind = |reach: (i64, i64)| behind_for(reach, width);
        reaches(self.distances, self.outer(), shifts)?.into_iter().map(behind).max().map(|lean| lean.max(1))
    }

    /// The tile with the smallest estimate.
    fn best_tile(&self, tile: impl Fn(i64, i64) -> Option<Tile>, estimate: &dyn Fn(&Tile) -> Estimate) -> Option<Tile> {
        let rows = self.workload.extents[self.outer()];
        // Integer sets take seconds for blocks of planes, and one plane is long enough.
        let inner = self.outer() + 1 < self.last();
        let widths = || widths(rows).take(if inner { 1 } else { usize::MAX });
        let tiles = TILE_STEPS.iter().flat_map(|&steps| widths().map(move |width| (steps, width)));
        tiles
            .filter(|(_, width)| self.passes.is_none() || inner || width % ROWS_OF_A_PASS == 0)
            .filter_map(|(steps, width)| tile(steps, width))
            .min_by(|a, b| estimate(a).cost().total_cmp(&estimate(b).cost()))
    }
}

/// By how many rows a step tiles of a dimension must lean, for nothing to come from a tile ahead.
pub(super) fn lean(distances: &[Distance], dim: usize, shifts: &[i64]) -> Option<i64> {
    reaches(distances, dim, shifts)?.into_iter().map(lean_for).max().map(|lean| lean.max(0))
}

/// Steps of each dependence, at least, and how far forwards it points in a dimension of space, at least; none if
/// that has no bound, or no tile is as large.
fn reaches(distances: &[Distance], dim: usize, shifts: &[i64]) -> Option<Vec<(i64, i64)>> {
    let reach = |d: &Distance| {
        let least = d.by[dim] + Interval::point(shifts[d.to]) - Interval::point(shifts[d.from]);
        Some((d.by[0].lower()?, least.lower().filter(|least| *least > -MOST_TILE_ROWS)?))
    };
    distances.iter().map(reach).collect()
}

/// The bands of so many steps: the first one begins with the first step of a call, so that calls of whole bands begin
/// none that they do not end, wherever they start.
fn in_bands(steps: &[Affine], height: i64) -> Result<Vec<Affine>, AffineOverflow> {
    steps.iter().map(|step| step.floor_div(height)).collect()
}

/// Numbers of rows that a block may have, of as many as there are.
pub(super) fn widths(rows: f64) -> impl Iterator<Item = i64> {
    (0..).map(|power| 1 << power).take_while(move |&width| width <= MOST_TILE_ROWS && width as f64 <= rows.max(1.0))
}

pub(super) fn count(stages: &Row) -> usize {
    match stages {
        Row::Position(positions) => positions.iter().max().map_or(1, |most| *most as usize + 1),
        Row::Dim { .. } => 1,
    }
}

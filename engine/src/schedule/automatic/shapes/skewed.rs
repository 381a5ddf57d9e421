//! Skewed tiles: tiles of time and of the outermost dimension of space.
//!
//! In: the shapes of a kernel.   Out: the candidates in such tiles, which differ in what runs at once.

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::graph::DimKind;
use crate::schedule::automatic::distances::Distance;
use crate::schedule::automatic::estimate::Tile;
use crate::schedule::automatic::fusion::Row;
use crate::schedule::automatic::passes::ROWS_OF_A_PASS;
use crate::schedule::automatic::shapes::{Draft, Found, MOST_TILE_ROWS, Shapes, in_bands, lean};
use crate::schedule::skewed::leaning_tile;
use crease_program::Interval;

/// Passes of a step of a tile in a plane, at most. With three and more, five points had 0.8 to 0.95 of their speed in
/// planes of 700^2 to 8000^2, though as much stays in the second-level cache; nine points, and cells of bytes, as much.
/// Shows in `run heat-2d-5pt --set N=1000 --set T=768 --threads 1`, with tiles of 32 steps by 8 and by 16 rows.
const PASSES_OF_A_TILE: i64 = 2;
/// Bands of a thread that are tried. With several, less is handed on from thread to thread, each row once for all bands
/// of a thread: between cores that share no cache, as those of two chiplets, that takes as long as the arithmetic. And
/// where some bands have ended and others have not begun, threads wait for less of the time. Shows in
/// `run heat-2d-5pt --schedule auto --threads 2 --set N=2000 --set T=800`.
const BANDS_OF_THREADS: [i64; 7] = [1, 2, 3, 4, 6, 8, MANY_BANDS];
/// So many begin as others end: a front has as many tiles as a band, and each thread goes on with its part of space.
const MANY_BANDS: i64 = 64;
/// Tiles that a front has for each thread, at least, of bands that are more: some are parts of tiles. Without this,
/// transport in a plane by three stages had 0.8 of its speed (medians of 4 in turn of builds with and without it, of
/// `run transport-2d-rk3 --schedule auto --threads 2 --set T=3000`).
const TILES_OF_A_THREAD: i64 = 4;

/// Folded lines have bands at once if as many as this of them are more than a core's own caches hold. Shows in
/// `run heat-1d-periodic --schedule auto --threads 2`, of N = 4000 and 20000.
const LEAST_AT_ONCE: f64 = 8.0;

/// What threads have at once, in tiles of time.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum AtOnce {
    /// Tiles of bands of steps that follow each other.
    Bands,
    /// Parts of a box that is folded in the middle, in each step of a tile.
    Parts,
}

impl Shapes<'_> {
    /// Tiles of time and space, one after the other, or those of some bands for each thread at once. Not of folded
    /// boxes with temporary arrays, of which each band takes tiles of its own, but for lines; nor where tiles need not
    /// lean: then threads need no bands, and storage of several is not found in one level. Or, of each step of a tile, the
    /// halves of a folded box.
    pub(super) fn skewed(&self, at_once: Option<AtOnce>) -> Found {
        let threads = self.workload.threads as i64;
        let of_bands = at_once == Some(AtOnce::Bands);
        let parts = self.free_parts().filter(|_| !self.is_line());
        let is_wanted = match at_once {
            None => true,
            Some(AtOnce::Bands) => {
                threads > 1 && (self.space.halves.is_none() || self.is_line() || !self.workload.has_temps())
            }
            Some(AtOnce::Parts) => threads > 1 && parts.is_some(),
        };
        if !is_wanted || !self.may_cut_rows(of_bands) {
            return Ok(None);
        }
        let Some((shifts, mut open)) = self.within_step() else { return Ok(None) };
        let dim = self.outer();
        let Some(lean) = lean(self.distances, dim, &shifts).filter(|lean| !of_bands || *lean > 0) else {
            return Ok(None);
        };
        // What is read around the end of a row is alive until the row has ended.
        let behind_row = i64::from(self.space.halves.is_none() && self.reads_around());
        let lag = match self.workload.is_replaced {
            true if self.is_lattice() => None,
            true => Some(0),
            false => Some(lag(self.distances, dim, &shifts) + behind_row),
        };
        let counts: &[i64] = if of_bands { &BANDS_OF_THREADS.map(|count| count * threads) } else { &[1] };
        let best = |&bands: &i64| {
            let tiles = |tile: &Tile| match at_once {
                Some(AtOnce::Parts) => self.workload.skewed_in_parts(dim, (*tile, lag)),
                _ => self.workload.skewed(dim, (*tile, lag), bands),
            };
            let estimate = |tile: &Tile| self.with_temps(tiles(tile), tile.steps, &shifts);
            // As many bands as run at once have a tile in a front, or there are several for each thread.
            let fewest = if of_bands { bands.min(TILES_OF_A_THREAD * threads) } else { 1 };
            let widest = (self.workload.extents[dim] as i64 / fewest).max(1).min(self.widest_in_passes(lean));
            // Of more steps than a call has, most bands are missing: those of a line are soon over.
            let fits_call =
                |steps: i64| !of_bands || self.is_line() || (steps * bands) as f64 <= self.workload.steps_of_call();
            // Of bands that begin as others end, storage of passes is not found in one level.
            let in_one_level = |tile: &Tile| {
                let few = self.workload.steps_in_flight(dim, *tile, bands as f64);
                self.passes.is_none() || few >= (tile.steps * bands) as f64
            };
            let tile = |steps, width| {
                Some(Tile { steps, width, lean })
                    .filter(|tile| width <= widest && fits_call(steps) && in_one_level(tile))
            };
            let tile = self.best_tile(tile, &estimate)?;
            Some((tile, bands, estimate(&tile)))
        };
        let found = counts.iter().filter_map(best).min_by(|(.., a), (.., b)| a.cost().total_cmp(&b.cost()));
        let Some((tile, bands, estimate)) = found else { return Ok(None) };
        let (steps, row) = (Row::Dim { dim: 0, shifts: vec![0; self.stmts] }, Row::Dim { dim, shifts });
        let (time, of_call) = (self.values(&steps)?, self.steps_of_call()?);
        let mut draft = Draft::new(self.stmts);
        let band = in_bands(&of_call, tile.steps)?;
        let leaning = |row: &Affine, stmt: usize| leaning_tile(&of_call[stmt], row, lean, tile.width);
        let tiles = self.map(&row, leaning)?;
        let (height, width) = (tile.steps * bands, tile.width);
        let mut shape = format!("skewed tiles of {} steps by {width} of {}", tile.steps, self.space.names[dim]);
        if at_once == Some(AtOnce::Parts) {
            shape += self.parts_at_once();
        }
        if of_bands {
            draft.push(DimKind::Sequential, in_bands(&of_call, height)?);
            let fronts = band.iter().zip(&tiles).map(|(band, tile)| band.add(tile));
            draft.push(DimKind::Sequential, fronts.collect::<Result<_, _>>()?);
            draft.push(DimKind::Parallel, band);
            shape += &format!(", {bands} at once");
        } else {
            draft.push(DimKind::Sequential, band);
            draft.push(DimKind::Sequential, tiles);
        }
        draft.push(DimKind::Sequential, time.clone());
        let is_found = match &parts {
            None => self.inside(&mut draft, &mut open, &row, tile)?,
            Some(parts) => {
                let first = if tile.width > 1 { dim } else { dim + 1 };
                self.in_parts(&mut draft, parts, at_once, first)?;
                self.along_rows(&mut draft, &mut open)?
            }
        };
        if !is_found {
            return Ok(None);
        }
        let lean = if dim + 1 == self.last() { tile.lean } else { 0 };
        let in_flight = self.workload.steps_in_flight(dim, tile, bands as f64) as i64;
        self.candidate(draft, (in_flight, lean), shape, estimate)
    }

    /// Whether each step reads those before alone, and mostly each cell once, by the instance that writes its own cell:
    /// storage takes one level in any order.
    fn is_lattice(&self) -> bool {
        self.workload.is_replaced && self.workload.is_at_own_cell && self.distances.iter().all(|d| d.by[0].min >= 1)
    }

    /// The parts of a folded box that nothing orders within a step, as those of a lattice. Of others a part would write over
    /// what another one reads of its ends.
    pub(super) fn free_parts(&self) -> Option<Row> {
        let halves = self.space.halves.as_ref().filter(|_| self.is_lattice());
        halves.map(|halves| Row::Position(halves.of.clone()))
    }

    /// What is said of parts that run at once.
    pub(super) fn parts_at_once(&self) -> &'static str {
        match &self.space.halves {
            Some(halves) if halves.dims > 1 => ", all quarters at once",
            _ => ", both halves at once",
        }
    }

    /// Free parts of a folded box, one after the other or at once, and their rows, from a dimension on: upwards, as they lie
    /// in memory. Downwards, lattices in space have 0.8 to 0.9 of the speed. Shows in `run lbm-d3q27-periodic --schedule auto
    /// --threads 1 --set N=200`.
    pub(super) fn in_parts(
        &self,
        draft: &mut Draft,
        parts: &Row,
        at_once: Option<AtOnce>,
        first: usize,
    ) -> Result<(), AffineOverflow> {
        let kind = if at_once == Some(AtOnce::Parts) { DimKind::Parallel } else { DimKind::Sequential };
        draft.push(kind, self.values(parts)?);
        let Some(halves) = &self.space.halves else { return Ok(()) };
        for dim in first..self.last() {
            draft.push(DimKind::Sequential, halves.upwards.iter().map(|of_stmt| of_stmt[dim].clone()).collect());
        }
        Ok(())
    }

    /// Whether tiles, which cut rows of a line into strips, may save any time: not of what a cache of the core holds
    /// anyway. Twice as many strips are cut where halves are apart. Shows in
    /// `run engine/tests/filetests/automatic/long_ring.crk --schedule auto`, of N = 1000 to 100000.
    fn may_cut_rows(&self, at_once: bool) -> bool {
        match (&self.space.halves, at_once) {
            _ if !self.is_line() => true,
            (None, _) => !self.workload.is_in_first_cache(),
            (Some(_), false) => !self.workload.is_in_own_cache(1.0),
            (Some(_), true) => !self.workload.is_in_own_cache(LEAST_AT_ONCE),
        }
    }

    /// Rows of a tile whose steps lean by some, at most, where rows of a plane run in passes.
    pub(super) fn widest_in_passes(&self, lean: i64) -> i64 {
        let is_plane = self.outer() + 1 == self.last();
        if self.passes.is_some() && is_plane {
            (PASSES_OF_A_TILE * ROWS_OF_A_PASS).max(2 * PASSES_OF_A_TILE * lean)
        } else {
            MOST_TILE_ROWS
        }
    }
}

/// By how many rows a step a state moves in storage: as far as rows of one step are read behind themselves by the next.
fn lag(distances: &[Distance], dim: usize, shifts: &[i64]) -> i64 {
    let behind = |d: &Distance| {
        let by = d.by[dim] + Interval::point(shifts[d.to]) - Interval::point(shifts[d.from]);
        by.upper()?.checked_div(d.by[0].lower()?)
    };
    distances.iter().filter_map(behind).max().unwrap_or(0).clamp(0, MOST_TILE_ROWS)
}

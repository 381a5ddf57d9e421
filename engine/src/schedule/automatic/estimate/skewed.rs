//! What skewed tiles are thought to cost: tiles of time and of the outermost dimension of space.
//!
//! In: a workload, a tile, how many bands of tiles run at once.   Out: nanoseconds of a step, and bytes. Rows of a step of
//! a tile are to be in a core's own caches; what the tile leans over comes in order, from wherever it is.

use crate::schedule::automatic::estimate::{
    BARRIER_NS, Estimate, FRONT_NS, HANDED_ON_RATE, MEMORY_CORES, MEMORY_RATE, PARTS_NS, SECOND_LEVEL_RATE, Workload,
    overlapped,
};
use crate::schedule::bands::steps_in_flight;

/// Of the time of a tile, what threads wait for each other where each has one at a time. Shows in `run heat-2d-5pt --set
/// N=1000 --set T=7680 --threads 2`, with tiles of 32 steps, four at once, and of 64 steps, two at once.
const LATE: f64 = 0.18;
/// Of the last steps of a call, which fill no bands, the part in which threads wait. Shows in
/// `run heat-2d-5pt --set N=4000 --set T=100 --threads 2`, with tiles of 32 steps, four at once, and of 16 steps, six at
/// once.
const UNEVEN: f64 = 0.3;
/// The part that shows of taking rows between steps of tiles, and those that the tile before has left, from a last cache that
/// is far, or from memory. Shows on processors of Intel in `run heat-2d-5pt --schedule auto --set N=4000 --set T=192`, with
/// tiles of 16 and of 64 steps, and in `run gray-scott-periodic --schedule auto --threads 1 --set N=2048`, with 8 and 32.
const SHOWING_FROM_FAR: f64 = 0.8;

/// Tiles of time and the outermost dimension of space.
#[derive(Clone, Copy, Debug)]
pub(in crate::schedule::automatic) struct Tile {
    /// Steps in a tile.
    pub(in crate::schedule::automatic) steps: i64,
    /// Rows, or planes, in a tile.
    pub(in crate::schedule::automatic) width: i64,
    /// By how much tiles lean: in rows a step, or in tiles a step where these are pipelined.
    pub(in crate::schedule::automatic) lean: i64,
}

impl Workload {
    /// Nanoseconds of a step in tiles that run one after the other, of so many bands at once, and bytes of states that each
    /// step moves by `lag` rows in storage; none where each cell takes the place of one that it is computed from.
    pub(in crate::schedule::automatic) fn skewed(
        &self,
        dim: usize,
        (tile, lag): (Tile, Option<i64>),
        bands: i64,
    ) -> Estimate {
        let (steps, width, lean, bands) = (tile.steps as f64, tile.width as f64, tile.lean as f64, bands as f64);
        let (rows, height) = (self.extents[dim], steps * bands);
        let row = self.bytes_in_tiles(dim) / rows;
        // Of what leans in storage too, a tile touches as many rows more.
        let held = (width + (lean + lag.unwrap_or(0) as f64) * steps + 2.0) * row;
        let in_tiles = (rows + lean * steps) / width;
        let tiles = in_tiles.ceil();
        let work = self.all_work() + self.cuts(dim, tiles);
        let (left, beside) = self.rows_beside(lean);
        let more = left / width;
        let bytes = 2.0 * self.bytes_in_tiles(dim);
        let in_use = (width + beside) * row;
        let is_in_first_level = self.is_in_first_level(dim, in_use);
        let inside = |threads: f64, work: f64| {
            let moving = self.moving(bytes, in_use * threads, threads) + self.planes_again(threads);
            if is_in_first_level { moving.min(work) } else { moving }
        };
        // The first band takes from memory.
        let between = self.moving(2.0 * self.step_bytes(), self.step_bytes(), 1.0) / height;
        if bands <= 1.0 {
            let between = between * self.begun(steps);
            let across = (bytes * more, held, 1.0);
            let nanoseconds = self.with_rows_between(&[work, inside(1.0, work)], across, between);
            let bytes = self.step_bytes() + self.state_bytes * lag.unwrap_or(0) as f64 * steps / rows;
            return Estimate { nanoseconds, bytes };
        }
        let all_threads = self.threads.min(bands);
        // The last tile of a band may be a part of one, and takes its turn like the others.
        let threads = bands * in_tiles / turns(tiles, bands, all_threads);
        // Rows by which a band is behind the one before.
        let behind = lean * steps + width;
        let threads = threads.min(of_parts(rows / behind, all_threads));
        // A thread that is late keeps others waiting, the less the more tiles each has until then. Chains of cells take as
        // long on each of them.
        let late = LATE * all_threads / bands;
        let work = work + late * self.work_in_lanes.iter().sum::<f64>().min(work);
        let of_threads = (1.0 + late) * all_threads / threads;
        let inside = inside(all_threads, work / all_threads) * of_threads;
        let across = (bytes * more * of_threads, held * bands.min(tiles), all_threads);
        // Each other band takes from the one before: of another core, or of its own, which has run all of its bands since.
        let handed_on = self.state_bytes * (1.0 + more) / HANDED_ON_RATE / height * (all_threads - 1.0) / all_threads;
        let taken = 2.0 * self.state_bytes * (1.0 + more) * (bands - all_threads) / height;
        let handed_on = handed_on + self.moving(taken, held * bands.min(tiles), all_threads);
        // Fronts in which no band begins, as one begins in each of `tiles + bands - 1` others: these take a barrier each.
        let between_bands = (bands - 1.0) * (behind / width - 1.0);
        let barriers = ((tiles + bands - 1.0) * FRONT_NS + between_bands * BARRIER_NS) / height;
        // The last steps of a call are shared out among threads, not evenly, and take all the rest once more.
        let begun = self.begun(height);
        let work = work / threads * (1.0 + (begun - 1.0) * UNEVEN);
        let nanoseconds =
            self.with_rows_between(&[work, inside], across, between * begun) + (handed_on + barriers) * begun;
        // Bands that follow each other have a margin of their steps in storage.
        let leaning = lag.map_or(0.0, |lag| lean.max(lag as f64));
        let margin = leaning * self.steps_in_flight(dim, tile, bands);
        let bytes = self.state_bytes * (1.0 + margin / rows) + self.given_bytes;
        Estimate { nanoseconds, bytes }
    }

    /// Nanoseconds of a step in tiles that run one after the other, of each step of which two threads have a half of a folded
    /// box each.
    pub(in crate::schedule::automatic) fn skewed_in_parts(
        &self,
        dim: usize,
        (tile, lag): (Tile, Option<i64>),
    ) -> Estimate {
        let (steps, width, lean) = (tile.steps as f64, tile.width as f64, tile.lean as f64);
        let (rows, threads) = (self.extents[dim], self.threads.min(2.0));
        let row = self.bytes_in_tiles(dim) / rows;
        let tiles = ((rows + lean * steps) / width).ceil();
        let (left, beside) = self.rows_beside(lean);
        let more = left / width;
        let bytes = 2.0 * self.bytes_in_tiles(dim);
        let work = self.all_work() / threads;
        let inside = self.moving(bytes, (width + beside) * row, threads) + self.planes_again(threads);
        let held = (width + (lean + lag.unwrap_or(0) as f64) * steps + 2.0) * row;
        let across = (bytes * more, held, threads);
        let between = self.moving(2.0 * self.step_bytes(), self.step_bytes(), threads) * self.begun(steps) / steps;
        let nanoseconds = self.with_rows_between(&[work, inside], across, between) + tiles * PARTS_NS;
        Estimate { nanoseconds, bytes: self.step_bytes() + self.state_bytes * lag.unwrap_or(0) as f64 * steps / rows }
    }

    /// Rows of a step of a tile beside as many as the tile is wide: those that the tile before has left, and all that
    /// are in use. Where each row takes the place of what is read, these are the same.
    fn rows_beside(&self, lean: f64) -> (f64, f64) {
        if self.is_replaced { (lean, lean) } else { (2.0 * lean, 2.0 * lean + 2.0) }
    }

    /// Whether as much of a line, or of its tiles, stays in the first-level cache, out of which cells come as fast as they are
    /// computed. So they do out of the second-level one, but before a last one that is far. In a plane, rows of such tiles
    /// are too short. Shows on processors of Intel in `run heat-1d --schedule auto --threads 1`, of N = 8192 and 100000, in
    /// `run wave-1d --schedule auto --threads 1`, of N = 2000, and in `run poisson-2d-jacobi --schedule auto --threads 1`,
    /// of N = 257.
    pub(super) fn is_in_first_level(&self, dim: usize, bytes: f64) -> bool {
        self.is_last_level_far && dim + 1 == self.extents.len() && bytes <= self.first_level_bytes
    }

    /// Nanoseconds of what is done at the same time, of taking rows that the tile before has left, so many bytes, of as many
    /// that are held, by so many threads, and of what comes between steps of tiles. Rows come in order: a last cache that is
    /// near has them in time like a core's own.
    fn with_rows_between(&self, parts: &[f64], (bytes, held, threads): (f64, f64, f64), between: f64) -> f64 {
        if self.is_last_level_far {
            let [own, last, memory] = self.moved_from(bytes, held, threads);
            return overlapped(&[parts, &[own]].concat()) + (last + memory + between) * SHOWING_FROM_FAR;
        }
        let kept = (self.last_level_bytes / held.max(1.0)).powi(2).min(1.0);
        let near = kept * bytes / (SECOND_LEVEL_RATE * threads);
        let across = near + (1.0 - kept) * bytes / (MEMORY_RATE * threads.min(MEMORY_CORES));
        overlapped(&[parts, &[across, between]].concat())
    }

    /// By how many steps rows differ that run at once, at most, of so many bands.
    pub(in crate::schedule::automatic) fn steps_in_flight(
        &self,
        dim: usize,
        Tile { steps, width, lean }: Tile,
        bands: f64,
    ) -> f64 {
        let all = steps as f64 * bands;
        steps_in_flight(self.extents[dim] as i64, (steps, width, lean)).map_or(all, |few| all.min(few as f64))
    }
}

/// How many times threads run a tile each, if as many bands of tiles begin and end one after the other: a front has one
/// tile more than the one before until all bands have begun, or the first one has no more. In between, as many tiles run as
/// there are bands: where a box is too low for that, [`of_parts`] tells how many threads have work.
pub(super) fn turns(tiles: f64, bands: f64, threads: f64) -> f64 {
    let most = tiles.min(bands);
    // Those of fronts of 1, 2, .. tiles, of fewer than the most.
    let (whole, left) = (((most - 1.0) / threads).floor(), (most - 1.0) % threads);
    let of_ramp = threads * whole * (whole + 1.0) / 2.0 + left * (whole + 1.0);
    2.0 * of_ramp + ((tiles - bands).abs() + 1.0) * (most / threads).ceil()
}

/// How many threads have work at a time, on average, where a band is so many rows behind the one before that a box is
/// `bands` of these high. Tiles grow and shrink while they lean over its first and last rows: of a low box, all do. So a
/// front takes as long as the largest of a few tiles, or as all of them on all threads.
fn of_parts(bands: f64, threads: f64) -> f64 {
    // In parts of a whole tile, on average over the fronts of a band, where one tile shrinks while the next one grows.
    let largest = match bands {
        low if low < 1.0 => low - low.powi(2) / 4.0,
        high => 1.0 - (2.0 - high).max(0.0).powi(2) / 4.0,
    };
    bands / largest.max(bands / threads)
}

#[cfg(test)]
mod tests {
    use super::{of_parts, turns};

    /// Fronts of bands, one after the other, in many small rows.
    #[test]
    fn parts_of_tiles_have_work_for_fewer_threads() {
        let counted = |rows: i64, apart: i64, threads: f64| {
            let up_to = |front: i64| front.clamp(0, apart) as f64;
            let tile = |front: i64| up_to(front) - up_to(front - rows);
            let front = |front: i64| -> [f64; 2] {
                let all = (0..=rows / apart + 2).map(|band| tile(front + band * apart));
                all.fold([0.0, 0.0], |[sum, most], work| [sum + work, work.max(most)])
            };
            let of_front = |at: i64| front(at)[1].max(front(at)[0] / threads);
            (0..apart).map(|at| front(at)[0]).sum::<f64>() / (0..apart).map(of_front).sum::<f64>()
        };
        for (rows, threads) in [(20, 2.0), (50, 2.0), (100, 2.0), (150, 2.0), (200, 2.0), (900, 2.0), (500, 4.0)] {
            let (found, wanted) = (of_parts(rows as f64 / 100.0, threads), counted(rows, 100, threads));
            assert!((found / wanted - 1.0).abs() < 0.02, "{rows} rows: {found}, counted {wanted}");
        }
    }

    #[test]
    fn turns_are_those_of_fronts_that_grow_and_shrink() {
        let counted = |tiles: i64, bands: i64, threads: i64| -> f64 {
            let active = |front: i64| (front + 1).min(tiles).min(bands).min(tiles + bands - 1 - front);
            (0..tiles + bands - 1).map(|front| (active(front) as f64 / threads as f64).ceil()).sum()
        };
        for (tiles, bands, threads) in
            [(9, 2, 2), (9, 8, 2), (5, 16, 2), (17, 16, 4), (1, 4, 2), (12, 12, 5), (7, 3, 3)]
        {
            let found = turns(tiles as f64, bands as f64, threads as f64);
            assert_eq!(found, counted(tiles, bands, threads), "{tiles} tiles, {bands} bands, {threads} threads");
        }
    }
}

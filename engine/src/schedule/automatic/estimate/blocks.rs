//! What blocks are thought to cost: tiles of time and of the two outermost dimensions of space.
//!
//! In: a workload, a block.   Out: nanoseconds of a step, and bytes. What a block takes from memory is not hidden behind
//! its arithmetic, as nearly all of it comes in its first step; what others have left in a cache is, like all else.

use crate::schedule::automatic::estimate::skewed::turns;
use crate::schedule::automatic::estimate::{
    BARRIER_NS, Estimate, HANDED_ON_RATE, LAST_LEVEL_RATE, PARTS_NS, SHOWING, Tile, Workload, overlapped,
};
use crate::schedule::bands::{Groups, groups};

/// Bytes a nanosecond from a core that is just writing to one that takes each line as soon as it is written, and writes
/// there. Shows in `run heat-3d-7pt --schedule auto --threads 2 --set N=300 --set T=64`.
const JUST_WRITTEN_RATE: f64 = 0.6;
/// The part that shows of what blocks take from memory, or from a core that is just writing it: most of it in the first
/// step of a block, beside whose arithmetic it does not fit. Shows in `bench --suite tiles --kernel heat-3d-7pt`.
const SHOWING_BETWEEN: f64 = 0.6;

/// Fronts of each group of bands in a row that a thread waits for others, as tiles take longer here than there. Shows in `run
/// lbm-d3q19-cavity --schedule auto --threads 2 --load`, of N = 44 to 128, with tiles of 8 and of 16 rows.
const FRONTS_WAITED: f64 = 1.0;

/// Rows of a lattice, of which a step of a block reads each once and in order, come from a last cache that is near as from
/// a core's own if they are no more than this many times what that holds. Shows in `run lbm-d3q19-cavity --schedule auto
/// --threads 1 --set N=200`, with blocks of 4 by 4, 8 by 8 and 32 by 8 rows, on processors of AMD; on those of Intel, blocks
/// of 8 by 4 rows, which a core's own cache holds, run there in 0.8 of the time of 16 by 8.
const ROWS_AHEAD: f64 = 4.0;

/// Tiles of time and the two outermost dimensions of space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// Steps in a tile.
    pub(crate) steps: i64,
    /// Rows of both dimensions in a tile.
    pub(crate) widths: (i64, i64),
    /// By how many rows a step tiles lean in both.
    pub(crate) leans: (i64, i64),
    /// Rows of blocks that run at once, at most, each one block behind the one before.
    pub(crate) at_once: i64,
    /// Whether each step takes the place of the one before, cell by cell.
    pub(crate) is_in_place: bool,
}

/// What a step in blocks takes in cache.
struct InBlock {
    /// Rows that a tile takes from tiles before it along the outer dimension, for each row of its own.
    edges: f64,
    /// Nanoseconds of moving what a step of a tile works on.
    inside: f64,
    /// Nanoseconds of taking edges along the inner dimension, for all steps of a tile.
    shared: f64,
}

impl Workload {
    /// Nanoseconds of a step in blocks, one after the other on one thread, on several in rows of blocks at once.
    pub(crate) fn blocks(&self, block: &Block) -> Estimate {
        let nanoseconds = match self.threads > 1.0 && self.hands_on_in_last_cache() {
            true => self.blocks_out_of_last_cache(block),
            false => self.blocks_just_written(block),
        };
        Estimate { nanoseconds, bytes: self.in_blocks(block, block.steps as f64) }
    }

    /// The same, where the next core takes what another one is just writing.
    fn blocks_just_written(&self, block: &Block) -> f64 {
        let threads = self.rows_at_once(block) as f64;
        let of_tile = self.of_block(block, threads, threads);
        let (rows, inner_rows) = (self.blocks_along(block, 0), self.blocks_along(block, 1));
        // Each front has a tile for each thread, but where rows of blocks begin and end. The last of them may be parts.
        let fronts = (rows / threads).ceil() * (inner_rows.ceil() + threads - 1.0);
        let work = self.all_work() * if threads > 1.0 { fronts / (rows * inner_rows) } else { 1.0 };
        // The first of the rows at once takes its edges from memory, each other one from the core of the one before.
        let moved = 2.0 * self.step_bytes() * (1.0 + of_tile.edges / threads);
        let handed_on = self.state_bytes * of_tile.edges * (threads - 1.0) / (threads * threads) / JUST_WRITTEN_RATE;
        // The last tile of a call may have fewer steps, which costs no work of any thread.
        let begun = self.begun(block.steps as f64) / block.steps as f64;
        let between = (self.showing_between(moved, threads) + handed_on * SHOWING_BETWEEN) * begun;
        let waiting = if threads > 1.0 { fronts * BARRIER_NS * begun } else { 0.0 };
        self.with_edges(&[work, of_tile.inside], of_tile.shared * begun) + between + waiting
    }

    /// The same, where what a core writes is in a last cache of all cores when the next one takes it.
    fn blocks_out_of_last_cache(&self, block: &Block) -> f64 {
        let at_once = self.rows_at_once(block) as f64;
        let threads = at_once.min(self.threads);
        let of_tile = self.of_block(block, threads, threads);
        let busiest = self.of_busiest_thread(block, threads);
        let (work, inside) = (self.all_work() * busiest, of_tile.inside * busiest * threads);
        let begun = self.begun(block.steps as f64) / block.steps as f64;
        let shared = of_tile.shared * busiest * threads * begun;
        // The first of the rows at once takes its edges from memory, and a front is as long as that row, with those of the
        // same thread, or as those of another thread.
        let edges = of_tile.edges / at_once;
        let first = self.showing_between(2.0 * self.step_bytes() * edges, 1.0);
        let other = self.state_bytes * edges / self.handed_on_rate() * SHOWING_BETWEEN;
        let edges = first.max(other) + other * ((at_once / threads).ceil() - 1.0);
        let between = (self.showing_between(2.0 * self.step_bytes(), threads) + edges) * begun;
        let (rows, tiles) = (self.blocks_along(block, 0).ceil(), self.blocks_along(block, 1).ceil());
        let fronts = (rows / at_once).ceil() * (tiles + at_once - 1.0);
        self.with_edges(&[work, inside], shared) + between + fronts * BARRIER_NS * begun
    }

    /// The part of all work in blocks that the busiest thread has, where rows of blocks run at once: those that lean over a
    /// border of the outer dimension are parts, beside which others are whole; and where a row begins and ends, some threads
    /// have no block.
    fn of_busiest_thread(&self, block: &Block, threads: f64) -> f64 {
        let first = self.extents.len() - self.space_dims;
        let (high, wide) = (self.extents[first].max(1.0), self.extents[first + 1].max(1.0));
        let (rows, at_once) = (self.rows_of_blocks(block), self.rows_at_once(block));
        let (height, lean) = (block.widths.0 as f64, (block.leans.0 * block.steps) as f64);
        // Rows of a step before the end of so many rows of blocks, which lean from the first step to the last one.
        let before = |row: i64| {
            let end = row as f64 * height;
            if lean > 0.0 { (summed_to(end, high) - summed_to(end - lean, high)) / lean } else { end.min(high) }
        };
        // Of a group of rows at once, a thread has some that follow each other.
        let of_group = |group: i64| {
            let (count, threads) = ((rows - group).min(at_once), threads as i64);
            let first = |thread: i64| group + count * thread / threads;
            let of_thread = |thread: i64| before(first(thread + 1)) - before(first(thread));
            (0..threads).map(of_thread).fold(0.0, f64::max)
        };
        let is_whole = |group: i64| group as f64 * height >= lean && (group + at_once) as f64 * height <= high;
        let (whole, parts): (Vec<i64>, Vec<i64>) =
            (0..rows).step_by(at_once as usize).partition(|group| is_whole(*group));
        let rows_of_thread = (at_once as f64 / threads).ceil();
        let of_rows = whole.len() as f64 * rows_of_thread * height + parts.into_iter().map(of_group).sum::<f64>();
        let tiles = self.blocks_along(block, 1).ceil();
        let begin_and_end = turns(tiles, at_once as f64, threads) / rows_of_thread - tiles;
        of_rows / high * (1.0 + begin_and_end * block.widths.1 as f64 / wide)
    }

    /// Whether what one core hands to another is in a last cache of all cores by then: lattices have more rows than a core
    /// keeps for itself.
    pub(crate) fn hands_on_in_last_cache(&self) -> bool {
        self.is_last_level_far && self.is_replaced
    }

    /// Bytes a nanosecond of what one core hands to another that does not take it at once. A last cache is counted for what
    /// is taken and what is left.
    fn handed_on_rate(&self) -> f64 {
        if self.hands_on_in_last_cache() { LAST_LEVEL_RATE / 2.0 } else { HANDED_ON_RATE }
    }

    /// Nanoseconds of a step in blocks of which each thread has a row of its own, of so many bands at once, each row one
    /// behind that of the band before.
    pub(crate) fn blocks_of_bands(&self, block: &Block, bands: i64) -> Estimate {
        let first = self.extents.len() - self.space_dims;
        let tile = Tile { steps: block.steps, width: block.widths.0, lean: block.leans.0 };
        let groups = self.groups_of_bands(block, bands);
        let (height, bands) = ((block.steps * bands) as f64, bands as f64);
        let threads = self.threads.min(bands);
        let of_tile = self.of_block(block, threads, threads);
        let in_tiles = self.blocks_along(block, 0);
        let tiles = in_tiles.ceil();
        let (fronts, of_thread) = match groups {
            // In each front a thread has a block, or two parts of one.
            Some(Groups { period, .. }) => {
                let fronts = period as f64 + FRONTS_WAITED;
                (fronts, fronts * block.widths.0 as f64 / (self.extents[first].max(1.0) * bands))
            }
            // Threads have no block where rows of blocks begin and end.
            None => (tiles + bands - 1.0, turns(tiles, bands, threads) / (in_tiles * bands)),
        };
        let (work, inside) = (self.all_work() * of_thread, of_tile.inside * of_thread * threads);
        // The first band takes from memory, each other one from the core of the one before.
        let moved = 2.0 * self.step_bytes() * (1.0 + of_tile.edges);
        let handed_on = self.state_bytes * (1.0 + of_tile.edges) / self.handed_on_rate() * (bands - 1.0) / bands;
        let begun = self.begun(height) / height;
        let between = self.showing_between(moved, 1.0) * begun;
        let waiting = fronts * BARRIER_NS * begun;
        let shared = of_tile.shared * self.begun(height) / block.steps as f64;
        let nanoseconds = self.with_edges(&[work, inside, handed_on * begun], shared) + between + waiting;
        Estimate { nanoseconds, bytes: self.in_blocks(block, self.steps_in_flight(first, tile, bands)) }
    }

    /// How groups of so many bands of blocks follow each other, if they may be in a row: each cell is read once, so that
    /// storage is the same however many bands run at once. That of others is for the steps of one group, which ends before
    /// the next one begins; or, of stages that take each other's place, the proof takes integer sets three times as long and
    /// more.
    pub(crate) fn groups_of_bands(&self, block: &Block, bands: i64) -> Option<Groups> {
        let rows = self.extents[self.extents.len() - self.space_dims] as i64;
        let tile = (block.steps, block.widths.0, block.leans.0);
        (self.is_replaced && !block.is_in_place).then(|| groups(rows, tile, bands))
    }

    /// Nanoseconds of a step in blocks, one after the other, of each step of which threads have some of so many parts each.
    pub(crate) fn blocks_of_parts(&self, block: &Block, parts: f64) -> Estimate {
        let threads = parts / (parts / self.threads).ceil();
        let of_tile = self.of_block(block, 1.0, threads);
        let work = self.all_work() / threads;
        let moved = 2.0 * self.step_bytes() * (1.0 + of_tile.edges);
        let begun = self.begun(block.steps as f64) / block.steps as f64;
        let between = self.showing_between(moved, threads) * begun;
        let waiting = self.blocks_along(block, 0).ceil() * self.blocks_along(block, 1).ceil() * PARTS_NS;
        let nanoseconds = self.with_edges(&[work, of_tile.inside], of_tile.shared * begun) + between + waiting;
        Estimate { nanoseconds, bytes: self.in_blocks(block, block.steps as f64) }
    }

    /// What blocks take in cache of which so many run at once, and all threads have as much.
    fn of_block(&self, block: &Block, at_once: f64, threads: f64) -> InBlock {
        let first = self.extents.len() - self.space_dims;
        let steps = block.steps as f64;
        // What a tile takes from others for each row of its own.
        let edges = |width: i64, lean: i64| (lean as f64 * steps + 1.0) / width as f64;
        let (edges, inner_edges) = (edges(block.widths.0, block.leans.0), edges(block.widths.1, block.leans.1));
        let row = self.step_bytes() / (self.extents[first] * self.extents[first + 1]);
        // Rows of a step of a tile, with those that it reads beside them and that are not of the tile before it, along the
        // inner dimension; and of all its steps.
        let held = (block.widths.0 * block.widths.1) as f64;
        let read = if self.is_replaced { held } else { (block.widths.1 * (block.widths.0 + 2 * block.leans.0)) as f64 };
        let touched = held * (1.0 + edges) * (1.0 + inner_edges);
        let ahead = if self.is_replaced && !self.is_last_level_far { ROWS_AHEAD } else { 1.0 };
        let inside = self.moving(2.0 * self.step_bytes(), read * row * at_once / ahead, threads);
        // Along the inner dimension, the edge of a tile is that of one that ran just before.
        let shared = self.moving(2.0 * self.step_bytes() * inner_edges, touched * row * at_once, threads);
        InBlock { edges, inside, shared }
    }

    /// Bytes in blocks, where rows that run at once differ by so many steps.
    fn in_blocks(&self, block: &Block, steps: f64) -> f64 {
        if self.is_replaced || block.is_in_place {
            return self.step_bytes();
        }
        let first = self.extents.len() - self.space_dims;
        // Leaning storage has a margin of these steps along the outer dimension, and of a tile's along the inner one.
        let margin = |rows: f64, lean: i64, steps: f64| (rows + lean as f64 * steps) / rows;
        let outer = margin(self.extents[first], block.leans.0, steps);
        self.state_bytes * outer * margin(self.extents[first + 1], block.leans.1, steps) + self.given_bytes
    }

    /// How many rows of blocks there are.
    pub(crate) fn rows_of_blocks(&self, block: &Block) -> i64 {
        self.blocks_along(block, 0).ceil() as i64
    }

    /// How many of them run at once, each one block behind the one before: as many as may, or where there are fewer, at most
    /// one for each thread, as borders are then parts of all rows.
    pub(crate) fn rows_at_once(&self, block: &Block) -> i64 {
        let rows = self.rows_of_blocks(block);
        if rows < block.at_once { rows.min(self.threads as i64) } else { block.at_once }
    }

    /// How many blocks there are along a dimension of space, from the outermost one; the last is a part of one.
    fn blocks_along(&self, block: &Block, dim: usize) -> f64 {
        let (width, lean) = [(block.widths.0, block.leans.0), (block.widths.1, block.leans.1)][dim];
        let rows = self.extents[self.extents.len() - self.space_dims + dim];
        (rows + lean as f64 * block.steps as f64) / width as f64
    }

    /// Nanoseconds of what is done at the same time, and of taking edges along the inner dimension: those of a lattice are
    /// rows of as many arrays as it has populations, of which less is hidden.
    fn with_edges(&self, parts: &[f64], edges: f64) -> f64 {
        match self.is_replaced {
            true => overlapped(parts) + edges * SHOWING_BETWEEN,
            false => overlapped(&[parts, &[edges]].concat()),
        }
    }

    /// What shows of moving bytes between steps of blocks.
    fn showing_between(&self, bytes: f64, threads: f64) -> f64 {
        let (from_caches, from_memory) = self.moved(bytes, self.step_bytes(), threads);
        from_caches * SHOWING + from_memory * SHOWING_BETWEEN
    }
}

/// The sum, over rows up to one, of how many of `all` are before each.
fn summed_to(row: f64, all: f64) -> f64 {
    let inside = row.clamp(0.0, all);
    inside * inside / 2.0 + all * (row - all).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::summed_to;

    #[test]
    fn rows_before_each_are_summed_up_to_all_of_them() {
        let counted = |to: i64| (0..to).map(|row| row.min(5) as f64 + if row < 5 { 0.5 } else { 0.0 }).sum::<f64>();
        for to in -3..9 {
            assert_eq!(summed_to(to as f64, 5.0), counted(to), "{to}");
        }
    }
}

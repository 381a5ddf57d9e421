//! Blocks: tiles of time and of the two outermost dimensions of space.
//!
//! In: the shapes of a kernel.   Out: the candidates in blocks, which differ in what runs at once.

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::graph::DimKind;
use crate::schedule::automatic::estimate::{Block, Estimate};
use crate::schedule::automatic::fusion::Open;
use crate::schedule::automatic::passes::ROWS_OF_A_PASS;
use crate::schedule::automatic::shapes::{Draft, Found, Shapes, TILE_STEPS, in_bands, widths};
use crate::schedule::skewed::leaning_tile;
use crease_program::Interval;

/// Rows of a block, at least, in each of its dimensions: below, most of a block is its edges. Shows in `bench --suite
/// tiles`.
const LEAST_BLOCK_ROWS: i64 = 4;
/// Steps of a block, at most, or of all bands of them that run at once, unless these have as few as any. With twice as
/// many, lattices in space have 0.88 to 0.94 of the speed, stencils in space the same, and storage has twice the margin.
/// Shows in `bench --suite tiles`.
const MOST_BLOCK_STEPS: i64 = 16;

impl Shapes<'_> {
    /// Tiles of time and of the two outermost dimensions of space, one after the other, or a row of them for each thread at
    /// once.
    pub(super) fn blocks(&self) -> Found {
        let (outer, inner) = (self.outer(), self.outer() + 1);
        let Some((open, leans)) = self.for_blocks() else { return Ok(None) };
        let Some(block) = self.best_block(MOST_BLOCK_STEPS, leans, &|block| self.workload.blocks(block)) else {
            return Ok(None);
        };
        let outer_tiles = self.leaning_tiles(outer, block.widths.0, block.leans.0)?;
        let inner_tiles = self.leaning_tiles(inner, block.widths.1, block.leans.1)?;
        let mut draft = Draft::new(self.stmts);
        draft.push(DimKind::Sequential, in_bands(&self.steps_of_call()?, block.steps)?);
        let (at_once, all) = (self.workload.rows_at_once(&block), self.workload.rows_of_blocks(&block));
        let (how, behind) = match at_once {
            ..=1 => ("blocks", String::new()),
            _ if at_once < all => ("blocks", format!(", {at_once} of {} at once", self.space.names[outer])),
            _ => ("diagonals of blocks", String::new()),
        };
        if at_once > 1 {
            if at_once < all {
                let together = block.widths.0.saturating_mul(at_once);
                draft.push(DimKind::Sequential, self.leaning_tiles(outer, together, block.leans.0)?);
            }
            let sums = outer_tiles.iter().zip(&inner_tiles).map(|(a, b)| a.add(b));
            draft.push(DimKind::Sequential, sums.collect::<Result<_, _>>()?);
            draft.push(DimKind::Parallel, outer_tiles);
        } else {
            draft.push(DimKind::Sequential, outer_tiles);
            draft.push(DimKind::Sequential, inner_tiles);
        }
        self.in_blocks((draft, open), &block, block.steps, (how, &behind), self.workload.blocks(&block))
    }

    /// Blocks of several bands at once: each thread has the rows of blocks of one, a row behind those of the band before.
    pub(super) fn blocks_of_bands(&self) -> Found {
        let (outer, inner, threads) = (self.outer(), self.outer() + 1, self.workload.threads as i64);
        let Some((open, leans)) = self.for_blocks().filter(|(_, leans)| leans.0 > 0) else { return Ok(None) };
        if threads < 2 || self.space.halves.is_some() {
            return Ok(None);
        }
        let estimate = |block: &Block| self.workload.blocks_of_bands(block, threads);
        let Some(block) = self.best_block(MOST_BLOCK_STEPS / threads, leans, &estimate) else { return Ok(None) };
        let of_call = self.steps_of_call()?;
        let band = in_bands(&of_call, block.steps)?;
        let rows = self.leaning_tiles(outer, block.widths.0, block.leans.0)?;
        let fronts = band.iter().zip(&rows).map(|(band, row)| band.add(row)).collect::<Result<Vec<_>, _>>()?;
        let mut draft = Draft::new(self.stmts);
        draft.push(DimKind::Sequential, in_bands(&of_call, block.steps * threads)?);
        draft.push(DimKind::Sequential, fronts);
        draft.push(DimKind::Parallel, band);
        draft.push(DimKind::Sequential, self.leaning_tiles(inner, block.widths.1, block.leans.1)?);
        let behind = format!(", {threads} bands at once");
        self.in_blocks((draft, open), &block, block.steps * threads, ("blocks", &behind), estimate(&block))
    }

    /// The candidate whose draft has the order of blocks, of which so many steps are in flight.
    fn in_blocks(
        &self,
        (mut draft, mut open): (Draft, Open<'_>),
        block: &Block,
        in_flight: i64,
        (how, behind): (&str, &str),
        estimate: Estimate,
    ) -> Found {
        let (outer, inner) = (self.outer(), self.outer() + 1);
        draft.push(DimKind::Sequential, self.values(&self.unshifted(0))?);
        draft.push(DimKind::Sequential, self.values(&self.unshifted(outer))?);
        if !self.half(&mut draft, &mut open)?
            || !self.middle(&mut draft, &mut open)?
            || !self.along_rows(&mut draft, &mut open)?
        {
            return Ok(None);
        }
        let ((height, width), names) = (block.widths, &self.space.names);
        let of = format!("{height} of {} by {width} of {}", names[outer], names[inner]);
        let shape = format!("skewed {how} of {} steps by {of}{behind}", block.steps);
        self.candidate(draft, (in_flight, block.leans.0), shape, estimate)
    }

    /// What is left to be ordered in blocks, and by how many rows a step they lean in their two dimensions; none where
    /// there are no blocks.
    fn for_blocks(&self) -> Option<(Open<'_>, (i64, i64))> {
        let (outer, inner) = (self.outer(), self.outer() + 1);
        // Of what is read in its own step, or more than one later, such tiles keep many levels.
        if inner >= self.last() || self.distances.iter().any(|d| d.by[0] != Interval::point(1)) {
            return None;
        }
        let (_, open) = self.within_step()?;
        // Nothing is left to be ordered within a step, so that no statement is shifted.
        let zeros = vec![0; self.stmts];
        Some((open, (self.lean(outer, &zeros)?, self.lean(inner, &zeros)?)))
    }

    /// The tiles of a dimension that lean by so many rows a step.
    fn leaning_tiles(&self, dim: usize, width: i64, lean: i64) -> Result<Vec<Affine>, AffineOverflow> {
        let of_call = self.steps_of_call()?;
        self.map(&self.unshifted(dim), |value, stmt| leaning_tile(&of_call[stmt], value, lean, width))
    }

    /// The block with the smallest estimate, of at most so many steps.
    fn best_block(&self, most: i64, leans: (i64, i64), estimate: &dyn Fn(&Block) -> Estimate) -> Option<Block> {
        let extents = |dim: usize| widths(self.workload.extents[dim]).skip_while(|width| *width < LEAST_BLOCK_ROWS);
        let sizes = || extents(self.outer()).flat_map(|h| extents(self.outer() + 1).map(move |w| (h, w)));
        let sizes = || sizes().filter(|(height, _)| self.passes.is_none() || height % ROWS_OF_A_PASS == 0);
        let steps = TILE_STEPS.iter().filter(|steps| **steps <= most.max(TILE_STEPS[0]));
        let blocks = steps.flat_map(|&steps| sizes().map(move |widths| Block { steps, widths, leans }));
        blocks.min_by(|a, b| estimate(a).cost().total_cmp(&estimate(b).cost()))
    }
}

//! Blocks: tiles of time and of the two outermost dimensions of space.
//!
//! In: the shapes of a kernel.   Out: the candidates in blocks, which differ in what runs at once.

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::graph::{DimKind, Kernel};
use crate::schedule::automatic::distances::Distance;
use crate::schedule::automatic::estimate::{Block, Estimate};
use crate::schedule::automatic::fusion::{MOST_SHIFT, Open, Row};
use crate::schedule::automatic::in_place::readers_first;
use crate::schedule::automatic::passes::ROWS_OF_A_PASS;
use crate::schedule::automatic::shapes::skewed::AtOnce;
use crate::schedule::automatic::shapes::{Draft, Found, Shapes, TILE_STEPS, count, in_bands, lean, widths};
use crate::schedule::bands::Groups;
use crate::schedule::skewed::leaning_tile;
use crease_program::Interval;

/// Rows of a block, at least, in each of its dimensions: below, most of a block is its edges. Shows in `bench --suite
/// tiles`.
const LEAST_BLOCK_ROWS: i64 = 4;
/// Steps of a block, at most, or of all bands of them that run at once, unless these have as few as any. With twice as
/// many, lattices in space have 0.88 to 0.94 of the speed, stencils in space the same, and storage has twice the margin. In
/// a row, lattices of 80^3 to 200^3 cells have 1.02 to 1.16 times the speed in calls of 100 steps and more, but in calls of
/// 16 steps half of the threads have none. Shows in `bench --suite tiles`.
const MOST_BLOCK_STEPS: i64 = 16;

/// Rows of blocks at once for each thread, at most. Shows in `run lbm-d3q27-cavity --schedule auto --threads 2 --set N=200
/// --set T=16`, on processors of Intel: 0.90 of the time with one; four take 1.07 times that of two.
const MOST_ROWS_OF_A_THREAD: i64 = 2;

/// The order of a step in blocks.
pub(super) struct Within {
    /// Rows of the outermost dimension of space, and of the next one.
    outer: Row,
    inner: Row,
    /// By how many rows a step blocks lean in both.
    leans: (i64, i64),
    /// Statements that come one after the other, if some read what others have written in the same step: each step then
    /// takes the place of the one before.
    stages: Option<Row>,
}

impl Shapes<'_> {
    /// Tiles of time and of the two outermost dimensions of space, one after the other, or a row of them for each thread at
    /// once.
    pub(super) fn blocks(&self, within: Option<&Within>) -> Found {
        let outer = self.outer();
        let Some(within) = within else { return Ok(None) };
        let block =
            self.best_block((MOST_BLOCK_STEPS, &self.rows_at_once()), within, &|block| self.workload.blocks(block));
        let Some(block) = block else { return Ok(None) };
        let outer_tiles = self.leaning_tiles(&within.outer, block.widths.0, block.leans.0)?;
        let inner_tiles = self.leaning_tiles(&within.inner, block.widths.1, block.leans.1)?;
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
                draft.push(DimKind::Sequential, self.leaning_tiles(&within.outer, together, block.leans.0)?);
            }
            let sums = outer_tiles.iter().zip(&inner_tiles).map(|(a, b)| a.add(b));
            draft.push(DimKind::Sequential, sums.collect::<Result<_, _>>()?);
            draft.push(DimKind::Parallel, outer_tiles);
        } else {
            draft.push(DimKind::Sequential, outer_tiles);
            draft.push(DimKind::Sequential, inner_tiles);
        }
        self.in_blocks((draft, within), &block, (block.steps, None), (how, &behind), self.workload.blocks(&block))
    }

    /// Blocks of several bands at once: each thread has the rows of blocks of one, a row behind those of the band before.
    /// Where storage allows, it goes on with a band of the next group as that one ends.
    pub(super) fn blocks_of_bands(&self, within: Option<&Within>) -> Found {
        let threads = self.workload.threads as i64;
        let Some(within) = within.filter(|within| within.leans.0 > 0) else { return Ok(None) };
        if threads < 2 || self.space.halves.as_ref().is_some_and(|halves| halves.dims < 2) {
            return Ok(None);
        }
        let estimate = |block: &Block| self.workload.blocks_of_bands(block, threads);
        let Some(block) = self.best_block((MOST_BLOCK_STEPS / threads, &[1]), within, &estimate) else {
            return Ok(None);
        };
        let of_call = self.steps_of_call()?;
        let (band, group) = (in_bands(&of_call, block.steps)?, in_bands(&of_call, block.steps * threads)?);
        let rows = self.leaning_tiles(&within.outer, block.widths.0, block.leans.0)?;
        let fronts = band.iter().zip(&rows).map(|(band, row)| band.add(row)).collect::<Result<Vec<_>, _>>()?;
        let mut draft = Draft::new(self.stmts);
        let mut behind = format!(", {threads} bands at once");
        match self.workload.groups_of_bands(&block, threads) {
            Some(Groups { fronts_between, .. }) => {
                let apart = fronts.iter().zip(&group).map(|(front, group)| front.add(&group.scale(fronts_between)?));
                draft.push(DimKind::Sequential, apart.collect::<Result<_, _>>()?);
                draft.push(DimKind::Parallel, band);
                draft.push(DimKind::Sequential, group);
                behind += " in a row";
            }
            None => {
                draft.push(DimKind::Sequential, group);
                draft.push(DimKind::Sequential, fronts);
                draft.push(DimKind::Parallel, band);
            }
        }
        draft.push(DimKind::Sequential, self.leaning_tiles(&within.inner, block.widths.1, block.leans.1)?);
        let in_flight = (block.steps * threads, None);
        self.in_blocks((draft, within), &block, in_flight, ("blocks", &behind), estimate(&block))
    }

    /// Blocks one after the other, of each step of which threads have parts of a folded box.
    pub(super) fn blocks_of_parts(&self, within: Option<&Within>) -> Found {
        let Some((within, parts)) = within.zip(self.free_parts()) else { return Ok(None) };
        if self.workload.threads < 2.0 {
            return Ok(None);
        }
        let estimate = |block: &Block| self.workload.blocks_of_parts(block, count(&parts) as f64);
        let Some(block) = self.best_block((MOST_BLOCK_STEPS, &[1]), within, &estimate) else { return Ok(None) };
        let mut draft = Draft::new(self.stmts);
        draft.push(DimKind::Sequential, in_bands(&self.steps_of_call()?, block.steps)?);
        draft.push(DimKind::Sequential, self.leaning_tiles(&within.outer, block.widths.0, block.leans.0)?);
        draft.push(DimKind::Sequential, self.leaning_tiles(&within.inner, block.widths.1, block.leans.1)?);
        let estimate = estimate(&block);
        self.in_blocks(
            (draft, within),
            &block,
            (block.steps, Some(AtOnce::Parts)),
            ("blocks", self.parts_at_once()),
            estimate,
        )
    }

    /// The candidate whose draft has the order of blocks, of which so many steps are in flight, and what runs at once in them.
    fn in_blocks(
        &self,
        (mut draft, Within { stages, outer, .. }): (Draft, &Within),
        block: &Block,
        (in_flight, at_once): (i64, Option<AtOnce>),
        (how, behind): (&str, &str),
        estimate: Estimate,
    ) -> Found {
        let mut open = Open::all(&self.space.alike, &[]);
        draft.push(DimKind::Sequential, self.values(&self.unshifted(0))?);
        if let Some(stages) = stages {
            draft.push(DimKind::Sequential, self.values(stages)?);
        }
        let is_found = match self.free_parts() {
            Some(parts) => {
                self.in_parts(&mut draft, &parts, at_once, self.outer())?;
                self.along_rows(&mut draft, &mut open)?
            }
            None => {
                draft.push(DimKind::Sequential, self.values(outer)?);
                self.half(&mut draft, &mut open)?
                    && self.middle(&mut draft, &mut open)?
                    && self.along_rows(&mut draft, &mut open)?
            }
        };
        if !is_found {
            return Ok(None);
        }
        let ((height, width), names) = (block.widths, &self.space.names);
        let (outer, inner) = (self.outer(), self.outer() + 1);
        let of = format!("{height} of {} by {width} of {}", names[outer], names[inner]);
        let shape = format!("skewed {how} of {} steps by {of}{behind}", block.steps);
        self.candidate(draft, (in_flight, block.leans.0), shape, estimate)
    }

    /// How the rows of a step are ordered in blocks; none where there are no blocks.
    pub(super) fn within_blocks(&self, kernel: &Kernel, params: &[i64]) -> Option<Within> {
        let (outer, inner) = (self.outer(), self.outer() + 1);
        let (here, next) = (Interval::point(0), Interval::point(1));
        // Of what is read more than one step later, such tiles keep many levels.
        let is_near = |d: &Distance| [here, next].contains(&d.by[0]);
        if !self.space.has_steps || inner >= self.last() || !self.distances.iter().all(is_near) {
            return None;
        }
        let mut all = self.distances.to_vec();
        let has_stages = all.iter().any(|d| d.by[0] == here);
        if has_stages {
            // Where a step cannot take the place of the one before, rows of a block wait for each other in storage, which
            // costs more than blocks save; so do temporary arrays.
            if self.workload.has_temps() || self.space.halves.is_some() {
                return None;
            }
            let pairs = readers_first(kernel, self.space, self.distances, params)?;
            // What is replaced, a step after it was written, has been read, in the block or in one before it.
            let replaced = self.distances.iter().filter(|d| d.by[0] == here || pairs.contains(&(d.to, d.from)));
            all.extend(replaced.map(|d| {
                let back = d.by.iter().enumerate().map(|(dim, by)| if dim > 0 { here - *by } else { next - *by });
                Distance { from: d.to, to: d.from, by: back.collect() }
            }));
        }
        let mut open = Open::all(&self.space.alike, &all);
        open.carry(0, &vec![0; self.stmts]);
        let shifted = |dim: usize| open.shifts(dim).filter(|shifts| shifts.iter().all(|&shift| shift <= MOST_SHIFT));
        let (outer_shifts, inner_shifts) = (shifted(outer)?, shifted(inner)?);
        let leans = (lean(&all, outer, &outer_shifts)?, lean(&all, inner, &inner_shifts)?);
        let stages = if has_stages { Some(open.positions()?) } else { None };
        let row = |dim: usize, shifts: Vec<i64>| Row::Dim { dim, shifts };
        Some(Within { outer: row(outer, outer_shifts), inner: row(inner, inner_shifts), leans, stages })
    }

    /// The tiles of a row that lean by so many rows a step.
    fn leaning_tiles(&self, row: &Row, width: i64, lean: i64) -> Result<Vec<Affine>, AffineOverflow> {
        let of_call = self.steps_of_call()?;
        self.map(row, |value, stmt| leaning_tile(&of_call[stmt], value, lean, width))
    }

    /// How many rows of blocks may run at once: one for each thread, or more, beside which the first one, which takes its
    /// edges from memory, counts for less.
    fn rows_at_once(&self) -> Vec<i64> {
        let threads = self.workload.threads as i64;
        match threads > 1 && self.workload.hands_on_in_last_cache() {
            true => vec![threads, threads.saturating_mul(MOST_ROWS_OF_A_THREAD)],
            false => vec![threads],
        }
    }

    /// The block with the smallest estimate, of at most so many steps and some number of rows at once.
    fn best_block(
        &self,
        (most, at_once): (i64, &[i64]),
        within: &Within,
        estimate: &dyn Fn(&Block) -> Estimate,
    ) -> Option<Block> {
        let extents = |dim: usize| widths(self.workload.extents[dim]).skip_while(|width| *width < LEAST_BLOCK_ROWS);
        let sizes = || extents(self.outer()).flat_map(|h| extents(self.outer() + 1).map(move |w| (h, w)));
        let sizes = || sizes().filter(|(height, _)| self.passes.is_none() || height % ROWS_OF_A_PASS == 0);
        let steps = TILE_STEPS.iter().filter(|steps| **steps <= most.max(TILE_STEPS[0]));
        let (leans, is_in_place) = (within.leans, within.stages.is_some());
        let blocks = steps.flat_map(|&steps| sizes().map(move |widths| (steps, widths)));
        let blocks = blocks.flat_map(|(steps, widths)| {
            at_once.iter().map(move |&at_once| Block { steps, widths, leans, at_once, is_in_place })
        });
        blocks.min_by(|a, b| estimate(a).cost().total_cmp(&estimate(b).cost()))
    }
}

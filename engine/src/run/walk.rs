//! Walks: where the cells of a block lie in folded memory, run by run.
//!
//! In: a block, the layout of its buffer, the strides of the memory on the other side.   Out: runs of cells that are
//! equally far apart on both sides.
//!
//! Every index moves every coordinate by a constant, modulo the coordinate's modulus. Walking along an index adds the
//! constants; where a coordinate would leave its modulus, the run ends. So a run costs an addition and a comparison per
//! coordinate, and a cell nothing but its copy. The innermost index is the one along which the cells of both sides are
//! closest.

use std::ops::Range;

use crease_jit::{Places, Row};

use crate::plan::layout::BufferLayout;
use crate::run::level::Block;
use crate::run::region::Axis;

/// The cells of a block, in order.
#[derive(Debug)]
pub(super) struct Walk {
    /// Number of the buffer.
    pub(super) buffer: usize,
    /// Position of the first cell along each axis.
    first: Vec<usize>,
    /// Axes of more than one cell, the outermost first.
    loops: Vec<Loop>,
    /// Per coordinate of the buffer.
    moduli: Vec<i64>,
    strides: Vec<i64>,
    start: Vec<i64>,
}

#[derive(Clone, Debug)]
struct Loop {
    axis: usize,
    count: usize,
    /// Per coordinate, what a step along the axis adds to it, from half its modulus below 0 to half above.
    moves: Vec<i64>,
    /// Per coordinate, how far this axis and those inside it reach below and above.
    reach: Vec<(i64, i64)>,
}

/// Runs of cells: where they are in the box, and in the buffer.
pub(super) type Visit<'v> = dyn FnMut(Row<'_>, Places) + 'v;

impl Walk {
    /// The cells of a block, whose array has this many indices before the first axis; neighbours along each axis are so
    /// far apart on the other side.
    pub(super) fn new(
        block: &Block<'_>,
        axes: &[Axis],
        layout: &BufferLayout,
        first_axis: usize,
        memory_strides: &[isize],
    ) -> Walk {
        let strides: Vec<i64> = layout.strides.iter().map(|&stride| stride as i64).collect();
        let coordinates = 0..layout.moduli.len();
        let start = coordinates.map(|k| block.piece.coordinate(k, &block.index, layout.moduli[k])).collect();
        let mut loops: Vec<(u128, Loop)> = Vec::new();
        for (axis, &(low, high)) in block.positions.iter().enumerate().filter(|(_, (low, high))| high - low > 1) {
            let apart = apart(block, axes, layout, first_axis, axis) + memory_strides[axis].unsigned_abs() as u128;
            let moves = moves(block, axes, layout, first_axis, axis).collect();
            loops.push((apart, Loop { axis, count: high - low, moves, reach: Vec::new() }));
        }
        // The stable order leaves the index order where nothing speaks against it.
        loops.sort_by_key(|(apart, _)| std::cmp::Reverse(*apart));
        let mut loops: Vec<Loop> = loops.into_iter().map(|(_, each)| each).collect();
        let mut reach = vec![(0_i64, 0_i64); layout.moduli.len()];
        for each in loops.iter_mut().rev() {
            for (reach, &by) in reach.iter_mut().zip(&each.moves) {
                let ahead = by.saturating_mul(each.count as i64 - 1);
                *reach = (reach.0.saturating_add(ahead.min(0)), reach.1.saturating_add(ahead.max(0)));
            }
            each.reach.clone_from(&reach);
        }
        let first = block.positions.iter().map(|(low, _)| *low).collect();
        Walk { buffer: block.piece.buffer, first, loops, moduli: layout.moduli.clone(), strides, start }
    }

    /// Places of the buffer, from the lowest to before the end, that hold all cells of the block, and maybe others.
    pub(super) fn bounds(&self) -> Range<usize> {
        self.bounds_from(0, &self.start)
    }

    /// If no coordinate wraps anywhere in the block: the place of the first cell, and how far apart neighbours along
    /// each loop's axis are. Else the axis that wraps, or one of them.
    pub(super) fn affine(&self) -> Result<(usize, Vec<(usize, i64)>), usize> {
        // What is inside of the outermost loop that does not wrap does not either.
        if let Some(level) = (0..self.loops.len()).rev().find(|&level| self.wraps(level, &self.start)) {
            return Err(self.loops[level].axis);
        }
        let apart = |each: &Loop| (each.axis, each.moves.iter().zip(&self.strides).map(|(by, s)| by * s).sum());
        Ok((self.place(&self.start), self.loops.iter().map(apart).collect()))
    }

    /// Visits all runs that lie in `within`, cut where they enter or leave it.
    pub(super) fn for_each_run(&self, within: &Range<usize>, visit: &mut Visit<'_>) {
        let count = self.moduli.len();
        // The coordinates where each loop stands, one loop after the other.
        let mut coordinates = vec![0; count * (self.loops.len() + 1)];
        coordinates[..count].copy_from_slice(&self.start);
        let mut at = self.first.clone();
        self.descend(0, &mut coordinates, &mut at, within, visit);
    }

    fn descend(
        &self,
        level: usize,
        coordinates: &mut [i64],
        at: &mut [usize],
        within: &Range<usize>,
        visit: &mut Visit<'_>,
    ) {
        let count = self.moduli.len();
        let Some((each, is_innermost)) = self.loops.get(level).map(|each| (each, level + 1 == self.loops.len())) else {
            let place = self.place(&coordinates[..count]);
            if within.contains(&place) {
                visit(Row::one(at, 0, 1), Places::one(place, 1));
            }
            return;
        };
        if is_innermost {
            return self.row(each, &mut coordinates[..count], at, within, visit);
        }
        let bounds = self.bounds_from(level, &coordinates[..count]);
        if bounds.start >= within.end || bounds.end <= within.start {
            return;
        }
        let first = at[each.axis];
        let mut done = 0;
        while done < each.count {
            at[each.axis] = first + done;
            let (here, inner) = coordinates.split_at_mut(count);
            let rows = if level + 2 == self.loops.len() { self.rows_in_one(each, done, here, within) } else { 0 };
            if rows > 1 {
                self.rows(each, rows, here, at, visit);
            } else {
                inner[..count].copy_from_slice(here);
                self.descend(level + 1, inner, at, within, visit);
            }
            self.advance(&mut coordinates[..count], each, rows.max(1));
            done += rows.max(1);
        }
        at[each.axis] = first;
    }

    /// Moves coordinates along a loop, so far that only the last step may have wrapped them.
    fn advance(&self, coordinates: &mut [i64], each: &Loop, steps: usize) {
        for ((c, &by), &modulus) in coordinates.iter_mut().zip(&each.moves).zip(&self.moduli) {
            *c = wrapped(*c + by * (steps as i64 - 1) + by, modulus);
        }
    }

    /// How many rows from here on, along the loop around the innermost one, lie in `within` and have no wrap in them or
    /// between them: none or all that there are before one wraps.
    fn rows_in_one(&self, outer: &Loop, done: usize, coordinates: &[i64], within: &Range<usize>) -> usize {
        let inner = self.loops.last().expect("there are two loops");
        let (mut rows, mut low, mut high) = (outer.count - done, 0, 0);
        for (k, &by) in outer.moves.iter().enumerate() {
            let (below, above) = inner.reach[k];
            let (from, to) = (coordinates[k].saturating_add(below), coordinates[k].saturating_add(above));
            if from < 0 || to >= self.moduli[k] {
                return 0;
            }
            let room = match by {
                0 => continue,
                1.. => (self.moduli[k] - 1 - to) / by,
                _ => from / -by,
            };
            rows = rows.min(room as usize + 1);
        }
        for (k, &by) in outer.moves.iter().enumerate() {
            let ahead = by * (rows as i64 - 1);
            low += (coordinates[k] + inner.reach[k].0 + ahead.min(0)) * self.strides[k];
            high += (coordinates[k] + inner.reach[k].1 + ahead.max(0)) * self.strides[k];
        }
        if within.start <= low as usize && (high as usize) < within.end { rows } else { 0 }
    }

    /// So many rows of the innermost loop.
    fn rows(&self, outer: &Loop, rows: usize, coordinates: &[i64], at: &[usize], visit: &mut Visit<'_>) {
        let apart = |each: &Loop| each.moves.iter().zip(&self.strides).map(|(by, stride)| by * stride).sum::<i64>();
        let inner = self.loops.last().expect("there are two loops");
        let row = Row { at, axis: inner.axis, count: inner.count, next_axis: outer.axis, rows };
        let (step, next) = (apart(inner) as isize, apart(outer) as isize);
        visit(row, Places { first: self.place(coordinates), step, next });
    }

    /// Whether a coordinate wraps in a loop or those inside it.
    fn wraps(&self, level: usize, coordinates: &[i64]) -> bool {
        let mut reach = self.loops[level].reach.iter().zip(coordinates).zip(&self.moduli);
        reach.any(|((reach, c), &modulus)| c.saturating_add(reach.0) < 0 || c.saturating_add(reach.1) >= modulus)
    }

    /// The innermost loop.
    fn row(
        &self,
        each: &Loop,
        coordinates: &mut [i64],
        at: &mut [usize],
        within: &Range<usize>,
        visit: &mut Visit<'_>,
    ) {
        let (first, mut done) = (at[each.axis], 0);
        while done < each.count {
            let mut count = each.count - done;
            let mut step = 0;
            for (k, &by) in each.moves.iter().enumerate() {
                step += by * self.strides[k];
                let room = match by {
                    0 => continue,
                    1 => self.moduli[k] - 1 - coordinates[k],
                    -1 => coordinates[k],
                    2.. => (self.moduli[k] - 1 - coordinates[k]) / by,
                    _ => coordinates[k] / -by,
                };
                count = count.min(room as usize + 1);
            }
            at[each.axis] = first + done;
            let places = Places::one(self.place(coordinates), step as isize);
            clip(Row::one(at, each.axis, count), places, within, visit);
            self.advance(coordinates, each, count);
            done += count;
        }
        at[each.axis] = first;
    }

    fn place(&self, coordinates: &[i64]) -> usize {
        coordinates.iter().zip(&self.strides).map(|(c, stride)| c * stride).sum::<i64>() as usize
    }

    /// Places that hold all cells of a loop and those inside it.
    fn bounds_from(&self, level: usize, coordinates: &[i64]) -> Range<usize> {
        let (mut low, mut high) = (0, 0);
        for (k, &c) in coordinates.iter().enumerate() {
            let (below, above) = self.loops.get(level).map_or((0, 0), |each| each.reach[k]);
            let wraps = c.saturating_add(below) < 0 || c.saturating_add(above) >= self.moduli[k];
            let (from, to) = if wraps { (0, self.moduli[k] - 1) } else { (c + below, c + above) };
            low += from * self.strides[k];
            high += to * self.strides[k];
        }
        low as usize..high as usize + 1
    }
}

/// Per coordinate, what a step along an axis adds to it, from half its modulus below 0 to half above.
fn moves<'b>(
    block: &'b Block<'_>,
    axes: &'b [Axis],
    layout: &'b BufferLayout,
    first_axis: usize,
    axis: usize,
) -> impl Iterator<Item = i64> + 'b {
    let rows = block.piece.matrix.iter().zip(&layout.moduli);
    rows.map(move |(row, &modulus)| centred(row[first_axis + axis], axes[axis].step, modulus))
}

/// A product, from half a modulus below 0 to half above. Most are small, and division is slow.
fn centred(coefficient: i64, step: i64, modulus: i64) -> i64 {
    let product = i128::from(coefficient) * i128::from(step);
    let by = match i64::try_from(product) {
        Ok(by) if 0 <= by && by < modulus => by,
        Ok(by) if -modulus <= by && by < 0 => by + modulus,
        _ => product.rem_euclid(i128::from(modulus)) as i64,
    };
    if by > modulus / 2 { by - modulus } else { by }
}

/// How many cells of the field neighbours along an axis are apart, where nothing wraps.
pub(super) fn apart(block: &Block<'_>, axes: &[Axis], layout: &BufferLayout, first_axis: usize, axis: usize) -> u128 {
    let moves = moves(block, axes, layout, first_axis, axis);
    let apart = moves.zip(&layout.strides).map(|(by, &stride)| i128::from(by) * i128::from(stride));
    apart.sum::<i128>().unsigned_abs()
}

/// A coordinate that a step has moved, by at most its modulus.
fn wrapped(coordinate: i64, modulus: i64) -> i64 {
    if coordinate >= modulus {
        coordinate - modulus
    } else if coordinate < 0 {
        coordinate + modulus
    } else {
        coordinate
    }
}

/// Visits what of a single run lies in `within`.
fn clip(row: Row<'_>, places: Places, within: &Range<usize>, visit: &mut Visit<'_>) {
    let Places { first, step, .. } = places;
    let last = first.wrapping_add_signed(step * (row.count as isize - 1));
    if within.contains(&first) && within.contains(&last) {
        return visit(row, places);
    }
    // How many cells lie before the part inside, and how many up to its end.
    let (first, step) = (first as i128, step as i128);
    let (start, end) = (within.start as i128, within.end as i128);
    let up_to = |distance: i128| distance.clamp(0, row.count as i128) as usize;
    let div_up = |a: i128, b: i128| -(-a).div_euclid(b);
    let (from, to) = match step {
        0 => return,
        1.. => (up_to(div_up(start - first, step)), up_to(div_up(end - first, step))),
        _ => (up_to(div_up(first - end + 1, -step)), up_to(div_up(first - start + 1, -step))),
    };
    if from < to {
        let mut at = row.at.to_vec();
        at[row.axis] += from;
        let first = (first + step * from as i128) as usize;
        visit(Row::one(&at, row.axis, to - from), Places::one(first, step as isize));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_centred_whether_they_are_small_or_not() {
        for (coefficient, step, modulus) in
            (-9..=9).flat_map(|c| (-5..=5).flat_map(move |s| (1..=7).map(move |m| (c, s, m))))
        {
            let by = centred(coefficient, step, modulus);
            assert_eq!((by - coefficient * step).rem_euclid(modulus), 0);
            assert!(-modulus < 2 * by && 2 * by <= modulus, "{coefficient} by {step} modulo {modulus}: {by}");
        }
        assert_eq!(centred(i64::MAX, i64::MAX, i64::MAX), 0);
        assert_eq!((centred(-1, 1, i64::MAX), centred(i64::MIN, 1, 2)), (-1, 0));
    }

    #[test]
    fn clipped_runs_are_those_cells_that_lie_inside() {
        for (first, step) in [(0, 1), (3, 1), (3, 2), (19, -1), (20, -3), (5, 4)] {
            for (start, end) in [(0, 100), (0, 4), (4, 9), (7, 8), (9, 9), (18, 40), (30, 40)] {
                let (mut found, count) = (Vec::new(), 5);
                let row = Row::one(&[2], 0, count);
                clip(row, Places::one(first, step), &(start..end), &mut |row, places| {
                    let cell = |k: usize| (row.at[0] + k, places.first as isize + places.step * k as isize);
                    found.extend((0..row.count).map(cell));
                });
                let all = (0..count).map(|k| (2 + k, first as isize + step * k as isize));
                let inside = all.filter(|(_, place)| (start as isize..end as isize).contains(place));
                assert_eq!(found, inside.collect::<Vec<_>>(), "{first} by {step} in {start}..{end}");
            }
        }
    }
}

//! How far apart, in common dimensions, a value is written and read.
//!
//! In: a kernel in its common space.   Out: a [`Distance`] for each pair of a write and a read that may touch one cell:
//! per dimension the range of what the read's coordinate has on that of the write. Where both indices are the
//! coordinates up to constants, it is one number; else it counts with the ranges of the iterators, which may be more
//! than there is and is never less.

use std::collections::HashSet;

use crease_program::Interval;

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::graph::{ArrayId, Kernel};
use crate::schedule::automatic::space::{CommonSpace, dims_of, range_of};

/// One dependence.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Distance {
    /// The statement that writes, by number.
    pub(super) from: usize,
    /// The statement that reads.
    pub(super) to: usize,
    /// Per dimension, reading minus writing coordinate.
    pub(super) by: Vec<Interval>,
}

/// What is cut into overlapped tiles: one dimension, in which every statement has a coordinate.
#[derive(Debug)]
pub(in crate::schedule) struct TiledAxis {
    /// Per statement, the coordinate.
    pub(in crate::schedule) along: Vec<Affine>,
    /// Per statement, the range of each iterator.
    pub(in crate::schedule) ranges: Vec<Vec<Interval>>,
    /// Whether the first index of arrays counts steps.
    pub(in crate::schedule) has_steps: bool,
}

/// How far what is read lies from what is written, in a dimension that is cut into tiles.
#[derive(Clone, Debug)]
pub(in crate::schedule) struct Reach {
    /// The array.
    pub(in crate::schedule) array: ArrayId,
    /// The statement that writes, by number.
    pub(in crate::schedule) from: usize,
    /// The statement that reads.
    pub(in crate::schedule) to: usize,
    /// Reading minus writing coordinate.
    pub(in crate::schedule) by: Interval,
}

/// Access of a statement to an array.
#[derive(Clone, Copy)]
struct Access<'k> {
    stmt: usize,
    index: &'k [Affine],
}

/// All dependences, each once.
///
/// # Errors
/// [`AffineOverflow`] if a coefficient leaves 64 bits.
pub(super) fn distances(kernel: &Kernel, space: &CommonSpace, params: &[i64]) -> Result<Vec<Distance>, AffineOverflow> {
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    for (array, write, read) in pairs(kernel) {
        if !may_meet(space, &write, &read, params) {
            continue;
        }
        let by = between(space, dims_of(space, array), &write, &read, params)?;
        let distance = Distance { from: write.stmt, to: read.stmt, by };
        if !distance.is_within_instance() && seen.insert(distance.clone()) {
            found.push(distance);
        }
    }
    Ok(found)
}

/// All pairs of a write and a read of an array.
fn pairs(kernel: &Kernel) -> impl Iterator<Item = (ArrayId, Access<'_>, Access<'_>)> {
    let stmts = || kernel.stmts().iter().enumerate();
    kernel.array_ids().flat_map(move |array| {
        let mut writes = Vec::new();
        for (stmt, body) in stmts() {
            let of_array = body.assigns.iter().filter(|assign| assign.array == array);
            writes.extend(of_array.map(|assign| Access { stmt, index: &assign.index }));
        }
        let reads = stmts().flat_map(move |(stmt, body)| {
            let of_array = body.reads().filter(move |(read, _)| *read == array);
            of_array.map(move |(_, index)| Access { stmt, index })
        });
        reads.flat_map(move |read| writes.clone().into_iter().map(move |write| (array, write, read)))
    })
}

impl TiledAxis {
    /// The range of a statement's coordinate, where its iterators have these ranges.
    pub(in crate::schedule) fn range(&self, stmt: usize, ranges: &[Interval], params: &[i64]) -> Interval {
        range_of(&self.along[stmt], ranges, params)
    }

    /// How far along it values are handed on, for all pairs of a write and a read.
    ///
    /// # Errors
    /// [`AffineOverflow`] if a coefficient leaves 64 bits.
    pub(in crate::schedule) fn reaches(&self, kernel: &Kernel, params: &[i64]) -> Result<Vec<Reach>, AffineOverflow> {
        let space = CommonSpace {
            names: Vec::new(),
            has_steps: self.has_steps,
            index_dims: Vec::new(),
            coordinates: self.along.iter().map(|along| vec![along.clone()]).collect(),
            ranges: self.ranges.clone(),
            halves: None,
        };
        let mut reaches = Vec::new();
        for (array, write, read) in pairs(kernel) {
            if !may_meet(&space, &write, &read, params) {
                continue;
            }
            let (from, to) = (write.stmt, read.stmt);
            let range = |stmt: usize| self.range(stmt, &self.ranges[stmt], params);
            let mut by = range(to) - range(from);
            // Both name one cell, so that each of its indices says how far apart they are.
            for k in 0..write.index.len() {
                by = by.intersect(between_cells(&space, (0, k), &write, &read, params)?);
            }
            reaches.push(Reach { array, from, to, by });
        }
        Ok(reaches)
    }
}

impl Distance {
    /// An instance reads before it writes: nothing that it wrote itself.
    fn is_within_instance(&self) -> bool {
        self.from == self.to && self.by.iter().all(|by| *by == Interval::point(0))
    }
}

/// Whether the cells of two accesses are in boxes that meet.
fn may_meet(space: &CommonSpace, write: &Access<'_>, read: &Access<'_>, params: &[i64]) -> bool {
    let range = |access: &Access<'_>, e: &Affine| space.range_of(access.stmt, e, params);
    let is_steps = |k: usize| space.has_steps && k == 0;
    write.index.iter().zip(read.index).enumerate().all(|(k, (written, taken))| {
        // Steps go on beyond the one that ranges are of.
        is_steps(k) || !range(write, written).intersect(range(read, taken)).is_empty()
    })
}

/// The distance in every dimension.
fn between(
    space: &CommonSpace,
    dims: Option<&[usize]>,
    write: &Access<'_>,
    read: &Access<'_>,
    params: &[i64],
) -> Result<Vec<Interval>, AffineOverflow> {
    let mut by = Vec::with_capacity(space.names.len());
    for dim in 0..space.names.len() {
        let ends = [read, write].map(|access| &space.coordinates[access.stmt][dim]);
        let position = dims.and_then(|dims| dims.iter().position(|&d| d == dim));
        by.push(match position {
            Some(k) => between_cells(space, (dim, k), write, read, params)?,
            None if space.has_steps && dim == 0 => Interval::UNBOUNDED,
            None => space.range_of(read.stmt, ends[0], params) - space.range_of(write.stmt, ends[1], params),
        });
    }
    Ok(by)
}

/// The distance in a dimension that is index `k` of the array: both accesses name the same cell, so what each coordinate
/// has on it can be compared. A coordinate may run against the index, as in the far half of a folded dimension; between
/// the halves, the distance depends on the cell.
fn between_cells(
    space: &CommonSpace,
    (dim, k): (usize, usize),
    write: &Access<'_>,
    read: &Access<'_>,
    params: &[i64],
) -> Result<Interval, AffineOverflow> {
    // What the coordinate has on the index, or on its opposite where that is one number.
    let ahead = |access: &Access<'_>| -> Result<(Interval, i64), AffineOverflow> {
        let on = |sign: i64| {
            let difference = space.coordinates[access.stmt][dim].sub(&access.index[k].scale(sign)?)?;
            Ok(space.range_of(access.stmt, &difference, params))
        };
        let is_number = |value: Interval| value.extent() == Some(1);
        let along = on(1)?;
        let against = if is_number(along) { along } else { on(-1)? };
        Ok(if is_number(along) || !is_number(against) { (along, 1) } else { (against, -1) })
    };
    let ((to, read_sign), (from, write_sign)) = (ahead(read)?, ahead(write)?);
    if read_sign == write_sign {
        return Ok(to - from);
    }
    let range = |access: &Access<'_>| space.range_of(access.stmt, &access.index[k], params);
    Ok(to - from + range(read).intersect(range(write)).scaled(read_sign - write_sign))
}

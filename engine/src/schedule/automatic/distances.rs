//! How far apart, in common dimensions, a value is written and read.
//!
//! In: a kernel in its common space.   Out: a [`Distance`] for each pair of a write and a read that may touch one cell:
//! per dimension the range of what the read's coordinate has on that of the write. Where both indices are the
//! coordinates up to constants, it is one number; else it counts with the ranges of the iterators, which may be more
//! than there is and is never less.

use std::collections::HashSet;

use crease_program::Interval;

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::graph::Kernel;
use crate::schedule::automatic::space::{CommonSpace, dims_of};

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

/// Access of a statement to an array.
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
    for array in kernel.array_ids() {
        let stmts = || kernel.stmts().iter().enumerate();
        let mut writes = Vec::new();
        for (stmt, body) in stmts() {
            let of_array = body.assigns.iter().filter(|assign| assign.array == array);
            writes.extend(of_array.map(|assign| Access { stmt, index: &assign.index }));
        }
        for (stmt, body) in stmts() {
            for (_, index) in body.reads().filter(|(read, _)| *read == array) {
                let read = Access { stmt, index };
                for write in &writes {
                    if !may_meet(space, write, &read, params) {
                        continue;
                    }
                    let by = between(space, dims_of(space, array), write, &read, params)?;
                    let distance = Distance { from: write.stmt, to: stmt, by };
                    if !distance.is_within_instance() && seen.insert(distance.clone()) {
                        found.push(distance);
                    }
                }
            }
        }
    }
    Ok(found)
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

//! How far apart, in common dimensions, a value is written and read.
//!
//! In: a kernel in its common space.   Out: a [`Distance`] for each pair of a write and a read that may touch one cell:
//! per dimension the range of what the read's coordinate has on that of the write. Where both indices are the
//! coordinates up to constants, it is one number; else it counts with the ranges of the iterators, which may be more
//! than there is and is never less, or where iterators bound each other with what their domains say (`domains`).

use std::cell::OnceCell;

use crease_program::Interval;
use rustc_hash::FxHashSet;

use crate::kernel::affine::{Affine, AffineOverflow, Term};
use crate::kernel::graph::{ArrayId, Kernel, Stmt};
use crate::schedule::automatic::alike::Alike;
use crate::schedule::automatic::congruences::{Congruence, congruences};
use crate::schedule::automatic::domains::{Meetings, is_oblique};
use crate::schedule::automatic::space::{CommonSpace, dims_of, place_of, range_of};

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
pub(super) struct Access<'k> {
    pub(super) stmt: usize,
    pub(super) index: &'k [Affine],
}

/// An access and what all pairs that it is in have in common: a lattice with walls has ten times as many pairs.
struct Prepared<'k> {
    access: Access<'k>,
    /// Of each index.
    ranges: Vec<Interval>,
    /// What the cells have in common where the statement runs at every so many points.
    congruences: Vec<Congruence>,
    /// Per dimension what its coordinate has on the index there, if there is one, when that is asked for.
    ahead: OnceCell<Result<Vec<Option<Ahead>>, AffineOverflow>>,
}

/// What a coordinate has on a multiple of an index, and the factor.
type Ahead = (Interval, i64);

/// All dependences, each once.
///
/// # Errors
/// [`AffineOverflow`] if a coefficient leaves 64 bits.
pub(super) fn distances(kernel: &Kernel, space: &CommonSpace, params: &[i64]) -> Result<Vec<Distance>, AffineOverflow> {
    let (mut seen, mut found) = (FxHashSet::default(), Vec::new());
    let of_stmt = |stmt: &Stmt| congruences(kernel, &stmt.domain, stmt.iters.len(), params);
    let of_stmts: Vec<_> = kernel.stmts().iter().map(of_stmt).collect();
    let oblique: Vec<bool> = kernel.stmts().iter().map(is_oblique).collect();
    for array in kernel.array_ids() {
        let [writes, reads] = accesses(kernel, array).map(|all| {
            let ranges = |access: &Access<'_>| {
                access.index.iter().map(|e| space.range_of(access.stmt, e, params)).collect::<Vec<_>>()
            };
            let of_cells = |access: &Access<'_>| -> Vec<Congruence> {
                of_stmts[access.stmt].iter().filter_map(|found| found.of_cells(access.index)).collect()
            };
            let prepared = |access| {
                let (ranges, congruences) = (ranges(&access), of_cells(&access));
                Prepared { access, ranges, congruences, ahead: OnceCell::new() }
            };
            all.into_iter().map(prepared).collect::<Vec<_>>()
        });
        for read in &reads {
            let meets = |write: &&Prepared<'_>| {
                may_meet(space, &write.ranges, &read.ranges)
                    && !write.congruences.iter().any(|one| read.congruences.iter().any(|two| one.contradicts(two)))
            };
            for write in writes.iter().filter(meets) {
                let (from, to) = (write.access.stmt, read.access.stmt);
                let mut by = between(space, dims_of(space, array), write, read, params)?;
                if oblique[from] || oblique[to] {
                    let Some(narrowed) = over_domains(kernel, space, (write.access, read.access), by, params) else {
                        continue;
                    };
                    by = narrowed;
                }
                let distance = Distance { from, to, by };
                if !distance.is_within_instance() && seen.insert(distance.clone()) {
                    found.push(distance);
                }
            }
        }
    }
    Ok(found)
}

/// All writes and all reads of an array.
pub(super) fn accesses(kernel: &Kernel, array: ArrayId) -> [Vec<Access<'_>>; 2] {
    let (mut writes, mut reads) = (Vec::new(), Vec::new());
    for (stmt, body) in kernel.stmts().iter().enumerate() {
        let written = body.assigns.iter().filter(|assign| assign.array == array);
        writes.extend(written.map(|assign| Access { stmt, index: &assign.index }));
        let read = body.reads().filter(|(read, _)| *read == array);
        reads.extend(read.map(|(_, index)| Access { stmt, index }));
    }
    [writes, reads]
}

/// All pairs of a write and a read of an array.
fn pairs(kernel: &Kernel) -> impl Iterator<Item = (ArrayId, Access<'_>, Access<'_>)> {
    kernel.array_ids().flat_map(move |array| {
        let [writes, reads] = accesses(kernel, array);
        reads.into_iter().flat_map(move |read| writes.clone().into_iter().map(move |write| (array, write, read)))
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
            alike: Alike { writers: Vec::new(), paces: Vec::new() },
            ranges: self.ranges.clone(),
            halves: None,
        };
        let mut reaches = Vec::new();
        for (array, write, read) in pairs(kernel) {
            let ranges = |access: &Access<'_>| -> Vec<Interval> {
                access.index.iter().map(|e| space.range_of(access.stmt, e, params)).collect()
            };
            if !may_meet(&space, &ranges(&write), &ranges(&read)) {
                continue;
            }
            let (from, to) = (write.stmt, read.stmt);
            let range = |stmt: usize| self.range(stmt, &self.ranges[stmt], params);
            let mut by = range(to) - range(from);
            // Both name one cell, so that each of its indices says how far apart they are.
            for k in 0..write.index.len() {
                let [to, from] = [&read, &write].map(|access| ahead(&space, access, (0, k), params));
                let range = |access: &Access<'_>| space.range_of(access.stmt, &access.index[k], params);
                by = by.intersect(between_cells((to?, from?), || range(&read).intersect(range(&write))));
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

/// Whether cells whose indices have these ranges are in boxes that meet.
fn may_meet(space: &CommonSpace, written: &[Interval], taken: &[Interval]) -> bool {
    let is_steps = |k: usize| space.has_steps && k == 0;
    written.iter().zip(taken).enumerate().all(|(k, (written, taken))| {
        // Steps go on beyond the one that ranges are of.
        is_steps(k) || !written.intersect(*taken).is_empty()
    })
}

/// The distance in every dimension.
fn between(
    space: &CommonSpace,
    dims: &[Option<usize>],
    write: &Prepared<'_>,
    read: &Prepared<'_>,
    params: &[i64],
) -> Result<Vec<Interval>, AffineOverflow> {
    let position = |dim: usize| place_of(dims, dim);
    let all_ahead = |one: &Prepared<'_>| {
        let of_dim = |dim: usize| position(dim).map(|k| ahead(space, &one.access, (dim, k), params)).transpose();
        (0..space.names.len()).map(of_dim).collect::<Result<Vec<_>, _>>()
    };
    let [to, from] = [read, write].map(|one| one.ahead.get_or_init(|| all_ahead(one)).as_ref().map_err(|e| *e));
    let (to, from) = (to?, from?);
    let mut by = Vec::with_capacity(space.names.len());
    for dim in 0..space.names.len() {
        let ends = [read, write].map(|one| &space.coordinates[one.access.stmt][dim]);
        by.push(match (position(dim), to[dim], from[dim]) {
            (Some(k), Some(to), Some(from)) => between_cells((to, from), || read.ranges[k].intersect(write.ranges[k])),
            _ if space.has_steps && dim == 0 => Interval::UNBOUNDED,
            _ => {
                let [to, from] = [(read, ends[0]), (write, ends[1])];
                space.range_of(to.0.access.stmt, to.1, params) - space.range_of(from.0.access.stmt, from.1, params)
            }
        });
    }
    Ok(by)
}

/// The distance in every dimension, narrowed by constraints that relate iterators; none if no instances touch one cell.
fn over_domains(
    kernel: &Kernel,
    space: &CommonSpace,
    (write, read): (Access<'_>, Access<'_>),
    mut by: Vec<Interval>,
    params: &[i64],
) -> Option<Vec<Interval>> {
    let of_stmts = [write, read].map(|access| (access.stmt, access.index));
    let Some(meetings) = Meetings::of(kernel, of_stmts[0], of_stmts[1], params) else { return Some(by) };
    if meetings.are_none() {
        return None;
    }
    for (dim, by) in by.iter_mut().enumerate().filter(|(_, by)| by.extent() != Some(1)) {
        let [written, taken] = [write, read].map(|access| &space.coordinates[access.stmt][dim]);
        *by = meetings.range(written, taken).map_or(*by, |range| by.intersect(range));
    }
    Some(by)
}

/// What the coordinate of an access has in a dimension on index `k`, or on a multiple of it where that is one number: a
/// coordinate may run against the index, as in the far half of a folded dimension, and go several steps for one of it.
fn ahead(
    space: &CommonSpace,
    access: &Access<'_>,
    (dim, k): (usize, usize),
    params: &[i64],
) -> Result<Ahead, AffineOverflow> {
    let (coordinate, index) = (&space.coordinates[access.stmt][dim], &access.index[k]);
    let on = |factor: i64| {
        let difference = coordinate.sub(&index.scale(factor)?)?;
        Ok(space.range_of(access.stmt, &difference, params))
    };
    let along = on(1)?;
    if along.extent() == Some(1) {
        return Ok((along, 1));
    }
    let factor = index.terms().find_map(|(term, by)| match term {
        Term::Iter(iter) => coordinate.iter_coefficient(*iter as usize).checked_div(by),
        _ => None,
    });
    match factor.filter(|factor| ![0, 1].contains(factor)).map(|factor| Ok((on(factor)?, factor))).transpose()? {
        Some((multiple, factor)) if multiple.extent() == Some(1) => Ok((multiple, factor)),
        _ => Ok((along, 1)),
    }
}

/// The distance in a dimension that is an index of the array: both accesses name the same cell, so what each coordinate
/// has on it can be compared. Where the factors are not the same, as between the halves of a folded dimension, it depends
/// on the cell, of which `cells` has the range.
fn between_cells(((to, read_factor), (from, write_factor)): (Ahead, Ahead), cells: impl Fn() -> Interval) -> Interval {
    match read_factor == write_factor {
        true => to - from,
        false => to - from + cells().scaled(read_factor - write_factor),
    }
}

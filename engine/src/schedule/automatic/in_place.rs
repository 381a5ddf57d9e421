//! Readers before writers: the order of statements in which a step can take the place of the one before.
//!
//! In: a kernel in its common space, its distances.   Out: pairs of statements, of which the former reads cells of the
//! last step that the latter replaces; none if one level is not enough in any order of whole statements.
//!
//! Red points read the edges of a plane, which are copied from step to step, and black points read the copies. With the
//! copies between both, `R`, `E`, `B`, each cell is replaced when nobody reads what it was.

use crease_program::Interval;

use crate::kernel::affine::Affine;
use crate::kernel::graph::{Kernel, Stmt};
use crate::schedule::automatic::distances::Distance;
use crate::schedule::automatic::space::CommonSpace;
use crate::sets::boxes::boxes_of;

/// Pairs of a statement that reads and one that replaces what was read.
pub(super) fn readers_first(
    kernel: &Kernel,
    space: &CommonSpace,
    distances: &[Distance],
    params: &[i64],
) -> Option<Vec<(usize, usize)>> {
    let (here, next) = (Interval::point(0), Interval::point(1));
    let boxes: Vec<_> = kernel.stmts().iter().map(|stmt| boxes(stmt, params)).collect();
    let mut pairs = Vec::new();
    for d in distances.iter().filter(|d| d.by[0] != here) {
        let is_same_cell = d.by[1..].iter().all(|by| *by == here);
        match () {
            () if d.by[0] != next => return None,
            () if d.from == d.to && is_same_cell => {}
            () if !may_meet(space, d, &boxes) => {}
            () if d.from == d.to => return None,
            () => pairs.push((d.to, d.from)),
        }
    }
    Some(pairs)
}

/// The boxes that a domain is in, of which a border has several.
fn boxes(stmt: &Stmt, params: &[i64]) -> Option<Vec<Vec<Interval>>> {
    let values: Vec<Affine> = params.iter().copied().map(Affine::constant).collect();
    let domain = stmt.domain.map(&|e| e.substitute_params(&values)).ok()?;
    let found = boxes_of(&domain, stmt.iters.len())?;
    Some(found.boxes.iter().map(|part| part.ranges().to_vec()).collect())
}

/// Whether some instance of the statement that reads is at the distance from one that writes, as far as boxes tell.
fn may_meet(space: &CommonSpace, d: &Distance, boxes: &[Option<Vec<Vec<Interval>>>]) -> bool {
    let is_plain = |stmt: usize| {
        let coordinates = &space.coordinates[stmt];
        coordinates.iter().enumerate().all(|(dim, coordinate)| *coordinate == Affine::iter(dim))
    };
    let (Some(from), Some(to)) = (&boxes[d.from], &boxes[d.to]) else { return true };
    if !is_plain(d.from) || !is_plain(d.to) {
        return true;
    }
    let meet = |from: &[Interval], to: &[Interval]| {
        (1..d.by.len()).all(|dim| !(from[dim] + d.by[dim]).intersect(to[dim]).is_empty())
    };
    from.iter().any(|from| to.iter().any(|to| meet(from, to)))
}

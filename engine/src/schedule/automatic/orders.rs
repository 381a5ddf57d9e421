//! Other orders of the common dimensions than that of an array's indices, and sweeps that go back.
//!
//! In: a kernel in its common space, its distances.   Out: the space with coordinates of sweeps that go back negated;
//! the order of dimensions whose innermost one is read and written with unit stride, where that is not the last one, and
//! that with cells behind their components.
//!
//! A sweep goes back along a dimension where statements need each other's cells ahead, and none behind: `s[x]` by
//! `s[x+1]`. Negated, it goes forwards. `c[i,j,k+1]` by `c[i,j,k]`, `a[i,k]` and `b[k,j]` is to run `j` in lanes, as `k`
//! would take cells of `b` that are a row apart.
//!
//! Source: Kennedy and McKinley, Optimizing for parallelism and data locality (1992), for the order of loops by what is
//! consecutive in the innermost one.

use crate::kernel::affine::AffineOverflow;
use crate::kernel::graph::{DimKind, Kernel, Stmt};
use crate::schedule::automatic::Candidate;
use crate::schedule::automatic::alike::stride;
use crate::schedule::automatic::distances::{Distance, distances};
use crate::schedule::automatic::fusion::Open;
use crate::schedule::automatic::space::CommonSpace;
use crate::schedule::automatic::strides::{MOST_PACE, Strides};

/// The space in which all sweeps go forwards, and its distances; none if they do in this one, or nothing helps.
///
/// # Errors
/// [`AffineOverflow`] if a coefficient leaves 64 bits.
pub(super) fn forwards(
    kernel: &Kernel,
    space: &CommonSpace,
    found: &[Distance],
    params: &[i64],
) -> Result<Option<(CommonSpace, Vec<Distance>)>, AffineOverflow> {
    let mut turned: Option<(CommonSpace, Vec<Distance>)> = None;
    // Each round turns a group of statements along one dimension, from the outermost one on.
    for _ in 0..kernel.stmts().len() * space.names.len() {
        let (space, found) = turned.as_ref().map_or((space, found), |(space, found)| (space, found));
        let Some((dim, backwards)) = first_backwards(space, found) else { return Ok(turned) };
        if backwards.is_empty() {
            return Ok(None);
        }
        let mut space = space.clone();
        for stmt in backwards {
            let coordinate = &mut space.coordinates[stmt][dim];
            *coordinate = coordinate.scale(-1)?;
        }
        let found = distances(kernel, &space, params)?;
        turned = Some((space, found));
    }
    Ok(None)
}

/// The outermost dimension along which statements cannot be ordered, and those that would be if they went back; none if
/// all dimensions can be ordered.
fn first_backwards(space: &CommonSpace, distances: &[Distance]) -> Option<(usize, Vec<usize>)> {
    let (first, last) = (usize::from(space.has_steps), space.names.len() - 1);
    let mut open = Open::all(&space.alike, distances);
    for dim in 0..=last {
        if dim == last && dim >= first && open.clone().positions_around(dim, None).is_some() {
            return None;
        }
        if open.next(dim).is_none() {
            let backwards = if dim < first { Vec::new() } else { open.backwards(dim) };
            return Some((dim, backwards));
        }
    }
    None
}

/// The dimensions in the order in which the innermost one strides over the fewest cells of arrays whose layout is given;
/// none if the last one does.
pub(super) fn unit_stride_last(kernel: &Kernel, space: &CommonSpace, strides: &Strides) -> Option<Vec<usize>> {
    let (first, last) = (usize::from(space.has_steps), space.names.len() - 1);
    let strided = |dim: usize| -> f64 {
        let of_stmt = |(number, stmt): (usize, &Stmt)| {
            let instances: f64 =
                space.ranges[number].iter().filter_map(|range| range.extent()).map(|n| n as f64).product();
            let coordinate = &space.coordinates[number][dim];
            // What does not move along it has no lanes at all.
            let stands = (0..stmt.iters.len()).all(|iter| coordinate.iter_coefficient(iter) == 0);
            let accesses = || stmt.reads().count() + stmt.assigns.len() + 1;
            let strided = if stands { accesses() } else { strides.accesses(kernel, stmt, coordinate, None).alone };
            instances * strided as f64
        };
        kernel.stmts().iter().enumerate().map(of_stmt).sum()
    };
    // Lanes are near each other: blocks of a dimension in which a statement takes every second place are twice as wide.
    let is_dense = |dim: &usize| space.coordinates.iter().all(|of_stmt| stride(&of_stmt[*dim]) <= MOST_PACE);
    let dense = (first..=last).rev().filter(|dim| *dim == last || is_dense(dim));
    let innermost = dense.min_by(|a, b| strided(*a).total_cmp(&strided(*b)))?;
    (innermost != last).then(|| (0..=last).filter(|dim| *dim != innermost).chain([innermost]).collect())
}

/// The dimensions with the last two in the other order: cells behind their components.
pub(super) fn cells_last(space: &CommonSpace) -> Vec<usize> {
    let last = space.names.len() - 1;
    (0..last - 1).chain([last, last - 1]).collect()
}

/// Puts components, which are next to the last in a space, behind the lanes of a schedule, where they lie just before these:
/// all of a cell share a strip.
pub(super) fn with_components_in_strips(space: &CommonSpace, candidate: &mut Candidate) {
    let (dims, times) = (&mut candidate.schedule.dims, &mut candidate.schedule.times);
    let [before @ .., DimKind::Sequential, DimKind::Vector(_)] = dims.as_slice() else { return };
    let (at, components) = (before.len(), space.names.len() - 2);
    if times.iter().zip(&space.coordinates).all(|(time, of_stmt)| time[at] == of_stmt[components]) {
        dims.swap(at, at + 1);
        times.iter_mut().for_each(|time| time.swap(at, at + 1));
    }
}

/// The orders of dimensions that have each of those of space outermost, and the others as they are.
pub(super) fn outermost(space: &CommonSpace) -> impl Iterator<Item = Vec<usize>> {
    let (first, last) = (usize::from(space.has_steps), space.names.len() - 1);
    (first..=last).map(move |dim| {
        let others = (first..=last).filter(move |&other| other != dim);
        (0..first).chain([dim]).chain(others).collect()
    })
}

/// Distances in the dimensions in another order.
pub(super) fn reordered(distances: &[Distance], order: &[usize]) -> Vec<Distance> {
    let by = |distance: &Distance| order.iter().map(|&dim| distance.by[dim]).collect();
    distances.iter().map(|distance| Distance { by: by(distance), ..distance.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::automatic::space::Missing;

    fn space_of(text: &str, params: &[i64]) -> (Kernel, CommonSpace) {
        let kernel = Kernel::parse(text).unwrap();
        let space = CommonSpace::of(&kernel, Missing::AtZero, params).unwrap();
        (kernel, space)
    }

    #[test]
    fn a_sweep_that_goes_back_is_turned_and_nothing_else_is() {
        let text = "kernel k(size N) for N >= 2 {
            input b[x]: f64 for 0 <= x < N
            temp f[x]: f64 for 0 <= x < N
            output s[x]: f64 for 0 <= x < N
            F0[x] for x = 0 { f[x] = b[x] }
            F[x] for 1 <= x < N { f[x] = b[x] - f[x-1] }
            S0[x] for x = N-1 { s[x] = f[x] }
            S[x] for 0 <= x < N-1 { s[x] = f[x] - s[x+1] } }";
        let (kernel, space) = space_of(text, &[100]);
        let found = distances(&kernel, &space, &[100]).unwrap();
        let (turned, _) = forwards(&kernel, &space, &found, &[100]).unwrap().expect("S goes back");
        let sign = |stmt: usize| turned.coordinates[stmt][0].iter_coefficient(0);
        assert_eq!([sign(0), sign(1), sign(2), sign(3)], [1, 1, 1, -1]);
        let (kernel, space) = space_of(&text.replace("s[x+1]", "f[x+1]"), &[100]);
        let found = distances(&kernel, &space, &[100]).unwrap();
        assert!(forwards(&kernel, &space, &found, &[100]).unwrap().is_none());
    }

    #[test]
    fn the_innermost_dimension_has_unit_stride_where_layouts_are_given() {
        let product = |transposed: bool| {
            let factor = if transposed { "b[j,k]" } else { "b[k,j]" };
            let text = "kernel k(size N) for N >= 2 {
                input a[i, k]: f64 for 0 <= i, k < N
                input b[k, j]: f64 for 0 <= k, j < N
                temp c[i, j, k]: f64 for 0 <= i, j < N and 0 <= k <= N
                output d[i, j]: f64 for 0 <= i, j < N
                Z[i, j] for 0 <= i, j < N { c[i,j,0] = 0 }
                S[i, j, k] for 0 <= i, j, k < N { c[i,j,k+1] = c[i,j,k] + a[i,k] * b[k,j] }
                D[i, j] for 0 <= i, j < N { d[i,j] = c[i,j,N] } }";
            let (kernel, space) = space_of(&text.replace("b[k,j] }", &format!("{factor} }}")), &[100]);
            unit_stride_last(&kernel, &space, &Strides::of(&kernel, 1, &[100]))
        };
        assert_eq!(product(false), Some(vec![0, 2, 1]));
        assert_eq!(product(true), None);
    }
}

//! What statements have in common besides dimensions: the arrays that they write, and the rows in which they run.
//!
//! In: a kernel, coordinates of its statements.   Out: [`Alike`]: of each statement, the first one like it.

use crate::kernel::affine::{Affine, Term};
use crate::kernel::graph::{Kernel, Stmt};

/// Which statements have something in common.
#[derive(Clone, Debug)]
pub(super) struct Alike {
    /// Of each statement, the first one that writes one of the same arrays; it is first of these itself.
    pub(super) writers: Vec<usize>,
    /// Of each statement, the first one that runs in as many rows of the outer dimensions: in all, in every second, ..
    pub(super) paces: Vec<usize>,
}

/// Of each statement, the first one that writes one of the same arrays.
pub(super) fn writers(kernel: &Kernel) -> Vec<usize> {
    let mut firsts: Vec<usize> = Vec::new();
    for (number, stmt) in kernel.stmts().iter().enumerate() {
        let shares = |other: &Stmt| {
            other.assigns.iter().any(|theirs| stmt.assigns.iter().any(|ours| ours.array == theirs.array))
        };
        let first = kernel.stmts()[..number].iter().position(shares).map_or(number, |other| firsts[other]);
        firsts.push(first);
    }
    firsts
}

/// Of each statement, the first one whose coordinates have the same strides in all dimensions but the last.
pub(super) fn paces(coordinates: &[Vec<Affine>]) -> Vec<usize> {
    let strides =
        |of_stmt: &[Affine]| -> Vec<u64> { of_stmt[..of_stmt.len().saturating_sub(1)].iter().map(stride).collect() };
    let all: Vec<Vec<u64>> = coordinates.iter().map(|of_stmt| strides(of_stmt)).collect();
    all.iter().map(|own| all.iter().position(|other| other == own).unwrap_or(0)).collect()
}

/// How far apart neighbouring places of a coordinate are; of one that stands still, 1.
pub(super) fn stride(coordinate: &Affine) -> u64 {
    steps(coordinate).max().unwrap_or(1)
}

/// The same along the iterator that goes on by the fewest places.
pub(super) fn least_stride(coordinate: &Affine) -> u64 {
    steps(coordinate).min().unwrap_or(1)
}

fn steps(coordinate: &Affine) -> impl Iterator<Item = u64> {
    let iterators = coordinate.terms().filter(|(term, _)| matches!(term, Term::Iter(_)));
    iterators.map(|(_, by)| by.unsigned_abs())
}

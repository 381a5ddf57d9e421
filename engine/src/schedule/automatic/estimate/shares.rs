//! What each statement computes in a step, and how its rows begin.
//!
//! In: a statement, the iterator that its rows go along.   Out: its instances, and the nanoseconds of its strips' beginnings.

use crate::kernel::affine::Affine;
use crate::kernel::graph::Stmt;
use crate::schedule::automatic::strides::length;
use crate::sets::boxes::{IntBox, boxes_of};

/// Nanoseconds of beginning a strip. Shows in `bench --suite quick`.
pub(super) const STRIP_NS: f64 = 20.0;
/// The same of a single cell, which mostly runs with the row that it ends. With much less, planes of 60 by 60 have no
/// tiles on two threads, at half their speed; with as much as for other strips, cubes have rows where blocks are 1.3
/// times as fast. Shows in `run heat-2d-5pt --schedule auto --threads 2 --set N=60` and `run heat-3d-7pt --schedule auto
/// --threads 1 --set N=200`.
const SINGLE_NS: f64 = 12.0;
/// Components of a cell, at most: colours with their opacity, numbers with two or three parts.
pub(super) const MOST_COMPONENTS: f64 = 4.0;

/// What a statement computes in a step.
pub(super) struct Share {
    /// Instances of a step.
    pub(super) points: f64,
    /// Nanoseconds on one thread.
    pub(super) work: f64,
    /// Of these, what it takes to begin strips.
    pub(super) begun: f64,
    /// How many cells its rows have.
    pub(super) cells: f64,
    /// Whether its rows, of a few cells, go on from one to the next.
    pub(super) is_one_strip: bool,
}

impl Share {
    /// Whether its rows are of components that do not go on.
    pub(super) fn is_of_components(&self) -> bool {
        !self.is_one_strip && (2.0..=MOST_COMPONENTS).contains(&self.cells)
    }
}

/// Instances of a step and nanoseconds of beginning strips of them, where a domain is made of boxes: that of a border is
/// no whole field. Iterators from `first` on are those of space, rows go along `row`. All rows of the dimension next to the
/// last one may be one strip.
pub(super) fn in_boxes(
    stmt: &Stmt,
    (first, row): (usize, Option<&Affine>),
    is_one_strip: bool,
    params: &[i64],
) -> Option<(f64, f64)> {
    let values: Vec<Affine> = params.iter().copied().map(Affine::constant).collect();
    let domain = stmt.domain.map(&|e| e.substitute_params(&values)).ok()?;
    let boxed = boxes_of(&domain, stmt.iters.len()).filter(|boxed| boxed.rest.is_empty())?;
    let mut order: Vec<usize> = (first..stmt.iters.len()).collect();
    if let Some(at) = order.iter().rposition(|&iter| row.is_some_and(|row| row.iter_coefficient(iter) != 0)) {
        order[at..].rotate_left(1);
    }
    let lengths = |part: &IntBox| order.iter().map(|&iter| length(part.ranges()[iter])).collect::<Vec<f64>>();
    let points = |lengths: &[f64]| lengths.iter().product::<f64>();
    let all: Vec<Vec<f64>> = boxed.boxes.iter().map(lengths).collect();
    let begun = |part: &[f64]| match part {
        [before @ .., _, _] if is_one_strip => points(before) * STRIP_NS,
        [before @ .., last] => points(before) * if *last > 1.0 { STRIP_NS } else { SINGLE_NS },
        [] => STRIP_NS,
    };
    Some((all.iter().map(|part| points(part)).sum(), all.iter().map(|part| begun(part)).sum()))
}

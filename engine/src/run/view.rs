//! Logical views: the cells of an array in index order, wherever the fold keeps them.

use crate::kernel::affine::{Affine, Term};
use crate::kernel::formula::{Formula, depends_on_first_only};
use crate::kernel::graph::{Array, ArrayId, Kernel, Role};
use crate::plan::layout::{BufferLayout, Layout};
use crate::plan::outcome::Outcome;
use crate::storage::{ArrayMapping, Piece};

/// One level of an array.
pub(crate) struct View<'a> {
    array: &'a Array,
    mapping: &'a ArrayMapping,
    layout: &'a Layout,
    /// Index prefix: the step of a state array, else empty.
    prefix: Vec<i64>,
    /// First value and extent of each remaining index.
    lower: Vec<i64>,
    extents: Vec<usize>,
    /// Bound parameters, for the index space's formula.
    params: Vec<i64>,
}

/// A run of cells along the last index, all of one buffer.
pub(crate) struct Row<'a> {
    pub(crate) buffer: usize,
    view: &'a View<'a>,
    layout: &'a BufferLayout,
    piece: &'a Piece,
    /// Full index of the first cell.
    index: Vec<i64>,
    length: usize,
    /// Whether the index space is a box, so that no cell needs a test.
    is_box: bool,
}

impl<'a> View<'a> {
    /// The level `step` of a state array, or the whole of another one.
    pub(crate) fn new(kernel: &'a Kernel, outcome: &'a Outcome, id: ArrayId, step: i64) -> View<'a> {
        let array = kernel.array(id);
        let mapping = outcome.layout.array(id).expect("every array has a layout");
        let prefix = if array.role == Role::State { vec![step] } else { Vec::new() };
        let spans = &outcome.index_boxes[id.index()];
        assert_eq!(spans.len(), array.index.len(), "`{}` has a range per index", array.name);
        let spans = &spans[prefix.len()..];
        View {
            array,
            mapping,
            layout: &outcome.layout,
            lower: spans.iter().map(|s| s.0).collect(),
            extents: spans.iter().map(|s| (s.1 - s.0 + 1).max(0) as usize).collect(),
            prefix,
            params: outcome.params.clone(),
        }
    }

    /// Extents of the indices, without a state array's step.
    pub(crate) fn shape(&self) -> Vec<usize> {
        self.extents.clone()
    }

    /// Visits rows in index order; a row is cut where it enters another piece.
    pub(crate) fn for_each_row(&self, visit: &mut dyn FnMut(&Row<'_>)) {
        if self.extents.contains(&0) {
            return;
        }
        let length = self.extents.last().copied().unwrap_or(1);
        let is_box = self.box_shaped();
        let mut index: Vec<i64> = self.prefix.iter().chain(&self.lower).copied().collect();
        loop {
            self.visit_row(&index, length, is_box, visit);
            if !self.next_row(&mut index) {
                return;
            }
        }
    }

    /// Moves to the next row; false after the last.
    fn next_row(&self, index: &mut [i64]) -> bool {
        let first = self.prefix.len();
        for k in (0..self.extents.len().saturating_sub(1)).rev() {
            index[first + k] += 1;
            if index[first + k] < self.lower[k] + self.extents[k] as i64 {
                return true;
            }
            index[first + k] = self.lower[k];
        }
        false
    }

    fn visit_row(&self, index: &[i64], length: usize, is_box: bool, visit: &mut dyn FnMut(&Row<'_>)) {
        let mut start = 0;
        while start < length {
            let mut first = index.to_vec();
            if let Some(last) = first.last_mut().filter(|_| !self.extents.is_empty()) {
                *last += start as i64;
            }
            let piece = self.piece_at(&first);
            let run = self.run_in_piece(piece, &first, length - start);
            let layout = &self.layout.buffers[piece.buffer];
            visit(&Row { buffer: piece.buffer, view: self, layout, piece, index: first, length: run, is_box });
            start += run;
        }
    }

    /// The piece that holds a cell; cells that never hold a value may have none and take the first.
    fn piece_at(&self, index: &[i64]) -> &'a Piece {
        let pieces = &self.mapping.pieces;
        let holds = |p: &&Piece| p.when.holds(index, &self.params).unwrap_or(false);
        pieces.iter().find(holds).unwrap_or(&pieces[0])
    }

    /// How many of `length` cells from `first` on along the last index are held by `piece`, which holds the first one.
    fn run_in_piece(&self, piece: &Piece, first: &[i64], length: usize) -> usize {
        let last = first.len().saturating_sub(1);
        if self.mapping.pieces.iter().all(|p| depends_on_first_only(&p.when)) {
            return length;
        }
        if !is_interval_along(&piece.when, last) {
            return 1;
        }
        let mut index = first.to_vec();
        let mut holds = |ahead: usize| {
            index[last] = first[last] + ahead as i64;
            piece.when.holds(&index, &self.params).unwrap_or(false)
        };
        let (mut held, mut beyond) = (1, length + 1);
        while beyond - held > 1 {
            let middle = held + (beyond - held) / 2;
            if holds(middle - 1) { held = middle } else { beyond = middle }
        }
        held
    }

    /// Whether the index space is a conjunction of bounds on single indices: then the bounding box is the space.
    fn box_shaped(&self) -> bool {
        fn single(formula: &Formula) -> bool {
            match formula {
                Formula::NonNegative(e) | Formula::Zero(e) => {
                    let iters = e.terms().filter(|(t, _)| matches!(t, Term::Iter(_))).count();
                    iters <= 1 && !e.has_floor()
                }
                Formula::And(parts) => parts.iter().all(single),
                Formula::Or(_) | Formula::Not(_) => false,
            }
        }
        single(&self.array.domain)
    }
}

/// Whether the values of one index for which a formula holds, all others fixed, follow each other: a conjunction of
/// bounds, no floor of that index in any.
fn is_interval_along(formula: &Formula, index: usize) -> bool {
    fn mentions(e: &Affine, index: usize) -> bool {
        e.terms().any(|(term, _)| match term {
            Term::Iter(i) => *i as usize == index,
            Term::Param(_) => false,
            Term::Floor(inner, _) => mentions(inner, index),
        })
    }
    match formula {
        Formula::NonNegative(e) | Formula::Zero(e) => {
            e.terms().all(|(term, _)| !matches!(term, Term::Floor(inner, _) if mentions(inner, index)))
        }
        Formula::And(parts) => parts.iter().all(|part| is_interval_along(part, index)),
        Formula::Or(_) | Formula::Not(_) => false,
    }
}

impl Row<'_> {
    /// Visits the row's cells with their place in the buffer and whether they belong to the index space.
    pub(crate) fn for_each_cell(&self, visit: &mut dyn FnMut(usize, bool)) {
        let last = self.index.len().checked_sub(1);
        let n = self.layout.moduli.len();
        debug_assert!(
            self.piece.matrix.len() == n && self.piece.offset.len() == n && self.layout.strides.len() == n,
            "a piece has a row, an offset and a stride per coordinate of its buffer"
        );
        debug_assert!(
            self.piece.matrix.iter().all(|row| row.len() == self.index.len()),
            "a row has a coefficient per index"
        );
        let mut coordinates: Vec<i64> =
            (0..n).map(|k| self.piece.coordinate(k, &self.index, self.layout.moduli[k])).collect();
        let steps: Vec<i64> = (0..n)
            .map(|k| last.map_or(0, |last| self.piece.matrix[k][last].rem_euclid(self.layout.moduli[k])))
            .collect();
        let mut index = self.index.clone();
        for _ in 0..self.length {
            let cell: u64 = coordinates.iter().zip(&self.layout.strides).map(|(&c, &s)| c as u64 * s).sum();
            let inside = self.is_box || self.view.array.domain.holds(&index, &self.view.params).unwrap_or(false);
            visit(cell as usize, inside);
            for (k, coordinate) in coordinates.iter_mut().enumerate() {
                *coordinate += steps[k];
                if *coordinate >= self.layout.moduli[k] {
                    *coordinate -= self.layout.moduli[k];
                }
            }
            if let Some(last) = last {
                index[last] += 1;
            }
        }
    }
}

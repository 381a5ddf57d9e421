//! What it costs to reach cells: an estimate, for choosing among proved mappings.
//!
//! In: a proposal.   Out: the cost of an access relative to one of a contiguous, unfolded array.
//!
//! What counts is the strip, the innermost run: whether its cells lie side by side, so that vectors load and store
//! them; how often it runs around a ring, where it is cut; how many formulas there are, each with a pointer of its own;
//! whether formulas tell what is read from what is written beside it.
//! The weights are those of the experiments behind docs/ARCHITECTURE.md, section 5: scalar code against vectors, a cut
//! against a vector. They only rank mappings.

use crate::kernel::affine::Affine;
use crate::kernel::graph::{ArrayId, DimKind, Stmt};
use crate::kernel::points::bounding_box;
use crate::schedule::automatic::MANY_STEPS;
use crate::storage::knobs::choice::{CUT, FORMULA, SCALAR_ACCESS, TURN_ITERATIONS, TURNED, UNTOLD};
use crate::storage::problem::{Problem, range};
use crate::storage::{Buffer, Piece, StorageMapping};

/// The cost of an access under a proposal, that of its worst array.
pub(crate) fn access_cost(problem: &Problem<'_, '_, '_>, proposal: &StorageMapping) -> f64 {
    let of_array = |mapping: &crate::storage::ArrayMapping| {
        let fast = problem.fast_dimension(mapping.array);
        let of_piece = |piece: &Piece| {
            let buffer = &proposal.buffers[piece.buffer];
            let turning = turning_rows(problem, mapping.array, piece, buffer);
            let turns = cost_of_turns(problem, mapping.array, piece, &turning);
            of_piece(problem, piece, buffer, fast) + turns + cost_of_stores(problem, mapping.array, piece, &turning)
        };
        mapping.pieces.iter().map(of_piece).fold(1.0, f64::max) + FORMULA * (mapping.pieces.len() as f64 - 1.0)
    };
    proposal.arrays.iter().map(of_array).fold(1.0, f64::max)
}

fn of_piece(problem: &Problem<'_, '_, '_>, piece: &Piece, buffer: &Buffer, fast: usize) -> f64 {
    // A coordinate with a single place is no formula.
    let formulas = buffer.moduli.iter().filter(|modulus| **modulus > 1).count();
    let mut cost = 1.0 + FORMULA * (formulas as f64 - 1.0).max(0.0);
    let step = |row: &Vec<i64>| row.get(fast).copied().unwrap_or(0);
    let Some((last, outer)) = piece.matrix.split_last() else { return cost };
    if has_lanes(problem) && (outer.iter().any(|row| step(row) != 0) || !(0..=1).contains(&step(last))) {
        cost += SCALAR_ACCESS - 1.0;
    }
    if let Some(ring) = turning_ring(piece, buffer, fast) {
        cost += (CUT / ring as f64).min(CUT);
    }
    cost
}

/// The ring that cuts rows that run in lanes, if one does: what places of rows move along with other indices.
pub(super) fn cutting_ring(problem: &Problem<'_, '_, '_>, piece: &Piece, buffer: &Buffer, fast: usize) -> Option<i64> {
    turning_ring(piece, buffer, fast).filter(|_| has_lanes(problem))
}

/// The length of the ring that rows of a piece may run around.
fn turning_ring(piece: &Piece, buffer: &Buffer, fast: usize) -> Option<i64> {
    let (last, outer) = piece.matrix.split_last()?;
    let moves = last.get(fast).is_some_and(|step| *step != 0);
    let shifts = last.iter().enumerate().any(|(k, c)| k != fast && *c != 0);
    (moves && (shifts || outer.is_empty())).then(|| buffer.moduli.last().copied().unwrap_or(1))
}

/// What innermost loops cost that move along a coordinate as it turns in a ring: of a row of places only the last one may
/// be gone along from cell to cell, and that one not in steps that lead around its ring after a few.
fn cost_of_turns(problem: &Problem<'_, '_, '_>, array: ArrayId, piece: &Piece, turning: &[Turning<'_>]) -> f64 {
    let kernel = problem.model.kernel;
    if turning.is_empty() {
        return 0.0;
    }
    let last = piece.matrix.len().saturating_sub(1);
    let of_access = |index: &[Affine], iter: usize| {
        let of_row = |(at, (row, modulus)): &(usize, (&Vec<i64>, i64))| {
            let along = |(c, e): (&i64, &Affine)| i128::from(*c) * i128::from(e.iter_coefficient(iter));
            let cells = row.iter().zip(index).map(along).sum::<i128>().unsigned_abs() as f64;
            match cells {
                0.0 => 0.0,
                _ if *at < last => TURNED,
                // A ring that is gone along from cell to cell is counted by itself.
                1.0 => 0.0,
                _ => TURNED * (TURN_ITERATIONS * cells / *modulus as f64).min(1.0),
            }
        };
        turning.iter().map(of_row).fold(0.0, f64::max)
    };
    let (mut sum, mut all) = (0.0, 0.0);
    for stmt in kernel.stmt_ids() {
        let body = kernel.stmt(stmt);
        let written = body.assigns.iter().map(|assign| (assign.array, assign.index.as_slice()));
        let own: Vec<&[Affine]> =
            body.reads().chain(written).filter(|(of, _)| *of == array).map(|(_, index)| index).collect();
        // A statement along the sides of tiles has few instances beside one inside of them.
        let accesses = instances(problem, body) * own.len() as f64;
        all += accesses;
        let Some(inner) = problem.innermost(stmt) else { continue };
        let cost = own.iter().map(|index| of_access(index, inner)).fold(0.0, f64::max);
        if cost > 0.0 && is_gone_along(problem, body, inner) {
            sum += cost * accesses;
        }
    }
    if sum > 0.0 { sum / all } else { 0.0 }
}

/// A coordinate that turns in a ring: its position, its row of coefficients, and how many places there are.
type Turning<'p> = (usize, (&'p Vec<i64>, i64));

fn turning_rows<'p>(
    problem: &Problem<'_, '_, '_>,
    array: ArrayId,
    piece: &'p Piece,
    buffer: &Buffer,
) -> Vec<Turning<'p>> {
    let spans = problem.spans(array).ok();
    let turns = |(_, (row, modulus)): &Turning<'_>| {
        let reached = spans.as_ref().and_then(|spans| range(row, 0, spans));
        *modulus > 1 && reached.is_none_or(|(min, max)| max - min >= i128::from(*modulus))
    };
    piece.matrix.iter().zip(buffer.moduli.iter().copied()).enumerate().filter(turns).collect()
}

/// What it costs that a cell which an instance reads may be the one that it writes, for all that the formulas say: what
/// was loaded before a store is loaded again behind it. Those a constant distance apart are told from each other, and
/// others by a coordinate that a constant moves along its ring, or one that does not turn.
fn cost_of_stores(problem: &Problem<'_, '_, '_>, array: ArrayId, piece: &Piece, turning: &[Turning<'_>]) -> f64 {
    let is_untold =
        |stmt: &Stmt| varying_distances(problem, stmt, array).iter().any(|apart| !tells(piece, turning, apart));
    if has_lanes(problem) && problem.model.kernel.stmts().iter().any(is_untold) { UNTOLD } else { 0.0 }
}

/// Whether a coordinate tells cells that are so far apart.
fn tells(piece: &Piece, turning: &[Turning<'_>], apart: &[Affine]) -> bool {
    let by = |row: &[i64]| {
        let mut terms = row.iter().zip(apart).map(|(&c, e)| e.scale(c).ok());
        terms.try_fold(Affine::constant(0), |sum, term| sum.add(&term?).ok())
    };
    piece.matrix.iter().enumerate().any(|(at, row)| {
        let Some(by) = by(row) else { return false };
        match (by.as_constant(), turning.iter().find(|(turns, _)| *turns == at)) {
            (Some(by), Some((_, (_, modulus)))) => by.rem_euclid(*modulus) != 0,
            (Some(by), None) => by != 0,
            (None, turning) => turning.is_none(),
        }
    })
}

/// How far cells of an array that an instance reads are from those that it writes, along each index, where that is no
/// constant. At a border, an iterator has one value.
fn varying_distances(problem: &Problem<'_, '_, '_>, stmt: &Stmt, array: ArrayId) -> Vec<Vec<Affine>> {
    let written = || stmt.assigns.iter().filter(|assign| assign.array == array);
    let apart = |written: &[Affine], taken: &[Affine]| {
        written.iter().zip(taken).map(|(w, r)| r.sub(w).ok()).collect::<Option<Vec<Affine>>>()
    };
    let taken = stmt.reads().filter(|(of, _)| *of == array);
    let pairs = taken.flat_map(|(_, taken)| written().filter_map(move |assign| apart(&assign.index, taken)));
    let varies = |apart: &Vec<Affine>| apart.iter().any(|e| e.as_constant().is_none());
    let mut varying: Vec<Vec<Affine>> = pairs.filter(varies).collect();
    if varying.is_empty() {
        return varying;
    }
    let ranges = iterations(problem, stmt).unwrap_or_default();
    for (iter, (value, _)) in ranges.into_iter().enumerate().filter(|(_, (first, last))| first == last) {
        for e in varying.iter_mut().flatten() {
            *e = e.substitute_iter(iter, &Affine::constant(value)).unwrap_or_else(|_| e.clone());
        }
    }
    varying.retain(varies);
    varying
}

/// Whether an iterator of a statement has several values.
fn is_gone_along(problem: &Problem<'_, '_, '_>, stmt: &Stmt, iter: usize) -> bool {
    iterations(problem, stmt).is_none_or(|ranges| ranges[iter].0 < ranges[iter].1)
}

/// Instances of a statement, about: those of the box around them.
fn instances(problem: &Problem<'_, '_, '_>, stmt: &Stmt) -> f64 {
    let ranges = iterations(problem, stmt).unwrap_or_default();
    ranges.iter().map(|(first, last)| (*last as f64 - *first as f64 + 1.0).max(1.0)).product()
}

/// First and last value of each iterator of a statement; none if there are none, or some have no bounds.
fn iterations(problem: &Problem<'_, '_, '_>, stmt: &Stmt) -> Option<Vec<(i64, i64)>> {
    // Parameters of a run are numbers of steps.
    let params = vec![MANY_STEPS; problem.model.kernel.params().len()];
    bounding_box(&stmt.domain, stmt.iters.len(), &params).ok().flatten()
}

/// Whether some dimension of the schedule runs in lanes.
fn has_lanes(problem: &Problem<'_, '_, '_>) -> bool {
    problem.model.schedule.dims.iter().any(|kind| matches!(kind, DimKind::Vector(_)))
}

//! What it costs to reach cells: an estimate, for choosing among proved mappings.
//!
//! In: a proposal.   Out: the cost of an access relative to one of a contiguous, unfolded array.
//!
//! What counts is the strip, the innermost run: whether its cells lie side by side, so that vectors load and store
//! them; how often it runs around a ring, where it is cut; how many formulas there are, each with a pointer of its own.
//! The weights are those of the experiments behind docs/ARCHITECTURE.md, section 5: scalar code against vectors, a cut
//! against a vector. They only rank mappings.

use crate::kernel::affine::Affine;
use crate::kernel::graph::{ArrayId, DimKind, Stmt, StmtId};
use crate::kernel::points::bounding_box;
use crate::schedule::automatic::MANY_STEPS;
use crate::storage::knobs::choice::{CUT, FORMULA, SCALAR_ACCESS, TURN_ITERATIONS, TURNED};
use crate::storage::problem::{Problem, range};
use crate::storage::{Buffer, Piece, StorageMapping};

/// The cost of an access under a proposal, that of its worst array.
pub(crate) fn access_cost(problem: &Problem<'_, '_, '_>, proposal: &StorageMapping) -> f64 {
    let of_array = |mapping: &crate::storage::ArrayMapping| {
        let fast = problem.fast_dimension(mapping.array);
        let of_piece = |piece: &Piece| {
            let buffer = &proposal.buffers[piece.buffer];
            of_piece(problem, piece, buffer, fast) + cost_of_turns(problem, mapping.array, piece, buffer)
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
fn cost_of_turns(problem: &Problem<'_, '_, '_>, array: ArrayId, piece: &Piece, buffer: &Buffer) -> f64 {
    let (kernel, spans) = (problem.model.kernel, problem.spans(array).ok());
    let turns = |(_, (row, modulus)): &(usize, (&Vec<i64>, i64))| {
        let reached = spans.as_ref().and_then(|spans| range(row, 0, spans));
        *modulus > 1 && reached.is_none_or(|(min, max)| max - min >= i128::from(*modulus))
    };
    let rows = piece.matrix.iter().zip(buffer.moduli.iter().copied()).enumerate();
    let turning: Vec<(usize, (&Vec<i64>, i64))> = rows.filter(turns).collect();
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
    let of_stmt = |stmt: StmtId| {
        let body = kernel.stmt(stmt);
        let written = body.assigns.iter().map(|assign| (assign.array, assign.index.as_slice()));
        let own = body.reads().chain(written).filter(|(of, _)| *of == array);
        let Some(inner) = problem.innermost(stmt) else { return 0.0 };
        let cost = own.map(|(_, index)| of_access(index, inner)).fold(0.0, f64::max);
        if cost > 0.0 && is_gone_along(problem, body, inner) { cost } else { 0.0 }
    };
    kernel.stmt_ids().map(of_stmt).fold(0.0, f64::max)
}

/// Whether an iterator of a statement has several values.
fn is_gone_along(problem: &Problem<'_, '_, '_>, stmt: &Stmt, iter: usize) -> bool {
    // Parameters of a run are numbers of steps.
    let params = vec![MANY_STEPS; problem.model.kernel.params().len()];
    let found = bounding_box(&stmt.domain, stmt.iters.len(), &params).ok().flatten();
    found.is_none_or(|ranges| ranges[iter].0 < ranges[iter].1)
}

/// Whether some dimension of the schedule runs in lanes.
fn has_lanes(problem: &Problem<'_, '_, '_>) -> bool {
    problem.model.schedule.dims.iter().any(|kind| matches!(kind, DimKind::Vector(_)))
}

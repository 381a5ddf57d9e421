//! What it costs to reach cells: an estimate, for choosing among proved mappings.
//!
//! In: a proposal.   Out: the cost of an access relative to one of a contiguous, unfolded array.
//!
//! What counts is the strip, the innermost run: whether its cells lie side by side, so that vectors load and store
//! them; how often it runs around a ring, where it is cut; how many formulas there are, each with a pointer of its own.
//! The weights are those of the experiments behind docs/ARCHITECTURE.md, section 5: scalar code against vectors, a cut
//! against a vector. They only rank mappings.

use crate::kernel::graph::DimKind;
use crate::storage::knobs::choice::{CUT, FORMULA, SCALAR_ACCESS};
use crate::storage::problem::Problem;
use crate::storage::{Buffer, Piece, StorageMapping};

/// The cost of an access under a proposal, that of its worst array.
pub(crate) fn access_cost(problem: &Problem<'_, '_, '_>, proposal: &StorageMapping) -> f64 {
    let of_array = |mapping: &crate::storage::ArrayMapping| {
        let fast = problem.fast_dimension(mapping.array);
        let pieces = mapping.pieces.iter().map(|piece| of_piece(problem, piece, &proposal.buffers[piece.buffer], fast));
        pieces.fold(1.0, f64::max) + FORMULA * (mapping.pieces.len() as f64 - 1.0)
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

/// Whether some dimension of the schedule runs in lanes.
fn has_lanes(problem: &Problem<'_, '_, '_>) -> bool {
    problem.model.schedule.dims.iter().any(|kind| matches!(kind, DimKind::Vector(_)))
}

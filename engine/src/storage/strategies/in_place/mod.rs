//! In place: a written value takes a slot that dies in the same instance, across the arrays of a statement.
//!
//! In: statements that read each of a group of state arrays at a constant distance, and write each once.
//! Out: pieces by `t mod P`. Source: ours; occupancy vectors: Strout, Carter, Ferrante and Simon (1998); the two
//! schemes it derives: periodic shift (Kummerländer et al. 2022, OpenLB) and the AA pattern (Bailey, Myre, Walsh, Lilja
//! and Saar 2009).
//!
//! Let `f_q[t, x]` take the slot of the dying `f_pi(q)[t-1, x - c_pi(q)]`, for a permutation `pi`. Then it lives in the
//! buffer of `pi^t(q)`, displaced by the `c` of all arrays on the way. If those sum to zero over every cycle of `pi`,
//! slots never drift and the storage only depends on `t mod P`: `q -> opposite(q)` gives P = 2, the AA pattern. The
//! identity drifts by `c_q` each step: the periodic shift, in a ring.
//!
//! Which permutation is searched (`cycles`), never known beforehand. At the border of the domain other slots die than
//! inside. Where it is known who reads what, `exchange` finds them for every cell, so that nothing is wasted: exactly
//! one lattice. Otherwise boxes with some room are proposed (`shifted`), smallest first, and the checker says whether
//! the room suffices.

mod cycles;
mod exchange;
mod group;
mod shifted;

use crate::kernel::affine::Affine;
use crate::kernel::formula::Formula;
use crate::kernel::graph::ArrayId;
use crate::storage::knobs::in_place::RESTING_PARTS;
use crate::storage::options::StrategyId;
use crate::storage::problem::{Problem, Strategy};
use crate::storage::{MappingError, StorageMapping};
use cycles::zero_drift_permutation;
use group::Group;

/// Reuse of dying slots within a statement.
pub(crate) struct InPlace;

impl Strategy for InPlace {
    fn id(&self) -> StrategyId {
        StrategyId::InPlace
    }

    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<StorageMapping>, MappingError> {
        let group = Group::of(problem, arrays, self.id())?;
        let cycle = zero_drift_permutation(&group.distances);
        let mut resting = Vec::from_iter(exchange::exchange(problem, &group, cycle.as_ref())?);
        // Without slack the box is a torus, which holds only if no statement finds its values elsewhere.
        let slacks = if group.may_close(problem) { 0..2 } else { 1..2 };
        if let Some(cycle) = cycle {
            for slack in slacks.clone() {
                resting.push(shifted::resting(&group, &cycle, slack)?);
            }
        }
        resting.sort_by_key(cost);
        let drifting: Vec<StorageMapping> = slacks.map(|slack| shifted::drifting(&group, slack)).collect();
        // Storage that rests is faster, but may not take many more cells.
        let most = drifting.last().map_or(u128::MAX, |ring| cost(ring).0.saturating_add(cost(ring).0 / RESTING_PARTS));
        let (small, large): (Vec<_>, Vec<_>) = resting.into_iter().partition(|proposal| cost(proposal).0 <= most);
        Ok(small.into_iter().chain(drifting).chain(large).collect())
    }
}

/// Cells, then pieces: what makes one proposal better than another.
fn cost(proposal: &StorageMapping) -> (u128, usize) {
    let cells = |moduli: &[i64]| moduli.iter().fold(1_u128, |n, &m| n.saturating_mul(m.unsigned_abs().into()));
    let cells = proposal.buffers.iter().fold(0_u128, |sum, buffer| sum.saturating_add(cells(&buffer.moduli)));
    (cells, proposal.arrays.iter().map(|mapping| mapping.pieces.len()).sum())
}

/// `[0 | identity]`: coordinates are the indices after the step.
fn without_step(n: usize) -> Vec<Vec<i64>> {
    (0..n).map(|row| (0..=n).map(|column| i64::from(column == row + 1)).collect()).collect()
}

/// Cells whose first index is `residue` modulo `period`.
fn step_residue(period: i64, residue: i64) -> Result<Formula, MappingError> {
    if period == 1 {
        return Ok(Formula::everything());
    }
    Ok(Formula::eq(&Affine::iter(0).modulo(period)?, &Affine::constant(residue))?)
}

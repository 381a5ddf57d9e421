//! Rows that no ring cuts: whether a private array should have them, though what was picked is smaller.
//!
//! In: the candidates for an array, and which one was picked.   Out: another one, or none.
//!
//! A row that runs across the end of a ring is cut into pieces, which takes as long as [`CUT_CELLS`] more cells. In a
//! ring of a row or two many rows are. A private array has one copy a thread, which stays in the first-level cache if it
//! is small: there, a copy of up to twice the size costs no traffic, and takes some cells more of all that a plan has.
//! So it may be picked, if the estimate says that cuts take longer than what it costs. Reports say so, and in bytes what
//! it takes ([`super::decision::Reason::Uncut`]).

use crate::kernel::graph::ArrayId;
use crate::storage::choose::candidate::Candidate;
use crate::storage::choose::cost::cutting_ring;
use crate::storage::knobs::choice::{CUT_CELLS, FAST_ACCESS, SHORTEST_CUT_RING, UNCUT_PARTS};
use crate::storage::options::Objective;
use crate::storage::problem::Problem;
use crate::storage::{Sharing, StorageMapping};

/// The candidate with whole rows that takes the place of the one `picked`; none if that one may stay. The smallest that
/// is proved has `least_bytes`.
pub(super) fn uncut(
    problem: &Problem<'_, '_, '_>,
    array: ArrayId,
    objective: Objective,
    found: &[Candidate],
    picked: usize,
    least_bytes: u64,
) -> Option<usize> {
    let own = &found[picked];
    let ring = ring_of(problem, &own.proposal).filter(|ring| *ring >= SHORTEST_CUT_RING)?;
    let cost = own.access + CUT_CELLS / ring as f64;
    if objective == Objective::Footprint || problem.sharing(array) != Sharing::Private || cost < FAST_ACCESS {
        return None;
    }
    let room = problem.machine.first_level_cache_bytes / UNCUT_PARTS;
    let most = least_bytes.saturating_mul(2).min(room);
    let is_better =
        |other: &Candidate| other.bytes <= most && other.access < cost && ring_of(problem, &other.proposal).is_none();
    let better = (0..found.len()).filter(|&at| is_better(&found[at]));
    better.min_by_key(|&at| found[at].bytes)
}

/// The shortest ring that cuts rows in a proposal.
fn ring_of(problem: &Problem<'_, '_, '_>, proposal: &StorageMapping) -> Option<i64> {
    let pieces = proposal.arrays.iter().flat_map(|mapping| {
        let fast = problem.fast_dimension(mapping.array);
        mapping.pieces.iter().map(move |piece| (piece, fast))
    });
    pieces.filter_map(|(piece, fast)| cutting_ring(problem, piece, &proposal.buffers[piece.buffer], fast)).min()
}

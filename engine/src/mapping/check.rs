//! Proposals and the checker: what a search asks while it looks for storage.
//!
//! The checker (`engine/src/check/`) knows nothing of what a search knows, and gets nothing but the proposal. Its last
//! word is about the whole mapping, after everything that changes one ([`choose_mapping`]).
//!
//! [`choose_mapping`]: crate::mapping::choice::choose_mapping

use crate::mapping::{MappingError, Problem, Proposal};

/// Proves a proposal, or names two cells that it would keep in one place.
pub(crate) fn verify_mapping(problem: &Problem<'_, '_, '_>, proposal: &Proposal) -> Result<(), MappingError> {
    problem.checker.verify(&proposal.buffers, &proposal.arrays).map(drop)
}

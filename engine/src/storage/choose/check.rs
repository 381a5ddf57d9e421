//! Proposals and the checker: what a search asks while it looks for storage.
//!
//! The checker (`engine/src/check/`) knows nothing of what a search knows, and gets nothing but the proposal. Its last
//! word is about the whole mapping, after everything that changes one ([`choose_mapping`]).
//!
//! [`choose_mapping`]: crate::storage::choose::choice::choose_mapping

use log::{debug, trace};

use crate::kernel::graph::ArrayId;
use crate::storage::choose::logging::{Buffers, answered, names};
use crate::storage::problem::{Problem, Strategy};
use crate::storage::{MappingError, StorageMapping};

/// Proves a proposal, or names two cells that it would keep in one place.
pub(crate) fn verify_mapping(problem: &Problem<'_, '_, '_>, proposal: &StorageMapping) -> Result<(), MappingError> {
    let verify = || problem.checker.verify(&proposal.buffers, &proposal.arrays);
    problem.model.clock.time("proof", verify).map(drop)
}

/// The first proposal of a strategy that the checker accepts, under a quota of its own.
pub(crate) fn first_proved(
    problem: &Problem<'_, '_, '_>,
    strategy: &dyn Strategy,
    arrays: &[ArrayId],
    notes: &mut Vec<String>,
) -> Result<StorageMapping, MappingError> {
    first_useful(problem, strategy, arrays, notes, |_| Ok(true)).map(|(proposal, _)| proposal)
}

/// The first proposal of a strategy that the checker accepts, or that is of no use, and whether it was proved: what is
/// of no use is not.
pub(crate) fn first_useful(
    problem: &Problem<'_, '_, '_>,
    strategy: &dyn Strategy,
    arrays: &[ArrayId],
    notes: &mut Vec<String>,
    is_useful: impl Fn(&StorageMapping) -> Result<bool, MappingError>,
) -> Result<(StorageMapping, bool), MappingError> {
    let name = strategy.id().name();
    trace!("{}: {name} is asked", names(problem.model.kernel, arrays));
    let answer = under_own_quota(problem, name, arrays, || {
        let mut last = MappingError::NotApplicable { strategy: name, reason: "it has no candidate".into() };
        for proposal in strategy.propose(problem, arrays)? {
            trace!("{name} proposes {}", Buffers(&proposal));
            if !is_useful(&proposal)? {
                return Ok((proposal, false));
            }
            match verify_mapping(problem, &proposal) {
                Ok(()) => return Ok((proposal, true)),
                Err(error @ MappingError::Unproved { .. }) => {
                    let note = format!("rejected: {error}");
                    debug!("{}: {note}", Buffers(&proposal));
                    if !notes.contains(&note) {
                        notes.push(note);
                    }
                    last = error;
                }
                Err(error) => return Err(error),
            }
        }
        Err(last)
    });
    answered(problem, (name, arrays), &answer);
    answer
}

/// Takes a step of a search for storage; a spent quota is told with who spent it.
pub(crate) fn under_own_quota<R>(
    problem: &Problem<'_, '_, '_>,
    strategy: &'static str,
    arrays: &[ArrayId],
    step: impl FnOnce() -> Result<R, MappingError>,
) -> Result<R, MappingError> {
    problem.model.context.reset_operations();
    let result = step();
    problem.spent.set(problem.spent.get().saturating_add(problem.model.context.operations()));
    result.map_err(|error| match &error {
        MappingError::Analysis(cause) => cause.spent_quota().map_or(error.clone(), |limit| {
            let arrays = names(problem.model.kernel, arrays);
            MappingError::GaveUp { strategy, arrays, limit }
        }),
        _ => error,
    })
}

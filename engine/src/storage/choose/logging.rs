//! What the choice of storage logs: proposals, what becomes of them, and decisions.
//!
//! In: what the search does.   Out: events of the `log` facade, which cost nothing while no logger listens: `debug`
//! says who was asked, what was dropped and why, and what was chosen; `trace` every proposal.

use std::fmt;

use log::debug;

use crate::kernel::graph::{ArrayId, Kernel};
use crate::storage::choose::candidate::Candidate;
use crate::storage::choose::decision::Decision;
use crate::storage::problem::Problem;
use crate::storage::{MappingError, StorageMapping};

/// Names of arrays, as messages have them.
pub(super) fn names(kernel: &Kernel, arrays: &[ArrayId]) -> String {
    arrays.iter().map(|&id| format!("`{}`", kernel.array(id).name)).collect::<Vec<_>>().join(", ")
}

/// The buffers of a proposal with their moduli.
pub(super) struct Buffers<'p>(pub(super) &'p StorageMapping);

impl fmt::Display for Buffers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |(name, moduli): (&str, &[i64])| format!("{name}{moduli:?}");
        let buffers = self.0.buffers.iter().map(|buffer| one((&buffer.name, &buffer.moduli)));
        f.write_str(&buffers.collect::<Vec<_>>().join(", "))
    }
}

/// What became of a question to a strategy, and the operations that it took.
pub(super) fn answered(
    problem: &Problem<'_, '_, '_>,
    (strategy, arrays): (&str, &[ArrayId]),
    answer: &Result<(StorageMapping, bool), MappingError>,
) {
    if !log::log_enabled!(log::Level::Debug) {
        return;
    }
    let (names, spent) = (names(problem.model.kernel, arrays), problem.model.context.operations());
    match answer {
        Ok((proposal, true)) => debug!("{names}: {strategy}: {}, proved; {spent} operations", Buffers(proposal)),
        Ok((proposal, false)) => {
            debug!(
                "{names}: {strategy}: {}, dropped as no better than what is known; {spent} operations",
                Buffers(proposal)
            );
        }
        Err(error) => debug!("{names}: {strategy}: nothing, {error}; {spent} operations"),
    }
}

/// What was chosen for some arrays, among what.
pub(super) fn decided<'a>(
    problem: &Problem<'_, '_, '_>,
    decision: &Decision,
    found: impl IntoIterator<Item = &'a Candidate>,
) {
    if !log::log_enabled!(log::Level::Debug) {
        return;
    }
    let names = names(problem.model.kernel, &decision.arrays);
    let chosen = &decision.chosen;
    debug!(
        "{names}: {} is chosen ({} bytes, {:.2} an access): {:?}",
        chosen.strategy,
        chosen.bytes,
        chosen.access,
        decision.reason()
    );
    for other in found {
        let strategy = other.strategy_name();
        let (bytes, access) = (other.bytes, other.access);
        let proof = if other.proved { "proved" } else { "not proved, as it is not used" };
        debug!("{names}: {strategy} is dropped ({bytes} bytes, {access:.2} an access), {proof}");
    }
    for (list, why) in [(&decision.gave_up, "gave up"), (&decision.not_asked, "not asked, as there is no need")] {
        list.iter().for_each(|strategy| debug!("{names}: {strategy}: {why}"));
    }
}

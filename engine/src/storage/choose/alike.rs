//! Storage of arrays that are touched alike: found once.
//!
//! In: what was found for an array.   Out: the same for another one that the same instances write and read at the same
//! cells ([`Kernel::first_alike`]), as fluxes of one statement are; the checker proves it as it proves any other.
//!
//! [`Kernel::first_alike`]: crate::kernel::graph::Kernel::first_alike

use crate::kernel::graph::ArrayId;
use crate::storage::MappingError;
use crate::storage::choose::candidate::Candidate;
use crate::storage::choose::decision::Decision;
use crate::storage::choose::search::BestOfOne;
use crate::storage::problem::Problem;

impl BestOfOne {
    /// The same for an array that is touched alike, by the name of which its buffers go.
    pub(super) fn of_other(
        &self,
        problem: &Problem<'_, '_, '_>,
        array: ArrayId,
        notes: &mut Vec<String>,
    ) -> Result<BestOfOne, MappingError> {
        let known = self.best.proposal.arrays[0].array;
        let [from, to] = [known, array].map(|id| problem.model.kernel.array(id).name.as_str());
        notes.push(format!("`{to}` is touched as `{from}` is, and kept alike"));
        let alive = problem.alive.borrow().get(&known).copied();
        if let Some(alive) = alive {
            problem.alive.borrow_mut().insert(array, alive);
        }
        let renamed = |candidate: &Candidate| {
            let mut proposal = candidate.proposal.clone();
            proposal.arrays[0].array = array;
            for buffer in &mut proposal.buffers {
                // A part has a suffix behind the name of the array.
                buffer.name = match buffer.name.strip_prefix(from).and_then(|rest| rest.strip_prefix('_')) {
                    Some(part) => problem.free_name(to, part.trim_end_matches('_')),
                    None => to.to_string(),
                };
            }
            Ok::<_, MappingError>(Candidate { proved: candidate.proved, ..Candidate::new(problem, proposal)? })
        };
        let decision = Decision { arrays: vec![array], ..self.decision.clone() };
        Ok(BestOfOne { best: renamed(&self.best)?, smaller: self.smaller.as_ref().map(renamed).transpose()?, decision })
    }
}

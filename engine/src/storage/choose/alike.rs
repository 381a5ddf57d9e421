//! Storage of arrays that are touched alike: found once.
//!
//! In: what was found for an array.   Out: the same for another one that the same instances write and read at the same
//! cells ([`Kernel::first_alike`]), as fluxes of one statement are. The checker is not told: it finds out by itself
//! whether one proof holds for both.
//!
//! [`Kernel::first_alike`]: crate::kernel::graph::Kernel::first_alike

use crate::kernel::graph::ArrayId;
use crate::storage::MappingError;
use crate::storage::choose::candidate::Candidate;
use crate::storage::choose::check::{under_own_quota, verify_mapping};
use crate::storage::choose::decision::Decision;
use crate::storage::choose::search::BestOfOne;
use crate::storage::problem::Problem;

impl BestOfOne {
    /// The same for an array that is touched alike, by the name of which its buffers go; none if it is not proved.
    pub(super) fn of_other(
        &self,
        problem: &Problem<'_, '_, '_>,
        array: ArrayId,
        notes: &mut Vec<String>,
    ) -> Result<Option<BestOfOne>, MappingError> {
        let known = self.best.proposal.arrays[0].array;
        let [from, to] = [known, array].map(|id| problem.model.kernel.array(id).name.as_str());
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
            let strategy = candidate.strategy_name();
            let proof = under_own_quota(problem, strategy, &[array], || verify_mapping(problem, &proposal));
            let other = Candidate::new(problem, proposal)?;
            Ok::<_, MappingError>(proof.is_ok().then_some(Candidate { proved: true, ..other }))
        };
        let Some(best) = renamed(&self.best)? else { return Ok(None) };
        let smaller = self.smaller.as_ref().map(renamed).transpose()?.flatten();
        notes.push(format!("`{to}` is touched as `{from}` is, and kept alike"));
        let alive = problem.alive.borrow().get(&known).copied();
        if let Some(alive) = alive {
            problem.alive.borrow_mut().insert(array, alive);
        }
        let decision = Decision { arrays: vec![array], ..self.decision.clone() };
        Ok(Some(BestOfOne { best, smaller, decision }))
    }
}

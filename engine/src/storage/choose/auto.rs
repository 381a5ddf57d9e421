//! Choice: which proved mapping is used.
//!
//! In: the folded arrays and an objective.   Out: proved storage for each, and why it was chosen.
//!
//! 1. `in-place` folds all state arrays together, if it can.
//! 2. Every other array gets the best mapping of its own (`search`).
//! 3. Arrays with storage of their own then share a buffer if that is better.
//!
//! Mappings are compared by bytes and by the cost of an access, as the objective says, and nothing is taken that is far
//! from the smallest that was found (`candidate` has the rule). What is not proved is not used: the fallback is the
//! next best proved mapping, at last full storage, and the notes say so.

use crate::analysis::bound::alive_at_ends;
use crate::analysis::peak_liveness::{POINTS_QUOTA, most_alive};
use crate::kernel::graph::{ArrayId, Role};
use crate::storage::choose::alive::{cells_of_steps, unless_spent};
use crate::storage::choose::candidate::{Candidate, is_near, near_below, pick};
use crate::storage::choose::check::first_proved;
use crate::storage::choose::decision::{Choice, Decision};
use crate::storage::choose::logging::decided;
use crate::storage::choose::search::{BestOfOne, Search};
use crate::storage::knobs::choice::{ENDS_BUDGET, LEAST_BUDGET};
use crate::storage::options::{Objective, StrategyId};
use crate::storage::problem::Problem;
use crate::storage::strategies::in_place::InPlace;
use crate::storage::strategies::leaning::may_lean;
use crate::storage::strategies::shared::{Shared, may_share};
use crate::storage::{ArrayMapping, Buffer, MappingError, StorageMapping};

/// Chooses proved storage for all of `arrays`.
pub(crate) fn choose_automatically(
    problem: &Problem<'_, '_, '_>,
    arrays: &[ArrayId],
    objective: Objective,
    chosen: &mut Choice,
) -> Result<(), MappingError> {
    let is_state = |id: &ArrayId| problem.model.kernel.array(*id).role == Role::State;
    let (state, mut rest): (Vec<ArrayId>, Vec<ArrayId>) = arrays.iter().partition(|id| is_state(id));
    if !state.is_empty() && !choose_in_place(problem, &state, objective, chosen)? {
        rest.splice(0..0, state);
    }
    let mut separate: Vec<BestOfOne> = Vec::new();
    for &array in &rest {
        // What is touched alike is kept alike.
        let alike = problem.model.kernel.first_alike(array);
        let known = rest.iter().take(separate.len()).position(|other| *other == alike);
        let known = known.map(|at| separate[at].of_other(problem, array, &mut chosen.notes)).transpose()?.flatten();
        let found = match known {
            Some(found) => found,
            None => Search::new(problem, array, objective, &mut chosen.notes).best()?,
        };
        separate.push(found);
    }
    match together(problem, &rest, objective, &mut separate, chosen)? {
        Some(proposal) => chosen.mapping.append(proposal),
        None => {
            for found in separate {
                chosen.mapping.append(found.best.proposal);
                chosen.decisions.push(found.decision);
            }
        }
    }
    Ok(())
}

/// Folds the states together, in place, if that can be done and each on its own would not take clearly less.
fn choose_in_place(
    problem: &Problem<'_, '_, '_>,
    state: &[ArrayId],
    objective: Objective,
    chosen: &mut Choice,
) -> Result<bool, MappingError> {
    let proposal = match first_proved(problem, &InPlace, state, &mut chosen.notes) {
        Ok(proposal) => proposal,
        Err(error) => {
            if !matches!(error, MappingError::Unproved { .. }) {
                chosen.notes.push(error.to_string());
            }
            return Ok(false);
        }
    };
    let mut found = vec![Candidate::new(problem, proposal)?];
    if !is_near(found[0].bytes, bytes_at_ends(problem, state)?) {
        let search = |&array: &ArrayId| Search::new(problem, array, objective, &mut Vec::new()).best();
        let separate = state.iter().map(search).collect::<Result<Vec<_>, MappingError>>()?;
        found.push(all_of(problem, separate.iter().map(BestOfOne::best))?);
        found.push(all_of(problem, separate.iter().map(BestOfOne::smallest))?);
    }
    let is_best = pick(&found, objective) == Some(0);
    if is_best {
        let decision = Decision::new(state.to_vec(), &found[0], &found);
        let best = found.swap_remove(0);
        decided(problem, &decision, &found);
        chosen.decisions.push(decision);
        chosen.mapping.append(best.proposal);
    }
    Ok(is_best)
}

/// Bytes of what enters a run together, or leaves it; 0 where that takes too much to count.
fn bytes_at_ends(problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<u64, MappingError> {
    let mut bytes = 0_u64;
    for &array in arrays {
        let cells = match problem.readers(array) {
            Some(_) => cells_of_steps(problem, array).unwrap_or(0),
            None => unless_spent(alive_at_ends(problem.model, &[array], ENDS_BUDGET))?.unwrap_or(0),
        };
        bytes = bytes.saturating_add(cells.saturating_mul(problem.model.kernel.array(array).element.bytes()));
    }
    Ok(bytes)
}

/// The storage of several arrays as one candidate.
fn all_of<'a>(
    problem: &Problem<'_, '_, '_>,
    separate: impl Iterator<Item = &'a Candidate>,
) -> Result<Candidate, MappingError> {
    let mut all = StorageMapping::default();
    separate.for_each(|candidate| all.append(candidate.proposal.clone()));
    Candidate::new(problem, all)
}

/// Storage in which arrays share buffers, if it is better than that of each. Its decision then is one for all.
fn together(
    problem: &Problem<'_, '_, '_>,
    arrays: &[ArrayId],
    objective: Objective,
    separate: &mut [BestOfOne],
    chosen: &mut Choice,
) -> Result<Option<StorageMapping>, MappingError> {
    // Halves that are run towards each other have no row of cells in common with anything, and the margins of states in
    // tiles move with them.
    let is_apart = |(found, &array): (&BestOfOne, &ArrayId)| {
        found.best.strategy() == Some(StrategyId::Mirrored) || may_lean(problem, array)
    };
    if separate.iter().zip(arrays).any(is_apart) || !may_share(problem, arrays)? {
        separate.iter_mut().for_each(|found| found.decision.not_asked.push(StrategyId::Shared));
        return Ok(None);
    }
    if objective == Objective::Speed || !could_save(problem, arrays, separate)? {
        return Ok(None);
    }
    let context = problem.model.context;
    let budget = LEAST_BUDGET.min(context.max_operations());
    let found = context.under_quota(budget, || first_proved(problem, &Shared, arrays, &mut Vec::new()));
    let proposal = match found {
        Ok(proposal) => proposal,
        Err(error) => {
            if matches!(error, MappingError::GaveUp { .. }) {
                chosen.notes.push(error.to_string());
                separate.iter_mut().for_each(|found| found.decision.gave_up.push(StrategyId::Shared));
            }
            return Ok(None);
        }
    };
    let (best_of, smallest_of) = (BestOfOne::best, BestOfOne::smallest);
    // What the mixture keeps apart was chosen by its speed too: all as it was proposed, or what is smallest of each,
    // may be smaller.
    let mut found = vec![
        all_of(problem, separate.iter().map(best_of))?,
        Candidate::new(problem, with_own_buffers(&proposal, arrays, separate.iter().map(best_of)))?,
        all_of(problem, separate.iter().map(smallest_of))?,
        Candidate::new(problem, with_own_buffers(&proposal, arrays, separate.iter().map(smallest_of)))?,
        Candidate::new(problem, proposal)?,
    ];
    let Some(best) = pick(&found, objective) else { return Ok(None) };
    let mut decision = Decision::new(arrays.to_vec(), &found[best], &found);
    if best == 0 {
        if decision.chosen != decision.smallest {
            chosen.decisions.push(decision);
        }
        return Ok(None);
    }
    let what = if best == 2 { "the smallest of each array together" } else { "arrays share buffers" };
    chosen.notes.push(format!("{what}: {} bytes instead of {}", found[best].bytes, found[0].bytes));
    for of_one in separate {
        decision.gave_up.append(&mut of_one.decision.gave_up);
    }
    decision.gave_up.sort_unstable_by_key(|id| id.name());
    decision.gave_up.dedup();
    let best = found.swap_remove(best);
    decided(problem, &decision, &found);
    chosen.decisions.push(decision);
    Ok(Some(best.proposal))
}

/// Shared storage, but arrays that have a buffer to themselves in it are kept as they would be alone.
fn with_own_buffers<'a>(
    shared: &StorageMapping,
    arrays: &[ArrayId],
    separate: impl Iterator<Item = &'a Candidate>,
) -> StorageMapping {
    let residents = |buffer: usize| {
        let kept_in = |mapping: &&ArrayMapping| mapping.pieces.iter().any(|piece| piece.buffer == buffer);
        shared.arrays.iter().filter(kept_in).count()
    };
    let mut mixed = StorageMapping::default();
    for (buffer, body) in shared.buffers.iter().enumerate().filter(|(buffer, _)| residents(*buffer) > 1) {
        let mut part = StorageMapping { buffers: vec![body.clone()], arrays: Vec::new() };
        for mapping in shared.arrays.iter().filter(|mapping| mapping.pieces[0].buffer == buffer) {
            let mut mapping = mapping.clone();
            mapping.pieces.iter_mut().for_each(|piece| piece.buffer = 0);
            part.arrays.push(mapping);
        }
        mixed.append(part);
    }
    for (array, candidate) in arrays.iter().zip(separate) {
        if !mixed.arrays.iter().any(|mapping| mapping.array == *array) {
            mixed.append(candidate.proposal.clone());
        }
    }
    mixed
}

/// Whether arrays of one kind have clearly more cells, each alone, than values alive at once together.
fn could_save(problem: &Problem<'_, '_, '_>, arrays: &[ArrayId], separate: &[BestOfOne]) -> Result<bool, MappingError> {
    let mut kinds: Vec<(&Buffer, Vec<ArrayId>, u64)> = Vec::new();
    for (&array, candidate) in arrays.iter().zip(separate.iter().map(BestOfOne::best)) {
        let (buffer, cells) = (&candidate.proposal.buffers[0], candidate.cells()?);
        let alike = |kind: &&mut (&Buffer, _, _)| (kind.0.element, kind.0.sharing) == (buffer.element, buffer.sharing);
        match kinds.iter_mut().find(alike) {
            Some((_, arrays, all)) => {
                arrays.push(array);
                *all = all.saturating_add(cells);
            }
            None => kinds.push((buffer, vec![array], cells)),
        }
    }
    for (_, arrays, cells) in kinds.iter().filter(|(_, arrays, _)| arrays.len() > 1) {
        let least = near_below(*cells);
        let of_steps = arrays.iter().try_fold(0_u64, |sum, &array| sum.checked_add(cells_of_steps(problem, array)?));
        if of_steps.is_some_and(|alive| alive >= least) {
            continue;
        }
        let mut alive = unless_spent(alive_at_ends(problem.model, arrays, ENDS_BUDGET))?.unwrap_or(0);
        if alive < least {
            match most_alive(problem.model, problem.conflicts, arrays, least, POINTS_QUOTA) {
                Err(error) if error.spent_quota().is_some() => return Ok(false),
                points => alive = alive.max(points?.values.unwrap_or(0)),
            }
        }
        if alive < least {
            return Ok(true);
        }
    }
    Ok(false)
}

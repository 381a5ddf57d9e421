//! The choice of storage: by the strategy that a caller names, or automatically.
//!
//! In: what the caller asked for.   Out: a proved [`StorageMapping`], with notes on what was tried.
//!
//! Arrays whose storage is given take that or none. What is not proved is not used.

use crate::kernel::MappingRule;
use crate::storage::MappingError;
use crate::storage::choose::auto::choose_automatically;
use crate::storage::choose::check::{first_proved, under_own_quota, verify_mapping};
use crate::storage::choose::decision::{Choice, Chosen};
use crate::storage::options::{Objective, Rounding, StrategyChoice};
use crate::storage::placement::double_mapped::double_map_rings;
use crate::storage::problem::Problem;
use crate::storage::strategies::given::given_proposal;
use crate::storage::strategies::registry::{Entry, entry_of};

/// Chooses a mapping for every folded array, with rings as the problem wants them. The checker has the last word, about
/// all of it; what it has proved on the way costs nothing again.
pub(crate) fn choose_mapping(
    problem: &Problem<'_, '_, '_>,
    choice: (StrategyChoice, Objective),
    given: &[MappingRule],
) -> Result<Chosen, MappingError> {
    let mut chosen = choose_cells(problem, choice, given)?;
    double_map_rings(problem, choice, &mut chosen)?;
    let Choice { mapping, notes, decisions } = chosen;
    let arrays = problem.folded_arrays();
    let prove = || problem.model.clock.time("proof", || problem.checker.prove(mapping));
    let mapping = under_own_quota(problem, "auto", &arrays, prove)?;
    Ok(Chosen { mapping, notes, decisions })
}

/// What `given` says of each array, else what the strategy finds.
fn choose_cells(
    problem: &Problem<'_, '_, '_>,
    (choice, objective): (StrategyChoice, Objective),
    given: &[MappingRule],
) -> Result<Choice, MappingError> {
    let mut chosen = Choice::default();
    let mut arrays = problem.folded_arrays();
    if !given.is_empty() {
        let proposal = given_proposal(problem, given)?;
        verify_mapping(problem, &proposal)?;
        chosen.mapping.append(proposal);
        arrays.retain(|array| !given.iter().any(|rule| rule.array == *array));
    }
    if arrays.is_empty() {
        return Ok(chosen);
    }
    let Some(id) = choice.id() else {
        choose_automatically(problem, &arrays, objective, &mut chosen)?;
        report_price(problem, &mut chosen)?;
        return Ok(chosen);
    };
    let Entry { strategy, .. } = entry_of(id).expect("every strategy that can be chosen is in the table");
    let proposal = first_proved(problem, *strategy, &arrays, &mut chosen.notes)?;
    chosen.mapping.append(proposal);
    report_price(problem, &mut chosen)?;
    Ok(chosen)
}

/// Notes what rounding costs, array by array.
fn report_price(problem: &Problem<'_, '_, '_>, chosen: &mut Choice) -> Result<(), MappingError> {
    if matches!(problem.rounding, Rounding::Auto | Rounding::Exact) {
        return Ok(());
    }
    let exact = problem.rounded(Rounding::Exact);
    for mapping in &chosen.mapping.arrays {
        let Some(buffer) = mapping.pieces.first().map(|piece| &chosen.mapping.buffers[piece.buffer]) else { continue };
        let Some(entry) = entry_of(buffer.strategy).filter(|entry| entry.rounds) else { continue };
        let without = first_proved(&exact, entry.strategy, &[mapping.array], &mut Vec::new())?;
        let (cells, fewer) = (buffer.cells()?, without.buffers[0].cells()?);
        let name = &problem.model.kernel.array(mapping.array).name;
        chosen.notes.push(format!("`{name}`: {cells} cells with pitch and modulus rounded, {fewer} without"));
    }
    Ok(())
}

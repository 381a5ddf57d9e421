//! The choice of storage: by the strategy that a caller names, or automatically.
//!
//! In: what the caller asked for.   Out: a proved [`StorageMapping`], with notes on what was tried.
//!
//! Arrays whose storage is given take that or none. What is not proved is not used.

use crate::kernel::MappingRule;
use crate::mapping::auto::choose_automatically;
use crate::mapping::check::{first_proved, under_own_quota, verify_mapping};
use crate::mapping::decision::{Choice, Chosen};
use crate::mapping::full::Full;
use crate::mapping::given::given_proposal;
use crate::mapping::hyperplane::Hyperplane;
use crate::mapping::in_place::InPlace;
use crate::mapping::lattice::Lattice;
use crate::mapping::mirror::mirror_rings;
use crate::mapping::occupancy::Occupancy;
use crate::mapping::options::{Objective, Rounding, StrategyChoice};
use crate::mapping::periodic::Periodic;
use crate::mapping::scalar::Scalar;
use crate::mapping::shared::Shared;
use crate::mapping::strided_hyperplane::StridedHyperplane;
use crate::mapping::successive_modulo::{OneLevel, SuccessiveModulo};
use crate::mapping::window::Window;
use crate::mapping::{Problem, Strategy};
use crate::storage::MappingError;

/// Chooses a mapping for every folded array, with rings as the problem wants them. The checker has the last word, about
/// all of it; what it has proved on the way costs nothing again.
pub(crate) fn choose_mapping(
    problem: &Problem<'_, '_, '_>,
    choice: (StrategyChoice, Objective),
    given: &[MappingRule],
) -> Result<Chosen, MappingError> {
    let mut chosen = choose_cells(problem, choice, given)?;
    mirror_rings(problem, choice, &mut chosen)?;
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
        chosen.add(proposal);
        arrays.retain(|array| !given.iter().any(|rule| rule.array == *array));
    }
    if arrays.is_empty() {
        return Ok(chosen);
    }
    let strategy: &dyn Strategy = match choice {
        StrategyChoice::Auto => {
            choose_automatically(problem, &arrays, objective, &mut chosen)?;
            report_price(problem, &mut chosen)?;
            return Ok(chosen);
        }
        StrategyChoice::Full => &Full,
        StrategyChoice::SuccessiveModulo => &SuccessiveModulo,
        StrategyChoice::OneLevel => &OneLevel,
        StrategyChoice::StridedHyperplane => &StridedHyperplane,
        StrategyChoice::Hyperplane => &Hyperplane,
        StrategyChoice::InPlace => &InPlace,
        StrategyChoice::Lattice => &Lattice,
        StrategyChoice::Window => &Window,
        StrategyChoice::Shared => &Shared,
        StrategyChoice::Scalar => &Scalar,
        StrategyChoice::Occupancy => &Occupancy,
        StrategyChoice::Periodic => &Periodic,
    };
    let proposal = first_proved(problem, strategy, &arrays, &mut chosen.notes)?;
    chosen.add(proposal);
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
        if buffer.strategy != StridedHyperplane.name() {
            continue;
        }
        let without = first_proved(&exact, &StridedHyperplane, &[mapping.array], &mut Vec::new())?;
        let (cells, fewer) = (buffer.cells()?, without.buffers[0].cells()?);
        let name = &problem.model.kernel.array(mapping.array).name;
        chosen.notes.push(format!("`{name}`: {cells} cells with pitch and modulus rounded, {fewer} without"));
    }
    Ok(())
}

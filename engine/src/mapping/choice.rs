//! Strategies by name, and the search for the first mapping of one that is proved.
//!
//! In: what the caller asked for.   Out: a proved [`StorageMapping`], with notes on what was tried.
//!
//! Arrays whose storage is given take that or none. What is not proved is not used.

use crate::check::Proved;
use crate::kernel::MappingRule;
use crate::kernel::graph::ArrayId;
use crate::mapping::auto::choose_automatically;
use crate::mapping::check::verify_mapping;
use crate::mapping::decision::Decision;
use crate::mapping::full::Full;
use crate::mapping::given::given_proposal;
use crate::mapping::hyperplane::Hyperplane;
use crate::mapping::in_place::InPlace;
use crate::mapping::lattice::Lattice;
use crate::mapping::mirror::mirror_rings;
use crate::mapping::occupancy::Occupancy;
use crate::mapping::periodic::Periodic;
use crate::mapping::rounding::Rounding;
use crate::mapping::scalar::Scalar;
use crate::mapping::shared::Shared;
use crate::mapping::strided_hyperplane::StridedHyperplane;
use crate::mapping::successive_modulo::{OneLevel, SuccessiveModulo};
use crate::mapping::window::Window;
use crate::mapping::{MappingError, Problem, Proposal, StorageMapping, Strategy};

/// How storage mappings are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum StrategyChoice {
    /// The best proved mapping.
    #[default]
    Auto,
    /// The unfolded array (a state array: `horizon` steps of it).
    Full,
    /// One modulus per dimension: the usual baseline.
    SuccessiveModulo,
    /// The same with one step of a state array, where that will do.
    OneLevel,
    /// One hyperplane with unit stride in the innermost schedule dimension.
    StridedHyperplane,
    /// Hyperplanes that satisfy most conflicts at once, as narrow as possible.
    Hyperplane,
    /// Reuse of dying slots across the arrays of a statement.
    InPlace,
    /// The smallest lattice of differences that never conflict.
    Lattice,
    /// A linear order of the cells, modulo the longest distance of two that are alive together.
    Window,
    /// Several arrays in one buffer.
    Shared,
    /// One value, or one in each lane: in a register where that can be.
    Scalar,
    /// A vector along which values replace each other in any legal order.
    Occupancy,
    /// One grid in place, and apart the rows of it that wait for the far side of a periodic one.
    Periodic,
}

crease_program::named_choices! {
    StrategyChoice = [
        ("auto", StrategyChoice::Auto),
        ("full", StrategyChoice::Full),
        ("successive-modulo", StrategyChoice::SuccessiveModulo),
        ("one-level", StrategyChoice::OneLevel),
        ("strided-hyperplane", StrategyChoice::StridedHyperplane),
        ("hyperplane", StrategyChoice::Hyperplane),
        ("in-place", StrategyChoice::InPlace),
        ("lattice", StrategyChoice::Lattice),
        ("window", StrategyChoice::Window),
        ("shared", StrategyChoice::Shared),
        ("scalar", StrategyChoice::Scalar),
        ("occupancy", StrategyChoice::Occupancy),
        ("periodic", StrategyChoice::Periodic),
    ]
}

/// What [`StrategyChoice::Auto`] prefers among proved mappings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Objective {
    /// Few cells that are cheap to reach: the product of both.
    #[default]
    Balanced,
    /// As few cells as can be found, whatever it costs to reach them; more strategies are asked.
    Footprint,
    /// Cells that are cheap to reach, then few of them.
    Speed,
}

crease_program::named_choices! {
    Objective = [("balanced", Objective::Balanced), ("footprint", Objective::Footprint), ("speed", Objective::Speed)]
}

/// Storage that was chosen so far, and what was tried on the way.
#[derive(Default)]
pub(crate) struct Choice {
    pub(crate) mapping: StorageMapping,
    pub(crate) notes: Vec<String>,
    /// What [`StrategyChoice::Auto`] decided.
    pub(crate) decisions: Vec<Decision>,
}

/// A proved mapping of every folded array, and what was tried on the way.
pub(crate) struct Chosen {
    pub(crate) mapping: Proved<StorageMapping>,
    pub(crate) notes: Vec<String>,
    /// What [`StrategyChoice::Auto`] decided.
    pub(crate) decisions: Vec<Decision>,
}

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
    let mapping = under_own_quota(problem, "auto", &arrays, || problem.checker.prove(mapping))?;
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

/// The first proposal of a strategy that the checker accepts, under a quota of its own.
pub(crate) fn first_proved(
    problem: &Problem<'_, '_, '_>,
    strategy: &dyn Strategy,
    arrays: &[ArrayId],
    notes: &mut Vec<String>,
) -> Result<Proposal, MappingError> {
    first_useful(problem, strategy, arrays, notes, |_| Ok(true)).map(|(proposal, _)| proposal)
}

/// The first proposal of a strategy that the checker accepts, or that is of no use, and whether it was proved: what is
/// of no use is not.
pub(crate) fn first_useful(
    problem: &Problem<'_, '_, '_>,
    strategy: &dyn Strategy,
    arrays: &[ArrayId],
    notes: &mut Vec<String>,
    is_useful: impl Fn(&Proposal) -> Result<bool, MappingError>,
) -> Result<(Proposal, bool), MappingError> {
    under_own_quota(problem, strategy.name(), arrays, || {
        let mut last = MappingError::NotApplicable { strategy: strategy.name(), reason: "it has no candidate".into() };
        for proposal in strategy.propose(problem, arrays)? {
            if !is_useful(&proposal)? {
                return Ok((proposal, false));
            }
            match verify_mapping(problem, &proposal) {
                Ok(()) => return Ok((proposal, true)),
                Err(error @ MappingError::Unproved { .. }) => {
                    let note = format!("rejected: {error}");
                    if !notes.contains(&note) {
                        notes.push(note);
                    }
                    last = error;
                }
                Err(error) => return Err(error),
            }
        }
        Err(last)
    })
}

/// Takes a step of a search for storage; a spent quota is told with who spent it.
pub(crate) fn under_own_quota<R>(
    problem: &Problem<'_, '_, '_>,
    strategy: &'static str,
    arrays: &[ArrayId],
    step: impl FnOnce() -> Result<R, MappingError>,
) -> Result<R, MappingError> {
    problem.model.context.reset_operations();
    step().map_err(|error| match &error {
        MappingError::Analysis(cause) => cause.spent_quota().map_or(error.clone(), |limit| {
            let names = arrays.iter().map(|&id| format!("`{}`", problem.model.kernel.array(id).name));
            let arrays = names.collect::<Vec<_>>().join(", ");
            MappingError::GaveUp { strategy, arrays, limit }
        }),
        _ => error,
    })
}

impl Choice {
    /// Appends a proposal, renumbering its buffers.
    pub(crate) fn add(&mut self, proposal: Proposal) {
        let first = self.mapping.buffers.len();
        self.mapping.buffers.extend(proposal.buffers);
        for mut mapping in proposal.arrays {
            mapping.pieces.iter_mut().for_each(|piece| piece.buffer += first);
            self.mapping.arrays.push(mapping);
        }
    }
}

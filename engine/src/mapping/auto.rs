//! Choice: which proved mapping is used.
//!
//! In: what the caller asked for.   Out: a proved [`StorageMapping`] and why it was chosen.
//!
//! `auto` first lets `in-place` fold all state arrays together; arrays it does not cover get the smallest proved mapping
//! among strided hyperplanes and successive modulo (at equal size successive modulo: fewer wraps). Where successive modulo
//! comes close to the values alive at once, nothing else is sought: the conflicts of tiles in parallel have so many pieces
//! that looking at all of them takes seconds. What is not proved is not used: the fallback is the next best proved mapping,
//! at last full storage, and the notes say so. Arrays whose storage is given take that or none.

use crate::analysis::moment::alive_between_wavefronts;
use crate::kernel::MappingRule;
use crate::kernel::graph::{ArrayId, Role};
use crate::mapping::check::verify_mapping;
use crate::mapping::full::Full;
use crate::mapping::given::given_proposal;
use crate::mapping::hyperplane::Hyperplane;
use crate::mapping::in_place::InPlace;
use crate::mapping::lattice::Lattice;
use crate::mapping::occupancy::Occupancy;
use crate::mapping::scalar::Scalar;
use crate::mapping::shared::Shared;
use crate::mapping::strided_hyperplane::StridedHyperplane;
use crate::mapping::successive_modulo::SuccessiveModulo;
use crate::mapping::window::Window;
use crate::mapping::{MappingError, Problem, Proposal, Sharing, StorageMapping, Strategy};

/// A mapping is good enough if it needs at most one part in so many more than the values alive at once ..
const GOOD_ENOUGH: u64 = 64;
/// .. or so few cells more: a cache line.
const FEW_CELLS: u64 = 8;
/// Where there is a mapping, a strategy may spend so many times the operations that found it ..
const PATIENCE: u64 = 8;
/// .. and as many as this in any case: more than twice what stencils in rectangular tiles need.
const LEAST_PATIENCE: u64 = 500_000;

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
}

impl StrategyChoice {
    /// Every choice with its name.
    pub const ALL: [(&'static str, StrategyChoice); 11] = [
        ("auto", StrategyChoice::Auto),
        ("full", StrategyChoice::Full),
        ("successive-modulo", StrategyChoice::SuccessiveModulo),
        ("strided-hyperplane", StrategyChoice::StridedHyperplane),
        ("hyperplane", StrategyChoice::Hyperplane),
        ("in-place", StrategyChoice::InPlace),
        ("lattice", StrategyChoice::Lattice),
        ("window", StrategyChoice::Window),
        ("shared", StrategyChoice::Shared),
        ("scalar", StrategyChoice::Scalar),
        ("occupancy", StrategyChoice::Occupancy),
    ];

    /// The choice of that name.
    pub fn by_name(name: &str) -> Option<StrategyChoice> {
        StrategyChoice::ALL.iter().find(|(n, _)| *n == name).map(|(_, choice)| *choice)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        StrategyChoice::ALL.iter().find(|(_, c)| *c == self).expect("every choice is listed").0
    }
}

/// A proved mapping and what was tried on the way.
pub(crate) struct Choice {
    pub(crate) mapping: StorageMapping,
    pub(crate) notes: Vec<String>,
}

/// Chooses a proved mapping for every folded array: what `given` says of it, else what the strategy finds.
pub(crate) fn choose_mapping(
    problem: &Problem<'_, '_, '_>,
    choice: StrategyChoice,
    given: &[MappingRule],
) -> Result<Choice, MappingError> {
    let mut chosen = Choice { mapping: StorageMapping::default(), notes: Vec::new() };
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
    let single: Option<&dyn Strategy> = match choice {
        StrategyChoice::Auto => None,
        StrategyChoice::Full => Some(&Full),
        StrategyChoice::SuccessiveModulo => Some(&SuccessiveModulo),
        StrategyChoice::StridedHyperplane => Some(&StridedHyperplane),
        StrategyChoice::Hyperplane => Some(&Hyperplane),
        StrategyChoice::InPlace => Some(&InPlace),
        StrategyChoice::Lattice => Some(&Lattice),
        StrategyChoice::Window => Some(&Window),
        StrategyChoice::Shared => Some(&Shared),
        StrategyChoice::Scalar => Some(&Scalar),
        StrategyChoice::Occupancy => Some(&Occupancy),
    };
    if let Some(strategy) = single {
        let proposal = first_proved(problem, strategy, &arrays, &mut chosen.notes)?;
        chosen.add(proposal);
        return Ok(chosen);
    }
    choose_automatically(problem, &arrays, &mut chosen)?;
    Ok(chosen)
}

fn choose_automatically(
    problem: &Problem<'_, '_, '_>,
    arrays: &[ArrayId],
    chosen: &mut Choice,
) -> Result<(), MappingError> {
    let is_state = |id: &ArrayId| problem.model.kernel.array(*id).role == Role::State;
    let (state, mut rest): (Vec<ArrayId>, Vec<ArrayId>) = arrays.iter().partition(|id| is_state(id));
    if !state.is_empty() {
        match first_proved(problem, &InPlace, &state, &mut chosen.notes) {
            Ok(proposal) => chosen.add(proposal),
            Err(error) => {
                if !matches!(error, MappingError::Unproved { .. }) {
                    chosen.notes.push(error.to_string());
                }
                rest.splice(0..0, state);
            }
        }
    }
    for array in rest {
        let proposal = smallest_proved(problem, array, &mut chosen.notes)?;
        chosen.add(proposal);
    }
    Ok(())
}

/// The smallest proved mapping of one array alone. Strategies come in ascending order of cost; once there is a mapping, the
/// next may cost a multiple of what has been spent.
fn smallest_proved(
    problem: &Problem<'_, '_, '_>,
    array: ArrayId,
    notes: &mut Vec<String>,
) -> Result<Proposal, MappingError> {
    let mut best: Option<(u64, Proposal)> = None;
    let (mut failure, mut spent) = (None, 0_u64);
    let context = problem.model.context;
    let quota = context.max_operations();
    let strategies: [&dyn Strategy; 2] = [&SuccessiveModulo, &StridedHyperplane];
    for strategy in strategies {
        let patience = if best.is_some() { spent.saturating_mul(PATIENCE).max(LEAST_PATIENCE) } else { quota };
        context.set_max_operations(patience.min(quota));
        let found = first_proved(problem, strategy, &[array], notes);
        context.set_max_operations(quota);
        spent = context.operations();
        match found.and_then(|p| Ok((p.buffers[0].cells()?, p))) {
            Ok((cells, proposal)) => {
                if is_nearly_alive(problem, array, cells)? {
                    return Ok(proposal);
                }
                if best.as_ref().is_none_or(|(smallest, _)| cells < *smallest) {
                    best = Some((cells, proposal));
                }
            }
            Err(error) => {
                notes.push(error.to_string());
                failure = Some(error);
            }
        }
    }
    match (best, failure) {
        (Some((_, proposal)), _) => Ok(proposal),
        (None, Some(error)) => {
            let full = first_proved(problem, &Full, &[array], notes).map_err(|_| error)?;
            notes.push(format!("`{}` is kept in full", problem.model.kernel.array(array).name));
            Ok(full)
        }
        (None, None) => unreachable!("every strategy gives a mapping or an error"),
    }
}

/// Whether so many cells are hardly more than the values alive at some moment. A worker's copy of a private array holds
/// less than that.
fn is_nearly_alive(problem: &Problem<'_, '_, '_>, array: ArrayId, cells: u64) -> Result<bool, MappingError> {
    if problem.sharing(array) == Sharing::Private {
        return Ok(false);
    }
    problem.model.context.reset_operations();
    match alive_between_wavefronts(problem.model, problem.conflicts, array) {
        Ok(alive) => Ok(alive.is_some_and(|alive| cells <= alive.saturating_add((alive / GOOD_ENOUGH).max(FEW_CELLS)))),
        Err(error) if error.spent_quota().is_some() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The first proposal of a strategy that the checker accepts, under a quota of its own.
fn first_proved(
    problem: &Problem<'_, '_, '_>,
    strategy: &dyn Strategy,
    arrays: &[ArrayId],
    notes: &mut Vec<String>,
) -> Result<Proposal, MappingError> {
    problem.model.context.reset_operations();
    search(problem, strategy, arrays, notes).map_err(|error| match &error {
        MappingError::Analysis(cause) => cause.spent_quota().map_or(error.clone(), |limit| {
            let names = arrays.iter().map(|&id| format!("`{}`", problem.model.kernel.array(id).name));
            let arrays = names.collect::<Vec<_>>().join(", ");
            MappingError::GaveUp { strategy: strategy.name(), arrays, limit }
        }),
        _ => error,
    })
}

fn search(
    problem: &Problem<'_, '_, '_>,
    strategy: &dyn Strategy,
    arrays: &[ArrayId],
    notes: &mut Vec<String>,
) -> Result<Proposal, MappingError> {
    let mut last = MappingError::NotApplicable { strategy: strategy.name(), reason: "it has no candidate".into() };
    for proposal in strategy.propose(problem, arrays)? {
        match verify_mapping(problem, &proposal) {
            Ok(()) => return Ok(proposal),
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
}

impl Choice {
    /// Appends a proposal, renumbering its buffers.
    fn add(&mut self, proposal: Proposal) {
        let first = self.mapping.buffers.len();
        self.mapping.buffers.extend(proposal.buffers);
        for mut mapping in proposal.arrays {
            mapping.pieces.iter_mut().for_each(|piece| piece.buffer += first);
            self.mapping.arrays.push(mapping);
        }
    }
}

//! Choice: which proved mapping is used.
//!
//! In: the folded arrays and an objective.   Out: proved storage for each, and why it was chosen.
//!
//! 1. `in-place` folds all state arrays together, if it can.
//! 2. Every other array gets the best mapping of its own: successive modulo costs least to find, strided hyperplanes
//!    come next. The others are asked where cells count more than access, or if nothing was found that vectors can
//!    reach. Where successive modulo comes close to the values alive at once, nothing else is sought: the conflicts of
//!    tiles in parallel have so many pieces that looking at all of them takes seconds. An array of one value at a time
//!    becomes a scalar.
//! 3. Rows that run in lanes are moved to whole cache lines where that takes few cells more.
//! 4. Arrays with storage of their own then share a buffer if that is better.
//!
//! Mappings are compared by bytes and by the cost of an access, as the objective says. What is not proved is not used:
//! the fallback is the next best proved mapping, at last full storage, and the notes say so. Successive modulo is
//! proved only where it is the best.

use crate::analysis::moment::{alive_between_wavefronts, most_alive};
use crate::kernel::graph::{ArrayId, DimKind, Role};
use crate::mapping::check::verify_mapping;
use crate::mapping::choice::{Choice, Objective, first_proved, under_own_quota};
use crate::mapping::cost::access_cost;
use crate::mapping::full::Full;
use crate::mapping::hyperplane::Hyperplane;
use crate::mapping::in_place::InPlace;
use crate::mapping::lattice::Lattice;
use crate::mapping::occupancy::Occupancy;
use crate::mapping::rounding::Rounding;
use crate::mapping::scalar::Scalar;
use crate::mapping::shared::Shared;
use crate::mapping::strided_hyperplane::{StridedHyperplane, is_on_grid};
use crate::mapping::successive_modulo::SuccessiveModulo;
use crate::mapping::window::Window;
use crate::mapping::{ArrayMapping, Buffer, MappingError, Problem, Proposal, Sharing, Strategy};

/// A mapping is good enough if it needs at most one part in so many more than the values alive at once ..
const GOOD_ENOUGH: u64 = 64;
/// .. or so few cells more: a cache line.
const FEW_CELLS: u64 = 8;
/// Where there is a mapping, a strategy may spend so many times the operations that found it ..
const PATIENCE: u64 = 8;
/// .. and as many as this in any case: more than twice what stencils in rectangular tiles need.
const LEAST_PATIENCE: u64 = 500_000;
/// Accesses that cost less than this count as those of vectors.
const FAST_ACCESS: f64 = 1.5;
/// Buffers are tried to be shared if that can save more than one part in so many.
const WORTH_SHARING: u64 = 16;
/// Cells of which one more may be spent on rows of whole cache lines: where both count ..
const LINE_PRICE: u64 = 32;
/// .. and where speed counts first.
const LINE_PRICE_FOR_SPEED: u64 = 4;
/// Costs of access that differ by less are alike.
const COST_STEP: f64 = 0.1;

/// A mapping with what it takes.
struct Candidate {
    proposal: Proposal,
    bytes: u64,
    access: f64,
    /// Only what is used needs a proof.
    proved: bool,
}

/// Chooses proved storage for all of `arrays`.
pub(crate) fn choose_automatically(
    problem: &Problem<'_, '_, '_>,
    arrays: &[ArrayId],
    objective: Objective,
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
    let mut separate = Vec::new();
    for &array in &rest {
        let mut search = Search { problem, array, objective, found: Vec::new(), notes: &mut chosen.notes };
        separate.push(search.best()?);
    }
    match together(problem, &rest, objective, &separate, &mut chosen.notes)? {
        Some(proposal) => chosen.add(proposal),
        None => separate.into_iter().for_each(|candidate| chosen.add(candidate.proposal)),
    }
    Ok(())
}

/// Storage in which arrays share buffers, if it is better than that of each.
fn together(
    problem: &Problem<'_, '_, '_>,
    arrays: &[ArrayId],
    objective: Objective,
    separate: &[Candidate],
    notes: &mut Vec<String>,
) -> Result<Option<Proposal>, MappingError> {
    if objective == Objective::Speed || !could_save(problem, arrays, separate)? {
        return Ok(None);
    }
    let all = separate.iter().map(|candidate| candidate.bytes).fold(0, u64::saturating_add);
    let context = problem.model.context;
    let quota = context.max_operations();
    context.set_max_operations(LEAST_PATIENCE.min(quota));
    let found = first_proved(problem, &Shared, arrays, &mut Vec::new());
    context.set_max_operations(quota);
    let Ok(proposal) = found else { return Ok(None) };
    let shared = Candidate::new(problem, with_own_buffers(&proposal, arrays, separate))?;
    let access = separate.iter().map(|candidate| candidate.access).fold(1.0, f64::max);
    if shared.rank(objective) >= rank((all, access), objective) {
        return Ok(None);
    }
    notes.push(format!("arrays share buffers: {} bytes instead of {all}", shared.bytes));
    Ok(Some(shared.proposal))
}

/// Shared storage, but arrays that have a buffer to themselves in it are kept as they would be alone.
fn with_own_buffers(shared: &Proposal, arrays: &[ArrayId], separate: &[Candidate]) -> Proposal {
    let residents = |buffer: usize| {
        let kept_in = |mapping: &&ArrayMapping| mapping.pieces.iter().any(|piece| piece.buffer == buffer);
        shared.arrays.iter().filter(kept_in).count()
    };
    let mut mixed = Choice::default();
    for (buffer, body) in shared.buffers.iter().enumerate().filter(|(buffer, _)| residents(*buffer) > 1) {
        let mut part = Proposal { buffers: vec![body.clone()], arrays: Vec::new() };
        for mapping in shared.arrays.iter().filter(|mapping| mapping.pieces[0].buffer == buffer) {
            let mut mapping = mapping.clone();
            mapping.pieces.iter_mut().for_each(|piece| piece.buffer = 0);
            part.arrays.push(mapping);
        }
        mixed.add(part);
    }
    for (array, candidate) in arrays.iter().zip(separate) {
        if !mixed.mapping.arrays.iter().any(|mapping| mapping.array == *array) {
            mixed.add(candidate.proposal.clone());
        }
    }
    Proposal { buffers: mixed.mapping.buffers, arrays: mixed.mapping.arrays }
}

/// Whether arrays of one kind have clearly more cells, each alone, than values alive at once together.
fn could_save(problem: &Problem<'_, '_, '_>, arrays: &[ArrayId], separate: &[Candidate]) -> Result<bool, MappingError> {
    let mut kinds: Vec<(&Buffer, Vec<ArrayId>, u64)> = Vec::new();
    for (&array, candidate) in arrays.iter().zip(separate) {
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
        let alive = match most_alive(problem.model, problem.conflicts, arrays, *cells) {
            Err(error) if error.spent_quota().is_some() => return Ok(false),
            alive => alive?.unwrap_or(0),
        };
        if cells.saturating_sub(alive) > cells / WORTH_SHARING {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What is compared, smallest first.
fn rank((bytes, access): (u64, f64), objective: Objective) -> (f64, f64) {
    let alike = (access / COST_STEP).round();
    match objective {
        Objective::Footprint => (bytes as f64, alike),
        Objective::Speed => (alike, bytes as f64),
        Objective::Balanced if access < FAST_ACCESS => (bytes as f64, alike),
        Objective::Balanced => (bytes as f64 * access, alike),
    }
}

impl Candidate {
    fn new(problem: &Problem<'_, '_, '_>, proposal: Proposal) -> Result<Candidate, MappingError> {
        let mut bytes = 0_u64;
        for buffer in &proposal.buffers {
            bytes = bytes.saturating_add(buffer.cells()?.saturating_mul(buffer.element.bytes()));
        }
        let access = access_cost(problem, &proposal);
        Ok(Candidate { proposal, bytes, access, proved: true })
    }

    fn rank(&self, objective: Objective) -> (f64, f64) {
        rank((self.bytes, self.access), objective)
    }

    fn cells(&self) -> Result<u64, MappingError> {
        self.proposal.buffers[0].cells()
    }
}

/// The search for the best mapping of one array alone.
struct Search<'s, 'a, 'c, 'k> {
    problem: &'s Problem<'a, 'c, 'k>,
    array: ArrayId,
    objective: Objective,
    found: Vec<Candidate>,
    notes: &'s mut Vec<String>,
}

impl Search<'_, '_, '_, '_> {
    /// Strategies come in ascending order of what it costs to ask them.
    fn best(&mut self) -> Result<Candidate, MappingError> {
        let context = self.problem.model.context;
        let mut failure = self.ask_without_proof(&SuccessiveModulo)?;
        let spent = context.operations();
        if let Some(first) = self.found.first() {
            let cells = first.cells()?;
            if cells <= self.lanes() && self.ask_quietly(&Scalar)? {
                return Ok(self.found.pop().expect("it was just found"));
            }
            if self.is_nearly_alive(cells)? {
                match self.prove(0)? {
                    None => return Ok(self.found.remove(0)),
                    unproved => failure = unproved,
                }
            }
        }
        let patience =
            if self.found.is_empty() { u64::MAX } else { spent.saturating_mul(PATIENCE).max(LEAST_PATIENCE) };
        failure = self.ask_others(patience)?.or(failure);
        if self.found.iter().all(|candidate| !candidate.proved) && !self.found.is_empty() {
            // A mapping that turns out wrong was no reason for haste.
            if let Some(unproved) = self.prove(0)? {
                failure = Some(self.ask_others(u64::MAX)?.unwrap_or(unproved));
            }
        }
        let objective = self.objective;
        loop {
            let best = (0..self.found.len()).min_by(|&a, &b| {
                self.found[a].rank(objective).partial_cmp(&self.found[b].rank(objective)).expect("finite")
            });
            let Some(best) = best else { break };
            match self.prove(best)? {
                None => {
                    self.explain(best);
                    let best = self.found.swap_remove(best);
                    return Ok(self.in_lines(&best, patience)?.unwrap_or(best));
                }
                unproved => failure = unproved,
            }
        }
        let full = first_proved(self.problem, &Full, &[self.array], self.notes);
        let full = full.map_err(|error| failure.unwrap_or(error))?;
        self.notes.push(format!("`{}` is kept in full", self.problem.model.kernel.array(self.array).name));
        Candidate::new(self.problem, full)
    }

    /// The same strided hyperplane with rows of whole cache lines, if rows run in lanes and that takes few cells more.
    fn in_lines(&mut self, best: &Candidate, patience: u64) -> Result<Option<Candidate>, MappingError> {
        let price = match self.objective {
            Objective::Footprint => return Ok(None),
            Objective::Balanced => LINE_PRICE,
            Objective::Speed => LINE_PRICE_FOR_SPEED,
        };
        let is_strided = best.proposal.buffers[0].strategy == StridedHyperplane.name();
        if self.problem.rounding != Rounding::Auto || !is_strided || self.lanes() == 1 {
            return Ok(None);
        }
        let rounded = self.problem.rounded(Rounding::Lines);
        if is_on_grid(&rounded, &best.proposal) {
            return Ok(None);
        }
        let context = self.problem.model.context;
        let quota = context.max_operations();
        context.set_max_operations(patience.min(quota));
        let found = first_proved(&rounded, &StridedHyperplane, &[self.array], &mut Vec::new());
        context.set_max_operations(quota);
        let Ok(proposal) = found else { return Ok(None) };
        let found = Candidate::new(self.problem, proposal)?;
        let (few, more) = (best.cells()?, found.cells()?);
        if more.saturating_sub(few) > few / price {
            return Ok(None);
        }
        if more > few {
            let name = &self.problem.model.kernel.array(self.array).name;
            self.notes.push(format!("`{name}`: {more} cells in rows of whole cache lines, {few} without"));
        }
        Ok(Some(found))
    }

    /// Proves a candidate, if it is not proved; else takes it out and says why it may not be used.
    fn prove(&mut self, at: usize) -> Result<Option<MappingError>, MappingError> {
        let (problem, candidate) = (self.problem, &mut self.found[at]);
        if candidate.proved {
            return Ok(None);
        }
        let strategy = candidate.proposal.buffers[0].strategy;
        let proof = under_own_quota(problem, strategy, &[self.array], || verify_mapping(problem, &candidate.proposal));
        candidate.proved = proof.is_ok();
        Ok(proof.err().inspect(|error| {
            self.notes.push(format!("rejected: {error}"));
            self.found.remove(at);
        }))
    }

    /// Strided hyperplanes, and all others where cells count more than access or nothing is there that vectors can
    /// reach.
    fn ask_others(&mut self, patience: u64) -> Result<Option<MappingError>, MappingError> {
        let failure = self.ask(&StridedHyperplane, patience)?;
        let is_fast = self.found.iter().any(|candidate| candidate.access < FAST_ACCESS);
        if self.objective == Objective::Footprint || !is_fast {
            return Ok(self.ask_all(patience)?.or(failure));
        }
        Ok(failure)
    }

    /// The strategies that look for few cells only, until there are as few as values alive at once.
    fn ask_all(&mut self, patience: u64) -> Result<Option<MappingError>, MappingError> {
        let alive = most_alive(self.problem.model, self.problem.conflicts, &[self.array], u64::MAX)?.unwrap_or(0);
        let mut failure = None;
        let strategies: [&dyn Strategy; 4] = [&Hyperplane, &Occupancy, &Window, &Lattice];
        for strategy in strategies {
            let cells = self.found.iter().map(Candidate::cells).collect::<Result<Vec<_>, _>>()?;
            if cells.into_iter().min().is_some_and(|cells| cells <= alive) && self.objective == Objective::Footprint {
                break;
            }
            failure = self.ask(strategy, patience)?.or(failure);
        }
        Ok(failure)
    }

    /// Adds what the strategy finds within so many operations; else says why there is nothing.
    fn ask(&mut self, strategy: &dyn Strategy, patience: u64) -> Result<Option<MappingError>, MappingError> {
        let context = self.problem.model.context;
        let quota = context.max_operations();
        context.set_max_operations(patience.min(quota));
        let found = first_proved(self.problem, strategy, &[self.array], self.notes);
        context.set_max_operations(quota);
        match found.and_then(|proposal| Candidate::new(self.problem, proposal)) {
            Ok(candidate) => {
                self.found.push(candidate);
                Ok(None)
            }
            Err(error) => {
                self.notes.push(error.to_string());
                Ok(Some(error))
            }
        }
    }

    /// Adds what the strategy finds first, to be proved once it turns out to be the best; else says why there is
    /// nothing.
    fn ask_without_proof(&mut self, strategy: &dyn Strategy) -> Result<Option<MappingError>, MappingError> {
        let (problem, arrays) = (self.problem, [self.array]);
        let found = under_own_quota(problem, strategy.name(), &arrays, || strategy.propose(problem, &arrays));
        match found {
            Ok(proposals) => {
                for proposal in proposals.into_iter().take(1) {
                    self.found.push(Candidate { proved: false, ..Candidate::new(problem, proposal)? });
                }
                Ok(None)
            }
            Err(error) => {
                self.notes.push(error.to_string());
                Ok(Some(error))
            }
        }
    }

    /// As [`Self::ask`], without a word if there is nothing; whether there is something.
    fn ask_quietly(&mut self, strategy: &dyn Strategy) -> Result<bool, MappingError> {
        let Ok(proposal) = first_proved(self.problem, strategy, &[self.array], &mut Vec::new()) else {
            return Ok(false);
        };
        self.found.push(Candidate::new(self.problem, proposal)?);
        Ok(true)
    }

    /// Says why a mapping was preferred, where there was a choice.
    fn explain(&mut self, best: usize) {
        let describe = |candidate: &Candidate| {
            let buffer = &candidate.proposal.buffers[0];
            format!("{} ({} bytes, {:.2} an access)", buffer.strategy, candidate.bytes, candidate.access)
        };
        let others: Vec<String> =
            self.found.iter().enumerate().filter(|(k, _)| *k != best).map(|(_, c)| describe(c)).collect();
        if !others.is_empty() {
            let name = &self.problem.model.kernel.array(self.array).name;
            self.notes.push(format!("`{name}`: {} rather than {}", describe(&self.found[best]), others.join(", ")));
        }
    }

    /// The most lanes of a vector dimension.
    fn lanes(&self) -> u64 {
        let dims = self.problem.model.schedule.dims.iter();
        dims.map(|kind| if let DimKind::Vector(lanes) = kind { u64::from(*lanes) } else { 1 }).max().unwrap_or(1)
    }

    /// Whether so many cells are hardly more than the values alive at some moment. A worker's copy of a private array
    /// holds less than that.
    fn is_nearly_alive(&self, cells: u64) -> Result<bool, MappingError> {
        if self.problem.sharing(self.array) == Sharing::Private {
            return Ok(false);
        }
        let alive = alive_between_wavefronts(self.problem.model, self.problem.conflicts, self.array)?;
        Ok(alive.is_some_and(|alive| cells <= alive.saturating_add((alive / GOOD_ENOUGH).max(FEW_CELLS))))
    }
}

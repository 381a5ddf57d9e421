//! The search for the best mapping of one array alone.
//!
//! In: an array and an objective.   Out: a [`BestOfOne`]: a proved candidate, and a [`Decision`] that says how good it
//! is.
//!
//! Strategies are asked in ascending order of what it costs to ask them, and no more of them than there is reason for:
//! 1. storage in closed form, which needs no differences of cells, where there is any: of folded boxes (`mirrored`), of
//!    states of which times tell that one step will do (`one-level`), of swept periodic boxes (`periodic`), of tiles and
//!    sweeps (`strided-hyperplane`). What leaves hardly more to save is taken;
//! 2. successive modulo, with one step of a state instead of two where that will do; an array of one value at a time
//!    becomes a scalar. Where this comes close to the values alive at once, nothing else is sought: the conflicts of
//!    tiles in parallel have so many pieces that looking at all of them takes seconds;
//! 3. an array that is read from the far side is cut into what waits for that and the rest (`periodic`);
//! 4. strided hyperplanes, unless successive modulo is as small as a formula can be that keeps all differences of
//!    conflicting cells apart (`least`): then none of that kind is asked;
//! 5. the others one by one, until what would be picked is near the values alive at once (`candidate` says what near
//!    is) and vectors can reach it.
//!
//! Rows that run in lanes are moved to whole cache lines where that takes few cells more. Successive modulo is proved
//! only where it is picked, what others propose only if it is better in some way than what is proved. What a strategy
//! may spend is limited once there is a mapping, to more for strided hyperplanes where that mapping is far from the
//! values alive at once; those that gave up are named.

use std::mem::replace;
use std::ptr;

use log::debug;

use crate::kernel::graph::{ArrayId, DimKind};
use crate::storage::choose::candidate::{Candidate, may_be_picked, pick, smallest};
use crate::storage::choose::check::{first_proved, first_useful, under_own_quota, verify_mapping};
use crate::storage::choose::decision::Decision;
use crate::storage::choose::logging::{Buffers, decided};
use crate::storage::choose::room::with_room;
use crate::storage::choose::uncut::uncut;
use crate::storage::choose::whole_rows::in_whole_rows;
use crate::storage::knobs::choice::{BUDGET_FACTOR, LEAST_BUDGET, PLAN_BUDGET, SMALL_BUDGET};
use crate::storage::knobs::placement::{LINE_WEIGHT, LINE_WEIGHT_FOR_SPEED, LINE_WEIGHT_IN_PASSES};
use crate::storage::options::{Objective, Rounding, StrategyId};
use crate::storage::placement::rounding::is_on_grid;
use crate::storage::problem::{Problem, Strategy};
use crate::storage::strategies::full::Full;
use crate::storage::strategies::leaning::pass_of;
use crate::storage::strategies::registry::{Budget, Entry, Turn, entry_of, one_by_one};
use crate::storage::strategies::successive_modulo::usual_and_one_level;
use crate::storage::{MappingError, StorageMapping};

/// The best mapping of one array that was found.
pub(super) struct BestOfOne {
    pub(super) best: Candidate,
    /// A proved mapping of fewer bytes, if one was found.
    pub(super) smaller: Option<Candidate>,
    pub(super) decision: Decision,
}

impl BestOfOne {
    pub(super) fn best(&self) -> &Candidate {
        &self.best
    }

    /// The smallest that was found.
    pub(super) fn smallest(&self) -> &Candidate {
        self.smaller.as_ref().unwrap_or(&self.best)
    }
}

/// The search, with what it found so far.
pub(super) struct Search<'s, 'a, 'c, 'k> {
    pub(super) problem: &'s Problem<'a, 'c, 'k>,
    pub(super) array: ArrayId,
    pub(super) objective: Objective,
    pub(super) found: Vec<Candidate>,
    /// What was replaced by itself in rows of whole cache lines.
    replaced: Option<Candidate>,
    notes: &'s mut Vec<String>,
    /// The latest reason why a strategy has nothing.
    failure: Option<MappingError>,
    /// Values known to be alive at once.
    pub(super) alive: u64,
    /// Whether they were counted at all program points that are looked at.
    pub(super) has_counted: bool,
    /// Whether the box of successive modulo conflicts all over, once that was asked for.
    pub(super) conflicts_all_over: Option<bool>,
    gave_up: Vec<StrategyId>,
    not_asked: Vec<StrategyId>,
    /// Who was asked, and the operations that each might spend.
    asked: Vec<(StrategyId, u64)>,
}

impl<'s, 'a, 'c, 'k> Search<'s, 'a, 'c, 'k> {
    pub(super) fn new(
        problem: &'s Problem<'a, 'c, 'k>,
        array: ArrayId,
        objective: Objective,
        notes: &'s mut Vec<String>,
    ) -> Self {
        let (found, replaced, failure, alive, has_counted) = Default::default();
        let (conflicts_all_over, gave_up, not_asked, asked) = Default::default();
        Search {
            problem,
            array,
            objective,
            found,
            replaced,
            notes,
            failure,
            alive,
            has_counted,
            conflicts_all_over,
            gave_up,
            not_asked,
            asked,
        }
    }

    /// The best mapping that is proved; full storage if there is no other.
    pub(super) fn best(mut self) -> Result<BestOfOne, MappingError> {
        let is_settled = self.ask_closed_forms()?;
        if !is_settled && !self.is_enough()? {
            self.ask_usual()?;
        }
        let spent = self.problem.model.context.operations();
        let found_some = !self.found.is_empty();
        let budget = if found_some { spent.saturating_mul(BUDGET_FACTOR).max(LEAST_BUDGET) } else { u64::MAX };
        if is_settled
            || self.becomes_scalar()?
            || self.is_nearly_alive()? && self.prove_best()?.is_some()
            || self.is_best_periodic(budget)?
        {
            let not_asked: Vec<StrategyId> =
                one_by_one().map(|entry| entry.strategy.id()).filter(|id| !self.is_asked(*id)).collect();
            self.not_asked.extend(not_asked);
            self.prove_best()?.into_iter().for_each(|best| self.explain(best));
        } else {
            self.search_on(budget, found_some)?;
        }
        if self.prove_best()?.is_none() {
            let full = first_proved(self.problem, &Full, &[self.array], self.notes);
            let full = full.map_err(|error| self.failure.take().unwrap_or(error))?;
            self.notes.push(format!("`{}` is kept in full", self.name()));
            self.found.push(Candidate::new(self.problem, full)?);
        }
        let (best, is_uncut) = self.with_whole_rows()?;
        if !self.moves_by_rows(best)? {
            self.leave_room(best)?;
        }
        if self.alive > 0 {
            self.problem.alive.borrow_mut().insert(self.array, self.alive);
        }
        let decision = Decision::new(vec![self.array], &self.found[best], self.found.iter().chain(&self.replaced));
        let decision = Decision { is_uncut, gave_up: self.gave_up, not_asked: self.not_asked, ..decision };
        let best = self.found.swap_remove(best);
        decided(self.problem, &decision, self.found.iter().chain(&self.replaced));
        let smaller =
            self.found.into_iter().chain(self.replaced).filter(|other| other.proved && other.bytes < best.bytes);
        let smaller = smaller.min_by_key(|other| other.bytes);
        Ok(BestOfOne { best, smaller, decision })
    }

    /// Takes a longer ring for one that has no room for lanes, where that is few cells more.
    fn leave_room(&mut self, best: usize) -> Result<(), MappingError> {
        let (problem, array, lanes) = (self.problem, self.array, self.lanes());
        let longer = |mapping: &StorageMapping| with_room(problem, array, mapping, lanes);
        self.take_longer(best, longer, "so that lanes go on from row to row").map(drop)
    }

    /// Takes a ring of whole rows for one that cuts short ones, where that is few cells more; says whether it does.
    fn moves_by_rows(&mut self, best: usize) -> Result<bool, MappingError> {
        let (problem, array, lanes) = (self.problem, self.array, self.lanes());
        let longer = |mapping: &StorageMapping| in_whole_rows(problem, array, mapping, lanes);
        self.take_longer(best, longer, "so that the ring is of whole rows")
    }

    /// Takes a longer ring in place of the best candidate's, where there is one, it is proved and that is few cells more.
    fn take_longer(
        &mut self,
        best: usize,
        longer: impl Fn(&StorageMapping) -> Result<Option<StorageMapping>, MappingError>,
        why: &str,
    ) -> Result<bool, MappingError> {
        let (problem, array) = (self.problem, self.array);
        if self.objective == Objective::Footprint || problem.rounding != Rounding::Auto {
            return Ok(false);
        }
        let Some(proposal) = longer(&self.found[best].proposal)? else { return Ok(false) };
        let strategy = self.found[best].strategy_name();
        let longer = Candidate::new(problem, proposal)?;
        let (few, more) = (self.found[best].cells()?, longer.cells()?);
        let is_certified = |candidate: &Candidate| {
            let StorageMapping { buffers, arrays } = &candidate.proposal;
            problem.checker.is_certified(buffers, arrays)
        };
        // Integer sets that the shorter ring did not need take seconds for tiles, in which a ring that is hardly longer is
        // refused in most cases.
        if more.saturating_sub(few) > few / LINE_WEIGHT
            || is_certified(&self.found[best]) && !is_certified(&longer)
            || under_own_quota(problem, strategy, &[array], || verify_mapping(problem, &longer.proposal)).is_err()
        {
            return Ok(false);
        }
        let name = self.name();
        self.notes.push(format!("`{name}`: {more} cells, {why}, {few} without"));
        let shorter = replace(&mut self.found[best], Candidate { proved: true, ..longer });
        self.found.push(shorter);
        Ok(true)
    }

    /// The candidate that is taken, once some are proved: the best one, or one that has whole rows where a ring cuts
    /// those of the best, and whether that is so.
    fn with_whole_rows(&mut self) -> Result<(usize, bool), MappingError> {
        loop {
            let best = self.prove_best()?.expect("full storage is proved");
            let proved = self.found.iter().chain(&self.replaced).filter(|candidate| candidate.proved);
            let least = proved.map(|candidate| candidate.bytes).min().expect("the best is proved");
            let Some(whole) = uncut(self.problem, self.array, self.objective, &self.found, best, least) else {
                return Ok((best, false));
            };
            let [(few, cut), (more, strategy)] =
                [best, whole].map(|at| (self.found[at].bytes, self.found[at].strategy_name()));
            if self.prove(whole)? {
                let name = self.name();
                self.notes.push(format!(
                    "`{name}`: {strategy} ({more} bytes for each thread), whose rows are whole, rather than {cut} \
                     ({few} bytes), whose ring cuts them"
                ));
                return Ok((whole, true));
            }
        }
    }

    /// The search where what was found first, if anything, will not do.
    fn search_on(&mut self, budget: u64, found_some: bool) -> Result<(), MappingError> {
        self.ask_others(budget)?;
        if self.is_far()? {
            for entry in one_by_one().filter(|entry| entry.budget == Budget::Again) {
                let asked = self.gave_up.len();
                self.gave_up.retain(|id| *id != entry.strategy.id());
                if self.gave_up.len() < asked {
                    self.ask(entry.strategy, budget.saturating_mul(BUDGET_FACTOR))?;
                }
            }
        }
        let is_unproved = self.found.iter().all(|candidate| !candidate.proved);
        if is_unproved && self.prove_best()?.is_none() && found_some {
            // A mapping that turns out wrong was no reason for haste.
            self.ask_others(u64::MAX)?;
        }
        let Some(best) = self.prove_best()? else { return Ok(()) };
        self.explain(best);
        if let Some(in_lines) = self.in_lines(best, budget)? {
            self.replaced = Some(replace(&mut self.found[best], in_lines));
        }
        Ok(())
    }

    /// What costs least to find, to be proved once it turns out to be the best.
    fn ask_usual(&mut self) -> Result<(), MappingError> {
        let (problem, array, id) = (self.problem, self.array, StrategyId::SuccessiveModulo);
        match under_own_quota(problem, id.name(), &[array], || usual_and_one_level(problem, array)) {
            Ok((usual, one_level)) => {
                for proposal in [Some(usual), one_level].into_iter().flatten() {
                    self.found.push(Candidate { proved: false, ..Candidate::new(problem, proposal)? });
                }
            }
            Err(error) => self.fail(id, error),
        }
        Ok(())
    }

    /// The strategies that are asked one by one, those of the last turn as long as there is reason to.
    fn ask_others(&mut self, budget: u64) -> Result<(), MappingError> {
        let is_known =
            |search: &Self, id: StrategyId| search.asked.iter().any(|(other, spent)| *other == id && *spent >= budget);
        self.gave_up = self.gave_up.iter().copied().filter(|id| is_known(self, *id)).collect();
        self.not_asked.clear();
        for entry in one_by_one() {
            let id = entry.strategy.id();
            let is_later = entry.turn == Turn::Later;
            let has_found = self.found.iter().any(|candidate| candidate.strategy() == Some(id));
            if is_known(self, id) || is_later && has_found {
                continue;
            }
            let is_sooner = entry.finds_one_level && self.is_far_from_a_level()?;
            if is_later && !is_sooner && self.is_enough()?
                || entry.parts_differences && !self.is_asked(id) && self.has_least_formula()?
            {
                self.not_asked.push(id);
                continue;
            }
            let most = if entry.budget == Budget::Small { budget.min(SMALL_BUDGET) } else { budget };
            self.ask(entry.strategy, most)?;
        }
        Ok(())
    }

    pub(super) fn is_asked(&self, id: StrategyId) -> bool {
        self.asked.iter().any(|(asked, _)| *asked == id)
    }

    /// Adds what the strategy finds within this many operations. What is in no way better than something proved, or more
    /// than the rule admits beside that, will not be picked, so that it needs no proof.
    pub(super) fn ask(&mut self, strategy: &dyn Strategy, budget: u64) -> Result<(), MappingError> {
        self.asked.push((strategy.id(), budget));
        let (problem, array) = (self.problem, self.array);
        let left = PLAN_BUDGET.saturating_sub(problem.searched.get());
        if left == 0 && !self.found.is_empty() {
            self.gave_up.push(strategy.id());
            return Ok(());
        }
        let is_first = self.found.is_empty();
        // No array takes what is left for others.
        let share = (left / problem.folded_arrays().len().max(1) as u64).max(LEAST_BUDGET).min(left);
        let budget = if is_first { budget } else { budget.min(share) };
        let spent = problem.spent.get();
        let found = self.within(budget, |search| {
            let is_useful = |proposal: &StorageMapping| {
                let candidate = Candidate::new(problem, proposal.clone())?;
                Ok(may_be_picked(&search.found, &candidate, search.objective))
            };
            first_useful(problem, strategy, &[array], search.notes, is_useful)
        });
        let spent = if is_first { 0 } else { problem.spent.get() - spent };
        problem.searched.set(problem.searched.get().saturating_add(spent));
        let candidate =
            found.and_then(|(proposal, proved)| Ok(Candidate { proved, ..Candidate::new(problem, proposal)? }));
        match candidate {
            Ok(candidate) => self.found.push(candidate),
            Err(error) => self.fail(strategy.id(), error),
        }
        Ok(())
    }

    /// Says why a strategy has nothing.
    fn fail(&mut self, strategy: StrategyId, error: MappingError) {
        if matches!(error, MappingError::GaveUp { .. }) {
            self.gave_up.push(strategy);
        }
        self.notes.push(error.to_string());
        self.failure = Some(error);
    }

    /// Takes a step under a smaller quota.
    pub(super) fn within<R>(&mut self, operations: u64, step: impl FnOnce(&mut Self) -> R) -> R {
        let context = self.problem.model.context;
        context.under_quota(operations.min(context.max_operations()), || step(self))
    }

    /// Which candidate is picked, once it and what it is compared with are proved; what turns out wrong is taken out.
    /// None if nothing is left.
    pub(super) fn prove_best(&mut self) -> Result<Option<usize>, MappingError> {
        while let (Some(best), Some(least)) = (pick(&self.found, self.objective), smallest(&self.found)) {
            let least = self.found.iter().position(|candidate| ptr::eq(candidate, least)).expect("it is one of them");
            if self.prove(least)? && self.prove(best)? {
                return Ok(Some(best));
            }
        }
        Ok(None)
    }

    /// Proves a candidate, if it is not proved; else takes it out and says why it may not be used.
    fn prove(&mut self, at: usize) -> Result<bool, MappingError> {
        let (problem, candidate) = (self.problem, &mut self.found[at]);
        if candidate.proved {
            return Ok(true);
        }
        let strategy = candidate.strategy_name();
        let proof = under_own_quota(problem, strategy, &[self.array], || verify_mapping(problem, &candidate.proposal));
        candidate.proved = proof.is_ok();
        if let Err(error) = proof {
            let rejected = self.found.remove(at);
            debug!("`{}`: {} is rejected: {error}", self.name(), Buffers(&rejected.proposal));
            self.notes.push(format!("rejected: {error}"));
            self.failure = Some(error);
            return Ok(false);
        }
        Ok(true)
    }

    /// The same strided hyperplane with rows of whole cache lines, if rows run in lanes and that takes few cells more.
    fn in_lines(&mut self, best: usize, budget: u64) -> Result<Option<Candidate>, MappingError> {
        let weight = match self.objective {
            Objective::Footprint => return Ok(None),
            Objective::Balanced if pass_of(self.problem, self.array).is_some() => LINE_WEIGHT_IN_PASSES,
            Objective::Balanced => LINE_WEIGHT,
            Objective::Speed => LINE_WEIGHT_FOR_SPEED,
        };
        let entry = self.found[best].strategy().and_then(entry_of).filter(|entry| entry.rounds);
        let Some(Entry { strategy, .. }) = entry else { return Ok(None) };
        if self.problem.rounding != Rounding::Auto || self.lanes() == 1 {
            return Ok(None);
        }
        let rounded = self.problem.rounded(Rounding::Lines);
        if is_on_grid(&rounded, &self.found[best].proposal) {
            return Ok(None);
        }
        let found = self.within(budget, |search| first_proved(&rounded, *strategy, &[search.array], &mut Vec::new()));
        let Ok(proposal) = found else { return Ok(None) };
        let found = Candidate::new(self.problem, proposal)?;
        let (few, more) = (self.found[best].cells()?, found.cells()?);
        let is_admitted = smallest(&self.found).is_some_and(|least| found.is_admitted(least, self.objective));
        if more.saturating_sub(few) > few / weight || !is_admitted {
            return Ok(None);
        }
        if more > few {
            let name = self.name();
            self.notes.push(format!("`{name}`: {more} cells in rows of whole cache lines, {few} without"));
        }
        Ok(Some(found))
    }

    /// Says why a mapping was preferred, where there was a choice.
    fn explain(&mut self, best: usize) {
        let describe = |candidate: &Candidate| {
            let strategy = candidate.strategy_name();
            format!("{strategy} ({} bytes, {:.2} an access)", candidate.bytes, candidate.access)
        };
        let others: Vec<String> =
            self.found.iter().enumerate().filter(|(k, _)| *k != best).map(|(_, c)| describe(c)).collect();
        if !others.is_empty() {
            let note = format!("`{}`: {} rather than {}", self.name(), describe(&self.found[best]), others.join(", "));
            self.notes.push(note);
        }
    }

    fn name(&self) -> &str {
        &self.problem.model.kernel.array(self.array).name
    }

    /// The most lanes of a vector dimension.
    pub(super) fn lanes(&self) -> u64 {
        let dims = self.problem.model.schedule.dims.iter();
        dims.map(|kind| if let DimKind::Vector(lanes) = kind { u64::from(*lanes) } else { 1 }).max().unwrap_or(1)
    }
}

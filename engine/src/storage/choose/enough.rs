//! When a search has found enough: what it found, beside the values alive at once.
//!
//! In: a search.   Out: whether strategies that cost more could find anything clearly better.
//!
//! Values are counted only as far as that tells: what a step keeps or what enters a run costs little to know, counting
//! at program points may take seconds.

use crate::analysis::bound::alive_at_ends;
use crate::analysis::peak_liveness::{alive_between_wavefronts, most_alive};
use crate::storage::choose::alive::{alive_of_two_steps, cells_of_steps, unless_spent};
use crate::storage::choose::candidate::{is_near, near_below, pick};
use crate::storage::choose::search::Search;
use crate::storage::knobs::choice::{
    COUNTING_QUOTA, ENDS_BUDGET, FAST_ACCESS, FEW_CELLS, GOOD_ENOUGH_PARTS, LEAST_BUDGET, MARGIN_PARTS,
};
use crate::storage::options::{Objective, Rounding, StrategyId};
use crate::storage::strategies::leaning::{has_known_margins, may_lean, pass_of};
use crate::storage::strategies::sweeping::may_sweep;
use crate::storage::{MappingError, Sharing};

impl Search<'_, '_, '_, '_> {
    /// Whether what was found first needs hardly more cells than the values alive at some program point, as far as that
    /// costs little to know. A worker's copy of a private array holds less than that.
    pub(super) fn is_nearly_alive(&mut self) -> Result<bool, MappingError> {
        let (problem, array) = (self.problem, self.array);
        let Some(best) = pick(&self.found, self.objective) else { return Ok(false) };
        if problem.sharing(array) == Sharing::Private {
            return Ok(false);
        }
        let cells = self.found[best].cells()?;
        if cells_of_steps(problem, array).is_some_and(|alive| alive >= cells) {
            self.alive = self.alive.max(cells);
            return Ok(true);
        }
        if let Some(alive) =
            alive_of_two_steps(problem, array, cells).filter(|_| self.objective != Objective::Footprint)
        {
            self.alive = self.alive.max(alive);
            return Ok(true);
        }
        if self.found[best].strategy() == Some(StrategyId::OneLevel) && self.at_ends()? >= cells {
            return Ok(true);
        }
        // Lifetimes in tiles, where nothing else asks for them, are not known at little cost.
        if problem.conflicts.may_be_uniform(array)? {
            return Ok(false);
        }
        let Some(alive) = alive_between_wavefronts(problem.model, problem.conflicts, array, COUNTING_QUOTA)? else {
            return Ok(false);
        };
        self.alive = self.alive.max(alive);
        Ok(cells <= alive.saturating_add((alive / GOOD_ENOUGH_PARTS).max(FEW_CELLS)) && is_near(cells, alive))
    }

    /// Whether no strategy could find anything clearly better than what would be picked now.
    pub(super) fn is_enough(&mut self) -> Result<bool, MappingError> {
        let Some(least) = self.enough()? else { return Ok(false) };
        Ok(self.alive(least)? >= least)
    }

    /// The same as far as the values that enter or leave the run tell, which costs little to know.
    pub(super) fn is_enough_at_ends(&mut self) -> Result<bool, MappingError> {
        let Some(least) = self.enough()? else { return Ok(false) };
        Ok(self.alive >= least || self.at_ends()? >= least)
    }

    /// The values alive at once from which on no strategy could find anything clearly better than what would be picked
    /// now; none if that has to be found whatever is alive.
    fn enough(&mut self) -> Result<Option<u64>, MappingError> {
        let Some(best) = pick(&self.found, self.objective) else { return Ok(None) };
        let cells = self.found[best].cells()?;
        if self.objective == Objective::Footprint {
            return Ok(Some(cells));
        }
        let is_fast = self.found.iter().any(|candidate| candidate.access < FAST_ACCESS);
        // Who asks for rounded pitches gets them.
        if !matches!(self.problem.rounding, Rounding::Auto | Rounding::Exact) {
            return Ok(is_fast.then_some(0));
        }
        // The margins that tiles take are known: others take as much, and long to find it.
        let least = if self.has_margins() { cells - cells / MARGIN_PARTS } else { near_below(cells) };
        Ok(is_fast.then_some(least))
    }

    /// Whether what would be picked takes half as much again as the values that enter a run together, or more, beyond the
    /// margins that tiles have. What finds just these is asked before values are counted at other points: where tiles run
    /// at once, that takes seconds.
    pub(super) fn is_far_from_a_level(&mut self) -> Result<bool, MappingError> {
        if self.has_counted {
            return Ok(false);
        }
        let level = self.at_ends()?;
        let Some(best) = pick(&self.found, self.objective) else { return Ok(false) };
        Ok(level > 0 && self.found[best].cells()? > self.far_from(level))
    }

    /// Whether what would be picked now takes half as much again as the values known to be alive at once, or more, beyond
    /// the margins that tiles have.
    pub(super) fn is_far(&mut self) -> Result<bool, MappingError> {
        let Some(best) = pick(&self.found, self.objective) else { return Ok(false) };
        let cells = self.found[best].cells()?;
        let alive = self.alive(if self.has_margins() { cells - cells / 2 } else { cells - cells / 3 })?;
        Ok(alive > 0 && cells > self.far_from(alive))
    }

    /// Half as much again as so many values; twice as much where tiles have margins.
    fn far_from(&self, alive: u64) -> u64 {
        alive.saturating_add(if self.has_margins() { alive } else { alive / 2 })
    }

    /// Whether the array is in tiles whose storage has margins that none goes without: as much as between two tiles is alive
    /// of the steps of a tile, beside a step of the array. Where tiles lean along one dimension alone and do not run at once,
    /// only storage that has just these is known to. So it is with the rows of a pass, in place of which smaller storage
    /// has rings that cut them: what is 1.045 times as much has 1.9 times the speed in `run heat-2d-5pt --schedule auto
    /// --set N=64 --threads 1`.
    fn has_margins(&self) -> bool {
        let (problem, array) = (self.problem, self.array);
        let picked = pick(&self.found, self.objective).and_then(|best| self.found[best].strategy());
        let is_in_closed_form =
            || may_lean(problem, array) || may_sweep(problem, array) && pass_of(problem, array).is_some();
        has_known_margins(problem, array) || picked == Some(StrategyId::StridedHyperplane) && is_in_closed_form()
    }

    /// Values alive at once, counted until there are `enough`. Later calls ask for fewer, so one count will do.
    fn alive(&mut self, enough: u64) -> Result<u64, MappingError> {
        if self.alive < enough && !self.has_counted && self.at_ends()? < enough {
            let points = most_alive(self.problem.model, self.problem.conflicts, &[self.array], enough, COUNTING_QUOTA);
            self.alive = self.alive.max(unless_spent(points.map(|alive| alive.values))?.unwrap_or(0));
            self.has_counted = true;
        }
        Ok(self.alive)
    }

    /// Values that enter the run together, or leave it, as far as that costs little to know.
    pub(super) fn at_ends(&mut self) -> Result<u64, MappingError> {
        if let Some(cells) = cells_of_steps(self.problem, self.array) {
            self.alive = self.alive.max(cells);
            return Ok(cells);
        }
        let model = self.problem.model;
        let alive = self.within(LEAST_BUDGET, |search| alive_at_ends(model, &[search.array], ENDS_BUDGET));
        let alive = unless_spent(alive)?.unwrap_or(0);
        self.alive = self.alive.max(alive);
        Ok(alive)
    }
}

//! Storage in closed form, where there is any, and what settles a search soon.
//!
//! In: a search.   Out: candidates, and whether they leave hardly more to save.
//!
//! Asked before anything else, as it needs no differences of cells: storage of folded boxes (`mirrored`), of states of
//! which times tell that one step will do (`one-level`), or as many as are read back (`successive-modulo`), of swept
//! periodic boxes (`periodic`), of tiles and sweeps
//! (`strided-hyperplane`). Right behind successive modulo: one value at a time (`scalar`), and cuts of other periodic
//! boxes (`periodic`).

use crate::kernel::graph::Role;
use crate::storage::choose::candidate::{Candidate, is_near, pick};
use crate::storage::choose::check::{first_proved, under_own_quota};
use crate::storage::choose::search::Search;
use crate::storage::knobs::choice::{LEAST_BUDGET, MIRRORED_BUDGET};
use crate::storage::options::{Objective, StrategyId};
use crate::storage::strategies::leaning::may_lean;
use crate::storage::strategies::mirrored::{Mirrored, may_mirror};
use crate::storage::strategies::periodic::{Periodic, may_wait, reads_far_side};
use crate::storage::strategies::scalar::Scalar;
use crate::storage::strategies::strided_hyperplane::StridedHyperplane;
use crate::storage::strategies::successive_modulo::{OneLevel, StepsReadBack, one_step, steps_read_back};
use crate::storage::strategies::sweeping::may_sweep;
use crate::storage::{MappingError, Sharing};

impl Search<'_, '_, '_, '_> {
    /// Asks for storage in closed form, and says whether that settles the search.
    pub(super) fn ask_closed_forms(&mut self) -> Result<bool, MappingError> {
        if self.is_well_mirrored()?
            || self.keeps_one_step()?
            || self.keeps_steps_read_back()?
            || self.is_swept_around()?
        {
            return Ok(true);
        }
        if may_lean(self.problem, self.array) || may_sweep(self.problem, self.array) {
            self.ask(&StridedHyperplane, LEAST_BUDGET)?;
        }
        Ok(false)
    }

    /// Whether nothing clearly better is to be found than storage of halves: that of an array whose values live inside
    /// of steps has a row in each half, at most, that is not alive, and that of a state the margins of tiles, which no
    /// other formula goes without.
    fn is_well_mirrored(&mut self) -> Result<bool, MappingError> {
        if !self.is_mirrored()? || self.objective != Objective::Balanced {
            return Ok(false);
        }
        Ok(self.problem.model.kernel.array(self.array).role == Role::Temp || !self.is_far()?)
    }

    /// Whether the array is swept and read from the far side, with storage for that which is proved and near the values
    /// that enter the run.
    fn is_swept_around(&mut self) -> Result<bool, MappingError> {
        if self.objective == Objective::Footprint || !may_wait(self.problem, self.array) {
            return Ok(false);
        }
        self.ask(&Periodic, LEAST_BUDGET)?;
        let found = self.found.iter().find(|found| found.strategy() == Some(StrategyId::Periodic));
        let Some(cells) = found.map(Candidate::cells).transpose()? else { return Ok(false) };
        Ok(is_near(cells, self.at_ends()?))
    }

    /// Whether times tell that one step of the array is enough, with storage for it that is proved, and all of its
    /// values are alive at once.
    fn keeps_one_step(&mut self) -> Result<bool, MappingError> {
        let (problem, array) = (self.problem, self.array);
        if problem.sharing(array) == Sharing::Private || one_step(problem, array)?.is_none() {
            return Ok(false);
        }
        self.ask(&OneLevel, LEAST_BUDGET)?;
        let Some(found) = self.found.last().filter(|found| found.strategy() == Some(StrategyId::OneLevel)) else {
            return Ok(false);
        };
        let cells = found.cells()?;
        Ok(self.at_ends()? >= cells)
    }

    /// Whether times tell that as many steps of the array as its readers are behind are enough, with storage for these that
    /// is proved and reached fast, and all of their values are alive at once.
    fn keeps_steps_read_back(&mut self) -> Result<bool, MappingError> {
        let (problem, array) = (self.problem, self.array);
        if problem.sharing(array) == Sharing::Private || steps_read_back(problem, array)?.is_none() {
            return Ok(false);
        }
        self.ask(&StepsReadBack, LEAST_BUDGET)?;
        let Some(found) = self.found.last().filter(|found| found.strategy() == Some(StrategyId::SuccessiveModulo))
        else {
            return Ok(false);
        };
        let (cells, is_fastest) = (found.cells()?, found.is_reached_as_fast_as_can_be());
        Ok(is_fastest && self.at_ends()? >= cells)
    }

    /// Whether the array is folded, with storage for its halves that is proved.
    fn is_mirrored(&mut self) -> Result<bool, MappingError> {
        let (problem, array) = (self.problem, self.array);
        if !under_own_quota(problem, StrategyId::Mirrored.name(), &[array], || may_mirror(problem, array))
            .unwrap_or(false)
        {
            return Ok(false);
        }
        self.ask(&Mirrored, MIRRORED_BUDGET)?;
        Ok(self.found.iter().any(|candidate| candidate.strategy() == Some(StrategyId::Mirrored)))
    }

    /// Whether the array is read from the far side, and storage of a periodic sweep takes hardly more cells than the
    /// values that enter the run together. If it takes more, it is a candidate among others.
    pub(super) fn is_best_periodic(&mut self, budget: u64) -> Result<bool, MappingError> {
        let (problem, array) = (self.problem, self.array);
        if self.found.is_empty() {
            return Ok(false);
        }
        let is_found = self.found.iter().any(|found| found.strategy() == Some(StrategyId::Periodic));
        // No cut leaves fewer cells than are alive at once, and those in closed form were asked for.
        if !is_found && self.is_enough_at_ends()? {
            return Ok(false);
        }
        let reads_far = || reads_far_side(problem, array);
        // Whether there is a far side is no reason to fail: other strategies say what they cannot find out.
        if !is_found && !under_own_quota(problem, StrategyId::Periodic.name(), &[array], reads_far).unwrap_or(false) {
            return Ok(false);
        }
        if !is_found {
            self.ask(&Periodic, budget)?;
        }
        let Some(best) = pick(&self.found, self.objective) else { return Ok(false) };
        if self.objective == Objective::Footprint || self.found[best].strategy() != Some(StrategyId::Periodic) {
            return Ok(false);
        }
        Ok(is_near(self.found[best].cells()?, self.at_ends()?))
    }

    /// Whether the array has one value at a time, or one in each lane; then that is all that is left to choose from.
    pub(super) fn becomes_scalar(&mut self) -> Result<bool, MappingError> {
        let Some(first) = self.found.first() else { return Ok(false) };
        if first.cells()? > self.lanes() {
            return Ok(false);
        }
        let found = first_proved(self.problem, &Scalar, &[self.array], &mut Vec::new());
        let Ok(proposal) = found else { return Ok(false) };
        self.found = vec![Candidate::new(self.problem, proposal)?];
        Ok(true)
    }
}

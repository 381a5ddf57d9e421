//! Candidates: storage with what it takes, and the rule by which one of them is picked.
//!
//! In: storage that strategies found for the same arrays.   Out: the one that an objective prefers.
//!
//! The rule: what is picked is *near* the smallest, at most 1.05 times its bytes, or faster in the estimate of `cost`
//! and at most 1.5 times its bytes. For speed a cache line more is nothing: two scalars stay in registers though they
//! might share a cell. Among what the rule admits, the objective decides. Only [`Objective::Speed`] takes what is
//! fastest at any size. Small private arrays, whose rows a ring would cut, may then have whole rows (`uncut`).

use crate::machine::LINE_BYTES;
use crate::storage::choose::cost::access_cost;
use crate::storage::knobs::choice::{COST_STEP, FAST_ACCESS, NEAR_PARTS};
use crate::storage::options::{Objective, StrategyId};
use crate::storage::problem::Problem;
use crate::storage::{Buffer, MappingError, StorageMapping};

/// A mapping with what it takes.
pub(super) struct Candidate {
    pub(super) proposal: StorageMapping,
    pub(super) bytes: u64,
    pub(super) access: f64,
    /// Only what is used needs a proof.
    pub(super) proved: bool,
}

impl Candidate {
    /// A proved mapping.
    pub(super) fn new(problem: &Problem<'_, '_, '_>, proposal: StorageMapping) -> Result<Candidate, MappingError> {
        let mut bytes = 0_u64;
        for buffer in &proposal.buffers {
            bytes = bytes.saturating_add(buffer.cells()?.saturating_mul(buffer.element.bytes()));
        }
        let access = access_cost(problem, &proposal);
        Ok(Candidate { proposal, bytes, access, proved: true })
    }

    /// What stands for anything of so many bytes, however it is reached, where candidates are compared.
    pub(super) fn as_fast_as_can_be(bytes: u64) -> Candidate {
        Candidate { proposal: StorageMapping::default(), bytes, access: 1.0, proved: false }
    }

    /// The strategy of its first buffer.
    pub(super) fn strategy(&self) -> Option<StrategyId> {
        self.proposal.buffers.first().map(|buffer| buffer.strategy)
    }

    /// Its name for notes and reports.
    pub(super) fn strategy_name(&self) -> &'static str {
        self.strategy().map_or("", StrategyId::name)
    }

    /// Cells of all its buffers.
    pub(super) fn cells(&self) -> Result<u64, MappingError> {
        let mut cells = self.proposal.buffers.iter().map(Buffer::cells);
        cells.try_fold(0_u64, |sum, cells| Ok(sum.saturating_add(cells?)))
    }

    /// Whether no objective prefers the other.
    pub(super) fn is_as_good_as(&self, other: &Candidate) -> bool {
        self.bytes <= other.bytes && self.access <= other.access
    }

    /// Whether no candidate is preferred to it because accesses are faster.
    pub(super) fn is_reached_as_fast_as_can_be(&self) -> bool {
        (self.access / COST_STEP).round() <= (1.0 / COST_STEP).round()
    }

    /// What is compared, smallest first.
    fn rank(&self, objective: Objective) -> (f64, f64) {
        let (bytes, alike) = (self.bytes as f64, (self.access / COST_STEP).round());
        match objective {
            Objective::Footprint => (bytes, alike),
            Objective::Speed => (alike, bytes),
            Objective::Balanced if self.access < FAST_ACCESS => (bytes, alike),
            Objective::Balanced => (bytes * self.access, alike),
        }
    }

    /// Whether the rule lets it be used where there is something as small as `smallest`.
    pub(super) fn is_admitted(&self, smallest: &Candidate, objective: Objective) -> bool {
        let is_faster = self.access < smallest.access;
        let more = self.bytes.saturating_sub(smallest.bytes);
        is_near(self.bytes, smallest.bytes)
            || is_faster && (objective == Objective::Speed || more <= (smallest.bytes / 2).max(LINE_BYTES))
    }
}

/// Whether `size` is hardly more than `least`.
pub(super) fn is_near(size: u64, least: u64) -> bool {
    size.saturating_sub(least) <= least / NEAR_PARTS
}

/// The least number that a size is near to.
pub(super) fn near_below(size: u64) -> u64 {
    size - size / (NEAR_PARTS + 1)
}

/// The one of fewest bytes, of several the one that is reached fastest.
pub(super) fn smallest<'a>(found: impl IntoIterator<Item = &'a Candidate>) -> Option<&'a Candidate> {
    found
        .into_iter()
        .min_by(|a, b| a.rank(Objective::Footprint).partial_cmp(&b.rank(Objective::Footprint)).expect("finite"))
}

/// Which of the candidates the objective prefers among those that the rule admits.
pub(super) fn pick(found: &[Candidate], objective: Objective) -> Option<usize> {
    let least = smallest(found)?;
    let admitted = (0..found.len()).filter(|&at| found[at].is_admitted(least, objective));
    admitted.min_by(|&a, &b| found[a].rank(objective).partial_cmp(&found[b].rank(objective)).expect("finite"))
}

/// Whether the rule could ever pick another candidate beside those that are proved: one of these is as good, or so small
/// that the other is not admitted, whatever else is found.
pub(super) fn may_be_picked(found: &[Candidate], other: &Candidate, objective: Objective) -> bool {
    let mut proved = found.iter().filter(|candidate| candidate.proved);
    proved
        .all(|known| !known.is_as_good_as(other) && (other.bytes <= known.bytes || other.is_admitted(known, objective)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(bytes: u64, access: f64) -> Candidate {
        Candidate { proposal: StorageMapping::default(), bytes, access, proved: true }
    }

    fn picked(objective: Objective, sizes: &[(u64, f64)]) -> (u64, f64) {
        let found: Vec<Candidate> = sizes.iter().map(|&(bytes, access)| candidate(bytes, access)).collect();
        let best = &found[pick(&found, objective).unwrap()];
        (best.bytes, best.access)
    }

    #[test]
    fn speed_may_cost_half_as_much_again_and_no_more() {
        let (balanced, speed) = (Objective::Balanced, Objective::Speed);
        assert_eq!(picked(balanced, &[(1000, 4.0), (1500, 1.0)]), (1500, 1.0));
        assert_eq!(picked(balanced, &[(1000, 4.0), (1501, 1.0)]), (1000, 4.0));
        assert_eq!(picked(speed, &[(1000, 4.0), (1501, 1.0)]), (1501, 1.0));
        // A cache line more is nothing.
        assert_eq!(picked(balanced, &[(8, 4.0), (16, 1.0)]), (16, 1.0));
        // No faster, so there is no reason for what is far from the smallest.
        assert_eq!(picked(speed, &[(100, 1.0), (106, 1.0)]), (100, 1.0));
        assert_eq!(picked(Objective::Footprint, &[(100, 4.0), (101, 1.0)]), (100, 4.0));
    }

    #[test]
    fn what_the_rule_admits_beside_nothing_proved_needs_no_proof() {
        let known = [candidate(1000, 1.02)];
        let may = |bytes, access, objective| may_be_picked(&known, &candidate(bytes, access), objective);
        // Hardly faster, and of half as much again, or more.
        assert!(may(1500, 1.0, Objective::Balanced) && !may(1501, 1.0, Objective::Balanced));
        assert!(may(1501, 1.0, Objective::Speed) && !may(1501, 1.0, Objective::Footprint));
        assert!(may(999, 4.0, Objective::Balanced) && !may(1000, 1.02, Objective::Balanced));
        // What is not proved may turn out wrong.
        let unproved = [Candidate { proved: false, ..candidate(1000, 1.02) }];
        assert!(may_be_picked(&unproved, &candidate(9000, 4.0), Objective::Balanced));
    }

    #[test]
    fn near_is_one_part_in_twenty() {
        assert!(is_near(105, 100) && !is_near(106, 100) && is_near(1, 1) && !is_near(2, 1));
        for size in 0..2000 {
            let least = near_below(size);
            assert!(is_near(size, least) && (least == 0 || !is_near(size, least - 1)), "{size}: {least}");
        }
    }
}

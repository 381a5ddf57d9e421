//! The strategies in one table: each with its turn in the automatic choice, what it can, and what it may cost.
//!
//! A new strategy is a line here and one in `strategies!` (`engine/src/storage/options.rs`). What a caller writes down,
//! [`StrategyId::Given`], is proposed by no strategy and has no entry.

use crate::storage::options::StrategyId;
use crate::storage::problem::Strategy;
use crate::storage::strategies::baseline::hyperplane::Hyperplane;
use crate::storage::strategies::baseline::lattice::Lattice;
use crate::storage::strategies::baseline::occupancy::Occupancy;
use crate::storage::strategies::baseline::window::Window;
use crate::storage::strategies::full::Full;
use crate::storage::strategies::in_place::InPlace;
use crate::storage::strategies::mirrored::Mirrored;
use crate::storage::strategies::periodic::Periodic;
use crate::storage::strategies::scalar::Scalar;
use crate::storage::strategies::shared::Shared;
use crate::storage::strategies::strided_hyperplane::StridedHyperplane;
use crate::storage::strategies::successive_modulo::{OneLevel, SuccessiveModulo};

/// A strategy, and what the choice has to know of it.
pub(crate) struct Entry {
    pub(crate) strategy: &'static dyn Strategy,
    pub(crate) turn: Turn,
    /// Whether it keeps pitches and moduli to what [`Rounding`](crate::Rounding) says.
    pub(crate) rounds: bool,
    /// Whether its buffers of one modulus are rings that may be made longer, to whole pages.
    pub(crate) makes_rings: bool,
    /// Whether it finds one level of a state, or nothing.
    pub(crate) finds_one_level: bool,
    /// Whether each of its proposals is one formula for all cells that keeps all differences of conflicting cells apart.
    pub(crate) parts_differences: bool,
    /// What it may spend.
    pub(crate) budget: Budget,
}

/// When the automatic choice asks a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Before all others, for all states together.
    States,
    /// First of those for one array: it costs least.
    First,
    /// For one array, where those of the first turn will not do.
    Second,
    /// For one array after these, as long as something could be gained.
    Later,
    /// For all arrays that the others found storage for.
    Together,
    /// Where nothing else is proved.
    Last,
}

/// What a strategy may spend where there is a mapping already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Budget {
    /// As much as any other.
    Usual,
    /// The same and, where it gave up and the mapping at hand is far from the values alive at once, more.
    Again,
    /// A small one, where nothing says that it will help.
    Small,
}

/// All of them in the order of their turns; those of one turn by what they cost, cheapest first.
pub(crate) static STRATEGIES: [Entry; 13] = [
    entry(&InPlace, Turn::States),
    Entry { makes_rings: false, ..entry(&Scalar, Turn::First) },
    entry(&SuccessiveModulo, Turn::First),
    entry(&OneLevel, Turn::First),
    Entry { rounds: true, parts_differences: true, budget: Budget::Again, ..entry(&StridedHyperplane, Turn::Second) },
    Entry { finds_one_level: true, ..entry(&Occupancy, Turn::Later) },
    Entry { parts_differences: true, ..entry(&Hyperplane, Turn::Later) },
    Entry { parts_differences: true, ..entry(&Window, Turn::Later) },
    Entry { budget: Budget::Small, ..entry(&Periodic, Turn::Later) },
    entry(&Mirrored, Turn::Later),
    Entry { parts_differences: true, ..entry(&Lattice, Turn::Later) },
    entry(&Shared, Turn::Together),
    Entry { makes_rings: false, ..entry(&Full, Turn::Last) },
];

const fn entry(strategy: &'static dyn Strategy, turn: Turn) -> Entry {
    Entry {
        strategy,
        turn,
        rounds: false,
        makes_rings: true,
        finds_one_level: false,
        parts_differences: false,
        budget: Budget::Usual,
    }
}

/// The entry of a strategy; none for what the caller gives.
pub(crate) fn entry_of(id: StrategyId) -> Option<&'static Entry> {
    STRATEGIES.iter().find(|entry| entry.strategy.id() == id)
}

/// Those that are asked one by one for an array, in that order.
pub(crate) fn one_by_one() -> impl Iterator<Item = &'static Entry> {
    STRATEGIES.iter().filter(|entry| matches!(entry.turn, Turn::Second | Turn::Later))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_but_what_is_given_has_one_entry() {
        for id in StrategyId::ALL {
            let entries = STRATEGIES.iter().filter(|entry| entry.strategy.id() == id).count();
            assert_eq!(entries, usize::from(id != StrategyId::Given), "{id}");
        }
    }
}

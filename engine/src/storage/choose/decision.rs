//! Choices and decisions: what storage was chosen so far, how it compares with the smallest that was found, and what
//! was left untried.
//!
//! In: proposals, and the candidates of a choice.   Out: a [`Choice`], and [`Decision`]s for the report.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::check::Proved;
use crate::kernel::graph::ArrayId;
use crate::storage::StorageMapping;
use crate::storage::choose::candidate::{Candidate, is_near, smallest};
use crate::storage::options::StrategyId;

/// Storage that was chosen so far, and what was tried on the way.
#[derive(Default)]
pub(crate) struct Choice {
    pub(crate) mapping: StorageMapping,
    pub(crate) notes: Vec<String>,
    /// What the automatic choice decided.
    pub(crate) decisions: Vec<Decision>,
}

/// A proved mapping of every folded array, and what was tried on the way.
pub(crate) struct Chosen {
    pub(crate) mapping: Proved<StorageMapping>,
    pub(crate) notes: Vec<String>,
    /// What the automatic choice decided.
    pub(crate) decisions: Vec<Decision>,
}

/// What was chosen for some arrays, and what else there was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Decision {
    pub(crate) arrays: Vec<ArrayId>,
    pub(crate) chosen: Weighed,
    /// The smallest that was proved.
    pub(crate) smallest: Weighed,
    /// Whether it was chosen because no ring cuts its rows.
    pub(crate) is_uncut: bool,
    /// Strategies whose search took too much.
    pub(crate) gave_up: Vec<StrategyId>,
    /// Strategies that were not asked, as there was no need.
    pub(crate) not_asked: Vec<StrategyId>,
}

/// The name of a strategy; a type of its own, as serde would borrow plain texts from what is read.
pub(crate) type StrategyName = &'static str;

/// A mapping with what it takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Weighed {
    /// The strategy that proposed it.
    #[serde(deserialize_with = "strategy_name")]
    pub strategy: StrategyName,
    /// Bytes of its cells: without padding, one copy of what is private, before rings are mapped twice.
    pub bytes: u64,
    /// What an access is estimated to cost, relative to one of a contiguous, unfolded array.
    pub access: f64,
}

/// Why what was chosen is not the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// It is the smallest.
    Smallest,
    /// It has at most 1.05 times the bytes of the smallest.
    NearSmallest,
    /// It is reached faster than the smallest, and has at most 1.5 times its bytes or a cache line more, unless speed
    /// was all that counts.
    Faster,
    /// It is private, and its rows are whole where a ring would cut those of the smallest. It has at most twice the
    /// bytes of the smallest, and at most a quarter of the first-level cache.
    Uncut,
}

/// The name of a strategy, or of none.
fn strategy_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "" => Ok(""),
        name => name.parse().map(StrategyId::name).map_err(D::Error::custom),
    }
}

impl Weighed {
    fn of(candidate: &Candidate) -> Weighed {
        Weighed { strategy: candidate.strategy_name(), bytes: candidate.bytes, access: candidate.access }
    }
}

impl Decision {
    /// For `chosen`, one of `found` or as good as one of these; all strategies were asked.
    pub(super) fn new<'a>(
        arrays: Vec<ArrayId>,
        chosen: &'a Candidate,
        found: impl IntoIterator<Item = &'a Candidate>,
    ) -> Decision {
        let proved = found.into_iter().filter(|candidate| candidate.proved);
        let least = smallest(proved.chain([chosen])).expect("at least what was chosen");
        let (gave_up, not_asked) = Default::default();
        let (chosen, smallest) = (Weighed::of(chosen), Weighed::of(least));
        Decision { arrays, chosen, smallest, is_uncut: false, gave_up, not_asked }
    }

    /// Why it is not the smallest.
    pub(crate) fn reason(&self) -> Reason {
        match (self.chosen.bytes, self.smallest.bytes) {
            (chosen, least) if chosen <= least => Reason::Smallest,
            (chosen, least) if is_near(chosen, least) => Reason::NearSmallest,
            _ if self.is_uncut => Reason::Uncut,
            _ => Reason::Faster,
        }
    }
}

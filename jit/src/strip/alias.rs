//! Which loads and stores of a strip may meet, for passes that ask for every pair.
//!
//! In: a strip.   Out: [`Aliases`]; a question takes the logarithm of the number of its alias facts.

use crease_program::{AliasFact, AliasRelation, Strip, ValueId};

/// What [`Strip::may_alias`] says, faster.
pub(crate) struct Aliases<'a> {
    strip: &'a Strip,
    /// Loads and stores that never meet, sorted.
    disjoint: Vec<(ValueId, ValueId)>,
    /// Those of which the store comes behind the load, wherever they meet, sorted.
    read_before: Vec<(ValueId, ValueId)>,
}

impl<'a> Aliases<'a> {
    /// Those of a strip.
    pub(crate) fn new(strip: &'a Strip) -> Self {
        let pairs = |is_so: fn(&AliasFact) -> bool| {
            let facts = strip.alias.iter().filter(|fact| is_so(fact));
            let mut pairs: Vec<_> = facts.map(|fact| (fact.load, fact.store)).collect();
            pairs.sort_unstable();
            pairs
        };
        let disjoint = pairs(|fact| fact.relation == AliasRelation::Disjoint);
        let read_before = pairs(|fact| match fact.relation {
            AliasRelation::Disjoint => true,
            AliasRelation::SameLane => fact.load < fact.store,
            AliasRelation::Distance(distance) => distance < 0,
        });
        Aliases { strip, disjoint, read_before }
    }

    /// Whether the store may write cells that the load reads.
    pub(crate) fn may_meet(&self, load: usize, store: usize) -> bool {
        let (load, store) = (ValueId(load as u32), ValueId(store as u32));
        self.strip.have_one_buffer(load, store) && self.disjoint.binary_search(&(load, store)).is_err()
    }

    /// Whether the store writes no cell that the load reads then or later: where they meet, the store is the later one,
    /// in its iteration or in a later one. Such a load may be made earlier than it stands.
    pub(crate) fn reads_before(&self, load: usize, store: usize) -> bool {
        let (load, store) = (ValueId(load as u32), ValueId(store as u32));
        !self.strip.have_one_buffer(load, store) || self.read_before.binary_search(&(load, store)).is_ok()
    }
}

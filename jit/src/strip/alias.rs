//! Which loads and stores of a strip may meet, for passes that ask for every pair.
//!
//! In: a strip.   Out: [`Aliases`]; a question takes the logarithm of the number of its alias facts.

use crease_program::{AliasRelation, Strip, ValueId};

/// What [`Strip::may_alias`] says, faster.
pub(crate) struct Aliases<'a> {
    strip: &'a Strip,
    /// Loads and stores that never meet, sorted.
    disjoint: Vec<(ValueId, ValueId)>,
}

impl<'a> Aliases<'a> {
    /// Those of a strip.
    pub(crate) fn new(strip: &'a Strip) -> Self {
        let disjoint = strip.alias.iter().filter(|fact| fact.relation == AliasRelation::Disjoint);
        let mut disjoint: Vec<_> = disjoint.map(|fact| (fact.load, fact.store)).collect();
        disjoint.sort_unstable();
        Aliases { strip, disjoint }
    }

    /// Whether the store may write cells that the load reads.
    pub(crate) fn may_meet(&self, load: usize, store: usize) -> bool {
        let (load, store) = (ValueId(load as u32), ValueId(store as u32));
        self.strip.have_one_buffer(load, store) && self.disjoint.binary_search(&(load, store)).is_err()
    }
}

//! Values that one iteration of a strip hands to the next in a register: scalar replacement.
//!
//! In: a strip that runs cell by cell, and where its pointers are.   Out: loads of what the iteration before had stored,
//! or loaded, each with that operation.
//!
//! In `s[x] = s[x-1] + a[x]` each sum waits for the one before, which goes through memory: storing and loading it takes
//! as long as a sum or two. In a register it takes nothing. The first iteration of a loop loads its cell, as no
//! iteration before it is in that loop.
//!
//! A load is replaced where it is sure that nothing else has stored to its cell in between. Of stores through the pointer
//! of the load, and of those that are a constant ahead of it in its ring, that is known to the cell; of others the alias
//! facts of the strip tell.
//!
//! Source: Callahan, Carr and Kennedy, Improving register allocation for subscripted variables (PLDI 1990), section 3.

use crease_program::{Address, AliasRelation, Element, Int, Op, Stream, StreamId, ValueId};

use super::plan::{Pointer, Shape, StripPlan};
use crate::strip::Linear;

/// Loads of a strip that are replaced, at most: each holds a register through its loop, of sixteen.
const MOST_CARRIED: usize = 8;

/// Pairs of a load and a store that are looked at, at most: strips of hundreds of each wait for other things.
const MOST_PAIRS: usize = 4096;

/// A load whose value the iteration before has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Carried {
    /// The load.
    pub(super) load: usize,
    /// What had its value: a store, or another load.
    pub(super) source: usize,
}

/// By how many cells a stream is ahead of another one in each iteration.
#[derive(Clone, Copy)]
struct Ahead {
    cells: i64,
    /// The ring in which both are.
    ring: Option<i64>,
}

impl Ahead {
    /// Whether it is as many cells ahead.
    fn is(self, cells: i64) -> bool {
        match self.ring {
            Some(ring) => (i128::from(self.cells) - i128::from(cells)) % i128::from(ring) == 0,
            None => self.cells == cells,
        }
    }
}

/// The loads of a strip that are replaced, in order: those of what was stored, then those of what these have loaded. None
/// of strips in lanes, and of those whose registers are taken.
pub(super) fn carried(plan: &StripPlan<'_>) -> Vec<Carried> {
    let has_registers = plan.spills.is_none() && !plan.is_large;
    if plan.shape != Shape::Scalar || !has_registers || plan.constant_length() == Some(1) {
        return Vec::new();
    }
    Cells(plan).carried()
}

/// What tells where the cells of a strip are.
struct Cells<'p, 'a>(&'p StripPlan<'a>);

impl<'a> Cells<'_, 'a> {
    fn carried(&self) -> Vec<Carried> {
        let StripPlan { strip, aliases, order, .. } = self.0;
        let is_load = |at: &&usize| matches!(strip.ops[**at], Op::Load { .. });
        let is_store = |at: &&usize| matches!(strip.ops[**at], Op::Store { .. });
        let stores: Vec<usize> = order.iter().filter(is_store).copied().collect();
        let mut loads: Vec<usize> = order.iter().filter(is_load).copied().collect();
        loads.retain(|load| stores.iter().any(|store| aliases.may_meet(*load, *store)));
        loads.sort_unstable();
        if loads.len().saturating_mul(stores.len()) > MOST_PAIRS {
            return Vec::new();
        }
        let mut carried: Vec<Carried> = Vec::new();
        // Each round finds the loads of cells that lie one iteration farther back.
        let mut sources = stores.clone();
        while carried.len() < MOST_CARRIED && !sources.is_empty() {
            let before = carried.len();
            for &load in &loads {
                if carried.len() < MOST_CARRIED && carried.iter().all(|known| known.load != load) {
                    let source = sources.iter().copied().find(|&source| self.is_carried(load, source, &stores));
                    carried.extend(source.map(|source| Carried { load, source }));
                }
            }
            sources = carried[before..].iter().map(|known| known.load).collect();
        }
        carried
    }

    /// Whether a load has in each iteration, from the second one on, the value that another operation had in the one
    /// before, to the bit.
    fn is_carried(&self, load: usize, source: usize, stores: &[usize]) -> bool {
        load != source
            && self.ahead(load, source).is_some_and(|(ahead, stride)| ahead.is(stride))
            && self.is_kept_to_the_bit(load, source)
            && !stores.iter().any(|&store| self.comes_between(load, source, store))
    }

    /// Whether a store may write to the cell of a load behind an operation of the iteration before, which may be that store.
    fn comes_between(&self, load: usize, source: usize, store: usize) -> bool {
        if !self.0.aliases.may_meet(load, store) {
            return false;
        }
        let (in_this, in_the_one_before) = (store < load, store > source);
        if let Some((ahead, stride)) = self.ahead(load, store) {
            return in_this && ahead.is(0) || in_the_one_before && ahead.is(stride);
        }
        let (load, store) = (ValueId(load as u32), ValueId(store as u32));
        let fact = self.0.strip.alias.iter().find(|fact| (fact.load, fact.store) == (load, store));
        match fact.map(|fact| fact.relation) {
            Some(AliasRelation::Disjoint) => false,
            Some(AliasRelation::SameLane) => in_this,
            Some(AliasRelation::Distance(distance)) => distance == 1 && in_the_one_before,
            None => true,
        }
    }

    /// By how much the cell of another load or store is ahead of that of a load in each iteration, and the stride of both,
    /// if that is known.
    fn ahead(&self, load: usize, other: usize) -> Option<(Ahead, i64)> {
        let [one, two] = [load, other].map(|op| self.stream(op));
        let (one, two) = (one?, two?);
        let (from, to) = (&self.0.strip.streams[one.index()], &self.0.strip.streams[two.index()]);
        if from.buffer != to.buffer {
            return None;
        }
        if let (Some((from, ring, stride)), Some(to)) = (self.in_ring(from), self.in_ring(to)) {
            if (to.1, to.2) != (ring, stride) || to.0.0.constant_difference(&from.0)? != 0 {
                return None;
            }
            let cells = to.0.1.constant_difference(&from.1)?;
            return Some((Ahead { cells, ring: Some(ring) }, stride));
        }
        let [(pointer, at), (of_other, there)] = [one, two].map(|stream| self.0.places[stream.index()]);
        let Pointer { stride, bytes, ring, .. } = self.0.pointers[pointer];
        // In a ring that is mapped twice, one cell has two addresses.
        let is_known = pointer == of_other && !ring.is_some_and(|ring| ring.is_double_mapped());
        // Cells of a buffer have one size.
        let cells = is_known.then(|| (i64::from(there) - i64::from(at)) / bytes)?;
        Some((Ahead { cells, ring: None }, stride?))
    }

    /// Where the ring begins that a stream moves in, its position there at iteration 0, as sums; the cells of the ring, and
    /// its stride.
    fn in_ring(&self, stream: &'a Stream) -> Option<((Linear<'a>, Linear<'a>), i64, i64)> {
        let Address::Block { base, pos, ring: Some(ring), stride, .. } = &stream.address else { return None };
        let ring = i64::try_from(*ring).ok().filter(|ring| *ring > 0)?;
        let position = match pos {
            Int::Wrap(position, modulus) | Int::Mod(position, modulus) if *modulus == ring => position,
            position => position,
        };
        Some(((self.0.lets.linear(base)?, self.0.lets.linear(position)?), ring, *stride))
    }

    fn stream(&self, op: usize) -> Option<StreamId> {
        match self.0.strip.ops[op] {
            Op::Load { stream, .. } | Op::Store { stream, .. } => Some(stream),
            _ => None,
        }
    }

    /// Whether a load of the cell has the bits that the other operation has: nothing is converted or rounded.
    fn is_kept_to_the_bit(&self, load: usize, source: usize) -> bool {
        let Op::Load { stream, ty } = self.0.strip.ops[load] else { return false };
        let element = self.0.elements[stream.index()];
        match self.0.strip.ops[source] {
            Op::Load { ty: of_source, .. } => of_source == ty,
            Op::Store { value, .. } => {
                let stored = self.0.kinds[value.index()];
                element != Element::F16 && element.value_type() == ty && stored == self.0.kinds[load]
            }
            _ => false,
        }
    }
}

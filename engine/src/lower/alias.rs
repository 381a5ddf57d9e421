//! Alias facts: what a load and a store of one strip have in common.
//!
//! In: the streams of a strip.   Out: one fact for each pair that something is known about.
//!
//! Streams of different buffers are disjoint. Streams of one buffer that move alike stay a constant distance apart; if it is
//! zero they meet only within an iteration, which is what an in-place fold does on purpose. A pair whose distance is not a
//! constant gets no fact: it may alias in any way.

use crease_jit::program::{AliasFact, AliasRelation, Int, Op, Stream, ValueId};

/// Facts for every pair of a load and a store.
pub(crate) fn alias_facts(streams: &[Stream], ops: &[Op]) -> Vec<AliasFact> {
    let position = |at: usize| ValueId(at as u32);
    let mut facts = Vec::new();
    for (at_load, load) in ops.iter().enumerate() {
        let Op::Load { stream: from, .. } = load else {
            continue;
        };
        for (at_store, store) in ops.iter().enumerate() {
            let Op::Store { stream: to, .. } = store else {
                continue;
            };
            if let Some(relation) = relation(&streams[from.index()], &streams[to.index()]) {
                facts.push(AliasFact { load: position(at_load), store: position(at_store), relation });
            }
        }
    }
    facts
}

fn relation(load: &Stream, store: &Stream) -> Option<AliasRelation> {
    if load.buffer != store.buffer {
        return Some(AliasRelation::Disjoint);
    }
    if load == store && load.stride != 0 {
        return Some(AliasRelation::SameLane);
    }
    if load.ring.is_some() || store.ring.is_some() || load.stride != store.stride || load.base != store.base {
        return None;
    }
    let distance = constant_difference(&load.pos, &store.pos)?;
    match (distance, load.stride) {
        (0, 0) => None,
        (0, _) => Some(AliasRelation::SameLane),
        (_, 0) => Some(AliasRelation::Disjoint),
        (d, s) if d % s != 0 => Some(AliasRelation::Disjoint),
        (d, s) => Some(AliasRelation::Distance(-d / s)),
    }
}

/// `a - b` if it is a constant.
fn constant_difference(a: &Int, b: &Int) -> Option<i64> {
    let ((a, x), (b, y)) = (split_constant(a), split_constant(b));
    (a == b).then(|| x.checked_sub(y)).flatten()
}

/// An expression without its last constant summand.
fn split_constant(e: &Int) -> (Option<&Int>, i64) {
    match e {
        Int::Const(c) => (None, *c),
        Int::Add(rest, last) => match **last {
            Int::Const(c) => (Some(rest), c),
            _ => (Some(e), 0),
        },
        _ => (Some(e), 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crease_jit::program::{BufferId, Var};

    fn at(offset: i64) -> Stream {
        let pos = Int::Add(Box::new(Int::Var(Var(0))), Box::new(Int::Const(offset)));
        Stream { buffer: BufferId(0), base: Int::Const(0), pos, ring: None, stride: 1 }
    }

    #[test]
    fn a_store_one_cell_ahead_meets_the_load_one_iteration_later() {
        // Load at iteration i + d touches the store's cell of iteration i: pos_load + (i + d) = pos_store + i.
        assert_eq!(relation(&at(0), &at(1)), Some(AliasRelation::Distance(1)));
        assert_eq!(relation(&at(1), &at(1)), Some(AliasRelation::SameLane));
    }
}

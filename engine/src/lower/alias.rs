//! Alias facts: what a load and a store of one strip have in common.
//!
//! In: the references of a strip.   Out: one fact for each pair that something is known about.
//!
//! Streams of different buffers are disjoint, and so are those that stay apart in one: the rows `t mod 2` and
//! `(t - 1) mod 2` differ whatever `t` is, and so do cells of a ring that are farther apart than a strip is long, both
//! ways round. Streams of one buffer that move alike stay a constant distance apart; if it is zero they meet only
//! within an iteration, which is what an in-place fold does on purpose. In a ring they do so too, if a strip is too
//! short to come round to the other one. Cells of an array that a call passes meet where all their coordinates do. A
//! pair whose distance is not a constant gets no fact: it may alias in any way.

use crease_program::{
    Address, AliasFact, AliasRelation, BufferId, Coordinate, Int, Interval, Op, Stream, StreamId, ValueId,
};

use crate::lower::address::{Progression, Reference};
use crate::plan::layout::Layout;

/// Facts for every pair of a load and a store.
pub(crate) fn alias_facts(references: &[Reference], ops: &[Op], layout: &Layout) -> Vec<AliasFact> {
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
            if let Some(relation) = in_common(&references[from.index()], &references[to.index()], layout) {
                facts.push(AliasFact { load: position(at_load), store: position(at_store), relation });
            }
        }
    }
    facts
}

/// Whether a store may write the cell that a load of the same iteration reads.
pub(crate) fn meets_in_iteration(
    (references, load, store): (&[Reference], StreamId, StreamId),
    layout: &Layout,
) -> bool {
    match in_common(&references[load.index()], &references[store.index()], layout) {
        Some(AliasRelation::Disjoint | AliasRelation::Distance(_)) => false,
        Some(AliasRelation::SameLane) | None => true,
    }
}

/// What is known of a load and a store.
fn in_common(from: &Reference, to: &Reference, layout: &Layout) -> Option<AliasRelation> {
    let moduli = &layout.buffers[to.stream.buffer.index()].moduli;
    let one_buffer = from.stream.buffer == to.stream.buffer;
    if one_buffer && are_apart((&from.progressions, &to.progressions), moduli) {
        return Some(AliasRelation::Disjoint);
    }
    relation(&from.stream, &to.stream).or_else(|| match (ring(&from.stream), ring(&to.stream)) {
        (Some(one), Some(other)) if one == other => around_ring((&from.progressions, &to.progressions), moduli),
        _ => None,
    })
}

/// The ring that a stream runs around, if there is one: where it begins, and its cells.
fn ring(stream: &Stream) -> Option<(BufferId, &Int, u64)> {
    match &stream.address {
        Address::Block { base, ring: Some(cells), .. } => Some((stream.buffer, base, *cells)),
        _ => None,
    }
}

/// When two references meet that move alike around a ring, if some coordinate tells: distinct coordinates are distinct
/// cells.
fn around_ring(
    (load, store): (&[Option<Progression>], &[Option<Progression>]),
    moduli: &[i64],
) -> Option<AliasRelation> {
    load.iter().zip(store).zip(moduli).find_map(|((load, store), modulus)| {
        let (load, store) = (load.as_ref()?, store.as_ref()?);
        let range = differences(load, store).filter(|_| load.stride == store.stride && load.stride != 0)?;
        let multiple = i128::from(*modulus);
        let only = range.max.div_euclid(multiple) * multiple;
        if only - multiple >= range.min {
            return None;
        }
        let start = i128::from(load.start.clone().plus(&store.start, -1)?.as_constant()?);
        let ahead = only - start;
        let stride = i128::from(load.stride);
        if ahead % stride != 0 {
            return Some(AliasRelation::Disjoint);
        }
        i64::try_from(ahead / stride).ok().map(after)
    })
}

/// Whether two references to one block stay apart in some coordinate, whatever iterations they are at: distinct
/// coordinates are distinct cells.
fn are_apart((a, b): (&[Option<Progression>], &[Option<Progression>]), moduli: &[i64]) -> bool {
    // Borrowed arrays are addressed by their own coordinates and have no progressions.
    debug_assert!(
        [a, b].iter().all(|progressions| progressions.is_empty() || progressions.len() == moduli.len()),
        "a reference to a block has a progression per coordinate"
    );
    a.iter().zip(b).zip(moduli).any(|((a, b), modulus)| {
        let differences = a.as_ref().zip(b.as_ref()).and_then(|(a, b)| differences(a, b));
        let multiple = i128::from(*modulus);
        differences.is_some_and(|range| range.max.div_euclid(multiple) * multiple < range.min)
    })
}

/// Between what the values of one progression, less those of another one, lie, if their starts are a constant apart.
fn differences(a: &Progression, b: &Progression) -> Option<Interval> {
    let start = Interval::point(a.start.clone().plus(&b.start, -1)?.as_constant()?);
    let (below, above) = if a.stride == b.stride {
        // They move together: what counts is how far apart two iterations are.
        let reach = a.reach.0.max(a.reach.1).min(b.reach.0.max(b.reach.1));
        (i128::from(reach), i128::from(reach))
    } else {
        (i128::from(a.reach.0) + i128::from(b.reach.1), i128::from(a.reach.1) + i128::from(b.reach.0))
    };
    Some(start + Interval { min: -below, max: above })
}

fn relation(load: &Stream, store: &Stream) -> Option<AliasRelation> {
    if load.buffer != store.buffer {
        return Some(AliasRelation::Disjoint);
    }
    if load == store && !load.is_fixed() {
        return Some(AliasRelation::SameLane);
    }
    let (load, store) = match (&load.address, &store.address) {
        (Address::Array(load), Address::Array(store)) => return of_coordinates(load, store),
        (load @ Address::Block { .. }, store @ Address::Block { .. }) => (load, store),
        _ => return None,
    };
    let (Address::Block { base, pos, ring: None, stride }, Address::Block { base: to, pos: at, ring: None, stride: s }) =
        (load, store)
    else {
        return None;
    };
    if stride != s || base != to {
        return None;
    }
    match meeting(constant_difference(pos, at)?, *stride) {
        Meeting::Always => None,
        Meeting::Never => Some(AliasRelation::Disjoint),
        Meeting::After(d) => Some(after(d)),
    }
}

/// What is known of a load that meets a store's cell only `d` iterations later.
fn after(d: i64) -> AliasRelation {
    if d == 0 { AliasRelation::SameLane } else { AliasRelation::Distance(d) }
}

/// When two values that move alike are equal: the one a load has at iteration `j + d`, and the one a store has at `j`.
enum Meeting {
    /// For every `d`.
    Always,
    /// For none.
    Never,
    /// For this one.
    After(i64),
}

/// The load's value is ahead of the store's by `distance`; both move by `step`.
fn meeting(distance: i64, step: i64) -> Meeting {
    match (distance, step) {
        (0, 0) => Meeting::Always,
        (_, 0) => Meeting::Never,
        (d, s) if d % s != 0 => Meeting::Never,
        (d, s) => Meeting::After(-d / s),
    }
}

/// Two cells of an array are one if all their coordinates are, so any coordinate may say that they never are, or when
/// at most. One whose distance is not a constant says nothing.
fn of_coordinates(load: &[Coordinate], store: &[Coordinate]) -> Option<AliasRelation> {
    let mut only = None;
    for (load, store) in load.iter().zip(store) {
        let distance = constant_difference(&load.start, &store.start).filter(|_| load.step == store.step);
        match distance.map(|distance| meeting(distance, load.step)) {
            None | Some(Meeting::Always) => {}
            Some(Meeting::Never) => return Some(AliasRelation::Disjoint),
            Some(Meeting::After(d)) if only.is_some_and(|known| known != d) => return Some(AliasRelation::Disjoint),
            Some(Meeting::After(d)) => only = Some(d),
        }
    }
    only.map(after)
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
    use crate::lower::linear::{Atom, Linear};
    use crease_program::Var;

    fn at(offset: i64) -> Stream {
        let pos = Int::Add(Box::new(Int::Var(Var(0))), Box::new(Int::Const(offset)));
        Stream::new(BufferId(0), Address::Block { base: Int::Const(0), pos, ring: None, stride: 1 })
    }

    fn at_row(row: i64, column: i64) -> Stream {
        let coordinate = |value, step| Coordinate { start: Int::Const(value), step };
        let address = Address::Array(vec![coordinate(row, 0), coordinate(column, 2)]);
        Stream::new(BufferId(0), address)
    }

    #[test]
    fn cells_of_an_array_meet_where_all_coordinates_do() {
        assert_eq!(relation(&at_row(1, 0), &at_row(1, 4)), Some(AliasRelation::Distance(2)));
        assert_eq!(relation(&at_row(1, 0), &at_row(1, 0)), Some(AliasRelation::SameLane));
        assert_eq!(relation(&at_row(1, 0), &at_row(1, 3)), Some(AliasRelation::Disjoint));
        assert_eq!(relation(&at_row(1, 0), &at_row(2, 0)), Some(AliasRelation::Disjoint));
    }

    #[test]
    fn a_store_one_cell_ahead_meets_the_load_one_iteration_later() {
        // Load at iteration i + d touches the store's cell of iteration i: pos_load + (i + d) = pos_store + i.
        assert_eq!(relation(&at(0), &at(1)), Some(AliasRelation::Distance(1)));
        assert_eq!(relation(&at(1), &at(1)), Some(AliasRelation::SameLane));
    }

    #[test]
    fn rows_are_apart_if_their_distance_is_no_multiple_of_the_modulus() {
        let progression = |start| Some(Progression { start, reach: (0, 0), stride: 0 });
        let row = |offset: i64| progression(Linear::term(Atom::Var(Var(0))).plus_constant(offset).unwrap());
        let apart = |a, b, modulus| are_apart((&[None, a], &[None, b]), &[7, modulus]);
        assert!(apart(row(0), row(-1), 2) && apart(row(-1), row(1), 3));
        assert!(!apart(row(0), row(-2), 2) && !apart(row(0), row(0), 2) && !apart(row(0), None, 2));
        assert!(!apart(row(0), progression(Linear::term(Atom::Var(Var(1)))), 2));
    }

    #[test]
    fn cells_of_a_ring_are_apart_if_neither_way_round_is_as_short_as_a_strip() {
        let progression = |start, reach, stride| Some(Progression { start: Linear::constant(start), reach, stride });
        let apart = |a, b| are_apart((&[a], &[b]), &[20]);
        let forwards = |start| progression(start, (0, 9), 1);
        assert!(apart(forwards(0), forwards(10)) && apart(forwards(50), forwards(0)));
        assert!(
            !apart(forwards(0), forwards(9)) && !apart(forwards(0), forwards(11)) && !apart(forwards(20), forwards(0))
        );
        // A cell, and progressions of ten that end before it or lead to it.
        let (cell, backwards) = (|start| progression(start, (0, 0), 0), |start| progression(start, (9, 0), -1));
        assert!(apart(cell(10), forwards(0)) && apart(cell(5), backwards(4)) && apart(backwards(29), forwards(10)));
        assert!(!apart(cell(9), forwards(0)) && !apart(cell(5), backwards(34)) && !apart(backwards(9), forwards(0)));
        let meeting = |load, store| around_ring((&[load], &[store]), &[20]);
        assert_eq!(meeting(forwards(1), forwards(0)), Some(AliasRelation::Distance(-1)));
        assert_eq!(meeting(forwards(0), forwards(9)), Some(AliasRelation::Distance(9)));
        assert_eq!(meeting(forwards(19), forwards(0)), Some(AliasRelation::Distance(1)));
        assert_eq!(meeting(forwards(40), forwards(0)), Some(AliasRelation::SameLane));
        let endless = |start| progression(start, (0, i64::MAX), 1);
        assert_eq!(meeting(endless(1), endless(0)), None);
        assert_eq!(meeting(progression(1, (0, 8), 2), progression(0, (0, 8), 2)), Some(AliasRelation::Disjoint));
        assert!(!apart(endless(0), endless(10)) && apart(endless(0), forwards(10)));
    }
}

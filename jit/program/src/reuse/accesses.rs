//! Accesses of a strip: those that are followed, as most loads of a stencil are beside others.
//!
//! In: a strip.   Out: who touches cells through which stream, loads of one row once.

use super::*;
use crate::knobs::SAME_ROW_CELLS;

/// Who touches cells in a strip, and through which stream, in the order of its operations, if its first store and its
/// first stream have these numbers. A load finds at hand what an earlier load of the strip has read of the same row,
/// but for a few cells at its end: it is left out.
pub(super) fn accesses(strip: &Strip, (mut store, first_stream): (usize, usize)) -> Rc<[(StreamId, Access)]> {
    let mut found: Vec<(StreamId, Access)> = Vec::new();
    for op in &strip.ops {
        match *op {
            Op::Load { stream, .. } => {
                let own = &strip.streams[stream.index()];
                let is_same_row = |(other, access): &(StreamId, Access)| {
                    matches!(access, Access::Load(_)) && is_in_row_of(own, &strip.streams[other.index()])
                };
                if !found.iter().any(is_same_row) {
                    found.push((stream, Access::Load(first_stream + stream.index())));
                }
            }
            Op::Store { stream, .. } => {
                found.push((stream, Access::Store(store)));
                store += 1;
            }
            _ => {}
        }
    }
    found.into()
}

/// Whether two streams run along one row, at most [`SAME_ROW_CELLS`] apart, as far as their expressions show.
fn is_in_row_of(one: &Stream, other: &Stream) -> bool {
    match (&one.address, &other.address) {
        (
            Address::Block { base, pos, ring, stride },
            Address::Block { base: other_base, pos: other_pos, ring: other_ring, stride: other_stride },
        ) => {
            (one.buffer, ring, stride, base) == (other.buffer, other_ring, other_stride, other_base)
                && distance(pos, other_pos).is_some_and(|cells| cells <= SAME_ROW_CELLS)
        }
        _ => false,
    }
}

/// By how much two expressions differ, up to a turn round a ring, if they are alike but for one constant that is added.
fn distance(a: &Int, b: &Int) -> Option<u64> {
    match (a, b) {
        _ if a == b => Some(0),
        (Int::Const(a), Int::Const(b)) => Some(a.abs_diff(*b)),
        (Int::Add(x, by), other) | (other, Int::Add(x, by)) if matches!(**by, Int::Const(_)) && **x == *other => {
            if let Int::Const(by) = **by {
                Some(by.unsigned_abs())
            } else {
                None
            }
        }
        (Int::Add(a, c), Int::Add(b, d)) if a == b => distance(c, d),
        (Int::Add(a, c), Int::Add(b, d)) if c == d => distance(a, b),
        (Int::Wrap(a, modulus), Int::Wrap(b, other)) if modulus == other => distance(a, b),
        _ => None,
    }
}

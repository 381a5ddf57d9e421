//! Streams of one ring that a constant keeps apart.
//!
//! In: streams, some of which move forwards in rings.   Out: groups of them, with their distances.
//!
//! Two positions that differ by a constant before they are reduced do so afterwards as well, but where the ring ends
//! between them. Who knows that it does not, or that the cells behind its end are those at its beginning, can address
//! all of a group from one pointer.

use crease_program::{Address, BufferId, Int, Program, Stream};

use crate::strip::{Definitions, Linear, hash_of_terms};
use rustc_hash::FxHashMap;

/// Streams share a pointer up to this distance: with the unrolled copies it still fits a 32-bit displacement.
pub(super) const FARTHEST_BYTES: u32 = 1 << 30;

/// A stream that moves forwards in a ring.
pub(super) struct Moving<'a> {
    buffer: BufferId,
    /// Where the ring begins in its buffer.
    base: &'a Int,
    /// Cells per iteration.
    pub(super) stride: i64,
    /// Length of the ring.
    pub(super) cells: i64,
    /// Bytes of a cell.
    pub(super) bytes: i64,
    /// Its position before it is reduced.
    start: Linear<'a>,
}

impl<'a> Moving<'a> {
    /// What is known of a stream; `None` if it does not move forwards in a ring.
    pub(super) fn new(stream: &'a Stream, program: &Program, lets: &Definitions<'a>) -> Option<Self> {
        let Address::Block { base, pos, ring: Some(ring), stride: stride @ 1.. } = &stream.address else {
            return None;
        };
        let start = match pos {
            Int::Wrap(inner, modulus) | Int::Mod(inner, modulus) if *modulus as u64 == *ring => inner,
            pos => pos,
        };
        let bytes = program.buffers[stream.buffer.index()].element.bytes() as i64;
        let start = lets.linear(start)?;
        Some(Moving { buffer: stream.buffer, base, stride: *stride, cells: *ring as i64, bytes, start })
    }

    /// Cells from `other` to here on the shorter way around the ring, if that is a constant.
    fn ahead_of(&self, other: &Moving<'a>) -> Option<i64> {
        let ring = |moving: &Moving<'a>| (moving.buffer, moving.base, moving.stride, moving.cells);
        let move_alike = ring(self) == ring(other);
        let cells = self.start.constant_difference(&other.start).filter(|_| move_alike)?.rem_euclid(self.cells);
        Some(if cells > self.cells / 2 { cells - self.cells } else { cells })
    }
}

/// Streams that are a constant distance apart.
pub(super) struct Group {
    /// The first of them, from which distances are counted.
    pub(super) first: usize,
    /// The streams in order, each with its distance.
    pub(super) streams: Vec<(i64, usize)>,
}

/// Puts streams together that are a constant distance apart. All of a group count from its first one, and so agree on
/// who is behind.
pub(super) fn groups(moving: &[Option<Moving<'_>>]) -> Vec<Group> {
    let (mut groups, mut alike): (Vec<Group>, FxHashMap<_, Vec<usize>>) = (Vec::new(), FxHashMap::default());
    for (at, own) in moving.iter().enumerate() {
        let Some(own) = own else { continue };
        let known = alike.entry((own.buffer, own.stride, hash_of_terms(&own.start))).or_default();
        let distance = |group: &Group| own.ahead_of(moving[group.first].as_ref()?);
        let found = known.iter().find_map(|group| Some((*group, distance(&groups[*group])?)));
        let (group, ahead) = found.unwrap_or_else(|| {
            groups.push(Group { first: at, streams: Vec::new() });
            known.push(groups.len() - 1);
            (groups.len() - 1, 0)
        });
        groups[group].streams.push((ahead, at));
    }
    groups
}

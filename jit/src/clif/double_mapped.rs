//! Double-mapped rings: streams that run past the end of their ring into its second copy.
//!
//! In: a strip.   Out: for each stream in a double-mapped ring the pointer that it shares, and where that has to be
//! moved back.
//!
//! A ring that is the whole of a buffer that is mapped twice needs no cut at its end: what follows there is its
//! beginning. Two positions of it that differ by a constant before they are reduced stay so far apart in memory as
//! well, wherever they wrap, if the one behind is taken as it is and the other is counted from there. So a stencil's
//! neighbours share one pointer, that of the last in line. It reaches the end of the second copy only in strips of
//! nearly a ring, and then moves back.

use crease_program::{Address, Int, Mapped, Program, Stream, Strip};

use super::ring_groups::{FARTHEST_BYTES, Group, Moving, groups};
use crate::knobs::AHEAD_PART_OF_RING;
use crate::strip::Definitions;
use rustc_hash::FxHashMap;

/// Where a pointer may go before it has to be moved back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    /// The modulus; a pointer moves back by this many cells.
    pub(super) cells: i64,
    /// The position that it may not reach: the ring's end, or in a double-mapped ring that of the second copy, less how
    /// far ahead of the pointer a stream is.
    pub(super) end: i64,
}

impl Ring {
    /// A ring of a buffer that is mapped once.
    pub(super) fn cut(cells: i64) -> Self {
        Ring { cells, end: cells }
    }

    /// Iterations that always end before the pointer has to be moved, wherever in its ring it starts.
    pub(super) fn least_iterations(self, stride: i64) -> i64 {
        if stride > 0 { (self.end - self.cells) / stride + 1 } else { 1 }
    }

    /// Whether there is a second copy to go on in.
    pub(super) fn is_double_mapped(self) -> bool {
        self.end > self.cells
    }
}

/// A stream of a double-mapped ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Follower {
    /// The stream whose position its pointer has: itself, or one behind.
    pub(super) leader: usize,
    /// Bytes from there.
    pub(super) ahead_bytes: i32,
    /// What is left to the pointer.
    pub(super) ring: Ring,
}

/// For each stream the pointer that it shares; `None` if it is not in a double-mapped ring.
pub(super) fn followers<'a>(strip: &'a Strip, program: &Program, lets: &Definitions<'a>) -> Vec<Option<Follower>> {
    let moving = |stream| Moving::new(stream, program, lets).filter(|_| is_double_mapped(stream, program));
    let moving: Vec<_> = strip.streams.iter().map(moving).collect();
    let length = lets.difference(&strip.hi, &strip.lo);
    let mut found = vec![None; moving.len()];
    groups(&moving).iter().for_each(|group| follow(group, &moving, length, &mut found));
    found
}

/// Whether a stream's ring is the whole of a buffer that is mapped twice.
fn is_double_mapped(stream: &Stream, program: &Program) -> bool {
    let declared = &program.buffers[stream.buffer.index()];
    let Address::Block { base: Int::Const(0), ring: Some(ring), .. } = &stream.address else { return false };
    declared.mapped == Mapped::Twice && declared.cells == Some(*ring)
}

/// Lets the streams of a group share the pointer of the last in line, or those at one position that of the first of
/// them, if there is not as much room.
fn follow(group: &Group, moving: &[Option<Moving<'_>>], length: Option<i64>, found: &mut [Option<Follower>]) {
    let own = moving[group.first].as_ref().expect("the streams of a group move");
    let ring = |reach: i64| Ring { cells: own.cells, end: 2 * own.cells - reach };
    let has_room = |reach: &i64| match length {
        Some(length) => length <= ring(*reach).least_iterations(own.stride),
        None => *reach <= own.cells / AHEAD_PART_OF_RING,
    };
    let is_near = |reach: &i64| *reach <= i64::from(FARTHEST_BYTES) / own.bytes;
    let (Some(last), Some(most)) = (group.streams.iter().min(), group.streams.iter().max()) else { return };
    let shared = Some(most.0 - last.0).filter(has_room).filter(is_near);
    let mut first_at: FxHashMap<i64, usize> = FxHashMap::default();
    for (ahead, at) in &group.streams {
        let (behind, leader) = match shared {
            Some(_) => *last,
            None => (*ahead, *first_at.entry(*ahead).or_insert(*at)),
        };
        let bytes = i32::try_from((ahead - behind) * own.bytes).ok();
        found[*at] = bytes.map(|ahead_bytes| Follower { leader, ahead_bytes, ring: ring(shared.unwrap_or(0)) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crease_program::Node;

    /// Leader, bytes ahead of it and end of the ring, for each stream of the strip.
    fn found(positions: &[&str], strip: &str) -> Vec<Option<(usize, i32, i64)>> {
        let streams: String =
            positions.iter().enumerate().map(|(at, text)| format!("m{at} = u[{text}, stride 1]\n")).collect();
        let text = format!(
            "program p(x) {{ buffer u: f64[512] write double_mapped strip v0 in {strip} lanes 8 {{ {streams} }} }}"
        );
        let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let Node::Strip(strip) = &program.body[0] else { panic!("a strip") };
        let all = followers(strip, &program, &Definitions::of(&program));
        all.iter().map(|f| f.map(|f| (f.leader, f.ahead_bytes, f.ring.end))).collect()
    }

    #[test]
    fn neighbours_share_the_pointer_of_the_last_in_line() {
        let positions = ["pos wrap($x + 1, 512), ring 512", "pos mod($x + 3, 512), ring 512", "pos $x + 511, ring 512"];
        assert_eq!(found(&positions, "0 .. 500"), [Some((2, 16, 1020)), Some((2, 32, 1020)), Some((2, 0, 1020))]);
        assert_eq!(found(&positions, "0 .. $x"), [Some((2, 16, 1020)), Some((2, 32, 1020)), Some((2, 0, 1020))]);
    }

    #[test]
    fn strips_of_a_ring_leave_no_room_for_others() {
        let positions = ["pos wrap($x + 1, 512), ring 512", "pos wrap($x, 512), ring 512"];
        assert_eq!(found(&positions, "0 .. 512"), [Some((1, 8, 1023)), Some((1, 0, 1023))]);
        assert_eq!(found(&positions, "0 .. 513"), [Some((0, 0, 1024)), Some((1, 0, 1024))]);
    }

    #[test]
    fn other_streams_stay_as_they_are() {
        let positions = ["pos $x", "base 1, pos 0, ring 512", "pos 0, ring 511", "pos $x, ring 512"];
        assert_eq!(found(&positions, "0 .. 9"), [None, None, None, Some((3, 0, 1024))]);
    }
}

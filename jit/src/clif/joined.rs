//! Joined pointers: streams of one ring that a constant keeps apart, in the segments in which no ring ends between
//! them.
//!
//! In: a [`StripPlan`].   Out: for wide code, where streams are as seen from few pointers; `segments` says which of
//! two functions runs a segment.
//!
//! A ring may end between the neighbours of a cell. So each of them has a pointer, and nobody knows that they lie side
//! by side; but in nearly all segments they do. A strip in whose rings it pays is compiled twice, for pointers that are
//! apart as they may be anywhere, and for those of a group *joined*: counted from the one that is the last in line.
//! Joined loads can share vectors ([`crate::vector`]). Whole strips that stay in one turn of their rings, which their
//! last positions tell, are joined; of strips that are cut, the segments are in which addresses lie as their positions.

use super::plan::{Pointer, StripPlan};
use super::ring_groups::{FARTHEST_BYTES, Group, Moving, groups};
use crate::vector::{LINE_BYTES, StreamAddress};
use crease_program::{Op, Program};

/// The pointers of a strip as groups.
pub(super) struct Groups {
    /// For each pointer the one that it is counted from, and how many bytes it is ahead: itself and none for those in
    /// no group.
    pub(super) places: Vec<(usize, i32)>,
    /// For each pointer by how many cells the farthest of its group is ahead of it.
    pub(super) ahead: Vec<i64>,
    /// For each group of several places its first pointer and its farthest one.
    pub(super) ends: Vec<(usize, usize)>,
}

impl Groups {
    /// The groups of the pointers in rings that are cut.
    pub(super) fn new(plan: &StripPlan<'_>, program: &Program) -> Groups {
        let moving = |pointer: &Pointer| {
            let is_cut = pointer.ring.is_some_and(|ring| !ring.is_double_mapped());
            let stream = &plan.strip.streams[pointer.stream];
            if is_cut && stream.table.is_empty() { Moving::new(stream, program, plan.lets) } else { None }
        };
        let moving: Vec<_> = plan.pointers.iter().map(moving).collect();
        let places = (0..moving.len()).map(|at| (at, 0)).collect();
        let mut found = Groups { places, ahead: vec![0; moving.len()], ends: Vec::new() };
        groups(&moving).iter().for_each(|group| found.join(group, &moving));
        found
    }

    /// Counts the pointers of a group from the last in line, if they are near enough.
    fn join(&mut self, group: &Group, moving: &[Option<Moving<'_>>]) {
        let (Some(last), Some(first), Some(own)) =
            (group.streams.iter().min(), group.streams.iter().max(), &moving[group.first])
        else {
            return;
        };
        let reach = first.0 - last.0;
        if reach > own.cells / 2 || reach > i64::from(FARTHEST_BYTES) / own.bytes {
            return;
        }
        self.ahead[last.1] = reach;
        self.ends.extend((reach > 0).then_some((last.1, first.1)));
        for (ahead, pointer) in &group.streams {
            let bytes = (ahead - last.0) * own.bytes;
            self.places[*pointer] = (last.1, i32::try_from(bytes).expect("groups reach less than 2 GiB"));
        }
    }

    /// Whether two loads that have pointers of their own lie less than a line apart.
    pub(super) fn has_neighbours(&self, plan: &StripPlan<'_>) -> bool {
        let of_load = |op: &Op| match op {
            Op::Load { stream, .. } => {
                let pointer = plan.places[stream.index()].0;
                Some((self.places[pointer], pointer))
            }
            _ => None,
        };
        let mut loads: Vec<_> = plan.strip.ops.iter().filter_map(of_load).collect();
        loads.sort_unstable();
        loads.windows(2).any(|pair| {
            let [((leader, ahead), pointer), ((next_leader, next_ahead), next)] = [pair[0], pair[1]];
            leader == next_leader && pointer != next && i64::from(next_ahead - ahead) < LINE_BYTES
        })
    }

    /// Where a stream is, as seen from the pointer that it is counted from.
    pub(super) fn joined(&self, place: StreamAddress) -> Option<StreamAddress> {
        let (pointer, ahead) = self.places[place.pointer];
        Some(StreamAddress { pointer, offset: place.offset.checked_add(ahead)?, ..place })
    }

    /// Whether a pointer is counted from another one.
    pub(super) fn follows(&self, pointer: usize) -> bool {
        self.places[pointer].0 != pointer
    }
}

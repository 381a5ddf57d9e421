//! Joined pointers: streams of one ring that a constant keeps apart, in the segments in which no ring ends between
//! them.
//!
//! In: a [`StripPlan`] and its table of pointers.   Out: for wide code, where streams are as seen from few pointers;
//! and which of the two functions a segment may take.
//!
//! A ring may end between the neighbours of a cell. So each of them has a pointer, and nobody knows that they lie side
//! by side; but in nearly all segments they do. A strip in whose rings it pays is compiled twice, for pointers that are
//! apart as they may be anywhere, and for those of a group *joined*: counted from the one that is the last in line.
//! Joined loads can share vectors ([`crate::vector`]). Whole strips that stay in one turn of their rings, which their
//! last positions tell, are joined; of strips that are cut, the segments are in which addresses lie as their positions.

use super::double_mapped::Ring;
use super::emitter::{Emitter, Num};
use super::plan::{Pointer, StripPlan};
use super::ring_groups::{FARTHEST_BYTES, Group, Moving, groups};
use super::rings::Rings;
use super::run::WideCall;
use crate::vector::{LINE_BYTES, StreamAddress};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{FuncRef, InstBuilder, Value};
use crease_program::{Op, Program};

/// The pointers of a strip as groups.
pub(super) struct Groups {
    /// For each pointer the one that it is counted from, and how many bytes it is ahead: itself and none for those in
    /// no group.
    places: Vec<(usize, i32)>,
    /// For each pointer by how many cells the farthest of its group is ahead of it.
    ahead: Vec<i64>,
}

/// The function for segments in which pointers are joined.
pub(super) struct Joined {
    /// To be called with the same table.
    pub(super) function: FuncRef,
    pub(super) groups: Groups,
}

impl Groups {
    /// The groups of the pointers in rings; `None` if no two loads of one are close enough to share vectors.
    pub(super) fn new(plan: &StripPlan<'_>, program: &Program) -> Option<Groups> {
        let moving = |pointer: &Pointer| {
            let is_cut = pointer.ring.is_some_and(|ring| !ring.is_double_mapped());
            let stream = &plan.strip.streams[pointer.stream];
            if is_cut { Moving::new(stream, program, plan.lets) } else { None }
        };
        let moving: Vec<_> = plan.pointers.iter().map(moving).collect();
        let mut found = Groups { places: (0..moving.len()).map(|at| (at, 0)).collect(), ahead: vec![0; moving.len()] };
        groups(&moving).iter().for_each(|group| found.join(group, &moving));
        found.has_neighbours(plan).then_some(found)
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
        for (ahead, pointer) in &group.streams {
            let bytes = (ahead - last.0) * own.bytes;
            self.places[*pointer] = (last.1, i32::try_from(bytes).expect("groups reach less than 2 GiB"));
        }
    }

    /// Whether two loads that have pointers of their own lie less than a line apart.
    fn has_neighbours(&self, plan: &StripPlan<'_>) -> bool {
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
    fn follows(&self, pointer: usize) -> bool {
        self.places[pointer].0 != pointer
    }
}

impl WideCall {
    /// Whether the address of a pointer is needed only where strips are cut.
    pub(super) fn is_late(&self, pointer: usize) -> bool {
        self.joined.as_ref().is_some_and(|joined| joined.groups.follows(pointer))
    }
}

impl<'a> Emitter<'a, '_> {
    /// Whether the pointers of a strip, joined where they may be, stay in one turn of their rings for `length`
    /// iterations.
    pub(super) fn stays_in_rings(
        &mut self,
        plan: &StripPlan<'a>,
        rings: &Rings,
        wide: &WideCall,
        length: Num,
    ) -> Value {
        let mut least = None;
        for pointer in rings.pointers().iter().filter(|pointer| !wide.is_late(**pointer)) {
            let Pointer { ring, stride, .. } = plan.pointers[*pointer];
            let left = match ring.filter(|ring: &Ring| ring.is_double_mapped()) {
                // Enough for nearly all strips, and known without their position.
                Some(ring) => Num::Const(ring.least_iterations(stride.unwrap_or(0))),
                None => {
                    let ahead = wide.joined.as_ref().map_or(0, |joined| joined.groups.ahead[*pointer]);
                    self.cells_left(plan, *pointer, ahead).0
                }
            };
            least = Some(least.map_or(left, |least| self.min(least, left)));
        }
        let (length, least) = (self.value(length), self.value(least.expect("there is a ring")));
        self.b.ins().icmp(IntCC::SignedLessThanOrEqual, length, least)
    }

    /// Runs iterations `start..end` of a strip that is cut, whose pointers have these addresses: joined if they lie as
    /// far apart as their positions.
    pub(super) fn cut_segment(&mut self, wide: &WideCall, addresses: &[(usize, Value)], start: Num, end: Num) {
        let Some(Joined { function, groups }) = &wide.joined else {
            return self.wide_segment(wide.function, wide, start, end);
        };
        let address = |pointer: usize| {
            addresses.iter().find(|(of, _)| *of == pointer).expect("pointers of groups are in rings").1
        };
        let mut apart = None;
        for (pointer, own) in addresses.iter().filter(|(pointer, _)| groups.follows(*pointer)) {
            let (leader, ahead) = groups.places[*pointer];
            let distance = self.b.ins().isub(*own, address(leader));
            let off = self.b.ins().iadd_imm_s(distance, -i64::from(ahead));
            apart = Some(apart.map_or(off, |others| self.b.ins().bor(others, off)));
        }
        let (cut, whole, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.ins().brif(apart.expect("a group has a pointer that follows"), cut, &[], whole, &[]);
        for (block, function) in [(cut, wide.function), (whole, *function)] {
            self.enter(block);
            self.wide_segment(function, wide, start, end);
            self.b.ins().jump(done, &[]);
        }
        self.enter(done);
    }
}

//! Segments of wide strips in rings: which of a strip's two functions runs them.
//!
//! In: a call of a strip and its pointers.   Out: a test, and a call on either side of it.
//!
//! A strip that stays in one turn of its rings is run at once: with pointers joined ([`super::joined`]), the one that is
//! the last in line tells for all of its group. Of a strip that is cut, a segment is joined if addresses lie as far apart
//! as positions do.

use super::double_mapped::Ring;
use super::emitter::{Emitter, Num, plain};
use super::joined::Joined;
use super::plan::{Pointer, StripPlan};
use super::rings::Rings;
use super::run::WideCall;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use crease_program::{Address, BufferId, Int};

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

    /// Fills the table of rings of a strip that is cut. Where its pointers are is in the table for wide code, or known
    /// from the one that they are counted from, and so is how many cells are left: nothing is reduced again, as there
    /// may be dozens.
    pub(super) fn start_rings(&mut self, plan: &StripPlan<'a>, rings: &Rings, wide: &WideCall) {
        let mut ends = Vec::new();
        for &pointer in rings.pointers() {
            let end = self.ring_end(plan, pointer, &mut ends);
            // From the table: held in a register for each ring, they would all be spilled.
            let known = |emitter: &mut Self, pointer: usize| {
                emitter.b.ins().load(types::I64, plain().with_aligned(), wide.table, 8 * pointer as i32)
            };
            let late = wide.joined.as_ref().filter(|_| wide.is_late(pointer));
            let address = match (late, end) {
                (None, _) => known(self, pointer),
                (Some(_), None) => self.first_address(plan, &plan.pointers[pointer]),
                (Some(joined), Some(end)) => {
                    let (leader, ahead) = joined.groups.places[pointer];
                    let leader = known(self, leader);
                    self.in_ring(plan, pointer, (leader, ahead), end)
                }
            };
            let left = match end {
                Some(end) => {
                    let bytes_left = self.b.ins().isub(end, address);
                    let shift = plan.pointers[pointer].bytes.trailing_zeros();
                    let cells = Num::Value(self.b.ins().sshr_imm_u(bytes_left, i64::from(shift)));
                    (cells, cells)
                }
                None => self.cells_left(plan, pointer, 0),
            };
            self.start_ring_with(plan, rings, pointer, (address, left));
        }
    }

    /// The address behind the last cell that a pointer may be at before it moves back; `None` where it does not go cell
    /// by cell, or cells are no power of two bytes. `ends` has those that are known.
    fn ring_end(
        &mut self,
        plan: &StripPlan<'a>,
        pointer: usize,
        ends: &mut Vec<((BufferId, &'a Int, i64), Value)>,
    ) -> Option<Value> {
        let Pointer { stream, stride, bytes, ring } = plan.pointers[pointer];
        let stream = &plan.strip.streams[stream];
        let (Some(ring), Some(1), Address::Block { base, .. }) = (ring, stride, &stream.address) else { return None };
        if !(bytes as u64).is_power_of_two() {
            return None;
        }
        let key = (stream.buffer, base, ring.end);
        if let Some((_, end)) = ends.iter().find(|(known, _)| *known == key) {
            return Some(*end);
        }
        let start = self.load_buffer(stream.buffer.index());
        let base = self.int(base);
        let cells = self.add(base, Num::Const(ring.end));
        let offset = self.mul(cells, Num::Const(bytes));
        let end = self.add(Num::Value(start), offset);
        let end = self.value(end);
        ends.push((key, end));
        Some(end)
    }

    /// The address that lies this many bytes ahead of another one in a ring that ends at `end`.
    fn in_ring(&mut self, plan: &StripPlan<'a>, pointer: usize, (leader, ahead): (Value, i32), end: Value) -> Value {
        let Pointer { bytes, ring, .. } = plan.pointers[pointer];
        let ring = ring.expect("pointers of groups are in rings");
        let moved = self.b.ins().iadd_imm_s(leader, i64::from(ahead));
        let back = self.b.ins().iadd_imm_s(moved, ring.cells.wrapping_mul(bytes).wrapping_neg());
        let is_over = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, moved, end);
        self.b.ins().select(is_over, back, moved)
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

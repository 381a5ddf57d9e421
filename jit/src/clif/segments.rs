//! Segments of wide strips in rings: which of a strip's two functions runs them.
//!
//! In: a call of a strip and its pointers.   Out: a test, and a call of what it tells.
//!
//! A strip that stays in one turn of its rings is run at once, with pointers joined ([`super::joined`]) if it has a
//! function for these. The pointer that is the last in line tells for all of its group; where it moves by several cells
//! and its strip is known to be short, where it begins tells that, without a division. Of a strip that is cut, a
//! segment is joined if the two ends of each group lie as far apart as their positions: pointers of a group pass the
//! end of their ring in order, the farthest first.

use super::double_mapped::Ring;
use super::emitter::{Emitter, Num, plain};
use super::joined::Groups;
use super::plan::{Pointer, StripPlan};
use super::rings::Rings;
use super::run::WideCall;
use crate::knobs::SHORT_PART_OF_RING;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use crease_program::Address;

impl<'a> Emitter<'a, '_> {
    /// Whether the pointers of a strip stay in one turn of their rings for `length` iterations, and no ring ends
    /// between those of a group.
    pub(super) fn stays_in_rings(&mut self, plan: &StripPlan<'a>, rings: &Rings, length: Num) -> Value {
        let (mut least, mut all) = (None, None);
        let leads = |pointer: &usize| !rings.groups.follows(*pointer);
        let may_divide = rings.pointers().filter(leads).any(|at| is_farther_than_one(plan.pointers[at].stride));
        let most = if may_divide { plan.lets.most(&plan.strip.hi, &plan.strip.lo) } else { None };
        for pointer in rings.pointers().filter(leads) {
            let Pointer { ring, stride, .. } = plan.pointers[pointer];
            let longest = most.and_then(|most| self.has_room_for(plan, pointer, rings.groups.ahead[pointer], most));
            if let Some(stays) = longest {
                all = Some(all.map_or(stays, |others| self.b.ins().band(others, stays)));
                continue;
            }
            let left = match ring.filter(|ring: &Ring| ring.is_double_mapped()) {
                // Enough for nearly all strips, and known without their position.
                Some(ring) => Num::Const(ring.least_iterations(stride.unwrap_or(0))),
                None => self.iterations_left(plan, pointer, rings.groups.ahead[pointer]),
            };
            least = Some(least.map_or(left, |least| self.min(least, left)));
        }
        if let Some(least) = least {
            let (length, least) = (self.value(length), self.value(least));
            let stays = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, length, least);
            all = Some(all.map_or(stays, |others| self.b.ins().band(others, stays)));
        }
        all.expect("there is a ring")
    }

    /// Whether a pointer, and what is `ahead` cells ahead of it, stays in its ring for the `most` iterations that its
    /// strip can have. None where the iterations that are left are known without a division, or where so many would
    /// often leave the ring though fewer do not.
    fn has_room_for(&mut self, plan: &StripPlan<'a>, pointer: usize, ahead: i64, most: i64) -> Option<Value> {
        let Pointer { stream, ring, stride, .. } = plan.pointers[pointer];
        let (ring, stride) = (ring?, stride.filter(|_| is_farther_than_one(stride))?);
        let way = most.checked_sub(1)?.max(0).checked_mul(stride.checked_abs()?)?.checked_add(ahead)?;
        if ring.is_double_mapped() || way > ring.cells / SHORT_PART_OF_RING {
            return None;
        }
        let Address::Block { pos, .. } = &plan.strip.streams[stream].address else { return None };
        let position = self.int_value(pos);
        let (holds, limit) = match stride > 0 {
            true => (IntCC::SignedLessThan, ring.end - way),
            false => (IntCC::SignedGreaterThanOrEqual, way),
        };
        Some(self.b.ins().icmp_imm_s(holds, position, limit))
    }

    /// Runs iterations `start..end` of a strip that is cut, from a filled table: with pointers joined, if they lie as
    /// far apart as their positions.
    pub(super) fn cut_segment(&mut self, wide: &WideCall, groups: &Groups, start: Num, end: Num) {
        let Some(joined) = wide.joined else {
            return self.wide_segment(wide.function, wide, start, end);
        };
        let mut apart = None;
        for (leader, farthest) in &groups.ends {
            let [leader, own] = [*leader, *farthest]
                .map(|at| self.b.ins().load(types::I64, plain().with_aligned(), wide.table.address, 8 * at as i32));
            let distance = self.b.ins().isub(own, leader);
            let off = self.b.ins().iadd_imm_s(distance, -i64::from(groups.places[*farthest].1));
            apart = Some(apart.map_or(off, |others| self.b.ins().bor(others, off)));
        }
        let apart = apart.expect("neighbours are a group of several places");
        let [one, other] = [wide.function, joined].map(|function| self.b.ins().func_addr(types::I64, function));
        let function = self.b.ins().select(apart, one, other);
        let signature = self.b.func.dfg.ext_funcs[joined].signature;
        let (start, end) = (self.value(start), self.value(end));
        self.b.ins().call_indirect(signature, function, &[wide.table.address, self.frame, start, end]);
    }
}

/// Whether a pointer moves by several cells an iteration, forwards or back.
fn is_farther_than_one(stride: Option<i64>) -> bool {
    stride.is_some_and(|stride| stride.unsigned_abs() > 1)
}

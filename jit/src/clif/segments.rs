//! Segments of wide strips in rings: which of a strip's two functions runs them.
//!
//! In: a call of a strip and its pointers.   Out: a test, and a call of what it tells.
//!
//! A strip that stays in one turn of its rings is run at once, with pointers joined ([`super::joined`]) if it has a
//! function for these. The pointer that is the last in line tells for all of its group. Of a strip that is cut, a
//! segment is joined if the two ends of each group lie as far apart as their positions: pointers of a group pass the
//! end of their ring in order, the farthest first.

use super::double_mapped::Ring;
use super::emitter::{Emitter, Num, plain};
use super::joined::Groups;
use super::plan::{Pointer, StripPlan};
use super::rings::Rings;
use super::run::WideCall;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

impl<'a> Emitter<'a, '_> {
    /// Whether the pointers of a strip stay in one turn of their rings for `length` iterations, and no ring ends between
    /// those of a group.
    pub(super) fn stays_in_rings(&mut self, plan: &StripPlan<'a>, rings: &Rings, length: Num) -> Value {
        let mut least = None;
        for pointer in rings.pointers().filter(|pointer| !rings.groups.follows(*pointer)) {
            let Pointer { ring, stride, .. } = plan.pointers[pointer];
            let left = match ring.filter(|ring: &Ring| ring.is_double_mapped()) {
                // Enough for nearly all strips, and known without their position.
                Some(ring) => Num::Const(ring.least_iterations(stride.unwrap_or(0))),
                None => self.iterations_left(plan, pointer, rings.groups.ahead[pointer]),
            };
            least = Some(least.map_or(left, |least| self.min(least, left)));
        }
        let (length, least) = (self.value(length), self.value(least.expect("there is a ring")));
        self.b.ins().icmp(IntCC::SignedLessThanOrEqual, length, least)
    }

    /// Runs iterations `start..end` of a strip that is cut, from a filled table: with pointers joined, if they lie as far
    /// apart as their positions.
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

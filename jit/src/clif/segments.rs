//! Segments of wide strips in rings: which of a strip's two functions runs them.
//!
//! In: a call of a strip and its pointers.   Out: a test, and a call on either side of it.
//!
//! A strip that stays in one turn of its rings is run at once: with pointers joined ([`super::joined`]), the one that is
//! the last in line tells for all of its group. Of a strip that is cut, a segment is joined if addresses lie as far apart
//! as positions do.

use super::double_mapped::Ring;
use super::emitter::{Emitter, Num};
use super::joined::Joined;
use super::plan::{Pointer, StripPlan};
use super::rings::Rings;
use super::run::WideCall;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};

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

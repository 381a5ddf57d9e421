//! The memory of a call: where strips keep what would make the stack frames of compiled code too large.
//!
//! In: what a strip needs.   Out: its place in a block of memory that every worker of a call has for itself.
//!
//! A frame is a part of a thread's stack, of which there may be little. Nearly all strips fit; values that
//! [`spill`](super::spill) sends away, and the pointers of strips with very many, go to this memory instead. It lives
//! as long as the call. Strips of a worker follow each other, so they all use the same piece; its size is that of the
//! largest. The frame of the call (`frame`) has its address and the distance from one worker's to the next.
//!
//! A strip in the main function uses the first worker's, which waits meanwhile or is the same thread.

use super::emitter::{Emitter, Num, plain};
use super::plan::StripPlan;
use cranelift_codegen::ir::{InstBuilder, StackSlot, StackSlotData, StackSlotKind, Value, types};

/// An integer that a loop needs again and again.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kept {
    /// At hand.
    Num(Num),
    /// In the memory of the call, at this offset.
    Memory(i32),
}

/// A table of addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    /// Where it is.
    pub(super) address: Value,
    /// Its offset in the memory of the call, if it is there and not on the stack.
    offset: Option<i32>,
}

impl Table {
    /// The entry at this many bytes from its start, as long as it is not in registers.
    pub(super) fn entry(&self, bytes: i32) -> Option<Kept> {
        self.offset.map(|offset| Kept::Memory(offset + bytes))
    }
}

impl<'a> Emitter<'a, '_> {
    /// Begins a strip: finds the memory of the call, if the strip needs it.
    pub(super) fn begin_scratch(&mut self, plan: &StripPlan<'a>) {
        self.scratch.taken = 0;
        self.scratch.base = None;
        if !plan.is_large && plan.spills.is_none() {
            return;
        }
        let first = self.load_frame(types::I64, self.shared.layout.scratch_offset());
        let base = match self.worker {
            None => first,
            Some(worker) => {
                let pitch = self.load_frame(types::I64, self.shared.layout.scratch_pitch_offset());
                let offset = self.b.ins().imul(worker, pitch);
                self.b.ins().iadd(first, offset)
            }
        };
        self.scratch.base = Some(base);
    }

    /// The address of the memory of the call, in a strip that needs it.
    pub(super) fn scratch_base(&self) -> Value {
        self.scratch.base.expect("the strip began with looking for it")
    }

    /// Takes this many bytes of the memory of the call until the strip ends; returns their offset.
    pub(super) fn take_scratch(&mut self, bytes: usize) -> i32 {
        let offset = self.scratch.taken;
        self.scratch.taken = (offset + bytes).next_multiple_of(16);
        self.scratch.most = self.scratch.most.max(self.scratch.taken);
        // What a program may have of operations and streams is limited long before (`crate::work`).
        i32::try_from(offset).expect("a strip within the work limit takes less than 2 GiB")
    }

    /// Keeps a number for the loops of a strip.
    pub(super) fn keep(&mut self, plan: &StripPlan<'a>, num: Num) -> Kept {
        match num {
            Num::Value(value) if plan.is_large => {
                let offset = self.take_scratch(8);
                let base = self.scratch_base();
                self.b.ins().store(plain().with_aligned(), value, base, offset);
                Kept::Memory(offset)
            }
            num => Kept::Num(num),
        }
    }

    /// A number that was kept.
    pub(super) fn kept(&mut self, kept: Kept) -> Num {
        match kept {
            Kept::Num(num) => num,
            Kept::Memory(offset) => {
                let base = self.scratch_base();
                Num::Value(self.b.ins().load(types::I64, plain().with_aligned(), base, offset))
            }
        }
    }

    /// A table for a strip. On the stack, in a `slot` that all strips of a function share, as large as the largest
    /// needs; for strips with very many pointers in the memory of the call.
    pub(super) fn table(
        &mut self,
        plan: &StripPlan<'a>,
        bytes: usize,
        slot: fn(&mut Self) -> &mut Option<StackSlot>,
    ) -> Table {
        if plan.is_large {
            let offset = self.take_scratch(bytes);
            let base = self.scratch_base();
            let address = self.b.ins().iadd_imm_s(base, i64::from(offset));
            return Table { address, offset: Some(offset) };
        }
        let bytes = u32::try_from(bytes).expect("tables of more than a few pointers are not on the stack");
        let known = *slot(self);
        let at = known.unwrap_or_else(|| {
            self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3))
        });
        *slot(self) = Some(at);
        let slots = &mut self.b.func.sized_stack_slots;
        slots[at].size = slots[at].size.max(bytes);
        Table { address: self.b.ins().stack_addr(types::I64, at, 0), offset: None }
    }
}

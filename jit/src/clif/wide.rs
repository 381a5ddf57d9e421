//! Calls of wide strips: what [`crate::wide`] is told, and the table that its functions take.
//!
//! In: a [`Run`].   Out: a function for its segments, and a call of it in place of each of their bodies.
//!
//! The table is a piece of stack: the address of each pointer's cell at iteration 0, then the first value of each index
//! operation. Addresses in rings move between segments; the others are stored once.

use super::emitter::{Emitter, plain};
use super::frame::Literal;
use super::ints::Num;
use super::strip::Run;
use crate::isa::IsaChoice;
use crate::program::Element;
use crate::wide::{self, Place, StripFacts, WideIsa, WideOptions};
use cranelift_codegen::ir::{FuncRef, InstBuilder, StackSlotData, StackSlotKind, Value, types};

/// A function that runs segments of one strip, and its table.
pub(super) struct WideCall {
    function: FuncRef,
    table: Value,
}

impl<'a> Emitter<'a, '_> {
    /// Compiles the strip of `run` to wide code and fills the table; `None` if there is no such code for it.
    pub(super) fn wide_call(&mut self, run: &Run<'_, 'a>, length: Num) -> Option<WideCall> {
        let isa = match self.shared.strips {
            IsaChoice::Avx2 => WideIsa::Avx2,
            IsaChoice::Avx512 => WideIsa::Avx512,
            IsaChoice::Scalar | IsaChoice::V128 | IsaChoice::Auto => return None,
        };
        let (plan, shared) = (run.plan, self.shared);
        let place = |stream: usize| {
            let (pointer, offset) = plan.places[stream];
            Place { pointer, offset, stride: plan.pointers[pointer].stride, element: plan.elements[stream] }
        };
        let places: Vec<Place> = (0..plan.places.len()).map(place).collect();
        let scalars: Vec<Element> = shared.program.scalars.iter().map(|scalar| scalar.element).collect();
        let facts = StripFacts {
            strip: plan.strip,
            scalars: &scalars,
            places: &places,
            order: &plan.needed,
            invariant: &plan.is_invariant,
            length: if let Num::Const(length) = length { Some(length) } else { None },
        };
        let options = WideOptions {
            isa,
            max_unroll: shared.max_unroll,
            text: shared.texts,
            scalar_offset: &|scalar| shared.layout.literal_offset(Literal::Scalar(scalar)),
        };
        let code = wide::emit(&facts, &options)?;
        let function = self.functions.wide(&code, self.b.func);
        let table = self.wide_table(plan.pointers.len() + code.indices.len());
        for (entry, address) in run.addresses.iter().enumerate().filter(|(at, _)| plan.pointers[*at].ring.is_none()) {
            self.b.ins().store(plain().with_aligned(), *address, table, 8 * entry as i32);
        }
        for (index, entry) in code.indices.iter().zip(plan.pointers.len()..) {
            let first = self.value(run.indices[index].0);
            self.b.ins().store(plain().with_aligned(), first, table, 8 * entry as i32);
        }
        Some(WideCall { function, table })
    }

    /// Runs iterations `start..end`, in which nothing wraps.
    pub(super) fn wide_segment(&mut self, run: &Run<'_, 'a>, wide: &WideCall, start: Num, end: Num) {
        let moving = |at: &usize| run.plan.pointers[*at].ring.is_some();
        for entry in (0..run.addresses.len()).filter(moving) {
            self.b.ins().store(plain().with_aligned(), run.addresses[entry], wide.table, 8 * entry as i32);
        }
        let (start, end) = (self.value(start), self.value(end));
        self.b.ins().call(wide.function, &[wide.table, self.frame, start, end]);
    }

    /// The address of a table; all strips of a function share one piece of stack, as large as the largest needs.
    fn wide_table(&mut self, entries: usize) -> Value {
        let bytes = 8 * u32::try_from(entries).expect("a strip has fewer than 2^26 streams");
        let slot = match self.wide_slot {
            Some(slot) => slot,
            None => {
                let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3);
                *self.wide_slot.insert(self.b.create_sized_stack_slot(slot))
            }
        };
        let slots = &mut self.b.func.sized_stack_slots;
        slots[slot].size = slots[slot].size.max(bytes);
        self.b.ins().stack_addr(types::I64, slot, 0)
    }
}

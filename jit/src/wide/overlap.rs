//! Overlapping blocks: the first and the last cells of a strip in whole vectors, some cells of which are computed twice.
//!
//! In: a body, and which of its loads and stores may meet.   Out: whether cells may be computed twice, and code for it.
//!
//! A vector at the very start and one at the very end leave aligned vectors between them, and nothing to a mask, which costs
//! more than a vector, or to single cells. What is computed twice is the same twice, unless a store has changed what it is
//! computed from. Where an iteration may store to a cell that it has loaded itself, as folded storage does, both vectors are
//! computed before anything is stored, and wait on the stack until the end.
//!
//! Bodies with many instructions stay as they are: there a mask counts little, and more code takes longer to make.

use super::alignment::AlignmentSlot;
use super::allocate::Allocation;
use super::body::Body;
use super::encode::{Extent, ITERATION, memory};
use super::function::{END, Function, LAST};
use super::shape::WideIsa;
use crate::program::{AliasRelation, Op, StoreHint, ValueId};
use iced_x86::{Code, Instruction};

/// Instructions of a body that is encoded twice more for its ends.
const MOST_INSTRUCTIONS: usize = 64;

/// How the blocks at both ends of a strip are stored.
pub(super) struct Overlap {
    /// The streams of stores, if these have to wait until everything is read; else empty.
    pub(super) waiting: Vec<usize>,
}

impl Overlap {
    /// None if cells may not be computed twice, or if that does not pay.
    pub(super) fn new(body: &Body<'_>, allocation: &Allocation) -> Option<Overlap> {
        let strip = body.strip;
        if allocation.each.len() > MOST_INSTRUCTIONS {
            return None;
        }
        let (mut stores, mut waits) = (Vec::new(), false);
        for &at in &body.each {
            let Op::Store { stream, .. } = strip.ops[at] else { continue };
            let buffer = strip.streams[stream.index()].buffer;
            let another = |known: &usize| strip.streams[*known].buffer != buffer;
            if body.hints[at] == StoreHint::Streaming || !stores.iter().all(another) {
                return None;
            }
            stores.push(stream.index());
            let store = ValueId(at as u32);
            for load in (0..strip.ops.len()).filter(|load| matches!(strip.ops[*load], Op::Load { .. })) {
                let load = ValueId(load as u32);
                if !strip.may_alias(load, store) {
                    continue;
                }
                let fact = strip.alias.iter().find(|fact| (fact.load, fact.store) == (load, store));
                if load > store || fact.is_none_or(|fact| fact.relation != AliasRelation::SameLane) {
                    return None;
                }
                waits = true;
            }
        }
        Some(Overlap { waiting: if waits { stores } else { Vec::new() } })
    }

    /// Slots for what waits at both ends.
    pub(super) fn slots(&self) -> usize {
        2 * self.waiting.len()
    }
}

impl Function<'_, '_, '_> {
    /// The blocks of a strip that may overlap; those that wait have slots from `first_slot` on.
    pub(super) fn overlapping_blocks(
        &mut self,
        overlap: &Overlap,
        is_counted: bool,
        slot: AlignmentSlot,
        first_slot: usize,
        copies: i64,
    ) {
        let lanes = self.encoding.body.shape.lanes();
        let (head, tail) = (first_slot, first_slot + overlap.waiting.len());
        let waits = !overlap.waiting.is_empty();
        let last_vector = memory(END, -lanes);
        self.put(Instruction::with2(Code::Lea_r64_m, LAST, last_vector));
        self.put(Instruction::with2(Code::Cmp_r64_rm64, ITERATION, LAST));
        let narrow = self.encoding.assembler.jump_ahead(Code::Jg_rel32_64);
        if is_counted {
            self.put(Instruction::with2(Code::Cmp_rm64_imm8, slot.count, 0));
            let aligned = self.encoding.assembler.jump_ahead(Code::Je_rel32_64);
            self.waiting_block(overlap, head);
            self.encoding.assembler.land(aligned);
        }
        if waits {
            self.put(Instruction::with2(Code::Mov_rm64_r64, slot.start, ITERATION));
            self.put(Instruction::with2(Code::Mov_r64_rm64, LAST, END));
            self.put(Instruction::with2(Code::Sub_r64_rm64, LAST, ITERATION));
            if is_counted {
                self.put(Instruction::with2(Code::Sub_r64_rm64, LAST, slot.count));
            }
            self.put(Instruction::with2(Code::And_rm64_imm8, LAST, lanes as i32 - 1));
            self.put(Instruction::with2(Code::Mov_rm64_r64, slot.rest, LAST));
            let whole = self.encoding.assembler.jump_ahead(Code::Je_rel32_64);
            self.put(Instruction::with2(Code::Lea_r64_m, ITERATION, last_vector));
            self.waiting_block(overlap, tail);
            self.put(Instruction::with2(Code::Mov_r64_rm64, ITERATION, slot.start));
            self.encoding.assembler.land(whole);
        }
        if is_counted {
            self.put(Instruction::with2(Code::Add_r64_rm64, ITERATION, slot.count));
        }
        self.whole_blocks(Extent::Whole, copies);
        if copies > 1 {
            self.whole_blocks(Extent::Whole, 1);
        }
        if waits {
            self.put(Instruction::with2(Code::Cmp_rm64_imm8, slot.rest, 0));
            let whole = self.encoding.assembler.jump_ahead(Code::Je_rel32_64);
            self.put(Instruction::with2(Code::Lea_r64_m, ITERATION, last_vector));
            self.store_waiting(overlap, tail);
            self.encoding.assembler.land(whole);
            if is_counted {
                self.put(Instruction::with2(Code::Cmp_rm64_imm8, slot.count, 0));
                let aligned = self.encoding.assembler.jump_ahead(Code::Je_rel32_64);
                self.put(Instruction::with2(Code::Mov_r64_rm64, ITERATION, slot.start));
                self.store_waiting(overlap, head);
                self.encoding.assembler.land(aligned);
            }
        } else {
            self.put(Instruction::with2(Code::Cmp_r64_rm64, ITERATION, END));
            let whole = self.encoding.assembler.jump_ahead(Code::Jge_rel32_64);
            self.put(Instruction::with2(Code::Lea_r64_m, ITERATION, last_vector));
            self.waiting_block(overlap, tail);
            self.encoding.assembler.land(whole);
        }
        let done = self.encoding.assembler.jump_ahead(Code::Jmp_rel32_64);
        self.encoding.assembler.land(narrow);
        match self.encoding.body.shape.isa {
            WideIsa::Avx512 => self.masked_block(),
            WideIsa::Avx2 => self.single_cells(),
        }
        self.encoding.assembler.land(done);
    }

    /// A whole block; what has to wait is kept in slots.
    fn waiting_block(&mut self, overlap: &Overlap, first_slot: usize) {
        let kept = overlap.waiting.iter().copied().zip(first_slot..);
        self.encoding.waiting = kept.collect();
        self.encoding.block(&self.allocation.each, Extent::End, 0);
        self.encoding.waiting.clear();
    }

    /// Stores what was kept of the block at the iteration.
    fn store_waiting(&mut self, overlap: &Overlap, first_slot: usize) {
        for (stream, slot) in overlap.waiting.iter().zip(first_slot..) {
            self.encoding.store_slot(*stream, slot);
        }
    }
}

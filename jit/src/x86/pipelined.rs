//! Loops in which a block begins while the one before it ends.
//!
//! In: the parts of a block ([`Pipelined`]).   Out: a part of a function.
//!
//! ```text
//! while three blocks are left, once:
//!   the first part of a block
//!   do: its second part and the first part of the next block; that one's second part and the first part of a third
//!       one; j += 2 * lanes, as long as three blocks are left
//!   the second part; j += lanes
//! ```

use super::encode::ITERATION;
use super::function::{Function, LAST};
use crate::knobs::LOOP_ALIGNMENT_BYTES;
use crate::vector::{Bank, Extent, Inst, Pipelined, Sequence};
use iced_x86::{Code, Instruction};

/// A part of a block, and how many vectors after the iteration the block lies.
type Part<'p> = (&'p Sequence, i64);

impl<'b> Function<'_, 'b, '_> {
    /// Blocks of whole vectors, all but the last one or two.
    pub(super) fn pipelined_blocks(&mut self, pipelined: &'b Pipelined, extent: Extent) {
        let Pipelined { first, second, bank, reloads } = pipelined;
        let lanes = self.encoding.body.shape.lanes() as i32;
        let skip = self.begin_blocks(3);
        self.part(bank, (first, 0), extent);
        self.encoding.assembler.align(LOOP_ALIGNMENT_BYTES);
        let top = self.encoding.assembler.top();
        self.encoding.ahead.begin(extent, 0);
        self.both(bank, [(second, 0), (first, 1)]);
        self.both(bank, [(second, 1), (first, 2)]);
        self.put(Instruction::with2(Code::Add_rm64_imm32, ITERATION, 2 * lanes));
        self.put(Instruction::with2(Code::Cmp_r64_rm64, ITERATION, LAST));
        self.encoding.assembler.jump(Code::Jle_rel32_64, top);
        self.part(bank, (second, 0), extent);
        self.put(Instruction::with2(Code::Add_rm64_imm32, ITERATION, lanes));
        self.encoding.block(reloads, Extent::Whole, 0);
        self.encoding.assembler.land(skip);
    }

    /// A part by itself.
    fn part(&mut self, bank: &'b Bank, part: Part<'_>, extent: Extent) {
        self.encoding.extent = extent;
        self.encoding.ahead.begin(extent, part.1);
        part.0.with_operations().for_each(|(inst, operation)| self.one(bank, part.1, inst, operation));
        self.encoding.assembler.note(None);
    }

    /// Two parts, in turn.
    fn both(&mut self, bank: &'b Bank, [one, other]: [Part<'_>; 2]) {
        let (mut ones, mut others) = (one.0.with_operations(), other.0.with_operations());
        let (count, other_count) = (one.0.len(), other.0.len());
        let (mut done, mut other_done) = (0, 0);
        while done + other_done < count + other_count {
            // Whichever has done the smaller share.
            if other_done == other_count || done < count && done * other_count <= other_done * count {
                ones.next().into_iter().for_each(|(inst, operation)| self.one(bank, one.1, inst, operation));
                done += 1;
            } else {
                others.next().into_iter().for_each(|(inst, operation)| self.one(bank, other.1, inst, operation));
                other_done += 1;
            }
        }
        self.encoding.assembler.note(None);
    }

    /// An instruction of the block `copy` vectors after the iteration, in the registers of every other block.
    fn one(&mut self, bank: &'b Bank, copy: i64, inst: &Inst, operation: usize) {
        self.encoding.copy = copy;
        self.encoding.bank = (copy % 2 == 1).then_some(bank);
        self.encoding.named(inst, operation);
        self.encoding.bank = None;
    }
}

//! Alignment of stores: code that counts the cells before a strip's stores are at multiples of a vector's size, and
//! code that runs them.
//!
//! In: stores that are aligned together ([`AlignedStores`]).   Out: parts of a function.

use super::alignment_slot::AlignmentSlot;
use super::assembler::Jump;
use super::avx::Avx;
use super::encode::{ITERATION, SCRATCH, TABLE, memory};
use super::function::{END, FREE, Function, LAST};
use crate::vector::{AlignedStores, Extent, LINE_BYTES, StreamAddress};
use iced_x86::{Code, Instruction, MemoryOperand};

/// Bytes of the smallest page: addresses that agree in what they leave over of it share places in caches and buffers.
const PAGE_BYTES: i64 = 4096;

impl Function<'_, '_, '_> {
    /// Counts how many cells there are before the first one at which the first store writes at a multiple of a vector's
    /// size: none if too many stores lie differently, if few vectors are to come, or if halves of lines would be
    /// written past the caches to several arrays that begin at the same place of a page. All registers but those of the
    /// arguments are free here.
    pub(super) fn count_unaligned(&mut self, stores: &AlignedStores, slot: AlignmentSlot) {
        let (bytes, lanes) = (stores.vector_bytes, self.encoding.body.shape.lanes());
        let cell_bytes = bytes / lanes;
        let ([address, other], differ) = (SCRATCH, FREE[0]);
        let (first, others) = stores.addresses.split_first().expect("every strip stores something");
        let entry = |place: &StreamAddress| memory(TABLE, 8 * place.pointer as i64);
        self.put(Instruction::with2(Code::Mov_rm64_imm32, slot.count, 0));
        if stores.non_temporal {
            self.put(Instruction::with2(Code::Mov_rm64_imm32, slot.all_aligned, 0));
        }
        let least = stores.least(self.encoding.body.shape);
        self.put(Instruction::with2(Code::Lea_r64_m, address, memory(END, -least)));
        self.put(Instruction::with2(Code::Cmp_r64_rm64, ITERATION, address));
        let mut skips = vec![self.encoding.assembler.jump_ahead(Code::Jg_rel32_64)];
        self.put(Instruction::with2(Code::Mov_r64_rm64, address, entry(first)));
        if !others.is_empty() {
            self.put(Instruction::with2(Code::Mov_rm64_imm32, differ, 0));
        }
        for place in others {
            // All that counts of it is what it leaves over.
            let apart = (i64::from(place.offset) - i64::from(first.offset)).rem_euclid(bytes);
            self.put(Instruction::with2(Code::Mov_r64_rm64, other, entry(place)));
            self.put(Instruction::with2(Code::Lea_r64_m, other, memory(other, apart)));
            self.put(Instruction::with2(Code::Sub_r64_rm64, other, address));
            self.put(Instruction::with2(Code::And_rm64_imm8, other, bytes as i32 - 1));
            // One more, unless this is below 1.
            self.put(Instruction::with2(Code::Cmp_rm64_imm8, other, 1));
            self.put(Instruction::with2(Code::Sbb_rm64_imm8, differ, -1));
        }
        if !others.is_empty() {
            self.put(Instruction::with2(Code::Cmp_rm64_imm32, differ, stores.tolerated()));
            skips.push(self.encoding.assembler.jump_ahead(Code::Jg_rel32_64));
        }
        skips.extend(stores.pairs_of_half_lines().map(|(one, another)| self.skip_if_alike(&one, &another)));
        if stores.pairs_of_half_lines().next().is_some() {
            self.put(Instruction::with2(Code::Mov_r64_rm64, address, entry(first)));
        }
        let (scale, offset) = (cell_bytes as u32, i64::from(first.offset));
        let cell = MemoryOperand::with_base_index_scale_displ_size(address, ITERATION, scale, offset, 1);
        self.put(Instruction::with2(Code::Lea_r64_m, address, cell));
        self.put(Instruction::with1(Code::Neg_rm64, address));
        self.put(Instruction::with2(Code::And_rm64_imm8, address, bytes as i32 - 1));
        self.put(Instruction::with2(Code::Shr_rm64_imm8, address, cell_bytes.trailing_zeros()));
        self.put(Instruction::with2(Code::Mov_rm64_r64, slot.count, address));
        if stores.non_temporal {
            self.put(Instruction::with2(Code::Mov_rm64_imm32, slot.all_aligned, 1));
        }
        skips.into_iter().for_each(|skip| self.encoding.assembler.land(skip));
    }

    /// Jumps if two stores are to lines of the same place in a page.
    fn skip_if_alike(&mut self, one: &StreamAddress, another: &StreamAddress) -> Jump {
        let [address, other] = SCRATCH;
        let entry = |place: &StreamAddress| memory(TABLE, 8 * place.pointer as i64);
        let apart = i64::from(another.offset) - i64::from(one.offset) + LINE_BYTES - 1;
        self.put(Instruction::with2(Code::Mov_r64_rm64, address, entry(one)));
        self.put(Instruction::with2(Code::Mov_r64_rm64, other, entry(another)));
        self.put(Instruction::with2(Code::Lea_r64_m, other, memory(other, apart.rem_euclid(PAGE_BYTES))));
        self.put(Instruction::with2(Code::Sub_r64_rm64, other, address));
        self.put(Instruction::with2(Code::And_rm64_imm32, other, PAGE_BYTES as i32 - 1));
        self.put(Instruction::with2(Code::Cmp_rm64_imm32, other, 2 * (LINE_BYTES as i32 - 1)));
        self.encoding.assembler.jump_ahead(Code::Jle_rel32_64)
    }

    /// Runs the cells before the first aligned one.
    pub(super) fn unaligned_cells(&mut self, slot: AlignmentSlot) {
        self.put(Instruction::with2(Code::Mov_r64_rm64, LAST, slot.count));
        self.put(Instruction::with2(Code::Test_rm64_r64, LAST, LAST));
        let aligned = self.encoding.assembler.jump_ahead(Code::Je_rel32_64);
        match self.encoding.isa {
            Avx::Avx512 => {
                self.set_mask();
                if let (Some((before, stores)), Some(shared)) = (self.early.clone(), &self.allocation.shared) {
                    self.encoding.block(&before, Extent::Masked, 0);
                    self.put(Instruction::with2(Code::Add_r64_rm64, ITERATION, slot.count));
                    self.load_carried(shared, Extent::Whole);
                    self.put(Instruction::with2(Code::Sub_r64_rm64, ITERATION, slot.count));
                    self.encoding.block(&stores, Extent::Masked, 0);
                } else {
                    self.encoding.block(&self.allocation.each, Extent::Masked, 0);
                }
                self.put(Instruction::with2(Code::Add_r64_rm64, ITERATION, slot.count));
            }
            Avx::Avx2 if !self.encoding.body.shape.is_float() => self.parts(),
            Avx::Avx2 => {
                self.put(Instruction::with2(Code::Add_r64_rm64, LAST, ITERATION));
                let top = self.encoding.assembler.top();
                self.encoding.block(&self.allocation.each, Extent::Single, 0);
                self.put(Instruction::with2(Code::Add_rm64_imm32, ITERATION, 1));
                self.put(Instruction::with2(Code::Cmp_r64_rm64, ITERATION, LAST));
                self.encoding.assembler.jump(Code::Jl_rel32_64, top);
            }
        }
        self.encoding.assembler.land(aligned);
    }

    /// Blocks with non-temporal stores, if all such stores are aligned; the loop behind it runs what this one leaves.
    pub(super) fn non_temporal_blocks(&mut self, slot: AlignmentSlot, unroll_factor: i64) {
        self.put(Instruction::with2(Code::Cmp_rm64_imm8, slot.all_aligned, 0));
        let unaligned = self.encoding.assembler.jump_ahead(Code::Je_rel32_64);
        self.main_blocks(Extent::Aligned, unroll_factor);
        self.encoding.assembler.land(unaligned);
    }
}

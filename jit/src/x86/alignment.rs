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
        let (bytes, step) = (stores.vector_bytes, stores.iteration_bytes);
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
        let is_scale = matches!(step, 1 | 2 | 4 | 8);
        let (index, scale) = if is_scale { (ITERATION, step as u32) } else { (other, 1) };
        if !is_scale {
            self.put(Instruction::with3(Code::Imul_r64_rm64_imm32, other, ITERATION, step as i32));
        }
        let offset = i64::from(first.offset);
        let cell = MemoryOperand::with_base_index_scale_displ_size(address, index, scale, offset, 1);
        self.put(Instruction::with2(Code::Lea_r64_m, address, cell));
        self.put(Instruction::with1(Code::Neg_rm64, address));
        self.put(Instruction::with2(Code::And_rm64_imm8, address, bytes as i32 - 1));
        // Of the bytes of an iteration, a power of two and an odd factor: the former divides what is left, or never
        // will, as of cells of several bytes that begin between two pixels; the latter has an inverse.
        let (power, odd) = (step.trailing_zeros(), step >> step.trailing_zeros());
        if 1 << power > first.element.bytes() {
            self.put(Instruction::with2(Code::Test_rm64_imm32, address, (1 << power) - 1));
            skips.push(self.encoding.assembler.jump_ahead(Code::Jne_rel32_64));
        }
        self.put(Instruction::with2(Code::Shr_rm64_imm8, address, power));
        if odd > 1 {
            let iterations = (bytes >> power) as i32;
            self.put(Instruction::with3(Code::Imul_r64_rm64_imm32, address, address, inverse(odd) as i32));
            self.put(Instruction::with2(Code::And_rm64_imm8, address, iterations - 1));
        }
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

    /// Blocks with non-temporal stores, if all such stores are aligned, to the last whole one: an ordinary store would wait
    /// for its line to come from memory, and all others behind it. The loops behind run what is less than a block.
    pub(super) fn non_temporal_blocks(&mut self, slot: AlignmentSlot, unroll_factor: i64) {
        self.put(Instruction::with2(Code::Cmp_rm64_imm8, slot.all_aligned, 0));
        let unaligned = self.encoding.assembler.jump_ahead(Code::Je_rel32_64);
        self.all_whole_blocks(Extent::Aligned, unroll_factor);
        self.encoding.assembler.land(unaligned);
    }
}

/// What an odd number is multiplied by for 1 to be left over of each power of two up to that of a line.
fn inverse(odd: i64) -> i64 {
    (1..LINE_BYTES).step_by(2).find(|inverse| inverse * odd % LINE_BYTES == 1).expect("odd numbers have an inverse")
}

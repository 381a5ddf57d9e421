//! Aligned stores: how many cells a strip runs before its stores are at multiples of a vector's size.
//!
//! In: where stores are, as far as code can know it.   Out: code that counts those cells, and code that runs them.
//!
//! Vectors that begin anywhere are only slower. Stores past the caches have to be aligned: a strip with such stores has
//! a second main loop for them, which runs where all of them are aligned together.

use super::body::{Body, Place};
use super::encode::{Extent, ITERATION, SCRATCH, TABLE, memory};
use super::function::{END, FREE, Function, LAST};
use super::shape::{LINE_BYTES, Shape, WideIsa};
use crate::program::{Op, StoreHint};
use iced_x86::{Code, Instruction, MemoryOperand, Register};

/// Whole lines of the cache for which stores are aligned first. Cells before the first aligned one take about 20
/// cycles, and each store of a line that lies in two costs two.
const WORTH_ALIGNING: i64 = 12;
/// Halves of lines for the same: every other store lies in two lines, and costs one more. Rows of 58 cells of a
/// five-point stencil are faster without, rows of 250 with it
/// (`cargo run --release -- bench --suite strips --kernel heat-2d-5pt`).
const WORTH_ALIGNING_HALVES: i64 = 40;
/// Vectors for which stores that are to stream are aligned: they cannot otherwise.
const WORTH_STREAMING: i64 = 8;

/// Stores that a strip aligns together.
pub(super) struct AlignedStores {
    /// One of each pointer, at least one in all.
    places: Vec<Place>,
    /// Bytes that a vector of numbers takes in each of them.
    vector_bytes: i64,
    /// Whether they are to go past the caches; then all of them have to be aligned, else half of them are enough.
    pub(super) streaming: bool,
}

impl AlignedStores {
    /// The streaming stores of `body`, or all to cells of the largest size if there are none; `None` if two lie
    /// differently whatever the pointers.
    pub(super) fn new(body: &Body<'_>) -> Option<AlignedStores> {
        let streaming = body.each.iter().any(|at| body.hints[*at] == StoreHint::Streaming);
        let place_of = |at: &usize| match body.strip.ops[*at] {
            Op::Store { stream, .. } => Some(body.places[stream.index()]),
            _ => None,
        };
        let cell_bytes = body.each.iter().filter_map(place_of).map(|place| place.element.bytes()).max()?;
        let vector_bytes = body.shape.lanes() * cell_bytes as i64;
        let mut places: Vec<Place> = Vec::new();
        for at in body.each.iter().filter(|at| !streaming || body.hints[**at] == StoreHint::Streaming) {
            let Some(place) = place_of(at).filter(|place| place.element.bytes() == cell_bytes) else { continue };
            match places.iter().find(|known| known.pointer == place.pointer) {
                None => places.push(place),
                Some(known) if (i64::from(known.offset) - i64::from(place.offset)) % vector_bytes == 0 => {}
                Some(_) => return None,
            }
        }
        Some(AlignedStores { places, vector_bytes, streaming })
    }

    /// Iterations from which on they are aligned.
    pub(super) fn least(&self, shape: Shape) -> i64 {
        let vectors = match self.vector_bytes {
            _ if self.streaming => WORTH_STREAMING,
            LINE_BYTES => WORTH_ALIGNING,
            _ => WORTH_ALIGNING_HALVES,
        };
        vectors * shape.lanes()
    }

    /// Most of them that may lie differently from the first one.
    fn tolerated(&self) -> i32 {
        if self.streaming { 0 } else { self.places.len() as i32 / 2 }
    }
}

/// Where code keeps what it found out; both in one slot.
#[derive(Clone, Copy)]
pub(super) struct AlignmentSlot {
    /// Cells before the first aligned one.
    pub(super) count: MemoryOperand,
    /// 1 if all stores are aligned behind those, else 0. Only of streaming stores.
    pub(super) all_aligned: MemoryOperand,
}

impl AlignmentSlot {
    /// The slot of this number.
    pub(super) fn new(slot: usize, shape: Shape) -> Self {
        let start = slot as i64 * shape.bytes;
        AlignmentSlot { count: memory(Register::RSP, start), all_aligned: memory(Register::RSP, start + 8) }
    }
}

impl Function<'_, '_, '_> {
    /// Counts how many cells there are before the first one at which the first store writes at a multiple of a vector's
    /// size: none if too many stores lie differently, or if few vectors are to come. All registers but those of the
    /// arguments are free here.
    pub(super) fn count_unaligned(&mut self, stores: &AlignedStores, slot: AlignmentSlot) {
        let (bytes, lanes) = (stores.vector_bytes, self.encoding.body.shape.lanes());
        let cell_bytes = bytes / lanes;
        let ([address, other], differ) = (SCRATCH, FREE[0]);
        let (first, others) = stores.places.split_first().expect("every strip stores something");
        let entry = |place: &Place| memory(TABLE, 8 * place.pointer as i64);
        self.put(Instruction::with2(Code::Mov_rm64_imm32, slot.count, 0));
        if stores.streaming {
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
        let (scale, offset) = (cell_bytes as u32, i64::from(first.offset));
        let cell = MemoryOperand::with_base_index_scale_displ_size(address, ITERATION, scale, offset, 1);
        self.put(Instruction::with2(Code::Lea_r64_m, address, cell));
        self.put(Instruction::with1(Code::Neg_rm64, address));
        self.put(Instruction::with2(Code::And_rm64_imm8, address, bytes as i32 - 1));
        self.put(Instruction::with2(Code::Shr_rm64_imm8, address, cell_bytes.trailing_zeros()));
        self.put(Instruction::with2(Code::Mov_rm64_r64, slot.count, address));
        if stores.streaming {
            self.put(Instruction::with2(Code::Mov_rm64_imm32, slot.all_aligned, 1));
        }
        skips.into_iter().for_each(|skip| self.encoding.assembler.land(skip));
    }

    /// Runs the cells before the first aligned one.
    pub(super) fn unaligned_cells(&mut self, slot: AlignmentSlot) {
        self.put(Instruction::with2(Code::Mov_r64_rm64, LAST, slot.count));
        self.put(Instruction::with2(Code::Test_rm64_r64, LAST, LAST));
        let aligned = self.encoding.assembler.jump_ahead(Code::Je_rel32_64);
        match self.encoding.body.shape.isa {
            WideIsa::Avx512 => {
                self.set_mask();
                self.encoding.block(&self.allocation.each, Extent::Masked, 0);
                self.put(Instruction::with2(Code::Add_r64_rm64, ITERATION, slot.count));
            }
            WideIsa::Avx2 => {
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

    /// Blocks that store past the caches, if all such stores are aligned; the loop behind it runs what this one leaves.
    pub(super) fn streaming_blocks(&mut self, slot: AlignmentSlot, copies: i64) {
        self.put(Instruction::with2(Code::Cmp_rm64_imm8, slot.all_aligned, 0));
        let unaligned = self.encoding.assembler.jump_ahead(Code::Je_rel32_64);
        self.main_blocks(Extent::Aligned, copies);
        self.encoding.assembler.land(unaligned);
    }
}

//! The function of a wide strip: what surrounds its blocks.
//!
//! In: a strip with vectors and registers chosen.   Out: machine code for `extern "sysv64" fn(table, frame, start,
//! end)`, with `start < end`.
//!
//! ```text
//! save registers; load pointers; compute invariants
//! j = start
//! up to the first j at which all stores are aligned, if there is one and much to do: a masked block, or single cells
//! with non-temporal stores that are aligned now: the loops over whole vectors with these stores non-temporal
//! with loads that share vectors: the next loop with these, as long as a whole block follows
//! where blocks overlap: the next loop with the beginning of a block beside the end of the one before
//! while j <= end - unroll_factor * lanes: `unroll_factor` blocks of whole vectors; j += copies * lanes
//! the same with one block
//! AVX2:     single cells; if there are integers parts of vectors, each half as long as the one before
//! AVX-512:  a single cell that is left; else one block of as many lanes as are left, if there are any
//! ```
//!
//! A short strip of known length that is always run whole needs none of the tests: its blocks follow each other.
//!
//! Blocks follow each other whole, so each counts by itself against the lanes that the strip allows.
//!
//! Cost: about 0.2 microseconds for each machine instruction.

use crease_program::{Element, Op};

use super::alignment_slot::AlignmentSlot;
use super::assembler::{Assembler, Jump};
use super::avx::Avx;
use super::encode::{Encoding, ITERATION, REMAINDER, SCRATCH, TABLE, memory};
use crate::knobs::LOOP_ALIGNMENT_BYTES;
use crate::vector::{
    Ahead, Allocation, Body, Encoded, Extent, Features, Inst, MOST_SLOT_BYTES, Memory, Reg, Sequence, Target,
    WideOptions, WideStrip,
};
use iced_x86::{Code, Instruction, MemoryOperand, Register};

/// One past the last iteration.
pub(super) const END: Register = Register::RCX;
/// The last iteration at which a whole block may begin; the frame is no longer needed then.
pub(super) const LAST: Register = Register::RSI;
/// Registers that a function may use as it likes, besides those with a meaning of their own.
pub(super) const FREE: [Register; 3] = [Register::R9, Register::R10, Register::R11];
/// Registers that a function has to leave as they were.
const SAVED: [Register; 5] = [Register::RBX, Register::R12, Register::R13, Register::R14, Register::R15];

impl Target for Avx {
    fn features(&self) -> &'static Features {
        Avx::features(*self)
    }

    fn encode(&self, strip: &WideStrip<'_>, ahead: Ahead, options: &WideOptions<'_>) -> Encoded {
        let (body, homes) = (&strip.body, Homes::new(strip));
        let mut encoding = Encoding {
            assembler: Assembler::new(options.options.texts),
            isa: *self,
            body,
            pointers: homes.pointers.clone(),
            indices: &strip.indices,
            lookups: &strip.lookups,
            names: options.names,
            scalar_offset: options.scalar_offset,
            slots: homes.frame_bytes as usize / body.shape.bytes as usize,
            conversion_slot: strip.allocation.slots,
            next_scratch: 0,
            number: body.shape.number,
            operation: 0,
            extent: Extent::Whole,
            copy: 0,
            loaded_windows: None,
            bank: None,
            ahead,
        };
        let early = loads_early(strip, *self);
        Function { encoding: &mut encoding, homes: &homes, strip, allocation: &strip.allocation, early }.emit();
        let entry_bytes = pool_entry(*self, body);
        let (bytes, text) = encoding.assembler.finish(&pool(body, entry_bytes), entry_bytes, &vectors(body));
        Encoded { bytes, text }
    }
}

/// Which general registers hold what.
struct Homes {
    /// For each pointer its register, if it has one.
    pointers: Vec<Option<Register>>,
    /// Registers to restore.
    saved: Vec<Register>,
    /// Bytes of slots.
    frame_bytes: i32,
    /// The slot for what was found out about the alignment of stores.
    alignment_slot: usize,
}

impl Homes {
    /// The pointers used most get registers, while there are any.
    fn new(strip: &WideStrip<'_>) -> Self {
        let WideStrip { body, allocation, .. } = strip;
        let (has_indices, has_lookups) = (!strip.indices.is_empty(), !strip.lookups.is_empty());
        let count = body.addresses.iter().map(|place| place.pointer + 1).max().unwrap_or(0);
        let mut uses = vec![0u32; count];
        let cells = |inst: &Inst| cell_of(inst);
        allocation.main().iter().filter_map(cells).for_each(|stream| uses[body.addresses[stream].pointer] += 1);
        let mut by_use: Vec<usize> = (0..count).filter(|pointer| uses[*pointer] > 0).collect();
        by_use.sort_by_key(|pointer| std::cmp::Reverse(uses[*pointer]));
        // Conversions of strips of several types need no general register.
        let converts =
            !body.shape.is_mixed && body.addresses.iter().any(|place| !body.shape.number.is_in(place.element));
        let has_cells_apart = (0..body.addresses.len()).any(|stream| body.apart(stream).is_some());
        let mut registers: Vec<Register> = FREE.to_vec();
        let all = FREE.len() + SAVED.len() + SCRATCH.len() + 1;
        let needs_table = has_indices
            || has_lookups
            || converts
            || has_cells_apart
            || by_use.len() > all
            || allocation.once.iter().any(|i| cell_of(i).is_some());
        if !needs_table {
            registers.extend(SCRATCH);
        }
        registers.extend(SAVED);
        if !needs_table {
            // The table's own register: its last use is to load this pointer.
            registers.push(TABLE);
        }
        let mut pointers = vec![None; count];
        for (pointer, register) in by_use.iter().zip(&registers) {
            pointers[*pointer] = Some(*register);
        }
        let saved = SAVED.into_iter().filter(|register| pointers.contains(&Some(*register))).collect();
        let has_halves = body.addresses.iter().any(|place| place.element == Element::F16);
        let is_alone = |at: &usize| {
            let number = body.numbers[*at];
            matches!(body.strip.ops[*at], Op::Index { step, .. } if step != 0) && !body.shape.counts_in_vectors(number)
        };
        let converts_alone = has_halves || strip.indices.iter().any(is_alone);
        let alignment_slot = allocation.slots + usize::from(converts_alone);
        let slots = alignment_slot + usize::from(strip.aligned_stores.is_some());
        let frame_bytes = slots as i64 * body.shape.bytes;
        // Memory safety rests on it: nothing touches the pages that a larger frame would step over.
        assert!(frame_bytes <= MOST_SLOT_BYTES, "slots of {frame_bytes} bytes in a frame that is not probed");
        let frame_bytes = frame_bytes as i32;
        Homes { pointers, saved, frame_bytes, alignment_slot }
    }
}

/// What comes before the stores of a block, and these, if the cells before the first aligned one may be stored once the
/// vectors are read that the next block takes from them: a load from where a masked store just was waits for it,
/// whatever the mask.
fn loads_early(strip: &WideStrip<'_>, isa: Avx) -> Option<(Sequence, Sequence)> {
    let shared = strip.allocation.shared.as_ref().filter(|shared| !shared.has_stored_rows())?;
    let stores = strip.aligned_stores.as_ref().filter(|stores| !stores.non_temporal)?;
    // A row that is aligned has these vectors behind what is not.
    let vectors = strip.unroll_factor + 2;
    let (each, shape) = (&strip.allocation.each, strip.body.shape);
    let keeps = |register: Option<Reg>| register.is_none_or(|register| !each.writes(register));
    let is_kept = shared.rows.iter().all(|(_, carried)| keeps(carried.current) && keeps(carried.previous));
    let fits = isa == Avx::Avx512 && is_kept && stores.least(shape) >= vectors * shape.lanes();
    each.stores_apart().filter(|_| fits && strip.fixed_length.is_none())
}

/// The stream that an instruction reads or writes.
fn cell_of(inst: &Inst) -> Option<usize> {
    match (inst, inst.reads()) {
        (Inst::Store { stream, .. }, _) => Some(*stream),
        (_, Some(Memory::Cell(stream) | Memory::NextCell(stream))) => Some(stream),
        _ => None,
    }
}

/// Bytes of a constant in the pool: one number where instructions can repeat it, else a vector.
fn pool_entry(isa: Avx, body: &Body<'_>) -> usize {
    match isa {
        Avx::Avx2 => 32,
        // Instructions on bytes and words repeat nothing, and a constant may be one of several types.
        Avx::Avx512 if !body.shape.is_float() => body.shape.bytes as usize,
        Avx::Avx512 => body.shape.number.bytes() as usize,
    }
}

fn pool(body: &Body<'_>, entry_bytes: usize) -> Vec<u8> {
    let number = if body.shape.is_float() { body.shape.number.bytes() as usize } else { 8 };
    let entry = |bits: &u64| bits.to_le_bytes()[..number].repeat(entry_bytes / number);
    body.pool.bits.iter().flat_map(entry).collect()
}

/// What indices that move add to that of the first lane, by lane, of each step.
fn multiples(body: &Body<'_>) -> Vec<u8> {
    let of_lanes = |step: &i64| (0..body.shape.lanes()).flat_map(|lane| (step * lane).to_le_bytes()).collect();
    let all: Vec<Vec<u8>> = body.steps.iter().map(of_lanes).collect();
    all.concat()
}

/// The vectors that are kept beside the constants: those multiples, and numbers of cells.
fn vectors(body: &Body<'_>) -> Vec<u8> {
    let mut all = multiples(body);
    for vector in &body.vectors {
        all.resize(body.vector_bytes_before(vector), 0);
        all.extend(vector);
    }
    all
}

/// Puts the parts together.
pub(super) struct Function<'f, 'b, 'a> {
    pub(super) encoding: &'f mut Encoding<'b, 'a>,
    homes: &'f Homes,
    strip: &'f WideStrip<'a>,
    pub(super) allocation: &'b Allocation,
    /// What [`loads_early`] says.
    pub(super) early: Option<(Sequence, Sequence)>,
}

impl Function<'_, '_, '_> {
    fn emit(&mut self) {
        let (strip, unroll_factor) = (self.strip, self.strip.unroll_factor);
        let slot = AlignmentSlot::new(self.homes.alignment_slot, self.encoding.body.shape);
        self.enter();
        if let Some(stores) = &strip.aligned_stores {
            self.count_unaligned(stores, slot);
        }
        self.load_pointers();
        self.encoding.block(&self.allocation.once, Extent::Whole, 0);
        if let Some(stores) = &strip.aligned_stores {
            self.unaligned_cells(slot);
            if stores.non_temporal {
                self.non_temporal_blocks(slot, unroll_factor);
            }
        }
        match strip.fixed_length {
            Some(length) => self.all_blocks(length, unroll_factor),
            None => self.blocks_until_end(unroll_factor),
        }
        self.leave();
    }

    /// What there is to do from the iteration on.
    fn blocks_until_end(&mut self, unroll_factor: i64) {
        self.all_whole_blocks(Extent::Whole, unroll_factor);
        match self.encoding.isa {
            Avx::Avx512 => self.masked_block(),
            Avx::Avx2 => self.cells_until_end(),
        }
    }

    /// A strip of this length: a loop of this many blocks in turn if there are several turns, and what is left one by
    /// one.
    fn all_blocks(&mut self, length: i64, unroll_factor: i64) {
        let (allocation, lanes) = (self.allocation, self.encoding.body.shape.lanes());
        let (vectors, cells) = (length / lanes, length % lanes);
        let (each, whole) = (&allocation.each, allocation.main());
        if let Some(shared) = allocation.shared.as_ref().filter(|_| vectors > 0) {
            self.load_carried(shared, Extent::Whole);
        }
        let turns = vectors / unroll_factor;
        let looped = if turns > 1 { turns * unroll_factor } else { 0 };
        if looped > 0 {
            let last = (looped - unroll_factor) * lanes;
            self.put(Instruction::with2(Code::Lea_r64_m, LAST, memory(END, last - length)));
            self.blocks(whole, Extent::Whole, unroll_factor);
        }
        let left = vectors - looped;
        (1..left).for_each(|copy| self.encoding.block(whole, Extent::Whole, copy - 1));
        if left > 0 {
            // Nothing follows that takes a vector from it.
            self.encoding.block(&whole.without_last_moves(), Extent::Whole, left - 1);
        }
        match self.encoding.isa {
            _ if cells == 0 => {}
            Avx::Avx512 if !self.encoding.body.shape.is_float() => {
                self.put(Instruction::with2(Code::Mov_r64_imm64, LAST, (1_u64 << cells) - 1));
                self.put(Instruction::with2(Code::VEX_Kmovq_kr_r64, REMAINDER, LAST));
                self.encoding.block(each, Extent::Masked, left);
            }
            Avx::Avx512 => {
                self.put(Instruction::with2(Code::Mov_r32_imm32, Register::ESI, (1 << cells) - 1));
                self.put(Instruction::with2(Code::VEX_Kmovw_kr_r32, REMAINDER, Register::ESI));
                let extent = match cells {
                    1 if self.has_half_vectors() => Extent::Repeated,
                    2.. if self.has_half_vectors() && cells <= lanes / 2 => Extent::MaskedHalf,
                    _ => Extent::Masked,
                };
                self.encoding.block(each, extent, left);
            }
            Avx::Avx2 => {
                self.put(Instruction::with2(Code::Add_rm64_imm32, ITERATION, (left * lanes) as i32));
                self.cells_until_end();
            }
        }
    }

    fn enter(&mut self) {
        for register in &self.homes.saved {
            self.put(Instruction::with1(Code::Push_r64, *register));
        }
        if self.homes.frame_bytes > 0 {
            self.put(Instruction::with1(Code::Push_r64, Register::RBP));
            self.put(Instruction::with2(Code::Mov_r64_rm64, Register::RBP, Register::RSP));
            self.put(Instruction::with2(Code::Sub_rm64_imm32, Register::RSP, self.homes.frame_bytes));
            self.put(Instruction::with2(Code::And_rm64_imm8, Register::RSP, -64));
        }
    }

    fn leave(&mut self) {
        self.put(Ok(Instruction::with(Code::VEX_Vzeroupper)));
        if self.homes.frame_bytes > 0 {
            self.put(Instruction::with2(Code::Mov_r64_rm64, Register::RSP, Register::RBP));
            self.put(Instruction::with1(Code::Pop_r64, Register::RBP));
        }
        for register in self.homes.saved.iter().rev() {
            self.put(Instruction::with1(Code::Pop_r64, *register));
        }
        self.put(Ok(Instruction::with(Code::Retnq)));
    }

    fn load_pointers(&mut self) {
        let loads = self.homes.pointers.iter().enumerate().filter_map(|(entry, register)| Some((entry, (*register)?)));
        let (last, first): (Vec<_>, Vec<_>) = loads.partition(|(_, register)| *register == TABLE);
        for (entry, register) in first.into_iter().chain(last) {
            self.encoding.move_from_table(register, entry);
        }
    }

    /// Lets the mask have as many lanes as [`LAST`] says, or all; it must be below 256.
    pub(super) fn set_mask(&mut self) {
        let ones = self.encoding.body.constant(u64::MAX);
        let operand: MemoryOperand = self.encoding.assembler.constant_operand(false);
        // A vector has up to 16 floats, or 64 bytes.
        let (zero_high, move_mask, lanes) = match self.encoding.body.shape.is_float() {
            false => (Code::VEX_Bzhi_r64_rm64_r64, Code::VEX_Kmovq_kr_r64, LAST),
            true => (Code::VEX_Bzhi_r32_rm32_r32, Code::VEX_Kmovw_kr_r32, Register::ESI),
        };
        let bits = Instruction::with3(zero_high, lanes, operand, lanes).expect("the operands fit the code");
        self.encoding.put_with_constant(&bits, ones);
        self.put(Instruction::with2(move_mask, REMAINDER, lanes));
    }

    /// Blocks of whole vectors, as long as one fits.
    pub(super) fn all_whole_blocks(&mut self, extent: Extent, unroll_factor: i64) {
        self.main_blocks(extent, unroll_factor);
        if unroll_factor > 1 || self.allocation.shared.is_some() {
            self.whole_blocks(extent, 1);
        }
    }

    /// Blocks of whole vectors, most of what there is to do.
    fn main_blocks(&mut self, extent: Extent, unroll_factor: i64) {
        let allocation = self.allocation;
        if let Some(pipelined) = &allocation.pipelined {
            self.pipelined_blocks(pipelined, extent);
        }
        let Some(shared) = &allocation.shared else { return self.whole_blocks(extent, unroll_factor) };
        let vectors = unroll_factor + i64::from(shared.reads_ahead());
        let skip = self.begin_blocks(vectors);
        let is_loaded = self.early.is_some().then(|| {
            let slot = AlignmentSlot::new(self.homes.alignment_slot, self.encoding.body.shape);
            self.put(Instruction::with2(Code::Cmp_rm64_imm8, slot.count, 0));
            self.encoding.assembler.jump_ahead(Code::Jne_rel32_64)
        });
        self.load_carried(shared, extent);
        is_loaded.into_iter().for_each(|jump| self.encoding.assembler.land(jump));
        self.blocks(&shared.each, extent, unroll_factor);
        self.encoding.assembler.land(skip);
    }

    /// Blocks of whole vectors, as long as `unroll_factor` of them fit.
    fn whole_blocks(&mut self, extent: Extent, unroll_factor: i64) {
        let skip = self.begin_blocks(unroll_factor);
        self.blocks(&self.allocation.each, extent, unroll_factor);
        self.encoding.assembler.land(skip);
    }

    /// Lets [`LAST`] be the last iteration from which this many vectors fit.
    fn last_iteration(&mut self, vectors: i64) {
        let before_end = memory(END, -vectors * self.encoding.body.shape.lanes());
        self.put(Instruction::with2(Code::Lea_r64_m, LAST, before_end));
    }

    /// The same, and a jump to take if there is no such iteration left.
    pub(super) fn begin_blocks(&mut self, vectors: i64) -> Jump {
        self.last_iteration(vectors);
        self.put(Instruction::with2(Code::Cmp_r64_rm64, ITERATION, LAST));
        self.encoding.assembler.jump_ahead(Code::Jg_rel32_64)
    }

    /// A loop of this many blocks in turn, until the iteration is behind [`LAST`].
    fn blocks(&mut self, each: &Sequence, extent: Extent, unroll_factor: i64) {
        let step = i32::try_from(unroll_factor * self.encoding.body.shape.lanes()).expect("a few vectors");
        self.encoding.assembler.align(LOOP_ALIGNMENT_BYTES);
        let top = self.encoding.assembler.top();
        for copy in 0..unroll_factor {
            self.encoding.block(each, extent, copy);
        }
        self.put(Instruction::with2(Code::Add_rm64_imm32, ITERATION, step));
        self.put(Instruction::with2(Code::Cmp_r64_rm64, ITERATION, LAST));
        self.encoding.assembler.jump(Code::Jle_rel32_64, top);
    }

    /// What is left, less than a vector.
    fn masked_block(&mut self) {
        // The mask has a bit for each iteration that is left.
        self.put(Instruction::with2(Code::Mov_r64_rm64, LAST, END));
        self.put(Instruction::with2(Code::Sub_r64_rm64, LAST, ITERATION));
        let done = self.encoding.assembler.jump_ahead(Code::Jle_rel32_64);
        let one = self.has_half_vectors().then(|| self.one_cell());
        self.set_mask();
        self.encoding.block(&self.allocation.each, Extent::Masked, 0);
        one.into_iter().for_each(|jump| self.encoding.assembler.land(jump));
        self.encoding.assembler.land(done);
    }

    /// The cell that is left if [`LAST`] says that there is one; and then the jump behind what runs more.
    fn one_cell(&mut self) -> Jump {
        self.put(Instruction::with2(Code::Cmp_rm64_imm32, LAST, 1));
        let more = self.encoding.assembler.jump_ahead(Code::Jg_rel32_64);
        self.encoding.block(&self.allocation.each, Extent::Repeated, 0);
        let done = self.encoding.assembler.jump_ahead(Code::Jmp_rel32_64);
        self.encoding.assembler.land(more);
        done
    }

    /// Whether a block can run in vectors of half the size: where nothing is converted on the way.
    fn has_half_vectors(&self) -> bool {
        let Encoding { isa, body, .. } = &*self.encoding;
        let converts = body.addresses.iter().any(|place| !body.shape.number.is_in(place.element));
        let is_float = body.shape.is_float();
        *isa == Avx::Avx512 && body.shape.bytes == 64 && is_float && !converts
    }

    /// What is left with AVX2: floating-point numbers of one type cell by cell, all else in parts of vectors.
    fn cells_until_end(&mut self) {
        if self.encoding.body.shape.is_float() {
            return self.single_cells();
        }
        self.put(Instruction::with2(Code::Mov_r64_rm64, LAST, END));
        self.put(Instruction::with2(Code::Sub_r64_rm64, LAST, ITERATION));
        self.parts();
    }

    /// As many cells as [`LAST`] says, less than a vector has lanes: a part for each of its bits.
    pub(super) fn parts(&mut self) {
        let mut lanes = self.encoding.body.shape.lanes() / 2;
        while lanes > 0 {
            self.put(Instruction::with2(Code::Test_rm64_imm32, LAST, lanes as i32));
            let skip = self.encoding.assembler.jump_ahead(Code::Je_rel32_64);
            self.encoding.block(&self.allocation.each, Extent::Part(lanes), 0);
            self.put(Instruction::with2(Code::Add_rm64_imm32, ITERATION, lanes as i32));
            self.encoding.assembler.land(skip);
            lanes /= 2;
        }
    }

    /// What is left, cell by cell.
    fn single_cells(&mut self) {
        self.put(Instruction::with2(Code::Cmp_r64_rm64, ITERATION, END));
        let done = self.encoding.assembler.jump_ahead(Code::Jge_rel32_64);
        let top = self.encoding.assembler.top();
        self.encoding.block(&self.allocation.each, Extent::Single, 0);
        self.put(Instruction::with2(Code::Add_rm64_imm32, ITERATION, 1));
        self.put(Instruction::with2(Code::Cmp_r64_rm64, ITERATION, END));
        self.encoding.assembler.jump(Code::Jl_rel32_64, top);
        self.encoding.assembler.land(done);
    }

    pub(super) fn put(&mut self, instruction: Result<Instruction, iced_x86::IcedError>) {
        self.encoding.assembler.put(&instruction.expect("the operands fit the code"));
    }
}

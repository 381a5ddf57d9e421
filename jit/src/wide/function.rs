//! The function of a wide strip: what surrounds its blocks.
//!
//! In: what is known about a strip.   Out: machine code for `extern "sysv64" fn(table, frame, start, end)`, with
//! `start < end`.
//!
//! ```text
//! save registers; load pointers; compute invariants
//! j = start
//! up to the first j at which all stores are aligned, if there is one and much to do: a masked block, or single cells
//! with streaming stores that are aligned now: the next loop with these stores past the caches
//! with loads that share vectors: the next loop with these, as long as a whole block follows
//! while j <= end - copies * lanes: `copies` blocks of whole vectors; j += copies * lanes
//! the same with one block
//! AVX2:     single cells
//! AVX-512:  one block of as many lanes as are left, if there are any
//! ```
//!
//! A short strip of known length that is always run whole needs none of the tests: its blocks follow each other.
//!
//! Blocks follow each other whole, so each counts by itself against the lanes that the strip allows.
//!
//! Cost: about 0.2 microseconds for each machine instruction.

use crease_program::{Element, Op};

use super::aligned_stores::{AlignedStores, AlignmentSlot};
use super::allocate::Allocation;
use super::assembler::{Assembler, Jump};
use super::body::{Body, StripFacts, WideOptions};
use super::cost::{Choice, LOOP_INSTRUCTIONS, MOST_SLOT_BYTES, choose};
use super::encode::{Encoding, ITERATION, REMAINDER, SCRATCH, TABLE, memory};
use super::instruction::{Inst, Memory, Sequence};
use super::prefetch::Ahead;
use super::shape::{Extent, WideIsa};
use crate::listing::{RegisterUse, StripListing};
use iced_x86::{Code, Instruction, MemoryOperand, Register};

/// One past the last iteration.
pub(super) const END: Register = Register::RCX;
/// The last iteration at which a whole block may begin; the frame is no longer needed then.
pub(super) const LAST: Register = Register::RSI;
/// Registers that a function may use as it likes, besides those with a meaning of their own.
pub(super) const FREE: [Register; 3] = [Register::R9, Register::R10, Register::R11];
/// Registers that a function has to leave as they were.
const SAVED: [Register; 5] = [Register::RBX, Register::R12, Register::R13, Register::R14, Register::R15];
/// Loops begin at multiples of this many bytes.
const ALIGNMENT: usize = 32;

/// A function of machine code.
pub(crate) struct WideCode {
    /// Position-independent.
    pub(crate) bytes: Vec<u8>,
    /// The same for people, if it was asked for.
    pub(crate) listing: Option<StripListing>,
    /// Whether some store may go past the caches, which nothing but a fence orders.
    pub(crate) streams: bool,
    /// The index operations whose value at iteration 0 follows the pointers in the table.
    pub(crate) indices: Vec<usize>,
    /// The only end that it can be given, from the start 0; none if both are free.
    pub(crate) fixed_length: Option<i64>,
}

impl WideCode {
    /// Where the code may lie: at multiples of this many bytes.
    pub(crate) const ALIGNMENT: u64 = 64;
}

/// Emits a strip; `None` if it has to be compiled otherwise.
pub(crate) fn emit(facts: &StripFacts<'_>, options: &WideOptions<'_>) -> Option<WideCode> {
    let Choice { body, allocation, copies } = choose(facts, options)?;
    let is_index = |at: &usize| matches!(body.strip.ops[*at], Op::Index { .. });
    let indices: Vec<usize> = body.each.iter().copied().filter(is_index).collect();
    let homes = Homes::new(facts, &body, &allocation, copies, indices.is_empty());
    let mut encoding = Encoding {
        assembler: Assembler::new(options.options.texts),
        body: &body,
        pointers: homes.pointers.clone(),
        indices,
        names: options.names,
        scalar_offset: options.scalar_offset,
        slots: homes.frame_bytes as usize / body.shape.bytes as usize,
        conversion_slot: allocation.slots,
        next_scratch: 0,
        extent: Extent::Whole,
        copy: 0,
        ahead: Ahead::new(facts, &body, options.options.prefetch),
    };
    Function { encoding: &mut encoding, homes: &homes, allocation: &allocation }.emit(copies);
    let (bytes, text) = encoding.assembler.finish(&pool(&body), pool_entry(&body));
    let streams = homes.aligned_stores.as_ref().is_some_and(|stores| stores.streaming);
    let listing = options.options.texts.then(|| StripListing { text, ..listing(&body, &allocation, copies) });
    let fixed_length = homes.fixed_length;
    Some(WideCode { bytes, listing, streams, indices: encoding.indices, fixed_length })
}

/// Which general registers hold what.
struct Homes {
    /// For each pointer its register, if it has one.
    pointers: Vec<Option<Register>>,
    /// Registers to restore.
    saved: Vec<Register>,
    /// Bytes of slots.
    frame_bytes: i32,
    /// Stores whose alignment is found out at run time, if all of them may be aligned together and strips are long
    /// enough.
    aligned_stores: Option<AlignedStores>,
    /// The slot for what was found.
    alignment_slot: usize,
    /// The number of iterations, if nothing else than blocks of so many is to be run.
    fixed_length: Option<i64>,
}

impl Homes {
    /// The pointers used most get registers, while there are any.
    fn new(facts: &StripFacts<'_>, body: &Body<'_>, allocation: &Allocation, copies: i64, no_indices: bool) -> Self {
        let count = body.places.iter().map(|place| place.pointer + 1).max().unwrap_or(0);
        let mut uses = vec![0u32; count];
        let cells = |inst: &Inst| cell_of(inst);
        allocation.main().iter().filter_map(cells).for_each(|stream| uses[body.places[stream].pointer] += 1);
        let mut by_use: Vec<usize> = (0..count).filter(|pointer| uses[*pointer] > 0).collect();
        by_use.sort_by_key(|pointer| std::cmp::Reverse(uses[*pointer]));
        let converts = body.places.iter().any(|place| place.element != body.shape.float.element());
        let mut registers: Vec<Register> = FREE.to_vec();
        let all = FREE.len() + SAVED.len() + SCRATCH.len() + 1;
        let needs_table =
            !no_indices || converts || by_use.len() > all || allocation.once.iter().any(|i| cell_of(i).is_some());
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
        let may_align = |stores: &AlignedStores| facts.length.is_none_or(|length| length >= stores.least(body.shape));
        let aligned_stores = AlignedStores::new(body).filter(may_align);
        let has_halves = body.places.iter().any(|place| place.element == Element::F16);
        let alignment_slot = allocation.slots + usize::from(!no_indices || has_halves);
        let slots = alignment_slot + usize::from(aligned_stores.is_some());
        let frame_bytes = slots as i64 * body.shape.bytes;
        // Memory safety rests on it: nothing touches the pages that a larger frame would step over.
        assert!(frame_bytes <= MOST_SLOT_BYTES, "slots of {frame_bytes} bytes in a frame that is not probed");
        let frame_bytes = frame_bytes as i32;
        let is_plain = facts.is_whole && aligned_stores.is_none() && allocation.shared.is_none();
        let is_small = |length: &i64| {
            let blocks = copies + (length / body.shape.lanes()) % copies + 1;
            blocks as usize * allocation.each.len() <= LOOP_INSTRUCTIONS
        };
        let fixed_length = facts.length.filter(|length| is_plain && is_small(length));
        Homes { pointers, saved, frame_bytes, aligned_stores, alignment_slot, fixed_length }
    }
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
fn pool_entry(body: &Body<'_>) -> usize {
    match body.shape.isa {
        WideIsa::Avx2 => 32,
        WideIsa::Avx512 => body.shape.float.bytes() as usize,
    }
}

fn pool(body: &Body<'_>) -> Vec<u8> {
    let number = body.shape.float.bytes() as usize;
    let entry = |bits: &u64| bits.to_le_bytes()[..number].repeat(pool_entry(body) / number);
    body.pool.bits.iter().flat_map(entry).collect()
}

/// What is to be said of the strip, without its text.
fn listing(body: &Body<'_>, allocation: &Allocation, copies: i64) -> StripListing {
    StripListing {
        strip: body.strip.var,
        runs: None,
        vector_bits: 8 * body.shape.bytes as u32,
        lanes: body.shape.lanes() as u32,
        blocks: copies as u32,
        registers: Some(RegisterUse {
            vectors: allocation.vectors as u32,
            available: body.shape.registers() as u32,
            pinned: allocation.pinned as u32,
            spills: allocation.spills as u32,
            cuts: allocation.shared.as_ref().map_or(0, |shared| shared.cuts() as u32),
            instructions: allocation.main().len() as u32,
        }),
        text: String::new(),
    }
}

/// Puts the parts together.
pub(super) struct Function<'f, 'b, 'a> {
    pub(super) encoding: &'f mut Encoding<'b, 'a>,
    homes: &'f Homes,
    pub(super) allocation: &'f Allocation,
}

impl Function<'_, '_, '_> {
    fn emit(&mut self, copies: i64) {
        let slot = AlignmentSlot::new(self.homes.alignment_slot, self.encoding.body.shape);
        self.enter();
        if let Some(stores) = &self.homes.aligned_stores {
            self.count_unaligned(stores, slot);
        }
        self.load_pointers();
        self.encoding.block(&self.allocation.once, Extent::Whole, 0);
        if let Some(stores) = &self.homes.aligned_stores {
            self.unaligned_cells(slot);
            if stores.streaming {
                self.streaming_blocks(slot, copies);
            }
        }
        match self.homes.fixed_length {
            Some(length) => self.all_blocks(length, copies),
            None => self.blocks_until_end(copies),
        }
        self.leave();
    }

    /// What there is to do from the iteration on.
    fn blocks_until_end(&mut self, copies: i64) {
        self.main_blocks(Extent::Whole, copies);
        if copies > 1 || self.allocation.shared.is_some() {
            self.whole_blocks(Extent::Whole, 1);
        }
        match self.encoding.body.shape.isa {
            WideIsa::Avx512 => self.masked_block(),
            WideIsa::Avx2 => self.single_cells(),
        }
    }

    /// A strip of this length: a loop of so many blocks in turn if there are several turns, and what is left one by
    /// one.
    fn all_blocks(&mut self, length: i64, copies: i64) {
        let (each, lanes) = (&self.allocation.each, self.encoding.body.shape.lanes());
        let (vectors, cells) = (length / lanes, length % lanes);
        let turns = vectors / copies;
        let looped = if turns > 1 { turns * copies } else { 0 };
        if looped > 0 {
            let last = (looped - copies) * lanes;
            self.put(Instruction::with2(Code::Lea_r64_m, LAST, memory(END, last - length)));
            self.blocks(each, Extent::Whole, copies);
        }
        let left = vectors - looped;
        (0..left).for_each(|copy| self.encoding.block(each, Extent::Whole, copy));
        match self.encoding.body.shape.isa {
            _ if cells == 0 => {}
            WideIsa::Avx512 => {
                self.put(Instruction::with2(Code::Mov_r32_imm32, Register::ESI, (1 << cells) - 1));
                self.put(Instruction::with2(Code::VEX_Kmovw_kr_r32, REMAINDER, Register::ESI));
                self.encoding.block(each, Extent::Masked, left);
            }
            WideIsa::Avx2 => {
                self.put(Instruction::with2(Code::Add_rm64_imm32, ITERATION, (left * lanes) as i32));
                self.single_cells();
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
        let bits = Instruction::with3(Code::VEX_Bzhi_r32_rm32_r32, Register::ESI, operand, Register::ESI);
        let bits = bits.expect("the operands fit the code");
        self.encoding.put_with_constant(&bits, ones);
        self.put(Instruction::with2(Code::VEX_Kmovw_kr_r32, REMAINDER, Register::ESI));
    }

    /// Blocks of whole vectors, most of what there is to do.
    pub(super) fn main_blocks(&mut self, extent: Extent, copies: i64) {
        let allocation = self.allocation;
        let Some(shared) = &allocation.shared else { return self.whole_blocks(extent, copies) };
        let reads_ahead = shared.rows.iter().any(|(_, carried)| carried.next.is_some());
        let reads_before = shared.rows.iter().any(|(_, carried)| carried.previous.is_some());
        let vectors = copies + i64::from(reads_ahead);
        let skip = self.begin_blocks(vectors);
        self.encoding.begin_block(extent);
        for (row, carried) in &shared.rows {
            if let Some(previous) = carried.previous {
                // Only the last lanes are needed, and may be read.
                let lanes = self.encoding.body.shape.lanes();
                let mask = ((1_i64 << lanes) - (1 << (lanes - row.before()))) as i32;
                self.put(Instruction::with2(Code::Mov_r32_imm32, Register::ESI, mask));
                self.put(Instruction::with2(Code::VEX_Kmovw_kr_r32, REMAINDER, Register::ESI));
                self.encoding.load_before(previous, row.stream);
            }
            if carried.next.is_some() {
                self.encoding.load(carried.current, Memory::Cell(row.stream));
            }
        }
        if reads_before {
            // Masks were made in its register.
            self.last_iteration(vectors);
        }
        self.blocks(&shared.each, extent, copies);
        self.encoding.assembler.land(skip);
    }

    /// Blocks of whole vectors, as long as `copies` of them fit.
    fn whole_blocks(&mut self, extent: Extent, copies: i64) {
        let skip = self.begin_blocks(copies);
        self.blocks(&self.allocation.each, extent, copies);
        self.encoding.assembler.land(skip);
    }

    /// Lets [`LAST`] be the last iteration from which so many vectors fit.
    fn last_iteration(&mut self, vectors: i64) {
        let before_end = memory(END, -vectors * self.encoding.body.shape.lanes());
        self.put(Instruction::with2(Code::Lea_r64_m, LAST, before_end));
    }

    /// The same, and a jump to take if there is no such iteration left.
    fn begin_blocks(&mut self, vectors: i64) -> Jump {
        self.last_iteration(vectors);
        self.put(Instruction::with2(Code::Cmp_r64_rm64, ITERATION, LAST));
        self.encoding.assembler.jump_ahead(Code::Jg_rel32_64)
    }

    /// A loop of so many blocks in turn, until the iteration is behind [`LAST`].
    fn blocks(&mut self, each: &Sequence, extent: Extent, copies: i64) {
        let step = i32::try_from(copies * self.encoding.body.shape.lanes()).expect("a few vectors");
        self.encoding.assembler.align(ALIGNMENT);
        let top = self.encoding.assembler.top();
        for copy in 0..copies {
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
        self.set_mask();
        self.encoding.block(&self.allocation.each, Extent::Masked, 0);
        self.encoding.assembler.land(done);
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

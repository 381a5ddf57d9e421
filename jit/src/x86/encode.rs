//! From instructions on registers to the machine's own, for one block of lanes.
//!
//! In: the instructions of a body, and whether the block is a whole vector, the first few lanes of one, or one cell.
//! Out: code, appended to an [`Assembler`].
//!
//! Registers of the function: `rdx` is the iteration, `rcx` the end, `rdi` the table, and `rsi` the frame before the
//! loops. Slots lie from the stack pointer on, which is a multiple of their size.

use crease_program::{Element, Op, ScalarId, StoreHint, ValueType};

use super::assembler::Assembler;
use super::avx::Avx;
use super::codes::code;
use super::kinds::{Form, Kind};
use crate::vector::{
    Ahead, Arith, Bank, Body, Class, Extent, INTEGER_SCRATCH, Inst, Memory, Number, Operand, Reg, Rounding, Sequence,
    StreamAddress,
};
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use std::ops::Range;

/// The iteration at which a block begins.
pub(super) const ITERATION: Register = Register::RDX;
/// The table of addresses and first indices.
pub(super) const TABLE: Register = Register::RDI;
/// The frame, until the loops begin.
pub(super) const FRAME: Register = Register::RSI;
/// Hold addresses that have no register of their own, in turn; the first one also holds integers.
pub(super) const SCRATCH: [Register; 2] = [Register::RAX, Register::R8];
/// The lanes of a remainder.
pub(super) const REMAINDER: Register = Register::K1;
/// What conversions compare, in strips of several types: the last of the masks that values are assigned in others.
pub(super) const FREE_MASK: Register = Register::K7;
/// The first mask that a value may be assigned.
const FIRST_MASK: Register = Register::K2;

/// An operand of a machine instruction.
#[derive(Clone, Copy)]
pub(super) enum Source {
    Register(Register),
    /// On the stack, or one cell for all lanes: may be read whole in any block.
    Memory(MemoryOperand),
    /// Cells of a block, one for each lane.
    Cells(MemoryOperand),
    /// A constant of the pool.
    Constant(MemoryOperand, usize),
}

/// Encodes blocks.
pub(super) struct Encoding<'b, 'a> {
    pub(super) assembler: Assembler,
    /// How instructions are encoded.
    pub(super) isa: Avx,
    pub(super) body: &'b Body<'a>,
    /// For each pointer its register; the others are read from the table at each use.
    pub(super) pointers: Vec<Option<Register>>,
    /// For each index operation its place in the table, behind the pointers.
    pub(super) indices: &'b [usize],
    /// For each lookup its place in the table, behind those.
    pub(super) lookups: &'b [usize],
    /// For each operation what to call its result in the text.
    pub(super) names: &'b [String],
    /// Bytes from the frame's start to a scalar.
    pub(super) scalar_offset: &'b dyn Fn(ScalarId) -> i32,
    /// Slots in the frame.
    pub(super) slots: usize,
    /// A slot for numbers that are converted one by one, if any are.
    pub(super) conversion_slot: usize,
    /// Which scratch register comes next.
    pub(super) next_scratch: usize,
    /// The type of the numbers of the instruction being encoded.
    pub(super) number: Number,
    /// The operation that it is for.
    pub(super) operation: usize,
    /// The block being encoded.
    pub(super) extent: Extent,
    /// How many vectors after the iteration it lies.
    pub(super) copy: i64,
    /// The windows that streams share and the block has loaded, a bit for each; none where it may have none.
    pub(super) loaded_windows: Option<u32>,
    /// What the block has for itself, if it is the second one of two at a time.
    pub(super) bank: Option<&'b Bank>,
    /// Lines to prefetch.
    pub(super) ahead: Ahead,
}

impl Encoding<'_, '_> {
    /// What follows is for the block at the iteration.
    pub(super) fn begin_block(&mut self, extent: Extent) {
        (self.extent, self.copy) = (extent, 0);
        self.number = self.body.shape.number;
    }

    /// Encodes `instructions` for the block `copy` vectors after the iteration.
    pub(super) fn block(&mut self, instructions: &Sequence, extent: Extent, copy: i64) {
        (self.extent, self.copy) = (extent, copy);
        self.ahead.begin(extent, copy);
        // Blocks of which two are interleaved have no windows in common registers: they are not encoded here.
        self.loaded_windows = matches!(extent, Extent::Whole | Extent::Aligned).then_some(0);
        let all: Vec<(&Inst, usize)> = instructions.with_operations().collect();
        let mut at = 0;
        while let Some((instruction, operation)) = all.get(at).copied() {
            at += match self.stored_together(&all[at..]) {
                0 => {
                    self.named(instruction, operation);
                    1
                }
                stores => stores,
            };
        }
        self.loaded_windows = None;
        self.assembler.note(None);
    }

    /// Encodes an instruction of the block, with the name of what it computes.
    pub(super) fn named(&mut self, instruction: &Inst, operation: usize) {
        let kept = if matches!(instruction, Inst::Spill { .. }) { "kept: " } else { "" };
        let name = self.names.get(operation).filter(|name| !name.is_empty());
        self.assembler.note(name.map(|name| (kept, name.as_str())));
        (self.operation, self.number) = (operation, self.body.numbers[operation]);
        self.instruction(instruction);
    }

    fn instruction(&mut self, instruction: &Inst) {
        match *instruction {
            Inst::Load { to, from } => self.load(to, from),
            Inst::Scalar { to, scalar } => {
                let offset = (self.scalar_offset)(scalar);
                let from = Source::Memory(memory(FRAME, i64::from(offset)));
                self.two(self.code(Kind::Broadcast), self.vector(to), from);
            }
            Inst::Index { to, index } => self.index(to, index),
            Inst::Store { stream, from, hint } => self.store(stream, from, hint),
            Inst::Spill { slot, from } => {
                let code = match from.class {
                    Class::Mask if self.has_few_lanes() => Code::VEX_Kmovw_m16_kr,
                    Class::Mask => Code::VEX_Kmovq_m64_kr,
                    Class::Vector => self.code(Kind::Store),
                };
                let instruction = Instruction::with2(code, self.slot(slot), self.register(from));
                self.put(instruction);
            }
            Inst::Move { to, from } => {
                self.two(self.code(Kind::Move), self.vector(to), Source::Register(self.vector(from)));
            }
            Inst::Shift { to, low, high, lanes } => {
                let [to, low, high] = [to, low, high].map(|register| self.vector(register));
                self.put(match self.isa {
                    Avx::Avx512 => Instruction::with4(self.code(Kind::Shift), to, high, low, u32::from(lanes)),
                    Avx::Avx2 => Instruction::with4(Code::VEX_Vperm2f128_ymm_ymm_ymmm256_imm8, to, low, high, 0x21),
                });
            }
            Inst::ShiftHalves { to, low, high, lanes } => {
                let [to, low, high] = [to, low, high].map(|register| self.vector(register));
                let bytes = u32::from(lanes) * self.body.shape.number.bytes() as u32;
                self.put(Instruction::with4(Code::VEX_Vpalignr_ymm_ymm_ymmm256_imm8, to, high, low, bytes));
            }
            Inst::Sqrt { to, from } => {
                let from = self.operand(from);
                if self.extent == Extent::Single {
                    return self.three(self.code(Kind::Sqrt), self.vector(to), self.vector(to), from);
                }
                self.two(self.code(Kind::Sqrt), self.vector(to), from);
            }
            Inst::Round { rounding, to, from } => self.round(rounding, to, from),
            Inst::Sign { op, to, from } => {
                let ty = self.integer().expect("signs of floats change by their bits");
                self.integer_sign(op, ty, to, from);
            }
            Inst::ShiftBits { op, to, from, count } => {
                if let Some(ty) = self.integer() {
                    return self.integer_shift(op, ty, to, from, count);
                }
                let (to, from) = (self.vector(to), self.vector(from));
                self.put(Instruction::with3(self.code(Kind::ShiftBits(op)), to, from, u32::from(count)));
            }
            Inst::LookUp { to, values } => self.look_up(to, values),
            Inst::Convert { to, from, number } => self.convert(to, from, number, self.number),
            Inst::Arith { op, to, mut a, mut b } => {
                if let (Op::And(..) | Op::Or(..), Operand::Reg(register)) = (self.body.strip.ops[self.operation], b) {
                    (a, b) = (self.truth_operand(0, a, 1), Operand::Reg(self.truth_operand(1, register, 2)));
                }
                if let Some(ty) = self.integer() {
                    return self.integer_arith(op, ty, to, a, b);
                }
                let b = self.operand(b);
                self.three(self.code(Kind::Arith(op)), self.vector(to), self.vector(a), b);
            }
            Inst::Fma { form, to, b, c } => {
                let c = self.operand(c);
                self.three(self.code(Kind::Fma(form)), self.vector(to), self.vector(b), c);
            }
            Inst::Compare { op, to, a, b } => self.compare(op, to, a, b),
            Inst::Masks { op, to, a, b } => {
                let code = match (op, self.has_few_lanes()) {
                    (Arith::And, true) => Code::VEX_Kandw_kr_kr_kr,
                    (_, true) => Code::VEX_Korw_kr_kr_kr,
                    (Arith::And, false) => Code::VEX_Kandq_kr_kr_kr,
                    (_, false) => Code::VEX_Korq_kr_kr_kr,
                };
                self.three(code, self.register(to), self.register(a), Source::Register(self.register(b)));
            }
            Inst::NotMask { to, from } => {
                let code = if self.has_few_lanes() { Code::VEX_Knotw_kr_kr } else { Code::VEX_Knotq_kr_kr };
                self.two(code, self.register(to), Source::Register(self.register(from)));
            }
            Inst::Select { to, cond, then, otherwise } => self.select(to, cond, then, otherwise),
        }
    }

    /// Reads the vector at a place, or the mask in a slot.
    pub(super) fn load(&mut self, to: Reg, from: Memory) {
        if to.class == Class::Mask {
            let Source::Memory(slot) = self.memory_operand(from) else { unreachable!("masks are kept in slots") };
            let code = if self.has_few_lanes() { Code::VEX_Kmovw_kr_km16 } else { Code::VEX_Kmovq_kr_km64 };
            return self.two(code, self.register(to), Source::Memory(slot));
        }
        let kind = match (from, self.integer()) {
            (Memory::Cell(stream), _) if self.body.shape.is_mixed => return self.load_mixed(to, stream),
            (Memory::Cell(stream), Some(ty)) => return self.load_integers(ty, to, stream),
            (Memory::Cell(stream), None) => {
                match (self.body.addresses[stream].element, self.body.addresses[stream].stride) {
                    (Element::U8, _) => return self.load_bytes(to, stream),
                    (Element::F16, _) => return self.load_halves(to, stream),
                    (Element::F64 | Element::F32, Some(0)) => Kind::Broadcast,
                    (Element::F64 | Element::F32, _) if self.extent == Extent::Repeated => Kind::Broadcast,
                    (Element::F64 | Element::F32, _) => Kind::Load,
                    _ => unreachable!("such strips are not eligible"),
                }
            }
            // A slot holds all lanes, and so does a constant where instructions cannot repeat one.
            (Memory::Constant(_), None) if self.body.shape.repeats_cells() => Kind::Broadcast,
            (Memory::Constant(_) | Memory::Slot(_) | Memory::NextCell(_), _) => Kind::Load,
        };
        let (to, from) = (self.vector(to), self.unrepeated(from));
        self.two(self.code(kind), to, from);
    }

    fn store(&mut self, stream: usize, from: Reg, hint: StoreHint) {
        if self.body.shape.is_mixed {
            return self.store_mixed(stream, from, hint);
        }
        if let Some(ty) = self.integer() {
            return self.store_integers(ty, from, stream, hint);
        }
        let cells = self.cell_operand(stream);
        if self.body.addresses[stream].element == Element::F16 {
            return self.store_halves(cells, from);
        }
        if self.extent == Extent::Repeated {
            let first = self.sized(from, 16);
            return self.put(Instruction::with2(self.code(Kind::StoreFirst), cells, first));
        }
        let is_non_temporal = self.extent == Extent::Aligned && hint == StoreHint::NonTemporal;
        let kind = if is_non_temporal { Kind::StoreNonTemporal } else { Kind::Store };
        if !is_non_temporal && let Some(displacement) = self.ahead.of_store(self.body, stream, cells.displacement) {
            self.prefetch(Code::Prefetchw_m8, MemoryOperand { displacement, ..cells });
        }
        let instruction = Instruction::with2(self.code(kind), cells, self.vector(from));
        let mut instruction = instruction.expect("a store takes memory and a register");
        if self.extent.is_masked() {
            instruction.set_op_mask(REMAINDER);
        }
        self.assembler.put(&instruction);
    }

    fn round(&mut self, rounding: Rounding, to: Reg, from: Operand) {
        // No signal if the number was none.
        let mode: u32 = match rounding {
            Rounding::Nearest => 0x8,
            Rounding::Floor => 0x9,
            Rounding::Ceil => 0xa,
            Rounding::Trunc => 0xb,
        };
        let (code, to, from) = (self.code(Kind::Round), self.vector(to), self.operand(from));
        let instruction = match (self.extent, from) {
            (Extent::Single, Source::Register(from)) => Instruction::with4(code, to, to, from, mode),
            (_, Source::Register(from)) => Instruction::with3(code, to, from, mode),
            (Extent::Single, Source::Memory(from) | Source::Cells(from) | Source::Constant(from, _)) => {
                Instruction::with4(code, to, to, from, mode)
            }
            (_, Source::Memory(from) | Source::Cells(from) | Source::Constant(from, _)) => {
                Instruction::with3(code, to, from, mode)
            }
        };
        self.finish(instruction, from, true);
    }

    pub(super) fn code(&self, kind: Kind) -> Code {
        code(kind, self.number, self.form())
    }

    /// Which instructions the block is made of.
    pub(super) fn form(&self) -> Form {
        if self.body.shape.is_mixed {
            return self.form_of(self.number);
        }
        match (self.extent, self.isa, self.vector_bytes()) {
            (Extent::Single | Extent::Part(_), ..) => Form::Single,
            (_, Avx::Avx2, _) => Form::Vex256,
            (_, Avx::Avx512, 32) => Form::Evex256,
            (_, Avx::Avx512, _) => Form::Evex512,
        }
    }

    /// The type of the instruction's numbers, if they are integers.
    pub(super) fn integer(&self) -> Option<ValueType> {
        match self.number {
            Number::Integer(ty) => Some(ty),
            Number::F64 | Number::F32 => None,
        }
    }

    /// The register as vectors of this block.
    pub(super) fn vector(&self, register: Reg) -> Register {
        self.sized(register, self.vector_bytes())
    }

    /// Bytes of a vector of this block.
    pub(super) fn vector_bytes(&self) -> i64 {
        match self.extent {
            _ if self.body.shape.is_mixed => self.body.shape.bytes_of(self.number),
            Extent::Single | Extent::Part(_) => 16,
            Extent::MaskedHalf | Extent::Repeated => self.body.shape.bytes / 2,
            Extent::Whole | Extent::Aligned | Extent::Masked => self.body.shape.bytes,
        }
    }

    pub(super) fn sized(&self, register: Reg, bytes: i64) -> Register {
        assert!(register.class == Class::Vector && usize::from(register.number) < self.body.shape.features.registers);
        let first = match bytes {
            16 => Register::XMM0,
            32 => Register::YMM0,
            _ => Register::ZMM0,
        };
        let number = usize::from(register.number);
        let bank = self.bank.map(|bank| bank.vectors).filter(|vectors| number < *vectors);
        first + (number + bank.unwrap_or(0)) as u32
    }

    /// The register, whichever its class.
    pub(super) fn register(&self, register: Reg) -> Register {
        match register.class {
            Class::Vector => self.vector(register),
            Class::Mask => {
                let number = usize::from(register.number) + self.bank.map_or(0, |bank| bank.masks);
                assert!(number < self.body.shape.masks(), "there are few masks");
                FIRST_MASK + number as u32
            }
        }
    }

    pub(super) fn operand(&mut self, operand: Operand) -> Source {
        match operand {
            Operand::Reg(register) => Source::Register(self.register(register)),
            // Instructions that read part of a vector, or mask bytes, are loads and stores.
            Operand::Memory(Memory::Cell(stream))
                if !self.body.shape.is_float() && matches!(self.extent, Extent::Masked | Extent::Part(_)) =>
            {
                let number = self.body.shape.registers() + INTEGER_SCRATCH - 1;
                let to = Reg { class: Class::Vector, number: number as u8 };
                self.load(to, Memory::Cell(stream));
                Source::Register(self.vector(to))
            }
            Operand::Memory(memory) => self.memory_operand(memory),
        }
    }

    /// A place in memory as an operand of arithmetic, where AVX-512 repeats what fills one lane.
    pub(super) fn memory_operand(&mut self, place: Memory) -> Source {
        let repeats = self.body.shape.repeats_cells() && self.extent != Extent::Single;
        match place {
            Memory::Cell(stream)
                if self.body.addresses[stream].stride == Some(0) || self.extent == Extent::Repeated =>
            {
                let mut cell = self.cell_operand(stream);
                cell.is_broadcast = repeats;
                Source::Memory(cell)
            }
            Memory::Cell(stream) => {
                let cells = self.cell_operand(stream);
                self.row_operand(stream, cells)
            }
            Memory::NextCell(stream) => {
                let cells = self.cell_operand_at(stream, self.copy + 1);
                self.row_operand(stream, cells)
            }
            Memory::Constant(constant) => Source::Constant(self.assembler.constant_operand(repeats), constant),
            Memory::Slot(slot) => Source::Memory(self.slot(slot)),
        }
    }

    /// Cells of a row, and a prefetch of those far behind them.
    fn row_operand(&mut self, stream: usize, cells: MemoryOperand) -> Source {
        self.call_ahead(stream, cells);
        Source::Cells(cells)
    }

    /// Prefetches cells far behind those of a stream at `cells`, if it is cold.
    pub(super) fn call_ahead(&mut self, stream: usize, cells: MemoryOperand) {
        if let Some(displacement) = self.ahead.of(self.body, stream, cells.displacement) {
            self.prefetch(Code::Prefetcht1_m8, MemoryOperand { displacement, ..cells });
        }
    }

    fn prefetch(&mut self, code: Code, line: MemoryOperand) {
        let prefetch = Instruction::with1(code, line).expect("it takes memory");
        self.assembler.put_aside(&prefetch, "ahead");
    }

    /// The same for loads, which say by themselves what they repeat.
    fn unrepeated(&mut self, place: Memory) -> Source {
        let mut source = self.memory_operand(place);
        if let Source::Memory(operand) | Source::Cells(operand) | Source::Constant(operand, _) = &mut source {
            operand.is_broadcast = false;
        }
        source
    }

    pub(super) fn slot(&self, slot: usize) -> MemoryOperand {
        let own = self.bank.map(|bank| &bank.own_slots).filter(|own| own.contains(&slot));
        let slot = slot + own.map_or(0, Range::len);
        assert!(slot < self.slots, "slot {slot} of {} lies outside the frame", self.slots);
        memory(Register::RSP, slot as i64 * self.body.shape.bytes)
    }

    pub(super) fn cell_operand(&mut self, stream: usize) -> MemoryOperand {
        self.cell_operand_at(stream, self.copy)
    }

    /// The cells of a stream this many vectors after the iteration.
    fn cell_operand_at(&mut self, stream: usize, vector: i64) -> MemoryOperand {
        let StreamAddress { pointer, offset, stride, element } = self.body.addresses[stream];
        let base = self.pointers[pointer].unwrap_or_else(|| {
            self.next_scratch = 1 - self.next_scratch;
            let scratch = SCRATCH[self.next_scratch];
            let entry = memory(TABLE, 8 * pointer as i64);
            let load = Instruction::with2(Code::Mov_r64_rm64, scratch, entry).expect("it takes a register and memory");
            self.assembler.put_aside(&load, "");
            scratch
        });
        if stride == Some(0) {
            return memory(base, i64::from(offset));
        }
        let bytes = element.bytes() as i64;
        let offset = i64::from(offset) + vector * self.body.shape.lanes() * bytes;
        assert!(i32::try_from(offset).is_ok(), "a displacement has 32 bits, not {offset}");
        debug_assert_eq!(stride, Some(1), "eligible streams are rows or single cells");
        MemoryOperand::new(base, ITERATION, bytes as u32, offset, 1, false, Register::None)
    }

    /// Puts an instruction with two operands.
    pub(super) fn move_from_table(&mut self, to: Register, entry: usize) {
        self.two(Code::Mov_r64_rm64, to, Source::Memory(memory(TABLE, 8 * entry as i64)));
    }

    pub(super) fn two(&mut self, code: Code, to: Register, from: Source) {
        let instruction = match from {
            Source::Register(from) => Instruction::with2(code, to, from),
            Source::Memory(from) | Source::Cells(from) | Source::Constant(from, _) => {
                Instruction::with2(code, to, from)
            }
        };
        self.finish(instruction, from, true);
    }

    pub(super) fn three(&mut self, code: Code, to: Register, a: Register, b: Source) {
        let instruction = match b {
            Source::Register(b) => Instruction::with3(code, to, a, b),
            Source::Memory(b) | Source::Cells(b) | Source::Constant(b, _) => Instruction::with3(code, to, a, b),
        };
        self.finish(instruction, b, true);
    }

    /// Puts an instruction. Where it reads cells of a remainder it is masked; then `zeroing` says whether lanes left
    /// out become 0, as results other than masks must.
    pub(super) fn finish(
        &mut self,
        instruction: Result<Instruction, iced_x86::IcedError>,
        source: Source,
        zeroing: bool,
    ) {
        let mut instruction = instruction.expect("operands are of the kinds that the code wants");
        if let (Source::Cells(_), true) = (source, self.extent.is_masked()) {
            instruction.set_op_mask(REMAINDER);
            instruction.set_zeroing_masking(zeroing);
        }
        match source {
            Source::Constant(_, constant) => self.put_with_constant(&instruction, constant),
            _ => self.assembler.put(&instruction),
        }
    }

    /// Puts an instruction that reads a constant.
    pub(super) fn put_with_constant(&mut self, instruction: &Instruction, constant: usize) {
        let bits = self.body.pool.bits[constant];
        let number = self.number;
        self.assembler.put_with_constant(instruction, constant, || match number {
            // The mask of all bits is no number.
            _ if bits == u64::MAX => "all ones".to_owned(),
            Number::F64 => format!("{:?}", f64::from_bits(bits)),
            Number::F32 => format!("{:?}", f32::from_bits(bits as u32)),
            Number::Integer(ty) if ty.is_unsigned() => (bits & (u64::MAX >> (64 - ty.bits()))).to_string(),
            Number::Integer(ty) => ((bits << (64 - ty.bits())) as i64 >> (64 - ty.bits())).to_string(),
        });
    }

    pub(super) fn put(&mut self, instruction: Result<Instruction, iced_x86::IcedError>) {
        self.assembler.put(&instruction.expect("operands are of the kinds that the code wants"));
    }
}

/// `[base + offset]`.
pub(super) fn memory(base: Register, offset: i64) -> MemoryOperand {
    assert!(i32::try_from(offset).is_ok(), "a displacement has 32 bits, not {offset}");
    MemoryOperand::with_base_displ_size(base, offset, 1)
}

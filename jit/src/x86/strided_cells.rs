//! Cells of a stream that do not follow each other: into lanes and back.
//!
//! In: a load or a store of a block, by what [`Apart`] says.   Out: code. It leaves a vector of the cells as they are,
//! or takes one. Nothing before the block's first cell or behind its last one is touched: a window of AVX-512 ends with
//! that, or is masked where it is shorter than a vector. Of the cells between, stores write the stream's alone; those of
//! several streams that leave none out are stored whole.
//!
//! The lanes of a remainder are the lowest bits of a mask. Those whose cells lie in one vector of a window are shifted
//! down and dealt out to the bits of these cells (`pdep` of BMI2). Backwards, their cells are the last ones of a window:
//! all but as many as lanes are left out (`bzhi` of BMI2).

use super::encode::{Encoding, FREE_MASK, ITERATION, REMAINDER, SCRATCH, Source, TABLE, memory};
use super::kinds::Kind;
use crate::vector::{
    Apart, Arith, DISTANCE, Extent, INTEGER_SCRATCH, Inst, Number, Reg, StreamAddress, WINDOW_BYTES, Window, distances,
    kept_lanes,
};
use crease_program::StoreHint;
use iced_x86::{Code, Instruction, MemoryOperand, Register};

/// Bytes of the vectors that cells come into one by one.
const PART_BYTES: i64 = 16;
/// Bytes of the vectors that two of them make up.
const TWO_PARTS: i64 = 2 * PART_BYTES;
/// Holds bits of masks, where [`SCRATCH`] holds an address.
const BITS: Register = SCRATCH[1];

impl Encoding<'_, '_> {
    /// Loads the cells of a stream, as they are or as what [`Body::picked_as`](crate::vector::Body::picked_as) says.
    pub(super) fn load_apart(&mut self, to: Reg, stream: usize, cell: Number, (apart, wider): (Apart, Option<Number>)) {
        let room = wider.map_or(1, |wider| wider.bytes() / cell.bytes());
        if !self.load_shared(to, stream, cell, room) {
            self.load_one_apart(to, stream, cell, apart, room);
        }
        if let Some(wider) = wider {
            let kept = kept_lanes(8 * wider.bytes() as u32, 8 * cell.bytes() as u32);
            let kept = self.constant(kept.expect("such numbers are cut out by a constant"));
            let to = self.of(to, wider);
            self.three(self.code_of(Kind::Arith(Arith::And), wider), to, to, kept);
        }
    }

    /// Loads cells of a stream that shares no window, into lanes with so much room.
    fn load_one_apart(&mut self, to: Reg, stream: usize, cell: Number, apart: Apart, room: i64) {
        let first = self.first_cell(stream);
        match apart {
            Apart::Window(window) => self.load_window(to, stream, first, cell, window.wider(room)),
            Apart::Gathered => {
                let all = self.sized(to, WINDOW_BYTES);
                self.three(Code::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64, all, all, Source::Register(all));
                self.load_distances(stream);
                self.mask_lanes();
                self.gather(to, self.between(1), cell, first.displacement);
            }
            Apart::OneByOne if self.is_turned(stream, cell) => self.load_turned(to, first, cell),
            Apart::OneByOne => self.load_one_by_one(to, first, cell, self.bytes_apart(stream)),
        }
    }

    /// Stores lanes to the cells of a stream.
    pub(super) fn store_apart(&mut self, stream: usize, from: Reg, cell: Number, apart: Apart) {
        let first = self.first_cell(stream);
        match apart {
            Apart::Window(window) => self.store_window(first, from, cell, window),
            Apart::Gathered => {
                self.load_distances(stream);
                self.mask_lanes();
                self.scatter(first, from, cell);
            }
            Apart::OneByOne if self.is_turned(stream, cell) => self.store_turned(first, from, cell),
            Apart::OneByOne => self.store_one_by_one(first, from, cell, self.bytes_apart(stream)),
        }
    }

    /// The cell of the block's first lane, by the address of that of a copy before it in the first scratch register.
    fn first_cell(&mut self, stream: usize) -> MemoryOperand {
        let StreamAddress { pointer, offset, .. } = self.body.addresses[stream];
        let (address, apart) = (SCRATCH[0], self.bytes_apart(stream));
        let factor = i32::try_from(apart).expect("streams that go farther are not eligible");
        self.put(Instruction::with3(Code::Imul_r64_rm64_imm32, address, ITERATION, factor));
        match self.pointers[pointer] {
            Some(register) => self.put(Instruction::with2(Code::Add_r64_rm64, address, register)),
            None => self.put(Instruction::with2(Code::Add_r64_rm64, address, memory(TABLE, 8 * pointer as i64))),
        }
        memory(address, i64::from(offset) + self.copy * self.body.shape.lanes() * apart)
    }

    /// Bytes from one of a stream's cells to the next.
    fn bytes_apart(&self, stream: usize) -> i64 {
        let StreamAddress { stride, element, .. } = self.body.addresses[stream];
        stride.expect("others are not eligible") * element.bytes() as i64
    }

    /// Picks the cells of a stream out of a window that it shares, which is loaded where the block has not done so; false if
    /// it shares none, or the block has no registers for that.
    fn load_shared(&mut self, to: Reg, stream: usize, cell: Number, room: i64) -> bool {
        let windows = &self.body.shared_windows;
        let found = (0..).zip(windows).find_map(|(at, shared)| Some((at, shared, shared.of(stream)?)));
        let (Some((at, shared, window)), Some(loaded)) = (found, self.loaded_windows) else { return false };
        let window = window.wider(room);
        let codes = WindowCodes::of(cell);
        let vectors: Vec<Register> = (0..window.vectors() as usize)
            .map(|vector| self.sized(self.between(INTEGER_SCRATCH + shared.register + vector), WINDOW_BYTES))
            .collect();
        if loaded >> at & 1 == 0 {
            let first = self.first_cell(shared.first);
            for (vector, register) in (0..).zip(&vectors) {
                let place = memory(first.base, first.displacement + window.begins(vector));
                self.load_masked(codes.load, *register, place, false);
                self.call_ahead(shared.first, place);
            }
            self.loaded_windows = Some(loaded | 1 << at);
        }
        let [to, numbers] = [to, self.between(1)].map(|reg| self.sized(reg, WINDOW_BYTES));
        if let [only] = vectors[..] {
            self.load_vector(to, &window.picked(0));
            self.three(codes.pick, to, to, Source::Register(only));
            return true;
        }
        self.load_vector(to, &window.picked(1));
        self.three(codes.pick_of_two, to, vectors[0], Source::Register(vectors[1]));
        for (vector, register) in (2..).zip(&vectors[2..]) {
            self.load_vector(numbers, &window.picked(vector));
            self.three(codes.pick_besides, to, numbers, Source::Register(*register));
        }
        true
    }

    fn load_window(&mut self, to: Reg, stream: usize, first: MemoryOperand, cell: Number, window: Window) {
        let codes = WindowCodes::of(cell);
        let [to, beside, numbers] = [to, self.between(0), self.between(1)].map(|reg| self.sized(reg, WINDOW_BYTES));
        let last = window.vectors() - 1;
        for vector in 0..=last {
            let is_masked = window.reaches_too_far(vector) || self.extent.is_masked();
            if is_masked {
                self.mask_cells(window, vector);
            }
            let place = memory(first.base, first.displacement + window.begins(vector));
            self.call_ahead(stream, place);
            match vector {
                0 if last == 0 && !is_masked => {
                    self.load_vector(to, &window.picked(0));
                    self.three(codes.pick, to, to, Source::Memory(place));
                }
                0 if last == 0 => {
                    self.load_masked(codes.load, beside, place, is_masked);
                    self.load_vector(to, &window.picked(0));
                    self.three(codes.pick, to, to, Source::Register(beside));
                }
                0 => self.load_masked(codes.load, beside, place, is_masked),
                1 => {
                    self.load_masked(codes.load, numbers, place, is_masked);
                    self.load_vector(to, &window.picked(1));
                    self.three(codes.pick_of_two, to, beside, Source::Register(numbers));
                }
                _ => {
                    self.load_masked(codes.load, beside, place, is_masked);
                    self.load_vector(numbers, &window.picked(vector));
                    self.three(codes.pick_besides, to, numbers, Source::Register(beside));
                }
            }
        }
    }

    fn store_window(&mut self, first: MemoryOperand, from: Reg, cell: Number, window: Window) {
        let codes = WindowCodes::of(cell);
        let [from, spread] = [from, self.between(1)].map(|reg| self.sized(reg, WINDOW_BYTES));
        for vector in 0..window.vectors() {
            self.load_vector(spread, &window.spread(vector));
            self.three(codes.pick, spread, spread, Source::Register(from));
            let place = memory(first.base, first.displacement + window.begins(vector));
            let store = Instruction::with2(codes.store, place, spread);
            let mut store = store.expect("a store takes memory and a register");
            if self.extent.is_masked() || window.has_others(vector) {
                self.mask_cells(window, vector);
                store.set_op_mask(FREE_MASK);
            }
            self.put(Ok(store));
        }
    }

    /// Stores the next instructions together, if they are those stores and the block is whole; says how many they are.
    pub(super) fn stored_together(&mut self, next: &[(&Inst, usize)]) -> usize {
        let Some(together) =
            self.body.together.as_ref().filter(|_| matches!(self.extent, Extent::Whole | Extent::Aligned))
        else {
            return 0;
        };
        let from = |(at, store): (usize, &usize)| match next.get(at) {
            Some((Inst::Store { from, .. }, operation)) if operation == store => Some(*from),
            _ => None,
        };
        let Some(registers) = together.stores.iter().enumerate().map(from).collect::<Option<Vec<Reg>>>() else {
            return 0;
        };
        let cell = Number::of_cells(self.body.addresses[together.first].element);
        let name = self.names.get(together.stores[0]).filter(|name| !name.is_empty());
        self.assembler.note(name.map(|name| ("together: ", name.as_str())));
        let (codes, first) = (WindowCodes::of(cell), self.first_cell(together.first));
        let hint = self.body.hints[together.stores[0]];
        let store = match (self.extent, hint) {
            (Extent::Aligned, StoreHint::NonTemporal) => Code::EVEX_Vmovntdq_m512_zmm,
            _ => codes.store,
        };
        let [all, numbers] = [self.between(0), self.between(1)].map(|reg| self.sized(reg, WINDOW_BYTES));
        let half = WINDOW_BYTES / 2;
        let registers: Vec<Register> = registers.iter().map(|reg| self.sized(*reg, WINDOW_BYTES)).collect();
        for vector in 0..together.vectors() {
            self.load_vector(all, &together.picked(vector, 0));
            self.three(codes.pick_of_two, all, registers[0], Source::Register(registers[1]));
            for (turn, register) in (1..).zip(&registers[2..]) {
                self.load_vector(numbers, &together.picked(vector, turn));
                self.three(codes.pick_besides, all, numbers, Source::Register(*register));
            }
            let place = memory(first.base, first.displacement + vector * WINDOW_BYTES);
            self.put(if together.is_half(vector) {
                Instruction::with2(Code::EVEX_Vmovdqu64_ymmm256_k1z_ymm, place, self.sized(self.between(0), half))
            } else {
                Instruction::with2(store, place, all)
            });
        }
        together.stores.len()
    }

    /// Lets the free mask have the bits of a stream's cells in one vector of a window.
    fn mask_cells(&mut self, window: Window, vector: i64) {
        let cells = self.body.constant(window.cells_of(vector));
        let place = self.assembler.constant_operand(false);
        if !self.extent.is_masked() {
            let load = Instruction::with2(Code::VEX_Kmovq_kr_km64, FREE_MASK, place);
            return self.put_with_constant(&load.expect("it takes a mask and memory"), cells);
        }
        self.put(Instruction::with2(Code::VEX_Kmovq_r64_kr, BITS, REMAINDER));
        if window.is_backwards() {
            self.put(Instruction::with2(Code::Popcnt_r64_rm64, BITS, BITS));
            self.put(Instruction::with1(Code::Neg_rm64, BITS));
            self.put(Instruction::with2(Code::Add_rm64_imm8, BITS, window.lanes() as i32));
            let first = Instruction::with3(Code::VEX_Bzhi_r64_rm64_r64, BITS, place, BITS);
            self.put_with_constant(&first.expect("it takes registers and memory"), cells);
            let place = self.assembler.constant_operand(false);
            let others = Instruction::with2(Code::Xor_r64_rm64, BITS, place);
            self.put_with_constant(&others.expect("it takes a register and memory"), cells);
            return self.put(Instruction::with2(Code::VEX_Kmovq_kr_r64, FREE_MASK, BITS));
        }
        if window.lanes_before(vector) > 0 {
            self.put(Instruction::with2(Code::Shr_rm64_imm8, BITS, window.lanes_before(vector) as u32));
        }
        let place = self.assembler.constant_operand(false);
        let deal = Instruction::with3(Code::VEX_Pdep_r64_r64_rm64, BITS, BITS, place);
        self.put_with_constant(&deal.expect("it takes registers and memory"), cells);
        self.put(Instruction::with2(Code::VEX_Kmovq_kr_r64, FREE_MASK, BITS));
    }

    /// Lets the free mask have the lanes of the block.
    fn mask_lanes(&mut self) {
        match self.extent.is_masked() {
            true => self.put(Instruction::with2(Code::VEX_Kmovq_kr_km64, FREE_MASK, REMAINDER)),
            false => self.put(Instruction::with3(Code::VEX_Kxnorq_kr_kr_kr, FREE_MASK, FREE_MASK, FREE_MASK)),
        }
    }

    /// Loads a vector of a window, of which the cells behind the stream's last one are left out.
    fn load_masked(&mut self, code: Code, to: Register, from: MemoryOperand, is_masked: bool) {
        let mut load = Instruction::with2(code, to, from).expect("a load takes a register and memory");
        if is_masked {
            load.set_op_mask(FREE_MASK);
            load.set_zeroing_masking(true);
        }
        self.put(Ok(load));
    }

    /// Loads one of the vectors of numbers that are kept beside the constants.
    fn load_vector(&mut self, to: Register, vector: &[u8]) {
        let code = match vector.len() {
            16 => Code::EVEX_Vmovdqu64_xmm_k1z_xmmm128,
            32 => Code::EVEX_Vmovdqu64_ymm_k1z_ymmm256,
            _ => Code::EVEX_Vmovdqu64_zmm_k1z_zmmm512,
        };
        let behind = self.body.vector_bytes_before(vector);
        let load = Instruction::with2(code, to, self.assembler.constant_operand(false));
        self.assembler.put_with_vector(&load.expect("a load takes a register and memory"), behind, || {
            "numbers of cells".to_owned()
        });
    }

    /// Loads how far each lane's cell is from the first one.
    fn load_distances(&mut self, stream: usize) {
        let vector = distances(&self.body.addresses[stream], self.body.shape.lanes());
        let to = self.sized(self.between(1), self.body.shape.cell_bytes(DISTANCE.bytes()));
        self.load_vector(to, &vector);
    }

    /// Stores the lanes of the free mask to cells of 32 or 64 bits, by their distances.
    fn scatter(&mut self, first: MemoryOperand, from: Reg, cell: Number) {
        let shape = self.body.shape;
        let bytes = shape.cell_bytes(cell.bytes());
        let distances = self.sized(self.between(1), shape.cell_bytes(DISTANCE.bytes()));
        let code = match (cell.bytes() == DISTANCE.bytes(), bytes) {
            (true, 16) => Code::EVEX_Vpscatterdd_vm32x_k1_xmm,
            (true, 32) => Code::EVEX_Vpscatterdd_vm32y_k1_ymm,
            (true, _) => Code::EVEX_Vpscatterdd_vm32z_k1_zmm,
            (false, 32) => Code::EVEX_Vpscatterdq_vm32x_k1_ymm,
            (false, _) => Code::EVEX_Vpscatterdq_vm32y_k1_zmm,
        };
        let places = apart_from(first, distances);
        let scatter = Instruction::with2(code, places, self.sized(from, bytes));
        let mut scatter = scatter.expect("a scatter takes places and a register");
        scatter.set_op_mask(FREE_MASK);
        self.put(Ok(scatter));
    }

    /// Whether the cells of the block are a vector backwards, which two shuffles turn around.
    fn is_turned(&self, stream: usize, cell: Number) -> bool {
        let is_vector = matches!(cell.bytes() * self.lanes_of_block(), PART_BYTES | TWO_PARTS);
        self.bytes_apart(stream) == -cell.bytes() && cell.bytes() >= 4 && is_vector
    }

    fn load_turned(&mut self, to: Reg, first: MemoryOperand, cell: Number) {
        let bytes = cell.bytes() * self.lanes_of_block();
        let to = self.sized(to, bytes);
        self.turn(to, Source::Memory(memory(first.base, first.displacement + cell.bytes() - bytes)), cell, bytes);
    }

    fn store_turned(&mut self, first: MemoryOperand, from: Reg, cell: Number) {
        let bytes = cell.bytes() * self.lanes_of_block();
        let (from, turned) = (self.sized(from, bytes), self.sized(self.between(1), bytes));
        self.turn(turned, Source::Register(from), cell, bytes);
        let code = if bytes == PART_BYTES { Code::VEX_Vmovdqu_xmmm128_xmm } else { Code::VEX_Vmovdqu_ymmm256_ymm };
        let place = memory(first.base, first.displacement + cell.bytes() - bytes);
        self.put(Instruction::with2(code, place, turned));
    }

    /// Turns the cells of a vector around: those of each half, then the halves.
    fn turn(&mut self, to: Register, from: Source, cell: Number, bytes: i64) {
        const BACKWARDS: i32 = 0b00_01_10_11;
        const HALVES: i32 = 0b01_00_11_10;
        match (cell.bytes(), bytes) {
            (8, PART_BYTES) => self.shuffled(Code::VEX_Vpshufd_xmm_xmmm128_imm8, to, from, HALVES),
            (8, _) => self.shuffled(Code::VEX_Vpermq_ymm_ymmm256_imm8, to, from, BACKWARDS),
            (_, PART_BYTES) => self.shuffled(Code::VEX_Vpshufd_xmm_xmmm128_imm8, to, from, BACKWARDS),
            _ => {
                self.shuffled(Code::VEX_Vpshufd_ymm_ymmm256_imm8, to, from, BACKWARDS);
                self.shuffled(Code::VEX_Vpermq_ymm_ymmm256_imm8, to, Source::Register(to), HALVES);
            }
        }
    }

    fn shuffled(&mut self, code: Code, to: Register, from: Source, order: i32) {
        self.put(match from {
            Source::Register(from) => Instruction::with3(code, to, from, order),
            Source::Memory(from) | Source::Cells(from) | Source::Constant(from, _) => {
                Instruction::with3(code, to, from, order)
            }
        });
    }

    fn load_one_by_one(&mut self, to: Reg, first: MemoryOperand, cell: Number, apart: i64) {
        let (lanes, in_part) = (self.lanes_of_block(), PART_BYTES / cell.bytes());
        for lane in 0..lanes {
            let part = self.sized(if lane < in_part { to } else { self.between(1) }, PART_BYTES);
            let (place, at) = (memory(first.base, first.displacement + lane * apart), (lane % in_part) as u32);
            if at == 0 && cell.bytes() < 4 {
                self.three(Code::VEX_Vpxor_xmm_xmm_xmmm128, part, part, Source::Register(part));
            }
            let insert = match (cell.bytes(), at) {
                (8, 0) => Instruction::with2(Code::VEX_Vmovq_xmm_xmmm64, part, place),
                (4, 0) => Instruction::with2(Code::VEX_Vmovd_xmm_rm32, part, place),
                (8, _) => Instruction::with4(Code::VEX_Vpinsrq_xmm_xmm_rm64_imm8, part, part, place, at),
                (4, _) => Instruction::with4(Code::VEX_Vpinsrd_xmm_xmm_rm32_imm8, part, part, place, at),
                (2, _) => Instruction::with4(Code::VEX_Vpinsrw_xmm_xmm_r32m16_imm8, part, part, place, at),
                _ => Instruction::with4(Code::VEX_Vpinsrb_xmm_xmm_r32m8_imm8, part, part, place, at),
            };
            self.put(insert);
        }
        if lanes > in_part {
            let (all, upper) = (self.sized(to, 2 * PART_BYTES), self.sized(self.between(1), PART_BYTES));
            self.put(Instruction::with4(Code::VEX_Vinserti128_ymm_ymm_xmmm128_imm8, all, all, upper, 1));
        }
    }

    fn store_one_by_one(&mut self, first: MemoryOperand, from: Reg, cell: Number, apart: i64) {
        let (lanes, in_part) = (self.lanes_of_block(), PART_BYTES / cell.bytes());
        let mut part = self.sized(from, PART_BYTES);
        for lane in 0..lanes {
            if lane == in_part {
                let all = self.sized(from, 2 * PART_BYTES);
                part = self.sized(self.between(1), PART_BYTES);
                self.put(Instruction::with3(Code::VEX_Vextracti128_xmmm128_ymm_imm8, part, all, 1));
            }
            let (place, at) = (memory(first.base, first.displacement + lane * apart), (lane % in_part) as u32);
            let code = match cell.bytes() {
                8 => Code::VEX_Vpextrq_rm64_xmm_imm8,
                4 => Code::VEX_Vpextrd_rm32_xmm_imm8,
                2 => Code::VEX_Vpextrw_r32m16_xmm_imm8,
                _ => Code::VEX_Vpextrb_r32m8_xmm_imm8,
            };
            self.put(Instruction::with3(code, place, part, at));
        }
    }

    /// Lanes that the block has.
    fn lanes_of_block(&self) -> i64 {
        if let Extent::Part(lanes) = self.extent { lanes } else { self.body.shape.lanes() }
    }
}

/// Places by their distances from a cell.
pub(super) fn apart_from(first: MemoryOperand, distances: Register) -> MemoryOperand {
    MemoryOperand::new(first.base, distances, 1, first.displacement, 1, false, Register::None)
}

/// Instructions on the vectors of a window, by the size of a cell.
struct WindowCodes {
    load: Code,
    store: Code,
    /// By numbers of cells in a register, out of another one.
    pick: Code,
    /// By numbers of cells in the result's register, out of two others.
    pick_of_two: Code,
    /// By numbers in a register, out of the result's and another one.
    pick_besides: Code,
}

impl WindowCodes {
    #[rustfmt::skip]
    fn of(cell: Number) -> WindowCodes {
        use iced_x86::Code::*;
        let [load, store, pick, pick_of_two, pick_besides] = match cell.bytes() {
            1 => [EVEX_Vmovdqu8_zmm_k1z_zmmm512, EVEX_Vmovdqu8_zmmm512_k1z_zmm, EVEX_Vpermb_zmm_k1z_zmm_zmmm512,
                EVEX_Vpermi2b_zmm_k1z_zmm_zmmm512, EVEX_Vpermt2b_zmm_k1z_zmm_zmmm512],
            2 => [EVEX_Vmovdqu16_zmm_k1z_zmmm512, EVEX_Vmovdqu16_zmmm512_k1z_zmm, EVEX_Vpermw_zmm_k1z_zmm_zmmm512,
                EVEX_Vpermi2w_zmm_k1z_zmm_zmmm512, EVEX_Vpermt2w_zmm_k1z_zmm_zmmm512],
            4 => [EVEX_Vmovdqu32_zmm_k1z_zmmm512, EVEX_Vmovdqu32_zmmm512_k1z_zmm, EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32,
                EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32, EVEX_Vpermt2d_zmm_k1z_zmm_zmmm512b32],
            _ => [EVEX_Vmovdqu64_zmm_k1z_zmmm512, EVEX_Vmovdqu64_zmmm512_k1z_zmm, EVEX_Vpermq_zmm_k1z_zmm_zmmm512b64,
                EVEX_Vpermi2q_zmm_k1z_zmm_zmmm512b64, EVEX_Vpermt2q_zmm_k1z_zmm_zmmm512b64],
        };
        WindowCodes { load, store, pick, pick_of_two, pick_besides }
    }
}

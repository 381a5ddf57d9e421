//! Lookups: cells of tables at places that lanes say.
//!
//! In: a lookup of a block, with registers of its values.   Out: code.
//!
//! The values of all lanes, also of those behind a remainder, are brought into the ranges of their axes, so that
//! whatever they hold leads to cells of the table. Distances are sums modulo 2^32, of which the strip knows that they
//! are below 2^31.

use super::avx::Avx;
use super::encode::{Encoding, FREE_MASK, SCRATCH, Source, TABLE, memory};
use super::kinds::Kind;
use super::mixed_cells::WORD;
use super::strided_cells::apart_from;
use crate::vector::{Arith, DISTANCE, LookupEntry, Memory, Number, Operand, Reg, WORD_BITS, WORD_STARTS, bounds};
use crease_program::{Element, MOST_AXES, Op, ShiftOp, TableAxis, ValueType};
use iced_x86::{Code, Instruction, MemoryOperand, Register};

impl Encoding<'_, '_> {
    /// Gathers the cells of a table in `to`, which is none of the registers of `values`.
    pub(super) fn look_up(&mut self, to: Reg, values: [Option<Reg>; MOST_AXES]) {
        let body = self.body;
        let Op::Lookup { stream, values: ids, .. } = body.strip.ops[self.operation] else {
            unreachable!("chosen for lookups")
        };
        let (number, stream, table) = (self.number, stream.index(), &body.strip.streams[stream.index()].table);
        let pitches = body.tables[stream].expect("others are not eligible");
        let values = values.into_iter().flatten().zip(ids.into_iter().flatten());
        for (at, ((value, id), axis)) in values.zip(table).enumerate() {
            self.number = body.numbers[body.operand(id)];
            let inside = self.inside(value, axis);
            self.add_distance(to, inside, at, pitches[at]);
        }
        self.number = number;
        let element = body.addresses[stream].element;
        let cell = if element == Element::F16 { WORD } else { Number::of_cells(element) };
        let is_narrow = cell.bytes() < LookupEntry::WORD as i64;
        if is_narrow || table.iter().any(|axis| axis.first != 0) {
            let all = self.of(to, DISTANCE);
            self.with_entry(Arith::Add, all, all, LookupEntry::ZERO);
        }
        self.two(Code::Mov_r64_rm64, SCRATCH[0], Source::Memory(self.entry(LookupEntry::CORNER)));
        if is_narrow {
            self.gather_narrow(to, cell);
        } else {
            self.all_lanes();
            self.gather(self.between(2), to, cell, 0);
            self.copy(to, self.between(2), cell);
        }
        self.convert_cells(to, element, cell);
    }

    /// The values of an axis, smaller or greater ones brought to its ends, as 32-bit integers.
    fn inside(&mut self, value: Reg, axis: &TableAxis) -> Reg {
        let (number, mut inside, to) = (self.number, value, self.between(1));
        let Number::Integer(ty) = number else { unreachable!("values for axes are integers") };
        let [first, last] = bounds(axis, number).expect("others are not eligible");
        for (op, bound) in [(Arith::Max, first), (Arith::Min, last)] {
            let Some(bound) = bound else { continue };
            let bound = Operand::Memory(Memory::Constant(self.body.constant(number.repeated(bound))));
            self.integer_arith(op, ty, to, inside, bound);
            inside = to;
        }
        if number.bytes() != DISTANCE.bytes() {
            self.resize(to, inside, ty, 32);
            inside = to;
        }
        inside
    }

    /// Adds to the distances how far values lead along an axis; those along the first one are all.
    fn add_distance(&mut self, to: Reg, value: Reg, axis: usize, pitch: Option<i64>) {
        let (sum, value) = (self.of(to, DISTANCE), self.of(value, DISTANCE));
        let along = if axis == 0 { sum } else { self.of(self.between(1), DISTANCE) };
        match pitch {
            Some(1) if axis == 0 => self.two(self.code_of(Kind::Move, DISTANCE), along, Source::Register(value)),
            Some(1) => {
                let add = self.code_of(Kind::Arith(Arith::Add), DISTANCE);
                return self.three(add, sum, sum, Source::Register(value));
            }
            Some(pitch) if pitch > 0 && pitch.count_ones() == 1 => {
                let shift = self.code_of(Kind::ShiftBits(ShiftOp::Left), DISTANCE);
                self.put(Instruction::with3(shift, along, value, pitch.trailing_zeros()));
            }
            _ => self.with_entry(Arith::Mul, along, value, LookupEntry::PITCHES + axis),
        }
        if axis > 0 {
            self.three(self.code_of(Kind::Arith(Arith::Add), DISTANCE), sum, sum, Source::Register(along));
        }
    }

    /// `to = a op entry`, of 32-bit integers, for a number that the table has for this lookup.
    fn with_entry(&mut self, op: Arith, to: Register, a: Register, at: usize) {
        let (code, entry) = (self.code_of(Kind::Arith(op), DISTANCE), self.entry(at));
        if self.isa == Avx::Avx512 {
            return self.three(code, to, a, Source::Memory(MemoryOperand { is_broadcast: true, ..entry }));
        }
        let all = self.of(self.between(2), DISTANCE);
        self.two(self.code_of(Kind::Broadcast, DISTANCE), all, Source::Memory(entry));
        self.three(code, to, a, Source::Register(all));
    }

    /// A number that the table has for this lookup.
    fn entry(&self, at: usize) -> MemoryOperand {
        let lookup = self.lookups.iter().position(|known| *known == self.operation);
        let lookup = lookup.expect("every lookup has an entry");
        let entry = self.pointers.len() + self.indices.len() + LookupEntry::NUMBERS * lookup + at;
        memory(TABLE, 8 * entry as i64)
    }

    /// Cells narrower than what can be gathered: each is shifted down in its word, and the lowest bits are kept.
    fn gather_narrow(&mut self, to: Reg, cell: Number) {
        let (starts, words) = (self.between(1), self.between(2));
        let [distances, starts_of, words_of] = [to, starts, words].map(|register| self.of(register, DISTANCE));
        self.with(Arith::And, DISTANCE, starts_of, distances, WORD_STARTS);
        self.all_lanes();
        self.gather(words, starts, DISTANCE, 0);
        let shift = self.code_of(Kind::ShiftBits(ShiftOp::Left), DISTANCE);
        self.put(Instruction::with3(shift, distances, distances, 3));
        self.with(Arith::And, DISTANCE, distances, distances, WORD_BITS);
        let code = match self.body.shape.bytes_of(DISTANCE) {
            32 if self.isa == Avx::Avx2 => Code::VEX_Vpsrlvd_ymm_ymm_ymmm256,
            32 => Code::EVEX_Vpsrlvd_ymm_k1z_ymm_ymmm256b32,
            _ => Code::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32,
        };
        self.three(code, distances, words_of, Source::Register(distances));
        self.resize(to, to, ValueType::U32, 8 * cell.bytes() as u32);
    }

    /// Lets the free mask have all lanes.
    fn all_lanes(&mut self) {
        if self.isa == Avx::Avx512 {
            self.put(Instruction::with3(Code::VEX_Kxnorw_kr_kr_kr, FREE_MASK, FREE_MASK, FREE_MASK));
        }
    }

    /// Cells of 32 or 64 bits at distances from the first scratch register and a displacement: with AVX-512 those of the
    /// free mask. Lanes above those of the strip are not read.
    pub(super) fn gather(&mut self, to: Reg, distances: Reg, cell: Number, displacement: i64) {
        let shape = self.body.shape;
        let [to, distances] = [(to, cell), (distances, DISTANCE)]
            .map(|(register, number)| self.sized(register, shape.cell_bytes(number.bytes())));
        let places = apart_from(memory(SCRATCH[0], displacement), distances);
        let is_word = cell.bytes() == DISTANCE.bytes();
        if self.isa == Avx::Avx2 {
            let code = match (is_word, shape.cell_bytes(cell.bytes())) {
                (true, 16) => Code::VEX_Vpgatherdd_xmm_vm32x_xmm,
                (true, _) => Code::VEX_Vpgatherdd_ymm_vm32y_ymm,
                (false, _) => Code::VEX_Vpgatherdq_ymm_vm32x_ymm,
            };
            // All lanes are to be read.
            let all = self.sized(self.between(0), shape.cell_bytes(cell.bytes()));
            let ones =
                if to.is_xmm() { Code::VEX_Vpcmpeqd_xmm_xmm_xmmm128 } else { Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256 };
            self.three(ones, all, all, Source::Register(all));
            return self.put(Instruction::with3(code, to, places, all));
        }
        let code = match (is_word, shape.cell_bytes(cell.bytes())) {
            (true, 16) => Code::EVEX_Vpgatherdd_xmm_k1_vm32x,
            (true, 32) => Code::EVEX_Vpgatherdd_ymm_k1_vm32y,
            (true, _) => Code::EVEX_Vpgatherdd_zmm_k1_vm32z,
            (false, 32) => Code::EVEX_Vpgatherdq_ymm_k1_vm32x,
            (false, _) => Code::EVEX_Vpgatherdq_zmm_k1_vm32y,
        };
        let gather = Instruction::with2(code, to, places);
        let mut gather = gather.expect("a gather takes a register and places");
        gather.set_op_mask(FREE_MASK);
        self.put(Ok(gather));
    }
}

//! Cells of integers: loads that widen, stores that keep the lowest bits, and parts of vectors.
//!
//! In: a load or a store of a block.   Out: code.
//!
//! AVX-512 masks the lanes of a remainder. With AVX2 a remainder runs in parts of a vector of 128 bits: all of it, half,
//! and so on down to one integer. Memory beside them is not touched.

use super::avx::Avx;
use super::encode::{Encoding, Source};
use super::integer_codes::{integer_code, narrowing_code, widening_code};
use super::kinds::Kind;
use crate::vector::{Arith, Extent, LOW_BYTES, LOW_WORDS, LOWEST_BYTES, Memory, Reg};
use crease_program::{StoreHint, ValueType};
use iced_x86::{Code, Instruction, MemoryOperand, Register};

/// Two quarters of a register, the first and the third, at its start (`vpermq`); of four 32-bit integers as well
/// (`vpshufd`).
const FIRST_AND_THIRD: u32 = 0x08;

impl Encoding<'_, '_> {
    /// Loads the cells of a stream.
    pub(super) fn load_integers(&mut self, ty: ValueType, to: Reg, stream: usize) {
        let (cell, form) = (self.body.addresses[stream].element.value_type(), self.form());
        let is_narrow = cell.bits() < ty.bits();
        let widen = widening_code(cell, ty.bits(), form);
        // The first cells, as many as there are lanes.
        let first = self.sized(to, (self.body.shape.bytes * i64::from(cell.bits()) / i64::from(ty.bits())).max(16));
        let all = self.vector(to);
        if self.body.addresses[stream].stride == Some(0) {
            let place = self.cell_operand(stream);
            self.two(integer_code(Kind::Broadcast, cell, form), all, Source::Memory(place));
        } else if let Extent::Part(lanes) = self.extent {
            let place = self.cell_operand(stream);
            self.load_part(all, place, lanes * i64::from(cell.bits() / 8));
        } else {
            let cells = self.memory_operand(Memory::Cell(stream));
            return self.two(if is_narrow { widen } else { self.code(Kind::Load) }, all, cells);
        }
        if is_narrow {
            self.two(widen, all, Source::Register(if self.is_part() { all } else { first }));
        }
    }

    /// Stores to the cells of a stream.
    pub(super) fn store_integers(&mut self, ty: ValueType, from: Reg, stream: usize, hint: StoreHint) {
        let cell_bits = self.body.addresses[stream].element.value_type().bits();
        let (place, mut from) = (self.cell_operand(stream), self.vector(from));
        let is_narrow = cell_bits < ty.bits();
        let code = match (is_narrow, self.isa) {
            (false, _) if self.extent == Extent::Aligned && hint == StoreHint::NonTemporal => {
                self.code(Kind::StoreNonTemporal)
            }
            (false, _) => self.code(Kind::Store),
            (true, Avx::Avx512) => narrowing_code(ty.bits(), cell_bits, self.form()),
            (true, Avx::Avx2) => {
                from = self.narrowed(ty.bits(), cell_bits, from);
                let bytes = self.body.shape.lanes() * i64::from(cell_bits / 8);
                if bytes == 16 { Code::VEX_Vmovdqu_xmmm128_xmm } else { Code::VEX_Vmovq_xmmm64_xmm }
            }
        };
        if let Extent::Part(lanes) = self.extent {
            return self.store_part(place, from, lanes * i64::from(cell_bits / 8));
        }
        let instruction = Instruction::with2(code, place, from);
        let mut instruction = instruction.expect("a store takes memory and a register");
        if self.extent == Extent::Masked {
            instruction.set_op_mask(super::encode::REMAINDER);
        }
        self.assembler.put(&instruction);
    }

    /// The lowest bits of integers, next to each other at the start of a register (AVX2).
    fn narrowed(&mut self, bits: u32, cell_bits: u32, from: Register) -> Register {
        let to = self.scratch(0);
        let is_part = self.is_part();
        let [words, bytes] = match is_part {
            true => [Code::VEX_Vpackusdw_xmm_xmm_xmmm128, Code::VEX_Vpackuswb_xmm_xmm_xmmm128],
            false => [Code::VEX_Vpackusdw_ymm_ymm_ymmm256, Code::VEX_Vpackuswb_ymm_ymm_ymmm256],
        };
        // What is left fits the narrower type, so that packing changes nothing.
        let kept = match (bits, cell_bits) {
            (16, _) => LOW_BYTES,
            (_, 16) => LOW_WORDS,
            _ => LOWEST_BYTES,
        };
        self.with_bits(Arith::And, to, from, kept);
        if bits == 32 {
            self.three(words, to, to, Source::Register(to));
        }
        if cell_bits == 8 {
            self.three(bytes, to, to, Source::Register(to));
        }
        if is_part {
            return to;
        }
        // Each half of the register was packed by itself.
        self.put(Instruction::with3(Code::VEX_Vpermq_ymm_ymmm256_imm8, to, to, FIRST_AND_THIRD));
        let first = Register::XMM0 + (to as u32 - Register::YMM0 as u32);
        if bits / cell_bits == 4 {
            self.put(Instruction::with3(Code::VEX_Vpshufd_xmm_xmmm128_imm8, first, first, FIRST_AND_THIRD));
        }
        first
    }

    /// Reads this many bytes, and nothing else.
    pub(super) fn load_part(&mut self, to: Register, from: MemoryOperand, bytes: i64) {
        let code = match bytes {
            16 => Code::VEX_Vmovdqu_xmm_xmmm128,
            8 => Code::VEX_Vmovq_xmm_xmmm64,
            4 => Code::VEX_Vmovd_xmm_rm32,
            _ => {
                let code = if bytes == 2 {
                    Code::VEX_Vpinsrw_xmm_xmm_r32m16_imm8
                } else {
                    Code::VEX_Vpinsrb_xmm_xmm_r32m8_imm8
                };
                self.three(Code::VEX_Vpxor_xmm_xmm_xmmm128, to, to, Source::Register(to));
                return self.put(Instruction::with4(code, to, to, from, 0));
            }
        };
        self.two(code, to, Source::Memory(from));
    }

    /// Writes this many bytes, and nothing else.
    pub(super) fn store_part(&mut self, to: MemoryOperand, from: Register, bytes: i64) {
        let instruction = match bytes {
            16 => Instruction::with2(Code::VEX_Vmovdqu_xmmm128_xmm, to, from),
            8 => Instruction::with2(Code::VEX_Vmovq_xmmm64_xmm, to, from),
            4 => Instruction::with2(Code::VEX_Vmovd_rm32_xmm, to, from),
            2 => Instruction::with3(Code::VEX_Vpextrw_r32m16_xmm_imm8, to, from, 0),
            _ => Instruction::with3(Code::VEX_Vpextrb_r32m8_xmm_imm8, to, from, 0),
        };
        self.put(instruction);
    }
}

//! Cells of integers: loads that widen, stores that keep the lowest bits, and parts of vectors.
//!
//! In: a load or a store of a block.   Out: code.
//!
//! AVX-512 masks the lanes of a remainder. With AVX2 a remainder runs in parts of a vector of 128 bits: all of it,
//! half, and so on down to one integer. Memory beside them is not touched.

use super::avx::Avx;
use super::encode::{Encoding, Source};
use super::integer_codes::{integer_code, narrowing_code, widening_code};
use super::kinds::Kind;
use crate::vector::{Extent, Memory, Reg};
use crease_program::{StoreHint, ValueType};
use iced_x86::{Code, Instruction, MemoryOperand, Register};

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
        let (place, narrow) = (self.cell_operand(stream), self.between(0));
        let mut all = self.vector(from);
        let is_narrow = cell_bits < ty.bits();
        let code = match (is_narrow, self.isa) {
            (false, _) if self.extent == Extent::Aligned && hint == StoreHint::NonTemporal => {
                self.code(Kind::StoreNonTemporal)
            }
            (false, _) => self.code(Kind::Store),
            (true, Avx::Avx512) => narrowing_code(ty.bits(), cell_bits, self.form()),
            (true, Avx::Avx2) => {
                self.pack(narrow, from, ty.bits(), cell_bits, true);
                all = self.sized(narrow, 16);
                let bytes = self.body.shape.lanes() * i64::from(cell_bits / 8);
                if bytes == 16 { Code::VEX_Vmovdqu_xmmm128_xmm } else { Code::VEX_Vmovq_xmmm64_xmm }
            }
        };
        if let Extent::Part(lanes) = self.extent {
            return self.store_part(place, all, lanes * i64::from(cell_bits / 8));
        }
        let instruction = Instruction::with2(code, place, all);
        let mut instruction = instruction.expect("a store takes memory and a register");
        if self.extent == Extent::Masked {
            instruction.set_op_mask(super::encode::REMAINDER);
        }
        self.assembler.put(&instruction);
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

//! Vectors that a block takes from the one before it, as the first block of a loop finds them in memory.
//!
//! In: rows whose loads share vectors.   Out: code before the loop.

use iced_x86::{Code, Instruction, MemoryOperand};

use super::avx::Avx;
use super::encode::Encoding;
use super::function::Function;
use super::kinds::Kind;
use crate::vector::{Extent, Memory, Reg, SharedLoads};

impl Function<'_, '_, '_> {
    /// Reads the vectors that the first block takes from the one before.
    pub(super) fn load_carried(&mut self, shared: &SharedLoads, extent: Extent) {
        self.encoding.begin_block(extent);
        for (row, carried) in &shared.rows {
            if let Some(previous) = carried.previous {
                self.encoding.load_before(previous, row.stream, row.before());
            }
            if let (Some(current), Some(_)) = (carried.current, carried.next) {
                self.encoding.load(current, Memory::Cell(row.stream));
            }
        }
    }
}

impl Encoding<'_, '_> {
    /// Reads `before` cells before the block's into the last lanes of a register; the others hold anything. No cell
    /// further before is touched, and few of the block's: a store of the block before this one, or of this one in an
    /// earlier row, of which no cell is needed, would be waited for.
    fn load_before(&mut self, to: Reg, stream: usize, before: i64) {
        let bytes = before * self.body.addresses[stream].element.bytes() as i64;
        match self.isa {
            Avx::Avx512 => self.load_before_masked(to, stream, before, bytes),
            Avx::Avx2 => self.load_before_in_halves(to, stream, bytes),
        }
    }

    /// Cells in the first lanes are brought to the last ones.
    fn load_before_masked(&mut self, to: Reg, stream: usize, before: i64, bytes: i64) {
        let mut cells = self.cell_operand(stream);
        cells.displacement -= bytes;
        let (code, size) = match bytes {
            i64::MIN..=4 => (Code::EVEX_Vmovss_xmm_k1z_m32, 16),
            5..=8 => (Code::EVEX_Vmovsd_xmm_k1z_m64, 16),
            9..=16 => (Code::EVEX_Vmovups_xmm_k1z_xmmm128, 16),
            17..=32 if self.body.shape.bytes > 32 => (Code::EVEX_Vmovups_ymm_k1z_ymmm256, 32),
            _ => (self.code(Kind::Load), self.body.shape.bytes),
        };
        self.put(Instruction::with2(code, self.sized(to, size), cells));
        let lanes = u32::try_from(before).expect("less than a vector");
        self.put(Instruction::with4(self.code(Kind::Shift), self.vector(to), self.vector(to), self.vector(to), lanes));
    }

    /// The first of the cells end the first half, or both if they fit there; the other half is read behind it.
    fn load_before_in_halves(&mut self, to: Reg, stream: usize, bytes: i64) {
        const HALF: i64 = 16;
        let cells = self.cell_operand(stream);
        let before = |bytes: i64| MemoryOperand { displacement: cells.displacement - bytes, ..cells };
        let (first, both) = (self.sized(to, HALF), self.vector(to));
        let (code, shift) = match if bytes > HALF { bytes - HALF } else { bytes } {
            4 => (Code::VEX_Vbroadcastss_xmm_m32, 0),
            8 => (Code::VEX_Vmovddup_xmm_xmmm64, 0),
            12 => (Code::VEX_Vmovups_xmm_xmmm128, 4),
            _ => (Code::VEX_Vmovups_xmm_xmmm128, 0),
        };
        self.put(Instruction::with2(code, first, before(bytes)));
        if shift > 0 {
            self.put(Instruction::with3(Code::VEX_Vpslldq_xmm_xmm_imm8, first, first, shift));
        }
        self.put(match bytes > HALF {
            true => Instruction::with4(Code::VEX_Vinsertf128_ymm_ymm_xmmm128_imm8, both, both, before(HALF), 1),
            false => Instruction::with4(Code::VEX_Vinsertf128_ymm_ymm_xmmm128_imm8, both, both, first, 1),
        });
    }
}

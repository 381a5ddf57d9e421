//! Vectors that a block takes from the one before it, as the first block of a loop finds them in memory.
//!
//! In: rows whose loads share vectors.   Out: code before the loop.

use iced_x86::{Code, Instruction};

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
            if carried.next.is_some() {
                self.encoding.load(carried.current, Memory::Cell(row.stream));
            }
        }
    }
}

impl Encoding<'_, '_> {
    /// Reads `before` cells before the block's into the last lanes of a register; the others hold anything. No cell
    /// further before is touched, and few of the block's: a store of the block before this one, or of this one in an
    /// earlier row, of which no cell is needed, would be waited for.
    fn load_before(&mut self, to: Reg, stream: usize, before: i64) {
        let mut cells = self.cell_operand(stream);
        let bytes = before * self.body.addresses[stream].element.bytes() as i64;
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
}

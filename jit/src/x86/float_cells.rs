//! Floating-point numbers that are converted one way or the other: cells of bytes and of half precision.
//!
//! In: a load or a store of such cells, of a block.   Out: code.

use super::encode::{Encoding, REMAINDER, SCRATCH, Source};
use super::kinds::Kind;
use crate::vector::{Extent, Memory, Reg};
use iced_x86::{Code, Instruction, MemoryOperand, Register};

/// The lower 16 bits of [`SCRATCH`].
const SCRATCH_WORDS: [Register; 2] = [Register::AX, Register::R8W];
/// How conversions to `f16` round: to the nearest, ties to even, whatever mode the thread is in.
pub(super) const TO_NEAREST: u32 = 0;

impl Encoding<'_, '_> {
    /// Loads bytes and converts them, exactly.
    pub(super) fn load_bytes(&mut self, to: Reg, stream: usize) {
        let one_cell = self.body.addresses[stream].stride == Some(0);
        let cells = self.cell_operand(stream);
        if !one_cell && self.extent != Extent::Single {
            let narrow = self.sized(to, self.narrow_bytes());
            self.two(self.code(Kind::WidenBytes), narrow, Source::Cells(cells));
            return self.two(self.code(Kind::FromIntegers), self.vector(to), Source::Register(narrow));
        }
        self.two(Code::Movzx_r32_rm8, Register::EAX, Source::Memory(cells));
        let first = self.sized(to, 16);
        self.three(self.code(Kind::FromInteger), first, first, Source::Register(Register::RAX));
        if self.extent != Extent::Single {
            self.two(self.code(Kind::Splat), self.vector(to), Source::Register(first));
        }
    }

    /// Loads `f16` cells and converts them, exactly: denormal numbers too, in any mode of the thread.
    pub(super) fn load_halves(&mut self, to: Reg, stream: usize) {
        let one_cell = self.body.addresses[stream].stride == Some(0);
        if !one_cell && self.extent != Extent::Single {
            let cells = self.memory_operand(Memory::Cell(stream));
            return self.two(self.code(Kind::FromHalves), self.vector(to), cells);
        }
        let cell = self.cell_operand(stream);
        self.two(Code::Movzx_r32_rm16, Register::EAX, Source::Memory(cell));
        let first = self.sized(to, 16);
        self.two(self.code(Kind::MoveInteger), first, Source::Register(Register::EAX));
        self.two(self.code(Kind::FromHalf), first, Source::Register(first));
        if self.extent != Extent::Single {
            self.two(self.code(Kind::Splat), self.vector(to), Source::Register(first));
        }
    }

    /// Size of as many 32-bit integers as a vector has lanes; at least the smallest register.
    fn narrow_bytes(&self) -> i64 {
        (4 * self.body.shape.lanes()).max(16)
    }

    /// Rounds numbers to `f16` cells.
    pub(super) fn store_halves(&mut self, cells: MemoryOperand, from: Reg) {
        let (code, from) = (self.code(Kind::ToHalves), self.vector(from));
        if self.extent != Extent::Single {
            let instruction = Instruction::with3(code, cells, from, TO_NEAREST);
            let mut instruction = instruction.expect("a conversion takes memory, a register and a mode");
            if self.extent == Extent::Masked {
                instruction.set_op_mask(REMAINDER);
            }
            return self.assembler.put(&instruction);
        }
        // The instruction writes four cells, so they go to a slot and the first one from there. The other register may
        // hold an address.
        let (slot, free) = (self.slot(self.conversion_slot), 1 - self.next_scratch);
        self.put(Instruction::with3(code, slot, from, TO_NEAREST));
        self.two(Code::Mov_r64_rm64, SCRATCH[free], Source::Memory(slot));
        self.put(Instruction::with2(Code::Mov_rm16_r16, cells, SCRATCH_WORDS[free]));
    }
}

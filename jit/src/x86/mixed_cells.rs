//! Cells of strips of several types: loads and stores of as many cells as there are lanes, whatever their size, with
//! conversions behind or before them.
//!
//! In: a load or a store of a block.   Out: code.
//!
//! Vectors of narrow cells are parts of registers: what is moved are their bytes alone, by an instruction of that size,
//! or masked. With AVX2 the rest of a strip runs in parts of these vectors, where registers are used as in whole ones.

use super::avx::Avx;
use super::encode::{Encoding, REMAINDER, Source};
use super::float_cells::TO_NEAREST;
use super::integer_codes::widening_code;
use super::kinds::Kind;
use crate::vector::{Extent, Memory, Number, Reg, wider_by_load};
use crease_program::{Element, StoreHint, ValueType};
use iced_x86::{Code, Instruction, MemoryOperand, Register};

/// Cells of half precision are moved as words.
pub(super) const WORD: Number = Number::Integer(ValueType::U16);

impl Encoding<'_, '_> {
    /// Loads the cells of a stream as numbers of the current type.
    pub(super) fn load_mixed(&mut self, to: Reg, stream: usize) {
        let element = self.body.addresses[stream].element;
        let (cell, first) = match element {
            Element::F16 => (WORD, WORD),
            _ => (Number::of_cells(element), self.number),
        };
        let loaded = self.load_cells(to, stream, cell, first);
        self.convert_cells(to, element, loaded);
    }

    /// Converts cells, as they are or wider, to numbers of the current type.
    pub(super) fn convert_cells(&mut self, to: Reg, element: Element, cell: Number) {
        if element != Element::F16 {
            return self.convert(to, to, cell, self.number);
        }
        let code = self.code_of(Kind::FromHalves, Number::F32);
        let from = self.beside(to, WORD, Number::F32);
        self.two(code, self.of(to, Number::F32), Source::Register(from));
    }

    /// Loads cells as they are, or already wider if that takes no further instruction; says as what.
    fn load_cells(&mut self, to: Reg, stream: usize, cell: Number, number: Number) -> Number {
        if self.body.addresses[stream].stride == Some(0) {
            let place = self.cell_operand(stream);
            let code = self.code_of(Kind::Broadcast, cell);
            self.two(code, self.of(to, cell), Source::Memory(place));
            return cell;
        }
        if let Some(apart) = self.body.apart(stream) {
            let wider = self.body.picked_as(stream, number);
            self.load_apart(to, stream, cell, (apart, wider));
            return wider.unwrap_or(cell);
        }
        if let Extent::Part(lanes) = self.extent {
            let place = self.cell_operand(stream);
            self.load_part(self.sized(to, 16), place, lanes * cell.bytes());
            return cell;
        }
        let cells = self.memory_operand(Memory::Cell(stream));
        if let (Number::Integer(have), Some(wider)) = (cell, wider_by_load(cell, number))
            && self.body.shape.fills(wider)
        {
            let code = widening_code(have, 8 * wider.bytes() as u32, self.form_of(wider));
            self.two(code, self.of(to, wider), cells);
            return wider;
        }
        let bytes = self.body.shape.cell_bytes(cell.bytes());
        match (self.body.shape.fills(cell) || self.extent.is_masked(), self.isa, bytes) {
            (true, ..) => self.two(self.code_of(Kind::Load, cell), self.of(to, cell), cells),
            (false, Avx::Avx2, _) => {
                let Source::Cells(place) = cells else { unreachable!("cells of a row") };
                self.load_part(self.sized(to, 16), place, bytes);
            }
            (false, Avx::Avx512, _) => {
                let code = match bytes {
                    16 => Code::EVEX_Vmovdqu64_xmm_k1z_xmmm128,
                    8 => Code::EVEX_Vmovq_xmm_xmmm64,
                    _ => Code::EVEX_Vmovd_xmm_rm32,
                };
                self.two(code, self.sized(to, 16), cells);
            }
        }
        cell
    }

    /// Stores numbers of the current type to the cells of a stream.
    pub(super) fn store_mixed(&mut self, stream: usize, from: Reg, hint: StoreHint) {
        let (number, element) = (self.number, self.body.addresses[stream].element);
        let (mut cell, mut stored) = (Number::of_cells(element), from);
        if element == Element::F16 {
            (cell, stored) = (WORD, self.between(0));
            self.halves(stored, from);
        } else if cell.is_integer() != number.is_integer() || cell.bytes() != number.bytes() {
            stored = self.between(0);
            self.convert(stored, from, number, cell);
        }
        if let Some(apart) = self.body.apart(stream) {
            return self.store_apart(stream, stored, cell, apart);
        }
        let place = self.cell_operand(stream);
        let bytes = self.body.shape.cell_bytes(cell.bytes());
        let is_non_temporal = self.extent == Extent::Aligned && hint == StoreHint::NonTemporal;
        if let Extent::Part(lanes) = self.extent {
            return self.store_any_part(place, stored, lanes * cell.bytes());
        }
        if !self.body.shape.fills(cell) && !self.extent.is_masked() {
            return self.store_any_part(place, stored, bytes);
        }
        let kind = if is_non_temporal { Kind::StoreNonTemporal } else { Kind::Store };
        let instruction = Instruction::with2(self.code_of(kind, cell), place, self.of(stored, cell));
        let mut instruction = instruction.expect("a store takes memory and a register");
        if self.extent.is_masked() {
            instruction.set_op_mask(REMAINDER);
        }
        self.assembler.put(&instruction);
    }

    /// Floats rounded to half precision, as words.
    fn halves(&mut self, to: Reg, from: Reg) {
        let code = self.code_of(Kind::ToHalves, Number::F32);
        let (to, from) = (self.beside(to, WORD, Number::F32), self.of(from, Number::F32));
        self.put(Instruction::with3(code, to, from, TO_NEAREST));
    }

    /// Writes the first bytes of a register, a power of two of them.
    fn store_any_part(&mut self, to: MemoryOperand, from: Reg, bytes: i64) {
        let first: Register = self.sized(from, 16);
        let code = match (self.isa, bytes) {
            (Avx::Avx2, _) => return self.store_part(to, first, bytes),
            (Avx::Avx512, 16) => Code::EVEX_Vmovdqu64_xmmm128_k1z_xmm,
            (Avx::Avx512, 8) => Code::EVEX_Vmovq_xmmm64_xmm,
            (Avx::Avx512, _) => Code::EVEX_Vmovd_rm32_xmm,
        };
        self.put(Instruction::with2(code, to, first));
    }
}

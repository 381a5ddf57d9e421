//! Lookups: cells of tables at places that lanes say.
//!
//! In: a lookup of a block, with registers of its values.   Out: code.
//!
//! Values are brought into the ranges of their axes as vectors and go to slots; then each lane's cell is read by general
//! registers and written to another slot, of which a vector is made. With garbage in them, as in the lanes behind a
//! remainder, values lead to cells of the table all the same.

use super::encode::{Encoding, SCRATCH, Source, TABLE, memory};
use super::kinds::Kind;
use crate::vector::{Arith, Extent, LookupEntry, Memory, Number, Operand, Reg, bounds};
use crease_program::{Element, MOST_AXES, Op, TableAxis, ValueType};
use iced_x86::{Code, Instruction, Register};

/// The lower parts of the register that a cell is read to: of 8, 16, 32 and 64 bits.
const CELL: [Register; 4] = [Register::R8L, Register::R8W, Register::R8D, Register::R8];

impl Encoding<'_, '_> {
    /// Reads the cells of a table.
    pub(super) fn look_up(&mut self, to: Reg, values: [Option<Reg>; MOST_AXES]) {
        let Op::Lookup { stream, values: ids, .. } = self.body.strip.ops[self.operation] else {
            unreachable!("chosen for lookups")
        };
        let (number, table) = (self.number, &self.body.strip.streams[stream.index()].table);
        let mut types = Vec::new();
        for (at, (axis, (value, id))) in
            table.iter().zip(values.into_iter().flatten().zip(ids.into_iter().flatten())).enumerate()
        {
            self.number = self.body.numbers[self.body.operand(id)];
            let inside = self.inside(value, axis);
            let store = Instruction::with2(self.code(Kind::Store), self.slot(self.conversion_slot + at), inside);
            self.put(store);
            types.push(self.number);
        }
        let element = self.body.addresses[stream.index()].element;
        let lanes = match self.extent {
            Extent::Part(lanes) => lanes,
            _ => self.body.shape.lanes(),
        };
        (0..lanes).for_each(|lane| self.look_up_lane(lane, element, &types));
        self.number = number;
        let cells = self.slot(self.conversion_slot + MOST_AXES);
        self.vector_of_cells(to, element, cells);
    }

    /// The values of an axis, smaller or greater ones brought to its ends.
    fn inside(&mut self, value: Reg, axis: &TableAxis) -> Register {
        let (number, mut inside) = (self.number, value);
        let Number::Integer(ty) = number else { unreachable!("values for axes are integers") };
        let [first, last] = bounds(axis, number).expect("others are not eligible");
        for (op, bound) in [(Arith::Max, first), (Arith::Min, last)] {
            let Some(bound) = bound else { continue };
            let bound = Operand::Memory(Memory::Constant(self.body.constant(number.repeated(bound))));
            let to = self.between(1);
            self.integer_arith(op, ty, to, inside, bound);
            inside = to;
        }
        self.vector(inside)
    }

    /// Reads the cell of a lane, whose values are in slots, and writes it to one.
    fn look_up_lane(&mut self, lane: i64, element: Element, types: &[Number]) {
        let lookup = self.lookups.iter().position(|known| *known == self.operation);
        let lookup = lookup.expect("every lookup has an entry");
        let entry = self.pointers.len() + self.indices.len() + LookupEntry::NUMBERS * lookup;
        let entry = |at: usize| Source::Memory(memory(TABLE, 8 * (entry + at) as i64));
        let [sum, other] = SCRATCH;
        let slot = |slot: usize, bytes: i64| {
            memory(Register::RSP, (self.conversion_slot + slot) as i64 * self.body.shape.bytes + lane * bytes)
        };
        let (cells, slots) = (slot(MOST_AXES, element.bytes() as i64), (0..).zip(types));
        let slots: Vec<_> = slots.map(|(at, number)| (at, *number, slot(at, number.bytes()))).collect();
        for (at, number, place) in slots {
            let to = if at == 0 { sum } else { other };
            let Number::Integer(ty) = number else { unreachable!("values for axes are integers") };
            let (code, to_load) = match (ty, to) {
                (ValueType::U8, _) => (Code::Movzx_r64_rm8, to),
                (ValueType::U16, _) => (Code::Movzx_r64_rm16, to),
                (ValueType::I8, _) => (Code::Movsx_r64_rm8, to),
                (ValueType::I16, _) => (Code::Movsx_r64_rm16, to),
                (ValueType::I32, _) => (Code::Movsxd_r64_rm32, to),
                // The upper half becomes 0.
                (ValueType::U32, Register::RAX) => (Code::Mov_r32_rm32, Register::EAX),
                (ValueType::U32, _) => (Code::Mov_r32_rm32, Register::R8D),
                _ => (Code::Mov_r64_rm64, to),
            };
            self.two(code, to_load, Source::Memory(place));
            self.two(Code::Imul_r64_rm64, to, entry(1 + at));
            if at > 0 {
                self.two(Code::Add_r64_rm64, sum, Source::Register(other));
            }
        }
        self.two(Code::Add_r64_rm64, sum, entry(0));
        let (load, store, to, from) = match element.bytes() {
            1 => (Code::Movzx_r32_rm8, Code::Mov_rm8_r8, CELL[2], CELL[0]),
            2 => (Code::Movzx_r32_rm16, Code::Mov_rm16_r16, CELL[2], CELL[1]),
            4 => (Code::Mov_r32_rm32, Code::Mov_rm32_r32, CELL[2], CELL[2]),
            _ => (Code::Mov_r64_rm64, Code::Mov_rm64_r64, CELL[3], CELL[3]),
        };
        self.two(load, to, Source::Memory(memory(sum, 0)));
        self.put(Instruction::with2(store, cells, from));
    }
}

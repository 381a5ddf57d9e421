//! Lookups: cells of tables at places that values say, one for each lane.
//!
//! In: the corner of a table, its axes and a value for each of them.   Out: the cells.
//!
//! A value is widened to 64 bits and brought into the range of its axis there, unless all numbers of its type are in it:
//! a byte needs no comparison in a table of 256 cells. What is added to the corner's address is then what the proof of
//! bounds has counted with.

use crease_program::{Along, MOST_AXES, StreamId, TableAxis, ValueType};

use super::emitter::{Emitter, Num};
use super::plan::{Shape, StripPlan};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

/// What a lookup needs to know of its table.
pub(super) struct Table<'p, 'a> {
    pub(super) plan: &'p StripPlan<'a>,
    pub(super) stream: StreamId,
    /// The address of the corner in the first lane, and a distance to it.
    pub(super) corner: (Value, i32),
    /// Bytes from the corner in one lane to that in the next.
    pub(super) corner_step: i32,
}

impl<'a> Emitter<'a, '_> {
    /// The cells of a table in the lanes of a block, in the type of the cells; values come with their types.
    pub(super) fn look_up(
        &mut self,
        table: &Table<'_, 'a>,
        shape: Shape,
        values: [Option<(Value, ValueType)>; MOST_AXES],
    ) -> Vec<Value> {
        let (plan, at) = (table.plan, table.stream.index());
        let axes = &plan.strip.streams[at].table;
        let pitches: Vec<Num> = axes.iter().map(|axis| self.axis_pitch(plan, at, axis)).collect();
        let (corner, offset) = table.corner;
        let mut cells = Vec::new();
        for lane in 0..shape.lanes() {
            let mut address = corner;
            for ((axis, pitch), (value, ty)) in axes.iter().zip(&pitches).zip(values.into_iter().flatten()) {
                let value = if shape == Shape::Scalar { value } else { self.b.ins().extractlane(value, lane as u8) };
                let steps = self.steps_along(axis, ty, value);
                let moved = self.mul(Num::Value(steps), *pitch);
                let moved = self.value(moved);
                address = self.b.ins().iadd(address, moved);
            }
            let offset = i32::try_from(lane).expect("a block has few lanes") * table.corner_step + offset;
            cells.push(self.load_cell(plan.elements[at], address, offset));
        }
        cells
    }

    /// Bytes from a cell to the next one along an axis.
    fn axis_pitch(&mut self, plan: &StripPlan<'a>, stream: usize, axis: &TableAxis) -> Num {
        let bytes = plan.elements[stream].bytes() as i64;
        match axis.along {
            // The verifier has seen that a table has fewer cells than 64 bits can count, and a buffer fewer bytes.
            Along::Cells(cells) => Num::Const((cells as i64).wrapping_mul(bytes)),
            Along::Coordinate(at) => self.axis_bytes(plan, plan.strip.streams[stream].buffer.index(), at as usize),
        }
    }

    /// How far a value goes along an axis.
    fn steps_along(&mut self, axis: &TableAxis, ty: ValueType, value: Value) -> Value {
        let mut wide = self.widened(ty, value);
        let (least, greatest) = ty.range();
        if least < axis.first {
            let first = self.b.ins().iconst(types::I64, axis.first);
            let is_low = self.b.ins().icmp(IntCC::SignedLessThan, wide, first);
            wide = self.b.ins().select(is_low, first, wide);
        }
        if greatest > axis.last {
            let last = self.b.ins().iconst(types::I64, axis.last);
            let is_high = self.b.ins().icmp(IntCC::SignedGreaterThan, wide, last);
            wide = self.b.ins().select(is_high, last, wide);
        }
        let steps = self.add(Num::Value(wide), Num::Const(axis.first.wrapping_neg()));
        self.value(steps)
    }
}

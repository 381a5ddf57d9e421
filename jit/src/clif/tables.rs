//! Lookups: cells of tables at places that values say, one for each lane.
//!
//! In: the corner of a table, its axes and a value for each of them.   Out: the cells.
//!
//! A value is brought into the range of its axis, unless all numbers of its type are in it: a byte needs no comparison
//! in a table of 256 cells. What is then added to the corner's address is what the proof of bounds has counted with.
//! There is no instruction here for cells at places that lanes say, so the cells of a block are read one by one.

use crease_program::{Along, BinaryOp, MOST_AXES, StreamId, TableAxis, ValueType};

use super::emitter::{Emitter, Num};
use super::plan::{Shape, StripPlan};
use cranelift_codegen::ir::{InstBuilder, Value};

/// What a lookup needs to know of its table.
pub(super) struct Table<'p, 'a> {
    pub(super) plan: &'p StripPlan<'a>,
    pub(super) stream: StreamId,
    /// The address of the corner in the first lane, and a distance to it.
    pub(super) corner: (Value, i32),
    /// Bytes from the corner in one lane to that in the next.
    pub(super) corner_step: i64,
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
        let (mut corner, offset) = table.corner;
        let mut moving = Vec::new();
        for (axis, (value, ty)) in plan.strip.streams[at].table.iter().zip(values.into_iter().flatten()) {
            let pitch = self.axis_pitch(plan, at, axis);
            let steps = self.steps(shape, axis, (value, ty));
            // What all lanes have in common moves the corner: how far it is from there to where the value is 0, too.
            let common = match steps {
                Steps::Common(steps) => steps,
                Steps::Value(_) => axis.first.wrapping_neg(),
            };
            let moved = self.mul(Num::Const(common), pitch);
            let moved = self.add(Num::Value(corner), moved);
            corner = self.value(moved);
            if let Steps::Value(value) = steps {
                moving.push((value, ty, pitch));
            }
        }
        let mut cells = Vec::new();
        for lane in 0..shape.lanes() {
            let mut address = corner;
            for (value, ty, pitch) in &moving {
                let value = if shape == Shape::Scalar { *value } else { self.b.ins().extractlane(*value, lane as u8) };
                let steps = self.widened(*ty, value);
                let moved = self.mul(Num::Value(steps), *pitch);
                let moved = self.value(moved);
                address = self.b.ins().iadd(address, moved);
            }
            let ahead = lane.wrapping_mul(table.corner_step) + i64::from(offset);
            let offset = i32::try_from(ahead).expect("corners of a block are close to each other");
            cells.push(self.load_cell(plan.elements[at], address, offset));
        }
        cells
    }

    /// Bytes from a cell to the next one along an axis.
    pub(super) fn axis_pitch(&mut self, plan: &StripPlan<'a>, stream: usize, axis: &TableAxis) -> Num {
        let bytes = plan.elements[stream].bytes() as i64;
        match axis.along {
            // The verifier has seen that a table has fewer cells than 64 bits can count, and a buffer fewer bytes.
            Along::Cells(cells) => Num::Const((cells as i64).wrapping_mul(bytes)),
            Along::Coordinate(at) => self.axis_bytes(plan, plan.strip.streams[stream].buffer.index(), at as usize),
        }
    }

    /// How far a value goes along an axis: it is compared with those numbers of the axis that its type has.
    fn steps(&mut self, shape: Shape, axis: &TableAxis, (value, ty): (Value, ValueType)) -> Steps {
        let (least, greatest) = ty.range();
        if greatest < axis.first {
            return Steps::Common(0);
        }
        if least > axis.last {
            return Steps::Common(axis.reach());
        }
        let mut value = value;
        if least < axis.first {
            value = self.bounded(shape, BinaryOp::Max, ty, value, axis.first);
        }
        if greatest > axis.last {
            value = self.bounded(shape, BinaryOp::Min, ty, value, axis.last);
        }
        Steps::Value(value)
    }

    /// The larger or the smaller one of an integer and a constant of its type.
    fn bounded(&mut self, shape: Shape, op: BinaryOp, ty: ValueType, value: Value, bound: i64) -> Value {
        match shape {
            Shape::Scalar => {
                let bound = self.integer_constant(ty, bound);
                self.integer_binary(op, ty, value, bound)
            }
            Shape::Lanes(_) => {
                let bound = self.integer_constants(ty, bound);
                self.binary_lanes(op, ty, value, bound)
            }
        }
    }
}

/// How far a lookup goes along an axis.
enum Steps {
    /// As far, in all lanes.
    Common(i64),
    /// As far as from the first number of the axis to this one, which is one of its numbers.
    Value(Value),
}

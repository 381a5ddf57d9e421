//! The interpreter inside strips: addresses, then the operations block by block.
//!
//! A value is 64 bits per lane: the bits of a double, the bits of a float, an integer as an `i64`, or 0 and 1. So
//! opaque accumulators pass through untouched, and each operation is one loop over its lanes.

use super::cells::Memory;
use super::cursor::Cursor;
use super::environment::{Env, Trap};
use super::interpret_lanes::{
    binary, bits, bits32, combine, converted, double_of, each, float_bits, load, shift, single_of, store, unary,
};
use super::limits::INTERPRETED_LANES;
use super::opaque::{opaque_finish, opaque_mix};
use super::place::Part;
use super::trips::ring_travel;
use super::types::*;
use super::verify_strip::result_type;
use std::ops::Range;

/// What strips compute with, kept between strips to save allocations.
#[derive(Default)]
pub(super) struct Scratch {
    /// One per stream.
    cursors: Vec<Cursor>,
    /// One per operation.
    types: Vec<Option<ValueType>>,
    /// `block` lanes per operation.
    lanes: Vec<u64>,
}

type Fallible<T> = Result<T, (Part, Trap)>;

impl Scratch {
    /// Runs `strip` for the values in `range`, which is not empty, of a verified program.
    #[expect(clippy::too_many_arguments, reason = "the parts of the machine that a strip borrows separately")]
    pub(super) fn run(
        &mut self,
        program: &Program,
        strip: &Strip,
        range: Range<i64>,
        env: &Env<'_>,
        scalars: &[f64],
        memory: &mut Memory,
        lanes: u32,
    ) -> Fallible<()> {
        let count = i128::from(range.end) - i128::from(range.start);
        self.place_cursors(program, strip, &range, env, &|buffer| memory.buffers[buffer].len())?;
        let most = i128::from(lanes.min(strip.lanes).min(INTERPRETED_LANES)).min(count);
        let block = usize::try_from(most).expect("at most as many as a block has");
        self.prepare(program, strip, scalars, block);
        let mut var = range.start;
        while var < range.end {
            let length = block.min(usize::try_from(range.end.abs_diff(var)).unwrap_or(usize::MAX));
            for (at, op) in strip.ops.iter().enumerate() {
                self.execute((program, strip), at, op, env, memory, var, block, length);
            }
            for cursor in &mut self.cursors {
                cursor.pos = (0..length).fold(cursor.pos, |pos, _| cursor.next(pos));
            }
            var += length as i64;
        }
        Ok(())
    }

    /// Evaluates the addresses of the iterations in `range`, which is not empty; refuses numbers beyond 64 bits, and
    /// cells outside the buffers, whose lengths `cells_of` knows.
    pub(super) fn place_cursors(
        &mut self,
        program: &Program,
        strip: &Strip,
        range: &Range<i64>,
        env: &Env<'_>,
        cells_of: &dyn Fn(usize) -> usize,
    ) -> Fallible<()> {
        let count = i128::from(range.end) - i128::from(range.start);
        self.cursors.clear();
        for (id, stream) in (0..).map(StreamId).zip(&strip.streams) {
            let cursor = place(program, stream, env).map_err(|trap| (Part::Stream(id), trap))?;
            if cursor.ring > 0 && ring_travel(count, cursor.stride, cursor.ring) > i128::from(i64::MAX) {
                return Err((Part::Stream(id), Trap::Overflow));
            }
            self.cursors.push(cursor);
        }
        for (id, op) in (0..).map(ValueId).zip(&strip.ops) {
            if let Op::Index { base, offset, step, .. } = *op {
                index_fits(range, env, base, offset, step).map_err(|trap| (Part::Op(id), trap))?;
            }
            let (Op::Load { stream, .. } | Op::Store { stream, .. } | Op::Lookup { stream, .. }) = *op else {
                continue;
            };
            let cursor = self.cursors[stream.index()];
            let accessed = &strip.streams[stream.index()];
            if let Address::Array(coordinates) = &accessed.address {
                let decl = &program.buffers[cursor.buffer];
                let inside = coordinates_inside(decl, coordinates, accessed, count, env);
                inside.map_err(|trap| (Part::Stream(stream), trap))?;
            }
            let cells = cells_of(cursor.buffer);
            // The farthest cell of a table is outside of what is left of the buffer if it is as many cells shorter.
            let reach = i128::from(accessed.table_cells().expect("the program has verified"));
            let first_outside = cursor.first_outside(count, cells as i128);
            let beyond = || cursor.first_outside(count, cells as i128 - reach).map(|cell| cell + reach);
            if let Some(cell) = first_outside.or_else(beyond) {
                let buffer = program.buffers[cursor.buffer].name.clone();
                return Err((Part::Stream(stream), Trap::OutOfBuffer { buffer, cell, cells }));
            }
        }
        Ok(())
    }

    /// The cells that a stream is at in `count` iterations; only of a stream that is used, after
    /// [`Self::place_cursors`].
    pub(super) fn cells(&self, stream: StreamId, count: usize) -> Vec<usize> {
        let mut cells = Vec::with_capacity(count);
        self.cursors[stream.index()].each_cell(count, |_, cell| cells.push(cell));
        cells
    }

    /// Types, lanes, and the operations whose result is the same in every lane.
    fn prepare(&mut self, program: &Program, strip: &Strip, scalars: &[f64], block: usize) {
        self.types.clear();
        self.lanes.clear();
        self.lanes.resize(strip.ops.len() * block, 0);
        for (at, op) in strip.ops.iter().enumerate() {
            let ty = result_type(program, strip, &self.types, op).expect("the program has verified");
            self.types.push(ty);
            let bits = match *op {
                Op::F64(bits) | Op::OpaqueSeed(bits) => bits,
                Op::F32(bits) => u64::from(bits),
                Op::Int(_, value) => value as u64,
                Op::Scalar(id) => float_bits(ty, scalars[id.index()]),
                _ => continue,
            };
            self.lanes[at * block..][..block].fill(bits);
        }
    }

    /// Executes one operation for `length` lanes from `var` on. One arm per operation.
    #[expect(clippy::too_many_arguments, reason = "one call per operation and block")]
    fn execute(
        &mut self,
        (program, strip): (&Program, &Strip),
        at: usize,
        op: &Op,
        env: &Env<'_>,
        memory: &mut Memory,
        var: i64,
        block: usize,
        length: usize,
    ) {
        // Operands precede their uses, so they lie before this operation's own lanes.
        let (earlier, own) = self.lanes.split_at_mut(at * block);
        let arg = |id: ValueId| &earlier[id.index() * block..][..length];
        let type_of = |id: ValueId| self.types[id.index()];
        match *op {
            Op::F64(_) | Op::F32(_) | Op::Int(..) | Op::Scalar(_) | Op::OpaqueSeed(_) => {}
            Op::Index { base, offset, step, ty } => {
                for (lane, out) in own[..length].iter_mut().enumerate() {
                    // Fits: both ends of the strip were checked.
                    let value = index(env, base, offset, step, var + lane as i64) as i64;
                    *out = if ty == ValueType::F32 { bits32(value as f32) } else { (value as f64).to_bits() };
                }
            }
            Op::Load { stream, ty } => {
                let cursor = self.cursors[stream.index()];
                load(&memory.buffers[cursor.buffer], cursor, ty, &mut own[..length]);
            }
            Op::Lookup { stream, values, ty } => {
                let (cursor, stream) = (self.cursors[stream.index()], &strip.streams[stream.index()]);
                let extents = program.buffers[cursor.buffer].extents.as_deref();
                cursor.each_cell(length, |lane, corner| {
                    // Integers of all types are held as `i64`s.
                    let values = values.iter().flatten().map(|value| arg(*value)[lane] as i64);
                    let cell = corner as i64 + stream.table_distance(extents, values);
                    let only = Cursor { base: cell, pos: 0, ring: 0, stride: 0, ..cursor };
                    load(&memory.buffers[cursor.buffer], only, ty, &mut own[lane..=lane]);
                });
            }
            Op::Store { stream, value, .. } => {
                let cursor = self.cursors[stream.index()];
                store(&mut memory.buffers[cursor.buffer], cursor, type_of(value), arg(value));
            }
            Op::Unary(op, a) => unary(op, type_of(a), &mut own[..length], arg(a)),
            Op::Binary(op, a, b) => binary(op, type_of(a), &mut own[..length], arg(a), arg(b)),
            Op::Bits(op, a, b) => bits(op, type_of(a), &mut own[..length], arg(a), arg(b)),
            Op::Shift(op, a, count) => shift(op, type_of(a), &mut own[..length], arg(a), count),
            Op::Fma(a, b, c) => {
                let operands = arg(a).iter().zip(arg(b)).zip(arg(c));
                let single = type_of(a) == Some(ValueType::F32);
                for (out, ((a, b), c)) in own.iter_mut().zip(operands) {
                    *out = if single {
                        bits32(single_of(*a).mul_add(single_of(*b), single_of(*c)))
                    } else {
                        double_of(*a).mul_add(double_of(*b), double_of(*c)).to_bits()
                    };
                }
            }
            Op::Compare(op, a, b) if type_of(a) == Some(ValueType::F32) => {
                combine(&mut own[..length], arg(a), arg(b), |a, b| u64::from(op.holds(single_of(a), single_of(b))));
            }
            Op::Compare(op, a, b) if type_of(a) == Some(ValueType::F64) => {
                combine(&mut own[..length], arg(a), arg(b), |a, b| u64::from(op.holds(double_of(a), double_of(b))));
            }
            // As `i64`s, integers of all types are in order.
            Op::Compare(op, a, b) => {
                combine(&mut own[..length], arg(a), arg(b), |a, b| u64::from(op.holds(a as i64, b as i64)));
            }
            Op::And(a, b) => combine(&mut own[..length], arg(a), arg(b), |a, b| a & b),
            Op::Or(a, b) => combine(&mut own[..length], arg(a), arg(b), |a, b| a | b),
            Op::Not(a) => each(&mut own[..length], arg(a), |a| a ^ 1),
            Op::Select(cond, a, b) => {
                let operands = arg(cond).iter().zip(arg(a)).zip(arg(b));
                for (out, ((cond, a), b)) in own.iter_mut().zip(operands) {
                    *out = if *cond != 0 { *a } else { *b };
                }
            }
            Op::Convert(to, a) => {
                let from = type_of(a).expect("operands have types");
                each(&mut own[..length], arg(a), |a| converted(from, to, a));
            }
            Op::OpaqueMix(acc, x) => combine(&mut own[..length], arg(acc), arg(x), opaque_mix),
            Op::OpaqueFinish(acc) => each(&mut own[..length], arg(acc), opaque_finish),
        }
    }
}

pub(super) fn place(program: &Program, stream: &Stream, env: &Env<'_>) -> Result<Cursor, Trap> {
    let buffer = stream.buffer.index();
    match &stream.address {
        Address::Block { base, pos, ring, stride } => {
            let (base, pos) = (env.int(base)?, env.int(pos)?);
            if let Some(ring) = ring.filter(|ring| pos < 0 || pos as u64 >= *ring) {
                return Err(Trap::Position { pos, ring });
            }
            // The verifier keeps rings below half of what an `i64` holds.
            let ring = ring.map_or(0, |ring| ring as i64);
            Ok(Cursor { buffer, base, pos, ring, stride: *stride })
        }
        Address::Array(coordinates) => {
            // Memory of the interpreter is dense, the last coordinate fastest. What leaves 64 bits has left the array.
            let extents = program.buffers[buffer].extents.as_ref().expect("the program has verified");
            let (mut pos, mut stride) = (0_i64, 0_i64);
            for (coordinate, extent) in coordinates.iter().zip(extents) {
                let next = |sum: i64, more: i64| sum.wrapping_mul(*extent as i64).wrapping_add(more);
                pos = next(pos, env.int(&coordinate.start)?);
                stride = next(stride, coordinate.step);
            }
            Ok(Cursor { buffer, base: 0, pos, ring: 0, stride })
        }
    }
}

/// Checks that every coordinate of a stream stays inside its extent for `count` iterations, as far as it reaches.
fn coordinates_inside(
    decl: &BufferDecl,
    coordinates: &[Coordinate],
    stream: &Stream,
    count: i128,
    env: &Env<'_>,
) -> Result<(), Trap> {
    let extents = decl.extents.iter().flatten();
    for (axis, (coordinate, &extent)) in coordinates.iter().zip(extents).enumerate() {
        let first = i128::from(env.int(&coordinate.start)?);
        let last = first + i128::from(coordinate.step) * (count - 1);
        let reach = i128::from(stream.table_reach(axis));
        for value in [first, last, first + reach, last + reach] {
            if value < 0 || value >= i128::from(extent) {
                return Err(Trap::OutOfArray { array: decl.name.clone(), axis, value, extent });
            }
        }
    }
    Ok(())
}

/// Checks that an index stays in 64 bits: at both ends, so everywhere.
fn index_fits(range: &Range<i64>, env: &Env<'_>, base: Option<Var>, offset: i64, step: i64) -> Result<(), Trap> {
    let ends = [range.start, range.end - 1];
    let fits = ends.iter().all(|var| i64::try_from(index(env, base, offset, step, *var)).is_ok());
    if fits { Ok(()) } else { Err(Trap::Overflow) }
}

/// `base + offset + step * var`.
fn index(env: &Env<'_>, base: Option<Var>, offset: i64, step: i64, var: i64) -> i128 {
    let base = base.map_or(0, |base| env.vars[base.index()]);
    i128::from(base) + i128::from(offset) + i128::from(step) * i128::from(var)
}

//! Strips: pointers, cuts at ring ends, the loops around a block of lanes.
//!
//! In: a [`StripPlan`].   Out: code for the whole run.
//!
//! Cell `pos + stride * j` of a ring keeps its address `pointer + stride * bytes * j` until it leaves the ring; then the
//! pointer moves by one ring. So a strip is cut where any of its streams wraps, and inside a cut nothing is tested:
//!
//! ```text
//! j = 0
//! segment:  end = min(n, wrap of each ring)
//!           main loop, rest loops from j to end
//!           if end < n: move the pointers whose wrap is `end`; j = end; again
//! ```
//!
//! The body exists once for all segments. A strip without a wrap pays one minimum for each ring.

use super::emitter::Emitter;
use super::frame::Literal;
use super::ints::Num;
use super::plan::{Pointer, Shape, StripPlan};
use crate::program::{Op, Strip};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};
use std::collections::HashMap;

/// A strip whose pointers are known.
pub(super) struct Run<'p, 'a> {
    /// What was decided.
    pub(super) plan: &'p StripPlan<'a>,
    /// Address of each pointer's cell at `j = 0`, moved by the rings passed since.
    pub(super) addresses: Vec<Value>,
    /// For each `Op::Index` its value at `j = 0` and its increment.
    pub(super) indices: HashMap<usize, (Num, i64)>,
}

/// Literals that stay in registers, in the shape of the loop that holds them.
pub(super) type Held = HashMap<Literal, Value>;

/// A pointer that may wrap.
#[derive(Clone, Copy)]
struct Ring {
    pointer: usize,
    /// The iteration at which it next leaves its ring.
    wrap: Value,
    /// For strides other than 1 and -1: the position at `j = 0`, moved by the rings passed since.
    position: Option<Value>,
}

impl<'a> Emitter<'a, '_> {
    /// Emits a strip.
    pub(super) fn strip(&mut self, strip: &'a Strip) {
        let plan = StripPlan::new(strip, self.shared);
        let length = match plan.constant_length() {
            Some(length) => Num::Const(length),
            None => {
                let (lo, hi) = (self.int(&strip.lo), self.int(&strip.hi));
                self.sub(hi, lo)
            }
        };
        if plan.order.is_empty() || matches!(length, Num::Const(..=0)) {
            return;
        }
        let exit = self.b.create_block();
        if let Num::Value(length) = length {
            let start = self.b.create_block();
            let zero = self.b.ins().iconst(types::I64, 0);
            self.branch_if_less(zero, length, (start, &[]), (exit, &[]));
            self.enter(start);
        }
        let addresses = plan.pointers.iter().map(|pointer| self.first_address(strip, pointer)).collect();
        let indices = self.first_indices(strip);
        let run = Run { plan: &plan, addresses, indices };
        let rings = self.rings(&run);
        if rings.is_empty() {
            self.segment(&run, Num::Const(0), length);
            self.b.ins().jump(exit, &[]);
        } else {
            self.segments(run, rings, length, exit);
        }
        self.enter(exit);
    }

    fn first_address(&mut self, strip: &'a Strip, pointer: &Pointer) -> Value {
        let stream = &strip.streams[pointer.stream];
        let buffer = self.load_buffer(stream.buffer.index());
        let (base, position) = (self.int(&stream.base), self.int(&stream.pos));
        let cell = self.add(base, position);
        let offset = self.mul(cell, Num::Const(pointer.bytes));
        let address = self.add(Num::Value(buffer), offset);
        self.value(address)
    }

    fn first_indices(&mut self, strip: &'a Strip) -> HashMap<usize, (Num, i64)> {
        let mut indices = HashMap::new();
        for (at, op) in strip.ops.iter().enumerate() {
            if let Op::Index { base, offset, step, .. } = *op {
                let base = base.map_or(Num::Const(0), |base| self.vars[&base]);
                let lo = self.int(&strip.lo);
                let moved = self.mul(lo, Num::Const(step));
                let first = self.add(base, Num::Const(offset));
                indices.insert(at, (self.add(first, moved), step));
            }
        }
        indices
    }

    /// The first wrap of each pointer in a ring.
    fn rings(&mut self, run: &Run<'_, 'a>) -> Vec<Ring> {
        let mut rings = Vec::new();
        for (index, pointer) in run.plan.pointers.iter().enumerate() {
            if let Some(ring) = pointer.ring {
                let position = self.int(&run.plan.strip.streams[pointer.stream].pos);
                let wrap = self.wrap_iteration(position, ring, pointer.stride);
                let keeps_position = pointer.stride.unsigned_abs() != 1;
                let position = if keeps_position { Some(self.value(position)) } else { None };
                rings.push(Ring { pointer: index, wrap: self.value(wrap), position });
            }
        }
        rings
    }

    /// The first `j` for which `position + stride * j` is outside `0..ring`.
    fn wrap_iteration(&mut self, position: Num, ring: i64, stride: i64) -> Num {
        if stride > 0 {
            // Rounded up: (ring - position + stride - 1) / stride.
            let cells = self.sub(Num::Const(ring.wrapping_add(stride - 1)), position);
            self.floor_div(cells, stride)
        } else {
            let cells = self.floor_div(position, stride.wrapping_neg());
            self.add(cells, Num::Const(1))
        }
    }

    fn segments(&mut self, mut run: Run<'_, 'a>, rings: Vec<Ring>, length: Num, exit: Block) {
        let (head, start) = self.block_with_param();
        let length = self.value(length);
        let zero = self.b.ins().iconst(types::I64, 0);
        let first = ring_args(zero, &run.addresses, &rings);
        self.b.ins().jump(head, &first);
        self.enter(head);
        let rings = self.ring_params(head, &mut run, &rings);
        let end = rings.iter().fold(length, |end, ring| self.b.ins().smin(end, ring.wrap));
        self.segment(&run, Num::Value(start), Num::Value(end));
        let wrap = self.b.create_block();
        self.branch_if_less(end, length, (wrap, &[]), (exit, &[]));
        self.enter(wrap);
        let next: Vec<Ring> = rings.iter().map(|ring| self.pass_wrap(&mut run, ring, end)).collect();
        let again = ring_args(end, &run.addresses, &next);
        self.b.ins().jump(head, &again);
    }

    /// Gives `head` parameters for all that changes at a wrap, in the order of [`ring_args`].
    fn ring_params(&mut self, head: Block, run: &mut Run<'_, 'a>, rings: &[Ring]) -> Vec<Ring> {
        let mut param = || self.b.append_block_param(head, types::I64);
        rings
            .iter()
            .map(|ring| {
                run.addresses[ring.pointer] = param();
                Ring { pointer: ring.pointer, wrap: param(), position: ring.position.map(|_| param()) }
            })
            .collect()
    }

    /// Moves a pointer by one ring if it wraps at `end`.
    fn pass_wrap(&mut self, run: &mut Run<'_, 'a>, ring: &Ring, end: Value) -> Ring {
        let pointer = run.plan.pointers[ring.pointer];
        let cells = pointer.ring.expect("only pointers in a ring are listed");
        let back = if pointer.stride > 0 { cells.wrapping_neg() } else { cells };
        let wraps = self.b.ins().icmp(IntCC::Equal, ring.wrap, end);
        let address = run.addresses[ring.pointer];
        let moved = self.b.ins().iadd_imm_s(address, back.wrapping_mul(pointer.bytes));
        run.addresses[ring.pointer] = self.b.ins().select(wraps, moved, address);
        let (next_wrap, position) = match ring.position {
            None => (self.b.ins().iadd_imm_s(ring.wrap, cells), None),
            Some(position) => {
                let moved = self.b.ins().iadd_imm_s(position, back);
                let next = self.wrap_iteration(Num::Value(moved), cells, pointer.stride);
                (self.value(next), Some(self.b.ins().select(wraps, moved, position)))
            }
        };
        Ring { pointer: ring.pointer, wrap: self.b.ins().select(wraps, next_wrap, ring.wrap), position }
    }

    /// Runs iterations `start..end`, in which nothing wraps: unrolled vectors, single vectors, single cells.
    fn segment(&mut self, run: &Run<'_, 'a>, start: Num, end: Num) {
        let StripPlan { shape, unroll, .. } = *run.plan;
        let held = self.hold_literals(run, shape);
        let mut at = self.blocks(run, &held, (shape, unroll), start, end);
        if unroll > 1 {
            at = self.blocks(run, &held, (shape, 1), at, end);
        }
        if shape != Shape::Scalar {
            self.blocks(run, &Held::new(), (Shape::Scalar, 1), at, end);
        }
    }

    fn hold_literals(&mut self, run: &Run<'_, 'a>, shape: Shape) -> Held {
        if !run.plan.literals_in_registers {
            return Held::new();
        }
        run.plan.literals.iter().map(|literal| (*literal, self.load_literal(*literal, shape))).collect()
    }

    /// Runs whole blocks of `copies` times the lanes of `shape` from `start` on and returns where it stopped.
    fn blocks(&mut self, run: &Run<'_, 'a>, held: &Held, (shape, copies): (Shape, i64), start: Num, end: Num) -> Num {
        let step = shape.lanes() * copies;
        let limit = self.add(end, Num::Const(1 - step));
        let known = match (start, limit) {
            (Num::Const(start), Num::Const(limit)) if start >= limit => return Num::Const(start),
            (Num::Const(start), Num::Const(limit)) => Some(start + (limit - start + step - 1) / step * step),
            _ => None,
        };
        let (body, index) = self.block_with_param();
        let (done, stop) = self.block_with_param();
        let (first, limit) = (self.value(start), self.value(limit));
        match known {
            Some(_) => _ = self.b.ins().jump(body, &[first.into()]),
            None => self.branch_if_less(first, limit, (body, &[first.into()]), (done, &[first.into()])),
        }
        self.enter(body);
        self.block(run, held, shape, copies, index);
        let next = self.b.ins().iadd_imm_s(index, step);
        match known {
            Some(only) if start == Num::Const(only - step) => _ = self.b.ins().jump(done, &[next.into()]),
            _ => self.branch_if_less(next, limit, (body, &[next.into()]), (done, &[next.into()])),
        }
        self.enter(done);
        known.map_or(Num::Value(stop), Num::Const)
    }
}

/// What a jump to the head of a segment passes: the iteration, then what changes at wraps.
fn ring_args(start: Value, addresses: &[Value], rings: &[Ring]) -> Vec<BlockArg> {
    let changes = |ring: &Ring| [Some(addresses[ring.pointer]), Some(ring.wrap), ring.position];
    std::iter::once(start).chain(rings.iter().flat_map(changes).flatten()).map(BlockArg::from).collect()
}

//! Strips: pointers, and the loops around a block of lanes.
//!
//! In: a strip.   Out: code for the whole run; `rings` cuts it where a stream wraps.
//!
//! The body exists once or twice: for a vector of cells, unrolled if it is small, and for the single cells that are
//! left. Constants and what depends only on them are computed before the loop.

use super::emitter::Emitter;
use super::frame::Literal;
use super::ints::Num;
use super::plan::{Pointer, Shape, StripPlan};
use crate::program::{Op, Strip};
use cranelift_codegen::ir::{InstBuilder, Value, types};
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

/// What a loop keeps from iteration to iteration, in its own shape.
pub(super) struct Held {
    /// Literals in registers.
    pub(super) literals: HashMap<Literal, Value>,
    /// For each operation its result if it is invariant.
    pub(super) results: Vec<Option<Value>>,
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
        let rings = self.ring_table(&plan, length);
        let mut addresses = Vec::with_capacity(plan.pointers.len());
        for (at, pointer) in plan.pointers.iter().enumerate() {
            let address = self.first_address(strip, pointer);
            if let Some(rings) = &rings {
                self.start_ring(&plan, rings, at, address);
            }
            addresses.push(address);
        }
        let mut run = Run { plan: &plan, addresses, indices: self.first_indices(strip) };
        match rings {
            Some(rings) => self.segments(&mut run, &rings, length, exit),
            None => {
                self.segment(&run, Num::Const(0), length);
                self.b.ins().jump(exit, &[]);
            }
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

    /// Runs iterations `start..end`, in which nothing wraps: unrolled vectors, single vectors, single cells.
    pub(super) fn segment(&mut self, run: &Run<'_, 'a>, start: Num, end: Num) {
        let StripPlan { shape, unroll, .. } = *run.plan;
        let held = self.hold(run, shape, run.plan.literals_in_registers);
        let mut at = self.blocks(run, &held, (shape, unroll), start, end);
        if unroll > 1 {
            at = self.blocks(run, &held, (shape, 1), at, end);
        }
        if shape != Shape::Scalar {
            let held = self.hold(run, Shape::Scalar, false);
            self.blocks(run, &held, (Shape::Scalar, 1), at, end);
        }
    }

    /// Computes what does not change from block to block.
    fn hold(&mut self, run: &Run<'_, 'a>, shape: Shape, literals: bool) -> Held {
        let mut held = Held { literals: HashMap::new(), results: Vec::new() };
        if literals {
            held.literals =
                run.plan.literals.iter().map(|literal| (*literal, self.load_literal(*literal, shape))).collect();
        }
        held.results = self.invariants(run, &held, shape);
        held
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

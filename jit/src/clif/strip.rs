//! Strips: pointers, and the loops around a block of lanes.
//!
//! In: a strip.   Out: code for the whole run; `rings` cuts it where a stream wraps.
//!
//! The body exists once or twice: for a vector of cells, unrolled if it is small, and for the single cells that are
//! left. Constants and what depends only on them are computed before the loop.
//!
//! A strip of several iterations over arrays whose strides the call decides exists twice: for rows of adjacent cells,
//! with vectors where these could run and addresses that take no product in any case, and one cell at a time for all
//! others. It tests once, before its loops, which way to go. Tables that reach 2^31 bytes take the other way, too.

use crease_program::{Address, Along, Op, Strip};

use super::carried::{Carried, carried};
use super::emitter::{Emitter, Num, Shared};
use super::plan::{Pointer, Rows, Shape, StripPlan, dense_cells, moves_along, widest_bits};
use super::rings::Rings;
use super::run::Run;
use super::scratch::Kept;
use super::spill::SLOT_BYTES;
use super::wide::FARTHEST_CELL;
use crate::frame::Literal;
use crate::listing::StripListing;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Type, Value, types};
use std::collections::HashMap;

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
        let Shared { continued, single_iteration, coalesced, .. } = self.shared;
        if self.is_coalesced {
            // That the rows of its arrays are adjacent has been tested.
            let plan = StripPlan::new(&coalesced.strips[&strip.var], self.shared, Rows::Adjacent);
            return self.planned(&plan);
        }
        if continued.done.contains_key(&strip.var) {
            return;
        }
        let other = continued.longer.get(&strip.var).or_else(|| single_iteration.get(&strip.var));
        let strip = other.unwrap_or(strip);
        let arrays = arrays(strip);
        let plan = StripPlan::new(strip, self.shared, Rows::Adjacent);
        if arrays.is_empty() {
            return self.planned(&plan);
        }
        let strided = StripPlan::new(strip, self.shared, Rows::Strided);
        if plan.shape == Shape::Scalar && plan.constant_length() == Some(1) {
            return self.planned(&strided);
        }
        let ways = [(plan, self.b.create_block()), (strided, self.b.create_block())];
        let adjacent = self.rows_are_adjacent(&[strip], &arrays);
        let adjacent = self.tables_are_near(&ways[0].0, adjacent);
        self.b.ins().brif(adjacent, ways[0].1, &[], ways[1].1, &[]);
        let (exit, mark) = (self.b.create_block(), self.mark());
        for (plan, block) in &ways {
            self.enter_behind(*block, mark);
            self.planned(plan);
            self.b.ins().jump(exit, &[]);
        }
        self.enter_behind(exit, mark);
    }

    /// Whether these arrays of some strips are as [`Rows::Adjacent`] says.
    pub(super) fn rows_are_adjacent(&mut self, strips: &[&Strip], arrays: &[usize]) -> Value {
        let program = self.shared.program;
        let moves = |array: usize, axis: usize| strips.iter().any(|strip| moves_along(strip, array, axis));
        let mut all = None;
        for &array in arrays {
            let (bytes, extents) = (program.buffers[array].element.bytes() as i64, &program.buffers[array].extents);
            let last = extents.as_ref().map_or(0, Vec::len) - 1;
            for axis in (0..=last).filter(|axis| *axis == last || moves(array, *axis)) {
                let dense = dense_cells(program, array, axis).and_then(|cells| cells.checked_mul(bytes));
                let stride = self.load_stride(array, axis);
                let adjacent = match dense {
                    Some(dense) => self.b.ins().icmp_imm_s(IntCC::Equal, stride, dense),
                    // No memory has so many cells.
                    None => self.b.ins().iconst(types::I8, 0),
                };
                all = Some(all.map_or(adjacent, |others| self.b.ins().band(others, adjacent)));
            }
        }
        all.expect("there is an array")
    }

    /// Whether that is so, and tables in arrays reach no farther than distances of 32 bits tell.
    fn tables_are_near(&mut self, plan: &StripPlan<'a>, mut all: Value) -> Value {
        for (at, stream) in plan.strip.streams.iter().enumerate() {
            let of_arrays = stream.table.iter().filter(|axis| matches!(axis.along, Along::Coordinate(_)));
            let mut reach = Num::Const(0);
            for axis in of_arrays {
                // The array is in memory, so nothing here leaves 64 bits.
                let pitch = match self.axis_pitch(plan, at, axis) {
                    Num::Value(pitch) => Num::Value(self.b.ins().iabs(pitch)),
                    pitch => pitch,
                };
                let along = self.mul(pitch, Num::Const(axis.reach()));
                reach = self.add(reach, along);
            }
            if reach != Num::Const(0) {
                let reach = self.value(reach);
                let is_near = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, reach, FARTHEST_CELL);
                all = self.b.ins().band(all, is_near);
            }
        }
        all
    }

    /// Emits a strip as planned.
    fn planned(&mut self, plan: &StripPlan<'a>) {
        let strip = plan.strip;
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
        let mut exit = None;
        if let Num::Value(length) = length {
            let (start, end, mark) = (self.b.create_block(), self.b.create_block(), self.mark());
            let zero = self.b.ins().iconst(types::I64, 0);
            self.branch_if_less(zero, length, (start, &[]), (end, &[]));
            exit = Some((end, mark));
            self.enter_behind(start, mark);
        }
        self.begin_scratch(plan);
        let rings = Rings::new(plan, self.shared.program, length);
        let is_far = rings.as_ref().is_some_and(|rings| rings.is_far);
        let is_apart = is_far || plan.has_few_cells;
        let wide = if is_apart { None } else { self.wide_call(plan, length, rings.as_ref()) };
        // Iterations compute their own places.
        let is_each = is_far || plan.written_out().is_some();
        let table = match (&wide, &rings) {
            (Some(wide), _) => Some(wide.table),
            (None, Some(_)) if !is_each => {
                Some(self.table(plan, 8 * plan.pointers.len(), |emitter| &mut emitter.address_slot))
            }
            _ => None,
        };
        let spills = plan.spills.as_ref().filter(|_| wide.is_none());
        let slots = self.take_scratch(spills.map_or(0, |spills| spills.slots * SLOT_BYTES as usize));
        let carried = if wide.is_none() { carried(plan) } else { Vec::new() };
        if self.shared.options.texts && wide.is_none() {
            self.functions.listed(listing(plan, &carried));
        }
        let run =
            Run { plan, carried, addresses: vec![], strides: vec![], indices: HashMap::new(), slots, table, wide };
        let mut run = self.with_addresses(run, rings.as_ref());
        match (&rings, &run.wide) {
            (None, _) => self.segment(&run, Num::Const(0), length),
            (Some(rings), None) if is_each => self.single_iterations(&mut run, rings, length),
            (Some(rings), wide) => {
                let is_wide = wide.is_some();
                let (end, mark) = exit.unwrap_or_else(|| (self.b.create_block(), self.mark()));
                match is_wide {
                    true => self.wide_in_rings(&run, rings, length, end),
                    false => self.narrow_in_rings(&mut run, rings, length, end),
                }
                return self.enter_behind(end, mark);
            }
        }
        if let Some((end, mark)) = exit {
            self.b.ins().jump(end, &[]);
            self.enter_behind(end, mark);
        }
    }

    /// The run with what the call and the place of the strip tell: addresses, strides and first indices.
    fn with_addresses<'p>(&mut self, mut run: Run<'p, 'a>, rings: Option<&Rings>) -> Run<'p, 'a> {
        let plan = run.plan;
        for (at, pointer) in plan.pointers.iter().enumerate() {
            let follows = rings.is_some_and(|rings| rings.groups.follows(at));
            let address = if follows { None } else { Some(self.first_address(plan, pointer)) };
            if let (Some(table), Some(address)) = (&run.table, address) {
                self.pass_address(table, at, address);
            }
            if run.wide.is_some() {
                continue;
            }
            // In rings addresses come from the table.
            let address = address.map_or(Num::Const(0), Num::Value);
            run.addresses.push(if rings.is_none() { self.keep(plan, address) } else { Kept::Num(address) });
            let stride = self.stride_bytes(plan, pointer);
            run.strides.push(stride.map(|stride| self.keep(plan, stride)));
        }
        if let (Some(rings), Some(table)) = (rings, &run.table)
            && run.wide.as_ref().is_none_or(|wide| wide.joined.is_none())
        {
            self.pass_followers(rings, table);
        }
        run.indices = self.first_indices(plan);
        self.pass_indices(&run);
        self.pass_lookups(&run);
        run
    }

    /// The address of a pointer's cell at iteration 0.
    pub(super) fn first_address(&mut self, plan: &StripPlan<'a>, pointer: &Pointer) -> Value {
        let stream = &plan.strip.streams[pointer.stream];
        let buffer = stream.buffer.index();
        match &stream.address {
            Address::Block { pos, .. } => {
                let position = self.int(pos);
                self.address_at(plan, pointer, position)
            }
            Address::Array(coordinates) => {
                let start = self.load_buffer(buffer);
                let mut offset = Num::Const(0);
                for (axis, coordinate) in coordinates.iter().enumerate() {
                    let start = self.int(&coordinate.start);
                    let distance = self.axis_bytes(plan, buffer, axis);
                    let moved = self.mul(start, distance);
                    offset = self.add(offset, moved);
                }
                let address = self.add(Num::Value(start), offset);
                self.value(address)
            }
        }
    }

    /// The address of the cell at a position of a pointer's block.
    pub(super) fn address_at(&mut self, plan: &StripPlan<'a>, pointer: &Pointer, position: Num) -> Value {
        let stream = &plan.strip.streams[pointer.stream];
        let Address::Block { base, .. } = &stream.address else { unreachable!("arrays have no positions") };
        let start = self.load_buffer(stream.buffer.index());
        let base = self.int(base);
        let cell = self.add(base, position);
        let offset = self.mul(cell, Num::Const(pointer.bytes));
        let address = self.add(Num::Value(start), offset);
        self.value(address)
    }

    /// Bytes between neighbours along an axis of an array.
    pub(super) fn axis_bytes(&mut self, plan: &StripPlan<'a>, buffer: usize, axis: usize) -> Num {
        let decl = &self.shared.program.buffers[buffer];
        let is_last = decl.extents.as_ref().is_some_and(|extents| axis + 1 == extents.len());
        match plan.rows {
            Rows::Adjacent if is_last => Num::Const(decl.element.bytes() as i64),
            Rows::Adjacent | Rows::Strided => Num::Value(self.load_stride(buffer, axis)),
        }
    }

    /// Bytes that a pointer moves by in each iteration, if the plan leaves that to the call.
    fn stride_bytes(&mut self, plan: &StripPlan<'a>, pointer: &Pointer) -> Option<Num> {
        let stream = &plan.strip.streams[pointer.stream];
        let Address::Array(coordinates) = &stream.address else { return None };
        if pointer.stride.is_some() {
            return None;
        }
        let mut sum = Num::Const(0);
        for (axis, coordinate) in coordinates.iter().enumerate().filter(|(_, c)| c.step != 0) {
            let distance = self.axis_bytes(plan, stream.buffer.index(), axis);
            let moved = self.mul(distance, Num::Const(coordinate.step));
            sum = self.add(sum, moved);
        }
        Some(sum)
    }

    fn first_indices(&mut self, plan: &StripPlan<'a>) -> HashMap<usize, (Kept, i64)> {
        let strip = plan.strip;
        let mut indices = HashMap::new();
        for (at, op) in strip.ops.iter().enumerate() {
            if let Op::Index { base, offset, step, .. } = *op {
                let base = base.map_or(Num::Const(0), |base| self.vars[&base]);
                let lo = self.int(&strip.lo);
                let moved = self.mul(lo, Num::Const(step));
                let first = self.add(base, Num::Const(offset));
                let first = self.add(first, moved);
                indices.insert(at, (self.keep(plan, first), step));
            }
        }
        indices
    }

    /// Runs iterations `start..end`, in which nothing wraps: unrolled vectors, single vectors, single cells.
    pub(super) fn segment(&mut self, run: &Run<'_, 'a>, start: Num, end: Num) {
        if let Some(wide) = &run.wide {
            return self.wide_segment(wide.function, wide, start, end);
        }
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

    /// Runs whole blocks of `unroll_factor` times the lanes of `shape` from `start` on and returns where it stopped.
    fn blocks(
        &mut self,
        run: &Run<'_, 'a>,
        held: &Held,
        (shape, unroll_factor): (Shape, i64),
        start: Num,
        end: Num,
    ) -> Num {
        let step = shape.lanes() * unroll_factor;
        let limit = self.add(end, Num::Const(1 - step));
        let known = match (start, limit) {
            (Num::Const(start), Num::Const(limit)) if start >= limit => return Num::Const(start),
            (Num::Const(start), Num::Const(limit)) => {
                // At most `end`, so it has 64 bits.
                Some(start + ((limit - start - 1) / step + 1) * step)
            }
            _ => None,
        };
        if let (Some(end), Num::Const(start)) = (known, start)
            && (end - start == step || run.plan.written_out().is_some())
        {
            for at in (start..end).step_by(step as usize) {
                self.block(run, held, (shape, unroll_factor), Num::Const(at), &[]);
            }
            return Num::Const(end);
        }
        let (body, index) = self.block_with_param();
        let (done, stop) = self.block_with_param();
        let (first, limit) = (self.value(start), self.value(limit));
        let mark = self.mark();
        let carried = match known {
            None if run.carried.is_empty() => {
                self.branch_if_less(first, limit, (body, &[first.into()]), (done, &[first.into()]));
                Vec::new()
            }
            None => {
                let begun = self.b.create_block();
                self.branch_if_less(first, limit, (begun, &[]), (done, &[first.into()]));
                self.enter_behind(begun, mark);
                self.begin_carrying(run, held, first, body)
            }
            Some(_) => self.begin_carrying(run, held, first, body),
        };
        self.enter_behind(body, mark);
        let handed_on = self.block(run, held, (shape, unroll_factor), Num::Value(index), &carried);
        let next = self.b.ins().iadd_imm_s(index, step);
        let again: Vec<BlockArg> = [next].iter().chain(&handed_on).map(|&value| value.into()).collect();
        self.branch_if_less(next, limit, (body, &again), (done, &[next.into()]));
        self.enter_behind(done, mark);
        known.map_or(Num::Value(stop), Num::Const)
    }

    /// Enters a loop at its first iteration. Returns what each iteration takes from the one before.
    fn begin_carrying(&mut self, run: &Run<'_, 'a>, held: &Held, first: Value, body: Block) -> Vec<Value> {
        let loaded = self.first_carried(run, held, Num::Value(first));
        let entered: Vec<BlockArg> = [first].iter().chain(&loaded).map(|&value| value.into()).collect();
        self.b.ins().jump(body, &entered);
        let types: Vec<Type> = loaded.iter().map(|&value| self.b.func.dfg.value_type(value)).collect();
        types.into_iter().map(|ty| self.b.append_block_param(body, ty)).collect()
    }
}

/// What is to be said of a strip that is part of the function around it.
fn listing(plan: &StripPlan<'_>, carried: &[Carried]) -> StripListing {
    let number_bits = widest_bits(&plan.kinds, &plan.elements);
    StripListing {
        strip: plan.strip.var,
        runs: None,
        is_joined: false,
        vector_bits: number_bits * plan.shape.lanes() as u32,
        lanes: plan.shape.lanes() as u32,
        blocks: plan.unroll as u32,
        is_pipelined: false,
        carried: carried.iter().map(|carried| carried.load as u32).collect(),
        registers: None,
        text: String::new(),
    }
}

/// The arrays that a strip addresses by coordinates.
pub(super) fn arrays(strip: &Strip) -> Vec<usize> {
    let mut arrays: Vec<usize> = Vec::new();
    for stream in strip.streams.iter().filter(|stream| matches!(stream.address, Address::Array(_))) {
        let array = stream.buffer.index();
        arrays.extend(Some(array).filter(|array| !arrays.contains(array)));
    }
    arrays
}

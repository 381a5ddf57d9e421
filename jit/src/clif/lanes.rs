//! Blocks: the straight-line body of a strip, for one cell or for one vector of cells.
//!
//! In: a [`Run`] and the block's first iteration.   Out: loads, operations and stores in the plan's order.
//!
//! Copies of an unrolled body follow each other whole, so that the order of memory accesses is that of single blocks.
//! What they share are addresses and loads of cells that the strip does not write.
//!
//! Each operation gives the interpreter's bits. Minimum and maximum are `select(a < b, a, b)`, which is the machine's
//! own `minpd`; Cranelift's `fmin` treats NaN and zeros differently.

use crease_program::{
    BinaryOp, CompareOp, Element, MOST_AXES, OPAQUE_K1, OPAQUE_K2, OPAQUE_NAN, Op, StreamId, UnaryOp, ValueId,
    ValueType,
};

use super::carried::Carried;
use super::emitter::Num;
use super::emitter::{Emitter, plain};
use super::plan::{Kind, Shape};
use super::run::Run;
use super::spill::{Home, SLOT_BYTES, Step};
use super::strip::Held;
use super::tables::Table;
use super::vectors::register_in;
use crate::frame::Literal;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use std::collections::HashMap;

/// One emission of a block.
struct Block<'r, 'p, 'a> {
    run: &'r Run<'p, 'a>,
    held: &'r Held,
    shape: Shape,
    /// The first iteration of the block; none before the loop, where only invariants are computed.
    index: Option<Num>,
    /// Which copy of the body is being emitted.
    copy: i64,
    /// Results of this copy.
    values: Vec<Option<Value>>,
    /// Addresses at `index`, by pointer.
    addresses: HashMap<usize, Value>,
    /// Loads of cells that the strip does not write, by pointer, distance and type.
    loaded: HashMap<(usize, i32, ValueType), Value>,
    /// Types of the values in the slots of the call's memory.
    in_slots: HashMap<usize, Type>,
}

impl<'r, 'p, 'a> Block<'r, 'p, 'a> {
    fn new(run: &'r Run<'p, 'a>, held: &'r Held, shape: Shape, index: Option<Num>) -> Self {
        let values = vec![None; run.plan.strip.ops.len()];
        let (addresses, loaded, in_slots) = (HashMap::new(), HashMap::new(), HashMap::new());
        Block { run, held, shape, index, copy: 0, values, addresses, loaded, in_slots }
    }

    fn index(&self) -> Num {
        self.index.expect("an invariant depends on no iteration")
    }

    fn vector(&self) -> bool {
        self.shape != Shape::Scalar
    }

    /// The type of a number; that of a double for the accumulator of an opaque function.
    fn number(&self, id: ValueId) -> ValueType {
        match self.run.plan.kinds[id.index()] {
            Kind::F64 | Kind::Bits => ValueType::F64,
            Kind::F32 => ValueType::F32,
            Kind::Int(ty) => ty,
            Kind::Bool | Kind::Nothing => unreachable!("the program has verified"),
        }
    }

    /// The type of an integer; none for what is none.
    fn integer(&self, id: ValueId) -> Option<ValueType> {
        if let Kind::Int(ty) = self.run.plan.kinds[id.index()] { Some(ty) } else { None }
    }
}

impl<'a> Emitter<'a, '_> {
    /// What the loads of a strip whose values are handed on have in the iteration `first`, in which they are loaded.
    pub(super) fn first_carried(&mut self, run: &Run<'_, 'a>, held: &Held, first: Num) -> Vec<Value> {
        let mut block = Block::new(run, held, Shape::Scalar, Some(first));
        let load = |carried: &Carried| self.op(&mut block, carried.load).expect("loads have results");
        run.carried.iter().map(load).collect()
    }

    /// Emits `unroll_factor` blocks that start at iteration `index`. Returns what they hand on to the next iteration, if
    /// they take something from the one before.
    pub(super) fn block(
        &mut self,
        run: &Run<'_, 'a>,
        held: &Held,
        (shape, unroll_factor): (Shape, i64),
        index: Num,
        carried: &[Value],
    ) -> Vec<Value> {
        let mut block = Block::new(run, held, shape, Some(index));
        for copy in 0..unroll_factor {
            block.copy = copy;
            block.values.clone_from(&held.results);
            for (Carried { load, .. }, value) in run.carried.iter().zip(carried) {
                block.values[*load] = Some(*value);
            }
            match &run.plan.spills {
                None => {
                    for at in &run.plan.order {
                        // What is invariant is in none of these, so that a value that is known was carried.
                        if block.values[*at].is_none() {
                            block.values[*at] = self.op(&mut block, *at);
                        }
                    }
                }
                Some(spills) => {
                    let steps = run.plan.order.iter().zip(&spills.steps);
                    steps.for_each(|(at, step)| self.op_with_spills(&mut block, *at, step));
                }
            }
        }
        let handed_on = |Carried { source, .. }: &Carried| match run.plan.strip.ops[*source] {
            Op::Store { value, .. } => self.operand(&block, value),
            _ => block.values[*source].expect("all loads have been emitted"),
        };
        run.carried[..carried.len()].iter().map(handed_on).collect()
    }

    /// Emits an operation between what it takes from the call's memory and what it leaves there.
    fn op_with_spills(&mut self, block: &mut Block<'_, '_, 'a>, at: usize, step: &Step) {
        for (value, home) in &step.fetch {
            block.values[*value] = match home {
                Home::Cell => self.op(block, *value),
                Home::Slot(slot) => {
                    let ty = block.in_slots[slot];
                    let (base, offset) = self.slot_place(block, *slot);
                    Some(self.b.ins().load(ty, plain(), base, offset))
                }
            };
        }
        if step.is_put_off {
            return;
        }
        block.values[at] = self.op(block, at);
        if let Some(slot) = step.keep {
            let value = block.values[at].expect("only results are kept");
            let ty = self.b.func.dfg.value_type(value);
            assert!(ty.bytes() <= SLOT_BYTES as u32, "a slot holds any value");
            block.in_slots.insert(slot, ty);
            let (base, offset) = self.slot_place(block, slot);
            self.b.ins().store(plain(), value, base, offset);
        }
        step.drop.iter().for_each(|value| block.values[*value] = None);
    }

    /// A slot in the memory of the call.
    fn slot_place(&mut self, block: &Block<'_, '_, 'a>, slot: usize) -> (Value, i32) {
        (self.scratch_base(), block.run.slots + slot as i32 * SLOT_BYTES)
    }

    /// Emits the operations whose result is the same in every block; returns results by operation.
    pub(super) fn invariants(&mut self, run: &Run<'_, 'a>, held: &Held, shape: Shape) -> Vec<Option<Value>> {
        let mut block = Block::new(run, held, shape, None);
        for at in &run.plan.invariants {
            block.values[*at] = self.op(&mut block, *at);
        }
        block.values
    }

    /// Loads a literal in the given shape.
    pub(super) fn load_literal(&mut self, literal: Literal, shape: Shape) -> Value {
        let ty = match literal {
            Literal::F64(_) => ValueType::F64,
            Literal::F32(_) => ValueType::F32,
            Literal::Scalar(id) => self.shared.program.scalars[id.index()].element.value_type(),
        };
        let ty = register_in(shape, ty);
        self.load_frame(ty, self.shared.layout.literal_offset(literal))
    }

    /// A number or truth value; the accumulator of an opaque function counts as the double with its bits.
    fn operand(&mut self, block: &Block<'_, '_, 'a>, id: ValueId) -> Value {
        let value = self.raw_operand(block, id);
        match block.run.plan.kinds[id.index()] {
            Kind::Bits => self.b.ins().bitcast(types::F64, MemFlagsData::new(), value),
            _ => value,
        }
    }

    /// An operand. A literal that no register holds is loaded here, beside its use, where it folds into the
    /// instruction.
    fn raw_operand(&mut self, block: &Block<'_, '_, 'a>, id: ValueId) -> Value {
        match Literal::of(&block.run.plan.strip.ops[id.index()]) {
            Some(literal) => match block.held.literals.get(&literal) {
                Some(value) => *value,
                None => self.load_literal(literal, block.shape),
            },
            None => block.values[id.index()].expect("operands are emitted before their uses"),
        }
    }

    fn op(&mut self, block: &mut Block<'_, '_, 'a>, at: usize) -> Option<Value> {
        let op = block.run.plan.strip.ops[at];
        Some(match op {
            Op::F64(_) | Op::F32(_) | Op::Scalar(_) => return None,
            Op::Int(ty, value) if block.vector() => self.integer_constants(ty, value),
            Op::Int(ty, value) => self.integer_constant(ty, value),
            Op::Index { ty, .. } => self.index(block, at, ty),
            Op::Load { stream, ty } => self.load(block, at, stream, ty),
            Op::Lookup { stream, values, ty } => self.lookup(block, stream, values, ty),
            Op::Store { stream, value, .. } => {
                let from = block.number(value);
                let value = self.operand(block, value);
                self.store(block, stream, from, value);
                return None;
            }
            Op::Unary(op, a) if let Some(ty) = block.integer(a) => {
                let a = self.operand(block, a);
                if block.vector() { self.unary_lanes(op, ty, a) } else { self.integer_unary(op, ty, a) }
            }
            Op::Unary(op, a) => {
                let a = self.operand(block, a);
                match op {
                    UnaryOp::Neg => self.b.ins().fneg(a),
                    UnaryOp::Abs => self.b.ins().fabs(a),
                    UnaryOp::Sqrt => self.b.ins().sqrt(a),
                    UnaryOp::Floor => self.b.ins().floor(a),
                    UnaryOp::Ceil => self.b.ins().ceil(a),
                    UnaryOp::Trunc => self.b.ins().trunc(a),
                    UnaryOp::Nearest => self.b.ins().nearest(a),
                    UnaryOp::BitNot => unreachable!("of integers only"),
                }
            }
            Op::Binary(op, a, b) => {
                let ty = block.integer(a);
                let (a, b) = (self.operand(block, a), self.operand(block, b));
                match ty {
                    Some(ty) if block.vector() => self.binary_lanes(op, ty, a, b),
                    Some(ty) => self.integer_binary(op, ty, a, b),
                    None => self.binary(op, a, b),
                }
            }
            Op::Fma(a, b, c) => {
                let (a, b, c) = (self.operand(block, a), self.operand(block, b), self.operand(block, c));
                self.b.ins().fma(a, b, c)
            }
            Op::Bits(op, a, b) => {
                let is_integer = block.integer(a).is_some();
                let (a, b) = (self.operand(block, a), self.operand(block, b));
                if is_integer { self.integer_bits(op, a, b) } else { self.combine_bits(op, a, b) }
            }
            Op::Shift(op, a, count) => {
                let ty = block.integer(a);
                let a = self.operand(block, a);
                match ty {
                    Some(ty) if block.vector() => self.shift_lanes(op, ty, a, count),
                    Some(ty) => self.integer_shift(op, ty, a, count),
                    None => self.shift_bits(op, a, count),
                }
            }
            Op::Compare(op, a, b) => {
                let ty = block.integer(a);
                let (a, b) = (self.operand(block, a), self.operand(block, b));
                match ty {
                    Some(ty) => self.integer_compare(op, ty, a, b),
                    None => {
                        let (a, b) = (self.in_register(a), self.in_register(b));
                        self.b.ins().fcmp(float_cc(op), a, b)
                    }
                }
            }
            Op::And(a, b) => {
                let (a, b) = (self.operand(block, a), self.operand(block, b));
                let (a, b) = self.alike_masks(a, b);
                self.b.ins().band(a, b)
            }
            Op::Or(a, b) => {
                let (a, b) = (self.operand(block, a), self.operand(block, b));
                let (a, b) = self.alike_masks(a, b);
                self.b.ins().bor(a, b)
            }
            Op::Not(a) => {
                let a = self.operand(block, a);
                if block.vector() { self.b.ins().bnot(a) } else { self.b.ins().bxor_imm_u(a, 1) }
            }
            Op::Select(cond, a, b) => {
                let is_truth = block.run.plan.kinds[a.index()] == Kind::Bool;
                let (cond, a, b) = (self.operand(block, cond), self.operand(block, a), self.operand(block, b));
                let (a, b) = if is_truth { self.alike_masks(a, b) } else { (a, b) };
                self.choose(cond, a, b)
            }
            Op::Convert(ty, a) => {
                let from = block.number(a);
                let a = self.operand(block, a);
                self.convert(block.shape, from, ty, a)
            }
            Op::OpaqueSeed(seed) => self.b.ins().iconst(types::I64, seed as i64),
            Op::OpaqueMix(acc, x) => {
                let (acc, x) = (self.raw_operand(block, acc), self.raw_operand(block, x));
                self.opaque_mix(acc, x)
            }
            Op::OpaqueFinish(acc) => {
                let acc = self.raw_operand(block, acc);
                self.opaque_finish(acc)
            }
        })
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        match op {
            BinaryOp::Add => self.b.ins().fadd(a, b),
            BinaryOp::Sub => self.b.ins().fsub(a, b),
            BinaryOp::Mul => self.b.ins().fmul(a, b),
            BinaryOp::Div => self.b.ins().fdiv(a, b),
            BinaryOp::Min => {
                let less = self.b.ins().fcmp(FloatCC::LessThan, a, b);
                self.choose(less, a, b)
            }
            BinaryOp::Max => {
                let less = self.b.ins().fcmp(FloatCC::LessThan, b, a);
                self.choose(less, a, b)
            }
            BinaryOp::Rem => self.call_rem(a, b),
            BinaryOp::AddSat | BinaryOp::SubSat => unreachable!("of integers only"),
        }
    }

    /// The number, if it is a vector, in a register: a comparison of the code generator takes a vector out of memory also
    /// where processors, those without AVX, demand that it is aligned there. Takes no instruction of its own.
    fn in_register(&mut self, number: Value) -> Value {
        let ty = self.b.func.dfg.value_type(number);
        if !ty.is_vector() {
            return number;
        }
        let bits = self.b.ins().bitcast(ty.as_truthy(), MemFlagsData::new(), number);
        self.b.ins().bitcast(ty, MemFlagsData::new(), bits)
    }

    /// `cond ? a : b`, lane by lane.
    pub(super) fn choose(&mut self, cond: Value, a: Value, b: Value) -> Value {
        let ty = self.b.func.dfg.value_type(a);
        if !ty.is_vector() {
            return self.b.ins().select(cond, a, b);
        }
        let cond = self.mask_of(cond, ty.lane_bits());
        let mask = if ty.lane_type().is_float() { self.b.ins().bitcast(ty, MemFlagsData::new(), cond) } else { cond };
        self.b.ins().bitselect(mask, a, b)
    }

    fn convert(&mut self, shape: Shape, from: ValueType, to: ValueType, a: Value) -> Value {
        match (from, to) {
            _ if from == to => a,
            _ if shape != Shape::Scalar => self.convert_lanes(shape, from, to, a),
            (ValueType::F32, ValueType::F64) => self.b.ins().fpromote(types::F64, a),
            (ValueType::F64, ValueType::F32) => self.b.ins().fdemote(types::F32, a),
            _ => self.integer_convert(from, to, a),
        }
    }

    /// `first + increment * j` for each lane, converted from the exact integer. One that does not move is converted once.
    fn index(&mut self, block: &Block<'_, '_, 'a>, at: usize, ty: ValueType) -> Value {
        let (first, increment) = block.run.indices[&at];
        let first = self.kept(first);
        if increment == 0 {
            let (vector, only) = (register_in(block.shape, ty), self.value(first));
            let scalar = self.b.ins().fcvt_from_sint(vector.lane_type(), only);
            return self.splat(vector, scalar);
        }
        let moved = self.mul(block.index(), Num::Const(increment));
        let start = self.add(first, moved);
        let vector = register_in(block.shape, ty);
        let mut result = None;
        for lane in 0..block.shape.lanes() {
            let ahead = increment.wrapping_mul(block.copy * block.shape.lanes() + lane);
            let cell = self.add(start, Num::Const(ahead));
            let cell = self.value(cell);
            let scalar = self.b.ins().fcvt_from_sint(vector.lane_type(), cell);
            result = Some(match result {
                None if block.vector() => self.b.ins().splat(vector, scalar),
                None => scalar,
                Some(lanes) => self.b.ins().insertlane(lanes, scalar, lane as u8),
            });
        }
        result.expect("a shape has at least one lane")
    }

    /// The address of a stream's pointer at the block's first iteration, and the distance of the current copy from it.
    fn place(&mut self, block: &mut Block<'_, '_, 'a>, stream: StreamId) -> (Value, i32) {
        let (pointer, delta) = block.run.plan.places[stream.index()];
        let info = block.run.plan.pointers[pointer];
        // But for corners of tables, only blocks of one copy have strides other than 0 and 1, known or not.
        let scale = info.stride.map(|stride| stride.wrapping_mul(info.bytes));
        let ahead = block.copy * block.shape.lanes() * scale.unwrap_or(0);
        let address = match (block.addresses.get(&pointer), scale) {
            (Some(known), _) => *known,
            (None, Some(0)) => self.first_of(block, pointer),
            (None, None) => {
                let first = self.first_of(block, pointer);
                let scale = block.run.strides[pointer].expect("what is not known now is computed before the loop");
                let scale = self.kept(scale);
                let moved = self.mul(block.index(), scale);
                let address = self.add(Num::Value(first), moved);
                self.value(address)
            }
            (None, Some(scale)) => {
                let first = self.first_of(block, pointer);
                // Cranelift folds base, shifted index and displacement into one operand.
                let moved = self.mul(block.index(), Num::Const(scale.wrapping_abs()));
                let first = Num::Value(first);
                let address = if scale > 0 { self.add(first, moved) } else { self.sub(first, moved) };
                self.value(address)
            }
        };
        if !block.run.plan.is_large {
            block.addresses.insert(pointer, address);
        }
        let reach = i64::from(delta) + ahead;
        (address, i32::try_from(reach).expect("streams that share a pointer are less than 1 GiB apart"))
    }

    /// The address of a pointer's cell at iteration 0.
    fn first_of(&mut self, block: &Block<'_, '_, 'a>, pointer: usize) -> Value {
        let first = self.kept(block.run.addresses[pointer]);
        self.value(first)
    }

    fn load(&mut self, block: &mut Block<'_, '_, 'a>, at: usize, stream: StreamId, ty: ValueType) -> Value {
        let (address, offset) = self.place(block, stream);
        let key = (block.run.plan.places[stream.index()].0, offset, ty);
        let shared = block.run.plan.shares_loads && block.run.plan.unwritten[at];
        if let Some(known) = block.loaded.get(&key).filter(|_| shared) {
            return *known;
        }
        let element = block.run.plan.elements[stream.index()];
        let one_cell = block.run.plan.strip.streams[stream.index()].is_fixed();
        let (shape, cell) = (block.shape, element.value_type());
        let value = if block.vector() && !one_cell {
            let lanes = self.load_lanes(shape, element, address, offset);
            self.convert(shape, cell, ty, lanes)
        } else {
            let scalar = self.load_cell(element, address, offset);
            let scalar = self.convert(Shape::Scalar, cell, ty, scalar);
            self.splat(register_in(shape, ty), scalar)
        };
        if shared {
            block.loaded.insert(key, value);
        }
        value
    }

    /// Cells of a table, one for each lane.
    fn lookup(
        &mut self,
        block: &mut Block<'_, '_, 'a>,
        stream: StreamId,
        values: [Option<ValueId>; MOST_AXES],
        ty: ValueType,
    ) -> Value {
        let corner = self.place(block, stream);
        let values = values.map(|value| value.map(|value| (self.operand(block, value), block.number(value))));
        let plan = block.run.plan;
        let element = plan.elements[stream.index()];
        // Blocks of one lane need none.
        let (pointer, _) = plan.places[stream.index()];
        let corner_step = plan.pointers[pointer].stride.unwrap_or(0).wrapping_mul(element.bytes() as i64);
        let cells = self.look_up(&Table { plan, stream, corner, corner_step }, block.shape, values);
        let register = register_in(block.shape, ty);
        let mut result = None;
        for (lane, cell) in cells.into_iter().enumerate() {
            let scalar = self.convert(Shape::Scalar, element.value_type(), ty, cell);
            result = Some(match result {
                None => self.splat(register, scalar),
                Some(lanes) => self.b.ins().insertlane(lanes, scalar, lane as u8),
            });
        }
        result.expect("a shape has at least one lane")
    }

    fn splat(&mut self, ty: Type, scalar: Value) -> Value {
        if ty.is_vector() { self.b.ins().splat(ty, scalar) } else { scalar }
    }

    /// Loads a cell in the type of the cells; one of half precision as a float.
    pub(super) fn load_cell(&mut self, element: Element, address: Value, offset: i32) -> Value {
        if element == Element::F16 {
            let bits = self.b.ins().uload16(types::I32, plain(), address, offset);
            return self.widen_half(bits);
        }
        self.b.ins().load(register_in(Shape::Scalar, element.value_type()), plain(), address, offset)
    }

    fn store(&mut self, block: &mut Block<'_, '_, 'a>, stream: StreamId, from: ValueType, value: Value) {
        let (address, offset) = self.place(block, stream);
        let element = block.run.plan.elements[stream.index()];
        let value = self.convert(block.shape, from, element.value_type(), value);
        match element {
            _ if block.vector() => self.store_lanes(block.shape, element, value, address, offset),
            Element::F16 => {
                let half = self.narrow_to_half(value);
                self.b.ins().istore16(plain(), half, address, offset);
            }
            _ => _ = self.b.ins().store(plain(), value, address, offset),
        }
    }

    /// One step of [`crease_program::opaque_mix`].
    fn opaque_mix(&mut self, acc: Value, x: Value) -> Value {
        let bits = self.bits(x);
        let magnitude = self.b.ins().ishl_imm_u(bits, 1);
        let infinity = self.b.ins().iconst(types::I64, (f64::INFINITY.to_bits() << 1) as i64);
        let is_nan = self.b.ins().icmp(IntCC::UnsignedGreaterThan, magnitude, infinity);
        let nan = self.b.ins().iconst(types::I64, OPAQUE_NAN as i64);
        let bits = self.b.ins().select(is_nan, nan, bits);
        let mut acc = self.bits(acc);
        acc = self.b.ins().bxor(acc, bits);
        for factor in [OPAQUE_K1, OPAQUE_K2] {
            let factor = self.b.ins().iconst(types::I64, factor as i64);
            acc = self.b.ins().imul(acc, factor);
            let high = self.b.ins().ushr_imm_u(acc, 32);
            acc = self.b.ins().bxor(acc, high);
        }
        acc
    }

    /// [`crease_program::opaque_finish`]: the upper 53 bits, scaled by 2^-53; both steps are exact.
    fn opaque_finish(&mut self, acc: Value) -> Value {
        let acc = self.bits(acc);
        let upper = self.b.ins().ushr_imm_u(acc, 11);
        let float = self.b.ins().fcvt_from_sint(types::F64, upper);
        let scale = self.b.ins().f64const(f64::EPSILON / 2.0);
        self.b.ins().fmul(float, scale)
    }

    fn bits(&mut self, value: Value) -> Value {
        if self.b.func.dfg.value_type(value) == types::I64 {
            return value;
        }
        self.b.ins().bitcast(types::I64, MemFlagsData::new(), value)
    }
}

fn float_cc(op: CompareOp) -> FloatCC {
    match op {
        CompareOp::Lt => FloatCC::LessThan,
        CompareOp::Le => FloatCC::LessThanOrEqual,
        CompareOp::Gt => FloatCC::GreaterThan,
        CompareOp::Ge => FloatCC::GreaterThanOrEqual,
        CompareOp::Eq => FloatCC::Equal,
        CompareOp::Ne => FloatCC::NotEqual,
    }
}

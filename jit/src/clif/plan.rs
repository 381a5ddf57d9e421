//! How one strip is to be emitted: value types, vector shape, shared pointers.
//!
//! In: a strip of a verified program.   Out: a [`StripPlan`]; nothing is emitted yet.

use crease_program::{
    Address, BinaryOp, BufferId, Element, Int, Op, Program, ScalarId, Stream, StreamId, Strip, UnaryOp, ValueId,
    ValueType,
};

use super::double_mapped::{self, Follower, Ring};
use super::emitter::Shared;
use super::ring_groups::FARTHEST_BYTES;
use super::spill::{MOST_LIVE, Spills};
use crate::frame::Literal;
use crate::isa::IsaChoice;
use crate::knobs::{FEW_CELLS, FEW_OPERATIONS, FEW_POINTERS, ROW_CELLS, UNROLLED_OPERATIONS};
use crate::strip::{Aliases, Definitions, Linear, emission_order, hash_of_terms, pressure};
use crate::vector::LookupEntry;
use rustc_hash::{FxHashMap, FxHashSet};

/// Pointers and index operations of a strip that may be on the stack, in tables or in registers that are spilled: 16
/// KiB of it at most. The largest strips of the catalogue have about 60.
const MOST_ON_STACK: usize = 256;

/// Bytes between the corners of a table in two iterations, at most, if a block of several looks up in it: what an
/// instruction adds to an address has 32 bits, and all copies of a body and all their lanes fit into that.
const FARTHEST_CORNER_BYTES: u64 = 1 << 16;

/// Bits of a vector: what Cranelift has on every processor.
const VECTOR_BITS: u32 = 128;

/// How many cells one operation computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// One cell.
    Scalar,
    /// 2, 4, 8 or 16 cells: the first lanes of vectors of 128 bits. Types that are narrower than the widest of the
    /// strip leave the lanes above to chance.
    Lanes(u8),
}

impl Shape {
    /// Cells per operation.
    pub(super) fn lanes(self) -> i64 {
        match self {
            Shape::Scalar => 1,
            Shape::Lanes(lanes) => lanes.into(),
        }
    }
}

/// What a plan takes for granted about the arrays that its strip addresses by coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    /// Neighbours along the last coordinate are adjacent in memory, and along others that the strip moves in, they are as
    /// far apart as if all cells followed each other; the strip tests that before it takes this way.
    Adjacent,
    /// Nothing: every stride is known at run time only.
    Strided,
}

/// The type of an operation's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A double.
    F64,
    /// A float.
    F32,
    /// An integer of this type.
    Int(ValueType),
    /// A truth value.
    Bool,
    /// The accumulator of an opaque function.
    Bits,
    /// A store.
    Nothing,
}

/// A pointer that the strip advances. Streams whose cells differ by a constant share one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pointer {
    /// The stream that defines it.
    pub(super) stream: usize,
    /// Cells per iteration; none if only the call's strides tell.
    pub(super) stride: Option<i64>,
    /// Size of a cell.
    pub(super) bytes: i64,
    /// The ring, if the position may run around; a ring that the strip does not move in is none.
    pub(super) ring: Option<Ring>,
}

/// What is decided about a strip before a single instruction is emitted.
pub(super) struct StripPlan<'a> {
    /// The strip.
    pub(super) strip: &'a Strip,
    /// Which of its loads and stores may meet.
    pub(super) aliases: Aliases<'a>,
    /// What variables stand for.
    pub(super) lets: &'a Definitions<'a>,
    /// The program that it is in.
    program: &'a Program,
    /// What it takes for granted.
    pub(super) rows: Rows,
    /// Result types, by operation.
    pub(super) kinds: Vec<Kind>,
    /// The pointers of its streams.
    pub(super) pointers: Vec<Pointer>,
    /// For each stream its pointer and its distance from it in bytes.
    pub(super) places: Vec<(usize, i32)>,
    /// Element type of each stream.
    pub(super) elements: Vec<Element>,
    /// The operations that stores need, without literals, in the order of emission.
    pub(super) needed: Vec<usize>,
    /// For each operation, whether literals, indices that do not move and cells that the strip does not write decide it
    /// alone.
    pub(super) is_invariant: Vec<bool>,
    /// For each operation, whether it is a load of cells that the strip does not write.
    pub(super) unwritten: Vec<bool>,
    /// Shape of the main loop.
    pub(super) shape: Shape,
    /// Copies of the body in one iteration of the main loop.
    pub(super) unroll: i64,
    /// Operations with one result for the whole strip, in order: computed before its loops.
    pub(super) invariants: Vec<usize>,
    /// The other operations in the order of emission; those no store needs, and literals, are not in it.
    pub(super) order: Vec<usize>,
    /// The literals that `order` needs.
    pub(super) literals: Vec<Literal>,
    /// Whether literals stay in registers during the main loop.
    pub(super) literals_in_registers: bool,
    /// Whether copies and operations share loads of cells that the strip does not write.
    pub(super) shares_loads: bool,
    /// Which values wait in the memory of the call, if too many are alive at once.
    pub(super) spills: Option<Spills>,
    /// Whether there are so many pointers that they are in the memory of the call.
    pub(super) is_large: bool,
    /// Whether it is a few operations on a few cells, for which a call of wide code takes longer than all of them.
    pub(super) has_few_cells: bool,
}

impl<'a> StripPlan<'a> {
    /// Plans `strip`.
    pub(super) fn new(strip: &'a Strip, shared: &Shared<'a>, rows: Rows) -> Self {
        let program = shared.program;
        let kinds = kinds(strip, program);
        let scalar = shared.options.choice == IsaChoice::Scalar;
        let elements: Vec<Element> =
            strip.streams.iter().map(|stream| program.buffers[stream.buffer.index()].element).collect();
        let shape = if scalar { Shape::Scalar } else { vector_shape(strip, (&kinds, &elements), (program, rows)) };
        let aliases = Aliases::new(strip);
        let unwritten = unwritten_loads(strip, &aliases);
        let is_invariant = invariant_operations(strip, &unwritten);
        let all = emission_order(strip, &aliases);
        let (mut invariants, mut order): (Vec<usize>, Vec<usize>) = all.iter().partition(|at| is_invariant[**at]);
        let mut literals = literals(strip, &order);
        let held = pressure(strip, &order) + literals.len() + invariants.len();
        let literals_in_registers = held < shared.options.isa.vector_registers as usize;
        // A result that is spilled costs as much as a sum of two literals, but not as much as a division
        // or as an integer that is converted and repeated.
        let is_slow = |at: &usize| {
            matches!(strip.ops[*at], Op::Binary(BinaryOp::Div, ..) | Op::Unary(UnaryOp::Sqrt, _) | Op::Index { .. })
        };
        if !literals_in_registers && !invariants.iter().any(is_slow) {
            (invariants, order) = (Vec::new(), all.clone());
            literals = self::literals(strip, &order);
        }
        let spills = (pressure(strip, &order) + invariants.len() > MOST_LIVE).then(|| {
            (invariants, order) = (Vec::new(), all.clone());
            literals = self::literals(strip, &order);
            Spills::new(strip, &order, &unwritten)
        });
        let unroll = shared.options.unroll.factor((UNROLLED_OPERATIONS / order.len().max(1)) as i64);
        let mut shared_pointers = pointers(strip, (program, &Definitions::default()), rows);
        if shared_pointers.0.len() > FEW_POINTERS {
            shared_pointers = pointers(strip, (program, shared.lets), rows);
        }
        let (pointers, places) = by_ring(strip, shared_pointers);
        let unroll = if shape == Shape::Scalar || spills.is_some() { 1 } else { unroll };
        let loads = order.iter().filter(|at| unwritten[**at]).count();
        let indices = strip.ops.iter().filter(|op| matches!(op, Op::Index { .. })).count();
        let lookups = strip.ops.iter().filter(|op| matches!(op, Op::Lookup { .. })).count();
        let has_few_cells = order.len() <= FEW_OPERATIONS
            && shared.lets.most(&strip.hi, &strip.lo).is_some_and(|most| most <= FEW_CELLS);
        StripPlan {
            strip,
            aliases,
            lets: shared.lets,
            program,
            rows,
            elements,
            needed: all,
            is_invariant,
            unwritten,
            shape,
            unroll,
            // What is shared stays alive in between.
            shares_loads: spills.is_none() && loads * unroll as usize <= MOST_LIVE,
            has_few_cells,
            is_large: pointers.len() + indices + LookupEntry::NUMBERS * lookups > MOST_ON_STACK,
            spills,
            literals_in_registers,
            invariants,
            order,
            literals,
            kinds,
            pointers,
            places,
        }
    }

    /// Rows of memory that the strip reads cell by cell, counted until there are two. Streams that begin a few
    /// cells apart are in one row; where a ring wraps does not matter here.
    pub(super) fn rows_read(&self) -> usize {
        let strip = self.strip;
        let mut rows: Vec<(BufferId, Cells<'_>)> = Vec::new();
        for at in &self.needed {
            let Op::Load { stream, .. } = strip.ops[*at] else { continue };
            let Stream { buffer, address, .. } = &strip.streams[stream.index()];
            if self.stride_of(&strip.streams[stream.index()]) != Some(1) {
                continue;
            }
            let cells = match address {
                Address::Block { base, pos: Int::Wrap(pos, _) | Int::Mod(pos, _), .. } => {
                    Cells(vec![self.lets.sum(base, pos)])
                }
                _ => Cells::new(&strip.streams[stream.index()], self.lets),
            };
            let along_row = |axis: usize| (axis + 1 == cells.0.len()).then_some(1);
            let is_near = |row: &(BufferId, Cells<'_>)| {
                let apart = if row.0 == *buffer { cells.constant_difference(&row.1, along_row) } else { None };
                apart.is_some_and(|apart| apart.unsigned_abs() <= ROW_CELLS)
            };
            if !rows.iter().any(is_near) {
                rows.push((*buffer, cells));
            }
            if rows.len() > 1 {
                break;
            }
        }
        rows.len()
    }

    /// Cells that a stream moves by in each iteration; none if only the call's strides tell.
    fn stride_of(&self, stream: &Stream) -> Option<i64> {
        stride(stream, (self.program, self.rows))
    }

    /// The number of iterations if that is a constant and they are written out one behind the other.
    pub(super) fn written_out(&self) -> Option<i64> {
        if self.has_few_cells { self.constant_length() } else { None }
    }

    /// The number of iterations if that is a constant.
    pub(super) fn constant_length(&self) -> Option<i64> {
        self.lets.difference(&self.strip.hi, &self.strip.lo)
    }
}

fn unwritten_loads(strip: &Strip, aliases: &Aliases<'_>) -> Vec<bool> {
    let stores: Vec<usize> = (0..strip.ops.len()).filter(|at| matches!(strip.ops[*at], Op::Store { .. })).collect();
    let unwritten = |at| stores.iter().all(|store| !aliases.may_meet(at, *store));
    (0..strip.ops.len()).map(|at| matches!(strip.ops[at], Op::Load { .. }) && unwritten(at)).collect()
}

/// The literals that the operations of `order` use.
fn literals(strip: &Strip, order: &[usize]) -> Vec<Literal> {
    let (mut literals, mut known) = (Vec::new(), FxHashSet::default());
    for id in order.iter().flat_map(|at| strip.ops[*at].operands()) {
        let literal = Literal::of(&strip.ops[id.index()]);
        literals.extend(literal.filter(|literal| known.insert(*literal)));
    }
    literals
}

/// Indices that do not move, and operations on these, on literals and on single cells that the strip does not write.
/// They have the same result in every iteration, and nothing happens if they are computed for none.
fn invariant_operations(strip: &Strip, unwritten: &[bool]) -> Vec<bool> {
    let mut invariant = vec![false; strip.ops.len()];
    for (at, op) in strip.ops.iter().enumerate() {
        let known = |id: ValueId| invariant[id.index()] || Literal::of(&strip.ops[id.index()]).is_some();
        invariant[at] = match op {
            Op::F64(_) | Op::F32(_) | Op::Scalar(_) | Op::Store { .. } => false,
            Op::Index { step, .. } => *step == 0,
            Op::OpaqueSeed(_) | Op::OpaqueMix(..) | Op::OpaqueFinish(_) => false,
            Op::Load { stream, .. } => unwritten[at] && strip.streams[stream.index()].is_fixed(),
            Op::Lookup { stream, .. } => strip.streams[stream.index()].is_fixed() && op.operands().all(known),
            _ => op.operands().all(known),
        };
    }
    invariant
}

fn kinds(strip: &Strip, program: &Program) -> Vec<Kind> {
    let of_type = |ty| match ty {
        ValueType::F64 => Kind::F64,
        ValueType::F32 => Kind::F32,
        ValueType::Bool => Kind::Bool,
        _ => Kind::Int(ty),
    };
    let of_scalar = |id: ScalarId| of_type(program.scalars[id.index()].element.value_type());
    let mut kinds: Vec<Kind> = Vec::with_capacity(strip.ops.len());
    for op in &strip.ops {
        kinds.push(match *op {
            Op::F64(_) | Op::OpaqueFinish(_) => Kind::F64,
            Op::F32(_) => Kind::F32,
            Op::Int(ty, _) => Kind::Int(ty),
            Op::Scalar(id) => of_scalar(id),
            Op::Index { ty, .. } | Op::Load { ty, .. } | Op::Lookup { ty, .. } | Op::Convert(ty, _) => of_type(ty),
            Op::Unary(_, a)
            | Op::Binary(_, a, _)
            | Op::Bits(_, a, _)
            | Op::Shift(_, a, _)
            | Op::Fma(a, ..)
            | Op::Select(_, a, _) => match kinds[a.index()] {
                Kind::Bits => Kind::F64,
                kind => kind,
            },
            Op::Compare(..) | Op::And(..) | Op::Or(..) | Op::Not(_) => Kind::Bool,
            Op::OpaqueSeed(_) | Op::OpaqueMix(..) => Kind::Bits,
            Op::Store { .. } => Kind::Nothing,
        });
    }
    kinds
}

/// The vector shape of a strip: as many lanes as its widest type has in a vector, if cells are adjacent or one for all
/// lanes; cells that are looked up are read one by one, wherever they are. Stores of one cell from all lanes, opaque
/// functions and remainders stay scalar.
fn vector_shape(strip: &Strip, (kinds, elements): (&[Kind], &[Element]), (program, rows): (&Program, Rows)) -> Shape {
    let moves = |stream: &StreamId| stride(&strip.streams[stream.index()], (program, rows));
    let strides_fit = strip.ops.iter().all(|op| match op {
        Op::Load { stream, .. } => matches!(moves(stream), Some(0 | 1)),
        Op::Lookup { stream, .. } => {
            let bytes = elements[stream.index()].bytes();
            moves(stream).is_some_and(|cells| cells.unsigned_abs() <= FARTHEST_CORNER_BYTES / bytes)
        }
        Op::Store { stream, .. } => moves(stream) == Some(1),
        _ => true,
    });
    let calls = strip.ops.iter().any(|op| matches!(op, Op::Binary(BinaryOp::Rem, ..)));
    if !strides_fit || calls || kinds.contains(&Kind::Bits) {
        return Shape::Scalar;
    }
    let in_vector = VECTOR_BITS / widest_bits(kinds, elements);
    match in_vector.min(strip.lanes.checked_ilog2().map_or(1, |log| 1 << log)) {
        lanes @ 2.. => Shape::Lanes(lanes as u8),
        _ => Shape::Scalar,
    }
}

/// Bits of the widest type of a strip's values and cells.
pub(super) fn widest_bits(kinds: &[Kind], elements: &[Element]) -> u32 {
    let of_kinds = kinds.iter().filter_map(|kind| match kind {
        Kind::F64 | Kind::Bits => Some(64),
        Kind::F32 => Some(32),
        Kind::Int(ty) => Some(ty.bits()),
        Kind::Bool | Kind::Nothing => None,
    });
    of_kinds.chain(elements.iter().map(|element| element.value_type().bits())).max().unwrap_or(64)
}

/// Cells that a stream moves by in each iteration; none if only the call's strides tell.
fn stride(stream: &Stream, (program, rows): (&Program, Rows)) -> Option<i64> {
    match &stream.address {
        Address::Block { stride, .. } => Some(*stride),
        Address::Array(_) if stream.is_fixed() => Some(0),
        Address::Array(_) if rows == Rows::Strided => None,
        Address::Array(coordinates) => {
            let buffer = stream.buffer.index();
            coordinates.iter().enumerate().filter(|(_, c)| c.step != 0).try_fold(0_i64, |sum, (axis, coordinate)| {
                sum.checked_add(coordinate.step.checked_mul(dense_cells(program, buffer, axis)?)?)
            })
        }
    }
}

/// Cells from one to the next along an axis of an array, if all its cells follow each other.
pub(super) fn dense_cells(program: &Program, buffer: usize, axis: usize) -> Option<i64> {
    let behind = program.buffers[buffer].extents.as_ref()?.get(axis + 1..)?;
    behind.iter().try_fold(1_i64, |cells, extent| cells.checked_mul(i64::try_from(*extent).ok()?))
}

/// Whether some stream of a strip moves along an axis of an array.
pub(super) fn moves_along(strip: &Strip, array: usize, axis: usize) -> bool {
    strip.streams.iter().filter(|stream| stream.buffer.index() == array).any(|stream| match &stream.address {
        Address::Array(coordinates) => coordinates[axis].step != 0,
        Address::Block { .. } => false,
    })
}

/// By how many cells a step along an axis of an array moves, where [`Rows::Adjacent`] says so. A strip is told so of the
/// last axis, and of those that it moves along.
fn cells_of_step(strip: &Strip, (program, rows): (&Program, Rows), buffer: usize, axis: usize) -> Option<i64> {
    let axes = program.buffers[buffer].extents.as_ref().map_or(0, Vec::len);
    let is_told = rows == Rows::Adjacent && (axis + 1 == axes || moves_along(strip, buffer, axis));
    if is_told { dense_cells(program, buffer, axis) } else { None }
}

fn pointers<'a>(
    strip: &'a Strip,
    (program, lets): (&Program, &Definitions<'a>),
    rows: Rows,
) -> (Vec<Pointer>, Vec<(usize, i32)>) {
    let bytes = |stream: &Stream| program.buffers[stream.buffer.index()].element.bytes() as i64;
    let cells: Vec<_> = strip.streams.iter().map(|stream| Cells::new(stream, lets)).collect();
    let followers = double_mapped::followers(strip, program, lets);
    let (mut pointers, mut places): (Vec<Pointer>, Vec<(usize, i32)>) = (Vec::new(), Vec::new());
    // Pointers that a stream may share start at an equal sum of terms, so at one of equal hash.
    let mut alike: FxHashMap<(BufferId, u64), Vec<usize>> = FxHashMap::default();
    let mut leaders: FxHashMap<usize, usize> = FxHashMap::default();
    for (at, stream) in strip.streams.iter().enumerate() {
        if let Some(Follower { leader, ahead_bytes, ring }) = followers[at] {
            let index = *leaders.entry(leader).or_insert_with(|| {
                let (stride, bytes) = (stride(stream, (program, rows)), bytes(stream));
                pointers.push(Pointer { stream: leader, stride, bytes, ring: Some(ring) });
                alike.entry((stream.buffer, cells[leader].hash_of_terms())).or_default().push(pointers.len() - 1);
                pointers.len() - 1
            });
            // They agree, unless the difference of two positions leaves 64 bits.
            let end = pointers[index].ring.map_or(ring.end, |known| known.end.min(ring.end));
            pointers[index].ring = Some(Ring { end, ..ring });
            places.push((index, ahead_bytes));
            continue;
        }
        let known = alike.entry((stream.buffer, cells[at].hash_of_terms())).or_default();
        let shared = known.iter().find_map(|&index| {
            let pointer: &Pointer = &pointers[index];
            let both = (&strip.streams[pointer.stream], stream);
            let of_step = |axis| cells_of_step(strip, (program, rows), stream.buffer.index(), axis);
            let delta = distance(both, (&cells[pointer.stream], &cells[at]), of_step)?;
            let delta = i32::try_from(delta.checked_mul(bytes(stream))?).ok()?;
            (delta.unsigned_abs() <= FARTHEST_BYTES).then_some((index, delta))
        });
        places.push(shared.unwrap_or_else(|| {
            let ring = match &stream.address {
                Address::Block { ring, stride, .. } if *stride != 0 => ring.map(|ring| Ring::cut(ring as i64)),
                Address::Block { .. } | Address::Array(_) => None,
            };
            pointers.push(Pointer { stream: at, stride: stride(stream, (program, rows)), bytes: bytes(stream), ring });
            known.push(pointers.len() - 1);
            (pointers.len() - 1, 0)
        }));
    }
    (pointers, places)
}

/// What pointers in rings have in common that move alike in one ring; `None` of others.
pub(super) fn alike<'a>(pointer: &Pointer, stream: &'a Stream) -> Option<(BufferId, &'a Int, [i64; 3])> {
    let (Some(ring), Some(stride), Address::Block { base, .. }) = (pointer.ring, pointer.stride, &stream.address)
    else {
        return None;
    };
    Some((stream.buffer, base, [ring.cells, ring.end, stride]))
}

/// The same pointers with those next to each other that move alike in one ring, behind those that move in none.
fn by_ring(strip: &Strip, (pointers, places): (Vec<Pointer>, Vec<(usize, i32)>)) -> (Vec<Pointer>, Vec<(usize, i32)>) {
    let mut known = FxHashMap::default();
    let rings: Vec<usize> = pointers
        .iter()
        .map(|pointer| {
            let count = known.len() + 1;
            alike(pointer, &strip.streams[pointer.stream]).map_or(0, |ring| *known.entry(ring).or_insert(count))
        })
        .collect();
    let mut order: Vec<usize> = (0..pointers.len()).collect();
    order.sort_by_key(|at| rings[*at]);
    let mut new = vec![0; pointers.len()];
    order.iter().enumerate().for_each(|(to, from)| new[*from] = to);
    let places = places.into_iter().map(|(pointer, delta)| (new[pointer], delta)).collect();
    (order.into_iter().map(|at| pointers[at]).collect(), places)
}

/// Where a stream starts, as linear forms: its cell in a block, or its coordinates in an array.
struct Cells<'a>(Vec<Option<Linear<'a>>>);

impl<'a> Cells<'a> {
    fn new(stream: &'a Stream, lets: &Definitions<'a>) -> Self {
        match &stream.address {
            Address::Block { base, pos, .. } => Cells(vec![lets.sum(base, pos)]),
            Address::Array(coordinates) => Cells(coordinates.iter().map(|c| lets.linear(&c.start)).collect()),
        }
    }

    /// Equal for those that are a constant apart.
    fn hash_of_terms(&self) -> u64 {
        let one = |linear: &Option<Linear<'_>>| linear.as_ref().map_or(0, hash_of_terms);
        self.0.iter().fold(0, |all, linear| all.wrapping_mul(31).wrapping_add(one(linear)))
    }

    /// Cells from `other` to here if that is a constant: coordinates may differ where `of_step` knows by how many cells a
    /// step of them moves.
    fn constant_difference(&self, other: &Cells<'a>, of_step: impl Fn(usize) -> Option<i64>) -> Option<i64> {
        let difference = |axis: usize| self.0[axis].as_ref()?.constant_difference(other.0[axis].as_ref()?);
        (0..self.0.len()).try_fold(0_i64, |sum, axis| match difference(axis)? {
            0 => Some(sum),
            steps => sum.checked_add(steps.checked_mul(of_step(axis)?)?),
        })
    }
}

/// Cells from stream `a` to stream `b` if that is the same constant during the whole strip; `of_step` tells by how many
/// cells a step along an axis of their array moves, as far as a plan knows.
fn distance(
    (a, b): (&Stream, &Stream),
    cells: (&Cells<'_>, &Cells<'_>),
    of_step: impl Fn(usize) -> Option<i64>,
) -> Option<i64> {
    if a.buffer != b.buffer {
        return None;
    }
    match (&a.address, &b.address) {
        (
            Address::Block { pos: pos_a, ring: ring_a, stride: stride_a, .. },
            Address::Block { pos: pos_b, ring: ring_b, stride: stride_b, .. },
        ) => {
            let moves_in_ring = *stride_a != 0 && (ring_a.is_some() || ring_b.is_some());
            if stride_a != stride_b || moves_in_ring && (ring_a != ring_b || pos_a != pos_b) {
                return None;
            }
            cells.1.constant_difference(cells.0, |_| Some(1))
        }
        (Address::Array(a), Address::Array(b)) => {
            let same_steps = a.iter().map(|c| c.step).eq(b.iter().map(|c| c.step));
            if same_steps { cells.1.constant_difference(cells.0, of_step) } else { None }
        }
        _ => None,
    }
}

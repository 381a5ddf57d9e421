//! Calls of wide strips: what [`crate::vector`] is told, and the table that its functions take.
//!
//! In: a [`StripPlan`].   Out: a function for its segments, and a call of it in place of each of their bodies.
//!
//! The table is a piece of stack, or of the call's memory if there are very many pointers: the address of each
//! pointer's cell at iteration 0, then the first value of each index operation, then where lookups read. Addresses in
//! rings move between segments; the others are stored once.
//!
//! Most strips in rings wrap nowhere, for the ring has many rows. They are told by one comparison and run in one call,
//! without a table of rings, and with pointers joined ([`super::joined`]).
//!
//! Strips that do the same share a function ([`super::shared_code`]).

use crease_program::{Address, Along, Element, MOST_AXES, Op, StoreHint, Strip, ValueId};

use super::emitter::Num;
use super::emitter::{Emitter, StripCode, plain};
use super::joined::Groups;
use super::plan::{Rows, StripPlan};
use super::rings::Rings;
use super::run::{Run, WideCall};
use super::scratch::Table;
use crate::frame::Literal;
use crate::options::NonTemporal;
use crate::target::wide_target;
use crate::vector::{LaneShifts, LookupEntry, Pitches, StreamAddress, StripFacts, WideOptions};
use cranelift_codegen::ir::{Block, FuncRef, InstBuilder, Value, types};

impl<'a> Emitter<'a, '_> {
    /// Finds or compiles wide code for a strip, which is always run whole or may be cut, and makes a table; `None` if
    /// there is no such code for it.
    pub(super) fn wide_call(&mut self, plan: &StripPlan<'a>, length: Num, rings: Option<&Rings>) -> Option<WideCall> {
        let shared = self.shared;
        let target = wide_target(shared.options.choice)?;
        let place = |stream: usize| {
            let (pointer, offset) = plan.places[stream];
            StreamAddress { pointer, offset, stride: plan.pointers[pointer].stride, element: plan.elements[stream] }
        };
        let addresses: Vec<StreamAddress> = (0..plan.places.len()).map(place).collect();
        let scalars: Vec<Element> = shared.program.scalars.iter().map(|scalar| scalar.element).collect();
        let hints = store_hints(plan.strip, shared.options.non_temporal);
        let tables: Vec<_> = (0..plan.places.len()).map(|stream| self.near_table(plan, stream)).collect();
        let facts = StripFacts {
            strip: plan.strip,
            aliases: &plan.aliases,
            scalars: &scalars,
            addresses: &addresses,
            order: &plan.needed,
            invariant: &plan.is_invariant,
            hints: &hints,
            tables: &tables,
            rows_read: plan.rows_read(),
            is_whole: rings.is_none(),
            picks_bytes: shared.options.isa.has_avx512_vbmi,
            is_single_iteration: length == Num::Const(1),
            is_joined: false,
            length: if let Num::Const(length @ 2..) = length { Some(length) } else { None },
        };
        let options = WideOptions {
            target,
            options: shared.options,
            names: shared.names.get(&plan.strip.var).map_or(&[], Vec::as_slice),
            scalar_offset: &|scalar| shared.layout.literal_offset(Literal::Scalar(scalar)),
        };
        let (function, code) = self.functions.wide(&facts, &options, self.b.func)?;
        self.has_streamed |= code.streams;
        // With AVX2, only what the strip has stored is shared (`load_sharing`).
        let may_share = match target.features().lane_shifts {
            LaneShifts::Anywhere => true,
            LaneShifts::ByHalves => loads_behind_a_store(plan.strip),
        };
        let groups = rings.map(|rings| &rings.groups).filter(|_| may_share);
        let joined = match groups.filter(|groups| groups.has_neighbours(plan)) {
            Some(groups) => self.joined(groups, &facts, &options, &code),
            None => None,
        };
        let StripCode { indices, lookups, .. } = code;
        let entries = plan.pointers.len() + indices.len() + LookupEntry::NUMBERS * lookups.len();
        let table = self.table(plan, 8 * entries, |emitter| &mut emitter.address_slot);
        Some(WideCall { function, joined, table, indices, lookups })
    }

    /// Wide code for the segments in which pointers are joined, beside `apart` for all others; `None` if there is none
    /// that takes the same table, or none that shares loads.
    fn joined(
        &mut self,
        groups: &Groups,
        facts: &StripFacts<'_>,
        options: &WideOptions<'_>,
        apart: &StripCode,
    ) -> Option<FuncRef> {
        let places = facts.addresses.iter().map(|place| groups.joined(*place));
        let addresses = places.collect::<Option<Vec<_>>>()?;
        let facts = StripFacts { addresses: &addresses, is_joined: true, ..*facts };
        let (function, code) = self.functions.wide(&facts, options, self.b.func)?;
        let table = |code: &StripCode| (code.indices.clone(), code.lookups.clone(), code.streams);
        (table(&code) == table(apart)).then_some(function)
    }

    /// Enters the address of a pointer's cell at iteration 0 into a table.
    pub(super) fn pass_address(&mut self, table: &Table, pointer: usize, address: Value) {
        self.b.ins().store(plain().with_aligned(), address, table.address, 8 * pointer as i32);
    }

    /// Enters the first values of index operations into the table.
    pub(super) fn pass_indices(&mut self, run: &Run<'_, 'a>) {
        let Some(wide) = &run.wide else { return };
        for (index, entry) in wide.indices.iter().zip(run.plan.pointers.len()..) {
            let first = self.kept(run.indices[index].0);
            let first = self.value(first);
            self.b.ins().store(plain().with_aligned(), first, wide.table.address, 8 * entry as i32);
        }
    }

    /// The bytes between cells of a table along each axis, as far as they are known, if it is known to reach less than
    /// 2^31 bytes: of an array the strip has then tested it.
    fn near_table(&self, plan: &StripPlan<'a>, stream: usize) -> Option<Pitches> {
        let mut pitches = [None; MOST_AXES];
        let (of, bytes) = (&plan.strip.streams[stream], plan.elements[stream].bytes() as i64);
        for (pitch, axis) in pitches.iter_mut().zip(&of.table) {
            *pitch = match axis.along {
                Along::Cells(cells) => (cells as i64).checked_mul(bytes),
                Along::Coordinate(at) => self.is_last_of_adjacent(plan, stream, at).then_some(bytes),
            };
        }
        let is_near = match of.address {
            Address::Block { .. } => of.table_cells()?.checked_mul(bytes)? < FARTHEST_CELL,
            Address::Array(_) => plan.rows == Rows::Adjacent,
        };
        (is_near && !of.table.is_empty()).then_some(pitches)
    }

    fn is_last_of_adjacent(&self, plan: &StripPlan<'a>, stream: usize, coordinate: u32) -> bool {
        let decl = &self.shared.program.buffers[plan.strip.streams[stream].buffer.index()];
        let count = decl.extents.as_ref().map_or(0, Vec::len);
        plan.rows == Rows::Adjacent && coordinate as usize + 1 == count
    }

    /// Enters into the table where the tables of lookups begin, and how far apart their cells are.
    pub(super) fn pass_lookups(&mut self, run: &Run<'_, 'a>) {
        let (Some(wide), plan) = (&run.wide, run.plan) else { return };
        let mut entry = plan.pointers.len() + wide.indices.len();
        for lookup in &wide.lookups {
            let Op::Lookup { stream, .. } = plan.strip.ops[*lookup] else { unreachable!("code says which are") };
            let (pointer, offset) = plan.places[stream.index()];
            let pointer = self.b.ins().load(types::I64, plain().with_aligned(), wide.table.address, 8 * pointer as i32);
            let corner = self.add(Num::Value(pointer), Num::Const(offset.into()));
            let mut corner = self.value(corner);
            let mut zero = Num::Const(0);
            if plan.elements[stream.index()].bytes() < LookupEntry::WORD {
                let within = LookupEntry::WORD as i64 - 1;
                zero = Num::Value(self.b.ins().band_imm_s(corner, within));
                corner = self.b.ins().band_imm_s(corner, !within);
            }
            for (at, axis) in (LookupEntry::PITCHES..).zip(&plan.strip.streams[stream.index()].table) {
                let pitch = self.axis_pitch(plan, stream.index(), axis);
                let before = self.mul(Num::Const(axis.first.wrapping_neg()), pitch);
                zero = self.add(zero, before);
                let pitch = self.value(pitch);
                self.b.ins().store(plain().with_aligned(), pitch, wide.table.address, 8 * (entry + at) as i32);
            }
            let zero = self.value(zero);
            for (value, at) in [(corner, LookupEntry::CORNER), (zero, LookupEntry::ZERO)] {
                self.b.ins().store(plain().with_aligned(), value, wide.table.address, 8 * (entry + at) as i32);
            }
            entry += LookupEntry::NUMBERS;
        }
    }

    /// Runs iterations `start..end`, in which nothing wraps, with one of a strip's functions, from a filled table.
    pub(super) fn wide_segment(&mut self, function: FuncRef, wide: &WideCall, start: Num, end: Num) {
        let (start, end) = (self.value(start), self.value(end));
        self.b.ins().call(function, &[wide.table.address, self.frame, start, end]);
    }

    /// Runs iterations `0..length` of a strip with rings, from a filled table: at once if none of them wraps.
    pub(super) fn wide_in_rings(&mut self, run: &Run<'_, 'a>, rings: &Rings, length: Num, exit: Block) {
        let (whole, cut) = (self.b.create_block(), self.b.create_block());
        let wide = run.wide.as_ref().expect("the strip has wide code");
        let stays = self.stays_in_rings(run.plan, rings, length);
        self.b.ins().brif(stays, whole, &[], cut, &[]);
        let mark = self.mark();
        self.enter_behind(whole, mark);
        self.wide_segment(wide.joined.unwrap_or(wide.function), wide, Num::Const(0), length);
        self.b.ins().jump(exit, &[]);
        self.enter_behind(cut, mark);
        if wide.joined.is_some() {
            self.pass_followers(rings, &wide.table);
        }
        self.wide_segments(run, rings, length, exit);
    }
}

/// Bytes from the corner of a table to a cell, one more than at most, in strips that gather cells: 32 bits hold them,
/// and where in its word the corner of narrow cells is.
pub(super) const FARTHEST_CELL: i64 = (1 << 31) - 4;

/// Whether an iteration loads something when it has stored something.
fn loads_behind_a_store(strip: &Strip) -> bool {
    let mut behind = strip.ops.iter().skip_while(|op| !matches!(op, Op::Store { .. }));
    behind.any(|op| matches!(op, Op::Load { .. }))
}

/// How each store of a strip is to be made.
fn store_hints(strip: &Strip, non_temporal: NonTemporal) -> Vec<StoreHint> {
    let hint = |(at, op): (ValueId, &Op)| match (*op, non_temporal) {
        (Op::Store { hint, .. }, NonTemporal::Auto) => hint,
        (Op::Store { .. }, NonTemporal::Always) if strip.first_load_of(at).is_none() => StoreHint::NonTemporal,
        _ => StoreHint::Cached,
    };
    (0..).map(ValueId).zip(&strip.ops).map(hint).collect()
}

//! Cutting a strip where its streams leave their rings.
//!
//! In: a [`Run`] with pointers in rings.   Out: the loop over segments around [`Emitter::segment`].
//!
//! Cell `pos + stride * j` of a ring has the address `pointer + stride * bytes * j` until that is the *limit* of the
//! ring; there the pointer moves by one ring, and reaches the limit again a ring later. So nothing is tested inside a
//! segment:
//!
//! ```text
//! start = 0
//! segment:  for each ring, for each of its pointers: if it is at the limit at `start`, move it
//!           end = min(length, the first iteration at which a pointer is at its limit)
//!           run start..end
//!           if end < length: start = end; again
//! ```
//!
//! A pointer in a double-mapped ring goes on in the second copy ([`super::double_mapped`]): its limit is farther away.
//!
//! Most strips wrap nowhere. One comparison tells them, by positions alone, and they are one segment without a table of
//! rings ([`super::segments`]).
//!
//! Pointers are a table on the stack, which for wide code is the one that it takes, and rings another one. A small loop
//! walks both: its code does not grow with the number of rings, and no register is held for them during a segment.
//! (With all of them in SSA values, a strip of 18 rings took three times as long to compile.) Pointers of one ring
//! follow each other in the plan ([`super::plan`]).
//!
//! A ring larger than any memory has a limit that no address can be compared with. Strips that move in one run each
//! iteration as a segment of its own, for which positions are computed anew.

use crease_program::{Address, Program};

use super::emitter::{Emitter, Num, plain};
use super::joined::Groups;
use super::plan::{Pointer, StripPlan, alike};
use super::run::Run;
use super::scratch::{Kept, Table};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};

/// Fields of a table entry, in bytes from its start: the address that no pointer of the ring may be at.
const LIMIT: i32 = 0;
/// What to add to a pointer's address there.
const MOVE: i32 = 8;
/// Where its first pointer is in their table ..
const FIRST: i32 = 16;
/// .. and where they end.
const LAST: i32 = 24;
/// Bytes that a pointer moves by in each iteration; only if that is not the same power of two for all.
const STEP: i32 = 32;
/// Size of an entry.
const ENTRY: i32 = 40;

/// Pointers that move alike in one ring.
struct Turn {
    /// The first of them.
    first: usize,
    /// How many follow each other.
    count: usize,
}

/// The rings of a strip: which pointers may wrap.
pub(super) struct Rings {
    turns: Vec<Turn>,
    /// Pointers that are a constant apart.
    pub(super) groups: Groups,
    /// Bytes per iteration of all pointers, as a power of two, if that is one.
    shift: Option<i64>,
    /// Whether some ring is larger than any memory.
    pub(super) is_far: bool,
}

/// Bytes of the largest ring whose end can be compared with addresses.
const LARGEST_RING_BYTES: i64 = 1 << 60;

impl Rings {
    /// The pointers of `plan` that may wrap in a strip of this length; `None` if none may. The first iteration of a
    /// strip is inside all rings, so a strip of one wraps nowhere, and in double-mapped rings none does of as many as
    /// the second copy has room for.
    pub(super) fn new(plan: &StripPlan<'_>, program: &Program, length: Num) -> Option<Rings> {
        let may_wrap = |at: &usize| {
            let Pointer { ring, stride, .. } = plan.pointers[*at];
            let fewest = ring.map(|ring| ring.least_iterations(stride.unwrap_or(0)));
            fewest.is_some_and(|fewest| !matches!(length, Num::Const(length) if length <= fewest))
        };
        let mut turns: Vec<Turn> = Vec::new();
        for at in (0..plan.pointers.len()).filter(may_wrap) {
            match turns.last_mut() {
                Some(turn) if move_alike(plan, turn.first, at) => turn.count += 1,
                _ => turns.push(Turn { first: at, count: 1 }),
            }
        }
        let of = |turn: &Turn| &plan.pointers[turn.first];
        let step = step_bytes(of(turns.first()?));
        let is_common = turns.iter().all(|turn| step_bytes(of(turn)) == step);
        let shift = (is_common && step > 0 && step & (step - 1) == 0).then(|| step.trailing_zeros().into());
        let is_far = |turn| {
            let Pointer { ring, bytes, .. } = of(turn);
            let reach = ring.and_then(|ring| ring.end.checked_mul(*bytes));
            reach.is_none_or(|reach| reach > LARGEST_RING_BYTES)
        };
        let is_far = turns.iter().any(is_far);
        Some(Rings { turns, groups: Groups::new(plan, program), shift, is_far })
    }

    /// Bytes of the table of rings.
    fn table_bytes(&self) -> usize {
        ENTRY as usize * self.turns.len()
    }

    /// The pointers that may wrap.
    pub(super) fn pointers(&self) -> impl Iterator<Item = usize> {
        self.turns.iter().flat_map(|turn| turn.first..turn.first + turn.count)
    }
}

/// Whether two pointers of a plan move alike in one ring.
fn move_alike(plan: &StripPlan<'_>, one: usize, other: usize) -> bool {
    let key = |at: usize| alike(&plan.pointers[at], &plan.strip.streams[plan.pointers[at].stream]);
    key(one) == key(other)
}

/// Bytes per iteration of a pointer in a ring.
fn step_bytes(pointer: &Pointer) -> i64 {
    ring_stride(pointer).wrapping_mul(pointer.bytes)
}

/// Cells per iteration of a pointer in a ring.
fn ring_stride(pointer: &Pointer) -> i64 {
    pointer.stride.expect("only arrays have strides that the call decides, and they have no rings")
}

impl<'a> Emitter<'a, '_> {
    /// Iterations before what is `ahead` cells ahead of a pointer that moves forwards, or the pointer itself, first
    /// leaves its ring; none or a negative number if it has left it.
    pub(super) fn iterations_left(&mut self, plan: &StripPlan<'a>, pointer: usize, ahead: i64) -> Num {
        let Pointer { stream, ring, .. } = plan.pointers[pointer];
        let stride = ring_stride(&plan.pointers[pointer]);
        let ring = ring.expect("only pointers in a ring wrap");
        let Address::Block { pos, .. } = &plan.strip.streams[stream].address else {
            unreachable!("arrays have no rings")
        };
        let position = self.int(pos);
        let step = stride.unsigned_abs() as i64;
        // Cells left before the end of the ring that the stream moves towards, rounded up to whole steps.
        let gap = match stride > 0 {
            true => self.sub(Num::Const(ring.end.wrapping_add(step - 1 - ahead)), position),
            false => self.add(position, Num::Const(step)),
        };
        self.floor_div(gap, step)
    }

    /// Enters the addresses of those pointers into their table that are counted from another one in it. What lies
    /// behind the end of the ring moves back when the first segment is cut.
    pub(super) fn pass_followers(&mut self, rings: &Rings, addresses: &Table) {
        let (places, mut last) = (&rings.groups.places, None);
        for pointer in rings.pointers().filter(|pointer| rings.groups.follows(*pointer)) {
            let (leader, ahead) = places[pointer];
            let known = last.filter(|(of, _)| *of == leader).map(|(_, address)| address);
            let address =
                known.unwrap_or_else(|| self.b.ins().load(types::I64, entry(), addresses.address, at(leader)));
            last = Some((leader, address));
            let ahead = self.b.ins().iadd_imm_s(address, i64::from(ahead));
            self.b.ins().store(entry(), ahead, addresses.address, at(pointer));
        }
    }

    /// Fills the table of rings. `addresses` is that of pointers.
    fn fill_ring_table(&mut self, plan: &StripPlan<'a>, rings: &Rings, addresses: &Table, table: &Table) {
        for (turn, number) in rings.turns.iter().zip(0..) {
            let pointer = &plan.pointers[turn.first];
            let Pointer { stream, bytes, ring, .. } = *pointer;
            let (stream, ring) = (&plan.strip.streams[stream], ring.expect("only pointers in a ring wrap"));
            let Address::Block { base, .. } = &stream.address else { unreachable!("arrays have no rings") };
            let (step, turn_bytes) = (step_bytes(pointer), ring.cells.wrapping_mul(bytes));
            let (limit, back) = match step > 0 {
                true => (ring.end.wrapping_mul(bytes).wrapping_add(step - bytes), turn_bytes.wrapping_neg()),
                false => (step, turn_bytes),
            };
            let start = self.load_buffer(stream.buffer.index());
            let base = self.int(base);
            let base = self.mul(base, Num::Const(bytes));
            let start = self.add(Num::Value(start), base);
            let limit = self.add(start, Num::Const(limit));
            let first = Num::Value(addresses.address);
            let [first, last] = [turn.first, turn.first + turn.count].map(|pointer| (first, at(pointer)));
            let mut fields = vec![(LIMIT, limit), (MOVE, Num::Const(back))];
            for (field, (table, offset)) in [(FIRST, first), (LAST, last)] {
                fields.push((field, self.add(table, Num::Const(offset.into()))));
            }
            fields.extend(rings.shift.is_none().then_some((STEP, Num::Const(step))));
            for (field, value) in fields {
                let value = self.value(value);
                self.b.ins().store(entry(), value, table.address, ENTRY * number + field);
            }
        }
    }

    /// Runs `0..length` with a segment for each iteration, one behind the other if they are few.
    pub(super) fn single_iterations(&mut self, run: &mut Run<'_, 'a>, rings: &Rings, length: Num) {
        match run.plan.written_out() {
            Some(count) => (0..count).for_each(|at| self.single_iteration(run, rings, Num::Const(at))),
            None => self.counted_loop(Num::Const(0), length, 1, |emitter, iteration| {
                emitter.single_iteration(run, rings, Num::Value(iteration));
            }),
        }
    }

    fn single_iteration(&mut self, run: &mut Run<'_, 'a>, rings: &Rings, start: Num) {
        for at in rings.pointers() {
            let pointer = &run.plan.pointers[at];
            let ring = pointer.ring.expect("only pointers in a ring wrap").cells;
            let stride = ring_stride(pointer);
            let Address::Block { pos, .. } = &run.plan.strip.streams[pointer.stream].address else {
                unreachable!("arrays have no rings")
            };
            let (first, moved) = (self.int(pos), self.mul_mod(stride.rem_euclid(ring), start, ring));
            let position = match moved {
                Num::Const(0) => first,
                moved => {
                    let position = self.add(first, moved);
                    self.wrap(position, ring)
                }
            };
            let address = self.address_at(run.plan, pointer, position);
            // From there segments count to where they begin.
            let before = self.mul(start, Num::Const(step_bytes(pointer)));
            run.addresses[at] = Kept::Num(self.sub(Num::Value(address), before));
        }
        let end = self.add(start, Num::Const(1));
        self.segment(run, start, end);
    }

    /// Runs `0..length` of a wide strip in segments, from a table of addresses.
    pub(super) fn wide_segments(&mut self, run: &Run<'_, 'a>, rings: &Rings, length: Num, exit: Block) {
        let wide = run.wide.as_ref().expect("the strip has wide code");
        let table = self.table(run.plan, rings.table_bytes(), |emitter| &mut emitter.ring_slot);
        self.fill_ring_table(run.plan, rings, &wide.table, &table);
        let (head, start) = self.block_with_param();
        let length = self.value(length);
        let zero = self.b.ins().iconst(types::I64, 0);
        self.b.ins().jump(head, &[zero.into()]);
        let mark = self.mark();
        self.enter_behind(head, mark);
        let end = self.next_cut(rings, &table, start, length);
        self.cut_segment(wide, &rings.groups, Num::Value(start), Num::Value(end));
        self.branch_if_less(end, length, (head, &[end.into()]), (exit, &[]));
    }

    /// Runs `0..length` of a strip that has no wide code, from a table of addresses: at once if no ring ends meanwhile,
    /// else in segments. Both go through the same code, whose addresses come from the table.
    pub(super) fn narrow_in_rings(&mut self, run: &mut Run<'_, 'a>, rings: &Rings, length: Num, exit: Block) {
        let addresses = run.table.expect("strips that are cut have a table of addresses");
        let table = self.table(run.plan, rings.table_bytes(), |emitter| &mut emitter.ring_slot);
        let stays = self.stays_in_rings(run.plan, rings, length);
        let cut = self.b.create_block();
        let ((head, next), (body, start)) = (self.block_with_param(), self.block_with_param());
        let end = self.b.append_block_param(body, types::I64);
        let length = self.value(length);
        let zero = self.b.ins().iconst(types::I64, 0);
        self.b.ins().brif(stays, body, &[zero.into(), length.into()], cut, &[]);
        let mark = self.mark();
        self.enter_behind(cut, mark);
        self.fill_ring_table(run.plan, rings, &addresses, &table);
        self.b.ins().jump(head, &[zero.into()]);
        self.enter_behind(head, mark);
        let nearest = self.next_cut(rings, &table, next, length);
        self.b.ins().jump(body, &[next.into(), nearest.into()]);
        self.enter_behind(body, mark);
        for pointer in rings.pointers() {
            run.addresses[pointer] = addresses.entry(at(pointer)).unwrap_or_else(|| {
                let address = self.b.ins().load(types::I64, entry(), addresses.address, at(pointer));
                Kept::Num(Num::Value(address))
            });
        }
        self.segment(run, Num::Value(start), Num::Value(end));
        self.branch_if_less(end, length, (head, &[end.into()]), (exit, &[]));
    }

    /// Moves the pointers that are at their limits at `start`, or beyond, and returns the end of the segment that
    /// begins there.
    fn next_cut(&mut self, rings: &Rings, table: &Table, start: Value, length: Value) -> Value {
        let [ring, pointer, done] = [(); 3].map(|()| self.b.create_block());
        let next_ring = self.b.create_block();
        let (of, before) = (self.b.append_block_param(ring, types::I64), self.b.append_block_param(ring, types::I64));
        let (at, nearest) =
            (self.b.append_block_param(pointer, types::I64), self.b.append_block_param(pointer, types::I64));
        let end_of_table = self.b.ins().iadd_imm_s(table.address, i64::from(ENTRY) * rings.turns.len() as i64);
        let all_left = self.b.ins().isub(length, start);
        self.b.ins().jump(ring, &[table.address.into(), all_left.into()]);
        let mark = self.mark();
        self.enter_behind(ring, mark);
        let [limit, back, first, last] =
            [LIMIT, MOVE, FIRST, LAST].map(|field| self.b.ins().load(types::I64, entry(), of, field));
        let step = rings.shift.is_none().then(|| self.b.ins().load(types::I64, entry(), of, STEP));
        // Whatever the strip is long, where a pointer is now is an address, or less than a ring beyond one.
        let moved = match (rings.shift, step) {
            (None, Some(step)) => self.b.ins().imul(start, step),
            (shift, _) => self.b.ins().ishl_imm_u(start, shift.unwrap_or(0)),
        };
        self.b.ins().jump(pointer, &[first.into(), before.into()]);
        self.enter_behind(pointer, mark);
        let address = self.b.ins().load(types::I64, entry(), at, 0);
        let left = |emitter: &mut Self, address| {
            let here = emitter.b.ins().iadd(address, moved);
            let bytes = emitter.b.ins().isub(limit, here);
            match (rings.shift, step) {
                // Both have one sign, or none is left.
                (None, Some(step)) => emitter.b.ins().sdiv(bytes, step),
                (shift, _) => emitter.b.ins().sshr_imm_u(bytes, shift.unwrap_or(0)),
            }
        };
        let (until, zero) = (left(self, address), self.b.ins().iconst(types::I64, 0));
        let behind = self.b.ins().iadd(address, back);
        let wraps = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, until, zero);
        let address = self.b.ins().select(wraps, behind, address);
        self.b.ins().store(entry(), address, at, 0);
        let until = left(self, address);
        let nearest = self.b.ins().smin(nearest, until);
        let next = self.b.ins().iadd_imm_s(at, 8);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, next, last);
        self.b.ins().brif(more, pointer, &[next.into(), nearest.into()], next_ring, &[]);
        self.enter_behind(next_ring, mark);
        let next = self.b.ins().iadd_imm_s(of, i64::from(ENTRY));
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, next, end_of_table);
        self.b.ins().brif(more, ring, &[next.into(), nearest.into()], done, &[]);
        self.enter_behind(done, mark);
        self.b.ins().iadd(start, nearest)
    }
}

/// Accesses to entries of tables.
fn entry() -> MemFlagsData {
    plain().with_aligned()
}

/// Where a pointer is in a table of addresses.
fn at(pointer: usize) -> i32 {
    8 * pointer as i32
}

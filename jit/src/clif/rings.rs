//! Cutting a strip where its streams leave their rings.
//!
//! In: a [`Run`] with pointers in rings.   Out: the loop over segments around [`Emitter::segment`].
//!
//! Cell `pos + stride * j` of a ring has the address `pointer + stride * bytes * j` until `j` reaches the pointer's
//! *wrap*; there the pointer moves by one ring, and its next wrap is as much later. So nothing is tested inside a
//! segment:
//!
//! ```text
//! j = 0; end = nothing has wrapped yet
//! segment:  for each ring: if its wrap is j, move its pointer; end = min(n, all wraps)
//!           run j..end
//!           if end < n: j = end; again
//! ```
//!
//! A pointer in a double-mapped ring goes on in the second copy ([`super::double_mapped`]): it has the same wraps one
//! ring later.
//!
//! The rings' pointers and wraps are a table on the stack, which a small loop walks: its code does not grow with the
//! number of rings, and no register is held for them during a segment. (With all of them in SSA values, a strip of 18
//! rings took three times as long to compile.)

use crease_program::Address;

use super::emitter::{Emitter, Num, plain};
use super::plan::{Pointer, StripPlan};
use super::run::Run;
use super::scratch::{Kept, Table};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};

/// Fields of a table entry, in bytes from its start.
const ADDRESS: i32 = 0;
/// The iteration at which the pointer next leaves its ring.
const WRAP: i32 = 8;
/// What to add to the address then.
const MOVE: i32 = 16;
/// Cells in the ring, which is what the next wrap is later by.
const CELLS: i32 = 24;
/// For strides other than 1 and -1: `wrap` is `gap / stride`, rounded down.
const GAP: i32 = 32;
/// See [`GAP`]; the absolute value.
const STRIDE: i32 = 40;
/// Size of an entry.
const ENTRY: i32 = 48;

/// The rings of a strip: which pointers may wrap, and their table.
pub(super) struct Rings {
    pointers: Vec<usize>,
    table: Table,
    /// Whether any stride is neither 1 nor -1.
    long: bool,
}

impl Rings {
    /// The pointers that may wrap.
    pub(super) fn pointers(&self) -> &[usize] {
        &self.pointers
    }
}

/// Cells per iteration of a pointer in a ring.
fn ring_stride(pointer: &Pointer) -> i64 {
    pointer.stride.expect("only arrays have strides that the call decides, and they have no rings")
}

impl<'a> Emitter<'a, '_> {
    /// A table for the pointers of `plan` that may wrap in a strip of this length; `None` if none may. The first
    /// iteration of a strip is inside all rings, so a strip of one wraps nowhere, and in double-mapped rings none does
    /// of as many as the second copy has room for.
    pub(super) fn ring_table(&mut self, plan: &StripPlan<'a>, length: Num) -> Option<Rings> {
        let may_wrap = |at: &usize| {
            let Pointer { ring, stride, .. } = plan.pointers[*at];
            let fewest = ring.map(|ring| ring.least_iterations(stride.unwrap_or(0)));
            fewest.is_some_and(|fewest| !matches!(length, Num::Const(length) if length <= fewest))
        };
        let pointers: Vec<usize> = (0..plan.pointers.len()).filter(may_wrap).collect();
        let long = pointers.iter().any(|pointer| ring_stride(&plan.pointers[*pointer]).unsigned_abs() != 1);
        if pointers.is_empty() {
            return None;
        }
        let table = self.table(plan, ENTRY as usize * pointers.len(), |emitter| &mut emitter.ring_slot);
        Some(Rings { pointers, table, long })
    }

    /// Fills the entry of a pointer that starts at `address`, if it has one.
    pub(super) fn start_ring(&mut self, plan: &StripPlan<'a>, rings: &Rings, pointer: usize, address: Value) {
        if rings.pointers.contains(&pointer) {
            let left = self.cells_left(plan, pointer, 0);
            self.start_ring_with(plan, rings, pointer, (address, left));
        }
    }

    /// Fills the entry of a pointer that has one, with what [`Emitter::cells_left`] would say.
    pub(super) fn start_ring_with(
        &mut self,
        plan: &StripPlan<'a>,
        rings: &Rings,
        pointer: usize,
        (address, (wrap, gap)): (Value, (Num, Num)),
    ) {
        let entry = rings.pointers.iter().position(|ring| *ring == pointer).expect("the pointer has an entry");
        let Pointer { bytes, ring, .. } = plan.pointers[pointer];
        let stride = ring_stride(&plan.pointers[pointer]);
        let ring = ring.expect("only pointers in a ring have an entry");
        let step = stride.unsigned_abs() as i64;
        let back = ring.cells.wrapping_mul(bytes);
        let back = if stride > 0 { back.wrapping_neg() } else { back };
        let address = (ADDRESS, Num::Value(address));
        let mut fields = vec![address, (WRAP, wrap), (MOVE, Num::Const(back)), (CELLS, Num::Const(ring.cells))];
        fields.extend([(GAP, gap), (STRIDE, Num::Const(step))].iter().filter(|_| rings.long));
        for (field, value) in fields {
            let value = self.value(value);
            self.b.ins().store(plain().with_aligned(), value, rings.table.address, ENTRY * entry as i32 + field);
        }
    }

    /// Iterations before what is `ahead` cells ahead of a pointer that moves forwards, or the pointer itself, first
    /// leaves its ring, and the cells that they take, or a few more; none or a negative number if it has left it.
    pub(super) fn cells_left(&mut self, plan: &StripPlan<'a>, pointer: usize, ahead: i64) -> (Num, Num) {
        let Pointer { stream, ring, .. } = plan.pointers[pointer];
        let stride = ring_stride(&plan.pointers[pointer]);
        let ring = ring.expect("only pointers in a ring have an entry");
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
        (self.floor_div(gap, step), gap)
    }

    /// Runs `0..length` in segments, from a filled table.
    pub(super) fn segments(&mut self, run: &mut Run<'_, 'a>, rings: &Rings, length: Num, exit: Block) {
        let (head, start) = self.block_with_param();
        let length = self.value(length);
        // No wrap is at 0, so the first pass moves nothing.
        let zero = self.b.ins().iconst(types::I64, 0);
        self.b.ins().jump(head, &[zero.into()]);
        self.enter(head);
        let end = self.next_cut(rings, start, length);
        let mut addresses = Vec::with_capacity(rings.pointers.len());
        for (at, pointer) in rings.pointers.iter().enumerate() {
            let offset = ENTRY * at as i32 + ADDRESS;
            if let (Some(entry), None) = (rings.table.entry(offset), &run.wide) {
                run.addresses[*pointer] = entry;
                continue;
            }
            let address = self.b.ins().load(types::I64, plain().with_aligned(), rings.table.address, offset);
            match &run.wide {
                Some(wide) => {
                    self.pass_address(wide, *pointer, address);
                    addresses.push((*pointer, address));
                }
                None => run.addresses[*pointer] = Kept::Num(Num::Value(address)),
            }
        }
        match &run.wide {
            Some(wide) => self.cut_segment(wide, &addresses, Num::Value(start), Num::Value(end)),
            None => self.segment(run, Num::Value(start), Num::Value(end)),
        }
        self.branch_if_less(end, length, (head, &[end.into()]), (exit, &[]));
    }

    /// Moves the pointers that wrap at `start` and returns the end of the segment that begins there.
    fn next_cut(&mut self, rings: &Rings, start: Value, length: Value) -> Value {
        let (body, done) = (self.b.create_block(), self.b.create_block());
        let entry = self.b.append_block_param(body, types::I64);
        let nearest = self.b.append_block_param(body, types::I64);
        let last = self.b.ins().iadd_imm_s(rings.table.address, i64::from(ENTRY) * rings.pointers.len() as i64);
        self.b.ins().jump(body, &[rings.table.address.into(), length.into()]);
        self.enter(body);
        let field =
            |emitter: &mut Self, offset| emitter.b.ins().load(types::I64, plain().with_aligned(), entry, offset);
        let wrap = field(self, WRAP);
        let (pass, check) = (self.b.create_block(), self.b.create_block());
        let new_wrap = self.b.append_block_param(check, types::I64);
        let wraps = self.b.ins().icmp(IntCC::Equal, wrap, start);
        self.b.ins().brif(wraps, pass, &[], check, &[wrap.into()]);
        self.enter(pass);
        let (address, back, cells) = (field(self, ADDRESS), field(self, MOVE), field(self, CELLS));
        let address = self.b.ins().iadd(address, back);
        self.b.ins().store(plain().with_aligned(), address, entry, ADDRESS);
        let moved = if rings.long {
            let (gap, stride) = (field(self, GAP), field(self, STRIDE));
            let gap = self.b.ins().iadd(gap, cells);
            self.b.ins().store(plain().with_aligned(), gap, entry, GAP);
            self.b.ins().udiv(gap, stride)
        } else {
            self.b.ins().iadd(wrap, cells)
        };
        self.b.ins().store(plain().with_aligned(), moved, entry, WRAP);
        self.b.ins().jump(check, &[moved.into()]);
        self.enter(check);
        let nearest = self.b.ins().smin(nearest, new_wrap);
        let next = self.b.ins().iadd_imm_s(entry, i64::from(ENTRY));
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, next, last);
        self.b.ins().brif(more, body, &[next.into(), nearest.into()], done, &[]);
        self.enter(done);
        nearest
    }
}

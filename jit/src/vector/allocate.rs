//! Registers for straight-line code: when none is free, the value whose next use is farthest gives its own up.
//!
//! In: a [`Body`].   Out: its instructions.   Source: Belady, IBM Systems Journal 5(2), 1966, for the choice.
//!
//! A value has a *home* in memory besides its register: a constant in the pool, an invariant in its slot, a load in the
//! array until a store may overwrite it, anything else in a slot once it was spilled. Giving up a register costs
//! nothing if a home is there. Nothing stays in a register from one iteration to the next but the constants and
//! invariants used most, which are *pinned* to registers that no computed value needs, and in a loop of its own the
//! vectors that [`load_sharing`](super::load_sharing) share.
//!
//! Invariant: a register or a valid home holds every value that is still used; `home` relies on it.
//! Cost: operations times registers.

use std::ops::Range;

use crease_program::Op;

use super::allocation::{Allocation, Carried, LaneShift, SharedLoads, StoredRow};
use super::body::{Body, Role};
use super::instruction::{Class, Inst, Memory, Operand, Reg, Sequence};
use super::load_sharing::Row;
use super::pipelining::{Bank, Pipelined};
use super::shape::LaneShifts;
use super::slots::Slots;

/// Registers that are left to an operation and its result when vectors of the next one are cut.
const LEFT_FOR_AN_OPERATION: usize = 3;

/// Assigns registers to `body`, whose loads may share vectors along `rows`; or, with `pipelines`, whose blocks may
/// overlap.
pub(super) fn allocate(body: &Body<'_>, rows: Vec<Row>, pipelines: bool) -> Allocation {
    let mut once = Allocator::new(body, Part::Once, &Slots::none(body), File::ALL);
    let invariants = once.invariants();
    let free = Allocator::iteration(body, &invariants, File::ALL);
    let spare = (body.shape.registers() - 1).saturating_sub(free.busiest);
    let mut pins = free.constants_by_use();
    pins.truncate(spare);
    let pinned = Allocator::iteration(body, &invariants, File { pins: &pins, ..File::ALL });
    // Where pinning would force anything out of the other registers it is not worth it.
    let (each, pins) = if pinned.spills <= free.spills { (pinned, pins) } else { (free, Vec::new()) };
    let (is_taken, mut once) = (once.was_used, once.out);
    let banked = pipelines.then(|| in_half_the_registers(body, &invariants, &pins));
    let kept = banked.as_ref().map_or(pins.len(), |(_, kept)| *kept);
    for (pin, value) in pins.iter().enumerate() {
        let to = pin_register(body, pin);
        let from = each.home(*value, 0).expect("constants and invariants have homes");
        // What is computed before the loops goes to its register at once, if nothing there takes that or reads the
        // slot.
        let is_taken = is_taken[usize::from(to.number)] || pin >= kept;
        if is_taken || !once.move_instead_of_spilling(from, to) {
            once.push(Inst::Load { to, from }, *value);
        }
    }
    let used = |each: &Allocator<'_, '_>| each.was_used.iter().filter(|used| **used).count() + pins.len();
    let (vectors, mut shared) = (used(&each), None);
    // What values take is left to them, and what loads take that were read where they are used and now are cut out of
    // rows, but not more than half; and enough for the operands of any operation and its result.
    let cut_at_once = match body.shape.features.lane_shifts {
        LaneShifts::Anywhere => most_shared_by_one_operation(body, &rows),
        LaneShifts::ByHalves => rows.iter().map(|row| row.others.len()).max().unwrap_or(0),
    };
    let operands = body.each.iter().map(|at| body.operands(*at).count()).max().unwrap_or(0);
    let left = (each.busiest + cut_at_once).min(body.shape.registers() / 2).max(operands + 1);
    let rows = carry(rows, left..body.shape.registers() - pins.len(), body.shape.features.lane_shifts);
    if !rows.is_empty() {
        let sharing = Allocator::iteration(body, &invariants, File { pins: &pins, rows: &rows, ..File::ALL });
        if sharing.spills <= each.spills {
            let vectors = used(&sharing) + rows.iter().map(|(_, carried)| carried.count()).sum::<usize>();
            shared = Some(SharedLoads { each: sharing.out, rows, vectors });
        }
    }
    let pipelined = banked.and_then(|(banked, kept)| {
        let mut reloads = Sequence::default();
        for (pin, value) in pins.iter().enumerate().skip(kept) {
            let from = each.home(*value, 0).expect("constants and invariants have homes");
            reloads.push(Inst::Load { to: pin_register(body, pin), from }, *value);
        }
        let own_slots = invariants.count()..banked.out.slots().max(invariants.count());
        let bank = Bank { vectors: banked.vectors.len(), masks: banked.masks.len(), own_slots };
        Pipelined::new(body, &banked.out, bank, reloads)
    });
    let sequences = [Some(&once), Some(&each.out), shared.as_ref().map(|shared| &shared.each)];
    let slots = sequences.into_iter().flatten().map(Sequence::slots).max().unwrap_or(0);
    let slots = slots.max(pipelined.as_ref().map_or(0, Pipelined::slots));
    Allocation { once, slots, spills: each.spills, pinned: pins.len(), vectors, each: each.out, shared, pipelined }
}

/// An iteration in half of the registers, so that two can run at once, and how many of the pinned values keep theirs
/// meanwhile: the first ones, as long as that forces nothing else out.
fn in_half_the_registers<'b, 'a>(body: &'b Body<'a>, invariants: &Slots, pins: &[usize]) -> (Allocator<'b, 'a>, usize) {
    let file = |pins| File { pins, banks: 2, ..File::ALL };
    let free = Allocator::iteration(body, invariants, file(&[]));
    let kept = body.shape.registers().saturating_sub(2 * (free.busiest + 1)).min(pins.len());
    let pinned = Allocator::iteration(body, invariants, file(&pins[..kept]));
    let is_free = free.spills < pinned.spills;
    if is_free { (free, 0) } else { (pinned, kept) }
}

/// Of how many loads that share vectors an operation has the values as its operands, at most.
fn most_shared_by_one_operation(body: &Body<'_>, rows: &[Row]) -> usize {
    let mut shares = vec![false; body.strip.ops.len()];
    rows.iter().flat_map(|row| &row.others).for_each(|(load, _)| shares[*load] = true);
    body.each.iter().map(|at| body.operands(*at).filter(|value| shares[*value]).count()).max().unwrap_or(0)
}

/// Registers for the vectors of rows, the last ones of a range first; where these are too few for all, rows of fewer
/// loads go without.
fn carry(mut rows: Vec<Row>, mut registers: Range<usize>, shifts: LaneShifts) -> Vec<(Row, Carried)> {
    rows.sort_by_key(|row| std::cmp::Reverse(row.others.len()));
    let mut carried = Vec::with_capacity(rows.len());
    for row in rows {
        let (has_current, has_previous, has_next) =
            (shifts == LaneShifts::Anywhere, row.before() > 0, row.reads_ahead());
        if registers.len() >= [has_current, has_previous, has_next].map(usize::from).iter().sum() {
            let mut take = |is_wanted| {
                let number = if is_wanted { registers.next_back() } else { None };
                number.map(|number| Reg { class: Class::Vector, number: number as u8 })
            };
            let (current, previous, next) = (take(has_current), take(has_previous), take(has_next));
            carried.push((row, Carried { current, previous, next }));
        }
    }
    carried
}

/// The register of the pinned value of this number.
fn pin_register(body: &Body<'_>, pin: usize) -> Reg {
    Reg { class: Class::Vector, number: (body.shape.registers() - 1 - pin) as u8 }
}

/// Registers that an iteration may use.
#[derive(Clone, Copy)]
struct File<'p> {
    /// Values pinned to the last ones.
    pins: &'p [usize],
    /// Rows whose vectors have those before them.
    rows: &'p [(Row, Carried)],
    /// Into how many equal parts the others are cut, of which the first is used.
    banks: usize,
}

impl File<'_> {
    /// All of them.
    const ALL: Self = File { pins: &[], rows: &[], banks: 1 };
}

/// Which operations are allocated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Invariants, before the loops.
    Once,
    /// Those of each iteration.
    Each,
}

/// The state while instructions are chosen, one operation after the other.
pub(super) struct Allocator<'b, 'a> {
    pub(super) body: &'b Body<'a>,
    part: Part,
    /// For each value the places in the order where it is still to be used, the next one last.
    uses: Vec<Vec<usize>>,
    /// For each value its register.
    registers: Vec<Option<Reg>>,
    slots: Slots,
    /// The value of each vector register; those of pinned values lie behind.
    vectors: Vec<Option<usize>>,
    /// The value of each mask register.
    masks: Vec<Option<usize>>,
    /// The place in the order of the current operation.
    now: usize,
    /// Vector registers that held values other than constants, at most.
    busiest: usize,
    spills: usize,
    /// The vector registers that some value was in.
    was_used: Vec<bool>,
    /// The operation whose instructions are being chosen.
    current: usize,
    /// For each load that shares vectors and is not in the middle of its row, where its own lies.
    lane_shifts: Vec<Option<LaneShift>>,
    /// The stores whose vectors later loads share.
    pub(super) stored_rows: Vec<StoredRow>,
    out: Sequence,
}

impl<'b, 'a> Allocator<'b, 'a> {
    /// Nothing chosen yet.
    fn new(body: &'b Body<'a>, part: Part, slots: &Slots, File { pins, rows, banks }: File<'_>) -> Self {
        let count = body.strip.ops.len();
        let mut uses = vec![Vec::new(); count];
        let order = if part == Part::Once { &body.once } else { &body.each };
        for (place, at) in order.iter().enumerate().rev() {
            for operand in body.operands(*at) {
                if uses[operand].last() != Some(&place) {
                    uses[operand].push(place);
                }
            }
        }
        let mut registers = vec![None; count];
        for (pin, value) in pins.iter().enumerate() {
            registers[*value] = Some(pin_register(body, pin));
        }
        let mut lane_shifts = vec![None; count];
        let stored_rows = rows.iter().filter_map(|(row, carried)| StoredRow::new(row, carried, body.shape)).collect();
        for (row, carried) in rows {
            if !row.is_stored {
                registers[row.middle] = carried.current;
            }
            for (load, ahead) in &row.others {
                lane_shifts[*load] = carried.lane_shift(*ahead, body.shape.lanes());
            }
        }
        let carried: usize = rows.iter().map(|(_, carried)| carried.count()).sum();
        let assigned = (body.shape.registers() - pins.len() - carried) / banks;
        Allocator {
            body,
            part,
            uses,
            registers,
            slots: slots.clone(),
            vectors: vec![None; assigned],
            masks: vec![None; body.shape.masks() / banks],
            now: 0,
            busiest: 0,
            spills: 0,
            was_used: vec![false; assigned],
            current: 0,
            lane_shifts,
            stored_rows,
            out: Sequence::default(),
        }
    }

    /// Chooses the instructions of an iteration, in which loads share vectors along `rows`.
    fn iteration(body: &'b Body<'a>, invariants: &Slots, file: File<'_>) -> Self {
        let mut allocator = Self::new(body, Part::Each, invariants, file);
        let rows = file.rows;
        for (row, carried) in rows.iter().filter(|(row, _)| !row.is_stored) {
            let from = carried.next.map_or(Memory::Cell(row.stream), |_| Memory::NextCell(row.stream));
            let to = carried.next.or(carried.current).expect("rows that are read have a vector of their own");
            allocator.out.push(Inst::Load { to, from }, row.middle);
        }
        let mut is_behind = vec![false; body.strip.ops.len()];
        for (place, at) in body.each.iter().enumerate() {
            (allocator.now, allocator.current) = (place, *at);
            is_behind[*at] = true;
            if !rows.is_empty() && body.roles[*at] == Role::Computed {
                let next = body.each[place + 1..].iter().find(|at| body.roles[**at] == Role::Computed);
                next.into_iter().for_each(|next| allocator.cut_ahead(*next, &is_behind));
            }
            allocator.operation(*at);
            allocator.slots.end_operation();
        }
        for (row, Carried { current, previous, next }) in rows {
            for (to, from) in [(previous, current), (current, next)] {
                if let (Some(to), Some(from)) = (*to, *from) {
                    allocator.out.push(Inst::Move { to, from }, row.middle);
                }
            }
        }
        allocator
    }

    /// Cuts the vectors that an operation takes out of rows, of loads that are `behind`, while there are registers: not
    /// right before it, where others wait for the same units.
    fn cut_ahead(&mut self, at: usize, behind: &[bool]) {
        let body = self.body;
        for value in body.operands(at).filter(|value| behind[*value]) {
            let free = || self.vectors.iter().filter(|value| value.is_none()).count();
            if self.lane_shifts[value].is_some() && free() > LEFT_FOR_AN_OPERATION {
                self.register(value, &[]);
            }
        }
    }

    /// Computes invariants, and those that iterations use into slots, which it returns.
    fn invariants(&mut self) -> Slots {
        let body = self.body;
        let mut in_loop = vec![false; body.strip.ops.len()];
        body.each.iter().flat_map(|at| body.operands(*at)).for_each(|value| in_loop[value] = true);
        for (place, at) in body.once.iter().enumerate() {
            (self.now, self.current) = (place, *at);
            self.operation(*at);
            if in_loop[*at] {
                let from = self.register(*at, &[]);
                let slot = self.slots.get(*at);
                self.out.push(Inst::Spill { slot, from }, *at);
            }
            self.drop_dead(*at);
        }
        self.slots.clone()
    }

    /// Constants and invariants of each iteration, those used most first.
    fn constants_by_use(&self) -> Vec<usize> {
        let mut count = vec![0u32; self.body.strip.ops.len()];
        self.body.each.iter().flat_map(|at| self.body.operands(*at)).for_each(|value| count[value] += 1);
        let is_constant = |at: &usize| count[*at] > 0 && self.is_constant(*at);
        let mut found: Vec<usize> = (0..count.len()).filter(is_constant).collect();
        found.sort_by_key(|at| std::cmp::Reverse(count[*at]));
        found
    }

    /// Whether the value is at hand before the order begins.
    fn is_constant(&self, value: usize) -> bool {
        match self.body.roles[value] {
            Role::Constant(_) => true,
            Role::Invariant => self.part == Part::Each,
            Role::Cell { .. } | Role::Computed => false,
        }
    }

    /// The class of registers that hold a value.
    pub(super) fn class(&self, value: usize) -> Class {
        let is_truth = matches!(self.body.strip.ops[value], Op::Compare(..) | Op::And(..) | Op::Or(..) | Op::Not(_));
        if is_truth && self.body.shape.features.masks > 0 { Class::Mask } else { Class::Vector }
    }

    pub(super) fn push(&mut self, instruction: Inst) {
        self.out.push(instruction, self.current);
    }

    /// The place of the next use after the current operation, if there is one.
    fn next_use(&self, value: usize) -> Option<usize> {
        self.uses[value].iter().rev().copied().find(|place| *place > self.now)
    }

    /// The next use, that of the current operation included.
    fn use_from_now(&self, value: usize) -> Option<usize> {
        self.uses[value].last().copied()
    }

    /// Where a value lies in memory at `place` of the order, if anywhere.
    fn home(&self, value: usize, place: usize) -> Option<Memory> {
        match self.body.roles[value] {
            Role::Constant(constant) => Some(Memory::Constant(constant)),
            _ if self.slots.of[value].is_some() => self.slots.of[value].map(Memory::Slot),
            Role::Cell { until } if place <= until => match self.body.strip.ops[value] {
                Op::Load { stream, .. } => Some(Memory::Cell(stream.index())),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a value can be had again at `place` of the order, from memory or from vectors that are kept.
    fn has_home(&self, value: usize, place: usize) -> bool {
        self.lane_shifts[value].is_some() || self.home(value, place).is_some()
    }

    /// Whether an instruction can take a value from there.
    fn folds(&self, value: usize, memory: Memory) -> bool {
        match memory {
            Memory::Constant(_) | Memory::Slot(_) | Memory::NextCell(_) => true,
            Memory::Cell(stream) => {
                let (place, shape, number) = (&self.body.addresses[stream], self.body.shape, self.body.numbers[value]);
                let is_vector = place.stride != Some(0) || shape.repeats_cells();
                debug_assert!(self.body.apart(stream).is_none(), "such cells are brought into registers once");
                number.is_in(place.element) && shape.fills(number) && is_vector
            }
        }
    }

    /// The register of a value, loaded if it has none; values in `keep` stay where they are.
    pub(super) fn register(&mut self, value: usize, keep: &[usize]) -> Reg {
        if let Some(register) = self.registers[value] {
            return register;
        }
        let home = self.home(value, self.now);
        let to = self.take(value, keep);
        let load = match self.lane_shifts[value] {
            Some(LaneShift { low, high, lanes }) => Inst::Shift { to, low, high, lanes },
            None => Inst::Load { to, from: home.expect("a value without a register has a home") },
        };
        self.out.push(load, value);
        to
    }

    /// A value as an operand that may be in memory. It goes into a register if it is used again and one is free.
    pub(super) fn operand(&mut self, value: usize, keep: &[usize]) -> Operand {
        let foldable = match self.registers[value] {
            Some(register) => return Operand::Reg(register),
            None => self
                .home(value, self.now)
                .filter(|memory| self.lane_shifts[value].is_none() && self.folds(value, *memory)),
        };
        let is_worth_it = !self.is_constant(value) && self.next_use(value).is_some() && self.has_free();
        match foldable {
            Some(memory) if !is_worth_it => Operand::Memory(memory),
            _ => Operand::Reg(self.register(value, keep)),
        }
    }

    /// Whether the value has a register.
    pub(super) fn in_register(&self, value: usize) -> bool {
        self.registers[value].is_some()
    }

    /// Whether a vector register is free.
    pub(super) fn has_free(&self) -> bool {
        self.vectors.contains(&None)
    }

    /// Whether a value in `register` is used by nothing after the current operation, so that a result may replace it.
    pub(super) fn dies_in(&self, value: usize, register: Reg) -> bool {
        let is_pinned = register.class == Class::Vector && usize::from(register.number) >= self.vectors.len();
        !is_pinned && self.next_use(value).is_none()
    }

    /// A register for a value that has none.
    pub(super) fn take(&mut self, value: usize, keep: &[usize]) -> Reg {
        let class = self.class(value);
        let file = self.file(class);
        let at = match file.iter().position(Option::is_none) {
            Some(free) => free,
            None => self.evict(class, keep),
        };
        self.own(value, class, at)
    }

    /// Hands the register of an operand that has died on to a result.
    pub(super) fn inherit(&mut self, value: usize, register: Reg) {
        self.own(value, Class::Vector, usize::from(register.number));
    }

    fn own(&mut self, value: usize, class: Class, at: usize) -> Reg {
        debug_assert_eq!(self.class(value), class, "a value goes to a register of its class");
        debug_assert!(self.registers[value].is_none(), "a value has one register");
        let register = Reg { class, number: at as u8 };
        *self.entry(class, at) = Some(value);
        if class == Class::Vector {
            self.was_used[at] = true;
        }
        self.registers[value] = Some(register);
        let busy = self.vectors.iter().flatten().filter(|value| !self.is_constant(**value)).count();
        self.busiest = self.busiest.max(busy);
        register
    }

    fn file(&self, class: Class) -> &[Option<usize>] {
        match class {
            Class::Vector => &self.vectors,
            Class::Mask => &self.masks,
        }
    }

    fn entry(&mut self, class: Class, at: usize) -> &mut Option<usize> {
        match class {
            Class::Vector => &mut self.vectors[at],
            Class::Mask => &mut self.masks[at],
        }
    }

    /// Frees the register whose value is used last, if possible one that need not be stored.
    fn evict(&mut self, class: Class, keep: &[usize]) -> usize {
        let file = self.file(class);
        let cost = |at: &usize| {
            let value = file[*at].expect("every register is taken");
            let next = self.use_from_now(value).unwrap_or(usize::MAX / 4);
            2 * next + usize::from(self.has_home(value, next))
        };
        let may_go = |at: &usize| file[*at].is_some_and(|value| !keep.contains(&value));
        let at =
            (0..file.len()).filter(may_go).max_by_key(cost).expect("an operation has fewer operands than registers");
        let value = file[at].expect("every register is taken");
        let next = self.use_from_now(value);
        let from = self.registers[value].take().expect("it has one");
        if next.is_some_and(|next| !self.has_home(value, next)) {
            let slot = self.slots.get(value);
            self.spills += 1;
            self.out.push(Inst::Spill { slot, from }, value);
        }
        *self.entry(class, at) = None;
        at
    }

    /// Counts the operands of the current operation as used; registers of those that die become free.
    pub(super) fn release(&mut self, at: usize) {
        let body = self.body;
        for value in body.operands(at) {
            while self.uses[value].last().is_some_and(|place| *place <= self.now) {
                self.uses[value].pop();
            }
            self.drop_dead(value);
        }
    }

    /// Frees what a value without further uses holds.
    fn drop_dead(&mut self, value: usize) {
        if !self.uses[value].is_empty() {
            return;
        }
        if let Some(Reg { class, number }) = self.registers[value] {
            let at = usize::from(number);
            if at < self.file(class).len() {
                self.registers[value] = None;
                *self.entry(class, at) = None;
            }
        }
        // Slots filled before the loops are there for all iterations.
        if self.part == Part::Each
            && !self.is_constant(value)
            && let Some(slot) = self.slots.of[value].take()
        {
            self.slots.dying.push(slot);
        }
    }

    /// Loads what the store at the current place may overwrite and later operations still read.
    pub(super) fn rescue(&mut self, keep: &[usize]) {
        let body = self.body;
        for value in body.overwritten.get(&self.now).into_iter().flatten().copied() {
            let is_shifted = self.lane_shifts[value].is_some();
            if self.next_use(value).is_some() && self.slots.of[value].is_none() && !is_shifted {
                self.register(value, keep);
            }
        }
    }
}

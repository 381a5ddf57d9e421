//! The rows of a tile as one strip.
//!
//! In: strips in the order in which they run, each with the forms of its streams.   Out: whether they may run iteration
//! by iteration, and the strip that does that.
//!
//! A stream in a ring is at a remainder. Two that start a constant apart may meet both ways around: where the longer way
//! is shorter than a strip, nothing is said. Where such a stream starts is computed once for all that are a constant
//! from it, as the first of them has it.

use rustc_hash::FxHashMap;

use crate::forms::{Form, Scope, plus_constant, terms};
use crate::rename::renamed_lets;
use crate::types::*;

/// One strip of one row.
struct Row<'a> {
    strip: &'a Strip,
    /// The number of the row.
    number: i64,
    /// Where its streams start.
    starts: Vec<Start<'a>>,
    /// The position of its first operation.
    first: usize,
}

/// Where a stream starts.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Start<'a> {
    /// Where its ring begins; 0 if it is in none.
    base: Form<'a>,
    /// From there; in a ring, before it is reduced.
    pos: Form<'a>,
    /// The cells of its ring.
    ring: Option<i64>,
}

impl<'a> Start<'a> {
    fn new(stream: &'a Stream, scope: &Scope<'a>) -> Option<Self> {
        let Address::Block { base, pos, ring, stride } = &stream.address else { return None };
        match ring {
            _ if !stream.table.is_empty() => None,
            None if matches!(stride, 0 | 1) => {
                let pos = scope.form(base)?.plus(&scope.form(pos)?, 1)?;
                Some(Start { base: Form::constant(0), pos, ring: None })
            }
            Some(ring) if *stride == 1 => {
                let ring = i64::try_from(*ring).ok()?;
                Some(Start { base: scope.form(base)?, pos: scope.residue(pos, ring)?, ring: Some(ring) })
            }
            _ => None,
        }
    }

    /// Cells from `other` to here, of streams that run for `length` iterations, if that is a constant; in a ring the
    /// shorter way around, on which alone they can meet.
    fn ahead_of(&self, other: &Start<'a>, length: i64) -> Option<i64> {
        if self.ring != other.ring || self.base != other.base {
            return None;
        }
        let ahead = self.pos.constant_difference(&other.pos)?;
        let Some(ring) = self.ring else { return Some(ahead) };
        let (after, before) = (ahead.rem_euclid(ring), ring - ahead.rem_euclid(ring));
        let (nearer, farther) = if after <= before { (after, before) } else { (-before, after) };
        (farther >= length).then_some(nearer)
    }
}

/// A load or a store.
#[derive(Clone, Copy)]
struct Access<'r, 'a> {
    /// Which of the strips it is in.
    row: usize,
    /// Among all operations.
    op: usize,
    buffer: BufferId,
    start: &'r Start<'a>,
    stride: i64,
    stores: bool,
}

/// What the strips of rows are made in.
pub(super) struct Inside<'a> {
    /// The loop's variable,
    pub(super) var: Var,
    /// and what it is in the first row: this, and so much more.
    pub(super) first: (&'a Int, i64),
    /// What each row defines.
    pub(super) lets: Vec<Node>,
}

/// Rows in order, all of one length.
pub(super) struct Rows<'a> {
    inside: Inside<'a>,
    rows: Vec<Row<'a>>,
    length: i64,
    operations: usize,
}

impl<'a> Rows<'a> {
    /// No rows yet.
    pub(super) fn new(inside: Inside<'a>) -> Self {
        Rows { inside, rows: Vec::new(), length: 0, operations: 0 }
    }

    /// Adds a strip of so many iterations of the row of that number; none if it cannot be a part of one.
    pub(super) fn add(&mut self, strip: &'a Strip, (number, length): (i64, i64), scope: &Scope<'a>) -> Option<()> {
        let is_alike = self.rows.is_empty() || self.length == length;
        let counts = |op: &Op| matches!(op, Op::Index { .. } | Op::Lookup { .. } | Op::OpaqueSeed(_));
        if !is_alike || strip.ops.iter().any(counts) {
            return None;
        }
        let starts = strip.streams.iter().map(|stream| Start::new(stream, scope)).collect::<Option<Vec<_>>>()?;
        self.rows.push(Row { strip, number, starts, first: self.operations });
        (self.length, self.operations) = (length, self.operations + strip.ops.len());
        Some(())
    }

    /// Iterations of each of them.
    pub(super) fn length(&self) -> i64 {
        self.length
    }

    /// Operations of all of them.
    pub(super) fn operations(&self) -> usize {
        self.operations
    }

    /// Variables that the strip needs for itself, at most.
    pub(super) fn variables(&self) -> usize {
        self.rows.iter().map(|row| row.starts.len() + 1 + self.inside.lets.len()).sum()
    }

    fn accesses(&self) -> Vec<Access<'_, 'a>> {
        let mut accesses = Vec::new();
        for (row, of) in self.rows.iter().enumerate() {
            for (at, op) in of.strip.ops.iter().enumerate() {
                let (Op::Load { stream, .. } | Op::Store { stream, .. }) = op else { continue };
                let Stream { buffer, address, .. } = &of.strip.streams[stream.index()];
                let Address::Block { stride, .. } = address else { unreachable!("rows are of blocks") };
                let (start, stores) = (&of.starts[stream.index()], matches!(op, Op::Store { .. }));
                accesses.push(Access { row, op: of.first + at, buffer: *buffer, start, stride: *stride, stores });
            }
        }
        accesses
    }

    /// Whether a row reads what one before it has stored, and not at its own cells.
    pub(super) fn are_worth_it(&self) -> bool {
        let accesses = self.accesses();
        let is_near = |ahead: i64| ahead > 0 && ahead < self.length;
        accesses.iter().any(|load| self.reads_stored(load, &accesses, is_near))
    }

    /// Whether half of all loads are of what rows before theirs have stored in the same iteration or up to a vector
    /// earlier: registers have these, and more is not saved by two rows at a time.
    pub(super) fn save_half_of_the_loads(&self) -> bool {
        let accesses = self.accesses();
        let lanes = self.rows.iter().map(|row| i64::from(row.strip.lanes)).min().unwrap_or(0);
        let loads = || accesses.iter().filter(|access| !access.stores && access.stride == 1);
        let saved = loads().filter(|load| self.reads_stored(load, &accesses, |ahead| (0..=lanes).contains(&ahead)));
        2 * saved.count() >= loads().count()
    }

    /// Whether rows are stored whole vectors apart: the stores of the first one are aligned, so then are those of all.
    pub(super) fn are_stored_in_step(&self) -> bool {
        let accesses = self.accesses();
        let lanes = self.rows.iter().map(|row| i64::from(row.strip.lanes)).max().unwrap_or(1);
        let rows = || accesses.iter().filter(|access| access.stores && access.stride == 1);
        let is_in_step = |one: &Access<'_, 'a>, other: &Access<'_, 'a>| {
            let apart = one.start.ahead_of(other.start, self.length);
            one.buffer != other.buffer || apart.is_some_and(|apart| apart % lanes == 0)
        };
        rows().all(|one| rows().all(|other| is_in_step(one, other)))
    }

    /// Whether there are no more operations on what was loaded than loads and stores: else arithmetic takes the time, and
    /// what two rows at a time save nobody waits for.
    pub(super) fn are_busy_with_memory(&self) -> bool {
        let (mut accesses, mut computes) = (0, 0);
        for row in &self.rows {
            let mut varies = Vec::with_capacity(row.strip.ops.len());
            for op in &row.strip.ops {
                let is_access = matches!(op, Op::Load { .. } | Op::Store { .. });
                varies.push(is_access || op.operands().any(|operand| varies[operand.index()]));
                accesses += usize::from(is_access);
                computes += usize::from(!is_access && varies[varies.len() - 1]);
            }
        }
        computes <= accesses
    }

    /// Whether a load is of a row that one before its own has stored, so many cells ahead of it.
    fn reads_stored(&self, load: &Access<'_, 'a>, all: &[Access<'_, 'a>], is_near: impl Fn(i64) -> bool) -> bool {
        let is_alike = |store: &Access<'_, '_>| store.buffer == load.buffer && store.stride == load.stride;
        let before = all.iter().filter(|store| store.stores && store.row < load.row && is_alike(store));
        let mut ahead = before.filter_map(|store| store.start.ahead_of(load.start, self.length));
        !load.stores && load.stride == 1 && ahead.any(is_near)
    }

    /// Whether the same is left in memory if each iteration runs all rows, one after the other.
    pub(super) fn may_run_by_iteration(&self) -> bool {
        let accesses = self.accesses();
        let stays = |first: &Access<'_, '_>, second: &Access<'_, '_>| {
            if first.buffer != second.buffer || first.row >= second.row || !first.stores && !second.stores {
                return true;
            }
            let Some(ahead) = second.start.ahead_of(first.start, self.length) else { return false };
            let is_far = ahead.unsigned_abs() >= self.length.unsigned_abs();
            // They meet where the first one is so many iterations ahead; a cell of stride 0, in any of them.
            is_far || first.stride == 1 && second.stride == 1 && ahead <= 0
        };
        accesses.iter().all(|first| accesses.iter().all(|second| stays(first, second)))
    }

    /// The strip, with what it needs to be defined, its variable, and which operations those of it were. Variables are
    /// numbered from `fresh` on.
    pub(super) fn strip(&self, fresh: u32) -> (Vec<Node>, Var, Vec<(Var, ValueId)>) {
        let var = Var(fresh);
        let mut bases = Bases { rows: self, next: fresh + 1, nodes: Vec::new(), lines: Vec::new(), rings: Vec::new() };
        let (mut streams, mut ops, mut alias) = (Vec::new(), Vec::new(), Vec::new());
        let mut origins = Vec::with_capacity(self.operations);
        let mut known: FxHashMap<(BufferId, &Start<'a>, i64), StreamId> = FxHashMap::default();
        for row in &self.rows {
            let mut numbers = Vec::with_capacity(row.starts.len());
            for (stream, start) in row.strip.streams.iter().zip(&row.starts) {
                let Address::Block { stride, .. } = stream.address else { unreachable!("rows are of blocks") };
                let number = *known.entry((stream.buffer, start, stride)).or_insert_with(|| {
                    streams.push(Stream { address: bases.address(row, stream, start), ..stream.clone() });
                    StreamId(streams.len() as u32 - 1)
                });
                numbers.push(number);
            }
            let moved = |id: ValueId| ValueId(id.0 + row.first as u32);
            for (at, op) in (0..).map(ValueId).zip(&row.strip.ops) {
                let mut op = *op;
                op.operands_mut().into_iter().flatten().for_each(|operand| *operand = moved(*operand));
                if let Op::Load { stream, .. } | Op::Store { stream, .. } = &mut op {
                    *stream = numbers[stream.index()];
                }
                ops.push(op);
                origins.push((row.strip.var, at));
            }
            let own = row.strip.alias.iter();
            alias.extend(own.map(|fact| AliasFact { load: moved(fact.load), store: moved(fact.store), ..*fact }));
        }
        alias.extend(self.alias_facts());
        let lanes = self.rows.iter().map(|row| row.strip.lanes).min().unwrap_or(1);
        let (lo, hi) = (Int::Const(0), Int::Const(self.length));
        let mut nodes = bases.nodes;
        nodes.push(Node::Strip(Strip { var, lo, hi, lanes, streams, ops, alias }));
        (nodes, var, origins)
    }

    /// What is known of loads and stores of different rows.
    fn alias_facts(&self) -> Vec<AliasFact> {
        let accesses = self.accesses();
        let mut facts = Vec::new();
        for load in accesses.iter().filter(|access| !access.stores) {
            for store in accesses.iter().filter(|access| access.stores && access.row != load.row) {
                let Some(ahead) = store.start.ahead_of(load.start, self.length) else { continue };
                let is_far = ahead.unsigned_abs() >= self.length.unsigned_abs();
                let relation = match ahead {
                    _ if load.buffer != store.buffer => continue,
                    _ if is_far => AliasRelation::Disjoint,
                    _ if load.stride != store.stride => continue,
                    0 if load.op > store.op => continue,
                    0 => AliasRelation::SameLane,
                    _ => AliasRelation::Distance(ahead),
                };
                let id = |access: &Access<'_, '_>| ValueId(access.op as u32);
                facts.push(AliasFact { load: id(load), store: id(store), relation });
            }
        }
        facts
    }
}

/// What is defined before the strip of all rows.
struct Bases<'r, 'a> {
    rows: &'r Rows<'a>,
    /// The first number of a variable that is not taken.
    next: u32,
    nodes: Vec<Node>,
    /// Of streams in no ring, by their terms, what their starts have in common.
    lines: Vec<(&'r Form<'a>, Int)>,
    /// Of streams in rings, by what differs by a constant: the first of them, its ring's begin and its place in it.
    rings: Vec<(&'r Start<'a>, Int, Int)>,
}

impl<'r, 'a> Bases<'r, 'a> {
    /// The address of a stream of a row in the strip.
    fn address(&mut self, row: &'r Row<'a>, stream: &'a Stream, start: &'r Start<'a>) -> Address {
        let Address::Block { pos, ring, stride, .. } = &stream.address else { unreachable!("rows are of blocks") };
        let Some(cells) = start.ring else {
            let base = self.line(&start.pos);
            return Address::Block { base, pos: Int::Const(start.pos.constant), ring: None, stride: *stride };
        };
        let is_alike = |(first, ..): &&(&Start<'a>, Int, Int)| {
            (first.ring, &first.base, first.pos.terms()) == (start.ring, &start.base, start.pos.terms())
        };
        let (first, base, at) = match self.rings.iter().find(is_alike) {
            Some(found) => found.clone(),
            None => {
                let base = plus_constant(terms(&start.base), start.base.constant);
                let at = self.place(row, pos);
                self.rings.push((start, base, at));
                self.rings[self.rings.len() - 1].clone()
            }
        };
        let pos = match start.pos.constant.wrapping_sub(first.pos.constant).rem_euclid(cells) {
            0 => at,
            after if after <= cells / 2 => Int::Wrap(Box::new(plus_constant(at, after)), cells),
            after => Int::Wrap(Box::new(plus_constant(at, after - cells)), cells),
        };
        Address::Block { base, pos, ring: *ring, stride: *stride }
    }

    /// What the terms of a form come to.
    fn line(&mut self, form: &'r Form<'a>) -> Int {
        if let Some((_, base)) = self.lines.iter().find(|(known, _)| known.terms() == form.terms()) {
            return base.clone();
        }
        let base = if form.is_constant() { Int::Const(0) } else { self.define(terms(form)) };
        self.lines.push((form, base.clone()));
        base
    }

    /// An expression of a row, with what that row defines.
    fn place(&mut self, row: &Row<'a>, pos: &Int) -> Int {
        let inside = &self.rows.inside;
        let (first, more) = inside.first;
        let at = self.define(plus_constant(first.clone(), more + row.number));
        let Int::Var(at) = at else { unreachable!("definitions are of variables") };
        let (lets, place) = renamed_lets((inside.var, at), &inside.lets, pos, &mut self.next);
        self.nodes.extend(lets);
        self.define(place)
    }

    fn define(&mut self, value: Int) -> Int {
        let var = Var(self.next);
        self.next += 1;
        self.nodes.push(Node::Let { var, value });
        Int::Var(var)
    }
}

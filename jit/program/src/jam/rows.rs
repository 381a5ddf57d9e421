//! The rows of a tile as one strip.
//!
//! In: strips in the order in which they run, each with the forms of its streams.   Out: whether they may run iteration
//! by iteration, and the strip that does that.

use rustc_hash::FxHashMap;

use super::forms::{Form, Scope, terms};
use crate::types::*;

/// One strip of one row.
struct Row<'a> {
    strip: &'a Strip,
    /// Where its streams start.
    starts: Vec<Form<'a>>,
    /// The position of its first operation.
    first: usize,
}

/// A load or a store.
#[derive(Clone, Copy)]
struct Access<'r, 'a> {
    /// The number of its row.
    row: usize,
    /// Among all operations.
    op: usize,
    buffer: BufferId,
    start: &'r Form<'a>,
    stride: i64,
    stores: bool,
}

/// Rows in order, all of one length.
#[derive(Default)]
pub(super) struct Rows<'a> {
    rows: Vec<Row<'a>>,
    length: i64,
    operations: usize,
}

impl<'a> Rows<'a> {
    /// Adds a strip of so many iterations; none if it cannot be a part of one.
    pub(super) fn add(&mut self, strip: &'a Strip, length: i64, scope: &Scope<'a>) -> Option<()> {
        let is_alike = self.rows.is_empty() || self.length == length;
        let counts = |op: &Op| matches!(op, Op::Index { .. } | Op::Lookup { .. } | Op::OpaqueSeed(_));
        if !is_alike || strip.ops.iter().any(counts) {
            return None;
        }
        let start = |stream: &'a Stream| match &stream.address {
            Address::Block { base, pos, ring, stride }
                if stream.table.is_empty() && (*stride == 1 && ring.is_none() || *stride == 0) =>
            {
                scope.form(base)?.plus(&scope.form(pos)?, 1)
            }
            _ => None,
        };
        let starts = strip.streams.iter().map(start).collect::<Option<Vec<_>>>()?;
        self.rows.push(Row { strip, starts, first: self.operations });
        (self.length, self.operations) = (length, self.operations + strip.ops.len());
        Some(())
    }

    /// Operations of all of them.
    pub(super) fn operations(&self) -> usize {
        self.operations
    }

    /// Variables that the strip needs for itself, at most.
    pub(super) fn variables(&self) -> usize {
        self.rows.iter().map(|row| row.starts.len()).sum()
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
        let reads_stored = |load: &Access<'_, '_>| {
            let before = accesses.iter().filter(|store| store.stores && store.row < load.row);
            let is_near = |ahead: i64| ahead > 0 && ahead < self.length;
            let mut ahead = before.filter(|store| store.buffer == load.buffer && store.stride == load.stride);
            ahead.any(|store| store.start.constant_difference(load.start).is_some_and(is_near))
        };
        accesses.iter().any(|load| !load.stores && load.stride == 1 && reads_stored(load))
    }

    /// Whether the same is left in memory if each iteration runs all rows, one after the other.
    pub(super) fn may_run_by_iteration(&self) -> bool {
        let accesses = self.accesses();
        let stays = |first: &Access<'_, '_>, second: &Access<'_, '_>| {
            if first.buffer != second.buffer || first.row >= second.row || !first.stores && !second.stores {
                return true;
            }
            let Some(ahead) = second.start.constant_difference(first.start) else { return false };
            let is_far = ahead.unsigned_abs() >= self.length.unsigned_abs();
            // They meet where the first one is so many iterations ahead; a cell of stride 0, in any of them.
            is_far || first.stride == 1 && second.stride == 1 && ahead <= 0
        };
        accesses.iter().all(|first| accesses.iter().all(|second| stays(first, second)))
    }

    /// The strip, with what it needs to be defined, its variable, and which operations those of it were. Variables are
    /// numbered from `fresh` on.
    pub(super) fn strip(&self, fresh: u32) -> (Vec<Node>, Var, Vec<(Var, ValueId)>) {
        let (var, mut next) = (Var(fresh), fresh + 1);
        let (mut nodes, mut streams, mut ops, mut alias) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut origins = Vec::with_capacity(self.operations);
        let mut bases: Vec<(&Form<'a>, Int)> = Vec::new();
        let mut known: FxHashMap<(BufferId, &Form<'a>, i64), StreamId> = FxHashMap::default();
        for row in &self.rows {
            let mut numbers = Vec::with_capacity(row.starts.len());
            for (stream, start) in row.strip.streams.iter().zip(&row.starts) {
                let Address::Block { stride, .. } = stream.address else { unreachable!("rows are of blocks") };
                let number = *known.entry((stream.buffer, start, stride)).or_insert_with(|| {
                    let base = bases.iter().find(|(form, _)| form.terms() == start.terms());
                    let base = base.map(|(_, base)| base.clone()).unwrap_or_else(|| {
                        let base = match start.is_constant() {
                            true => Int::Const(0),
                            false => {
                                nodes.push(Node::Let { var: Var(next), value: terms(start) });
                                next += 1;
                                Int::Var(Var(next - 1))
                            }
                        };
                        bases.push((start, base.clone()));
                        base
                    });
                    let address = Address::Block { base, pos: Int::Const(start.constant), ring: None, stride };
                    streams.push(Stream { address, ..stream.clone() });
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
        nodes.push(Node::Strip(Strip { var, lo, hi, lanes, streams, ops, alias }));
        (nodes, var, origins)
    }

    /// What is known of loads and stores of different rows.
    fn alias_facts(&self) -> Vec<AliasFact> {
        let accesses = self.accesses();
        let mut facts = Vec::new();
        for load in accesses.iter().filter(|access| !access.stores) {
            for store in accesses.iter().filter(|access| access.stores && access.row != load.row) {
                let Some(ahead) = store.start.constant_difference(load.start) else { continue };
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

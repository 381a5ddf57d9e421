//! Software pipelining: a block begins while the one before it ends.
//!
//! In: the instructions of a block in half of the registers.   Out: its two parts, of which the second one of a block
//! and the first one of the next run at once.
//! Source: Lam, Software pipelining: an effective scheduling technique for VLIW machines, PLDI 1988, with two stages.
//!
//! A block of some dozen operations is a chain: loads, sums of them, a quotient, products, stores. A processor looks
//! for other work in the instructions that follow, but waiting ones fill its schedulers after one block or two. With
//! the beginning of the next block between them, there is always something to do. Each block has registers of its own,
//! every other one the same; constants that find no register are operands in memory.
//!
//! That is done where a block computes for longer than memory takes for what it reads: what waits for memory was slower
//! with it, by a tenth for two rates of 19 populations of doubles (`cargo run --release -p crease-bench --example
//! library`).
//!
//! The first part has no stores, so that these keep their order. Its loads come before stores of the block before: that
//! is right where stores write nothing that these loads read, then or later
//! ([`Body::reads_before_stores`]).

use std::ops::Range;

use crease_program::Op;

use super::body::{Body, Role};
use super::instruction::Sequence;
use super::shape::{LINE_BYTES, Shape};
use crate::knobs::{PIPELINED_BLOCKS, PIPELINED_GROWTH, PIPELINED_OPERATIONS};
use crate::options::{CompileOptions, Pipelining, Unroll};

/// A block of which one part may run beside the other one of the next.
pub(crate) struct Pipelined {
    /// No stores, and at least a quarter of its instructions.
    pub(crate) first: Sequence,
    /// The rest.
    pub(crate) second: Sequence,
    /// What a block has for itself.
    pub(crate) bank: Bank,
    /// Puts values that are pinned in other loops back into their registers.
    pub(crate) reloads: Sequence,
}

/// What each of two blocks has for itself: the first ones of these, or as many behind them.
#[derive(Debug)]
pub(crate) struct Bank {
    /// Vector registers.
    pub(crate) vectors: usize,
    /// Mask registers.
    pub(crate) masks: usize,
    /// Slots.
    pub(crate) own_slots: Range<usize>,
}

impl Pipelined {
    /// Parts of `each`; none if stores come too early, or if a load may not come before stores.
    pub(super) fn new(body: &Body<'_>, each: &Sequence, bank: Bank, reloads: Sequence) -> Option<Pipelined> {
        let is_cell = |at: &usize| matches!(body.roles[*at], Role::Cell { .. });
        let in_order = body.each.iter().copied().filter(is_cell).all(|load| body.reads_before_stores(load));
        let length = each.len();
        let middle = each.first_store().unwrap_or(length).min(length / 2);
        if !in_order || middle == 0 || 4 * middle < length {
            return None;
        }
        let (first, second) = each.split(middle);
        Some(Pipelined { first, second, bank, reloads })
    }

    /// Slots of both blocks.
    pub(super) fn slots(&self) -> usize {
        self.bank.own_slots.end + self.bank.own_slots.len()
    }

    /// Instructions of a block.
    fn len(&self) -> usize {
        self.first.len() + self.second.len()
    }

    /// Whether blocks whose loads share no vectors are to be pipelined if they can be. A block that does not overlap
    /// has this many instructions and is estimated to take this many cycles.
    pub(super) fn is_tried(
        body: &Body<'_>,
        (instructions, cycles): (usize, f64),
        length: i64,
        options: &CompileOptions,
    ) -> bool {
        let is_lookup = |at: &usize| matches!(body.strip.ops[*at], Op::Lookup { .. });
        let Shape { features, .. } = body.shape;
        let can_be = body.shape.is_float() && !body.each.iter().any(is_lookup);
        can_be
            && match options.pipelining {
                Pipelining::Never => false,
                Pipelining::Always => true,
                Pipelining::Auto => {
                    let one_by_one = matches!(options.unroll, Unroll::AtMost(2..)) && features.registers > 16;
                    let is_long = length >= PIPELINED_BLOCKS * body.shape.lanes();
                    let is_busy =
                        cycles > read_bytes(body) as f64 / LINE_BYTES as f64 * options.units.cycles().fetched_line;
                    one_by_one && is_long && is_busy && PIPELINED_OPERATIONS.contains(&instructions)
                }
            }
    }

    /// Whether it is worth what half of the registers cost, where a block of this many instructions has all of them.
    pub(super) fn is_worth(&self, instructions: usize, options: &CompileOptions) -> bool {
        let most = instructions as f64 * PIPELINED_GROWTH;
        options.pipelining == Pipelining::Always || self.len() as f64 <= most
    }
}

/// Bytes of rows that a block reads.
fn read_bytes(body: &Body<'_>) -> i64 {
    let bytes = |at: &usize| match body.strip.ops[*at] {
        Op::Load { stream, .. } if body.addresses[stream.index()].stride == Some(1) => {
            body.shape.lanes() * body.addresses[stream.index()].element.bytes() as i64
        }
        _ => 0,
    };
    body.each.iter().map(bytes).sum()
}

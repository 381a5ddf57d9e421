//! Accesses: what strips load and store, and whether two of them may meet.
//!
//! In: a strip, with what is known of the variables there.   Out: its loads and stores in buffers that are written, one
//! for each stream and kind; whether two of different iterations may touch one cell, which one of them writes.

use super::affine::Affine;
use super::apart::Cell;
use super::scope::Scope;
use super::sites::Walker;
use super::types::*;
use rustc_hash::FxHashSet;

/// A load or a store that another iteration might meet.
pub(super) struct Access<'p> {
    pub(super) op: ValueId,
    pub(super) buffer: BufferId,
    is_store: bool,
    cell: Option<Cell>,
    stream: &'p Stream,
}

/// The stream of a load or store.
pub(super) fn stream_of(op: &Op) -> Option<StreamId> {
    match op {
        Op::Load { stream, .. } | Op::Store { stream, .. } => Some(*stream),
        _ => None,
    }
}

/// The last iteration of a strip.
pub(super) fn last_of(strip: &Strip) -> Option<Affine> {
    Affine::of(&strip.hi)?.plus(&Affine::constant(1), -1)
}

/// Loads and stores of a strip in buffers that are written, one for each stream and kind; none if the strip
/// does not run. The strip's variable comes into scope.
pub(super) fn accesses<'s>(
    written: &FxHashSet<BufferId>,
    walker: &mut Walker,
    strip: &'s Strip,
) -> Option<Vec<Access<'s>>> {
    let (lo, last) = (Affine::of(&strip.lo), last_of(strip));
    let (lower, upper) = (lo.iter().cloned().collect(), last.into_iter().collect());
    if !walker.scope.choose(strip.var, lower, upper) {
        return None;
    }
    let mut found: Vec<Access<'s>> = Vec::new();
    for (op, content) in (0..).map(ValueId).zip(&strip.ops) {
        let Some(id) = stream_of(content) else { continue };
        let stream = &strip.streams[id.index()];
        let is_store = matches!(content, Op::Store { .. });
        let is_new = !found.iter().any(|known| std::ptr::eq(known.stream, stream) && known.is_store == is_store);
        if is_new && written.contains(&stream.buffer) {
            let cell = lo.as_ref().and_then(|lo| Cell::of(stream, lo, &Affine::var(strip.var)));
            found.push(Access { op, buffer: stream.buffer, is_store, cell, stream });
        }
    }
    Some(found)
}

/// Whether two accesses may touch one cell, which one of them writes.
pub(super) fn may_meet(one: &Access<'_>, other: &Access<'_>, scope: &Scope) -> bool {
    let differ = || Some(one.cell.as_ref()?.differs(other.cell.as_ref()?, scope));
    one.buffer == other.buffer && (one.is_store || other.is_store) && differ() != Some(true)
}

/// The buffers that all workers share and that some strip stores to.
pub(super) fn stored(program: &Program, nodes: &[Node], found: &mut FxHashSet<BufferId>) {
    for node in nodes {
        match node {
            Node::Let { .. } => {}
            Node::For { body, .. } => stored(program, body, found),
            Node::If { then, otherwise, .. } => {
                stored(program, then, found);
                stored(program, otherwise, found);
            }
            Node::Strip(strip) => found.extend(strip.ops.iter().filter_map(|op| match op {
                Op::Store { stream, .. } => {
                    let buffer = strip.streams[stream.index()].buffer;
                    Some(buffer).filter(|buffer| program.buffers[buffer.index()].copies == Copies::One)
                }
                _ => None,
            })),
        }
    }
}

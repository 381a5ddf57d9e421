//! The order in which a strip's operations are emitted: few live registers, loads beside their uses.
//!
//! In: a strip.   Out: its live operations, reordered.   Source: Sethi and Ullman, J. ACM 17 (1970), for the
//! depth-first part.
//!
//! Loads used more than once come first; every other operation stands right before its first use, deeper operands
//! first; a store follows its value. Cranelift folds a load into an instruction only if nothing with an effect stands
//! between.
//!
//! Invariant: stores keep their order among themselves, and a load and a store that may alias keep theirs.

use crease_program::{Op, Strip};

use super::alias::Aliases;
use crate::frame::Literal;

/// Orders the operations that stores need.
pub(crate) fn emission_order(strip: &Strip, aliases: &Aliases<'_>) -> Vec<usize> {
    let uses = live_uses(strip);
    let needs = register_needs(strip);
    let mut walk = Walk { strip, needs: &needs, done: vec![false; strip.ops.len()], order: Vec::new() };
    let stores: Vec<usize> = (0..strip.ops.len()).filter(|at| is_store(&strip.ops[*at])).collect();
    let is_needed_load = |at: &usize| uses[*at] > 0 && matches!(strip.ops[*at], Op::Load { .. });
    let loads: Vec<usize> = (0..strip.ops.len()).filter(is_needed_load).collect();
    // A load may go to the front unless it has to see an earlier store.
    let may_go_first = |load: usize| stores.iter().all(|store| *store > load || !aliases.may_meet(load, *store));
    for load in loads.iter().filter(|load| uses[**load] > 1 && may_go_first(**load)) {
        walk.emit(*load);
    }
    for store in stores {
        for load in loads.iter().filter(|load| **load < store && aliases.may_meet(**load, store)) {
            walk.emit(*load);
        }
        walk.emit_tree(store);
    }
    debug_assert!(
        keeps_memory_order(strip, &walk.order, aliases),
        "a load changed places with a store that it may meet"
    );
    walk.order
}

/// Whether stores keep their order, and each load its side of every store that it may meet.
fn keeps_memory_order(strip: &Strip, order: &[usize], aliases: &Aliases<'_>) -> bool {
    let mut place = vec![None; strip.ops.len()];
    order.iter().enumerate().for_each(|(at, op)| place[*op] = Some(at));
    let stores: Vec<usize> = order.iter().copied().filter(|at| is_store(&strip.ops[*at])).collect();
    let keeps = |load: usize| {
        let side = |store: &usize| (load < *store) == (place[load] < place[*store]) || !aliases.may_meet(load, *store);
        !matches!(strip.ops[load], Op::Load { .. }) || stores.iter().all(side)
    };
    stores.is_sorted() && order.iter().all(|at| keeps(*at))
}

fn is_store(op: &Op) -> bool {
    matches!(op, Op::Store { .. })
}

/// How often each operation is used by operations that some store needs.
fn live_uses(strip: &Strip) -> Vec<u32> {
    let mut uses = vec![0; strip.ops.len()];
    for (at, op) in strip.ops.iter().enumerate().rev() {
        if uses[at] > 0 || is_store(op) {
            op.operands().for_each(|operand| uses[operand.index()] += 1);
        }
    }
    uses
}

/// Registers needed to evaluate each operation as a tree, after Sethi and Ullman; literals are memory operands.
fn register_needs(strip: &Strip) -> Vec<u32> {
    let mut needs: Vec<u32> = Vec::with_capacity(strip.ops.len());
    for op in &strip.ops {
        let mut inner: Vec<u32> = op.operands().map(|operand| needs[operand.index()]).collect();
        inner.sort_unstable_by(|a, b| b.cmp(a));
        let own = u32::from(Literal::of(op).is_none());
        needs.push(inner.iter().zip(0..).map(|(need, held)| need + held).max().unwrap_or(0).max(own));
    }
    needs
}

struct Walk<'a> {
    strip: &'a Strip,
    needs: &'a [u32],
    done: Vec<bool>,
    order: Vec<usize>,
}

impl Walk<'_> {
    fn emit(&mut self, at: usize) {
        if !self.done[at] {
            self.done[at] = true;
            self.order.push(at);
        }
    }

    /// Emits what `root` needs, then `root`. With an explicit stack: expressions may be deep.
    fn emit_tree(&mut self, root: usize) {
        let mut stack = vec![(root, false)];
        while let Some((at, operands_done)) = stack.pop() {
            if operands_done {
                self.emit(at);
            } else if !self.done[at] && Literal::of(&self.strip.ops[at]).is_none() {
                stack.push((at, true));
                // The last one pushed is visited first: the neediest operand; loads come right before their use.
                let mut inner: Vec<usize> = self.strip.ops[at].operands().map(|operand| operand.index()).collect();
                inner.sort_by_key(|operand| {
                    (!matches!(self.strip.ops[*operand], Op::Load { .. }), self.needs[*operand])
                });
                stack.extend(inner.into_iter().map(|operand| (operand, false)));
            }
        }
    }
}

/// Most results of `order` live at once.
pub(crate) fn pressure(strip: &Strip, order: &[usize]) -> usize {
    let mut last_use = vec![None; strip.ops.len()];
    for at in order {
        strip.ops[*at].operands().for_each(|operand| last_use[operand.index()] = Some(*at));
    }
    let (mut live, mut most) = (0, 0);
    let mut is_live = vec![false; strip.ops.len()];
    for at in order {
        if !is_store(&strip.ops[*at]) {
            is_live[*at] = true;
            live += 1;
            most = most.max(live);
        }
        for operand in strip.ops[*at].operands().map(|operand| operand.index()) {
            if is_live[operand] && last_use[operand] == Some(*at) {
                is_live[operand] = false;
                live -= 1;
            }
        }
    }
    most
}

//! Spills: which values of a block wait in the memory of the call, so that few are alive in registers and on the stack.
//!
//! In: a strip and the order of its operations.   Out: [`Spills`], or none if few values are alive at once.   Source:
//! Belady, IBM Systems Journal 5(2), 1966, for the choice: the value whose next use is farthest goes.
//!
//! What does not fit the registers goes to the frame of the function, which is part of a thread's stack. A strip with
//! thousands of values alive would need a larger frame than threads have, and the code generator's allocator takes a
//! time that grows with the square of them. So of more than [`MOST_LIVE`] only [`HELD_RESULTS`] are left to it. Each of
//! the others has a slot of its own in memory that a call brings along, is written there once, where it is computed,
//! and read before its use. A load of cells that the strip does not write needs no slot: it is done again.
//!
//! Invariant: between two operations at most [`MOST_LIVE`] results are held, which the limit of frames in `module`
//! leaves room for. Cost: operations times the logarithm of [`HELD_RESULTS`].

use crease_program::Strip;

use crate::knobs::HELD_RESULTS;
use std::collections::BTreeSet;

/// Results of a block that are left to the registers and the stack: 4 KiB of it with vectors of 128 bits. Strips of the
/// catalogue have fewer, so nothing is sent away there.
pub(super) const MOST_LIVE: usize = 256;
/// Bytes of a slot: a vector.
pub(super) const SLOT_BYTES: i32 = 16;

/// What happens before and after the operation at one place of the order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    /// Values to read again first, each from its slot or by the load that it is.
    pub(super) fetch: Vec<(usize, Home)>,
    /// Whether the operation itself is left to those that need its result.
    pub(super) is_put_off: bool,
    /// Where to write the result at once.
    pub(super) keep: Option<usize>,
    /// Values that are no longer held afterwards.
    pub(super) drop: Vec<usize>,
}

/// Where a value can be read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// In this slot.
    Slot(usize),
    /// In the cells that it was loaded from, which the strip does not write.
    Cell,
}

/// Which values of a block wait where.
#[derive(Debug)]
pub(super) struct Spills {
    /// For each place of the order.
    pub(super) steps: Vec<Step>,
    /// Slots that are needed.
    pub(super) slots: usize,
}

impl Spills {
    /// For a block of these operations, `unwritten` of which are loads that may be done at any time.
    pub(super) fn new(strip: &Strip, order: &[usize], unwritten: &[bool]) -> Self {
        let mut search = Search::new(strip, order, unwritten);
        for (place, at) in order.iter().enumerate() {
            search.step(place, *at);
        }
        search.finish(strip, order)
    }
}

/// The state while the order is followed.
struct Search<'s> {
    strip: &'s Strip,
    unwritten: &'s [bool],
    /// For each value the places where it is still to be used, the next one last.
    uses: Vec<Vec<usize>>,
    /// Values held, by their next use.
    held: BTreeSet<(usize, usize)>,
    /// For each value, whether it was dropped and is read again from a slot.
    needs_slot: Vec<bool>,
    /// By place: values to fetch and to drop.
    fetched: Vec<Vec<usize>>,
    dropped: Vec<Vec<usize>>,
}

impl<'s> Search<'s> {
    fn new(strip: &'s Strip, order: &[usize], unwritten: &'s [bool]) -> Self {
        let count = strip.ops.len();
        let mut in_order = vec![false; count];
        order.iter().for_each(|at| in_order[*at] = true);
        let mut uses = vec![Vec::new(); count];
        for (place, at) in order.iter().enumerate().rev() {
            for operand in strip.ops[*at].operands().map(|operand| operand.index()) {
                // Literals are no part of the order; they are read from the frame where they are used.
                if in_order[operand] && uses[operand].last() != Some(&place) {
                    uses[operand].push(place);
                }
            }
        }
        Search {
            strip,
            unwritten,
            uses,
            held: BTreeSet::new(),
            needs_slot: vec![false; count],
            fetched: vec![Vec::new(); order.len()],
            dropped: vec![Vec::new(); order.len()],
        }
    }

    fn step(&mut self, place: usize, at: usize) {
        for operand in self.strip.ops[at].operands().map(|operand| operand.index()) {
            if self.uses[operand].last() != Some(&place) {
                // A literal, or the same operand once more.
                continue;
            }
            if !self.held.remove(&(place, operand)) {
                self.fetched[place].push(operand);
                self.needs_slot[operand] |= !self.unwritten[operand];
            }
            self.uses[operand].pop();
            if let Some(next) = self.uses[operand].last() {
                self.held.insert((*next, operand));
            } else {
                self.dropped[place].push(operand);
            }
        }
        let is_put_off = self.unwritten[at];
        if let Some(next) = self.uses[at].last().filter(|_| !is_put_off) {
            self.held.insert((*next, at));
        }
        while self.held.len() > HELD_RESULTS {
            let (_, value) = self.held.pop_last().expect("more than none are held");
            self.dropped[place].push(value);
        }
    }

    /// Gives slots to those that need one, from where they are computed to their last use.
    fn finish(self, strip: &Strip, order: &[usize]) -> Spills {
        let mut last_use = vec![0; strip.ops.len()];
        for (place, at) in order.iter().enumerate() {
            strip.ops[*at].operands().for_each(|operand| last_use[operand.index()] = place);
        }
        let (mut slot_of, mut free, mut slots) = (vec![None; strip.ops.len()], Vec::new(), 0);
        let mut steps = Vec::with_capacity(order.len());
        for (place, (at, (fetched, drop))) in order.iter().zip(self.fetched.into_iter().zip(self.dropped)).enumerate() {
            let home = |value: usize| slot_of[value].map_or(Home::Cell, Home::Slot);
            let fetch: Vec<(usize, Home)> = fetched.into_iter().map(|value| (value, home(value))).collect();
            for operand in strip.ops[*at].operands().map(|operand| operand.index()) {
                if last_use[operand] == place {
                    free.extend(slot_of[operand].take());
                }
            }
            let keep = self.needs_slot[*at].then(|| {
                free.pop().unwrap_or_else(|| {
                    slots += 1;
                    slots - 1
                })
            });
            slot_of[*at] = keep;
            steps.push(Step { fetch, is_put_off: self.unwritten[*at], keep, drop });
        }
        Spills { steps, slots }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crease_program::{Node, Op, Program};

    /// Follows the steps as the emitter does: every operand is held, or its slot has it, when it is needed.
    fn most_held(strip: &Strip, order: &[usize], unwritten: &[bool], spills: &Spills) -> usize {
        let (mut held, mut memory, mut most) = (vec![false; strip.ops.len()], vec![None; spills.slots], 0);
        for (step, at) in spills.steps.iter().zip(order) {
            for (value, home) in &step.fetch {
                match home {
                    Home::Slot(slot) => assert_eq!(memory[*slot], Some(*value), "%{value} is not in its slot"),
                    Home::Cell => assert!(unwritten[*value], "%{value} cannot be loaded again"),
                }
                held[*value] = true;
            }
            let is_literal = |value: usize| matches!(strip.ops[value], Op::F64(_));
            let there = |value: usize| held[value] || is_literal(value);
            assert!(strip.ops[*at].operands().all(|operand| there(operand.index())), "an operand of %{at} is missing");
            held[*at] = !matches!(strip.ops[*at], Op::Store { .. }) && !step.is_put_off;
            if let Some(slot) = step.keep {
                assert!(held[*at]);
                memory[slot] = Some(*at);
            }
            step.drop.iter().for_each(|value| held[*value] = false);
            most = most.max(held.iter().filter(|held| **held).count());
        }
        most
    }

    #[test]
    fn few_values_are_held_and_all_of_them_found_again() {
        let mut random = fastrand::Rng::with_seed(3);
        for count in [10, 300, 2000] {
            let mut ops = String::from("%0 = load m0: f64\n%1 = load m1: f64\n%2 = f64 2.0\n");
            for at in 3..count {
                let [a, b] = [0, 1].map(|_| if random.u8(0..4) == 0 { at - 1 } else { random.usize(0..at) });
                ops += &format!("%{at} = add %{a}, %{b}\n");
            }
            // All of them once more, the first one last.
            for at in count..2 * count {
                ops += &format!("%{at} = mul %{}, %{}\n", at - 1, 2 * count - 1 - at);
            }
            ops += &format!("%{}: store m1, %{}\n", 2 * count, 2 * count - 1);
            let text = format!(
                "program p() {{ buffer a: f64[64] read buffer b: f64[64] write strip v0 in 0 .. 64 lanes 8 {{
                   m0 = a[pos 0, stride 1] m1 = b[pos 0, stride 1] {ops} }} }}"
            );
            let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}"));
            let Node::Strip(strip) = &program.body[0] else { panic!("a strip") };
            let order: Vec<usize> = (0..strip.ops.len()).filter(|at| *at != 2).collect();
            let unwritten: Vec<bool> = (0..strip.ops.len()).map(|at| at == 0).collect();
            let spills = Spills::new(strip, &order, &unwritten);
            assert!(most_held(strip, &order, &unwritten, &spills) <= HELD_RESULTS);
            assert_eq!(spills.slots > 0, count > HELD_RESULTS, "{count} operations, {} slots", spills.slots);
        }
    }
}

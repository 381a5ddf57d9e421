//! Another order of a strip's operations, for strips whose values do not fit into the registers: first what frees a
//! register.
//!
//! In: a [`Body`] in the order of emission.   Out: the same operations in an order in which fewer values are alive.
//! Source: Goodman, Hsu: Code scheduling and register allocation in large basic blocks, ICS 1988, for what goes first.
//!
//! The order of emission evaluates one store after the other, depth first. Values that several stores share, such as
//! moments of populations, then stay alive beside what is made of them. Here, whatever ends the life of as many values
//! as it makes goes first, so that a transform replaces its operands; where nothing does, the order of emission says
//! what comes next. Cells and constants are read where they are used, and count as no values.
//!
//! Invariant: operands precede their uses, stores keep their order, and so do loads and stores that may meet.
//! Cost: operations times those that are ready.

use crease_program::Op;

use super::body::{Body, Role};
use crate::knobs::REORDERED_OPERATIONS;

/// The same body with the operations of each iteration in another order; none if there are too many.
pub(super) fn with_few_alive(body: Body<'_>) -> Option<Body<'_>> {
    if body.each.len() > REORDERED_OPERATIONS {
        return None;
    }
    let mut schedule = Schedule::new(&body);
    let mut order = Vec::with_capacity(body.each.len());
    while let Some(place) = schedule.next() {
        schedule.take(place);
        order.push(body.each[place]);
    }
    debug_assert_eq!(order.len(), body.each.len(), "the order of emission shows that there is no circle");
    Some(body.reordered(order))
}

/// Places before this one that have to stay there for what memory holds: for a store the store before it and the loads
/// that it may meet, for a load the stores.
fn memory_order(body: &Body<'_>, place: usize) -> Vec<usize> {
    let (ops, at) = (&body.strip.ops, body.each[place]);
    let before = body.each[..place].iter().copied().enumerate();
    let is_store = |at: usize| matches!(ops[at], Op::Store { .. });
    match ops[at] {
        Op::Store { .. } => {
            let last = before.clone().rfind(|(_, other)| is_store(*other)).map(|(place, _)| place);
            let reads = |other: usize| {
                matches!(ops[other], Op::Load { .. } | Op::Lookup { .. }) && body.aliases.may_meet(other, at)
            };
            before.filter(|(_, other)| reads(*other)).map(|(place, _)| place).chain(last).collect()
        }
        Op::Load { .. } | Op::Lookup { .. } => {
            let writes = |other: usize| is_store(other) && body.aliases.may_meet(at, other);
            before.filter(|(_, other)| writes(*other)).map(|(place, _)| place).collect()
        }
        _ => Vec::new(),
    }
}

/// What has been taken, and what may be. Operations are named by their places in the order of emission.
struct Schedule<'b, 'a> {
    body: &'b Body<'a>,
    /// By place, the distinct operands that take registers, as operations of the strip.
    operands: Vec<Vec<usize>>,
    /// By place, those that wait for it.
    followers: Vec<Vec<usize>>,
    /// By place, how many it waits for.
    waits: Vec<usize>,
    /// By operation, uses to come.
    uses: Vec<usize>,
    /// Places of what may be taken.
    ready: Vec<usize>,
}

impl<'b, 'a> Schedule<'b, 'a> {
    fn new(body: &'b Body<'a>) -> Self {
        let count = body.each.len();
        let mut place_of = vec![None; body.strip.ops.len()];
        body.each.iter().enumerate().for_each(|(place, at)| place_of[*at] = Some(place));
        let mut uses = vec![0; body.strip.ops.len()];
        let (mut operands, mut followers) = (Vec::with_capacity(count), vec![Vec::new(); count]);
        let mut waits = vec![0; count];
        for (place, at) in body.each.iter().enumerate() {
            let mut distinct: Vec<usize> = body.operands(*at).collect();
            distinct.sort_unstable();
            distinct.dedup();
            for before in distinct.iter().filter_map(|operand| place_of[*operand]).chain(memory_order(body, place)) {
                followers[before].push(place);
                waits[place] += 1;
            }
            distinct.retain(|operand| body.roles[*operand] == Role::Computed);
            distinct.iter().for_each(|operand| uses[*operand] += 1);
            operands.push(distinct);
        }
        let ready = (0..count).filter(|place| waits[*place] == 0).collect();
        Schedule { body, operands, followers, waits, uses, ready }
    }

    /// By how many values more are alive once this is done.
    fn gain(&self, place: usize) -> i64 {
        let at = self.body.each[place];
        let makes = self.body.roles[at] == Role::Computed && !matches!(self.body.strip.ops[at], Op::Store { .. });
        let ends = self.operands[place].iter().filter(|operand| self.uses[**operand] == 1).count();
        i64::from(makes) - ends as i64
    }

    /// What comes next: what leaves fewest values alive, if it leaves no more than there are; else the first.
    fn next(&self) -> Option<usize> {
        self.ready.iter().copied().min_by_key(|place| (self.gain(*place).min(1), *place))
    }

    fn take(&mut self, place: usize) {
        self.ready.retain(|other| *other != place);
        self.operands[place].iter().for_each(|operand| self.uses[*operand] -= 1);
        for follower in std::mem::take(&mut self.followers[place]) {
            self.waits[follower] -= 1;
            if self.waits[follower] == 0 {
                self.ready.push(follower);
            }
        }
    }
}

//! The order of events, decided for two concrete time vectors at a time.
//!
//! Events are (instance, phase); an instance reads everything, then writes. Instances are ordered by their time
//! vectors, lexicographically, except that a first difference in a parallel dimension orders nothing, and that a vector
//! dimension is cut into blocks with any anchor, so that two lanes closer than its width may or may not share a block:
//! what is definite is what both cases agree on.

use crease::kernel::graph::{DimKind, Schedule};

/// What an event does with its cell; reads of an instance precede its writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Read,
    Write,
}

/// An event: an instance by its position in the trace, its time vector, and the phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'a> {
    pub(super) instance: usize,
    pub(super) time: &'a [i64],
    pub(super) phase: Phase,
}

/// The order that a schedule guarantees.
#[derive(Clone, Debug)]
pub(super) struct Order {
    dims: Vec<DimKind>,
}

impl Order {
    pub(super) fn new(schedule: &Schedule) -> Order {
        Order { dims: schedule.dims.clone() }
    }

    /// Kinds of the time dimensions.
    pub(super) fn dims(&self) -> &[DimKind] {
        &self.dims
    }

    /// Whether distinct time vectors are always ordered.
    pub(super) fn is_total(&self) -> bool {
        self.dims.iter().all(|d| matches!(d, DimKind::Sequential | DimKind::Vector(0 | 1)))
    }

    /// Whether `a` happens before `b` in every execution that the schedule allows.
    pub(super) fn definitely_before(&self, a: Event<'_>, b: Event<'_>) -> bool {
        if a.instance == b.instance {
            return a.phase < b.phase;
        }
        let lock_step = a.phase == Phase::Read && b.phase == Phase::Write;
        self.times_before(0, a.time, b.time, false, lock_step)
    }

    /// Compares from dimension `from` on. `tie` is the answer for equal rests, `lock_step` the answer for equal rests
    /// of two lanes of one block.
    fn times_before(&self, from: usize, a: &[i64], b: &[i64], tie: bool, lock_step: bool) -> bool {
        for dim in from..self.dims.len() {
            let distance = i128::from(b[dim]) - i128::from(a[dim]);
            if distance == 0 {
                continue;
            }
            return match self.dims[dim] {
                DimKind::Sequential => distance > 0,
                DimKind::Parallel => false,
                DimKind::Vector(width) if distance >= i128::from(width) => true,
                DimKind::Vector(_) => distance > 0 && self.times_before(dim + 1, a, b, lock_step, lock_step),
                other => unreachable!("no order is known for {other:?}"),
            };
        }
        tie
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before(dims: &[DimKind], a: (&[i64], Phase), b: (&[i64], Phase)) -> bool {
        let order = Order { dims: dims.to_vec() };
        let a = Event { instance: 0, time: a.0, phase: a.1 };
        let b = Event { instance: 1, time: b.0, phase: b.1 };
        order.definitely_before(a, b)
    }

    use DimKind::{Parallel, Sequential, Vector};
    use Phase::{Read, Write};

    #[test]
    fn a_sequential_order_is_lexicographic_and_leaves_equal_times_unordered() {
        let dims = [Sequential, Sequential];
        assert!(before(&dims, (&[0, 9], Write), (&[1, 0], Read)));
        assert!(!before(&dims, (&[1, 0], Read), (&[0, 9], Write)));
        assert!(!before(&dims, (&[1, 1], Read), (&[1, 1], Write)));
    }

    #[test]
    fn a_parallel_difference_hides_all_later_dimensions() {
        let dims = [Sequential, Parallel, Sequential];
        assert!(!before(&dims, (&[0, 0, 0], Read), (&[0, 1, 5], Write)));
        assert!(before(&dims, (&[0, 1, 0], Read), (&[0, 1, 5], Write)));
        assert!(before(&dims, (&[0, 7, 7], Write), (&[1, 0, 0], Write)));
    }

    #[test]
    fn lanes_closer_than_the_width_run_in_lock_step() {
        let dims = [Vector(4)];
        assert!(before(&dims, (&[0], Read), (&[3], Write)));
        assert!(!before(&dims, (&[0], Write), (&[3], Read)));
        assert!(!before(&dims, (&[0], Write), (&[3], Write)));
        assert!(!before(&dims, (&[3], Read), (&[0], Write)), "a block may end between them");
        assert!(before(&dims, (&[0], Write), (&[4], Read)));
    }

    #[test]
    fn inside_a_block_the_later_dimension_orders_first() {
        let dims = [Vector(4), Sequential];
        assert!(before(&dims, (&[0, 0], Write), (&[1, 1], Read)));
        assert!(!before(&dims, (&[0, 1], Write), (&[1, 0], Read)), "same block: position 0 of lane 1 is earlier");
        assert!(!before(&dims, (&[1, 0], Write), (&[0, 1], Read)), "other blocks: lane 0 is earlier");
    }

    #[test]
    fn a_vector_of_width_one_is_sequential() {
        assert!(before(&[Vector(1)], (&[0], Write), (&[1], Read)));
        assert!(Order { dims: vec![Vector(1), Sequential] }.is_total());
    }
}

//! Slots: places on the stack for vectors and masks that no register is left for.
//!
//! In: values that are given up and values that die.   Out: for each the number of its slot.

use super::body::Body;

/// Slots on the stack.
#[derive(Clone)]
pub(super) struct Slots {
    /// For each value its slot.
    pub(super) of: Vec<Option<usize>>,
    /// Slots that may be used anew.
    free: Vec<usize>,
    /// Slots whose value dies in the current operation, which may read them after others have been spilled.
    pub(super) dying: Vec<usize>,
    /// Slots so far.
    count: usize,
}

impl Slots {
    /// None yet.
    pub(super) fn none(body: &Body<'_>) -> Self {
        Slots { of: vec![None; body.strip.ops.len()], free: Vec::new(), dying: Vec::new(), count: 0 }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Nothing reads the slots of dead values any more.
    pub(super) fn end_operation(&mut self) {
        self.free.append(&mut self.dying);
    }

    /// The slot of `value`, a new one if it has none.
    pub(super) fn get(&mut self, value: usize) -> usize {
        let (free, count) = (&mut self.free, &mut self.count);
        *self.of[value].get_or_insert_with(|| {
            free.pop().unwrap_or_else(|| {
                *count += 1;
                *count - 1
            })
        })
    }
}

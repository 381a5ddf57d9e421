//! What may be named where: variables in scope, and declarations by number.

use super::fault::Fault;
use super::types::*;
use rustc_hash::FxHashSet;

/// The variables in scope.
#[derive(Default)]
pub(super) struct Visible {
    /// In the order of their definitions.
    pub(super) order: Vec<Var>,
    all: FxHashSet<Var>,
}

impl Visible {
    /// Whether it is in scope.
    pub(super) fn contains(&self, var: Var) -> bool {
        self.all.contains(&var)
    }

    pub(super) fn push(&mut self, var: Var) {
        self.order.push(var);
        self.all.insert(var);
    }

    pub(super) fn truncate(&mut self, len: usize) {
        for var in self.order.drain(len..) {
            self.all.remove(&var);
        }
    }
}

/// Fails unless `position` is below `count`.
pub(super) fn declared(position: usize, count: usize, id: impl FnOnce() -> String) -> Result<(), Fault> {
    if position < count { Ok(()) } else { Err(Fault::NoSuchId { id: id(), count }) }
}

//! Rows that a strip stores and loads again: what becomes of a store's vector.
//!
//! In: rows with their registers ([`load_sharing`](super::load_sharing)).   Out: instructions behind a store.
//!
//! Where one instruction cuts a vector out of two, the store's is kept until the block ends, and loads are cut where
//! they are used. Where it takes two of them, loads are cut as soon as there is something to cut them out of, so that
//! they share the vector in the middle, and none but the vector for the next block keeps a register. A load for which no
//! register is free then is left to memory, and so is one that has to give up its register.

use super::allocate::Allocator;
use super::allocation::StoredRow;
use super::instruction::{Inst, Reg};

impl Allocator<'_, '_> {
    /// Keeps the vector of `value` that a store has stored from a register, or what later loads want of it.
    pub(super) fn keep_stored(&mut self, store: usize, value: usize, from: Reg) {
        let Some(at) = self.stored_rows.iter().position(|row| row.store == store) else { return };
        let StoredRow { current, previous, cut, .. } = self.stored_rows[at].clone();
        if let Some(to) = current {
            return self.push(Inst::Move { to, from });
        }
        let Some(low) = previous else { return };
        let half = (self.body.shape.lanes() / 2) as u8;
        let mut registers = Vec::with_capacity(cut.len());
        for (load, lanes) in cut {
            if self.has_free() {
                registers.push((self.take(load, &[value]), lanes));
            }
        }
        if let Some((middle, _)) = registers.last().copied() {
            self.push(Inst::Shift { to: middle, low, high: from, lanes: half });
            for (to, lanes) in registers.into_iter().filter(|(_, lanes)| *lanes != half) {
                let (low, high) = if lanes < half { (low, middle) } else { (middle, from) };
                self.push(Inst::ShiftHalves { to, low, high, lanes: lanes % half });
            }
        }
        self.push(Inst::Move { to: low, from });
    }
}

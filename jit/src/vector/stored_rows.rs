//! Rows that a strip stores and loads again: what becomes of a store's vector.
//!
//! In: rows with their registers ([`load_sharing`](super::load_sharing)).   Out: instructions behind a store.
//!
//! Where one instruction cuts a vector out of two, the store's is kept until the block ends, and loads are cut where
//! they are used. Where it takes two of them, loads are cut as soon as there is something to cut them out of, so that
//! they share the vector in the middle, and none but the vector for the next block keeps a register. A load for which no
//! register is free then is left to memory, and so is one that has to give up its register.

use super::allocate::Allocator;
use super::allocation::Carried;
use super::instruction::{Inst, Reg};
use super::load_sharing::Row;
use super::shape::{LaneShifts, Shape};

/// A store whose vectors later loads share.
#[derive(Clone, Debug)]
pub(super) struct StoredRow {
    /// The store.
    store: usize,
    /// The register that keeps its vector in the block, if one does.
    current: Option<Reg>,
    /// The one that has it in the next block.
    previous: Option<Reg>,
    /// The loads that are cut at once, that in the middle of two vectors last, and how many lanes into the vector before
    /// each begins.
    cut: Vec<(usize, u8)>,
}

impl StoredRow {
    /// What is to be done with the store of a row; none if the row is only read.
    pub(super) fn new(row: &Row, carried: &Carried, shape: Shape) -> Option<StoredRow> {
        let mut cut = Vec::new();
        if shape.features.lane_shifts == LaneShifts::ByHalves {
            cut.extend(row.others.iter().map(|(load, ahead)| (*load, (shape.lanes() + ahead) as u8)));
            cut.sort_by_key(|(load, lanes)| (i64::from(*lanes) == shape.lanes() / 2, *load));
        }
        let Carried { current, previous, .. } = *carried;
        row.is_stored.then_some(StoredRow { store: row.middle, current, previous, cut })
    }
}

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

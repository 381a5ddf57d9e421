//! What register assignment leaves: a body as instructions, before the loops, in each block, and in blocks that share
//! loads or overlap.
//!
//! In: what `allocate` chose.   Out: what targets encode.

use super::instruction::{Reg, Sequence};
use super::load_sharing::Row;
use super::pipelining::Pipelined;
use super::shape::{LaneShifts, Shape};

/// A body as instructions.
pub(crate) struct Allocation {
    /// Executed once, before the loops: computes invariants into slots or into the registers that they are pinned to,
    /// and loads what else is pinned.
    pub(crate) once: Sequence,
    /// Executed for each block of lanes.
    pub(crate) each: Sequence,
    /// The same for blocks that are followed by a whole one, with loads that share vectors; none if there are no such
    /// loads or too few registers.
    pub(crate) shared: Option<SharedLoads>,
    /// The same for blocks that overlap, if that was asked for.
    pub(crate) pipelined: Option<Pipelined>,
    /// Slots on the stack.
    pub(crate) slots: usize,
    /// Values stored to slots in each block.
    pub(crate) spills: usize,
    /// Constants and invariants in registers of their own.
    pub(crate) pinned: usize,
    /// Vector registers that a block of `each` uses, the pinned ones among them.
    pub(super) vectors: usize,
}

impl Allocation {
    /// The instructions of the main loop.
    pub(crate) fn main(&self) -> &Sequence {
        self.shared.as_ref().map_or(&self.each, |shared| &shared.each)
    }

    /// Vector registers that the loops use, the pinned ones among them.
    pub(crate) fn vectors(&self) -> usize {
        self.shared.as_ref().map_or(self.vectors, |shared| shared.vectors.max(self.vectors))
    }
}

/// Blocks whose loads share vectors.
pub(crate) struct SharedLoads {
    /// Executed for each block of lanes.
    pub(crate) each: Sequence,
    /// The rows whose vectors are shared, with their registers.
    pub(crate) rows: Vec<(Row, Carried)>,
    /// Vector registers that a block uses, the pinned ones among them.
    pub(super) vectors: usize,
}

impl SharedLoads {
    /// Whether a block reads the vectors of the one that follows, so that there has to be one.
    pub(crate) fn reads_ahead(&self) -> bool {
        self.rows.iter().any(|(_, carried)| carried.next.is_some())
    }

    /// Whether a block takes what the one before it has stored, or an earlier row of the block itself.
    pub(crate) fn has_stored_rows(&self) -> bool {
        self.rows.iter().any(|(row, _)| row.is_stored)
    }

    /// Vectors that are shifted together out of two others.
    pub(crate) fn lane_shifts(&self) -> usize {
        self.rows.iter().map(|(row, _)| row.others.len()).sum()
    }
}

/// Registers of a row's vectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried {
    /// What a block's middle load reads, or the store has; none if vectors are cut out of that as it is stored.
    pub(crate) current: Option<Reg>,
    /// The vector before it, if that is needed.
    pub(crate) previous: Option<Reg>,
    /// The vector behind it, if that is needed.
    pub(crate) next: Option<Reg>,
}

impl Carried {
    /// How many they are.
    pub(super) fn count(&self) -> usize {
        [self.current, self.previous, self.next].into_iter().flatten().count()
    }

    /// The vector that is this many cells ahead of the middle load's, one way or the other, if vectors have `lanes`.
    pub(super) fn lane_shift(&self, ahead: i64, lanes: i64) -> Option<LaneShift> {
        Some(if ahead < 0 {
            LaneShift { low: self.previous?, high: self.current?, lanes: (lanes + ahead) as u8 }
        } else {
            LaneShift { low: self.current?, high: self.next?, lanes: ahead as u8 }
        })
    }
}

/// Where a vector lies in two that follow each other.
#[derive(Clone, Copy)]
pub(super) struct LaneShift {
    pub(super) low: Reg,
    pub(super) high: Reg,
    /// How many numbers into the first one it begins.
    pub(super) lanes: u8,
}

/// A store whose vectors later loads share.
#[derive(Clone, Debug)]
pub(super) struct StoredRow {
    /// The store.
    pub(super) store: usize,
    /// The register that keeps its vector in the block, if one does.
    pub(super) current: Option<Reg>,
    /// The one that has it in the next block.
    pub(super) previous: Option<Reg>,
    /// The loads that are cut at once, that in the middle of two vectors last, and how many lanes into the vector before
    /// each begins.
    pub(super) cut: Vec<(usize, u8)>,
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

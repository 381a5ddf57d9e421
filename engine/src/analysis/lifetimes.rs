//! Lifetimes: for every value of an array, when it is written and when it is read.
//!
//! In: a [`Model`].   Out: [`Lifetimes`] of one array.   Source: Darte, Schreiber and Villard (2005), section 2; DESIGN
//! section 3 in docs/ARCHITECTURE.md.
//!
//! Where every cell is written once, a value *is* its cell. Otherwise a value is a cell together with the time of its
//! write, and a read belongs to the last write before it (array dataflow analysis); conflicts are then projected back to
//! cells. Live-in values are written at [`Epoch::Before`], live-out values are read at [`Epoch::After`].

use crease_isl::{Map, Set};

use crate::analysis::model::{AnalysisError, Model};
use crate::kernel::graph::ArrayId;
use crate::schedule::order::{Epoch, Phase};

/// Events of the values of one array, in extended time.
pub(crate) struct Lifetimes<'c> {
    /// Value -> the time of its one write.
    pub(crate) write: Map<'c>,
    /// Value -> the times of its reads.
    pub(crate) reads: Map<'c>,
    /// Value -> cell, where a cell may hold several values; none if a value is its cell.
    pub(crate) to_cell: Option<Map<'c>>,
}

/// Lifetimes of the values of `array`.
pub(crate) fn lifetimes<'c>(model: &Model<'c, '_>, array: ArrayId) -> Result<Lifetimes<'c>, AnalysisError> {
    let live_in = model.live_in(array)?;
    let live_out = model.live_out(array)?;
    let write = model.writes(array)?.union(&model.at_epoch(&live_in, array, Epoch::Before)?)?.coalesce()?;
    let reads = model.reads(array)?.union(&model.at_epoch(&live_out, array, Epoch::After)?)?.coalesce()?;
    if write.is_single_valued()? {
        let reads = reads.intersect_domain(&write.domain()?)?;
        return Ok(Lifetimes { write, reads, to_cell: None });
    }
    several_values_per_cell(model, &write, &reads)
}

/// Splits cells into values `[cell -> write time]` and finds the value that each read sees.
fn several_values_per_cell<'c>(
    model: &Model<'c, '_>,
    write: &Map<'c>,
    reads: &Map<'c>,
) -> Result<Lifetimes<'c>, AnalysisError> {
    let values = write.wrap()?;
    let to_cell = write.domain_map()?;
    let write_of = write.range_map()?;
    // Candidate reads of a value: same cell, and the write certainly before the read.
    let same_cell = to_cell.apply_range(reads)?;
    let written_before = write_of.apply_range(&model.order.before(Phase::Write, Phase::Read)?)?;
    let candidates = same_cell.intersect(&written_before)?;
    // A later write of the same cell, still before the read, hides the value.
    let rewritten = to_cell.apply_range(&to_cell.reverse()?)?;
    let later = write_of
        .apply_range(&model.order.before(Phase::Write, Phase::Write)?)?
        .apply_range(&write_of.reverse()?)?
        .intersect(&rewritten)?;
    let hidden = later.apply_range(&candidates)?;
    let reads = candidates.subtract(&hidden)?.coalesce()?;
    debug_assert!(reads.domain()?.is_subset(&values)?, "reads belong to values");
    Ok(Lifetimes { write: write_of, reads, to_cell: Some(to_cell) })
}

impl<'c> Lifetimes<'c> {
    /// Cells that hold a value at some time.
    pub(crate) fn cells(&self) -> Result<Set<'c>, AnalysisError> {
        let values = self.write.domain()?;
        Ok(match &self.to_cell {
            None => values,
            Some(to_cell) => values.apply(to_cell)?,
        })
    }

    /// `{ v -> w }`: some event of `v` is not certain to precede the write of `w`.
    pub(crate) fn not_done_before(&self, other: &Lifetimes<'c>, not_before: &NotBefore<'c>) -> Result<Map<'c>, AnalysisError> {
        let other_write = other.write.reverse()?;
        let reads = self.reads.apply_range(&not_before.read_write)?.apply_range(&other_write)?;
        let write = self.write.apply_range(&not_before.write_write)?.apply_range(&other_write)?;
        Ok(reads.union(&write)?.coalesce()?)
    }
}

/// The two parts of the order that conflicts need, computed once.
pub(crate) struct NotBefore<'c> {
    /// A read that may happen at or after a write.
    pub(crate) read_write: Map<'c>,
    /// A write that may happen at or after another write.
    pub(crate) write_write: Map<'c>,
}

impl<'c> NotBefore<'c> {
    pub(crate) fn new(model: &Model<'c, '_>) -> Result<NotBefore<'c>, AnalysisError> {
        Ok(NotBefore {
            read_write: model.order.not_before(Phase::Read, Phase::Write)?,
            write_write: model.order.not_before(Phase::Write, Phase::Write)?,
        })
    }
}

//! Lifetimes: for every value of an array, when it is written and when it is read.
//!
//! In: a [`Model`].   Out: [`Lifetimes`] of one array.   Source: Darte, Schreiber and Villard (2005), section 2;
//! docs/ARCHITECTURE.md, section 3.
//!
//! Where every cell is written once, a value *is* its cell. Otherwise a value is a cell together with the time of its
//! write, and a read belongs to the last write before it (array dataflow analysis); conflicts are then projected back
//! to cells. Live-in values are written at [`Epoch::Before`], live-out values are read at [`Epoch::After`].

use crease_isl::{Map, Set};

use crate::analysis::error::AnalysisError;
use crate::analysis::model::Model;
use crate::kernel::graph::ArrayId;
use crate::schedule::order::{Epoch, Phase};
use crate::sets::relations::compact_set;

/// isl operations for finding last reads. Without a limit, a stencil in a cube that is periodic along one dimension
/// took a minute and a half in tiles for two threads.
const LAST_READS_QUOTA: u64 = 100_000;

/// Events of the values of one array, in extended time.
pub(crate) struct Lifetimes<'c> {
    /// Value -> the time of its one write.
    pub(crate) write: Map<'c>,
    /// Value -> the times of its reads.
    pub(crate) reads: Map<'c>,
    /// Value -> times at which a write may happen before the value is dead: some event of the value is not certain to
    /// precede it. For a private array, times of the value's task only.
    pub(crate) alive: Map<'c>,
    /// Value -> cell, where a cell may hold several values; none if a value is its cell.
    pub(crate) to_cell: Option<Map<'c>>,
}

/// Lifetimes of the values of `array`.
pub(crate) fn lifetimes<'c>(
    model: &Model<'c, '_>,
    not_before: &NotBefore<'c>,
    array: ArrayId,
) -> Result<Lifetimes<'c>, AnalysisError> {
    let (live_in, live_out) = (model.live_in(array), model.live_out(array));
    let during = compact(model.writes(array)?)?;
    let write = during.union(&model.at_epoch(&compact_set(live_in)?, array, Epoch::Before)?)?;
    let live_out = live_out.intersect(&compact_set(&write.domain()?)?)?;
    let after = model.at_epoch(&compact_set(&live_out)?, array, Epoch::After)?;
    if write.is_single_valued()? {
        let reads = last_reads(model, not_before, model.reads(array)?)?.union(&after)?;
        return Lifetimes::new(write, reads, None, not_before);
    }
    // Reads of one cell may belong to different values: none of them is left out before that is known.
    several_values_per_cell(model, not_before, &write, &model.reads(array)?.union(&after)?)
}

/// The same relation in fewer pieces: a single one where the union is convex.
fn compact<'c>(map: &Map<'c>) -> Result<Map<'c>, AnalysisError> {
    let map = map.coalesce()?;
    if map.n_basic_maps()? <= 1 {
        return Ok(map);
    }
    let hull = map.simple_hull()?;
    Ok(if hull.is_subset(&map)? { hull } else { map })
}

/// Reads that no other read of the same cell certainly follows: only these decide when a value dies. All of them where
/// those take too long to find, or are no easier to work with: borders may cut them into more pieces than there are
/// reads.
fn last_reads<'c>(
    model: &Model<'c, '_>,
    not_before: &NotBefore<'c>,
    reads: &Map<'c>,
) -> Result<Map<'c>, AnalysisError> {
    let reads = reads.coalesce()?;
    let find = || -> Result<Map<'c>, AnalysisError> {
        let earlier = reads.apply_range(&not_before.earlier_reads)?;
        compact(&reads.subtract(&earlier)?)
    };
    match model.context.under_quota(LAST_READS_QUOTA.min(model.context.max_operations()), find) {
        Ok(last) if last.n_basic_maps()? <= reads.n_basic_maps()? => Ok(last),
        Err(error) if error.spent_quota().is_none() => Err(error),
        _ => compact(&reads),
    }
}

/// Splits cells into values `[cell -> write time]` and finds the value that each read sees.
fn several_values_per_cell<'c>(
    model: &Model<'c, '_>,
    not_before: &NotBefore<'c>,
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
    Lifetimes::new(write_of, reads, Some(to_cell), not_before)
}

impl<'c> Lifetimes<'c> {
    fn new(
        write: Map<'c>,
        reads: Map<'c>,
        to_cell: Option<Map<'c>>,
        not_before: &NotBefore<'c>,
    ) -> Result<Lifetimes<'c>, AnalysisError> {
        // What may happen before a read may happen before the write that comes before it: only values that are never
        // read are alive because of their write alone.
        let unread = write.subtract_domain(&reads.domain()?)?;
        let alive = reads.apply_range(&not_before.read_write)?.union(&unread.apply_range(&not_before.write_write)?)?;
        Ok(Lifetimes { write, reads, alive, to_cell })
    }

    /// Cells that hold a value at some time.
    pub(crate) fn cells(&self) -> Result<Set<'c>, AnalysisError> {
        let values = self.write.domain()?;
        Ok(match &self.to_cell {
            None => values,
            Some(to_cell) => values.apply(to_cell)?,
        })
    }
}

/// The two parts of the order that conflicts need, computed once.
#[derive(Clone)]
pub(crate) struct NotBefore<'c> {
    /// A read that may happen at or after a write.
    pub(crate) read_write: Map<'c>,
    /// A write that may happen at or after another write.
    pub(crate) write_write: Map<'c>,
    /// From the time of a read to the times at which a read certainly comes before it.
    earlier_reads: Map<'c>,
}

impl<'c> NotBefore<'c> {
    pub(crate) fn new(model: &Model<'c, '_>) -> Result<NotBefore<'c>, AnalysisError> {
        Ok(NotBefore {
            read_write: model.order.not_before(Phase::Read, Phase::Write)?,
            write_write: model.order.not_before(Phase::Write, Phase::Write)?,
            earlier_reads: model.order.before(Phase::Read, Phase::Read)?.reverse()?,
        })
    }

    /// The same among events of one task.
    pub(crate) fn within(&self, same_task: &Map<'c>) -> Result<NotBefore<'c>, AnalysisError> {
        Ok(NotBefore {
            read_write: self.read_write.intersect(same_task)?.coalesce()?,
            write_write: self.write_write.intersect(same_task)?.coalesce()?,
            earlier_reads: self.earlier_reads.clone(),
        })
    }
}

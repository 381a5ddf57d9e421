//! Values alive at a moment: a lower bound of storage that holds for parallel schedules too.
//!
//! In: a model whose first time dimension is sequential.   Out: how many values of an array are written before and read
//! after a moment between two values of that dimension, in the middle of a run.
//!
//! Between two wavefronts of diamond tiles these are about two rows, the staircase that the tiles leave behind: what the
//! next step reads, and what neighbours that are a step behind read.
//!
//! Cost: one set of cells, counted one by one. Dimensions along which all slices look alike are multiplied instead.

use crease_isl::{Map, Set};

use crate::analysis::model::{AnalysisError, FROM_STEP, Model};
use crate::kernel::graph::{ArrayId, DimKind};
use crate::schedule::order::Epoch;

/// Cells, without the first index, up to which those alive are counted.
const COUNT_LIMIT: u64 = 1 << 21;
/// Values of the first time dimension that a run needs to have a middle.
const MIDDLE: i64 = 4;
/// Steps up to which such a run is sought.
const MOST_STEPS: i64 = 1 << 20;

/// Values of an array that are certainly alive together at some moment; none if no such moment was found or could be
/// counted. Between two steps of a state array just its live-in values are alive, which are not counted again; and a
/// kernel without steps has no middle that stands for the rest.
pub(crate) fn alive_at_a_moment(model: &Model<'_, '_>, array: ArrayId) -> Result<Option<u64>, AnalysisError> {
    let Some(param) = model.kernel.step_param().filter(|_| !model.steps_come_first()) else { return Ok(None) };
    if model.schedule.dims.first() != Some(&DimKind::Sequential) {
        return Ok(None);
    }
    let param = &model.kernel.params()[param.index()].name;
    let written = model.writes(array)?.union(&model.at_epoch(model.live_in(array), array, Epoch::Before)?)?;
    let read = model.reads(array)?.union(&model.at_epoch(model.live_out(array), array, Epoch::After)?)?;
    if !written.is_single_valued()? {
        return Ok(None);
    }
    let mut steps = MIDDLE;
    loop {
        let (written, read) = (in_run(&written, param, steps)?, in_run(&read, param, steps)?);
        let times = written.range()?.fix_dim(0, Epoch::During as i64)?;
        let bounds = if times.is_empty()? { None } else { times.dim_min(1)?.zip(times.dim_max(1)?) };
        let may_grow = steps < MOST_STEPS;
        match bounds {
            Some((first, last)) if last - first >= MIDDLE || !may_grow => {
                let alive = alive_after(model, (&written, &read), first + (last - first) / 2)?;
                return count_at_least(&alive);
            }
            _ if may_grow => steps *= 4,
            _ => return Ok(None),
        }
    }
}

/// The events of a run of so many steps.
fn in_run<'c>(events: &Map<'c>, param: &str, steps: i64) -> Result<Map<'c>, AnalysisError> {
    Ok(events.fix_param(param, steps)?.fix_param(FROM_STEP, 0)?.project_out_params()?)
}

/// Cells written up to the value `last` of the first time dimension and read after it.
fn alive_after<'c>(
    model: &Model<'c, '_>,
    (written, read): (&Map<'c>, &Map<'c>),
    last: i64,
) -> Result<Set<'c>, AnalysisError> {
    let time = (0..model.order.n_dims()).map(|k| format!("a{k}")).collect::<Vec<_>>().join(", ");
    let during = Epoch::During as i64;
    let until = format!("a0 < {during} or (a0 = {during} and a1 <= {last})");
    let before = written.intersect_range(&model.context.set(&format!("{{ [{time}] : {until} }}"))?)?;
    let after = read.intersect_range(&model.context.set(&format!("{{ [{time}] : not ({until}) }}"))?)?;
    Ok(before.domain()?.intersect(&after.domain()?)?.coalesce()?)
}

/// A number of points that the set certainly has; none if there are too many to count.
fn count_at_least(set: &Set<'_>) -> Result<Option<u64>, AnalysisError> {
    if set.is_empty()? {
        return Ok(Some(0));
    }
    let (mut rest, mut factor) = (set.clone(), 1_u64);
    loop {
        let n = rest.n_dims()?;
        let mut size = 1_u64;
        for k in 1.min(n.saturating_sub(1))..n {
            let Some((low, high)) = rest.dim_min(k)?.zip(rest.dim_max(k)?) else { return Ok(None) };
            size = size.saturating_mul((high - low + 1) as u64);
        }
        if size <= COUNT_LIMIT {
            return Ok(rest.count()?.and_then(|count| count.checked_mul(factor)));
        }
        if n < 3 {
            return Ok(None);
        }
        // What is in every slice but the outermost two, which hold borders.
        let last = n - 1;
        let (low, high) = (rest.dim_min(last)?.unwrap_or(0) + 1, rest.dim_max(last)?.unwrap_or(0) - 1);
        if low > high {
            return Ok(None);
        }
        let inside = rest.at_least(last, low)?.at_most(last, high)?;
        let positions = inside.project_out(last, 1)?;
        let missing = inside.complement()?.at_least(last, low)?.at_most(last, high)?.project_out(last, 1)?;
        rest = positions.subtract(&missing)?.coalesce()?;
        if rest.is_empty()? {
            return Ok(None);
        }
        factor = factor.saturating_mul((high - low + 1) as u64);
    }
}

//! Lower bounds: how many values of an array, or of some arrays together, are alive at once, whatever the storage.
//!
//! In: a model.   Out: a number of cells that no allocation can go below; none if unknown.
//! Source: golden sizes (docs/ARCHITECTURE.md, section 6).
//!
//! All live-in values are alive together, and so are all live-out values; `moment` counts those alive in the middle of a
//! run, of schedules that do not go step by step. At small sizes the exact number over the run is counted as well, by the
//! brute-force trace; a run of few steps bounds longer ones from below.

use crease_isl::Set;

use crate::analysis::model::{AnalysisError, FROM_STEP, Model};
use crate::analysis::moment::alive_at_a_moment;
use crate::analysis::trace::Trace;
use crate::kernel::graph::{ArrayId, ParamKind};

/// Instances up to which the trace is made.
const TRACE_LIMIT: usize = 3000;
/// Points counted one by one when a set is not a box.
const COUNT_LIMIT: u64 = 1 << 20;

/// Most values alive at once that are known of, per group of arrays.
pub(crate) fn lower_bounds(model: &Model<'_, '_>, groups: &[Vec<ArrayId>]) -> Result<Vec<Option<u64>>, AnalysisError> {
    let steps = steps_to_trace(model, groups);
    let trace = trace(model, steps);
    let mut bounds = Vec::new();
    for group in groups {
        let (mut alive_before, mut alive_after) = (Some(0_u64), Some(0_u64));
        let mut best = None;
        for &array in group {
            for (set, sum) in [(model.live_in(array), &mut alive_before), (model.live_out(array), &mut alive_after)] {
                let count = cardinality(model, &at_step(model, set, steps)?)?;
                *sum = sum.zip(count).and_then(|(sum, count)| sum.checked_add(count));
            }
            best = best.max(alive_at_a_moment(model, array)?);
        }
        best = best.max(alive_before).max(alive_after);
        if let Some(trace) = &trace {
            best = best.max(Some(trace.max_live_of_all(group)));
        } else if best == Some(0) {
            // Nothing outlives the run, and the run was too long to trace.
            best = None;
        }
        bounds.push(best);
    }
    Ok(bounds)
}

/// Enough steps for every level of every state array to be replaced twice.
fn steps_to_trace(model: &Model<'_, '_>, groups: &[Vec<ArrayId>]) -> i64 {
    let depth = groups.iter().flatten().map(|&a| model.kernel.state_depth(a)).max().unwrap_or(0);
    i64::from(2 * depth + 1)
}

fn trace(model: &Model<'_, '_>, steps: i64) -> Option<Trace> {
    let values = model.kernel.params().iter().zip(&model.values).map(|(param, value)| match param.kind {
        ParamKind::Run => Some(steps),
        ParamKind::Size => *value,
    });
    let values = values.collect::<Option<Vec<i64>>>()?;
    Trace::new(model.kernel, model.schedule, &values, TRACE_LIMIT).ok()
}

/// The set with the run parameter bound.
fn at_step<'c>(model: &Model<'c, '_>, set: &Set<'c>, steps: i64) -> Result<Set<'c>, AnalysisError> {
    Ok(match model.kernel.step_param() {
        Some(p) => {
            let at_end = set.fix_param(&model.kernel.params()[p.index()].name, steps)?;
            at_end.fix_param(FROM_STEP, 0)?.project_out_params()?
        }
        None => set.project_out_params()?,
    })
}

/// Number of points; none if infinite or too many to count.
fn cardinality(model: &Model<'_, '_>, set: &Set<'_>) -> Result<Option<u64>, AnalysisError> {
    if set.is_empty()? {
        return Ok(Some(0));
    }
    let (mut volume, mut box_text) = (Some(1_u64), Vec::new());
    let n = set.n_dims()?;
    for k in 0..n {
        let Some((low, high)) = set.dim_min(k)?.zip(set.dim_max(k)?) else {
            return Ok(None);
        };
        let extent = high.checked_sub(low).and_then(|d| u64::try_from(d).ok()?.checked_add(1));
        volume = volume.zip(extent).and_then(|(v, extent)| v.checked_mul(extent));
        box_text.push(format!("{low} <= d{k} <= {high}"));
    }
    let name = set.tuple_name()?.unwrap_or_default();
    let dims = (0..n).map(|k| format!("d{k}")).collect::<Vec<_>>().join(", ");
    let condition = if box_text.is_empty() { "true".to_string() } else { box_text.join(" and ") };
    if model.context.set(&format!("{{ {name}[{dims}] : {condition} }}"))?.is_equal(set)? {
        return Ok(volume);
    }
    if volume.is_none_or(|v| v > COUNT_LIMIT) {
        return Ok(None);
    }
    Ok(set.count()?)
}

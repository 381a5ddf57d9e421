//! Lower bounds: how many values of an array, or of some arrays together, are alive at once, whatever the storage.
//!
//! In: the lifetimes of a kernel's arrays.   Out: a number of cells that no allocation can go below; none if unknown.
//! Source: golden sizes (docs/ARCHITECTURE.md, section 6).
//!
//! Two counts bound storage from below, and the larger is taken: what enters a run is alive together, and so is what
//! leaves it; `peak_liveness` searches for the point of peak liveness of a run. A [`LowerBound`] says which count it is
//! and whether that looked everywhere, so that a weak one is not taken for a strong one.

use crease_isl::{Set, Tuple};
use crease_program::Interval;
use serde::{Deserialize, Serialize};

use crate::analysis::conflicts::Conflicts;
use crate::analysis::error::AnalysisError;
use crate::analysis::model::Model;
use crate::analysis::peak_liveness::{POINTS_QUOTA, most_alive};
use crate::kernel::FROM_STEP;
use crate::kernel::graph::ArrayId;
use crate::sets::boxes::IntBox;
use crate::sets::count::Points;
use crate::sets::relations::{Params, nameless};

/// Intervals that counting one set may take.
const BOUND_BUDGET: u64 = 1 << 20;

/// A number of cells that no storage can go below, with what it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LowerBound {
    pub(crate) cells: u64,
    pub(crate) method: BoundMethod,
}

/// What a lower bound counts. Later ones are at least as strong as those before, if they are complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum BoundMethod {
    /// What the choice of storage counted, which stopped when it had seen enough.
    Choice,
    /// What enters or leaves a run; program points within it could not be counted, or need not: the storage is as
    /// small.
    Ends,
    /// The fullest program point that was found before counting them took too much.
    SomePoints,
    /// The point of peak liveness of a run, by integer sets.
    Points,
}

crease_program::named_choices! {
    BoundMethod = [
        ("choice", BoundMethod::Choice),
        ("ends", BoundMethod::Ends),
        ("some-points", BoundMethod::SomePoints),
        ("points", BoundMethod::Points),
    ]
}

/// Arrays whose storage is counted together, since they share buffers, and how many cells they were given.
pub(crate) struct Group {
    pub(crate) arrays: Vec<ArrayId>,
    /// What a proved mapping needs; no bound is larger.
    pub(crate) cells: u64,
}

/// Most values alive at once that are known of, per group.
pub(crate) fn lower_bounds<'c>(
    model: &Model<'c, '_>,
    conflicts: &Conflicts<'c, '_>,
    groups: &[Group],
) -> Result<Vec<Option<LowerBound>>, AnalysisError> {
    let bound = |group: &Group| {
        let ends = alive_at_ends(model, &group.arrays, BOUND_BUDGET)?;
        let mut bounds = vec![(ends, BoundMethod::Ends)];
        if ends.is_none_or(|ends| ends < group.cells) {
            let points = most_alive(model, conflicts, &group.arrays, group.cells, POINTS_QUOTA)?;
            let method = if points.is_cut_short { BoundMethod::SomePoints } else { BoundMethod::Points };
            bounds.push((points.values, method));
        }
        let known = bounds.into_iter().filter_map(|(cells, method)| Some(LowerBound { cells: cells?, method }));
        // Of equal ones the last, which is the strongest count.
        Ok(known.max_by_key(|bound| bound.cells))
    };
    groups.iter().map(bound).collect()
}

/// How many values of some arrays enter a run together, or leave it; none if that cannot be counted, or within
/// `budget`.
pub(crate) fn alive_at_ends(
    model: &Model<'_, '_>,
    arrays: &[ArrayId],
    budget: u64,
) -> Result<Option<u64>, AnalysisError> {
    let steps = steps_to_count(model);
    let mut most = None;
    for live in [Model::live_in, Model::live_out] {
        let count = |&array: &ArrayId| cardinality(model, &at_step(model, live(model, array), steps)?, budget);
        let counts = arrays.iter().map(count).collect::<Result<Option<Vec<u64>>, AnalysisError>>()?;
        let sum = counts.and_then(|counts| counts.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n)));
        most = most.max(sum.filter(|&sum| sum > 0));
    }
    Ok(most)
}

/// Enough steps for every level of every state array to be replaced twice.
fn steps_to_count(model: &Model<'_, '_>) -> i64 {
    let depth = model.kernel.array_ids().map(|a| model.kernel.state_depth(a)).max().unwrap_or(0);
    i64::from(2 * depth + 1)
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
fn cardinality(model: &Model<'_, '_>, set: &Set<'_>, budget: u64) -> Result<Option<u64>, AnalysisError> {
    if set.is_empty()? {
        return Ok(Some(0));
    }
    let (mut volume, mut ranges) = (Some(1_u64), Vec::new());
    let n = set.n_dims()?;
    for k in 0..n {
        let Some((low, high)) = set.dim_min(k)?.zip(set.dim_max(k)?) else {
            return Ok(None);
        };
        let extent = high.checked_sub(low).and_then(|d| u64::try_from(d).ok()?.checked_add(1));
        volume = volume.zip(extent).and_then(|(v, extent)| v.checked_mul(extent));
        ranges.push(Interval::between(low, high));
    }
    let (name, dims) = (set.tuple_name()?, nameless(n));
    let tuple = Tuple { name: name.as_deref(), dims: &dims };
    if let Some(inside) = IntBox::of(ranges).within(&IntBox::everything(n), 0)
        && Params::none().set(model.context, tuple, &inside, &[])?.is_equal(set)?
    {
        return Ok(volume);
    }
    Ok(Points::new(set.constraints()?).count(&[], &mut { budget }))
}

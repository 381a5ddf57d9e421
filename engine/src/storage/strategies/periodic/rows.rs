//! Rows that conflict: cells that differ in the step and in one more index only.
//!
//! In: an array's conflicts, and which indices are its step and its row.   Out: [`RowConflicts`].
//!
//! Invariant: every pair of conflicting cells that agree in all other indices is in the relation, the one of the
//! earlier step first, of one step the lower row first. Storage that keeps other cells apart by those indices is then
//! valid if it keeps these pairs apart.

use crease_isl::{Map, Set, Tuple};

use crate::kernel::affine::Affine;
use crate::kernel::graph::ArrayId;
use crate::sets::relations::{Params, nameless};
use crate::storage::MappingError;
use crate::storage::knobs::periodic::{MOST_CUTS, MOST_STEPS};
use crate::storage::problem::Problem;

/// The position of the earlier cell's row among the dimensions of [`RowConflicts`].
const EARLIER: usize = 0;
/// That of the later cell's row.
const LATER: usize = 1;
/// That of the rows between them.
const ROWS_APART: usize = 2;
/// That of the steps between them.
const STEPS_APART: usize = 3;

/// Pairs of conflicting rows as points `[earlier row, later row, rows apart, steps apart]`.
pub(super) struct RowConflicts<'c> {
    pairs: Set<'c>,
    /// The most steps that two of them are apart.
    most_steps: i64,
}

/// Per number of steps, from 0 on, the smallest and the largest distance of conflicting rows this many steps apart: the
/// later row minus the earlier one.
pub(super) type Distances = Vec<Option<(i64, i64)>>;

impl<'c> RowConflicts<'c> {
    /// The conflicts of an array whose steps are index `step` and rows index `row`; none if values are alive for too
    /// many steps.
    pub(super) fn new(
        problem: &Problem<'_, 'c, '_>,
        array: ArrayId,
        step: usize,
        row: usize,
    ) -> Result<Option<RowConflicts<'c>>, MappingError> {
        let cells = problem.conflicts.cells(array)?;
        let n = cells.n_dims()?;
        let mut candidates = cells.pairs_with(&cells)?;
        for other in (0..n).filter(|&k| k != step && k != row) {
            candidates = candidates.equate(other, other)?;
        }
        let later_step = candidates.order_lt(step, step)?;
        let later_row = candidates.equate(step, step)?.order_lt(row, row)?;
        let candidates = later_step.union(&later_row)?;
        let conflicts = problem.conflicts.among(array, array, &candidates)?.project_out_params()?;
        let points = conflicts.wrap()?.flatten()?.reset_tuple_id()?;
        let pairs = points.apply(&distances(problem, n, step, row)?)?.coalesce()?;
        let most_steps = if pairs.is_empty()? { Some(0) } else { pairs.dim_max(STEPS_APART)? };
        Ok(most_steps.filter(|&steps| steps <= MOST_STEPS).map(|most_steps| RowConflicts { pairs, most_steps }))
    }

    /// How far apart conflicting rows among `low..=high` are; none if that has no bounds.
    pub(super) fn within(&self, (low, high): (i64, i64)) -> Result<Option<Distances>, MappingError> {
        let mut part = self.pairs.clone();
        for side in [EARLIER, LATER] {
            part = part.at_least(side, low)?.at_most(side, high)?;
        }
        let mut all = Distances::new();
        for steps in 0..=self.most_steps {
            let Some(range) = part.fix_dim(STEPS_APART, steps)?.dim_range(ROWS_APART)? else { return Ok(None) };
            all.push((range.0 <= range.1).then_some(range));
        }
        Ok(Some(all))
    }

    /// Rows, but the first one, before which a cut may help: where convex pieces of the conflicts over most steps begin
    /// or end. Those next to the ends come first.
    pub(super) fn cuts(&self, (first, last): (i64, i64)) -> Result<Vec<i64>, MappingError> {
        let mut cuts = Vec::new();
        for piece in self.pairs.fix_dim(STEPS_APART, self.most_steps)?.basic_sets()? {
            for side in [EARLIER, LATER] {
                let (low, high) = (piece.dim_min(side)?, piece.dim_max(side)?);
                cuts.extend(low.into_iter().chain(high.and_then(|high| high.checked_add(1))));
            }
        }
        cuts.retain(|cut| first < *cut && *cut <= last);
        cuts.sort_unstable_by_key(|&cut| ((cut - first).min((last - cut).saturating_add(1)), cut));
        cuts.dedup();
        cuts.truncate(MOST_CUTS);
        Ok(cuts)
    }
}

/// From two cells, one after the other, to rows and how far apart they are.
fn distances<'c>(problem: &Problem<'_, 'c, '_>, n: usize, step: usize, row: usize) -> Result<Map<'c>, MappingError> {
    let [earlier, later] = [Affine::iter(row), Affine::iter(n + row)];
    let apart = |k: usize| Affine::iter(n + k).sub(&Affine::iter(k));
    let values = [earlier, later, apart(row)?, apart(step)?];
    let cells = nameless(2 * n);
    Ok(Params::none().function(problem.model.context, Tuple { name: None, dims: &cells }, None, &values)?)
}

//! The dependence cone: how fast dependences travel through space, for hyperplanes that respect all of them.
//!
//! In: a kernel, one of its schedules, two of its time dimensions.   Out: the extreme slopes of the distances between
//! the write of a value and its reads, in the plane of the two.
//! Source: Bandishti, Pananilath and Bondhugula (SC 2012); Irigoin and Triolet (1988) for cones.
//!
//! Sizes stay symbolic, so what is found holds for all of them. A stencil that reads `x - 2 ..= x` at the step before
//! has distances `(1, 0) .. (1, 2)`, so slopes 0 and 2 (cells per step), to which `x` and `2 t - x` are the extreme
//! hyperplanes. Where a cell is written several times, its writes and reads count in the order that the given schedule
//! has them.

use crease_isl::{Context, IslError, Map, Set};
use num_integer::gcd;

use crate::analysis::error::AnalysisError;
use crate::analysis::model::Model;
use crate::kernel::affine::AffineOverflow;
use crate::kernel::graph::{ArrayId, Kernel, Schedule};
use crate::schedule::diamond::Hyperplanes;
use crate::schedule::transform::TransformError;

/// Operations that finding the distances may use; stencils need a thousandth of it.
const CONE_QUOTA: u64 = 50_000_000;
/// Distances looked at, one by one.
const MOST_CONE_DISTANCES: usize = 1 << 16;

/// The extreme slopes of a kernel's dependences in a plane of time and space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DependenceCone {
    /// The slope that goes farthest towards small values of space.
    pub least: Slope,
    /// The slope that goes farthest towards large values of space.
    pub greatest: Slope,
}

/// `space` cells in `time` steps, in lowest terms. Within a step: no time, and one cell to either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slope {
    /// Cells, towards large values if positive.
    pub space: i64,
    /// Steps, not negative.
    pub time: i64,
}

impl DependenceCone {
    /// The pair of hyperplanes that lean with the extreme slopes: the widest tiles that can start together. Where both
    /// slopes are one, the second leans by a cell more, to bound the tiles.
    ///
    /// # Errors
    /// [`TransformError::WithinStep`] if dependences within one time step point along space.
    pub fn hyperplanes(&self) -> Result<Hyperplanes, TransformError> {
        let DependenceCone { least, mut greatest } = *self;
        for slope in [least, greatest] {
            if slope.time == 0 {
                return Err(TransformError::WithinStep { step: slope.space, tiles: "diamond" });
            }
        }
        if least == greatest {
            greatest.space = greatest.space.checked_add(greatest.time).ok_or(AffineOverflow)?;
        }
        let backwards = |value: i64| value.checked_neg().ok_or(AffineOverflow);
        let rising = [backwards(least.space)?, least.time];
        let falling = [greatest.space, backwards(greatest.time)?];
        Ok(Hyperplanes { rising, falling })
    }

    /// Cells that dependences reach at most in a step, towards small and towards large values of space. They do not add
    /// up to less than 1.
    ///
    /// # Errors
    /// [`TransformError::WithinStep`] if dependences within one time step point along space.
    pub(crate) fn reach(&self) -> Result<[i64; 2], TransformError> {
        for slope in [self.least, self.greatest] {
            if slope.time == 0 {
                return Err(TransformError::WithinStep { step: slope.space, tiles: "hexagonal" });
            }
        }
        let negated = |value: i64| value.checked_neg().ok_or(AffineOverflow);
        let back = negated(self.least.space.div_euclid(self.least.time))?;
        let forth = negated(negated(self.greatest.space)?.div_euclid(self.greatest.time))?;
        let least = back.checked_neg().and_then(|least| least.checked_add(1)).ok_or(AffineOverflow)?;
        Ok([back, forth.max(least)])
    }

    /// The smallest `r >= 0` such that `x + r t` never falls along a dependence: the lean of parallelogram tiles.
    ///
    /// # Errors
    /// [`TransformError::WithinStep`] if dependences within one time step point to small values of space.
    pub fn lean(&self) -> Result<i64, TransformError> {
        match self.least {
            Slope { space, time: 0 } if space < 0 => {
                Err(TransformError::WithinStep { step: space, tiles: "parallelogram" })
            }
            Slope { time: 0, .. } => Ok(0),
            Slope { space, time } => {
                let lean = space.div_euclid(time).checked_neg().ok_or(AffineOverflow)?;
                Ok(lean.max(0))
            }
        }
    }
}

impl Slope {
    /// Of the distance `[time, space]`; none for two instances at one point of the plane.
    fn of([time, space]: [i64; 2]) -> Option<Slope> {
        let divisor = gcd(time.unsigned_abs(), space.unsigned_abs());
        let divisor = i64::try_from(divisor).ok().filter(|d| *d > 0)?;
        Some(Slope { space: space / divisor, time: time / divisor })
    }

    fn less_than(self, other: Slope) -> bool {
        let product = |a: i64, b: i64| i128::from(a) * i128::from(b);
        product(self.space, other.time) < product(other.space, self.time)
            || (self.time == 0 && other.time == 0 && self.space < other.space)
    }
}

impl Kernel {
    /// The dependence cone in the plane of two time dimensions of a schedule, `time` and `space`, by position. Only
    /// dependences between instances that agree in all dimensions before these count: others are carried there. A
    /// kernel without dependences has the slope 0 alone.
    ///
    /// # Errors
    /// [`TransformError`] if the schedule or a dimension does not exist, a dependence goes back in time, or distances
    /// have no constant bound, as in periodic domains.
    pub fn dependence_cone(
        &self,
        schedule: &str,
        (time, space): (usize, usize),
    ) -> Result<DependenceCone, TransformError> {
        cone_of(self, self.schedule_or_error(schedule)?, (time, space))
    }
}

/// The dependence cone of a schedule that the kernel need not have.
pub(crate) fn cone_of(
    kernel: &Kernel,
    schedule: &Schedule,
    plane: (usize, usize),
) -> Result<DependenceCone, TransformError> {
    let mut cone: Option<DependenceCone> = None;
    for distance in distances_of(kernel, schedule, plane)? {
        let Some(slope) = Slope::of(distance) else { continue };
        let cone = cone.get_or_insert(DependenceCone { least: slope, greatest: slope });
        if slope.less_than(cone.least) {
            cone.least = slope;
        }
        if cone.greatest.less_than(slope) {
            cone.greatest = slope;
        }
    }
    let at_rest = Slope { space: 0, time: 1 };
    Ok(cone.unwrap_or(DependenceCone { least: at_rest, greatest: at_rest }))
}

/// Distances of all dependences in a plane of time and space, as `[time, space]`; none goes back in time.
pub(crate) fn distances_of(
    kernel: &Kernel,
    schedule: &Schedule,
    (time, space): (usize, usize),
) -> Result<Vec<[i64; 2]>, TransformError> {
    schedule.verify_pair(time, space)?;
    let context = Context::new(CONE_QUOTA)?;
    let model = Model::new(&context, kernel, schedule)?;
    let found = distances(&model, schedule, (time, space))?;
    match found.iter().find(|distance| distance[0] < 0) {
        Some(&distance) => Err(TransformError::Backwards { schedule: schedule.name.clone(), time, distance }),
        None => Ok(found),
    }
}

/// Distances of all dependences in the plane of the two dimensions, as `[time, space]`.
fn distances(
    model: &Model<'_, '_>,
    schedule: &Schedule,
    (time, space): (usize, usize),
) -> Result<Vec<[i64; 2]>, TransformError> {
    let mut found = Vec::new();
    for array in model.kernel.array_ids() {
        let mut related = dependences(model, array)?;
        // Extended time vectors have the epoch in front.
        for dim in 1..=time.min(space) {
            related = related.equate(dim, dim)?;
        }
        let plane = in_plane(&related, (time.min(space) + 1, time.max(space) + 1))?;
        if plane.is_empty()? {
            continue;
        }
        let unbounded = || TransformError::UnboundedDistances { schedule: schedule.name.clone(), time, space };
        let mut visit =
            |point: &[i64]| found.push(if time < space { [point[0], point[1]] } else { [point[1], point[0]] });
        match plane.for_each_point(MOST_CONE_DISTANCES, &mut visit) {
            Ok(_) => {}
            Err(IslError::Unbounded | IslError::TooManyPoints { .. }) => return Err(unbounded()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}

/// Pairs of times that touch one cell of the array and must stay in their order.
fn dependences<'c>(model: &Model<'c, '_>, array: ArrayId) -> Result<Map<'c>, AnalysisError> {
    let (reads, writes) = (model.reads(array)?, model.writes(array)?);
    let flow = writes.reverse()?.apply_range(reads)?;
    if writes.is_single_valued()? {
        return Ok(flow);
    }
    let rewritten = writes.reverse()?.apply_range(writes)?;
    let overwritten = reads.reverse()?.apply_range(writes)?;
    let all = flow.union(&rewritten)?.union(&overwritten)?;
    Ok(all.intersect(&Map::lex_lt(&all.domain()?)?)?)
}

/// Differences of two components, in their order in the time vector, for any value of the parameters.
fn in_plane<'c>(related: &Map<'c>, (first, second): (usize, usize)) -> Result<Set<'c>, AnalysisError> {
    let differences = related.deltas()?.project_out_params()?;
    let last = differences.n_dims()?;
    let kept = differences.project_out(second + 1, last - second - 1)?;
    Ok(kept.project_out(first + 1, second - first - 1)?.project_out(0, first)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cone(least: [i64; 2], greatest: [i64; 2]) -> DependenceCone {
        DependenceCone { least: Slope::of(least).unwrap(), greatest: Slope::of(greatest).unwrap() }
    }

    #[test]
    fn hyperplanes_lean_with_the_extreme_slopes() {
        let pair = |least, greatest| cone(least, greatest).hyperplanes().unwrap();
        assert_eq!(pair([1, -1], [1, 1]), Hyperplanes { rising: [1, 1], falling: [1, -1] });
        assert_eq!(pair([1, 0], [1, 2]), Hyperplanes { rising: [0, 1], falling: [2, -1] });
        assert_eq!(pair([4, -2], [3, 9]), Hyperplanes { rising: [1, 2], falling: [3, -1] });
        assert_eq!(pair([1, 0], [1, 0]), Hyperplanes { rising: [0, 1], falling: [1, -1] });
    }

    #[test]
    fn dependences_within_a_step_rule_out_a_concurrent_start_but_not_parallelograms() {
        let gauss_seidel = cone([1, -1], [0, 3]);
        assert!(matches!(gauss_seidel.hyperplanes(), Err(TransformError::WithinStep { step: 1, .. })));
        assert_eq!(gauss_seidel.lean(), Ok(1));
        assert!(matches!(cone([0, -2], [1, 0]).lean(), Err(TransformError::WithinStep { step: -1, .. })));
        assert_eq!(cone([2, -3], [1, 1]).lean(), Ok(2));
        assert_eq!(cone([1, 1], [1, 2]).lean(), Ok(0));
    }
}

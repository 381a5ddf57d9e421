//! Values alive at a program point: lower bounds of storage that hold for partial orders too.
//!
//! In: the lifetimes of an array.   Out: the most of its values that were found alive together.
//! Source: the largest number of values alive at once as a lower bound: Darte, Schreiber and Villard (2005), section 2;
//! for loops in parallel ours.
//!
//! Leave the parallel components out of all time vectors, and compare what is left, their *projected times*,
//! lexicographically. Of two values written no later than a projected time `s` and still read after `s`, or written at
//! `s`, neither is certainly dead before the other is written: an event that certainly precedes another has no larger
//! projected time. So all values around `s` conflict pairwise, for any `s`, and their number is a bound. A projected
//! time may also stop before the first parallel component; then values written at `s` are counted only if they are read
//! after it. Components in lanes stay as they are (one lane after the other), or become blocks whose lanes run in
//! lock-step; both are orders that the kernel may run in, and the larger number counts.
//!
//! Within a parallel loop more may be alive: what its iterations read for the last time and what they write. These
//! count where the conflict sets say so.
//!
//! Every program point gives a bound; which one is the fullest is searched, from the ends and the middle of each
//! component, and uphill from there. On all golden rows this finds the exact number.
//!
//! Cost: one relation from projected times to cells, then plain counting ([`Points`]) under a budget.

use crease_isl::{Map, Set, Tuple};

use crate::analysis::conflicts::Conflicts;
use crate::analysis::error::AnalysisError;
use crate::analysis::lifetimes::Lifetimes;
use crate::analysis::model::Model;
use crate::analysis::privatization::task_depth;
use crate::kernel::FROM_STEP;
use crate::kernel::affine::Affine;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, DimKind};
use crate::schedule::order::Epoch;
use crate::sets::count::Points;
use crate::sets::relations::{Params, nameless, points_with};

/// Values of the first time dimension that a run needs to have a middle.
const MIDDLE: i64 = 4;
/// Steps up to which such a run is sought.
const LONGEST_RUN: i64 = 1 << 20;
/// Intervals counted per array and kind of projected time.
const POINT_BUDGET: u64 = 1 << 21;
/// Program points looked at before the climb.
const MOST_POINTS: usize = 256;
/// isl operations for one kind of projected time, where a bound is what is asked for.
pub(crate) const POINTS_QUOTA: u64 = 100_000;
/// isl operations for what iterations of a parallel loop read for the last time and write. Shows in `explain
/// transport-2d-rk4 --schedule auto`.
const ITERATIONS_QUOTA: u64 = 30_000;

/// What the search for the point of peak liveness found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Alive {
    /// Most values found alive together; none if none could be counted.
    pub(crate) values: Option<u64>,
    /// Whether some program points were left out, as counting them takes too much.
    pub(crate) is_cut_short: bool,
}

/// Nothing could be counted.
const UNCOUNTED: Alive = Alive { values: None, is_cut_short: true };

impl Alive {
    fn and(self, other: Alive) -> Alive {
        Alive { values: self.values.max(other.values), is_cut_short: self.is_cut_short || other.is_cut_short }
    }
}

/// Most values of some arrays found alive together, `enough` of them ending the search, with so many isl operations
/// for each kind of projected time.
pub(crate) fn most_alive<'c>(
    model: &Model<'c, '_>,
    conflicts: &Conflicts<'c, '_>,
    arrays: &[ArrayId],
    enough: u64,
    quota: u64,
) -> Result<Alive, AnalysisError> {
    let mut best = Alive::default();
    for projected in projected_times(model) {
        let one = if projected.before_parallel { arrays.first().filter(|_| arrays.len() == 1) } else { None };
        best = best.and(within_quota(model, quota, || around(model, conflicts, arrays, &projected))?);
        if let Some(&array) = one.filter(|_| best.values.is_none_or(|best| best < enough)) {
            best = best.and(within_quota(model, ITERATIONS_QUOTA, || {
                around_parallel_iterations(model, conflicts, array, &projected)
            })?);
        }
        if best.values.is_some_and(|best| best >= enough) {
            break;
        }
    }
    Ok(best)
}

/// The same between the iterations of the loop around the first parallel one (wavefronts, say): costs less. None if no
/// such loop runs over time.
pub(crate) fn alive_between_wavefronts<'c>(
    model: &Model<'c, '_>,
    conflicts: &Conflicts<'c, '_>,
    array: ArrayId,
    quota: u64,
) -> Result<Option<u64>, AnalysisError> {
    if model.kernel.step_param().is_none() || model.steps_come_first() {
        return Ok(None);
    }
    let Some(projected) = projected_times(model).into_iter().find(|projected| projected.before_parallel) else {
        return Ok(None);
    };
    Ok(within_quota(model, quota, || around(model, conflicts, &[array], &projected))?.values)
}

/// What a count finds with the operations it may spend; nothing, and that it was cut short, if these do not suffice.
fn within_quota(
    model: &Model<'_, '_>,
    quota: u64,
    count: impl FnOnce() -> Result<Alive, AnalysisError>,
) -> Result<Alive, AnalysisError> {
    match model.context.under_quota(quota.min(model.context.max_operations()), count) {
        Err(error) if error.spent_quota().is_some() => Ok(UNCOUNTED),
        found => found,
    }
}

/// Which components of a time vector a projected time keeps.
#[derive(Clone, PartialEq)]
struct ProjectedTime {
    parts: Vec<Part>,
    /// Whether it stops before the first parallel component.
    before_parallel: bool,
}

/// One component of a projected time: that of the time vector at a position, or the number of the block of lanes it is
/// in.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Value(usize),
    Block(usize, u32),
}

/// The kinds of projected time that are looked at: up to the first parallel component; all components; blocks of lanes.
fn projected_times(model: &Model<'_, '_>) -> Vec<ProjectedTime> {
    let moves = |k: usize| {
        let mut times = model.schedule.times.iter().map(|time| &time[k]);
        let first = times.next();
        first.is_some_and(|first| first.as_constant().is_none() || times.any(|other| other != first))
    };
    let dims = || model.schedule.dims.iter().enumerate().filter(|(k, _)| moves(*k)).map(|(k, kind)| (k + 1, *kind));
    let projected = |dims: &mut dyn Iterator<Item = (usize, DimKind)>, in_blocks: bool, before_parallel: bool| {
        let mut parts = vec![Part::Value(0)];
        parts.extend(dims.filter(|(_, kind)| *kind != DimKind::Parallel).map(|(k, kind)| match kind {
            DimKind::Vector(lanes) if in_blocks && lanes > 1 => Part::Block(k, lanes),
            _ => Part::Value(k),
        }));
        ProjectedTime { parts, before_parallel }
    };
    let mut found = Vec::new();
    if dims().any(|(_, kind)| kind == DimKind::Parallel) {
        found.push(projected(&mut dims().take_while(|(_, kind)| *kind != DimKind::Parallel), false, true));
    }
    for in_blocks in [false, true] {
        let all = projected(&mut dims(), in_blocks, false);
        if !found.iter().any(|known: &ProjectedTime| known.parts == all.parts) {
            found.push(all);
        }
    }
    found
}

/// Most values around a projected time of that kind.
fn around<'c>(
    model: &Model<'c, '_>,
    conflicts: &Conflicts<'c, '_>,
    arrays: &[ArrayId],
    projected: &ProjectedTime,
) -> Result<Alive, AnalysisError> {
    let lifetimes = arrays.iter().map(|&array| conflicts.lifetimes(array)).collect::<Result<Vec<_>, _>>()?;
    let Some(steps) = steps_with_a_middle(model, &lifetimes)? else { return Ok(UNCOUNTED) };
    let projection = project(model, projected)?;
    let (mut times, mut alive) = (Vec::new(), Vec::new());
    for (of, &array) in lifetimes.iter().zip(arrays) {
        let Some(events) = Events::of(model, of, &steps, conflicts.is_private(array))? else { return Ok(UNCOUNTED) };
        let events = events.project(&projection)?;
        times.extend(events.points.constraints()?);
        alive.push(counted(&events.alive_after(!projected.before_parallel)?, of)?);
    }
    let search = Search { n: projected.parts.len(), times: Points::new(times) };
    let (fullest, is_cut_short) = search.fullest(&alive);
    Ok(Alive { values: fullest.map(|(_, count)| count), is_cut_short })
}

/// Most values of an array around one iteration of the loop outside the first parallel one: what is read inside that
/// for the last time is alive until all of its iterations are done, but for cells that the conflict sets take out.
fn around_parallel_iterations<'c>(
    model: &Model<'c, '_>,
    conflicts: &Conflicts<'c, '_>,
    array: ArrayId,
    projected: &ProjectedTime,
) -> Result<Alive, AnalysisError> {
    let lifetimes = conflicts.lifetimes(array)?;
    if lifetimes.to_cell.is_some() {
        // Values are no cells: this count does not apply.
        return Ok(Alive::default());
    }
    let Some(steps) = steps_with_a_middle(model, &[lifetimes])? else { return Ok(UNCOUNTED) };
    let Some(events) = Events::of(model, lifetimes, &steps, conflicts.is_private(array))? else { return Ok(UNCOUNTED) };
    let events = events.project(&project(model, projected)?)?;
    let during = events.alive_during()?;
    let search = Search { n: projected.parts.len(), times: Points::new(events.points.constraints()?) };
    let (fullest, is_cut_short) = search.fullest(&[counted(&during, lifetimes)?]);
    let Some((point, _)) = fullest else { return Ok(UNCOUNTED) };
    let cells = cells_at(model, &during, &point)?;
    let pairs = Map::lex_lt(&cells)?.intersect_domain(&cells)?.intersect_range(&cells)?;
    let apart = pairs.subtract(&in_run(&conflicts.among(array, array, &pairs)?, &steps)?)?;
    let mut best = Alive { values: None, is_cut_short };
    for taken_out in [apart.domain()?, apart.range()?] {
        let clique = Points::new(cells.subtract(&taken_out)?.coalesce()?.constraints()?);
        let values = clique.count(&[], &mut { POINT_BUDGET });
        best = best.and(Alive { values, is_cut_short: values.is_none() });
    }
    Ok(best)
}

/// The run parameter and a number of steps; nothing for kernels without.
type Steps = Option<(String, i64)>;

/// This many steps that a run has a middle; none if no number gives one.
fn steps_with_a_middle<'c>(
    model: &Model<'c, '_>,
    lifetimes: &[&Lifetimes<'c>],
) -> Result<Option<Steps>, AnalysisError> {
    let Some(param) = model.kernel.step_param() else { return Ok(Some(None)) };
    let param = &model.kernel.params()[param.index()].name;
    let Some(first) = lifetimes.first() else { return Ok(None) };
    let mut steps = MIDDLE;
    while steps <= LONGEST_RUN {
        let times = in_run(&first.write, &Some((param.clone(), steps)))?.range()?.fix_dim(0, Epoch::During as i64)?;
        let bounds = if times.is_empty()? { None } else { times.dim_min(1)?.zip(times.dim_max(1)?) };
        if bounds.is_some_and(|(first, last)| last - first >= MIDDLE) || steps * 4 > LONGEST_RUN {
            return Ok(Some(Some((param.clone(), steps))));
        }
        steps *= 4;
    }
    Ok(None)
}

/// The same in a run of this many steps.
fn in_run<'c>(events: &Map<'c>, steps: &Steps) -> Result<Map<'c>, AnalysisError> {
    Ok(match steps {
        Some((param, steps)) => events.fix_param(param, *steps)?.fix_param(FROM_STEP, 0)?.project_out_params()?,
        None => events.project_out_params()?,
    })
}

/// When values are written and read, in times or in projected times.
struct Events<'c> {
    written: Map<'c>,
    read: Map<'c>,
    /// Where something is written.
    points: Set<'c>,
}

impl<'c> Events<'c> {
    /// All of a run, or of one task of it; none if there is no task.
    fn of(
        model: &Model<'c, '_>,
        lifetimes: &Lifetimes<'c>,
        steps: &Steps,
        of_a_task: bool,
    ) -> Result<Option<Events<'c>>, AnalysisError> {
        let (mut written, mut read) = (in_run(&lifetimes.write, steps)?, in_run(&lifetimes.reads, steps)?);
        if of_a_task {
            let Some(task) = task_in_the_middle(model, &written)? else { return Ok(None) };
            (written, read) = (written.intersect_range(&task)?, read.intersect_range(&task)?);
        }
        let points = written.range()?;
        Ok(Some(Events { written, read, points }))
    }

    fn project(&self, projection: &Map<'c>) -> Result<Events<'c>, AnalysisError> {
        let (written, read) = (self.written.apply_range(projection)?, self.read.apply_range(projection)?);
        let points = written.range()?.coalesce()?;
        Ok(Events { written: written.coalesce()?, read: read.coalesce()?, points })
    }

    /// Values written by a program point and read after it, and, if those conflict, all that are written at it.
    fn alive_after(&self, with_written: bool) -> Result<Map<'c>, AnalysisError> {
        let until = self.written.apply_range(&Map::lex_le(&self.points)?)?;
        let alive = until.intersect(&self.read.apply_range(&Map::lex_gt(&self.points)?)?)?;
        Ok(if with_written { alive.union(&self.written)? } else { alive })
    }

    /// Values written by a program point and read at it or after it, or written at it.
    fn alive_during(&self) -> Result<Map<'c>, AnalysisError> {
        let until = self.written.apply_range(&Map::lex_le(&self.points)?)?;
        Ok(until.intersect(&self.read.apply_range(&Map::lex_ge(&self.points)?)?)?.union(&self.written)?)
    }
}

/// The times of one task of the loop in parallel, away from borders; none if there is no task.
fn task_in_the_middle<'c>(model: &Model<'c, '_>, written: &Map<'c>) -> Result<Option<Set<'c>>, AnalysisError> {
    let Some(depth) = task_depth(model.schedule) else { return Ok(None) };
    let n = model.order.n_dims();
    let mut times = written.range()?;
    // The epoch comes first.
    for k in 1..=depth {
        let leading = times.project_out(k + 1, n - k - 1)?;
        let Some((low, high)) = leading.dim_range(k)? else { return Ok(None) };
        let middle = leading.at_least(k, low.midpoint(high))?;
        let Some(value) = middle.dim_min(k)? else { return Ok(None) };
        times = times.fix_dim(k, value)?;
    }
    let sample = times.sample()?;
    let Some(sample) = sample else { return Ok(None) };
    points_with(model.context, n, (1..=depth).map(|k| (k, sample[k]))).map(Some)
}

/// `{ time -> projected time }`.
fn project<'c>(model: &Model<'c, '_>, projected: &ProjectedTime) -> Result<Map<'c>, AnalysisError> {
    let n = model.order.n_dims();
    let mut conditions = Vec::new();
    for (position, part) in projected.parts.iter().enumerate() {
        let own = Affine::iter(n + position);
        match *part {
            Part::Value(k) => conditions.push(Formula::eq(&own, &Affine::iter(k))?),
            Part::Block(k, lanes) => {
                let lanes = i64::from(lanes);
                let first = own.scale(lanes)?;
                conditions.push(Formula::le(&first, &Affine::iter(k))?);
                conditions.push(Formula::lt(&Affine::iter(k), &first.add(&Affine::constant(lanes))?)?);
            }
        }
    }
    let [time, parts] = [n, projected.parts.len()].map(nameless);
    let [time, parts] = [&time, &parts].map(|dims| Tuple { name: None, dims });
    Params::none().relation(model.context, time, parts, &Formula::And(conditions))
}

/// The cells around each projected time, ready to be counted: projected time first, then cell.
fn counted<'c>(around: &Map<'c>, lifetimes: &Lifetimes<'c>) -> Result<Points, AnalysisError> {
    let cells = lifetimes.to_cell.as_ref().map_or(Ok(around.clone()), |to_cell| around.apply_domain(to_cell))?;
    Ok(Points::new(cells.reverse()?.coalesce()?.wrap()?.constraints()?))
}

/// The values around one projected time.
fn cells_at<'c>(model: &Model<'c, '_>, around: &Map<'c>, point: &[i64]) -> Result<Set<'c>, AnalysisError> {
    let point = points_with(model.context, point.len(), point.iter().copied().enumerate())?;
    Ok(around.intersect_range(&point)?.domain()?.coalesce()?)
}

/// The search for the point of peak liveness.
struct Search {
    /// Components of a projected time.
    n: usize,
    /// The projected times at which values are written.
    times: Points,
}

impl Search {
    /// A program point with many cells around it, and their number, none if none could be counted; and whether the
    /// search was cut short.
    fn fullest(&self, cells: &[Points]) -> (Option<(Vec<i64>, u64)>, bool) {
        let mut budget = POINT_BUDGET;
        let mut best: Option<(Vec<i64>, u64)> = None;
        let mut points = Vec::new();
        self.spread(&mut Vec::new(), &mut points);
        for point in points {
            let Some(count) = count(cells, &point, &mut budget) else { return (best, true) };
            if best.as_ref().is_none_or(|(_, most)| count > *most) {
                best = Some((point, count));
            }
        }
        let Some((mut point, mut most)) = best else { return (None, false) };
        loop {
            match self.uphill(cells, &point, most, &mut budget) {
                Climb::To(better, count) => (point, most) = (better, count),
                Climb::Top => return (Some((point, most)), false),
                Climb::CutShort => return (Some((point, most)), true),
            }
        }
    }

    /// Program points at the ends and in the middle of each component.
    fn spread(&self, point: &mut Vec<i64>, points: &mut Vec<Vec<i64>>) {
        if point.len() == self.n {
            points.push(point.clone());
            return;
        }
        let Some((low, high)) = self.times.range(point) else { return };
        let middle = low.midpoint(high);
        let next_to = [high.saturating_sub(1), low.saturating_add(1), middle.saturating_add(1)];
        let mut values = [vec![low, high, middle], next_to.to_vec()].concat();
        // The epoch comes first and has two values.
        let choices = (1..=values.len()).rev().find(|c| c.pow(self.n as u32 - 1) <= MOST_POINTS);
        values.truncate(choices.unwrap_or(1).max(2));
        values.retain(|&value| low <= value && value <= high);
        values.sort_unstable();
        values.dedup();
        for value in values {
            point.push(value);
            self.spread(point, points);
            point.pop();
        }
    }

    /// A better program point nearby, one component changed, by much first.
    fn uphill(&self, cells: &[Points], from: &[i64], most: u64, budget: &mut u64) -> Climb {
        for k in 1..self.n {
            let (low, high) = self.times.range(&from[..k]).unwrap_or((from[k], from[k]));
            let mut step = (high.saturating_sub(low) / 4).max(1);
            while step > 0 {
                for by in [step, -step] {
                    let mut point = from.to_vec();
                    point[k] = point[k].saturating_add(by).clamp(low, high);
                    match count(cells, &point, budget) {
                        None => return Climb::CutShort,
                        Some(count) if count > most => return Climb::To(point, count),
                        Some(_) => {}
                    }
                }
                step /= 2;
            }
        }
        Climb::Top
    }
}

/// A step of the search uphill.
enum Climb {
    /// A better program point and its cells.
    To(Vec<i64>, u64),
    /// There is none nearby.
    Top,
    /// The budget does not suffice to tell.
    CutShort,
}

/// The cells of all arrays around a projected time.
fn count(cells: &[Points], point: &[i64], budget: &mut u64) -> Option<u64> {
    cells.iter().try_fold(0_u64, |sum, of_array| sum.checked_add(of_array.count(point, budget)?))
}

//! Schedules that nobody wrote: candidates for a kernel, and what each is estimated to cost.
//!
//! In: a kernel, numbers for its sizes, a machine, a number of threads.   Out: [`Candidate`]s, the cheapest first.
//!
//! `space` finds the dimensions that the statements have in common: those of the arrays they write, which `rates`
//! scales where one statement runs for several rows of another one; `remainders` has a statement for each remainder
//! where reads go through floors. `distances` has how far apart in them a value is written and read, as far as
//! `domains` tell where iterators bound each other, and leaves out what `congruences` show to be of another colour;
//! `orders` changes the direction of sweeps and which dimension is the last, also where rows are of the few components
//! of a cell, `fold` brings the ends of a periodic dimension together, `fusion` shifts statements against each other
//! until all of that points forwards. `by_rows` and `shapes` make schedules of it, without and with tiles of time,
//! `across` and `diagonals` those whose lanes are not along rows. `estimate` counts their bytes, operations and
//! barriers, `short_rows` knows rows that run as one, `around` what is held around the ends of boxes, and `chains` how
//! long cells wait for the one before; `sizes` puts sizes in place of numbers that come from them. None of it asks
//! integer sets: distances are differences of affine expressions, and what is not constant there counts with its range.
//!
//! A candidate is a schedule like any other. That it is legal is not taken from here: the stage `legality` says so, and
//! a candidate that it refuses is dropped ([`PlanBuilder`](crate::PlanBuilder)).

mod across;
mod alike;
mod around;
mod by_rows;
mod chains;
mod congruences;
mod diagonals;
mod distances;
mod domains;
mod estimate;
mod fold;
mod fusion;
mod in_place;
mod orders;
mod passes;
mod rates;
mod remainders;
mod shapes;
mod short_rows;
mod sizes;
mod space;
mod strides;

use crate::kernel::Cut;
use crate::kernel::affine::AffineOverflow;
use crate::kernel::graph::{Kernel, Schedule};
use crate::machine::MachineModel;

use distances::Distance;
pub(in crate::schedule) use distances::{Reach, TiledAxis};
pub(crate) use estimate::Estimate;
use estimate::Workload;
use fold::Folded;
pub(in crate::schedule) use fold::bounds;
use space::{CommonSpace, Missing};

/// Steps of a run in which every statement has instances, those that begin later and those of every so many steps too.
pub(crate) const MANY_STEPS: i64 = 1 << 16;

/// Dimensions of space that are folded, at most: those of blocks.
const MOST_FOLDED: usize = 2;

/// For whom schedules are looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    /// Values of all parameters, that of the steps being any.
    pub(crate) params: &'a [i64],
    pub(crate) machine: MachineModel,
    pub(crate) threads: usize,
}

/// A schedule and what it is thought to cost.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) schedule: Schedule,
    /// What kind of schedule it is, in words.
    pub(crate) shape: String,
    pub(crate) estimate: Estimate,
    /// Statements that are in two parts for it, as its time vectors are those of the parts.
    pub(crate) cuts: Vec<Cut>,
    /// Whether numbers in its times come from the sizes, and it does not show how.
    pub(crate) is_of_sizes: bool,
}

/// Why a kernel has no candidates.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NoCandidates {
    /// In words.
    Because(String),
    /// In words, where a schedule that somebody writes would do no better.
    Hopeless(String),
    /// A number left 64 bits.
    Overflow(AffineOverflow),
}

impl From<AffineOverflow> for NoCandidates {
    fn from(overflow: AffineOverflow) -> Self {
        NoCandidates::Overflow(overflow)
    }
}

/// Schedules for the kernel, the cheapest first; of equal ones the simplest.
///
/// # Errors
/// [`NoCandidates`] if its statements have no dimensions in common, or no order of these keeps all dependences.
pub(crate) fn candidates(kernel: &Kernel, target: &Target<'_>) -> Result<Vec<Candidate>, NoCandidates> {
    let found = in_numbers(kernel, target)?;
    sizes::in_sizes(kernel, target.params, found, |params| in_numbers(kernel, &Target { params, ..*target }))
}

/// The same, with the numbers that sizes lead to.
fn in_numbers(kernel: &Kernel, target: &Target<'_>) -> Result<Vec<Candidate>, NoCandidates> {
    let beside = |missing| Beside::of(kernel, missing, target);
    // What cannot be told apart where it is written may be where it reads.
    let at_zero = beside(Missing::AtZero);
    let (mut plain, mut found) = match at_zero {
        Err(NoCandidates::Because(_) | NoCandidates::Hopeless(_)) => beside(Missing::WhereRead).or(at_zero)?,
        _ => at_zero?,
    };
    if !plain.has_lanes
        && let Ok((beside, others)) = beside(Missing::WhereRead)
        && beside.space.coordinates != plain.space.coordinates
    {
        if found.is_empty() {
            plain = beside;
        }
        found.extend(others);
    }
    let Beside { space, distances, .. } = plain;
    if found.is_empty() {
        let dims = space.names.join(", ");
        return Err(NoCandidates::Because(format!("no order of the dimensions {dims} keeps all its dependences")));
    }
    for dims in 1..=MOST_FOLDED {
        if let Some(folded) = fold::folded(kernel, (&space, &distances), dims, target.params)? {
            found.extend(in_halves(folded, target)?);
        }
    }
    if let Some((parts, cuts)) = remainders::in_parts(kernel)? {
        found.extend(by_remainders(&parts, &cuts, target)?);
    }
    // A stable sort: shapes come from the simplest to the least simple.
    found.sort_by(|a, b| a.estimate.cost().total_cmp(&b.estimate.cost()));
    Ok(found)
}

/// A kernel's statements beside each other in a space that sweeps go through forwards.
struct Beside {
    space: CommonSpace,
    distances: Vec<Distance>,
    /// Whether there are lanes along rows, in the order of the space or with another dimension last, or across them.
    has_lanes: bool,
}

impl Beside {
    /// The statements where they write, or where they read, and the candidates in that space.
    fn of(kernel: &Kernel, missing: Missing, target: &Target<'_>) -> Result<(Beside, Vec<Candidate>), NoCandidates> {
        let space = rates::balanced(kernel, missing, target.params)?;
        let distances = distances::distances(kernel, &space, target.params)?;
        let (space, distances) =
            orders::forwards(kernel, &space, &distances, target.params)?.unwrap_or((space, distances));
        let workload = |space: &CommonSpace, distances: &[Distance]| {
            Workload::of(kernel, space, target).with_chains(kernel, space, distances)
        };
        let by_index = workload(&space, &distances);
        let mut found = shapes::candidates(kernel, &space, &distances, &by_index, target.params)?;
        let mut has_lanes = false;
        if let Some(order) = orders::unit_stride_last(kernel, &space, &by_index.strides) {
            let (space, distances) = (space.reordered(&order), orders::reordered(&distances, &order));
            let workload = workload(&space, &distances);
            has_lanes = workload.has_lanes();
            let others = shapes::candidates(kernel, &space, &distances, &workload, target.params)?;
            found.extend(in_order(&space, others));
        }
        if by_index.has_components_apart {
            let order = orders::cells_last(&space);
            let (space, distances) = (space.reordered(&order), orders::reordered(&distances, &order));
            let workload = workload(&space, &distances).with_strides(kernel, &space);
            let mut others = shapes::candidates(kernel, &space, &distances, &workload, target.params)?;
            others.iter_mut().for_each(|other| orders::with_components_in_strips(&space, other));
            found.extend(in_order(&space, others));
        }
        if !has_lanes {
            let across = shapes::not_along_rows(kernel, &space, &distances, &by_index)?;
            let is_found = across.is_some();
            found.extend(across);
            has_lanes = is_found || by_index.has_lanes();
            if !has_lanes {
                for order in orders::outermost(&space) {
                    let (space, distances) = (space.reordered(&order), orders::reordered(&distances, &order));
                    let workload = workload(&space, &distances).with_strides(kernel, &space);
                    let others = shapes::within_outermost(kernel, &space, &distances, &workload)?;
                    found.extend(in_order(&space, others));
                }
            }
        }
        Ok((Beside { space, distances, has_lanes }, found))
    }
}

/// Schedules of statements in parts for each remainder.
fn by_remainders(kernel: &Kernel, cuts: &[Cut], target: &Target<'_>) -> Result<Vec<Candidate>, NoCandidates> {
    let (_, mut found) = Beside::of(kernel, Missing::AtZero, target)?;
    for candidate in &mut found {
        candidate.shape += ", in parts by remainders";
        candidate.cuts = cuts.to_vec();
    }
    Ok(found)
}

/// The candidates, which say in which order of dimensions they are.
fn in_order(space: &CommonSpace, candidates: Vec<Candidate>) -> impl Iterator<Item = Candidate> {
    let dims = space.names.join(", ");
    candidates
        .into_iter()
        .map(move |other| Candidate { shape: format!("{}, in the order {dims}", other.shape), ..other })
}

/// Rows of stages, and tiles of time, over dimensions that are folded.
fn in_halves(folded: Folded, target: &Target<'_>) -> Result<Vec<Candidate>, NoCandidates> {
    let Folded { kernel, cuts, space } = folded;
    let count = space.halves.as_ref().map_or(0, |halves| halves.dims);
    let distances = distances::distances(&kernel, &space, target.params)?;
    let workload = Workload::of(&kernel, &space, target).with_chains(&kernel, &space, &distances);
    let workload = workload.with_turned_lines(&kernel, &space);
    let mut found = shapes::in_halves(&kernel, &space, &distances, &workload, target.params)?;
    for candidate in &mut found {
        candidate.shape += &format!(", {} folded in the middle", space.names[1..=count].join(" and "));
        candidate.cuts = cuts.clone();
    }
    Ok(found)
}

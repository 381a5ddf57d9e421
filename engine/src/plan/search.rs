//! The search for a schedule, where nobody wrote one.
//!
//! In: a kernel, its sizes, a machine, threads, and what makes a legal plan's request of one schedule.   Out: the
//! request of the cheapest schedule that is legal, and what else there was.

use std::collections::VecDeque;

use log::debug;
use serde::{Deserialize, Serialize};

use crate::analysis::error::AnalysisError;
use crate::error::Error;
use crate::kernel::affine::AffineOverflow;
use crate::kernel::graph::{Kernel, ParamKind, Stmt};
use crate::kernel::{Cut, ScheduleText, sizes_text};
use crate::lower::LowerError;
use crate::machine::MachineModel;
use crate::plan::error::PlanError;
use crate::schedule::automatic::{Candidate, Estimate, MANY_STEPS, NoCandidates, Target, candidates};
use crate::schedule::{IllegalSchedule, NONE_IS_LEGAL};

/// Integer-set operations that a stage may take of a candidate, while there is a simple one: three times what any takes
/// of the kernels of the catalogue. Shows in `explain KERNEL --schedule auto --log trace`.
const CANDIDATE_QUOTA: u64 = 4_000_000;

/// Candidates that are looked at in place of one whose storage turned out larger: each costs the time of a plan.
const MOST_IN_ITS_PLACE: usize = 2;

/// How many times its estimate a candidate's storage may take before others are looked at: margins of tiles and of
/// halves take up to that. Shows in `explain heat-2d-periodic --schedule auto --threads 1 --set N=500`.
const LOST_FOLD: f64 = 1.3;

/// The part of a candidate's cost, with the storage that was found for it, that another one must be estimated at to be
/// looked at in its place: less is not worth a second plan.
const WORTH_A_LOOK: f64 = 0.95;

/// What to do where no schedule was found and somebody may know one.
const WRITE_ONE: &str = "; write one";

/// What a schedule was chosen from: it is found for the sizes, the threads and the machine of a plan.
#[derive(Clone, Debug, Serialize, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ScheduleSearch {
    /// All candidates, the cheapest first: see [`ScheduleCandidate::estimated_bytes`].
    pub candidates: Vec<ScheduleCandidate>,
    /// Which of them was taken: the first one that is not refused, where none is cheaper with the storage that was
    /// found.
    pub chosen: usize,
}

/// A schedule that the library made.
#[derive(Clone, Debug, Serialize, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ScheduleCandidate {
    /// What kind of schedule it is, such as `rows in parallel`.
    pub shape: String,
    /// Nanoseconds that a step is thought to take, or all of a kernel without steps: for comparison with the other
    /// candidates, as rates are those of no machine in particular.
    pub estimated_ns: f64,
    /// Bytes of all arrays, folded as far as is to be expected. Candidates are ranked by time and bytes: twice the
    /// memory must save three tenths of the time.
    pub estimated_bytes: f64,
    /// The same in the storage that was found, if that was looked at. Where it is more, a candidate behind may be
    /// cheaper, and be taken.
    pub found_bytes: Option<f64>,
    /// The schedule in the text form: put into a kernel's text, it is fixed, and can be edited. Where the shape says
    /// that a dimension is folded, it is that of the kernel whose statements are in halves: [`Plan::dump`] of
    /// [`Stage::Kernel`] has their text.
    ///
    /// [`Plan::dump`]: crate::Plan::dump
    /// [`Stage::Kernel`]: crate::Stage::Kernel
    pub text: String,
    /// The sizes that numbers in the text come from, such as `N = 60, M = 64`, where these do not show how: at others it
    /// may be illegal. None where the text names the sizes, or depends on none.
    pub only_for: Option<String>,
    /// What was cut for it; plans from the cache know that of the candidate that was taken.
    #[serde(skip)]
    pub(crate) cuts: Vec<Cut>,
    /// Which dependence it breaks, why it has no loops or none that are known to stay inside their storage, or that its
    /// analysis took too long, or what its plan loses, or takes, if that was looked at.
    pub refused: Option<String>,
    /// Seconds that a step took, or all of a kernel without steps, if it was timed
    /// ([`PlanBuilder::build_tuned`](crate::PlanBuilder::build_tuned)).
    pub measured_seconds: Option<f64>,
}

/// Why a candidate whose plan there is is not taken.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NotTaken {
    /// Some cell of this array has several values: what a read of it means, only a schedule that somebody wrote can say.
    SeveralValues(String),
    /// Another one will be faster, for this reason: it is taken only if there is no other one.
    Worse(String),
}

/// Which candidate is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The cheapest, as far as the storage of those that are looked at is known.
    Cheapest,
    /// The first one that is legal from that number on.
    From(usize),
}

/// What comes of looking at a candidate.
pub(crate) struct Looked<T> {
    /// Bytes of all arrays in the storage that was found, if that was looked at.
    pub(crate) bytes: Option<f64>,
    pub(crate) plan: T,
}

impl ScheduleSearch {
    /// Calls `request` with the kernel under one candidate after the other until one is legal, and says what it was
    /// chosen from beside what comes of it. In place of that may come why its plan is not taken.
    ///
    /// While there is another one of the fewest dimensions of time, with which integer sets grow, a stage of the request
    /// is to take no more than the number of operations that comes with it. A candidate that takes more is put off, and
    /// with it all of more than the fewest dimensions: they are tried without that limit if no other one is left.
    ///
    /// Where the cheapest is wanted, and the storage that was found takes more than was estimated, those behind are
    /// looked at that would then be cheaper, [`MOST_IN_ITS_PLACE`] at most.
    ///
    /// # Errors
    /// [`PlanError::NoScheduleFound`]; what `request` says that is no matter of order.
    pub(crate) fn run<T>(
        kernel: &Kernel,
        sizes: &[i64],
        machine: MachineModel,
        threads: usize,
        wanted: Wanted,
        request: impl Fn(Kernel, ScheduleSearch, Option<u64>) -> Result<Result<Looked<T>, NotTaken>, Error>,
    ) -> Result<(ScheduleSearch, T), Error> {
        let params = many_steps(kernel, sizes);
        let none = |reason: String| PlanError::NoScheduleFound { kernel: kernel.name().to_string(), reason };
        let found = candidates(kernel, &Target { params: &params, machine, threads }).map_err(|why| match why {
            NoCandidates::Because(reason) => Error::from(none(match need_each_other(kernel) {
                Some(cycle) => cycle,
                None => format!("{reason}{WRITE_ONE}"),
            })),
            NoCandidates::Hopeless(reason) => none(reason).into(),
            NoCandidates::Overflow(overflow) => AnalysisError::from(overflow).into(),
        })?;
        let listed = found.iter().map(|candidate| ScheduleCandidate::of(kernel, sizes, candidate));
        let listed = listed.collect::<Result<_, _>>().map_err(AnalysisError::from)?;
        let several_values = |array: String| -> Result<(ScheduleSearch, T), Error> {
            let why =
                format!("cells of `{array}` have several values, and a schedule says which one is read{WRITE_ONE}");
            Err(none(why).into())
        };
        let mut search = ScheduleSearch { candidates: listed, chosen: 0 };
        let dims = |candidate: &Candidate| candidate.schedule.dims.len();
        let fewest = found.iter().map(dims).min().unwrap_or(0);
        let last_of_fewest = found.iter().rposition(|candidate| dims(candidate) == fewest).unwrap_or(0);
        let (mut took_too_long, mut advice) = (false, WRITE_ONE);
        let first = wanted.first();
        let mut queue: VecDeque<usize> = (first..found.len()).collect();
        let mut taken: Option<Taken<T>> = None;
        while let Some(chosen) = queue.pop_front() {
            if taken.as_ref().is_some_and(|taken| !taken.gives_way_to(&search.candidates[chosen])) {
                break;
            }
            let candidate = found[chosen].clone();
            // Those that were put off come once more, behind all others.
            let is_put_off = search.candidates[chosen].refused.take().is_some();
            if !is_put_off && took_too_long && dims(&candidate) > fewest {
                let why = "not tried, as another one takes too many integer-set operations, and this one is no simpler";
                search.candidates[chosen].refused = Some(why.to_string());
                queue.push_back(chosen);
                continue;
            }
            let has_simple = taken.is_some() || !is_put_off && chosen < last_of_fewest;
            search.chosen = chosen;
            let parts = kernel.split(&candidate.cuts).map_err(AnalysisError::from)?;
            // What was to be found is there.
            let parts = Kernel { finds_schedule: false, ..parts };
            if !candidate.cuts.is_empty() {
                parts.verify()?;
            }
            let most_operations = has_simple.then_some(CANDIDATE_QUOTA);
            match request(parts.and_schedule(candidate.schedule)?, search.clone(), most_operations) {
                Err(Error::Illegal(illegal)) if is_of_order(&illegal) => {
                    debug!("candidate `{}` is dropped: {illegal}", candidate.shape);
                    search.candidates[chosen].refused = Some(illegal.to_string());
                    if illegal.is_of_every_schedule() {
                        advice = "";
                    }
                }
                // Another one may have simpler loops, fewer of them, or such that are known to stay inside their storage.
                Err(Error::Lower(loops)) if !matches!(loops, LowerError::Analysis(_)) => {
                    debug!("candidate `{}` is dropped: {loops}", candidate.shape);
                    search.candidates[chosen].refused = Some(loops.to_string());
                }
                Err(error) if has_simple && error.spent_quota().is_some() => {
                    debug!("candidate `{}` is put off: {error}", candidate.shape);
                    search.candidates[chosen].refused = Some(error.to_string());
                    took_too_long = true;
                    queue.push_back(chosen);
                }
                // There is a plan, whatever keeps another one from being made.
                Err(error) if taken.is_some() => search.candidates[chosen].refused = Some(error.to_string()),
                // A statement's time comes from the cell that it writes: no candidate would order the two.
                Err(Error::Illegal(IllegalSchedule::UnorderedWrites { array, .. })) => return several_values(array),
                Err(error) => return Err(error),
                Ok(Err(NotTaken::SeveralValues(array))) => return several_values(array),
                Ok(Err(NotTaken::Worse(why))) => {
                    debug!("candidate `{}` is put off: {why}", candidate.shape);
                    search.candidates[chosen].refused = Some(why);
                    queue.push_back(chosen);
                }
                Ok(Ok(Looked { bytes, plan })) => {
                    search.candidates[chosen].found_bytes = bytes;
                    let cost = search.candidates[chosen].cost_as_found();
                    taken = Some(Taken::cheaper(taken, Taken { at: chosen, plan, cost, looked_at: 0 }, &mut search));
                    if wanted != Wanted::Cheapest {
                        break;
                    }
                }
            }
        }
        if let Some(Taken { at, plan, .. }) = taken {
            search.chosen = at;
            return Ok((search, plan));
        }
        let refused = search.candidates.get_mut(first).and_then(|one| one.refused.take()).unwrap_or_default();
        Err(none(format!("of {} candidates none can be taken; {refused}{advice}", search.candidates.len())).into())
    }

    /// The candidate that was taken.
    pub fn taken(&self) -> &ScheduleCandidate {
        &self.candidates[self.chosen]
    }
}

impl Wanted {
    fn first(self) -> usize {
        if let Wanted::From(first) = self { first } else { 0 }
    }
}

/// The cheapest candidate that was looked at and can be taken.
struct Taken<T> {
    at: usize,
    plan: T,
    /// With the storage that was found.
    cost: f64,
    /// How many were looked at in place of the first one.
    looked_at: usize,
}

impl<T> Taken<T> {
    /// Whether the next candidate is to be looked at in its place.
    fn gives_way_to(&self, next: &ScheduleCandidate) -> bool {
        // What was put off is no better than it was.
        self.looked_at < MOST_IN_ITS_PLACE && next.refused.is_none() && next.cost() < WORTH_A_LOOK * self.cost
    }

    /// The cheaper of the one that was taken and another one; the search says why the other of the two is not.
    fn cheaper(taken: Option<Taken<T>>, other: Taken<T>, search: &mut ScheduleSearch) -> Taken<T> {
        let Some(taken) = taken else { return other };
        let looked_at = taken.looked_at + 1;
        let (cheaper, left) = if other.cost < taken.cost { (other, taken.at) } else { (taken, other.at) };
        let left = &mut search.candidates[left];
        let times = left.found_bytes.unwrap_or(left.estimated_bytes) / left.estimated_bytes.max(1.0);
        let why = format!("its storage takes {times:.2} times what was estimated");
        debug!("candidate `{}` is not taken: {why}", left.shape);
        left.refused = Some(why);
        Taken { looked_at, ..cheaper }
    }
}

impl ScheduleCandidate {
    /// What candidates are ranked by.
    pub(crate) fn cost(&self) -> f64 {
        Estimate { nanoseconds: self.estimated_ns, bytes: self.estimated_bytes }.cost()
    }

    /// The same with the storage that was found, where that is not what was estimated.
    fn cost_as_found(&self) -> f64 {
        let lost = self.found_bytes.filter(|found| *found > LOST_FOLD * self.estimated_bytes);
        Estimate { nanoseconds: self.estimated_ns, bytes: lost.unwrap_or(self.estimated_bytes) }.cost()
    }

    fn of(kernel: &Kernel, sizes: &[i64], candidate: &Candidate) -> Result<ScheduleCandidate, AffineOverflow> {
        let text = match candidate.cuts.as_slice() {
            [] => ScheduleText(kernel, &candidate.schedule).to_string(),
            cuts => ScheduleText(&kernel.split(cuts)?, &candidate.schedule).to_string(),
        };
        Ok(ScheduleCandidate {
            shape: candidate.shape.clone(),
            estimated_ns: candidate.estimate.nanoseconds,
            estimated_bytes: candidate.estimate.bytes,
            text,
            only_for: candidate.is_of_sizes.then(|| sizes_text(kernel, sizes)),
            cuts: candidate.cuts.clone(),
            found_bytes: None,
            refused: None,
            measured_seconds: None,
        })
    }
}

/// Values of all parameters, in a run of many steps.
pub(crate) fn many_steps(kernel: &Kernel, sizes: &[i64]) -> Vec<i64> {
    let mut sizes = sizes.iter().copied();
    let value = |kind| if kind == ParamKind::Size { sizes.next().unwrap_or(1) } else { MANY_STEPS };
    kernel.params().iter().map(|param| param.kind).map(value).collect()
}

/// Two statements of which each instance reads what the same one of the other writes: nothing orders them. Only those
/// that the text shows at once are found: with equal domains, equal indices, and one value a cell.
fn need_each_other(kernel: &Kernel) -> Option<String> {
    let feeds = |from: &Stmt, to: &Stmt| {
        let is_only_writer =
            |array| kernel.stmts().iter().flat_map(|s| &s.assigns).filter(|a| a.array == array).count() == 1;
        from.assigns.iter().any(|assign| {
            let is_read = || to.reads().any(|(array, index)| (array, index) == (assign.array, assign.index.as_slice()));
            kernel.array(assign.array).live_in.is_none() && is_only_writer(assign.array) && is_read()
        })
    };
    let pairs =
        kernel.stmts().iter().enumerate().flat_map(|(at, one)| kernel.stmts()[at + 1..].iter().map(move |b| (one, b)));
    let alike = pairs.filter(|(a, b)| a.iters.len() == b.iters.len() && a.domain == b.domain);
    let (a, b) = alike.into_iter().find(|(a, b)| feeds(a, b) && feeds(b, a))?;
    Some(format!("each of `{}` and `{}` reads what the other writes, {NONE_IS_LEGAL}", a.name, b.name))
}

/// Whether another schedule might be legal.
fn is_of_order(illegal: &IllegalSchedule) -> bool {
    matches!(illegal, IllegalSchedule::ReadBeforeWrite { .. } | IllegalSchedule::NeverWritten { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAT: &str = "kernel heat(size N; run T) for N >= 3 {
        state u[t, y, x]: f64 for 0 <= y, x < N
        S[t, y, x] for 1 <= t <= T and 1 <= y, x < N-1 {
          u[t,y,x] = u[t-1,y,x] + 0.1 * (u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1]) }
        E[t, y, x] for 1 <= t <= T and 0 <= y, x < N and (y = 0 or y = N-1 or x = 0 or x = N-1) {
          u[t,y,x] = u[t-1,y,x] } }";

    /// Of a candidate that was tried, how many dimensions of time it has, and the limit of its operations.
    type Tried = (usize, Option<u64>);

    /// Asks for a schedule of a stencil on a square, of which candidates fail as `fails` says.
    fn searched(fails: impl Fn(usize, Option<u64>) -> Option<Error>) -> (Result<ScheduleSearch, Error>, Vec<Tried>) {
        let kernel = Kernel::parse(HEAT).unwrap();
        let machine = MachineModel::detect().caches(1 << 20, 16 << 20);
        let tried = std::cell::RefCell::new(Vec::new());
        let found = ScheduleSearch::run(&kernel, &[4000], machine, 2, Wanted::Cheapest, |kernel, _, limit| {
            let schedule = kernel.schedules().last().expect("the candidate is the last one");
            let dims = schedule.dims.len();
            tried.borrow_mut().push((dims, limit));
            fails(dims, limit).map_or(Ok(Ok(Looked { bytes: None, plan: () })), Err)
        });
        (found.map(|(search, ())| search), tried.into_inner())
    }

    #[test]
    fn candidates_that_lose_their_lanes_give_way_to_simple_ones() {
        let text = "kernel sums(size N) for N >= 3 {
            input a[y, x]: f64 for 0 <= y, x < N
            output b[y, x]: f64 for 0 <= y, x < N
            S[y, x] for 0 <= y, x < N { b[y,x] = a[y,x] } }";
        let kernel = Kernel::parse(text).unwrap();
        let machine = MachineModel::detect().caches(1 << 20, 16 << 20);
        let found = ScheduleSearch::run(&kernel, &[4000], machine, 2, Wanted::Cheapest, |_, _, limit| {
            let has_simple = limit.is_some();
            Ok(if has_simple {
                Err(NotTaken::Worse("lanes".to_string()))
            } else {
                Ok(Looked { bytes: None, plan: () })
            })
        });
        let (search, ()) = found.unwrap();
        let before = &search.candidates[..search.chosen];
        assert!(!before.is_empty() && before.iter().all(|one| one.refused.as_deref() == Some("lanes")), "{search:#?}");
        assert_eq!(search.taken().refused, None);
    }

    fn takes_too_long(limit: u64) -> Error {
        AnalysisError::Quota { stage: "lifetimes", limit }.into()
    }

    /// The search for a schedule of a stencil on a square where storage takes `times` its estimate, and who was looked at.
    fn with_storage(wanted: Wanted, times: impl Fn(usize) -> f64) -> (ScheduleSearch, Vec<usize>) {
        let kernel = Kernel::parse(HEAT).unwrap();
        let machine = MachineModel::detect().caches(1 << 20, 16 << 20);
        let looked_at = std::cell::RefCell::new(Vec::new());
        let found = ScheduleSearch::run(&kernel, &[4000], machine, 2, wanted, |_, search, _| {
            looked_at.borrow_mut().push(search.chosen);
            let bytes = Some(times(search.chosen) * search.taken().estimated_bytes);
            Ok(Ok(Looked { bytes, plan: search.chosen }))
        });
        let (search, plan) = found.unwrap();
        assert_eq!(search.chosen, plan, "the plan is that of the candidate that is taken");
        (search, looked_at.into_inner())
    }

    #[test]
    fn candidates_whose_storage_is_larger_give_way_to_those_that_are_cheaper_then() {
        let (search, looked_at) = with_storage(Wanted::Cheapest, |at| if at == 0 { 4.0 } else { 1.0 });
        assert_eq!((search.chosen, looked_at), (1, vec![0, 1]));
        let first = &search.candidates[0];
        assert_eq!(first.found_bytes, Some(4.0 * first.estimated_bytes));
        assert_eq!(first.refused.as_deref(), Some("its storage takes 4.00 times what was estimated"));
        // One that is no better than thought either.
        let (search, looked_at) = with_storage(Wanted::Cheapest, |at| if at < 2 { 16.0 } else { 1.0 });
        assert_eq!((search.chosen, looked_at), (2, vec![0, 1, 2]));
        // All are alike: no more are looked at than two.
        let (search, looked_at) = with_storage(Wanted::Cheapest, |_| 16.0);
        assert_eq!((search.chosen, looked_at.len()), (0, 1 + MOST_IN_ITS_PLACE));
        assert!(search.candidates.len() > looked_at.len());
        assert_eq!(search.candidates[1].refused.as_deref(), Some("its storage takes 16.00 times what was estimated"));
    }

    #[test]
    fn others_are_not_looked_at_where_they_could_not_be_cheaper_or_one_is_wanted() {
        assert_eq!(with_storage(Wanted::Cheapest, |_| LOST_FOLD).1, [0]);
        assert_eq!(with_storage(Wanted::Cheapest, |_| 0.5).1, [0]);
        assert_eq!(with_storage(Wanted::From(1), |_| 16.0).1, [1]);
    }

    #[test]
    fn candidates_that_take_too_long_give_way_to_simple_ones() {
        let (found, tried) = searched(|_, limit| limit.map(takes_too_long));
        let search = found.unwrap();
        let fewest = tried.iter().map(|(dims, _)| *dims).min().unwrap();
        // Tiles first, then nothing but rows, of which the last one may take as long as it takes.
        assert!(tried.len() > 2 && tried[0].0 > fewest, "{tried:?}");
        assert!(tried[1..].iter().all(|(dims, _)| *dims == fewest), "{tried:?}");
        assert_eq!(tried.iter().filter(|(_, limit)| limit.is_none()).count(), 1, "{tried:?}");
        assert_eq!(tried.last().unwrap().1, None);
        let refused = |at: usize| search.candidates[at].refused.clone().unwrap_or_default();
        assert!(refused(0).starts_with("stage `lifetimes` takes more than 4000000"), "{}", refused(0));
        assert!((1..search.chosen).all(|at| !refused(at).is_empty()));
        assert!(search.candidates[1..].iter().any(|one| one.refused.iter().any(|why| why.starts_with("not tried"))));
    }

    #[test]
    fn candidates_that_were_put_off_are_tried_without_limit_where_no_simple_one_can_be_taken() {
        let loops = |schedule: &str| LowerError::Loops { schedule: schedule.to_string(), reason: String::new() };
        let (found, tried) = searched(|dims, limit| match (dims > 3, limit) {
            (true, None) => None,
            (true, Some(limit)) => Some(takes_too_long(limit)),
            (false, _) => Some(loops("rows").into()),
        });
        let search = found.unwrap();
        assert_eq!((search.chosen, &search.taken().refused), (0, &None));
        assert_eq!(tried.last(), Some(&(tried[0].0, None)));
        assert!(tried.len() > 2 && tried[1..tried.len() - 1].iter().all(|(dims, _)| *dims <= 3), "{tried:?}");
    }

    #[test]
    fn the_last_one_says_why_it_has_no_plan() {
        let (found, _) = searched(|_, limit| Some(takes_too_long(limit.unwrap_or(7))));
        assert_eq!(
            found.unwrap_err().to_string(),
            "stage `lifetimes` takes more than 7 integer-set operations, its quota; a larger one \
             (`PlanBuilder::operation_quota`), smaller tiles or simpler domains may help"
        );
    }
}

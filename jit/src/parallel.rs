//! Parallel loops: the threads of a call, and the function that compiled code calls to spread a loop over them.
//!
//! Unsafe, because iterations are compiled code behind an address, called from several threads with pointers that only
//! the caller knows to be valid.
//!
//! Iterations of a parallel loop touch no cell that another one writes, so results do not depend on the number of
//! threads or on which of them runs what. A barrier follows every loop, but fronts on threads of our own: of these
//! several are open, and each iteration waits for those that it needs (`jit/src/fronts.rs`).
//!
//! The exception are buffers with a copy per worker: an iteration writes the copy of the worker it runs on. A worker
//! has a number below the number of threads, of the pool whose loop it is and of no other, and runs an iteration to its
//! end before it begins another: nothing inside an iteration waits, as loops inside it are sequential, so nothing can
//! be stolen in between. Calls that run at the same time, on the same threads or on others, have been given buffers
//! that do not overlap, by Rust's borrows: their copies are different ones.
//!
//! On threads of our own, one call at a time leads their team (`jit/src/team.rs`) and runs on the thread that calls;
//! other calls, and those on a pool of the caller's, hand each loop to the pool.
//!
//! A thread that waits for the end of a loop in a pool takes up other work of its pool, which may be anybody's. Until
//! it goes on, it treats denormal numbers as it did before the call. A panic in such work stays in the job that it
//! belongs to.
#![allow(unsafe_code)]

use crate::affinity::{Affinity, Places, UntilDone, settle};
use crate::denormals::{Denormals, Mode};
use crate::frame::Slot;
use crate::fronts::{Head, Walk};
use crate::knobs::RUNS_PER_THREAD;
use crate::load::{Load, Recorder};
use crate::loop_body::{Front, LoopBody, Shared};
use crate::team::{Inside, Opened, Team};
use crate::workers::{Hosted, PoolError, Workers};
use rayon::ThreadPool;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

/// The degree of parallelism, and the threads to go with it; clones share them.
#[derive(Clone, Debug)]
pub struct Pool {
    /// None for one thread: loops then run on the caller's.
    workers: Option<Arc<Workers>>,
    denormals: Denormals,
    /// Where workers stay.
    places: Option<Places>,
    /// What its calls did, if that is asked for.
    recorder: Option<Arc<Recorder>>,
}

impl Pool {
    /// A pool of `threads` threads; with one, loops run on the calling thread. All pools of this many threads in this
    /// process share theirs, which end with the last of these pools.
    ///
    /// # Errors
    /// [`PoolError::NoThreads`] for 0, [`PoolError::TooMany`] above [`most_threads`](crate::most_threads),
    /// [`PoolError::Start`] if the system has no more threads to give.
    pub fn new(threads: usize) -> Result<Self, PoolError> {
        if threads == 1 {
            return Ok(Self::sequential());
        }
        Ok(Pool { workers: Some(Workers::ours(threads)?), ..Self::sequential() })
    }

    /// The threads of a pool of the caller's, whatever else it does.
    pub fn of(pool: &Arc<ThreadPool>) -> Self {
        Pool { workers: Some(Workers::of(pool)), ..Self::sequential() }
    }

    /// A pool of the calling thread alone.
    pub fn sequential() -> Self {
        Pool { workers: None, denormals: Denormals::AsFound, places: None, recorder: None }
    }

    /// The same threads with another choice of what they do with denormal numbers, while they run compiled code. What
    /// they do otherwise, and the calling thread too, stays as it is.
    ///
    /// # Errors
    /// [`PoolError::Denormals`] if that is not supported here.
    pub fn with_denormals(self, denormals: Denormals) -> Result<Self, PoolError> {
        denormals.verify()?;
        Ok(Pool { denormals, ..self })
    }

    /// The same threads, which stay on cores of their own while they run compiled code or copy, if that is asked for
    /// and they are not the caller's.
    ///
    /// # Errors
    /// [`PoolError::Affinity`] if the system does not tell which cores there are.
    pub fn with_affinity(self, affinity: Affinity) -> Result<Self, PoolError> {
        let places =
            if self.workers.as_ref().is_some_and(|workers| workers.are_ours()) { affinity.places()? } else { None };
        Ok(Pool { places, ..self })
    }

    /// The same threads, for one run, which record what they do in its calls; [`Self::take_load`] tells.
    pub fn recording(self) -> Self {
        let recorder = Some(Arc::new(Recorder::new(self.threads())));
        Pool { recorder, ..self }
    }

    /// What the threads did since this was asked for the last time; none if that is not recorded.
    pub fn take_load(&self) -> Option<Load> {
        self.recorder.as_ref().map(|recorder| recorder.take())
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.workers.as_ref().map_or(1, |workers| workers.count())
    }

    /// Calls `run(at)` once for every `at` below `runs`, on the threads of the pool as a call's loops are; returns when
    /// all have returned.
    pub fn for_each(&self, runs: usize, run: impl Fn(usize) + Sync) {
        let last = runs as i64;
        // Of what calls do, nothing is told here.
        let pool = Pool { recorder: None, ..self.clone() };
        pool.enter(|entered| entered.for_runs(0, last, 1, |_, lo, hi| (lo..hi).for_each(|at| run(at as usize))));
    }

    /// Runs a call whose loops are all sequential, on the current thread.
    pub(crate) fn enter_alone<R>(&self, work: impl FnOnce(&Entered<'_>) -> R) -> R {
        self.recorded(|recorder| Entered::enter((None, None), recorder, (self.denormals.mode(), None), work))
    }

    /// Does something with the recorder, if there is one, as a call of its own.
    fn recorded<R>(&self, work: impl FnOnce(Option<&Recorder>) -> R) -> R {
        match self.recorder.as_deref() {
            None => work(None),
            Some(recorder) => recorder.call(|| work(Some(recorder))),
        }
    }

    /// Runs a call with parallel loops, if possible on one of the pool's threads, so that the loops in it need not wake
    /// the pool each time.
    pub(crate) fn enter<R: Send>(&self, work: impl FnOnce(&Entered<'_>) -> R + Send) -> R {
        let Some(workers) = self.workers.as_deref() else { return self.enter_alone(work) };
        // What the calling thread does with denormal numbers holds on all that take part.
        let mode = (self.denormals.mode(), self.places.as_ref());
        self.recorded(|recorder| match (workers.host(), workers.team()) {
            (lead @ Some(_), Some(_)) => Entered::enter((Some(workers), lead), recorder, mode, work),
            (Some(_until_done), None) => {
                workers.install(|| Entered::enter((Some(workers), None), recorder, mode, work))
            }
            (None, team) => {
                let _without = team.map(Team::without);
                Entered::enter((Some(workers), None), recorder, mode, work)
            }
        })
    }
}

/// A pool while one call runs: what its parallel loops need.
pub(crate) struct Entered<'p> {
    /// A loop of fronts that has begun. Ended before `lead` is given up.
    fronts: RefCell<Option<OpenFronts<'p>>>,
    /// Until the call ends, it and no other one leads the team of the workers.
    lead: Option<Hosted<'p>>,
    /// None for one thread.
    workers: Option<&'p Workers>,
    /// What is told of its loops.
    recorder: Option<&'p Recorder>,
    /// What compiled code does with denormal numbers.
    mode: Mode,
    /// What the thread of the main function did before, and does while it waits.
    outside: Mode,
    /// Where workers stay.
    places: Option<&'p Places>,
}

impl<'p> Entered<'p> {
    /// Runs the main function of a call on the current thread.
    fn enter<R>(
        (workers, lead): (Option<&'p Workers>, Option<Hosted<'p>>),
        recorder: Option<&'p Recorder>,
        (mode, places): (Mode, Option<&'p Places>),
        work: impl FnOnce(&Entered<'p>) -> R,
    ) -> R {
        let until_done = mode.enter();
        let _let_go = UntilDone;
        let (outside, fronts) = (until_done.found(), RefCell::default());
        work(&Entered { fronts, lead, workers, recorder, mode, outside, places })
    }

    /// Calls `run(worker, lo, hi)` for contiguous runs that together are `lo..hi step step`; returns when all have
    /// returned. At any time at most one call runs for a worker; workers are numbered from 0 to below the threads.
    fn for_runs(&self, lo: i64, hi: i64, step: i64, run: impl Fn(usize, i64, i64) + Sync) {
        if lo >= hi {
            return;
        }
        let iterations = hi.abs_diff(lo).div_ceil(step.unsigned_abs().max(1));
        match self.recorder {
            None => self.spread((lo, hi, step), iterations, run),
            Some(recorder) => recorder.parallel_loop(iterations, |number| {
                let run = |worker, lo, hi| recorder.run(worker, number, (lo, hi), || run(worker, lo, hi));
                self.spread((lo, hi, step), iterations, run);
            }),
        }
    }

    /// The team that this call leads, if there is one and nobody else wants its threads.
    fn team(&self) -> Option<&'p Arc<Team>> {
        self.workers?.team().filter(|team| self.lead.is_some() && !team.is_in_the_way())
    }

    /// Runs the iterations of a front, now or until [`Self::end_fronts`]; what they need beside the front's number is
    /// copied.
    ///
    /// # Safety
    /// As for [`parallel_for`]; `captured` is the length of the environment.
    unsafe fn front(&self, shared: Shared, captured: usize, head: Head) {
        if head.lo >= head.hi {
            return;
        }
        let mut fronts = self.fronts.borrow_mut();
        if fronts.is_none() {
            // What is alone waits for nobody, and nobody for it.
            let team = self.team().filter(|_| head.hi.abs_diff(head.lo) > 1);
            let Some((team, workers)) = team.zip(self.workers) else {
                drop(fronts);
                return self.for_runs(head.lo, head.hi, 1, |worker, lo, hi| {
                    // SAFETY: as in `parallel_for`.
                    unsafe { shared.run(worker, lo, hi) }
                });
            };
            settle(self.places, 0);
            let helping = Helping { team, recorder: self.recorder, mode: self.mode, places: self.places };
            // SAFETY: this call leads, and nothing else is open.
            *fronts = Some(unsafe { OpenFronts::begin(helping, workers.threads()) });
        }
        let Some(OpenFronts { helping, leader, .. }) = fronts.as_mut() else { return };
        let number = self.recorder.map_or(0, Recorder::front);
        // SAFETY: the caller's.
        let fill = |front: &mut Front| unsafe { front.fill(shared, captured, number) };
        // SAFETY: this call leads.
        unsafe {
            helping.team.fronts.open(leader, head, fill, &|front, worker, lo, hi| helping.run(front, worker, (lo, hi)))
        };
    }

    /// Returns when all fronts have ended.
    fn end_fronts(&self) {
        if let Some(mut open) = self.fronts.take() {
            let OpenFronts { helping, leader, begun, .. } = &mut open;
            helping.team.fronts.end(leader, &|front, worker, lo, hi| helping.run(front, worker, (lo, hi)));
            if let Some(recorder) = self.recorder {
                recorder.fronts_took(begun.elapsed());
            }
        }
    }

    /// The same, of at least one iteration; there are this many.
    fn spread(&self, (lo, hi, step): (i64, i64, i64), iterations: u64, run: impl Fn(usize, i64, i64) + Sync) {
        // The main function is on the current thread, in the right mode.
        let Some(workers) = self.workers else { return run(0, lo, hi) };
        let team = self.team();
        if iterations == 1
            && let Some(worker) = if team.is_some() { Some(0) } else { workers.current() }
        {
            // Nobody else has anything to do: the leader of a team is worker 0, a thread of the pool is itself.
            return run(worker, lo, hi);
        }
        let runs = iterations.min((workers.count() as u64).saturating_mul(RUNS_PER_THREAD));
        // Iteration counts may exceed 64 bits when multiplied by a run's number.
        let first = |at: u64| (u128::from(iterations) * u128::from(at) / u128::from(runs)) as i64;
        let bound = |at: u64| if at == runs { hi } else { lo + first(at) * step };
        let (mode, places) = (self.mode, self.places);
        let run = |worker, at| {
            let _until_done = mode.enter();
            settle(places, worker);
            run(worker, bound(at), bound(at + 1));
        };
        if let Some(team) = team {
            // SAFETY: this call is the one that is hosted, and its loops follow one after the other: a body has no
            // parallel loop in it.
            return unsafe { team.lead(workers.threads(), runs, &run) };
        }
        let run = |at| run(workers.current().expect("the pool's own threads run its loops"), at);
        let _while_waiting = self.outside.enter();
        workers.install(|| (0..runs).into_par_iter().for_each(run));
    }
}

/// A loop of fronts that has begun.
struct OpenFronts<'p> {
    /// Closed and left by all when it is dropped, before what follows.
    _opened: Opened<'p>,
    helping: Box<Helping<'p>>,
    /// Where the leader is.
    leader: Walk,
    begun: Instant,
}

impl<'p> OpenFronts<'p> {
    /// Lets helpers in.
    ///
    /// # Safety
    /// The current thread leads the team, and nothing is open there until this is dropped.
    unsafe fn begin(helping: Helping<'p>, threads: &'p ThreadPool) -> OpenFronts<'p> {
        let (team, helping) = (helping.team, Box::new(helping));
        let leader = team.fronts.begin();
        // SAFETY: it stays where it is until `_opened` is dropped, which is done first.
        let inside: &'p Helping<'p> = unsafe { &*std::ptr::from_ref(&*helping) };
        // SAFETY: the caller's.
        let opened = unsafe { team.open(threads, inside) };
        OpenFronts { _opened: opened, helping, leader, begun: Instant::now() }
    }
}

/// What workers need to help with fronts.
struct Helping<'p> {
    team: &'p Arc<Team>,
    recorder: Option<&'p Recorder>,
    mode: Mode,
    places: Option<&'p Places>,
}

impl Inside for Helping<'_> {
    fn work(&self, worker: usize) {
        let _until_done = self.mode.enter();
        settle(self.places, worker);
        let gives_way = || self.team.is_in_the_way();
        self.team.fronts.help(worker, gives_way, &|front, worker, lo, hi| self.run(front, worker, (lo, hi)));
    }
}

impl Helping<'_> {
    /// Runs iterations of a front.
    fn run(&self, front: &Front, worker: usize, (lo, hi): (i64, i64)) {
        // SAFETY: the front's frame lives until all fronts have ended; workers are numbered below the threads, and run
        // one after the other what they have taken.
        let run = || unsafe { front.run(worker, lo, hi) };
        match self.recorder {
            None => run(),
            Some(recorder) => recorder.run(worker, front.number, (lo, hi), run),
        }
    }
}

/// Runs the iterations `lo..hi step step` of a parallel loop. Called by compiled code; does not unwind into it, as
/// nothing in a body panics.
///
/// # Safety
/// `entered` is what this call of compiled code was started with; `body` is a loop body of the same program, to which
/// `frame` and `environment` belong.
pub(crate) unsafe extern "C" fn parallel_for(
    entered: *const Entered<'_>,
    body: LoopBody,
    frame: *const Slot,
    environment: *const i64,
    lo: i64,
    hi: i64,
    step: i64,
) {
    // SAFETY: `Compiled::run` keeps it for as long as its code runs.
    let entered = unsafe { &*entered };
    let shared = Shared { body, frame, environment };
    let shared = &shared;
    entered.for_runs(lo, hi, step, |worker, lo, hi| {
        // SAFETY: the fields are this call's, and `for_runs` returns only when every run has; it numbers workers below
        // its threads, for each of which `Compiled::run` has seen a copy, and gives a worker one run at a time.
        unsafe { shared.run(worker, lo, hi) }
    });
}

/// Runs the iterations `lo..hi` of a front, which may go on until [`end_fronts`] is called. An iteration begins when
/// those from `behind` below it to `ahead` above it of the `open - 1` fronts before have ended, and all before. Called
/// by compiled code.
///
/// # Safety
/// As for [`parallel_for`], but for the environment, of which the first `captured` numbers are copied.
pub(crate) unsafe extern "C" fn front_for(
    entered: *const Entered<'_>,
    body: LoopBody,
    frame: *const Slot,
    environment: *const i64,
    captured: usize,
    lo: i64,
    hi: i64,
    open: u64,
    behind: i64,
    ahead: i64,
) {
    // SAFETY: `Compiled::run` keeps it for as long as its code runs.
    let entered = unsafe { &*entered };
    // SAFETY: the caller's.
    unsafe { entered.front(Shared { body, frame, environment }, captured, Head { lo, hi, open, behind, ahead }) };
}

/// Returns when all fronts have ended. Called by compiled code.
///
/// # Safety
/// `entered` is what this call of compiled code was started with.
pub(crate) unsafe extern "C" fn end_fronts(entered: *const Entered<'_>) {
    // SAFETY: `Compiled::run` keeps it for as long as its code runs.
    unsafe { &*entered }.end_fronts();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

    fn borrowed(threads: usize) -> Arc<ThreadPool> {
        Arc::new(rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap())
    }

    fn iterations(threads: usize, lo: i64, hi: i64, step: i64) -> Vec<i64> {
        let seen = Mutex::new(Vec::new());
        let run = |_: usize, lo: i64, hi: i64| {
            let mut at = lo;
            while at < hi {
                seen.lock().unwrap().push(at);
                at += step;
            }
        };
        Pool::new(threads).unwrap().enter(|entered| entered.for_runs(lo, hi, step, run));
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        seen
    }

    #[test]
    fn runs_cover_every_iteration_once() {
        for threads in 1..4 {
            for (lo, hi, step) in [(0, 0, 1), (5, 4, 1), (-3, 40, 1), (-3, 40, 7), (0, 1, 9), (0, 14, 7)] {
                let expected: Vec<i64> = (lo..hi).step_by(step as usize).collect();
                assert_eq!(iterations(threads, lo, hi, step), expected, "{threads} threads, {lo}..{hi} step {step}");
            }
        }
    }

    /// Runs loops of a call; no worker of it may be found busy.
    fn verify_workers(pool: &Pool) {
        let busy: Vec<AtomicBool> = (0..pool.threads()).map(|_| AtomicBool::new(false)).collect();
        let run = |worker: usize, _: i64, _: i64| {
            assert!(!busy[worker].swap(true, Ordering::SeqCst), "worker {worker} runs twice");
            std::thread::yield_now();
            busy[worker].store(false, Ordering::SeqCst);
        };
        pool.enter(|entered| (0..20).for_each(|_| entered.for_runs(0, 200, 1, run)));
    }

    #[test]
    fn a_worker_has_a_number_below_the_threads_and_one_run_at_a_time() {
        for threads in 1..6 {
            verify_workers(&Pool::new(threads).unwrap());
            verify_workers(&Pool::of(&borrowed(threads)));
        }
    }

    #[test]
    fn calls_at_the_same_time_share_threads_and_nothing_else() {
        let borrowed = borrowed(3);
        let pools = [Pool::new(3).unwrap(), Pool::new(3).unwrap(), Pool::of(&borrowed), Pool::of(&borrowed)];
        std::thread::scope(|scope| {
            for pool in pools.iter().chain(&pools) {
                scope.spawn(|| verify_workers(pool));
            }
        });
    }

    #[test]
    fn many_calls_at_the_same_time_have_one_leader() {
        // A pool that has a team, where there are two cores.
        let pool = Pool::new(2).unwrap();
        let short_call = || {
            let done = AtomicI64::new(0);
            let run = |_: usize, lo: i64, hi: i64| _ = done.fetch_add(hi - lo, Ordering::SeqCst);
            pool.enter(|entered| (0..3).for_each(|_| entered.for_runs(0, 8, 1, run)));
            assert_eq!(done.into_inner(), 24);
        };
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| (0..2_000).for_each(|_| short_call()));
            }
        });
    }

    #[test]
    fn calls_from_inside_a_pool_run_on_the_pool_that_they_name() {
        let (outer, inner) = (borrowed(4), borrowed(2));
        // From the pool itself, from another one, and from several of its jobs at once.
        inner.install(|| verify_workers(&Pool::of(&inner)));
        outer.install(|| verify_workers(&Pool::of(&inner)));
        outer.install(|| verify_workers(&Pool::new(3).unwrap()));
        let pool = Pool::of(&outer);
        outer.install(|| (0..16).into_par_iter().for_each(|_| verify_workers(&pool)));
    }

    #[test]
    fn other_work_of_the_pool_may_panic_while_a_call_waits() {
        let pool = borrowed(2);
        let other = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let fail = |at: i32| assert!(at % 8 != 7, "not ours");
                let failed = |_: &usize| {
                    let jobs = || (0..64).into_par_iter().for_each(fail);
                    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pool.install(jobs))).is_err()
                };
                (0..50).filter(failed).count()
            });
            verify_workers(&Pool::of(&pool));
            other.join().unwrap()
        });
        assert_eq!(other, 50, "each panic arrives where it belongs");
        verify_workers(&Pool::of(&pool));
    }

    #[test]
    fn what_the_caller_does_with_denormals_holds_on_all_threads_and_nowhere_else() {
        let (flush, keep) = (Denormals::Flush.mode(), Mode::current());
        for pool in [Pool::sequential(), Pool::new(3).unwrap(), Pool::of(&borrowed(3))] {
            let flushing = pool.clone().with_denormals(Denormals::Flush).unwrap();
            let expect = |pool: &Pool, expected: Mode| {
                pool.enter(|entered| {
                    assert_eq!(Mode::current(), expected);
                    entered.for_runs(0, 50, 1, |_, _, _| assert_eq!(Mode::current(), expected));
                    assert_eq!(Mode::current(), expected);
                });
            };
            expect(&pool, keep);
            expect(&flushing, flush);
            let callers = flush.enter();
            expect(&pool, flush);
            drop(callers);
            expect(&pool, keep);
        }
    }

    #[test]
    fn what_a_waiting_thread_takes_up_has_the_mode_of_before_the_call() {
        let (pool, keep) = (borrowed(2), Mode::current());
        let found = Arc::new(Mutex::new(None));
        let both_run = std::sync::Barrier::new(2);
        Pool::of(&pool).with_denormals(Denormals::Flush).unwrap().enter(|entered| {
            let waiting = std::thread::current().id();
            entered.for_runs(0, 2, 1, |_, _, _| {
                both_run.wait();
                if std::thread::current().id() != waiting {
                    let note = Arc::clone(&found);
                    pool.spawn(move || *note.lock().unwrap() = Some(Mode::current()));
                    // This thread is busy, so the one that waits for it does it.
                    while found.lock().unwrap().is_none() {
                        std::thread::yield_now();
                    }
                }
            });
            assert_eq!(Mode::current(), Denormals::Flush.mode());
        });
        assert_eq!(*found.lock().unwrap(), Some(keep));
    }

    #[test]
    fn no_threads_is_an_error() {
        assert!(matches!(Pool::new(0), Err(PoolError::NoThreads)));
    }
}

//! The team of a call: threads that wait for its next loop instead of going to sleep after each.
//!
//! In: the loops of one call, one after the other.   Out: their runs, spread over whoever is there. A pool takes some
//! ten microseconds to wake for a loop; a thread that looks at one word takes a tenth of one. Tiles of time have a
//! loop for every few rows, so that this decides whether they are worth it.
//!
//! Unsafe, because a loop lives as long as its call and helpers longer: what they may touch when is below.
//!
//! The thread that calls is the leader and worker 0. Helpers are jobs of the pool, numbered from 1: each waits for a
//! loop to be opened, takes runs until there are none, and waits again, at first spinning, then giving way to others;
//! after some time without a loop it ends, and is called again when there is one. Nobody waits for a helper that is not
//! there, so that a pool that is busy otherwise costs speed and nothing else.
//!
//! One word holds how often a loop was opened, whether one is open, and how many helpers are inside. A helper enters by
//! counting itself in while the word says open; the leader closes the loop, waits until nobody is inside, and only then
//! returns or opens the next one. So what a loop refers to is only touched by helpers inside, and outlives them.
//!
//! Each worker has a share of the runs, the same ones in every loop of as many, so that rows that it has in its cache
//! come back to it. Who is done with its own takes from the others, but not at once: a row that changes hands is moved from
//! cache to cache, then and in the next loop, which takes longer than to wait for whoever is nearly done as well. Who has
//! waited for somebody in vain, as that thread may have lost its core, waits half as long in the next loop.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::thread::yield_now;
use std::time::{Duration, Instant};

use rayon::ThreadPool;

use crate::fronts::Fronts;
use crate::knobs::{HELPERS_LINGER, HELPERS_SPIN, OWNERS_FIRST};
use crate::loop_body::Front;

/// A helper in the team's word, which counts those inside in its lower half.
const ONE_INSIDE: u64 = 1;
/// The half of the word that counts helpers.
const INSIDE: u64 = (1 << 32) - 1;
/// The bit that says that helpers may enter.
const OPEN: u64 = 1 << 32;
/// A loop that was opened: the bits above count them.
const ONE_OPENING: u64 = 1 << 33;

/// Looks of a helper at the word between two at the clock.
const LOOKS: u32 = 64;
/// Pauses of a worker between two looks at the shares of others: each look holds up whoever is at work there.
const PAUSES: u32 = 4;

/// Threads that wait for the next loop of one call at a time.
#[derive(Debug)]
pub(crate) struct Team {
    word: AtomicU64,
    /// What helpers inside run.
    work: UnsafeCell<Option<Work>>,
    /// Per worker.
    shares: Vec<Share>,
    /// Per worker, whether it has been called and has not ended; the leader's is of no meaning.
    is_called: Vec<AtomicBool>,
    /// Calls that have no team and want the threads of the pool: helpers give way to them.
    others: AtomicUsize,
    /// Fronts of the present call.
    pub(crate) fronts: Fronts<Front>,
}

// SAFETY: `work` is written by the leader while no loop is open and nobody is inside, and read by helpers inside; there
// is one leader at a time (`Workers::host`). The word orders the two.
unsafe impl Sync for Team {}
// SAFETY: the addresses in `work` are followed only inside, when what they refer to is shared between threads already.
unsafe impl Send for Team {}

/// Runs of a loop that a worker takes first. On lines of their own: every run counts one up.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Share {
    next: AtomicU64,
    end: AtomicU64,
    /// In how many loops the worker has waited for others in vain since it last saw all runs taken.
    in_vain: AtomicU32,
}

/// What workers do while something is open.
pub(crate) trait Inside: Sync {
    /// On each of them once.
    fn work(&self, worker: usize);
}

/// The runs of a loop.
struct LoopRuns<'t, F> {
    team: &'t Team,
    run: &'t F,
}

impl<F: Fn(usize, u64) + Sync> Inside for LoopRuns<'_, F> {
    fn work(&self, worker: usize) {
        self.team.take_runs(worker, self.run);
    }
}

/// What each worker inside does, once: `call(what, worker)`.
#[derive(Clone, Copy, Debug)]
struct Work {
    what: *const (),
    call: unsafe fn(*const (), usize),
}

impl Team {
    /// Of this many workers, the leader included.
    pub(crate) fn new(workers: usize) -> Arc<Team> {
        Arc::new(Team {
            word: AtomicU64::new(0),
            work: UnsafeCell::new(None),
            shares: (0..workers).map(|_| Share::default()).collect(),
            is_called: (0..workers).map(|_| AtomicBool::new(false)).collect(),
            others: AtomicUsize::new(0),
            fronts: Fronts::new(workers),
        })
    }

    /// Says that a call has no team, until the guard is dropped.
    pub(crate) fn without(self: &Arc<Team>) -> Without {
        self.others.fetch_add(1, Ordering::Relaxed);
        Without(Arc::clone(self))
    }

    /// Whether helpers would take threads from other calls.
    pub(crate) fn is_in_the_way(&self) -> bool {
        self.others.load(Ordering::Relaxed) > 0
    }

    /// Calls `run(worker, at)` for every `at` below `runs`, on the current thread and on helpers; returns when all have
    /// returned. At any time at most one call runs for a worker.
    ///
    /// # Safety
    /// No other thread leads the team, nor does this one already.
    pub(crate) unsafe fn lead<F: Fn(usize, u64) + Sync>(self: &Arc<Team>, pool: &ThreadPool, runs: u64, run: &F) {
        let workers = self.shares.len() as u64;
        let first = |worker: u64| (u128::from(runs) * u128::from(worker) / u128::from(workers)) as u64;
        for (worker, share) in (0..).zip(&self.shares) {
            share.next.store(first(worker), Ordering::Relaxed);
            share.end.store(first(worker + 1), Ordering::Relaxed);
        }
        let loop_runs = LoopRuns { team: self, run };
        // SAFETY: the caller's; what is opened is closed before `loop_runs` ends.
        let _closed_at_the_end = unsafe { self.open(pool, &loop_runs) };
        loop_runs.work(0);
    }

    /// Lets helpers in, each of which calls [`Inside::work`] once, until what is returned is dropped: that waits until
    /// all have returned.
    ///
    /// # Safety
    /// No other thread leads the team, nor does this one already. What is returned is dropped, while `work` is alive.
    pub(crate) unsafe fn open<'t, W: Inside>(self: &'t Arc<Team>, pool: &ThreadPool, work: &'t W) -> Opened<'t> {
        /// # Safety
        /// `what` is a `W` that is shared with the current thread.
        unsafe fn call<W: Inside>(what: *const (), worker: usize) {
            // SAFETY: see above.
            let work = unsafe { &*what.cast::<W>() };
            work.work(worker);
        }
        self.call_helpers(pool);
        let work = Work { what: std::ptr::from_ref(work).cast(), call: call::<W> };
        // SAFETY: the last loop was closed and left by all (`Opened`), and nobody else leads.
        unsafe { *self.work.get() = Some(work) };
        let opened = self.word.load(Ordering::Relaxed) & !(OPEN | INSIDE);
        self.word.store(opened.wrapping_add(ONE_OPENING) | OPEN, Ordering::Release);
        Opened(self)
    }

    /// Calls the helpers that have ended.
    fn call_helpers(self: &Arc<Team>, pool: &ThreadPool) {
        for (helper, is_called) in self.is_called.iter().enumerate().skip(1) {
            if !is_called.load(Ordering::Relaxed) {
                is_called.store(true, Ordering::Relaxed);
                let team = Arc::clone(self);
                pool.spawn(move || team.help(helper));
            }
        }
    }

    /// A helper, until there is nothing to do for some time.
    fn help(&self, worker: usize) {
        let (mut last, mut idle_since, mut looks) = (0, Instant::now(), 0_u32);
        loop {
            let word = self.word.load(Ordering::Relaxed);
            if word & OPEN != 0 && word & !INSIDE != last && self.enter(word) {
                last = word & !INSIDE;
                let _left_at_the_end = Entrance(self);
                // SAFETY: this helper is inside.
                if let Some(work) = unsafe { *self.work.get() } {
                    // SAFETY: inside, what the leader gave is alive, and goes with its function.
                    unsafe { (work.call)(work.what, worker) };
                }
                (idle_since, looks) = (Instant::now(), 0);
                continue;
            }
            spin_loop();
            looks += 1;
            if looks.is_multiple_of(LOOKS) && !self.goes_on(idle_since.elapsed()) {
                break;
            }
        }
        self.is_called[worker].store(false, Ordering::Relaxed);
    }

    /// Whether a helper that has been idle for so long waits on.
    fn goes_on(&self, idle: Duration) -> bool {
        if idle >= HELPERS_SPIN {
            yield_now();
        }
        idle < HELPERS_LINGER && !self.is_in_the_way()
    }

    /// Counts a helper in, if the word is still this one, but for those inside.
    fn enter(&self, mut word: u64) -> bool {
        let opening = word & !INSIDE;
        loop {
            match self.word.compare_exchange_weak(word, word + ONE_INSIDE, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) if now & !INSIDE == opening => word = now,
                Err(_) => return false,
            }
        }
    }

    /// Runs of the worker's own share, then of those of the others.
    fn take_runs(&self, worker: usize, run: &impl Fn(usize, u64)) {
        let count = self.shares.len();
        self.take_share(worker, worker, run);
        if self.wait_for_owners(worker) {
            return;
        }
        for other in 1..count {
            self.take_share((worker + other) % count, worker, run);
        }
    }

    /// Runs of one share, on a worker.
    fn take_share(&self, share: usize, worker: usize, run: &impl Fn(usize, u64)) {
        let share = &self.shares[share];
        let end = share.end.load(Ordering::Relaxed);
        // A look before the count: what others have finished is not written to again.
        while share.next.load(Ordering::Relaxed) < end {
            let at = share.next.fetch_add(1, Ordering::Relaxed);
            if at < end {
                run(worker, at);
            }
        }
    }

    /// Waits until all runs are taken, for some microseconds; says whether they are.
    fn wait_for_owners(&self, worker: usize) -> bool {
        let is_taken = |share: &Share| share.next.load(Ordering::Relaxed) >= share.end.load(Ordering::Relaxed);
        let in_vain = &self.shares[worker].in_vain;
        let times = in_vain.load(Ordering::Relaxed);
        let (most, mut since) = (OWNERS_FIRST / 2_u32.saturating_pow(times), None);
        while !self.shares.iter().all(is_taken) {
            if since.get_or_insert_with(Instant::now).elapsed() >= most {
                in_vain.store(times.saturating_add(1), Ordering::Relaxed);
                return false;
            }
            (0..PAUSES).for_each(|_| spin_loop());
        }
        if times > 0 {
            in_vain.store(0, Ordering::Relaxed);
        }
        true
    }
}

/// An open loop: closed, and left by all, when it is dropped.
pub(crate) struct Opened<'t>(&'t Team);

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        self.0.word.fetch_and(!OPEN, Ordering::AcqRel);
        let mut looks = 0_u32;
        while self.0.word.load(Ordering::Acquire) & INSIDE != 0 {
            spin_loop();
            looks = looks.wrapping_add(1);
            // A helper inside may have lost its core to somebody else.
            if looks.is_multiple_of(16 * LOOKS) {
                yield_now();
            }
        }
    }
}

/// A helper inside a loop.
struct Entrance<'t>(&'t Team);

impl Drop for Entrance<'_> {
    fn drop(&mut self) {
        self.0.word.fetch_sub(ONE_INSIDE, Ordering::Release);
    }
}

/// A call that has no team.
pub(crate) struct Without(Arc<Team>);

impl Drop for Without {
    fn drop(&mut self) {
        self.0.others.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Leads loops of many sizes and returns how often each run was seen, by any worker.
    fn verify_loops(pool: &ThreadPool, team: &Arc<Team>, loops: u64) {
        for runs in (0..loops).map(|at| at % 23) {
            let seen: Vec<AtomicUsize> = (0..runs).map(|_| AtomicUsize::new(0)).collect();
            let busy: Vec<AtomicBool> = team.shares.iter().map(|_| AtomicBool::new(false)).collect();
            let run = |worker: usize, at: u64| {
                assert!(!busy[worker].swap(true, Ordering::SeqCst), "worker {worker} runs twice at a time");
                seen[at as usize].fetch_add(1, Ordering::SeqCst);
                busy[worker].store(false, Ordering::SeqCst);
            };
            // SAFETY: nobody else has this team.
            unsafe { team.lead(pool, runs, &run) };
            assert!(seen.iter().all(|count| count.load(Ordering::SeqCst) == 1));
        }
    }

    #[test]
    fn every_run_is_taken_once_and_ended_when_the_loop_is() {
        for workers in [1, 2, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build().unwrap();
            verify_loops(&pool, &Team::new(workers), 4_000);
        }
    }

    #[test]
    fn who_waits_in_vain_waits_shorter_until_all_runs_are_taken() {
        let team = Team::new(2);
        team.shares[1].end.store(1, Ordering::Relaxed);
        let in_vain = || team.shares[0].in_vain.load(Ordering::Relaxed);
        for times in 1..=40 {
            assert!(!team.wait_for_owners(0));
            assert_eq!(in_vain(), times);
        }
        team.shares[1].next.store(1, Ordering::Relaxed);
        assert!(team.wait_for_owners(0));
        assert_eq!(in_vain(), 0);
    }

    #[test]
    fn helpers_that_ended_are_called_again_and_a_busy_pool_is_not_waited_for() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let team = Team::new(2);
        verify_loops(&pool, &team, 10);
        std::thread::sleep(HELPERS_LINGER * 20);
        verify_loops(&pool, &team, 10);
        let (until, both) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        for _ in 0..2 {
            let (until, both) = (Arc::clone(&until), Arc::clone(&both));
            pool.spawn(move || {
                both.fetch_add(1, Ordering::SeqCst);
                while !until.load(Ordering::SeqCst) {
                    yield_now();
                }
            });
        }
        while both.load(Ordering::SeqCst) < 2 {
            yield_now();
        }
        verify_loops(&pool, &team, 100);
        until.store(true, Ordering::SeqCst);
    }

    #[test]
    fn helpers_give_way_to_calls_without_a_team() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let team = Team::new(2);
        let without = team.without();
        assert!(team.is_in_the_way());
        verify_loops(&pool, &team, 100);
        drop(without);
        assert!(!team.is_in_the_way());
    }
}

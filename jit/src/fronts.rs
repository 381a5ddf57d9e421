//! Fronts: parallel loops that follow each other without a barrier, each iteration waiting for those that it needs.
//!
//! In: fronts, one after the other, with what each needs of the ones before ([`crease_program::Needs`]).   Out: their
//! runs of iterations, spread over workers, each begun when what it needs has ended.
//!
//! Unsafe, because workers read what the leader writes into a slot: when they may is below.
//!
//! Up to [`MOST_OPEN_FRONTS`] fronts are open, each in a slot. The leader, worker 0, opens them and works on their runs
//! like all others; before it opens one, it works until all fronts have ended that may not be open with it. Each worker
//! has a share of the runs: of few iterations, less than two for each worker, those whose number is its own modulo the
//! number of workers, so that tiles that go on from front to front stay where their cells are; of many a part. It goes
//! through its shares front by front, and takes runs of the oldest front from others only when it has found nothing of
//! its own for some time, or when what it waits for has not been begun.
//!
//! A run begins when the runs of the fronts before that it needs are marked as done; which these are its front's head tells.
//! So the oldest front can always go on: what it needs has ended. Nobody waits for a worker that is not there, as others
//! take its runs when they are those of the oldest front.
//!
//! A share is one word: the number of its front, its next run and its end. A run is taken by counting up, by one or by
//! the number of workers, which fails if the slot has another front by now; whoever has taken a run may read the slot
//! until it marks the run as done, as the leader writes to it only when all are. Other fields are atomic: what is read of
//! a front that has ended meanwhile is not used, as its slot says that it has.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::thread::yield_now;

use crease_program::MOST_OPEN_FRONTS;

use crate::knobs::{LOOKS_BEFORE_TAKING, RUNS_PER_THREAD};

/// Fronts that have a slot.
const SLOTS: u64 = MOST_OPEN_FRONTS as u64;
/// Bits of a share for its next run, and as many for its end.
const RUN_BITS: u32 = 12;
/// Runs of a front, at most.
const MOST_RUNS: u64 = (1 << RUN_BITS) - 1;
/// Bits of a share for the number of its front: at a million fronts a second it comes again after twelve days.
const NUMBER: u64 = (1 << (u64::BITS - 2 * RUN_BITS)) - 1;
/// Looks between two at whether a thread should give way.
const LOOKS_BETWEEN_YIELDS: u32 = 1024;

/// What a front is, beside what it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// The first iteration.
    pub(crate) lo: i64,
    /// One past the last.
    pub(crate) hi: i64,
    /// How many fronts may be open with it.
    pub(crate) open: u64,
    /// How far below an iteration those lie that it needs of the fronts before.
    pub(crate) behind: i64,
    /// How far above.
    pub(crate) ahead: i64,
}

/// Fronts that are open, with what they run.
#[derive(Debug)]
pub(crate) struct Fronts<T> {
    slots: Vec<Slot<T>>,
    workers: u64,
    /// The number of the next front. On a line of its own, as all of these: workers look at them all the time.
    opened: Line<AtomicU64>,
    /// The first one of the present loop over fronts.
    first: AtomicU64,
    /// Whether that has ended.
    is_over: AtomicBool,
}

/// Two lines of a cache.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Line<V>(V);

/// A front that is open, or has been.
#[derive(Debug)]
struct Slot<T> {
    lo: AtomicI64,
    hi: AtomicI64,
    runs: AtomicU64,
    /// From a run of a share to the next one.
    apart: AtomicU64,
    behind: AtomicI64,
    ahead: AtomicI64,
    /// What it runs.
    content: UnsafeCell<T>,
    /// Per worker: the number of the front, the next run and the end.
    shares: Vec<Line<AtomicU64>>,
    /// Per run, one more than the number of the last front of which it is done.
    done: Vec<AtomicU64>,
    /// Runs that are not done.
    left: Line<AtomicU64>,
    /// One more than the number of the last front of which all are.
    ended: Line<AtomicU64>,
}

// SAFETY: the content of a slot is written by the leader while none of its runs is left, and read by whoever has taken
// a run and not marked it as done; shares, marks and what is left order the two. There is one leader at a time.
unsafe impl<T: Send + Sync> Sync for Fronts<T> {}

impl<T: Default> Fronts<T> {
    /// For this many workers.
    pub(crate) fn new(workers: usize) -> Fronts<T> {
        let most = most_runs(workers as u64);
        let slot = || Slot {
            lo: AtomicI64::new(0),
            hi: AtomicI64::new(0),
            runs: AtomicU64::new(0),
            apart: AtomicU64::new(1),
            behind: AtomicI64::new(0),
            ahead: AtomicI64::new(0),
            content: UnsafeCell::default(),
            shares: (0..workers).map(|_| Line::default()).collect(),
            done: (0..most).map(|_| AtomicU64::new(0)).collect(),
            left: Line::default(),
            ended: Line::default(),
        };
        Fronts {
            slots: (0..SLOTS).map(|_| slot()).collect(),
            workers: workers as u64,
            // Shares begin as those of front 0, which never is.
            opened: Line(AtomicU64::new(1)),
            first: AtomicU64::new(1),
            is_over: AtomicBool::new(true),
        }
    }
}

fn most_runs(workers: u64) -> u64 {
    workers.saturating_mul(RUNS_PER_THREAD).min(MOST_RUNS)
}

/// A worker on its way through the fronts of a loop.
pub(crate) struct Walk {
    worker: usize,
    /// The next front of which it has not taken all of its share.
    next: u64,
    /// How often it has found nothing to do since it did something.
    looks: u32,
}

impl<T> Fronts<T> {
    /// Begins a loop over fronts, on the leader's thread, while no other worker is inside.
    pub(crate) fn begin(&self) -> Walk {
        self.first.store(self.opened.0.load(Ordering::Relaxed), Ordering::Relaxed);
        self.is_over.store(false, Ordering::Relaxed);
        self.walk(0)
    }

    /// A worker that comes in.
    fn walk(&self, worker: usize) -> Walk {
        let opened = self.opened.0.load(Ordering::Acquire);
        let next = opened.saturating_sub(SLOTS).max(self.first.load(Ordering::Relaxed));
        Walk { worker, next, looks: 0 }
    }

    /// Opens a front of at least one iteration, as the leader: `fill` gives it what it runs.
    ///
    /// # Safety
    /// Nobody else leads.
    pub(crate) unsafe fn open(
        &self,
        leader: &mut Walk,
        head: Head,
        fill: impl FnOnce(&mut T),
        run: &impl Fn(&T, usize, i64, i64),
    ) {
        let number = self.opened.0.load(Ordering::Relaxed);
        let slot = self.slot(number);
        // Those before, of which the first one is not the last in its slot, but that has ended.
        let first = self.first.load(Ordering::Relaxed);
        let before = number.checked_sub(head.open.min(SLOTS)).filter(|before| *before >= first);
        while before
            .is_some_and(|before| (first.max(number.saturating_sub(SLOTS))..=before).any(|at| !self.has_ended(at)))
        {
            self.step(leader, run);
        }
        // SAFETY: no run of the slot is left, and nobody takes one before the shares say so.
        fill(unsafe { &mut *slot.content.get() });
        let iterations = head.hi.abs_diff(head.lo);
        let runs = iterations.min(most_runs(self.workers));
        slot.lo.store(head.lo, Ordering::Relaxed);
        slot.hi.store(head.hi, Ordering::Relaxed);
        slot.behind.store(head.behind, Ordering::Relaxed);
        slot.ahead.store(head.ahead, Ordering::Relaxed);
        slot.runs.store(runs, Ordering::Relaxed);
        let apart = if self.are_few(iterations) { self.workers } else { 1 };
        slot.apart.store(apart, Ordering::Relaxed);
        slot.left.0.store(runs, Ordering::Relaxed);
        for (worker, share) in (0..).zip(&slot.shares) {
            let (next, end) = self.share(worker, (head.lo, runs), iterations);
            let word = (number & NUMBER) << (2 * RUN_BITS) | next << RUN_BITS | end;
            share.0.store(word, Ordering::Release);
        }
        self.opened.0.store(number + 1, Ordering::Release);
    }

    /// The first run of a worker's share, and what all of them are below.
    fn share(&self, worker: u64, (lo, runs): (i64, u64), iterations: u64) -> (u64, u64) {
        if self.are_few(iterations) {
            let first = (i128::from(worker) - i128::from(lo)).rem_euclid(i128::from(self.workers));
            return (first as u64, runs);
        }
        (runs * worker / self.workers, runs * (worker + 1) / self.workers)
    }

    /// Whether iterations are shared out by their numbers. Each is a run of its own then, and its number, with that of the
    /// workers added, stays in the bits of a share.
    fn are_few(&self, iterations: u64) -> bool {
        iterations < 2 * self.workers && 3 * self.workers <= MOST_RUNS
    }

    /// Ends a loop over fronts, as the leader: returns when all runs have ended.
    pub(crate) fn end(&self, leader: &mut Walk, run: &impl Fn(&T, usize, i64, i64)) {
        while self.oldest().is_some() {
            self.step(leader, run);
        }
        self.is_over.store(true, Ordering::Release);
    }

    /// Works until the loop over fronts has ended, or `gives_way` says that others want the thread.
    pub(crate) fn help(&self, worker: usize, gives_way: impl Fn() -> bool, run: &impl Fn(&T, usize, i64, i64)) {
        let mut walk = self.walk(worker);
        while !self.is_over.load(Ordering::Acquire) {
            self.step(&mut walk, run);
            if walk.looks % LOOKS_BETWEEN_YIELDS == LOOKS_BETWEEN_YIELDS - 1 && gives_way() {
                break;
            }
        }
    }

    /// A run, if there is one for this worker, or a look.
    fn step(&self, walk: &mut Walk, run: &impl Fn(&T, usize, i64, i64)) {
        if walk.next < self.opened.0.load(Ordering::Acquire) {
            match self.take(walk.next, walk.worker) {
                Some(at) => {
                    self.perform(walk.next, at, walk.worker, run);
                    walk.looks = 0;
                }
                None => walk.next += 1,
            }
            return;
        }
        walk.looks = walk.looks.wrapping_add(1);
        if walk.looks >= LOOKS_BEFORE_TAKING && self.take_from_others(walk.worker, run) {
            walk.looks = 0;
            return;
        }
        pause(walk.looks);
    }

    /// Takes a run of a front from the share of a worker.
    fn take(&self, number: u64, worker: usize) -> Option<u64> {
        let slot = self.slot(number);
        let share = &slot.shares[worker].0;
        let mut word = share.load(Ordering::Acquire);
        // That of another front by now is not used: the word has changed then.
        let apart = slot.apart.load(Ordering::Relaxed);
        loop {
            let (next, end) = ((word >> RUN_BITS) & MOST_RUNS, word & MOST_RUNS);
            if word >> (2 * RUN_BITS) != number & NUMBER || next >= end {
                return None;
            }
            match share.compare_exchange_weak(word, word + (apart << RUN_BITS), Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(next),
                Err(now) => word = now,
            }
        }
    }

    /// Performs a run of the oldest front that nobody has begun; false if there is none.
    fn take_from_others(&self, worker: usize, run: &impl Fn(&T, usize, i64, i64)) -> bool {
        let Some(number) = self.oldest() else { return false };
        let taken = (0..self.workers as usize).find_map(|other| self.take(number, other));
        taken.is_some_and(|at| {
            self.perform(number, at, worker, run);
            true
        })
    }

    /// The oldest front that has not ended.
    fn oldest(&self) -> Option<u64> {
        let opened = self.opened.0.load(Ordering::Acquire);
        let first = opened.saturating_sub(SLOTS).max(self.first.load(Ordering::Relaxed));
        (first..opened).find(|number| !self.has_ended(*number))
    }

    fn has_ended(&self, number: u64) -> bool {
        self.slot(number).ended.0.load(Ordering::Acquire) > number
    }

    fn slot(&self, number: u64) -> &Slot<T> {
        &self.slots[(number % SLOTS) as usize]
    }

    /// Performs a run that this worker has taken, when it may begin.
    fn perform(&self, number: u64, at: u64, worker: usize, run: &impl Fn(&T, usize, i64, i64)) {
        let slot = self.slot(number);
        let (lo, hi) = (slot.first(at), slot.first(at + 1));
        let from = lo.saturating_sub(slot.behind.load(Ordering::Relaxed));
        let to = (hi - 1).saturating_add(slot.ahead.load(Ordering::Relaxed));
        let first = number.saturating_sub(SLOTS - 1).max(self.first.load(Ordering::Relaxed));
        let mut looks = 0_u32;
        // The last ones mostly end last.
        for earlier in (first..number).rev() {
            while !self.is_done(earlier, from, to) {
                looks = looks.wrapping_add(1);
                if looks >= LOOKS_BEFORE_TAKING && self.take_from_others(worker, run) {
                    looks = 0;
                    continue;
                }
                pause(looks);
            }
        }
        // SAFETY: this worker has taken a run of the slot and not marked it yet.
        run(unsafe { &*slot.content.get() }, worker, lo, hi);
        slot.done[at as usize].store(number + 1, Ordering::Release);
        if slot.left.0.fetch_sub(1, Ordering::AcqRel) == 1 {
            slot.ended.0.store(number + 1, Ordering::Release);
        }
    }

    /// Whether the iterations `from..=to` of a front are done.
    fn is_done(&self, number: u64, from: i64, to: i64) -> bool {
        if self.has_ended(number) {
            return true;
        }
        let slot = self.slot(number);
        let (lo, hi) = (slot.lo.load(Ordering::Relaxed), slot.hi.load(Ordering::Relaxed));
        let (from, to) = (from.max(lo), to.min(hi.saturating_sub(1)));
        if from > to {
            return true;
        }
        let runs = slot.runs.load(Ordering::Relaxed);
        let iterations = u128::from(hi.abs_diff(lo));
        // The run of an iteration, the last one that does not begin behind it.
        let run_of =
            |at: i64| (u128::from(at.abs_diff(lo)) + 1).saturating_mul(runs.into()).div_ceil(iterations) as usize - 1;
        let most = slot.done.len() - 1;
        slot.done[run_of(from).min(most)..=run_of(to).min(most)]
            .iter()
            .all(|done| done.load(Ordering::Acquire) > number)
    }
}

impl<T> Slot<T> {
    /// The first iteration of a run.
    fn first(&self, at: u64) -> i64 {
        let (lo, hi, runs) =
            (self.lo.load(Ordering::Relaxed), self.hi.load(Ordering::Relaxed), self.runs.load(Ordering::Relaxed));
        let before = u128::from(hi.abs_diff(lo)) * u128::from(at) / u128::from(runs.max(1));
        lo.wrapping_add(before as i64)
    }
}

/// Waits for a moment.
fn pause(looks: u32) {
    spin_loop();
    // Whoever is waited for may have lost its core to somebody else.
    if looks % LOOKS_BETWEEN_YIELDS == LOOKS_BETWEEN_YIELDS - 1 {
        yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Runs loops over random fronts on threads of their own, each run noting that it is done; none may begin before
    /// what it needs is, and each iteration runs once.
    fn verify(workers: usize, helpers: usize, seed: u64) {
        let mut random = fastrand::Rng::with_seed(seed);
        let queue: Fronts<usize> = Fronts::new(workers);
        for _ in 0..20 {
            let (open, reach) = (random.u64(2..=SLOTS), [random.i64(0..3), random.i64(0..3)]);
            let fronts: Vec<(i64, i64)> = (0..random.usize(1..40))
                .map(|at| {
                    let lo = at as i64 / 3 - random.i64(0..3);
                    let most = if random.bool() { 4 } else { 60 };
                    (lo, lo + random.i64(1..most))
                })
                .collect();
            let done: Vec<Vec<AtomicU64>> =
                fronts.iter().map(|(lo, hi)| (*lo..*hi).map(|_| AtomicU64::new(0)).collect()).collect();
            let busy: Vec<AtomicBool> = (0..workers).map(|_| AtomicBool::new(false)).collect();
            let failures = Mutex::new(Vec::new());
            let run = |front: &usize, worker: usize, lo: i64, hi: i64| {
                let front = *front;
                let mut is_wrong = busy[worker].swap(true, Ordering::SeqCst);
                for earlier in 0..front {
                    let (first, end) = fronts[earlier];
                    let [from, to] = match earlier + (open as usize) > front {
                        true => [lo - reach[0], hi - 1 + reach[1]],
                        false => [first, end - 1],
                    };
                    let needed = from.max(first)..=to.min(end - 1);
                    let is_done = |at: i64| done[earlier][(at - first) as usize].load(Ordering::SeqCst) == 1;
                    is_wrong |= !needed.into_iter().all(is_done);
                }
                for at in lo..hi {
                    is_wrong |= done[front][(at - fronts[front].0) as usize].fetch_add(1, Ordering::SeqCst) != 0;
                }
                busy[worker].store(false, Ordering::SeqCst);
                if is_wrong {
                    failures.lock().unwrap().push((front, worker, lo, hi));
                }
            };
            std::thread::scope(|scope| {
                let mut leader = queue.begin();
                for worker in 1..=helpers {
                    let (queue, run) = (&queue, &run);
                    let stays = random.bool();
                    scope.spawn(move || queue.help(worker, || !stays, run));
                }
                for (at, (lo, hi)) in fronts.iter().enumerate() {
                    let head = Head { lo: *lo, hi: *hi, open, behind: reach[0], ahead: reach[1] };
                    // SAFETY: nobody else leads.
                    unsafe { queue.open(&mut leader, head, |front| *front = at, &run) };
                }
                queue.end(&mut leader, &run);
            });
            assert_eq!(failures.into_inner().unwrap(), [], "{workers} workers, {helpers} of them there, seed {seed}");
            assert!(done.iter().flatten().all(|count| count.load(Ordering::SeqCst) == 1));
        }
    }

    #[test]
    fn runs_begin_when_what_they_need_has_ended() {
        for (seed, (workers, helpers)) in (0..).zip([(1, 0), (2, 1), (3, 2), (5, 4), (8, 7)]) {
            verify(workers, helpers, seed);
        }
    }

    #[test]
    fn workers_that_are_not_there_are_not_waited_for() {
        for (seed, (workers, helpers)) in (100..).zip([(2, 0), (4, 1), (8, 0), (8, 3)]) {
            verify(workers, helpers, seed);
        }
    }

    #[test]
    fn few_iterations_have_the_same_worker_in_every_front() {
        let shares = |lo: i64, hi: i64| {
            let queue: Fronts<()> = Fronts::new(4);
            let mut leader = queue.begin();
            let head = Head { lo, hi, open: 2, behind: 0, ahead: 0 };
            // SAFETY: nobody else leads.
            unsafe { queue.open(&mut leader, head, |()| (), &|(), _, _, _| ()) };
            let taken = |worker| queue.take(leader.next, worker).map(|run| lo + run as i64);
            [0, 1, 2, 3].map(|worker| std::iter::repeat_with(|| taken(worker)).map_while(|run| run).collect::<Vec<_>>())
        };
        for lo in -5..5 {
            for hi in lo + 1..lo + 8 {
                for (worker, own) in (0..).zip(shares(lo, hi)) {
                    let expected: Vec<i64> = (lo..hi).filter(|at| at.rem_euclid(4) == worker).collect();
                    assert_eq!(own, expected, "{lo}..{hi}");
                }
            }
        }
        let of_many = [vec![6, 7], vec![8, 9, 10], vec![11, 12], vec![13, 14, 15]];
        assert_eq!(shares(6, 16), of_many);
    }
}

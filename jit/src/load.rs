//! Load: how long the threads of a run were busy, for what they waited, and when each ran which iterations.
//!
//! In: parallel loops and the runs of iterations that they are cut into, as they happen.   Out: a [`Load`].
//!
//! Nothing is recorded unless a pool was asked to ([`Pool::recording`](crate::Pool::recording)); where it is, a run of
//! iterations costs two looks at the clock and a lock that nobody else wants, as each worker has a page of its own.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Tiles that are kept of each worker, at most: a picture of more shows nothing. Sums go on.
const MOST_TILES: usize = 1 << 16;

/// What the threads of a run did during some calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Load {
    /// How many calls these were.
    pub calls: u64,
    /// Time from the begin to the end of each call, all together.
    pub wall: Duration,
    /// Parallel loops that ran; a barrier followed each, unless it was a front.
    pub loops: u64,
    /// Of the wall time, what passed in parallel loops. Outside of them one thread runs, and the others have nothing to
    /// do.
    pub in_loops: Duration,
    /// Of the threads' time in parallel loops, what passed with nothing to do because a loop had fewer iterations than
    /// there are threads. Fronts are not among these: several run at a time.
    pub too_few: Duration,
    /// What each worker did.
    pub workers: Vec<WorkerLoad>,
    /// The first runs of iterations of each worker, by worker and time.
    pub tiles: Vec<TileRun>,
    /// Runs of iterations that are counted and not among these.
    pub more_tiles: u64,
}

/// What a worker did in parallel loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerLoad {
    /// Time in iterations.
    pub busy: Duration,
    /// Runs of iterations.
    pub runs: u64,
}

/// Iterations of a parallel loop that a worker ran one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TileRun {
    /// The worker.
    pub worker: usize,
    /// Which parallel loop of the recorded calls, in the order in which they began.
    pub loop_number: u64,
    /// The first iteration, and one past the last.
    pub iterations: (i64, i64),
    /// When it began, since recording did.
    pub begin: Duration,
    /// When it ended.
    pub end: Duration,
}

impl Load {
    /// Time of all threads in all calls.
    pub fn thread_time(&self) -> Duration {
        times(self.wall, self.workers.len())
    }

    /// The part of the threads' time that they were busy in, from 0 to 1; what runs between parallel loops keeps one
    /// thread busy. 1 if nothing was recorded.
    pub fn share_busy(&self) -> f64 {
        let busy = self.busy() + self.outside_loops();
        share(busy, self.thread_time()).unwrap_or(1.0)
    }

    /// The part in which parallel loops had too few iterations for all threads.
    pub fn share_too_few(&self) -> f64 {
        share(self.too_few, self.thread_time()).unwrap_or(0.0)
    }

    /// The part in which threads waited in parallel loops although there were enough iterations: for a loop to open,
    /// for the last one of it, or because what was left could not be shared out evenly.
    pub fn share_waiting(&self) -> f64 {
        let waiting = times(self.in_loops, self.workers.len()).saturating_sub(self.busy()).saturating_sub(self.too_few);
        share(waiting, self.thread_time()).unwrap_or(0.0)
    }

    /// The part in which only one thread had something to do, outside of parallel loops; of the others' time.
    pub fn share_outside(&self) -> f64 {
        let idle = times(self.outside_loops(), self.workers.len().saturating_sub(1));
        share(idle, self.thread_time()).unwrap_or(0.0)
    }

    /// The time of the busiest worker over that of the average one: 1 if all had the same to do.
    pub fn imbalance(&self) -> f64 {
        let most = self.workers.iter().map(|worker| worker.busy).max().unwrap_or_default();
        share(times(most, self.workers.len()), self.busy()).unwrap_or(1.0)
    }

    fn busy(&self) -> Duration {
        self.workers.iter().map(|worker| worker.busy).sum()
    }

    fn outside_loops(&self) -> Duration {
        self.wall.saturating_sub(self.in_loops)
    }
}

fn times(duration: Duration, count: usize) -> Duration {
    duration.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX))
}

/// One duration as a part of another; none if that is zero.
fn share(part: Duration, of: Duration) -> Option<f64> {
    (!of.is_zero()).then(|| part.as_secs_f64() / of.as_secs_f64())
}

/// Records what the workers of a run do, of which one call runs at a time.
#[derive(Debug)]
pub(crate) struct Recorder {
    since: Instant,
    calls: Mutex<Calls>,
    /// One per worker, which nobody else locks while it runs.
    workers: Vec<Mutex<Page>>,
}

#[derive(Debug, Default)]
struct Calls {
    count: u64,
    wall: Duration,
    loops: u64,
    in_loops: Duration,
    too_few: Duration,
}

/// A worker's. On lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Page {
    load: WorkerLoad,
    tiles: Vec<TileRun>,
}

impl Recorder {
    pub(crate) fn new(workers: usize) -> Recorder {
        let pages = (0..workers).map(|_| Mutex::default()).collect();
        Recorder { since: Instant::now(), calls: Mutex::default(), workers: pages }
    }

    /// A call.
    pub(crate) fn call<R>(&self, work: impl FnOnce() -> R) -> R {
        let begun = Instant::now();
        let result = work();
        let mut calls = lock(&self.calls);
        calls.count += 1;
        calls.wall += begun.elapsed();
        result
    }

    /// A parallel loop of so many iterations, which gets its number.
    pub(crate) fn parallel_loop(&self, iterations: u64, work: impl FnOnce(u64)) {
        let number = lock(&self.calls).loops;
        let begun = Instant::now();
        work(number);
        let wall = begun.elapsed();
        let idle = self.workers.len() - self.workers.len().min(usize::try_from(iterations).unwrap_or(usize::MAX));
        let mut calls = lock(&self.calls);
        calls.loops += 1;
        calls.in_loops += wall;
        calls.too_few += times(wall, idle);
    }

    /// A front, a parallel loop that no barrier follows, which gets its number.
    pub(crate) fn front(&self) -> u64 {
        let mut calls = lock(&self.calls);
        calls.loops += 1;
        calls.loops - 1
    }

    /// That fronts took so long, from the first one's begin to the last one's end.
    pub(crate) fn fronts_took(&self, wall: Duration) {
        lock(&self.calls).in_loops += wall;
    }

    /// A run of iterations of the loop of that number on a worker.
    pub(crate) fn run(&self, worker: usize, loop_number: u64, iterations: (i64, i64), work: impl FnOnce()) {
        let begin = self.since.elapsed();
        work();
        let end = self.since.elapsed();
        let mut page = lock(&self.workers[worker]);
        page.load.busy += end - begin;
        page.load.runs += 1;
        if page.tiles.len() < MOST_TILES {
            page.tiles.push(TileRun { worker, loop_number, iterations, begin, end });
        }
    }

    /// What was recorded since the last time this was asked; times of tiles go on.
    pub(crate) fn take(&self) -> Load {
        let Calls { count: calls, wall, loops, in_loops, too_few } = std::mem::take(&mut *lock(&self.calls));
        let pages: Vec<Page> = self.workers.iter().map(|page| std::mem::take(&mut *lock(page))).collect();
        let workers: Vec<WorkerLoad> = pages.iter().map(|page| page.load).collect();
        let tiles: Vec<TileRun> = pages.into_iter().flat_map(|page| page.tiles).collect();
        let more_tiles = workers.iter().map(|worker| worker.runs).sum::<u64>() - tiles.len() as u64;
        Load { calls, wall, loops, in_loops, too_few, workers, tiles, more_tiles }
    }
}

/// A panic in between leaves numbers that are whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_threads_time_add_up() {
        let seconds = Duration::from_secs;
        let worker = |busy| WorkerLoad { busy: seconds(busy), runs: 1 };
        let workers = vec![worker(6), worker(4)];
        let load = Load {
            calls: 1,
            wall: seconds(10),
            loops: 3,
            in_loops: seconds(8),
            too_few: seconds(2),
            workers,
            ..Load::default()
        };
        let parts = [load.share_busy(), load.share_too_few(), load.share_waiting(), load.share_outside()];
        assert_eq!(parts, [0.6, 0.1, 0.2, 0.1]);
        assert_eq!(load.imbalance(), 1.2);
        assert_eq!((Load::default().share_busy(), Load::default().imbalance()), (1.0, 1.0));
    }

    #[test]
    fn more_runs_than_are_kept_are_counted() {
        let recorder = Recorder::new(2);
        recorder.call(|| {
            for _ in 0..MOST_TILES + 5 {
                recorder.parallel_loop(1, |number| recorder.run(1, number, (3, 4), || ()));
            }
        });
        let load = recorder.take();
        assert_eq!((load.calls, load.loops, load.more_tiles), (1, MOST_TILES as u64 + 5, 5));
        assert_eq!((load.workers[0].runs, load.workers[1].runs), (0, MOST_TILES as u64 + 5));
        let last = load.tiles.last().unwrap();
        assert_eq!((last.worker, last.loop_number, last.iterations), (1, MOST_TILES as u64 - 1, (3, 4)));
        assert!(load.tiles.is_sorted_by_key(|tile| tile.begin) && last.begin <= last.end);
        assert_eq!(recorder.take().loops, 0);
    }
}

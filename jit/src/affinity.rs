//! Affinity: threads of a pool that stay on cores of their own, on request.
//!
//! In: a choice.   Out: places, one for each worker, and the current thread at its place until it is let go.
//!
//! Systems move threads between cores, which leaves what they had in their caches behind, and on machines with several
//! memories lets a thread compute far from the pages that it touched first. A worker that stays has the same share of
//! every loop (`jit/src/team.rs`), and of every copy of a large box, beside it. Systems mostly do well by themselves,
//! so nothing is pinned unless asked for.
//!
//! Threads are pinned by what they do, not by who they are: when one begins to work for a worker that has a place, and
//! let go when it works for a pool without places, or a call ends on it.

use crate::workers::PoolError;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::cell::Cell;
use std::sync::Arc;

/// Where the threads of a pool run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Affinity {
    /// Wherever the system puts them.
    #[default]
    AsFound,
    /// Each on a core of its own, in the order of the system's numbers, of those that this process may use; where there
    /// are more threads than cores, several on one. The calling thread is on the first one during calls with parallel
    /// loops, and where it was after. A call with one thread stays where its caller is, and threads of a caller's pool
    /// stay where they are.
    Cores,
}

/// Cores for the workers of a pool.
#[derive(Clone, Debug)]
pub(crate) struct Places(Arc<[usize]>);

thread_local! {
    /// The core that the current thread is pinned to, and where it could run before.
    static PINNED: Cell<Option<(usize, CpuSet)>> = const { Cell::new(None) };
}

impl Affinity {
    /// The places for a pool.
    ///
    /// # Errors
    /// [`PoolError::Affinity`] if the system does not tell which cores there are.
    pub(crate) fn places(self) -> Result<Option<Places>, PoolError> {
        if self == Affinity::AsFound {
            return Ok(None);
        }
        let allowed = sched_getaffinity(None).map_err(|error| PoolError::Affinity { source: error.into() })?;
        let cores: Arc<[usize]> = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect();
        Ok((!cores.is_empty()).then_some(Places(cores)))
    }
}

impl Places {
    /// Keeps the current thread at the place of a worker. Where the system refuses, as when cores were taken away
    /// meanwhile, the thread stays where it is: that costs speed and nothing else.
    fn hold(&self, worker: usize) {
        let core = self.0[worker % self.0.len()];
        let pinned = PINNED.get();
        if pinned.is_some_and(|(found, _)| found == core) {
            return;
        }
        let Some(before) = pinned.map(|(_, before)| before).or_else(|| sched_getaffinity(None).ok()) else { return };
        let mut one = CpuSet::new();
        one.set(core);
        if sched_setaffinity(None, &one).is_ok() {
            PINNED.set(Some((core, before)));
        }
    }
}

/// Puts the current thread where a worker of a pool belongs: at its place, or, without places, anywhere again.
pub(crate) fn settle(places: Option<&Places>, worker: usize) {
    match places {
        Some(places) => places.hold(worker),
        None => let_go(),
    }
}

/// Lets the current thread run where it could before it was pinned.
fn let_go() {
    if let Some((_, before)) = PINNED.take() {
        _ = sched_setaffinity(None, &before);
    }
}

/// Lets the current thread go when it is dropped.
pub(crate) struct UntilDone;

impl Drop for UntilDone {
    fn drop(&mut self) {
        let_go();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Pool;
    use std::sync::Mutex;

    /// Cores that the current thread may run on.
    fn cores() -> Vec<usize> {
        let allowed = sched_getaffinity(None).unwrap();
        (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect()
    }

    /// Where the runs of a loop find themselves.
    fn seen(pool: &Pool) -> Vec<Vec<usize>> {
        let seen = Mutex::new(Vec::new());
        pool.for_each(64, |_| {
            std::thread::sleep(std::time::Duration::from_micros(50));
            seen.lock().unwrap().push(cores());
        });
        seen.into_inner().unwrap()
    }

    #[test]
    fn threads_stay_on_cores_of_their_own_while_they_work_for_a_pool_that_asks_for_it() {
        let before = cores();
        let pool = Pool::new(2).unwrap();
        let pinned = pool.clone().with_affinity(Affinity::Cores).unwrap();
        for _ in 0..3 {
            assert!(seen(&pinned).iter().all(|cores| cores.len() == 1 && before.contains(&cores[0])));
            assert_eq!(cores(), before, "the calling thread is let go");
            // The same threads, for somebody else.
            assert!(seen(&pool).iter().all(|cores| *cores == before));
        }
    }

    #[test]
    fn one_thread_and_threads_of_the_caller_stay_where_they_are() {
        let before = cores();
        let threads = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap());
        for pool in [Pool::sequential(), Pool::of(&threads)] {
            let pool = pool.with_affinity(Affinity::Cores).unwrap();
            assert!(seen(&pool).iter().all(|cores| *cores == before));
        }
    }
}

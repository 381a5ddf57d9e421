//! Workers: the threads that parallel loops run on, shared by everything in the process that asks for as many.
//!
//! In: a number of threads, or a pool of the caller's.   Out: [`Workers`], the same ones for all who hold them.
//!
//! Pools are held weakly: the threads of one end with the last [`Pool`](crate::Pool) that uses them. A process that
//! starts run after run therefore keeps one `Pool` if it does not want to start threads each time.

use crate::team::Team;
use rayon::ThreadPool;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Threads that a pool of our own may have for each core: more wait for each other. Two to four a core can even out
/// cores that other programs use; beyond that nothing was seen to get faster.
const THREADS_PER_CORE: usize = 4;
/// This many are allowed on any machine, so that what is tested on few cores is what runs on many.
const ALWAYS_ALLOWED: usize = 16;
/// Stack of a worker of our own: room for a call of compiled code, which takes less than 72 KiB of it
/// (`MOST_FRAME_BYTES` in `jit/src/clif/module.rs`), and for the calls of others that a worker takes up while it waits
/// for its own loop.
const WORKER_STACK_BYTES: usize = 4 << 20;

/// Why there is no pool.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "threads/")]
#[non_exhaustive]
pub enum PoolError {
    /// A pool needs at least one thread.
    #[error("a pool of 0 threads cannot run anything; ask for 1 to run on the calling thread alone")]
    NoThreads,
    /// More threads than could be of use, which would take minutes to start.
    #[error("{threads} threads are more than a pool may have on {cores} core(s); ask for at most {most}")]
    TooMany {
        /// How many were asked for.
        threads: usize,
        /// Cores that this process may use.
        cores: usize,
        /// The most that would have been started: [`most_threads`].
        most: usize,
    },
    /// The system refused to start threads.
    #[error("cannot start {threads} threads; ask for fewer")]
    Start {
        /// How many were asked for.
        threads: usize,
        /// Why not.
        source: rayon::ThreadPoolBuildError,
    },
    /// Threads are to stay on cores, and the system does not tell which ones there are.
    #[error("cannot learn which cores this process may use; leave threads where the system puts them")]
    Affinity {
        /// Why not.
        source: std::io::Error,
    },
    /// Denormal numbers are to be flushed, and this kind of processor is not known to do that.
    #[error("flushing denormal numbers to zero is not supported on this kind of processor; leave them as found")]
    Denormals,
}

/// Cores that this process may use: what the system allows it, quotas of control groups included.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The most threads of a pool of our own: four for each core that this process may use, and 16 on small machines.
pub fn most_threads() -> usize {
    cores().saturating_mul(THREADS_PER_CORE).max(ALWAYS_ALLOWED)
}

/// Whether a pool of our own may have this many threads.
///
/// # Errors
/// [`PoolError::NoThreads`] for 0, [`PoolError::TooMany`] above [`most_threads`].
pub fn verify_threads(threads: usize) -> Result<(), PoolError> {
    match threads {
        0 => Err(PoolError::NoThreads),
        // The system is asked only where that matters: it reads files of control groups.
        1..=ALWAYS_ALLOWED => Ok(()),
        _ => {
            let (cores, most) = (cores(), most_threads());
            if threads > most { Err(PoolError::TooMany { threads, cores, most }) } else { Ok(()) }
        }
    }
}

/// The threads of a pool, with what its users need to know of each other.
#[derive(Debug)]
pub(crate) struct Workers {
    threads: Arc<ThreadPool>,
    /// Whether we started them; the pool is the caller's otherwise.
    ours: bool,
    /// Whether one of them runs the main function of a call. A thread that waits for the end of a parallel loop takes
    /// up whatever else its pool has to do: loops of other calls, which are short, but not a second main function,
    /// which could keep the first one waiting for as long as it likes.
    hosting: AtomicBool,
    /// Who waits for the loops of that call: on threads of our own, where each has a core.
    team: Option<Arc<Team>>,
}

/// All workers in use.
static KNOWN: Mutex<Vec<Weak<Workers>>> = Mutex::new(Vec::new());

impl Workers {
    /// This many threads of our own.
    ///
    /// # Errors
    /// As [`verify_threads`], and [`PoolError::Start`] if the system has no more threads to give.
    pub(crate) fn ours(threads: usize) -> Result<Arc<Workers>, PoolError> {
        verify_threads(threads)?;
        let is_wanted = |known: &Workers| known.ours && known.count() == threads;
        find_or_add(is_wanted, || {
            let builder = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(WORKER_STACK_BYTES);
            let builder = builder.thread_name(|at| format!("crease-{at}"));
            let threads = builder.build().map_err(|source| PoolError::Start { threads, source })?;
            let team = (threads.current_num_threads() <= cores()).then(|| Team::new(threads.current_num_threads()));
            Ok(Workers { threads: Arc::new(threads), ours: true, hosting: AtomicBool::new(false), team })
        })
    }

    /// The threads of a pool of the caller's.
    pub(crate) fn of(pool: &Arc<ThreadPool>) -> Arc<Workers> {
        let is_wanted = |known: &Workers| Arc::ptr_eq(&known.threads, pool);
        let new =
            || Ok(Workers { threads: Arc::clone(pool), ours: false, hosting: AtomicBool::new(false), team: None });
        find_or_add(is_wanted, new).expect("nothing is started")
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.threads.current_num_threads()
    }

    /// Whether the threads are not a caller's.
    pub(crate) fn are_ours(&self) -> bool {
        self.ours
    }

    /// The number of the current thread, below [`Self::count`]; none if it is not one of these, but of another pool or
    /// of none.
    pub(crate) fn current(&self) -> Option<usize> {
        self.threads.current_thread_index()
    }

    /// Runs `work` on one of the threads, which may be the current one, and returns when it is done.
    pub(crate) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.threads.install(work)
    }

    /// Who waits for the loops of the call that is hosted, if they are not found asleep.
    pub(crate) fn team(&self) -> Option<&Arc<Team>> {
        self.team.as_ref()
    }

    /// The pool.
    pub(crate) fn threads(&self) -> &ThreadPool {
        &self.threads
    }

    /// Lets one call at a time run its main function on these threads, or lead their team; none while another one does.
    pub(crate) fn host(&self) -> Option<Hosted<'_>> {
        // Made only if nobody else hosts: whatever is dropped says that the call is over.
        (!self.hosting.swap(true, Ordering::Acquire)).then(|| Hosted { workers: self })
    }
}

/// Until it is dropped, the main function of one call runs on the workers, and no other one.
pub(crate) struct Hosted<'w> {
    workers: &'w Workers,
}

impl Drop for Hosted<'_> {
    fn drop(&mut self) {
        self.workers.hosting.store(false, Ordering::Release);
    }
}

/// The known workers that are wanted, or new ones, which are known from now on.
fn find_or_add(
    is_wanted: impl Fn(&Workers) -> bool,
    new: impl FnOnce() -> Result<Workers, PoolError>,
) -> Result<Arc<Workers>, PoolError> {
    // A panic while the list is locked leaves a list that is complete but for the pool that was not made.
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.retain(|workers| workers.strong_count() > 0);
    if let Some(found) = known.iter().filter_map(Weak::upgrade).find(|workers| is_wanted(workers)) {
        return Ok(found);
    }
    let workers = Arc::new(new()?);
    known.push(Arc::downgrade(&workers));
    Ok(workers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pool_for_each_number_of_threads_while_somebody_holds_it() {
        // No other test of this crate asks for this many.
        let count = most_threads() - 3;
        let (first, second) = (Workers::ours(count).unwrap(), Workers::ours(count).unwrap());
        assert!(Arc::ptr_eq(&first, &second) && first.count() == count);
        assert!(!Arc::ptr_eq(&first, &Workers::ours(count - 1).unwrap()));
        let held = Arc::downgrade(&first);
        drop((first, second));
        assert!(held.upgrade().is_none(), "nobody holds the threads any more");
    }

    #[test]
    fn a_pool_of_the_callers_is_never_taken_for_ours() {
        let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(5).build().unwrap());
        let borrowed = Workers::of(&pool);
        assert!(Arc::ptr_eq(&borrowed, &Workers::of(&pool)) && !Arc::ptr_eq(&borrowed, &Workers::ours(5).unwrap()));
    }

    #[test]
    fn threads_beyond_use_are_refused_before_any_is_started() {
        let most = most_threads();
        assert!(most >= 16 && verify_threads(most).is_ok());
        for threads in [most + 1, 100_000, usize::MAX] {
            let error = Workers::ours(threads).unwrap_err();
            assert!(matches!(error, PoolError::TooMany { threads: t, most: m, .. } if (t, m) == (threads, most)));
        }
        assert!(matches!(Workers::ours(0), Err(PoolError::NoThreads)));
    }

    #[test]
    fn one_call_at_a_time_is_hosted() {
        let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap());
        let workers = Workers::of(&pool);
        let hosted = workers.host().expect("nobody else does");
        // Who is refused changes nothing.
        for _ in 0..3 {
            assert!(workers.host().is_none());
        }
        drop(hosted);
        assert!(workers.host().is_some());
    }
}

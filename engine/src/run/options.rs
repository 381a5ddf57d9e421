//! How a run is set up: threads, memory, denormal numbers, guard pages.

use std::sync::Arc;

use crease_jit::{Affinity, Denormals, ThreadPool};

/// How a run is set up; see [`Code::instantiate_with`](crate::Code::instantiate_with).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunOptions {
    /// Threads for parallel loops, from 1 to [`most_threads`](crate::most_threads): four a core or 16. All runs of so
    /// many threads share theirs, which end with the last of these runs. One thread is the caller's, and so is the only
    /// one of code without parallel loops. Default: all cores.
    pub threads: usize,
    /// Threads of the caller's own, instead of [`Self::threads`], which then do not count. Results do not depend on it.
    /// A call that several runs make at a time on these threads is theirs to share; nothing else is. Default: none.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use crease::prelude::*;
    /// use crease::ThreadPoolBuilder;
    ///
    /// let kernel = Kernel::parse(
    ///     "kernel squares(size N) {
    ///        output b[x]: f64 for 0 <= x < N
    ///        S[x] for 0 <= x < N { b[x] = index(x) * index(x) }
    ///        schedule s { S -> [x parallel] }
    ///      }",
    /// )?;
    /// let pool = Arc::new(ThreadPoolBuilder::new().num_threads(3).build().expect("three threads start"));
    /// let code = kernel.plan().size("N", 100).build()?.compile()?;
    /// let mut run = code.instantiate_with(RunOptions::default().pool(pool))?;
    /// run.run_once()?;
    /// assert_eq!(run.threads(), 3);
    /// # Ok::<(), crease::Error>(())
    /// ```
    pub pool: Option<Arc<ThreadPool>>,
    /// Guard pages around every field, so that a stray access stops the program. Default: off; it costs huge pages.
    pub guard_pages: bool,
    /// What steps do with denormal numbers, on every thread that takes part. Default: as the calling thread has it,
    /// which is to keep them unless that was changed.
    pub denormals: Denormals,
    /// Where its own threads run. Default: wherever the system puts them.
    pub affinity: Affinity,
    /// Whether the run records what its threads do in steps, for [`Run::take_load`](crate::Run::take_load). Default:
    /// no; it costs two looks at the clock for each run of iterations that a thread takes.
    pub records_load: bool,
    /// With what the memory of a run is compared before it is allocated. Default: with what is available.
    pub memory: MemoryCheck,
    /// Where [`Run::advance_observing`](crate::Run::advance_observing) computes observers, the same bits in any case.
    /// Of those that no step can compute on the way, always in a pass. Default: none, which is in a pass until passes
    /// have taken as long as the plan took, then in both ways in turns, then in the faster one.
    pub observers: Option<ObserverForm>,
}

impl RunOptions {
    /// Sets [`Self::threads`].
    pub fn threads(mut self, threads: usize) -> RunOptions {
        self.threads = threads;
        self
    }

    /// Sets [`Self::pool`].
    pub fn pool(mut self, pool: Arc<ThreadPool>) -> RunOptions {
        self.pool = Some(pool);
        self
    }

    /// Sets [`Self::guard_pages`].
    pub fn guard_pages(mut self, guard_pages: bool) -> RunOptions {
        self.guard_pages = guard_pages;
        self
    }

    /// Sets [`Self::denormals`].
    pub fn denormals(mut self, denormals: Denormals) -> RunOptions {
        self.denormals = denormals;
        self
    }

    /// Sets [`Self::affinity`].
    pub fn affinity(mut self, affinity: Affinity) -> RunOptions {
        self.affinity = affinity;
        self
    }

    /// Sets [`Self::records_load`].
    pub fn records_load(mut self, records_load: bool) -> RunOptions {
        self.records_load = records_load;
        self
    }

    /// Sets [`Self::memory`].
    pub fn memory(mut self, memory: MemoryCheck) -> RunOptions {
        self.memory = memory;
        self
    }

    /// Sets [`Self::observers`].
    pub fn observers(mut self, form: ObserverForm) -> RunOptions {
        self.observers = Some(form);
        self
    }
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            threads: crease_jit::cores(),
            pool: None,
            guard_pages: false,
            denormals: Denormals::AsFound,
            affinity: Affinity::AsFound,
            records_load: false,
            memory: MemoryCheck::Available,
            observers: None,
        }
    }
}

/// How much memory a run may take, beside the cap of its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MemoryCheck {
    /// What the machine, and the control groups that this process is in, have left
    /// ([`available_memory`](crate::available_memory)). Systems give addresses for more than they have and end the
    /// process that touches it, without a word; so such a run is refused. Memory that other runs were given and have
    /// not touched yet still seems to be left.
    #[default]
    Available,
    /// This many bytes.
    Limit(u64),
    /// Whatever the system gives addresses for.
    Unchecked,
}

/// Where an observer is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObserverForm {
    /// In a pass of its own, behind the steps.
    Pass,
    /// In the last of the steps, which write what it reads.
    Fused,
}

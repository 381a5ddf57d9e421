//! Plans from the cache on disk: made once, in one process, and taken over by later ones.
//!
//! In: a builder and a cache.   Out: what all stages left for it, when it was made.
//!
//! The key of a plan is all that it depends on, written out: the kernel, what the builder was told, the machine and the
//! threads, the sources of the library and of the integer set library's wrapper (`engine/build.rs`), and that library's
//! version. A plan is a function of these: quotas count operations and no time.
//!
//! Unsafe, because it says of a program that was proved when it was kept that it still is. Only [`keep`] makes such
//! files, of plans whose storage and program were proved in that process, and [`PlanCache`] gives a file back only
//! whole and out of a directory where nobody else may write.
#![allow(unsafe_code)]

use std::time::Instant;

use crease_jit::{CODE_BUILD, Kept, PlanCache};
use crease_program::{Program, Verified};
use log::debug;
use serde::{Deserialize, Serialize};

use crate::analysis::bound::LowerBound;
use crate::kernel::Cut;
use crate::kernel::graph::{ArrayId, Kernel, Schedule};
use crate::lower::Origins;
use crate::plan::layout::Layout;
use crate::plan::outcome::Outcome;
use crate::plan::request::Request;
use crate::plan::search::ScheduleSearch;
use crate::storage::choose::decision::Decision;

/// What cached files of plans are called.
const PLAN: &str = "plan";

/// A schedule that was found, with what it was chosen from.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FoundSchedule {
    /// Statements that are in two parts for it.
    pub(crate) cuts: Vec<Cut>,
    pub(crate) schedule: Schedule,
    pub(crate) search: ScheduleSearch,
}

/// A plan as it is kept: an [`Outcome`] but for the time it took.
#[derive(Serialize, Deserialize)]
struct CachedPlan {
    schedule: Option<FoundSchedule>,
    layout: Layout,
    program: Program,
    /// See [`Verified::lengths_inside`].
    inside: Option<Vec<u64>>,
    origins: Origins,
    lower_bounds: Vec<Option<LowerBound>>,
    full_cells: Vec<Option<u64>>,
    index_boxes: Vec<Vec<(i64, i64)>>,
    params: Vec<i64>,
    in_registers: Vec<ArrayId>,
    notes: Vec<String>,
    decisions: Vec<Decision>,
}

/// The key of a kernel's plan; `request` is what else it depends on, as text.
pub(crate) fn key(kernel: &Kernel, request: &str) -> Vec<u8> {
    let version = env!("CARGO_PKG_VERSION");
    let library = (version, env!("CREASE_BUILD"), CODE_BUILD, crate::integer_set_library());
    postcard::to_allocvec(&(library, request, kernel)).expect("kernels are plain data")
}

/// Tells of what became of a plan, or of its code.
pub(crate) fn tell(what: &str, kernel: &str, cache: &PlanCache, kept: &Kept) {
    if let Some(directory) = cache.directory() {
        debug!("{what} of `{kernel}`: {kept} (`{}`)", directory.display());
    }
}

/// The plan that was kept for a key, and its schedule, if that was found.
pub(crate) fn recall(cache: &PlanCache, key: &[u8]) -> Option<(Option<FoundSchedule>, Outcome)> {
    let start = Instant::now();
    let cached: CachedPlan = postcard::from_bytes(&cache.recall(PLAN, key)?).ok()?;
    // SAFETY: it is the program of a `Verified` one that `keep` has kept: its claims were proved.
    let program = unsafe { Verified::new_unchecked(cached.program) }.ok()?;
    let program = match cached.inside {
        // SAFETY: of that program this was shown, when it was kept.
        Some(lengths) => unsafe { program.stays_inside(lengths) },
        None => program,
    };
    let outcome = Outcome {
        layout: cached.layout,
        program,
        origins: cached.origins,
        lower_bounds: cached.lower_bounds,
        full_cells: cached.full_cells,
        index_boxes: cached.index_boxes,
        params: cached.params,
        in_registers: cached.in_registers,
        notes: cached.notes,
        decisions: cached.decisions,
        stages: vec![("cache", start.elapsed().as_secs_f64())],
    };
    Some((cached.schedule, outcome))
}

/// Keeps what the stages left for the request with this key.
pub(crate) fn keep(cache: &PlanCache, key: &[u8], request: &Request, outcome: &Outcome) -> Kept {
    let schedule = request.search.clone().zip(request.found.clone());
    let outcome = outcome.clone();
    let cached = CachedPlan {
        schedule: schedule.map(|(search, schedule)| FoundSchedule {
            cuts: search.taken().cuts.clone(),
            schedule,
            search,
        }),
        layout: outcome.layout,
        inside: outcome.program.lengths_inside().map(<[u64]>::to_vec),
        program: outcome.program.into_program(),
        origins: outcome.origins,
        lower_bounds: outcome.lower_bounds,
        full_cells: outcome.full_cells,
        index_boxes: outcome.index_boxes,
        params: outcome.params,
        in_registers: outcome.in_registers,
        notes: outcome.notes,
        decisions: outcome.decisions,
    };
    let bytes = postcard::to_allocvec(&cached).expect("plans are plain data");
    // SAFETY: the key says what the plan is that of, and its storage and its program were proved just now.
    unsafe { cache.keep(PLAN, key, &bytes) }.into()
}

//! The plan builder: which sizes, schedule and strategy, and how much memory at most.

use std::collections::BTreeMap;
use std::sync::Arc;

use crease_jit::{CompileOptions, Kept, PlanCache, most_threads, verify_threads};
use crease_program::DEFAULT_WORK_LIMIT;

use crate::analysis::error::AnalysisError;
use crate::analysis::expansion::{Expanded, box_cells};
use crate::check::Proved;
use crate::error::Error;
use crate::kernel::AUTOMATIC;
use crate::kernel::graph::{ArrayId, DimKind, Kernel, ParamKind};
use crate::kernel::nearest::list;
use crate::machine::{LEAST_PAGE_BYTES, MachineModel};
use crate::pipeline;
use crate::plan::Plan;
use crate::plan::cached::{self, FoundSchedule};
use crate::plan::error::PlanError;
use crate::plan::fitting::{hint, largest_fitting};
use crate::plan::footprint::Footprint;
use crate::plan::losses::lost_passes;
use crate::plan::outcome::Outcome;
use crate::plan::parallelism::parallelism_notes;
use crate::plan::request::{Expansion, Request, bind, size_values};
use crate::plan::search::{Looked, NotTaken, ScheduleSearch, Wanted, many_steps};
use crate::plan::written::{Written, written_out};
use crate::storage::StorageMapping;
use crate::storage::options::{Objective, Rings, Rounding, StrategyChoice};

/// Operations that each stage of the analysis may use.
const DEFAULT_QUOTA: u64 = 200_000_000;

/// What the names of arrays mean. Both are views of GeCoS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum StorageView {
    /// Arrays keep their names: the values of each are folded within it. A read sees the last write of its cell in the
    /// schedule that is planned, so another schedule may compute something else.
    #[default]
    Contraction,
    /// Names are forgotten: every write of a temporary array has cells of its own ([`Kernel::expanded`]), and these are
    /// folded. A read sees the last write in the kernel's first schedule, whichever one is planned: that must only
    /// write values before they are read. Notes of the report say where this takes more cells than the array has.
    Reallocation,
}

crease_program::named_choices! {
    StorageView = [("contraction", StorageView::Contraction), ("reallocation", StorageView::Reallocation)]
}

/// Collects what a plan needs. Made by [`Kernel::plan`].
#[derive(Clone, Debug)]
pub struct PlanBuilder {
    kernel: Arc<Kernel>,
    sizes: BTreeMap<String, i64>,
    schedule: Option<String>,
    strategy: StrategyChoice,
    objective: Objective,
    rounding: Rounding,
    rings: Rings,
    mapping: String,
    horizon: Option<u64>,
    threads: Option<usize>,
    cap_bytes: Option<u64>,
    machine: Option<MachineModel>,
    cache_bytes: Option<u64>,
    quota: u64,
    work_limit: u64,
    runs_opaque: bool,
    view: StorageView,
    cache: PlanCache,
}

impl Kernel {
    /// Starts a plan for this kernel, whose arithmetic uses the fast-math flags that it gives ([`Kernel::rewritten`]).
    pub fn plan(&self) -> PlanBuilder {
        PlanBuilder {
            kernel: Arc::new(self.rewritten()),
            sizes: BTreeMap::new(),
            schedule: None,
            strategy: StrategyChoice::Auto,
            objective: Objective::default(),
            rounding: Rounding::default(),
            rings: Rings::default(),
            mapping: String::new(),
            horizon: None,
            threads: None,
            cap_bytes: None,
            machine: None,
            cache_bytes: None,
            quota: DEFAULT_QUOTA,
            work_limit: DEFAULT_WORK_LIMIT,
            runs_opaque: false,
            view: StorageView::Contraction,
            cache: PlanCache::none(),
        }
    }
}

impl PlanBuilder {
    /// Binds a size parameter.
    #[must_use]
    pub fn size(mut self, param: &str, value: i64) -> Self {
        self.sizes.insert(param.to_string(), value);
        self
    }

    /// Chooses a schedule by name, or says one as rewritings of another, `rows tile(t 8, y 32) parallel(tile y)`
    /// (docs/KERNEL-TEXT.md has the grammar). Default: the kernel's first. Where the kernel has none, or none of the
    /// name `auto` and that is asked for, one is found for these sizes, this machine and these threads
    /// ([`Report::schedule_search`](crate::plan::report::Report::schedule_search)).
    #[must_use]
    pub fn schedule(mut self, name: &str) -> Self {
        self.schedule = Some(name.to_string());
        self
    }

    /// How storage mappings are found. Default: [`StrategyChoice::Auto`].
    #[must_use]
    pub fn strategy(mut self, strategy: StrategyChoice) -> Self {
        self.strategy = strategy;
        self
    }

    /// What [`StrategyChoice::Auto`] prefers. Default: [`Objective::Balanced`].
    #[must_use]
    pub fn objective(mut self, objective: Objective) -> Self {
        self.objective = objective;
        self
    }

    /// To what pitches and moduli of strided hyperplanes are rounded; the notes of the report say what that costs.
    /// Default: [`Rounding::Auto`].
    #[must_use]
    pub fn rounding(mut self, rounding: Rounding) -> Self {
        self.rounding = rounding;
        self
    }

    /// How strips get past the end of a ring; the notes of the report say what double-mapped rings cost. Default:
    /// [`Rings::Auto`].
    #[must_use]
    pub fn rings(mut self, rings: Rings) -> Self {
        self.rings = rings;
        self
    }

    /// Gives the storage of some arrays as text, `blurx[y, x] -> [(2x - y) mod (2N + 1)]`: one rule for each array, or
    /// for each of its pieces with a condition behind `if`. It is proved like any other, or the plan is refused. Arrays
    /// without a rule get what the strategy finds. Several calls add up; docs/KERNEL-TEXT.md has the grammar.
    #[must_use]
    pub fn mapping(mut self, text: &str) -> Self {
        if !text.trim().is_empty() {
            self.mapping.push_str(text);
            self.mapping.push('\n');
        }
        self
    }

    /// How many steps full storage of a state array shall hold. Only [`StrategyChoice::Full`] needs it.
    #[must_use]
    pub fn horizon(mut self, steps: u64) -> Self {
        self.horizon = Some(steps);
        self
    }

    /// How many threads a run will have: [`Code::instantiate`](crate::Code::instantiate) takes as many, and sizes in
    /// bytes count private buffers as often. A schedule without parallel loops runs on one thread, whatever is said
    /// here; the report notes that. From 1 to [`most_threads`](crate::most_threads), four a core or 16. Default: all
    /// cores.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Refuses plans whose runs keep more than this, and runs on this many threads that they do: folded storage, and
    /// copies of inputs and outputs where runs keep them ([`Footprint`](crate::plan::footprint::Footprint)). Default:
    /// no cap; when it is instantiated, a run is compared with the memory that the machine has.
    #[must_use]
    pub fn memory_cap_bytes(mut self, bytes: u64) -> Self {
        self.cap_bytes = Some(bytes);
        self
    }

    /// The machine that the code is for. Default: this one, [`MachineModel::detect`].
    #[must_use]
    pub fn machine(mut self, machine: MachineModel) -> Self {
        self.machine = Some(machine);
        self
    }

    /// Bytes of the last cache, whatever the machine has: code writes past it what does not fit and is not needed soon,
    /// and prefetches what it does not keep. No storage and no result depends on it. Default: that of [`Self::machine`].
    #[must_use]
    pub fn cache_bytes(mut self, bytes: u64) -> Self {
        self.cache_bytes = Some(bytes);
        self
    }

    /// Integer-set operations that each stage of the analysis may use before it gives up. Default: 200 million.
    ///
    /// Where it is too small for the conflicts of an array, the array gets the best mapping that was proved, at last
    /// full storage, and the report's notes say so; a schedule that could not be checked is an error.
    #[must_use]
    pub fn operation_quota(mut self, operations: u64) -> Self {
        self.quota = operations.max(1);
        self
    }

    /// Operations that the program may have: what lowering writes before it gives up, and what compiling takes on
    /// unless [`CompileOptions::work_limit`](crate::CompileOptions::work_limit) allows more. Default: 2^20, about ten
    /// seconds of compiling; [`crate::DEFAULT_WORK_LIMIT`] says what counts as one.
    #[must_use]
    pub fn work_limit(mut self, units: u64) -> Self {
        self.work_limit = units.max(1);
        self
    }

    /// Whether a kernel runs that calls opaque functions: each is a hash of its arguments then, so that any wrong value
    /// shows. That is for tests of storage; no result means anything. Default: it does not run.
    #[must_use]
    pub fn run_opaque_functions(mut self, allowed: bool) -> Self {
        self.runs_opaque = allowed;
        self
    }

    /// Whether arrays that are written several times per cell keep their names. Default: they do.
    #[must_use]
    pub fn storage_view(mut self, view: StorageView) -> Self {
        self.view = view;
        self
    }

    /// Where this plan, its code and that of its observers are kept for later processes, and found again:
    /// [`PlanCache`] says what that rests on. Default: nowhere.
    #[must_use]
    pub fn cache(mut self, cache: PlanCache) -> Self {
        self.cache = cache;
        self
    }

    /// Analyses, chooses storage, proves it and lowers the kernel, or takes over what an earlier process has kept of
    /// the same ([`Self::cache`]). Allocates no field.
    ///
    /// # Errors
    /// [`Error::Plan`] for names and sizes, [`Error::Illegal`] for a schedule that breaks a dependence,
    /// [`Error::Expansion`] for a kernel that cannot be expanded, where that is asked for,
    /// [`Error::Mapping`] if no storage could be proved, [`PlanError::TooLarge`] above the cap, which takes up to two
    /// analyses more to find sizes that fit.
    pub fn build(self) -> Result<Plan, Error> {
        if self.cache.directory().is_none() {
            return self.build_wanted(Wanted::Cheapest);
        }
        let key = self.key()?;
        let (request, outcome, kept) = match cached::recall(&self.cache, &key) {
            Some((schedule, outcome)) => (self.request(schedule)?, outcome, Kept::Found),
            None => {
                let (request, outcome) = self.outcome(Wanted::Cheapest)?;
                let kept = cached::keep(&self.cache, &key, &request, &outcome);
                (request, outcome, kept)
            }
        };
        cached::tell("plan", self.kernel.name(), &self.cache, &kept);
        self.plan(&request, outcome, kept)
    }

    /// The plan under the schedule that is written, or under the first candidate from that number on, where one is to
    /// be found.
    pub(crate) fn build_candidate(&self, first: usize) -> Result<Plan, Error> {
        self.build_wanted(Wanted::From(first))
    }

    fn build_wanted(&self, wanted: Wanted) -> Result<Plan, Error> {
        let (request, outcome) = self.outcome(wanted)?;
        self.plan(&request, outcome, Kept::Off)
    }

    pub(crate) fn kernel_name(&self) -> &str {
        self.kernel.name()
    }

    /// All that the speed of candidates depends on, but for the machine it runs on, as text.
    pub(crate) fn tuning_key(&self, options: &CompileOptions) -> Result<String, Error> {
        Ok(format!("{}\n{options:?}\n{}", self.wishes()?, self.kernel))
    }

    /// A plan for each strategy, in the order given; the analysis that they share is done once. Of these plans nothing
    /// is kept ([`Self::cache`]) but their code.
    ///
    /// # Errors
    /// Inside, what each strategy returns; outside, what stands in the way of all of them, as [`Self::build`] has it.
    pub fn build_each(self, strategies: &[StrategyChoice]) -> Result<Vec<Result<Plan, Error>>, Error> {
        let request = self.request(None)?;
        let outcomes = pipeline::run_each(&request, strategies)?;
        let plan = |(&strategy, outcome): (&StrategyChoice, Result<Outcome, Error>)| {
            self.plan(&Request { strategy, ..request.clone() }, outcome?, Kept::Off)
        };
        Ok(strategies.iter().zip(outcomes).map(plan).collect())
    }

    /// Has the checker prove storage found elsewhere, one mapping after the other; the analysis that they
    /// share is done once. Each mapping must have a place for every array that is not the caller's.
    ///
    /// # Errors
    /// Inside, [`MappingError::Unproved`](crate::storage::MappingError::Unproved) with what collides; outside, as
    /// [`Self::build`] has it.
    pub fn prove_each(self, storage: &[StorageMapping]) -> Result<Vec<Result<Proved<StorageMapping>, Error>>, Error> {
        pipeline::prove_each(&self.request(None)?, storage)
    }

    /// A plan, if it keeps to the cap.
    fn plan(&self, request: &Request, mut outcome: Outcome, kept: Kept) -> Result<Plan, Error> {
        let notes = request.expansion.as_ref().map(|expansion| expansion.notes(request, &outcome));
        outcome.notes.splice(0..0, notes.into_iter().flatten());
        outcome.notes.extend(request.schedule_note.clone());
        let threads = outcome.threads_used(request.threads);
        outcome.notes.extend(parallelism_notes(request, &outcome.program));
        let storage = outcome.storage(request.kernel());
        let needed_bytes = Footprint::new(request.kernel(), &storage, threads).least_bytes();
        if let Some(cap_bytes) = request.cap_bytes.filter(|cap| needed_bytes > *cap) {
            let fit = largest_fitting(request, &storage, threads, &Footprint::least_bytes, cap_bytes);
            let kernel = request.kernel().name().to_string();
            return Err(PlanError::TooLarge { kernel, needed_bytes, cap_bytes, fits: hint(fit.as_ref()) }.into());
        }
        Ok(Plan::new(request.clone(), outcome, kept))
    }

    /// All that a plan depends on but for its memory cap, which refuses plans and changes none.
    fn key(&self) -> Result<Vec<u8>, Error> {
        Ok(cached::key(&self.kernel, &self.wishes()?))
    }

    /// What the builder was told, as text.
    fn wishes(&self) -> Result<String, Error> {
        let PlanBuilder { sizes, schedule, strategy, objective, rounding, rings, mapping, horizon, .. } = self;
        let PlanBuilder { threads, quota, work_limit, runs_opaque, view, .. } = self;
        let storage = (strategy, objective, rounding, rings, mapping, horizon, view);
        let machine = (self.machine_model()?, self.thread_count()?, threads);
        Ok(format!("{:?}", (sizes, schedule, storage, machine, quota, work_limit, runs_opaque)))
    }

    /// The request and what comes of it, of schedules that are to be found under the one that is wanted. What shows that
    /// one is legal is also the beginning of its plan, and done once, where it is for the same kernel.
    fn outcome(&self, candidate: Wanted) -> Result<(Request, Outcome), Error> {
        if self.view == StorageView::Contraction && self.wanted()?.1.is_none() {
            return self.under_a_schedule_that_is_found(candidate, pipeline::run_in_order, lost_passes, bytes_of);
        }
        let request = self.request_from(None, candidate)?;
        let outcome = pipeline::run(&request)?;
        Ok((request, outcome))
    }

    /// The request; `found` is the schedule that is found for it, where that is known.
    fn request(&self, found: Option<FoundSchedule>) -> Result<Request, Error> {
        self.request_from(found, Wanted::Cheapest)
    }

    /// The request; of schedules that are to be found, under the one that is wanted.
    fn request_from(&self, found: Option<FoundSchedule>, candidate: Wanted) -> Result<Request, Error> {
        let request = self.as_it_is(found, candidate)?;
        if self.view == StorageView::Contraction {
            return Ok(request);
        }
        let written = request.bound.written();
        let Expanded { kernel, arrays, notes } = written.expanded(&written.schedules()[0].name)?;
        let count = |(name, into): (String, Vec<String>)| {
            let id = self.kernel.array_id(&name).expect("expanded arrays are the kernel's");
            Ok((name, box_cells(&request.bound, id)?, into))
        };
        let arrays = arrays.into_iter().map(count).collect::<Result<_, Error>>()?;
        let bound = bind(Arc::new(kernel), request.bound.position(), &self.sizes)?;
        Ok(Request { bound: Arc::new(bound), expansion: Some(Expansion { arrays, notes }), ..request })
    }

    /// The kernel with its schedules written out, and which of these is wanted; none where one is to be found.
    fn wanted(&self) -> Result<(Written, Option<usize>), Error> {
        self.verify_size_names()?;
        let written = written_out(&self.kernel, &self.sizes, self.schedule.as_deref())?;
        let kernel = &written.kernel;
        let schedules: Vec<&str> = kernel.schedules().iter().map(|s| s.name.as_str()).collect();
        let position = match written.schedule.as_deref() {
            None if schedules.is_empty() || kernel.finds_schedule => None,
            None => Some(0),
            Some(wanted) => match schedules.iter().position(|s| *s == wanted) {
                None if wanted != AUTOMATIC => {
                    let (kernel, schedule) = (kernel.name().to_string(), wanted.to_string());
                    return Err(
                        PlanError::UnknownSchedule { kernel, schedule, known: list(schedules.into_iter()) }.into()
                    );
                }
                position => position,
            },
        };
        Ok((written, position))
    }

    /// The request for the kernel whose arrays keep their names.
    fn as_it_is(&self, found: Option<FoundSchedule>, candidate: Wanted) -> Result<Request, Error> {
        let (Written { kernel, note, .. }, position) = self.wanted()?;
        match (position, found) {
            (Some(position), _) => Ok(Request { schedule_note: note, ..self.under(kernel, position, None)? }),
            (None, Some(found)) => {
                let kernel = Kernel { finds_schedule: false, ..(*kernel).clone() };
                let parts = kernel.split(&found.cuts).map_err(AnalysisError::from)?;
                parts.verify()?;
                let kernel = parts.and_schedule(found.schedule)?;
                let position = kernel.schedules().len() - 1;
                self.under(Arc::new(kernel), position, Some(found.search))
            }
            (None, None) => {
                let order = pipeline::verify_order;
                let (request, ()) =
                    self.under_a_schedule_that_is_found(candidate, order, |_, ()| None, |_, ()| None)?;
                Ok(request)
            }
        }
    }

    /// The request under the schedule that is thought to be the fastest, of those that are legal, and what `look_at`
    /// makes of it. What `worse` says against one counts while there is a simpler one, and the bytes that one takes where
    /// another one may take fewer.
    fn under_a_schedule_that_is_found<T>(
        &self,
        candidate: Wanted,
        look_at: impl Fn(&Request) -> Result<Result<T, ArrayId>, Error>,
        worse: impl Fn(&Request, &T) -> Option<String>,
        bytes: impl Fn(&Request, &T) -> Option<f64>,
    ) -> Result<(Request, T), Error> {
        let sizes = size_values(&self.kernel, &self.sizes)?;
        let (machine, threads) = (self.machine_model()?, self.thread_count()?);
        let look = |kernel: Kernel, search: ScheduleSearch, most_operations: Option<u64>| {
            let position = kernel.schedules().len() - 1;
            let request = self.under(Arc::new(kernel), position, Some(search))?;
            let quota = most_operations.unwrap_or(self.quota).min(self.quota);
            let ambiguous = |array: ArrayId| NotTaken::SeveralValues(self.kernel.array(array).name.clone());
            let seen = look_at(&Request { quota, ..request.clone() })?.map_err(ambiguous);
            let has_simple = most_operations.is_some();
            Ok(seen.and_then(|seen| match worse(&request, &seen).filter(|_| has_simple) {
                Some(why) => Err(NotTaken::Worse(why)),
                None => Ok(Looked { bytes: bytes(&request, &seen), plan: (request, seen) }),
            }))
        };
        let (search, (request, seen)) = ScheduleSearch::run(&self.kernel, &sizes, machine, threads, candidate, look)?;
        Ok((Request { search: Some(search), ..request }, seen))
    }

    /// Refuses a size that the kernel does not have.
    fn verify_size_names(&self) -> Result<(), PlanError> {
        let sizes = || self.kernel.params().iter().filter(|param| param.kind == ParamKind::Size);
        let Some(param) = self.sizes.keys().find(|name| !sizes().any(|param| param.name == **name)) else {
            return Ok(());
        };
        let known = list(sizes().map(|param| param.name.as_str()));
        Err(PlanError::UnknownSize { kernel: self.kernel.name().to_string(), param: param.clone(), known })
    }

    fn thread_count(&self) -> Result<usize, PlanError> {
        let Some(threads) = self.threads else { return Ok(crease_jit::cores()) };
        if verify_threads(threads).is_ok() {
            return Ok(threads);
        }
        let (kernel, cores, most) = (self.kernel.name().to_string(), crease_jit::cores(), most_threads());
        Err(PlanError::Threads { kernel, threads, cores, most })
    }

    fn machine_model(&self) -> Result<MachineModel, PlanError> {
        let mut machine = self.machine.unwrap_or_else(MachineModel::detect);
        machine.last_level_cache_bytes = self.cache_bytes.unwrap_or(machine.last_level_cache_bytes);
        let is_page = |bytes: u64| bytes >= LEAST_PAGE_BYTES && bytes.is_power_of_two();
        match machine.double_map_bytes {
            Some(page_bytes) if !is_page(page_bytes) => {
                let (kernel, least) = (self.kernel.name().to_string(), LEAST_PAGE_BYTES);
                Err(PlanError::PageBytes { kernel, page_bytes, least })
            }
            _ => Ok(machine),
        }
    }

    /// The kernel whose statements are repeated for a schedule, if that has overlapped tiles, and which it is.
    fn with_overlapped_tiles(&self, kernel: Arc<Kernel>, position: usize) -> Result<(Arc<Kernel>, usize), Error> {
        let schedule = &kernel.schedules()[position];
        if !schedule.dims.contains(&DimKind::Overlapped) {
            return Ok((kernel, position));
        }
        let params = many_steps(&kernel, &size_values(&kernel, &self.sizes)?);
        let repeated = kernel.with_overlapped_tiles(&schedule.name, &params)?;
        let same = repeated.schedules().iter().position(|other| other.name == schedule.name);
        Ok((Arc::new(repeated), same.expect("the schedule is kept")))
    }

    /// The request under one schedule of the kernel.
    fn under(&self, kernel: Arc<Kernel>, schedule: usize, search: Option<ScheduleSearch>) -> Result<Request, Error> {
        let found = search.is_some().then(|| kernel.schedules()[schedule].clone());
        let (kernel, schedule) = self.with_overlapped_tiles(kernel, schedule)?;
        Ok(Request {
            bound: Arc::new(bind(kernel, schedule, &self.sizes)?),
            strategy: self.strategy,
            objective: self.objective,
            rounding: self.rounding,
            rings: self.rings,
            mapping: self.mapping.clone(),
            horizon: self.horizon,
            threads: self.thread_count()?,
            names_threads: self.threads.is_some(),
            cap_bytes: self.cap_bytes,
            machine: self.machine_model()?,
            quota: self.quota,
            work_limit: self.work_limit,
            runs_opaque: self.runs_opaque,
            cache: self.cache.clone(),
            expansion: None,
            search,
            found,
            schedule_note: None,
        })
    }
}

/// Bytes of all arrays, the caller's included; none where storage is not what estimates are of, as it was asked for.
fn bytes_of(request: &Request, outcome: &Outcome) -> Option<f64> {
    if request.strategy != StrategyChoice::Auto || !request.mapping.is_empty() {
        return None;
    }
    let storage = outcome.storage(request.kernel());
    let footprint = Footprint::new(request.kernel(), &storage, outcome.threads_used(request.threads));
    Some(footprint.total_bytes() as f64)
}

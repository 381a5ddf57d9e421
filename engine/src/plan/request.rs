//! The plan builder: which sizes, schedule and strategy, and how much memory at most.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crease_jit::most_threads;
use crease_program::DEFAULT_WORK_LIMIT;

use crate::analysis::expansion::{Expanded, box_cells};
use crate::check::Proved;
use crate::error::Error;
use crate::kernel::graph::{Kernel, ParamKind};
use crate::machine::MachineModel;
use crate::mapping::options::{Objective, Rings, Rounding, StrategyChoice};
use crate::pipeline::{self, Outcome};
use crate::plan::Plan;
use crate::plan::fitting::{hint, largest_fitting};
use crate::plan::footprint::Footprint;
use crate::plan::parallelism::parallelism_notes;
use crate::storage::StorageMapping;

/// Operations that each stage of the analysis may use.
const DEFAULT_QUOTA: u64 = 200_000_000;

/// Why a plan was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The kernel has no schedule of that name.
    #[error("kernel `{kernel}` has no schedule `{schedule}`; it has {known}")]
    UnknownSchedule {
        /// The kernel.
        kernel: String,
        /// The name asked for.
        schedule: String,
        /// The names there are.
        known: String,
    },
    /// The kernel has no size parameter of that name.
    #[error("kernel `{kernel}` has no size parameter `{param}`; it has {known}")]
    UnknownSize {
        /// The kernel.
        kernel: String,
        /// The name asked for.
        param: String,
        /// The names there are.
        known: String,
    },
    /// A size parameter has no value.
    #[error("kernel `{kernel}`: size parameter `{param}` has no value; give it one (`size(\"{param}\", ..)`)")]
    MissingSize {
        /// The kernel.
        kernel: String,
        /// The parameter.
        param: String,
    },
    /// The sizes contradict the kernel's own constraints.
    #[error("kernel `{kernel}` is not defined for {sizes}: it requires {context}")]
    OutsideContext {
        /// The kernel.
        kernel: String,
        /// The sizes, as `N = 3`.
        sizes: String,
        /// The kernel's constraint.
        context: String,
    },
    /// A kernel for analysis, that was to run.
    #[error(
        "kernel `{kernel}` calls {functions}, declared as opaque: such a function stands for any, and what runs in its \
         place is a hash of its arguments; allow that with `run_opaque_functions(true)`, or `--opaque` of `crease run`"
    )]
    OpaqueFunctions {
        /// The kernel.
        kernel: String,
        /// The functions that it calls.
        functions: String,
    },
    /// No pool has so many threads.
    #[error(
        "kernel `{kernel}` is planned for {threads} threads: on {cores} core(s) there can be from 1 to {most}; choose \
         another number (`threads`), or none for all cores"
    )]
    Threads {
        /// The kernel.
        kernel: String,
        /// How many were asked for.
        threads: usize,
        /// Cores that this process may use.
        cores: usize,
        /// The most threads there can be.
        most: usize,
    },
    /// What a run keeps would exceed the cap. Both sizes are in bytes; private buffers count once for each planned
    /// thread, the inputs and outputs of a kernel with state as the copies that a run keeps.
    #[error(
        "kernel `{kernel}` needs {needed_bytes} bytes, more than the cap of {cap_bytes}{fits}; choose smaller sizes \
         or raise the cap (`memory_cap_bytes`)"
    )]
    TooLarge {
        /// The kernel.
        kernel: String,
        /// Predicted storage.
        needed_bytes: u64,
        /// The cap.
        cap_bytes: u64,
        /// The largest sizes that would fit, as text; empty if none were found.
        fits: String,
    },
}

/// What a plan is made from.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) kernel: Arc<Kernel>,
    /// Position of the schedule.
    pub(crate) schedule: usize,
    /// Per parameter, its value; none for run parameters.
    pub(crate) values: Vec<Option<i64>>,
    pub(crate) strategy: StrategyChoice,
    pub(crate) objective: Objective,
    pub(crate) rounding: Rounding,
    pub(crate) rings: Rings,
    /// Rules of given storage; none if empty.
    pub(crate) mapping: String,
    pub(crate) horizon: Option<u64>,
    /// Threads that runs have, if there is something to do for them.
    pub(crate) threads: usize,
    /// Whether the caller named that number.
    pub(crate) names_threads: bool,
    pub(crate) cap_bytes: Option<u64>,
    pub(crate) machine: MachineModel,
    pub(crate) quota: u64,
    /// Operations that lowering may write, and compiling too.
    pub(crate) work_limit: u64,
    /// Whether opaque functions run, as hashes of their arguments.
    pub(crate) runs_opaque: bool,
    /// What became of the kernel's arrays, if storage is allocated anew.
    pub(crate) expansion: Option<Expansion>,
}

/// The arrays of a kernel before and after its expansion.
#[derive(Clone, Debug)]
pub(crate) struct Expansion {
    /// Names of arrays that were expanded, the cells each had, if they can be counted, and those that took its place.
    pub(crate) arrays: Vec<(String, Option<u64>, Vec<String>)>,
    /// Arrays that keep their names.
    pub(crate) notes: Vec<String>,
}

/// What the names of arrays mean. Both are views of GeCoS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum View {
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
    View = [("contraction", View::Contraction), ("reallocation", View::Reallocation)]
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
    view: View,
}

impl Kernel {
    /// Starts a plan for this kernel, whose arithmetic uses the freedom that it gives ([`Kernel::rewritten`]).
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
            view: View::Contraction,
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

    /// Chooses a schedule by name. Default: the kernel's first.
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

    /// How strips get past the end of a ring; the notes of the report say what mirrored rings cost. Default:
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
        self.mapping.push_str(text);
        self.mapping.push('\n');
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

    /// Refuses plans whose runs keep more than this, and runs on so many threads that they do: folded storage, and
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

    /// Bytes of the last cache, whatever the machine has: code writes past it what does not fit and is not needed soon. Where it is smaller than
    /// the second-level cache, it is also what decides which cells code calls for ahead of time. No storage and no
    /// result depends on it. Default: that of [`Self::machine`].
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

    /// Operations that the program may have: what lowering writes before it gives up, and what compiling takes on unless
    /// [`CompileOptions::work_limit`](crate::CompileOptions::work_limit) allows more. Default: 2^20, about ten seconds of
    /// compiling; [`crate::DEFAULT_WORK_LIMIT`] says what counts as one.
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
    pub fn view(mut self, view: View) -> Self {
        self.view = view;
        self
    }

    /// Analyses, chooses storage, proves it and lowers the kernel. Allocates no field.
    ///
    /// # Errors
    /// [`Error::Plan`] for names and sizes, [`Error::Illegal`] for a schedule that breaks a dependence,
    /// [`Error::Expansion`] for a kernel that cannot be expanded, where that is asked for,
    /// [`Error::Mapping`] if no storage could be proved, [`PlanError::TooLarge`] above the cap, which takes up to two
    /// analyses more to find sizes that fit.
    pub fn build(self) -> Result<Plan, Error> {
        let request = self.request()?;
        self.plan(&request, pipeline::run(&request)?)
    }

    /// A plan for each strategy, in the order given; the analysis that they share is done once.
    ///
    /// # Errors
    /// Inside, what each strategy returns; outside, what stands in the way of all of them, as [`Self::build`] has it.
    pub fn build_each(self, strategies: &[StrategyChoice]) -> Result<Vec<Result<Plan, Error>>, Error> {
        let request = self.request()?;
        let outcomes = pipeline::run_each(&request, strategies)?;
        let plan = |(&strategy, outcome): (&StrategyChoice, Result<Outcome, Error>)| {
            self.plan(&Request { strategy, ..request.clone() }, outcome?)
        };
        Ok(strategies.iter().zip(outcomes).map(plan).collect())
    }

    /// Has the checker prove storage that somebody else has found, one mapping after the other; the analysis that they
    /// share is done once. Each mapping must have a place for every array that is not the caller's.
    ///
    /// # Errors
    /// Inside, [`MappingError::Unproved`](crate::storage::MappingError::Unproved) with what collides; outside, as
    /// [`Self::build`] has it.
    pub fn prove_each(self, storage: &[StorageMapping]) -> Result<Vec<Result<Proved<StorageMapping>, Error>>, Error> {
        pipeline::prove_each(&self.request()?, storage)
    }

    /// A plan, if it keeps to the cap.
    fn plan(&self, request: &Request, mut outcome: Outcome) -> Result<Plan, Error> {
        let notes = request.expansion.as_ref().map(|expansion| expansion.notes(request, &outcome));
        outcome.notes.splice(0..0, notes.into_iter().flatten());
        let threads = outcome.threads_used(request.threads);
        outcome.notes.extend(parallelism_notes(request, &outcome.program));
        let storage = outcome.storage(&request.kernel);
        let needed_bytes = Footprint::new(&request.kernel, &storage, threads).least_bytes();
        if let Some(cap_bytes) = request.cap_bytes.filter(|cap| needed_bytes > *cap) {
            let fit = largest_fitting(request, &storage, threads, &Footprint::least_bytes, cap_bytes);
            let kernel = request.kernel.name().to_string();
            return Err(PlanError::TooLarge { kernel, needed_bytes, cap_bytes, fits: hint(fit.as_ref()) }.into());
        }
        Ok(Plan::new(request.clone(), outcome))
    }

    fn request(&self) -> Result<Request, Error> {
        let request = self.as_it_is()?;
        if self.view == View::Contraction {
            return Ok(request);
        }
        let Expanded { kernel, arrays, notes } = self.kernel.expanded(&self.kernel.schedules()[0].name)?;
        let count = |(name, into): (String, Vec<String>)| {
            let id = self.kernel.array_id(&name).expect("expanded arrays are the kernel's");
            Ok((name, box_cells(&self.kernel, id, &request.values)?, into))
        };
        let arrays = arrays.into_iter().map(count).collect::<Result<_, Error>>()?;
        Ok(Request { kernel: Arc::new(kernel), expansion: Some(Expansion { arrays, notes }), ..request })
    }

    /// The request for the kernel whose arrays keep their names.
    fn as_it_is(&self) -> Result<Request, PlanError> {
        let kernel = &self.kernel;
        let name = || kernel.name().to_string();
        let list = |names: Vec<&str>| if names.is_empty() { "none".to_string() } else { names.join(", ") };
        let schedules: Vec<&str> = kernel.schedules().iter().map(|s| s.name.as_str()).collect();
        let schedule = match &self.schedule {
            None if schedules.is_empty() => Err("default".to_string()),
            None => Ok(0),
            Some(wanted) => schedules.iter().position(|s| s == wanted).ok_or_else(|| wanted.clone()),
        };
        let schedule = schedule.map_err(|schedule| PlanError::UnknownSchedule {
            kernel: name(),
            schedule,
            known: list(schedules),
        })?;
        let is_size = |p: &&crate::kernel::graph::Param| p.kind == ParamKind::Size;
        for param in self.sizes.keys() {
            if !kernel.params().iter().filter(is_size).any(|p| p.name == *param) {
                let known = list(kernel.params().iter().filter(is_size).map(|p| p.name.as_str()).collect());
                return Err(PlanError::UnknownSize { kernel: name(), param: param.clone(), known });
            }
        }
        let mut values = Vec::new();
        for param in kernel.params() {
            let value = self.sizes.get(&param.name).copied();
            if value.is_none() && param.kind == ParamKind::Size {
                return Err(PlanError::MissingSize { kernel: name(), param: param.name.clone() });
            }
            values.push(value);
        }
        let threads = self.threads.unwrap_or_else(crease_jit::cores);
        let (cores, most) = (crease_jit::cores(), most_threads());
        if !(1..=most).contains(&threads) {
            return Err(PlanError::Threads { kernel: name(), threads, cores, most });
        }
        let mut machine = self.machine.unwrap_or_else(MachineModel::detect);
        machine.last_level_cache_bytes = self.cache_bytes.unwrap_or(machine.last_level_cache_bytes);
        let request = Request {
            kernel: Arc::clone(kernel),
            schedule,
            values,
            strategy: self.strategy,
            objective: self.objective,
            rounding: self.rounding,
            rings: self.rings,
            mapping: self.mapping.clone(),
            horizon: self.horizon,
            threads,
            names_threads: self.threads.is_some(),
            cap_bytes: self.cap_bytes,
            machine,
            quota: self.quota,
            work_limit: self.work_limit,
            runs_opaque: self.runs_opaque,
            expansion: None,
        };
        request.verify_context()?;
        Ok(request)
    }
}

impl Request {
    /// Sizes as text: `N = 3, M = 4`.
    pub(crate) fn sizes(&self) -> String {
        self.bound_sizes().iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
    }

    /// Each parameter that has a value.
    pub(crate) fn bound_sizes(&self) -> Vec<(String, i64)> {
        let bound = self.kernel.params().iter().zip(&self.values);
        bound.filter_map(|(param, value)| Some((param.name.clone(), (*value)?))).collect()
    }

    /// Whether the kernel is defined at these sizes.
    pub(crate) fn verify_context(&self) -> Result<(), PlanError> {
        let values: Vec<i64> = self.values.iter().map(|v| v.unwrap_or(1)).collect();
        if self.kernel.context().holds(&[], &values).unwrap_or(false) {
            return Ok(());
        }
        let names: Vec<String> = self.kernel.params().iter().map(|p| p.name.clone()).collect();
        let context = self.kernel.context().display(&[], &names);
        Err(PlanError::OutsideContext { kernel: self.kernel.name().to_string(), sizes: self.sizes(), context })
    }
}

impl Expansion {
    /// What became of each array, and whether its values need more cells than it had.
    fn notes(&self, request: &Request, outcome: &Outcome) -> Vec<String> {
        let mut notes = self.notes.clone();
        for (name, before, into) in &self.arrays {
            let pieces = into.iter().filter_map(|name| outcome.layout.array(request.kernel.array_id(name)?));
            let buffers: BTreeSet<usize> =
                pieces.flat_map(|mapping| &mapping.pieces).map(|piece| piece.buffer).collect();
            let after = buffers.iter().fold(0_u64, |sum, &b| sum.saturating_add(outcome.layout.buffers[b].cells));
            let list = into.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            notes.push(match before {
                Some(before) if after > *before => {
                    format!("`{name}`, allocated anew as {list}, takes {after} cells, more than the {before} it has")
                }
                Some(before) => {
                    format!("`{name}`, allocated anew as {list}, takes {after} cells of the {before} it has")
                }
                None => format!("`{name}`, allocated anew as {list}, takes {after} cells"),
            });
        }
        notes
    }
}

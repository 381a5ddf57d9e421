//! Our own layouts as variants: plans, compiled code and runs of the engine.

use std::fmt;

use crease::{Code, CompileTimes, Kernel, Plan, Rounding, Run, RunOptions, StrategyChoice};
use crease_kernels::{Case, Fields, transfer};

use crate::code_variant::CodeVariant;
use crate::comparable::Comparable;
use crate::error::BenchError;
use crate::timing::Runner;

/// What asks for a schedule that the library finds.
pub(crate) const AUTOMATIC: &str = "auto";

/// What the benchmarks compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The unfolded array: a state array keeps every step of its horizon.
    Full,
    /// One modulus per dimension: the usual baseline.
    SuccessiveModulo,
    /// A mapping that is given as text, under this name: a published one, or the command line's.
    Given(&'static str),
    /// What Crease chooses.
    Folded,
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Layout::Full => "full",
            Layout::SuccessiveModulo => "successive-modulo",
            Layout::Given(name) => name,
            Layout::Folded => "folded",
        })
    }
}

/// A layout of one schedule, planned and compiled; shared by runs on any number of threads.
pub struct PlannedLayout {
    /// The schedule's name.
    pub schedule: String,
    /// The layout.
    pub layout: Layout,
    /// How its strips are compiled.
    pub code_variant: CodeVariant,
    /// The number of threads that its schedule was found for, if it was found: it runs on no other.
    pub only_on: Option<usize>,
    plan: Plan,
    /// `None` above the memory cap.
    code: Option<Code>,
    horizon: u64,
    cap_bytes: u64,
}

/// What one layout is planned from, besides kernel and sizes.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The schedule's name.
    pub schedule: &'a str,
    /// The layout.
    pub layout: Layout,
    /// Rules of the storage of [`Layout::Given`]; empty for others.
    pub mapping: &'a str,
    /// How strips are compiled.
    pub code: CodeVariant,
    /// To what pitches and moduli are rounded.
    pub rounding: Rounding,
    /// Steps that full storage holds.
    pub horizon: u64,
    /// Above this the plan is made, for its sizes, but cannot be started.
    pub cap_bytes: u64,
    /// The number of threads that a schedule is found for; none if it is written.
    pub only_on: Option<usize>,
}

/// Plans and compiles one layout.
///
/// # Errors
/// What the engine says if it finds no proved mapping or cannot generate code.
pub fn plan(kernel: &Kernel, case: &Case, request: &Request<'_>) -> Result<PlannedLayout, crease::Error> {
    let Request { schedule, layout, mapping, code: code_variant, rounding, horizon, cap_bytes, only_on } = *request;
    let strategy = match layout {
        Layout::Full => StrategyChoice::Full,
        Layout::SuccessiveModulo => StrategyChoice::SuccessiveModulo,
        Layout::Given(_) | Layout::Folded => StrategyChoice::Auto,
    };
    let mut builder = kernel.plan().schedule(schedule).strategy(strategy).mapping(mapping).rounding(rounding);
    for (name, value) in &case.sizes {
        builder = builder.size(name, *value);
    }
    if layout == Layout::Full {
        builder = builder.horizon(horizon);
    }
    if let Some(threads) = only_on {
        builder = builder.threads(threads);
    }
    let plan = builder.build()?;
    // On one thread: a plan that fits there may still be refused on more.
    let fits = plan.footprint_on(1).least_bytes() <= cap_bytes;
    let code = if fits { Some(code_variant.compile(&plan)?.0) } else { None };
    Ok(PlannedLayout { schedule: schedule.to_owned(), layout, code_variant, only_on, plan, code, horizon, cap_bytes })
}

impl PlannedLayout {
    /// The strategies that made it, each once.
    pub fn strategies(&self) -> String {
        let mut names: Vec<&str> = self.plan.report().buffers.iter().map(|buffer| buffer.strategy).collect();
        names.sort_unstable();
        names.dedup();
        let steps = if self.layout == Layout::Full && self.plan.kernel().step_param().is_some() {
            format!(" ({} steps)", self.horizon)
        } else {
            String::new()
        };
        names.join(", ") + &steps
    }

    /// Bytes of all buffers on this many threads, padding included.
    pub fn bytes(&self, threads: usize) -> u64 {
        self.plan.layout().folded_bytes(threads)
    }

    /// Bytes of the most values alive at once, in the copies of this many threads, if known; counted by the first call.
    pub fn lower_bound_bytes(&self, threads: usize) -> Option<u64> {
        self.plan.report_with_bounds().ok()?.lower_bound_bytes_for(threads)
    }

    /// What compiling it takes, several times over.
    ///
    /// # Errors
    /// What the engine says if it cannot generate code.
    pub fn compile_times(&self, count: usize) -> Result<Vec<CompileTimes>, crease::Error> {
        let options = self.code_variant.compile_options();
        (0..count).map(|_| Ok(self.plan.compile_with(&options)?.compiled().times())).collect()
    }

    /// Allocates the layout and writes scalars and initial data; `None` above the memory cap.
    ///
    /// # Errors
    /// [`BenchError::Crease`] if memory or threads cannot be had, or data do not fit the kernel.
    pub(crate) fn start(&self, threads: usize, case: &Case, initial: &Fields) -> Result<Option<LayoutRun>, BenchError> {
        let fits = self.plan.footprint_on(threads).least_bytes() <= self.cap_bytes;
        let Some(code) = self.code.as_ref().filter(|_| fits) else { return Ok(None) };
        let mut run = code.instantiate_with(RunOptions::default().threads(threads))?;
        for (name, value) in &case.scalars {
            run.set(name, *value)?;
        }
        transfer::write_all(&mut run, self.plan.kernel(), initial)?;
        let kernel = self.plan.kernel().clone();
        let in_steps = kernel.step_param().is_some();
        let warm_up_steps = if self.layout == Layout::Full && in_steps { self.horizon } else { 0 };
        Ok(Some(LayoutRun { run, kernel, warm_up_steps }))
    }
}

/// A running layout.
pub(crate) struct LayoutRun {
    run: Run,
    kernel: Kernel,
    warm_up_steps: u64,
}

impl Runner for LayoutRun {
    /// A kernel without steps runs this many times.
    fn advance(&mut self, steps: u64) -> Result<(), BenchError> {
        if self.kernel.step_param().is_some() {
            return Ok(self.run.advance(steps)?);
        }
        (0..steps).try_for_each(|_| Ok(self.run.run_once()?))
    }
}

impl Comparable for LayoutRun {
    fn read(&mut self) -> Result<Fields, BenchError> {
        Ok(transfer::read_all(&self.run, &self.kernel)?)
    }

    /// Full storage is touched for the first time as time goes by, and must be mapped before it is timed.
    fn warm_up_steps(&self) -> u64 {
        self.warm_up_steps
    }
}

//! Plans: a kernel with sizes, a schedule and a proved storage layout, before anything is allocated.
//!
//! `bounds` says how small storage could be, `cached` takes plans from earlier processes, `fitting` finds sizes that
//! keep to a limit, `footprint` counts what a run keeps in memory, `layout` holds the memory layout, `listing` machine
//! code for people, `losses` what another kernel or schedule would not cost, `parallelism` says what threads are good
//! for, `place` the places of single cells, `report` what a user is told, `builder` takes what is asked for, `request`
//! holds it, `search` chooses a schedule where nobody wrote one, `written` makes one that is written as rewritings,
//! `outcome` is what all stages leave.

pub(crate) mod bounds;
mod builder;
mod cached;
pub(crate) mod error;
mod fitting;
pub mod footprint;
pub mod layout;
pub mod listing;
mod losses;
pub(crate) mod outcome;
mod parallelism;
mod place;
pub mod report;
pub(crate) mod request;
pub mod search;
mod written;

use std::sync::{Arc, OnceLock};

use crease_jit::{CompileOptions, Kept, compile, compile_cached};
use crease_program::Program;

use crate::error::Error;
use crate::kernel::graph::Kernel;
use crate::parametric::report::ParametricReport;
use crate::pipeline;
use crate::plan::footprint::Footprint;
use crate::plan::layout::Layout;
use crate::plan::listing::Listing;
use crate::plan::outcome::Outcome;
use crate::plan::report::{Report, mapping_formulas};
use crate::run::Code;
use crate::stage::Stage;

pub use builder::{PlanBuilder, StorageView};
pub use error::PlanError;
pub use fitting::Fit;
pub(crate) use fitting::{hint, largest_fitting};
pub use place::Place;
pub(crate) use request::Request;

/// A proved plan. Nothing is allocated yet.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) request: Request,
    pub(crate) outcome: Outcome,
    report: Report,
    /// The report with all lower bounds, once it was asked for.
    bounded: Arc<OnceLock<Report>>,
    kept: Kept,
}

impl Plan {
    pub(crate) fn new(request: Request, outcome: Outcome, kept: Kept) -> Plan {
        let report = Report::new(&request, &outcome);
        Plan { request, outcome, report, bounded: Arc::default(), kept }
    }

    /// Writes down what candidates took when they were timed.
    pub(crate) fn note_times(&mut self, seconds: &[(usize, f64)]) {
        let search = &mut self.report.schedule_search;
        for &(at, seconds) in seconds {
            if let Some(candidate) = search.as_mut().and_then(|search| search.candidates.get_mut(at)) {
                candidate.measured_seconds = Some(seconds);
            }
        }
    }

    /// The kernel it plans.
    pub fn kernel(&self) -> &Kernel {
        self.request.kernel()
    }

    /// Buffers, formulas, sizes, what was chosen and what else there was, time per stage. Of lower bounds it has what
    /// the choice had to know.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The same with a lower bound for every buffer that has one. The first call counts them, for which lifetimes are
    /// found again: that can take as long as the plan did. Clones of a plan know what one of them has counted.
    ///
    /// # Errors
    /// [`Error::Analysis`] if the integer set library fails for want of memory. Bounds that take too much are unknown,
    /// and the report says so.
    pub fn report_with_bounds(&self) -> Result<&Report, Error> {
        if let Some(known) = self.bounded.get() {
            return Ok(known);
        }
        let bounds = pipeline::lower_bounds(&self.request, &self.outcome)?;
        Ok(self.bounded.get_or_init(|| self.report.with_bounds(self.layout(), bounds)))
    }

    /// Whether it was found in the cache or is kept there now, and if not, why ([`PlanBuilder::cache`]).
    pub fn kept(&self) -> &Kept {
        &self.kept
    }

    /// Where every array lives.
    pub fn layout(&self) -> &Layout {
        &self.outcome.layout
    }

    /// The lowered program.
    pub fn program(&self) -> &Program {
        &self.outcome.program
    }

    /// Bytes of all folded buffers, with padding: what [`Code::instantiate`](crate::Code::instantiate) allocates. For
    /// other numbers of threads than planned, ask [`Layout::folded_bytes`].
    pub fn folded_bytes(&self) -> u64 {
        self.outcome.layout.folded_bytes(self.threads())
    }

    /// What a run on the planned threads keeps in memory, beside folded buffers the copies of inputs and outputs.
    pub fn footprint(&self) -> Footprint {
        self.footprint_on(self.threads())
    }

    /// The same on another number of threads.
    pub fn footprint_on(&self, threads: usize) -> Footprint {
        let storage = self.outcome.storage(self.request.kernel());
        Footprint::new(self.request.kernel(), &storage, self.outcome.threads_used(threads))
    }

    /// The largest sizes, in proportion to the plan's, at which `measure` is at most `limit_bytes`, where the plan's
    /// own exceed it; none if none are known. It takes the analyses of at most two plans of smaller sizes.
    ///
    /// ```
    /// use crease::{Kernel, plan::footprint::Footprint};
    ///
    /// let kernel = Kernel::parse(
    ///     "kernel decay(size N; run T) {
    ///        state u[t, x]: f64 for 0 <= x < N
    ///        S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = 0.5 * u[t-1,x] }
    ///        schedule rows { S -> [t, x] }
    ///      }",
    /// )?;
    /// let plan = kernel.plan().size("N", 1_000_000).build()?;
    /// let fit = plan.largest_fitting(4000, &Footprint::total_bytes).expect("some sizes fit");
    /// assert_eq!(fit.to_string(), "N = 500");
    /// # Ok::<(), crease::Error>(())
    /// ```
    pub fn largest_fitting(&self, limit_bytes: u64, measure: &dyn Fn(&Footprint) -> u64) -> Option<Fit> {
        let storage = self.outcome.storage(self.request.kernel());
        largest_fitting(&self.request, &storage, self.threads(), measure, limit_bytes)
    }

    /// Threads that [`Code::instantiate`](crate::Code::instantiate) takes: as many as planned, or one if no loop of the
    /// program is parallel.
    pub fn threads(&self) -> usize {
        self.outcome.threads_used(self.request.threads)
    }

    /// The mapping as formulas of the sizes, with what is known of them. Computed anew at each call: it takes the
    /// analysis of a few plans of other sizes and one with sizes as symbols, several times what the plan itself took.
    ///
    /// What stands in the way of a formula or a proof is said in the report.
    ///
    /// # Errors
    /// [`Error::Analysis`] if the integer set library fails for want of memory.
    pub fn parametric(&self) -> Result<ParametricReport, Error> {
        crate::parametric::parametric(&self.request, &self.outcome.layout)
    }

    /// An intermediate form as text. Stages of the engine are run again to record it.
    ///
    /// # Errors
    /// Whatever the stages return; they succeeded once.
    pub fn dump(&self, stage: Stage) -> Result<String, Error> {
        self.dump_with(stage, &CompileOptions::default())
    }

    /// The same, where the stages of compiling take options.
    ///
    /// # Errors
    /// As [`Plan::dump`], and [`Error::Compile`] if there is no code generator for what the options ask for.
    pub fn dump_with(&self, stage: Stage, options: &CompileOptions) -> Result<String, Error> {
        match stage {
            Stage::Kernel => Ok(self.request.kernel().to_string()),
            Stage::Mapping => Ok(mapping_formulas(self.request.kernel(), &self.outcome.layout)),
            Stage::Program => Ok(self.outcome.program.to_string()),
            Stage::Clif => Ok(compile(&self.outcome.program, &options.texts(true))?.clif_text().to_string()),
            Stage::Asm => Ok(self.listing(options)?.to_string()),
            Stage::Schedule | Stage::Lifetimes | Stage::Conflicts | Stage::Loops => {
                pipeline::dump(&self.request, &self.outcome.layout, stage)
            }
        }
    }

    /// The machine code that options ask for, strip by strip, with what each instruction computes and what a site
    /// costs.
    ///
    /// # Errors
    /// [`Error::Compile`] if there is no code generator for what the options ask for.
    pub fn listing(&self, options: &CompileOptions) -> Result<Listing, Error> {
        listing::listing(self.request.kernel(), &self.outcome, options)
    }

    /// Compiles for this machine.
    ///
    /// # Errors
    /// As [`Plan::compile_with`].
    pub fn compile(&self) -> Result<Code, Error> {
        self.compile_with(&CompileOptions::default())
    }

    /// Compiles with options.
    ///
    /// # Errors
    /// [`PlanError::OpaqueFunctions`] if the kernel calls opaque functions and the plan does not allow to run them;
    /// [`Error::Compile`] if there is no code generator for what the options ask for.
    pub fn compile_with(&self, options: &CompileOptions) -> Result<Code, Error> {
        self.verify_runs()?;
        let options = options.work_limit_at_least(self.request.work_limit);
        let (compiled, kept) = compile_cached(&self.outcome.program, &options, &self.request.cache)?;
        cached::tell("code", self.kernel().name(), &self.request.cache, &kept);
        Ok(Code::new(self.request.clone(), self.outcome.clone(), (compiled, kept), options))
    }

    /// Opaque functions stand for values without a definition: they run if that is asked for.
    pub(crate) fn verify_runs(&self) -> Result<(), Error> {
        let calls = self.kernel().opaque_calls();
        if self.request.runs_opaque || calls.is_empty() {
            return Ok(());
        }
        let functions = calls.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        Err(PlanError::OpaqueFunctions { kernel: self.kernel().name().to_string(), functions }.into())
    }
}

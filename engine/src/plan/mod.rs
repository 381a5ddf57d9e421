//! Plans: a kernel with sizes, a schedule and a proved storage layout, before anything is allocated.
//!
//! `layout` holds the memory layout, `listing` machine code for people, `parametric` the mapping at other sizes,
//! `place` the places of single cells, `report` what a user is told, `request` the builder.

pub mod layout;
pub mod listing;
pub mod parametric;
mod place;
pub mod report;
mod request;

use crease_jit::program::Program;
use crease_jit::{CompileOptions, compile};

use crate::error::Error;
use crate::kernel::graph::Kernel;
use crate::pipeline::{self, Outcome, Stage};
use crate::plan::layout::Layout;
use crate::plan::listing::Listing;
use crate::plan::parametric::report::ParametricReport;
use crate::plan::report::Report;
use crate::run::Code;

pub use place::Place;
pub(crate) use request::Request;
pub use request::{PlanBuilder, PlanError, View};

/// A proved plan. Nothing is allocated yet.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) request: Request,
    pub(crate) outcome: Outcome,
    report: Report,
}

impl Plan {
    pub(crate) fn new(request: Request, outcome: Outcome) -> Plan {
        let report = Report::new(&request, &outcome);
        Plan { request, outcome, report }
    }

    /// The kernel it plans.
    pub fn kernel(&self) -> &Kernel {
        &self.request.kernel
    }

    /// Buffers, formulas, sizes, lower bounds, time per stage.
    pub fn report(&self) -> &Report {
        &self.report
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
        self.outcome.layout.folded_bytes(self.request.threads)
    }

    /// Threads that [`Code::instantiate`](crate::Code::instantiate) starts.
    pub fn threads(&self) -> usize {
        self.request.threads
    }

    /// The mapping as formulas of the sizes, with what is known of them. Computed anew at each call: it takes the
    /// analysis of a few plans of other sizes and one with sizes as symbols, several times what the plan itself took.
    ///
    /// What stands in the way of a formula or a proof is said in the report.
    ///
    /// # Errors
    /// [`Error::Analysis`] if the integer set library fails for want of memory.
    pub fn parametric(&self) -> Result<ParametricReport, Error> {
        parametric::parametric(&self.request, &self.outcome.layout)
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
            Stage::Clif => Ok(compile(self.program(), &options.texts(true))?.clif_text().to_string()),
            Stage::Asm => Ok(self.listing(options)?.to_string()),
            _ => pipeline::dump(&self.request, stage),
        }
    }

    /// The machine code that options ask for, strip by strip, with what each instruction computes and what a site
    /// costs.
    ///
    /// # Errors
    /// [`Error::Compile`] if there is no code generator for what the options ask for.
    pub fn listing(&self, options: &CompileOptions) -> Result<Listing, Error> {
        listing::listing(&self.request.kernel, &self.outcome, options)
    }

    /// Compiles for this machine.
    ///
    /// # Errors
    /// [`Error::Compile`] if there is no code generator for it.
    pub fn compile(&self) -> Result<Code, Error> {
        self.compile_with(&CompileOptions::default())
    }

    /// Compiles with options.
    ///
    /// # Errors
    /// [`Error::Compile`] if there is no code generator for what the options ask for.
    pub fn compile_with(&self, options: &CompileOptions) -> Result<Code, Error> {
        let compiled = compile(&self.outcome.program, options)?;
        Ok(Code::new(self.request.clone(), self.outcome.clone(), compiled))
    }
}

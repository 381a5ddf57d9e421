//! Plans: proved storage, what is known of it, and code for it.

use std::sync::Arc;

use crease::Stage;
use pyo3::prelude::*;

use crate::error::{Answer, Failure};
use crate::explain::Explained;
use crate::options::{CodeOptions, PlanOptions, kept_word};
use crate::pictures::Drawn;
use crate::run::Code;
use crate::signals::interruptible;
use crate::{explain, pictures};

/// A proved plan. Nothing is allocated yet.
#[pyclass(frozen, module = "crease._crease")]
#[derive(Debug)]
pub(crate) struct Plan {
    kernel: Arc<crease::Kernel>,
    options: PlanOptions,
    plan: Arc<crease::Plan>,
}

impl Plan {
    pub(crate) fn new(kernel: Arc<crease::Kernel>, options: PlanOptions) -> Answer<Plan> {
        let plan = Arc::new(options.apply(kernel.plan())?.build()?);
        Ok(Plan { kernel, options, plan })
    }
}

#[pymethods]
impl Plan {
    /// Threads that a run takes.
    #[getter]
    fn threads(&self) -> usize {
        self.plan.threads()
    }

    /// Bytes of folded storage, with padding.
    #[getter]
    fn folded_bytes(&self) -> u64 {
        self.plan.folded_bytes()
    }

    /// Bytes of all that a run keeps, copies of inputs and outputs included.
    #[getter]
    fn total_bytes(&self) -> u64 {
        self.plan.footprint().total_bytes()
    }

    /// What became of it in the cache of plans, in words.
    #[getter]
    fn kept(&self) -> String {
        kept_word(self.plan.kept())
    }

    /// The report as JSON; with a lower bound for every buffer that has one, which may take as long as planning did.
    fn report(&self, py: Python<'_>, bounds: bool) -> Answer<String> {
        let plan = Arc::clone(&self.plan);
        interruptible(py, move || {
            let report = if bounds { plan.report_with_bounds()? } else { plan.report() };
            serde_json::to_string(report).map_err(|error| Failure::refused("py/json", error))
        })
    }

    /// Text for a person, and the report with formulas of other sizes as JSON; without waiting for what takes longer
    /// than a second beyond the plan, unless `all_sizes` says so.
    fn explain(&self, py: Python<'_>, all_sizes: bool) -> Answer<Explained> {
        let plan = Arc::clone(&self.plan);
        interruptible(py, move || explain::explain(&plan, all_sizes))
    }

    /// Pictures of a small run as SVG, each by its name, with the sizes that they show.
    fn pictures(&self, py: Python<'_>, steps: i64) -> Answer<Drawn> {
        let (kernel, plan, options) = (Arc::clone(&self.kernel), Arc::clone(&self.plan), self.options.clone());
        interruptible(py, move || {
            pictures::draw(&plan, steps, |sizes| Ok(options.with_sizes(sizes).apply(kernel.plan())?.build()?))
        })
    }

    /// An intermediate form as text, by the name of its stage.
    fn dump(&self, py: Python<'_>, stage: &str, options: CodeOptions) -> Answer<String> {
        let stage: Stage = stage.parse().map_err(|error| Failure::refused("py/unknown-choice", error))?;
        let (plan, options) = (Arc::clone(&self.plan), options.compile_options()?);
        interruptible(py, move || Ok(plan.dump_with(stage, &options)?))
    }

    /// Machine code.
    fn compile(&self, py: Python<'_>, options: CodeOptions) -> Answer<Code> {
        let (plan, options) = (Arc::clone(&self.plan), options.compile_options()?);
        interruptible(py, move || {
            let code = plan.compile_with(&options)?;
            Ok(Code::new(code, Arc::new(plan.kernel().clone()), plan.threads()))
        })
    }
}

/// Most threads that a plan or a run may ask for on this machine.
#[pyfunction]
pub(crate) fn most_threads() -> usize {
    crease::most_threads()
}

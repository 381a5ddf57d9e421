//! What `explain` and `run` are asked about: a kernel, its sizes and how it is planned and compiled.

use crease::plan::report::Report;
use crease::{Arithmetic, PlanBuilder, PlanCache, StrategyChoice};
use crease_bench::code_variant::CodeVariant;

use crate::error::CommandError;
use crate::kernel_source::{KernelSource, load};
use crate::settings::{Assignment, Settings};
use crate::storage::StorageOptions;

/// A kernel and how it is planned and compiled.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelRequest {
    /// Name in the catalogue, or a file.
    pub kernel: String,
    /// Schedule; by default the kernel's first.
    pub schedule: Option<String>,
    /// Sizes, number of steps, scalars.
    pub assignments: Vec<Assignment>,
    /// How storage is found.
    pub storage: StorageOptions,
    /// Storage that is given, as text; empty for none.
    pub mapping: String,
    /// How strips are compiled.
    pub code: CodeVariant,
    /// What to do to arithmetic, instead of what the kernel allows.
    pub arithmetic: Option<Arithmetic>,
    /// Where plans and code are kept, and found again.
    pub cache: PlanCache,
}

/// The kernel of a request, with values of its sizes and scalars.
pub(crate) struct Resolved {
    pub(crate) source: KernelSource,
    pub(crate) settings: Settings,
}

impl KernelRequest {
    /// A kernel as it is: with the catalogue's sizes, if it is one of the catalogue, and the choices of the command
    /// line without options; nothing is kept.
    pub fn of(kernel: &str) -> KernelRequest {
        KernelRequest {
            kernel: kernel.to_owned(),
            schedule: None,
            assignments: Vec::new(),
            storage: StorageOptions::default(),
            mapping: String::new(),
            code: CodeVariant::default(),
            arithmetic: None,
            cache: PlanCache::none(),
        }
    }

    /// Finds the kernel, and values of its sizes and scalars.
    ///
    /// # Errors
    /// [`CommandError`] if the kernel or a name is unknown, or a size has no value.
    pub(crate) fn resolve(&self) -> Result<Resolved, CommandError> {
        let mut source = load(&self.kernel)?;
        if let Some(arithmetic) = self.arithmetic {
            source.kernel = source.kernel.with_arithmetic(arithmetic);
        }
        let settings = Settings::resolve(&source, &self.assignments)?;
        Ok(Resolved { source, settings })
    }

    /// What its plan is made from.
    pub(crate) fn plan(&self, source: &KernelSource, settings: &Settings) -> PlanBuilder {
        let StorageOptions { strategy, objective, rounding, rings, view, threads } = self.storage;
        let builder = source.kernel.plan().strategy(strategy).objective(objective).rounding(rounding);
        let mut builder = builder.rings(rings).storage_view(view).mapping(&self.mapping).cache(self.cache.clone());
        for (name, value) in &settings.sizes {
            builder = builder.size(name, *value);
        }
        if let Some(name) = &self.schedule {
            builder = builder.schedule(name);
        }
        if let Some(threads) = threads {
            builder = builder.threads(threads);
        }
        if let Some(steps) = settings.steps.filter(|_| strategy == StrategyChoice::Full) {
            builder = builder.horizon(steps);
        }
        builder
    }
}

/// How many threads a run takes, and why it is no more.
pub(crate) fn threads(report: &Report) -> String {
    match (report.threads, report.threads_used, report.threads_busy) {
        (planned, 1, _) if planned > 1 => format!("1 of {planned}: no two iterations of a loop may run at a time"),
        (_, used, busy) if busy < used => format!("{used}, of which {busy} have something to do at a time"),
        (_, used, _) => used.to_string(),
    }
}

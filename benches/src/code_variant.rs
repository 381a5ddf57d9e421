//! How strips are compiled: what the options `--isa`, `--non-temporal`, `--prefetch` and `--autotune` choose.

use std::fmt::{self, Write};

use crease::{
    Code, CompileOptions, Finding, IsaChoice, NonTemporal, Plan, PlanBuilder, Prefetch, TunedCode, TuningMemory,
};

/// How strips are compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeVariant {
    /// The instructions; not `Auto` in what was planned.
    pub isa: IsaChoice,
    /// Which stores are non-temporal.
    pub non_temporal: NonTemporal,
    /// Which strips prefetch cells.
    pub prefetch: Prefetch,
    /// Whether the rest is found by timing, or known from an earlier time.
    pub tuned: bool,
}

impl CodeVariant {
    /// Options to compile so, apart from tuning.
    pub fn compile_options(self) -> CompileOptions {
        CompileOptions::default().choice(self.isa).non_temporal(self.non_temporal).prefetch(self.prefetch)
    }

    /// Makes a plan; under the schedule that is fastest on this machine, if tuning was asked for and none is written.
    ///
    /// # Errors
    /// What the engine says.
    pub fn build(self, builder: PlanBuilder) -> Result<Plan, crease::Error> {
        match self.tuned {
            true => Ok(builder.build_tuned(&self.compile_options(), &TuningMemory::of_user())?.plan),
            false => builder.build(),
        }
    }

    /// Tunes a plan for its threads, if that was asked for, with what is remembered in the user's directory.
    ///
    /// # Errors
    /// What the engine says.
    pub fn compile_tuned(self, plan: &Plan) -> Result<Option<TunedCode>, crease::Error> {
        let memory = TuningMemory::of_user();
        self.tuned.then(|| plan.compile_tuned(&self.compile_options(), &memory)).transpose()
    }

    /// Compiles a plan so. Also says what tuning found, if it was asked for.
    ///
    /// # Errors
    /// What the engine says.
    pub fn compile(self, plan: &Plan) -> Result<(Code, Option<TunedCode>), crease::Error> {
        match self.compile_tuned(plan)? {
            Some(tuned) => Ok((tuned.code.clone(), Some(tuned))),
            None => Ok((plan.compile_with(&self.compile_options())?, None)),
        }
    }

    /// Options to compile a plan so, with what tuning found.
    ///
    /// # Errors
    /// What the engine says.
    pub fn found_options(self, plan: &Plan) -> Result<CompileOptions, crease::Error> {
        let found = self.compile_tuned(plan)?.map(|tuned| tuned.variant);
        let options = self.compile_options();
        Ok(found.map_or(options, |variant| options.with_variant(variant)))
    }
}

impl fmt::Display for CodeVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let non_temporal = match self.non_temporal {
            NonTemporal::Auto => "",
            NonTemporal::Never => ", no non-temporal stores",
            NonTemporal::Always => ", non-temporal stores",
        };
        let prefetch = match self.prefetch {
            Prefetch::Auto => "",
            Prefetch::Never => ", no prefetch",
            Prefetch::Always => ", prefetch",
        };
        f.pad(&format!("{}{non_temporal}{prefetch}{}", self.isa.name(), if self.tuned { ", tuned" } else { "" }))
    }
}

/// What tuning found, for a person.
pub fn describe_tuning(tuned: &TunedCode) -> String {
    let mut text = String::new();
    match &tuned.finding {
        Finding::Remembered => _ = writeln!(text, "tuned: {}, as remembered", tuned.variant),
        Finding::Measured(candidates) => {
            _ = writeln!(text, "tuned: {}, the fastest of", tuned.variant);
            for (variant, seconds) in candidates {
                _ = writeln!(text, "  {seconds:.3e} s  {variant}");
            }
        }
    }
    if let Some(reason) = &tuned.not_remembered {
        _ = writeln!(text, "  and cannot be remembered: {reason}");
    }
    text
}

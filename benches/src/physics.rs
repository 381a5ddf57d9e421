//! `crease bench --suite physics`: fine runs of folded kernels against published and analytic results.
//!
//! In: which kernel, how many threads.   Out: a record with one check per quantity, and its table.

use std::collections::BTreeMap;
use std::fmt::Write;

use crease_kernels::physics::{Check, Figure};
use serde::{Deserialize, Serialize};

use crate::catalogue::catalogue_entry;
use crate::columns::{Columns, bytes};
use crate::error::{BenchError, chain};
use crate::physics_runs::{Listed, RUNS};
use crate::progress::Progress;
use crate::record::{Findings, Header, Record};

/// How the command line names the suite.
pub const SUITE: &str = "physics";

/// What to check and how.
#[derive(Debug)]
pub struct PhysicsOptions {
    /// Only this kernel.
    pub kernel: Option<String>,
    /// Threads; by default all cores.
    pub threads: Option<usize>,
    /// No progress on standard error.
    pub silent: bool,
    /// The command line, for the record.
    pub command: String,
}

/// What the suite found.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Physics {
    /// One per quantity.
    pub checks: Vec<Comparison>,
    /// Runs that gave none.
    pub failures: Vec<Failure>,
    /// What can be drawn; records up to 2026-11-24 have none.
    #[serde(default)]
    pub figures: Vec<Figure>,
}

/// A quantity and its reference: a [`Check`] as records keep it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// The kernel's name in the catalogue.
    pub kernel: String,
    /// What was compared.
    pub quantity: String,
    /// Where the reference comes from.
    pub source: String,
    /// Sizes and dimensionless numbers of the run.
    pub setting: BTreeMap<String, f64>,
    /// Steps of the longest run.
    pub steps: u64,
    /// Folded storage of the largest run, in bytes.
    pub storage_bytes: u64,
    /// What came out.
    pub computed: f64,
    /// What should.
    pub reference: f64,
    /// How far they are apart: over the lid's speed for profiles of cavities, as it is where the reference is 0, how
    /// much is missing where it is a bound, relative for all else.
    pub deviation: f64,
    /// The deviation that is accepted.
    pub limit: f64,
}

/// A run without a result.
#[derive(Debug, Serialize, Deserialize)]
pub struct Failure {
    /// What was run.
    pub run: String,
    /// Why there is no result.
    pub reason: String,
}

/// Runs the suite, or its runs of one kernel.
///
/// # Errors
/// [`BenchError::UnknownKernel`], [`BenchError::NoPhysics`] for a kernel that no run is about. A run that fails is part
/// of the record.
pub fn physics(options: &PhysicsOptions) -> Result<Record<Physics>, BenchError> {
    let wanted = |listed: &&Listed| options.kernel.as_deref().is_none_or(|kernel| kernel == listed.kernel);
    let runs: Vec<&Listed> = RUNS.iter().filter(wanted).collect();
    if let (Some(kernel), true) = (&options.kernel, runs.is_empty()) {
        return Err(BenchError::NoPhysics { kernel: catalogue_entry(kernel)?.name });
    }
    let mut progress = Progress::new(runs.len(), options.silent);
    let header = Header::new(&options.command, None);
    let (mut found, mut figures) = (Physics::default(), Vec::new());
    for listed in runs {
        progress.stage(listed.name);
        match (listed.run)(options.threads) {
            Ok(checks) => {
                figures.extend(checks.iter().flat_map(|check| check.figures.clone()));
                found.checks.extend(checks.into_iter().map(Comparison::from));
            }
            Err(error) => found.failures.push(Failure { run: listed.name.to_owned(), reason: chain(&error) }),
        }
    }
    progress.clear();
    found.figures = Figure::merged(figures);
    Ok(Record { header, found })
}

impl From<Check> for Comparison {
    fn from(check: Check) -> Comparison {
        Comparison {
            kernel: check.kernel.to_owned(),
            quantity: check.quantity,
            source: check.source.to_owned(),
            setting: check.setting.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            steps: check.steps,
            storage_bytes: check.storage_bytes,
            computed: check.computed,
            reference: check.reference,
            deviation: check.deviation,
            limit: check.limit,
        }
    }
}

impl Comparison {
    /// Whether the deviation is within the limit; NaN is not.
    pub fn passes(&self) -> bool {
        self.deviation <= self.limit
    }
}

impl Physics {
    /// The tables a person reads.
    pub fn render(&self) -> String {
        let mut text = columns(self).render();
        for Failure { run, reason } in &self.failures {
            let _ = writeln!(text, "  {run}: FAIL, {reason}");
        }
        text
    }

    /// Checks beyond their limit and runs without a result.
    pub fn failed(&self) -> usize {
        self.checks.iter().filter(|check| !check.passes()).count() + self.failures.len()
    }
}

impl Findings for Physics {
    const SUFFIX: &'static str = "-physics";

    fn verdict(&self) -> Result<(), BenchError> {
        match self.failed() {
            0 => Ok(()),
            failed => Err(BenchError::Physics { failed }),
        }
    }
}

/// A line per quantity.
pub fn columns(found: &Physics) -> Columns {
    let header = [
        "kernel",
        "setting",
        "quantity",
        "source",
        "computed",
        "reference",
        "deviation",
        "limit",
        "storage",
        "steps",
        "verdict",
    ];
    let mut columns = Columns::new(4, &header);
    for check in &found.checks {
        let setting: Vec<String> = check.setting.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        columns.push(vec![
            check.kernel.clone(),
            setting.join(", "),
            check.quantity.clone(),
            check.source.clone(),
            significant(check.computed),
            significant(check.reference),
            percent(check.deviation),
            percent(check.limit),
            bytes(check.storage_bytes),
            check.steps.to_string(),
            if check.passes() { "pass" } else { "FAIL" }.to_owned(),
        ]);
    }
    columns
}

/// Per cent, with two digits that matter and no more than two behind the point where these are enough.
fn percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0 %".to_owned(),
        percent if percent < 0.01 => format!("{percent:.0e} %"),
        percent if percent < 10.0 => {
            let text = format!("{percent:.2}");
            format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
        }
        percent => format!("{percent:.0} %"),
    }
}

/// Five significant digits.
fn significant(value: f64) -> String {
    match value.abs() {
        size if size < 1e-3 => format!("{value:.4e}"),
        size => format!("{value:.*}", (4.0 - size.log10().floor()).clamp(0.0, 8.0) as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(kernel: &str) -> PhysicsOptions {
        PhysicsOptions { kernel: Some(kernel.to_owned()), threads: Some(1), silent: true, command: "crease".into() }
    }

    #[test]
    fn a_record_has_its_checks_and_a_table() {
        let record = physics(&options("heat-1d")).unwrap();
        assert_eq!((record.found.checks.len(), record.found.failed()), (3, 0));
        let table = record.found.render();
        assert_eq!(table.matches("pass").count(), 3, "{table}");
        let json = serde_json::to_value(&record).unwrap();
        assert_eq!(json["checks"][0]["reference"], 2.0);
    }

    #[test]
    fn what_deviates_fails() {
        let mut record = physics(&options("heat-1d")).unwrap();
        record.found.checks[0].deviation = f64::NAN;
        record.found.checks[1].deviation = 2.0 * record.found.checks[1].limit;
        record.found.failures.push(Failure { run: "a flow".into(), reason: "it did not become steady".into() });
        assert_eq!(record.found.failed(), 3);
        let table = record.found.render();
        assert!(table.matches("FAIL").count() == 3 && table.contains("a flow: FAIL, it did"), "{table}");
    }

    #[test]
    fn kernels_that_exist_have_runs_and_others_are_errors() {
        assert!(RUNS.iter().all(|listed| crease_kernels::find(listed.kernel).is_some()));
        assert!(matches!(physics(&options("no-such-kernel")), Err(BenchError::UnknownKernel { .. })));
    }
}

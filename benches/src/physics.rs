//! `crease bench --suite physics`: fine runs of folded kernels against published and analytic results.
//!
//! In: which kernel, how many threads.   Out: a record with one check per quantity, and its table.

use std::collections::BTreeMap;
use std::fmt::Write;

use crease_kernels::physics::cavity::Cavity;
use crease_kernels::physics::channel::Channel;
use crease_kernels::physics::collision::Collision;
use crease_kernels::physics::conservation_laws::{Advection, dam_break, shock};
use crease_kernels::physics::convection::Convection;
use crease_kernels::physics::cube::Cube;
use crease_kernels::physics::ghia::Reynolds;
use crease_kernels::physics::heat::Heat;
use crease_kernels::physics::patterns::{Pattern, Reaction};
use crease_kernels::physics::plates::Plates;
use crease_kernels::physics::step::Step;
use crease_kernels::physics::taylor_green::TaylorGreen;
use crease_kernels::physics::vortices::Vortices;
use crease_kernels::physics::waves::Elastic;
use crease_kernels::physics::{Check, PhysicsError, drops, layers, walls, waves};
use crease_kernels::stencil::pml::Layer;
use serde::{Deserialize, Serialize};

use crate::catalogue::catalogue_entry;
use crate::columns::{Columns, bytes};
use crate::error::{BenchError, chain};
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
#[derive(Debug, Serialize, Deserialize)]
pub struct Physics {
    /// One per quantity.
    pub checks: Vec<Comparison>,
    /// Runs that gave none.
    pub failures: Vec<Failure>,
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
    /// How far they are apart: over the lid's speed for profiles of cavities, as it is where the reference is 0, how much is
    /// missing where it is a bound, relative for all else.
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

/// A run of the suite.
struct Listed {
    kernel: &'static str,
    name: &'static str,
    run: fn(Option<usize>) -> Result<Vec<Check>, PhysicsError>,
}

/// A run per line. The limits are those that the tables and the analytic solutions are expected to be met within; drag
/// and frequency of a cylinder made of cells are known to a few per cent of its diameter.
const RUNS: &[Listed] = &[
    Listed {
        kernel: "lbm-d2q9-cavity",
        name: "cavity, Re 100",
        run: |threads| Ok(Cavity { reynolds: Reynolds::Re100, n: 128, u_lid: 0.05 }.run(threads)?.checks(0.02)),
    },
    Listed {
        kernel: "lbm-d2q9-cavity",
        name: "cavity, Re 400",
        run: |threads| Ok(Cavity { reynolds: Reynolds::Re400, n: 192, u_lid: 0.08 }.run(threads)?.checks(0.02)),
    },
    Listed {
        kernel: "lbm-d2q9-cavity-central",
        name: "cavity of few cells, Re 400, central moments",
        run: |threads| Ok(Cavity { reynolds: Reynolds::Re400, n: 64, u_lid: 0.1 }.run_central(threads)?.checks(0.02)),
    },
    Listed {
        kernel: "lbm-d2q9-periodic",
        name: "vortex, 64 cells",
        run: |threads| Ok(vec![TaylorGreen { n: 64, omega: 1.2, speed: 0.02 }.check(0.01, threads)?]),
    },
    Listed {
        kernel: "lbm-d2q9-periodic",
        name: "vortex, 128 cells",
        run: |threads| Ok(vec![TaylorGreen { n: 128, omega: 1.8, speed: 0.02 }.check(0.01, threads)?]),
    },
    Listed {
        kernel: "heat-1d",
        name: "heat on a line",
        run: |threads| [16, 32, 64].into_iter().map(|n| Heat::Line.check(n, 0.05, threads)).collect(),
    },
    Listed {
        kernel: "heat-2d-5pt",
        name: "heat on a square",
        run: |threads| [16, 32, 64].into_iter().map(|n| Heat::Square.check(n, 0.05, threads)).collect(),
    },
    Listed {
        kernel: "lbm-d2q9-cylinder",
        name: "empty channel",
        run: |threads| {
            let channel = Channel { height: 41, length: 160, reynolds: 10.0, u_mean: 0.04 };
            Ok(vec![channel.check_poiseuille(0.01, threads)?])
        },
    },
    Listed {
        kernel: "lbm-d2q9-cylinder",
        name: "cylinder, Re 20",
        run: |threads| {
            let channel = Channel { height: 123, length: 660, reynolds: 20.0, u_mean: 0.05 };
            Ok(vec![channel.check_drag(5.58, 0.05, threads)?])
        },
    },
    Listed {
        kernel: "lbm-d2q9-cylinder",
        name: "cylinder, Re 100",
        run: |threads| {
            let channel = Channel { height: 123, length: 660, reynolds: 100.0, u_mean: 0.05 };
            Ok(vec![channel.check_frequency(0.3, 0.05, threads)?])
        },
    },
    Listed {
        kernel: "lbm-d2q9-cylinder",
        name: "backward-facing step, Re 100",
        run: |threads| {
            let step = Step { height: 30, reynolds: 100.0, u_mean: 0.05 };
            Ok(vec![step.check(2.922, 0.03, threads)?])
        },
    },
    Listed {
        kernel: "lbm-d3q19-periodic",
        name: "vortices in three dimensions, R 20 and 100",
        run: |threads| {
            let collision = Collision::Bgk;
            let start =
                |reynolds, time| Vortices { collision, n: 64, reynolds, speed: 0.03, time }.checks(0.01, threads);
            Ok([start(20.0, 0.5)?, start(100.0, 0.7)?].concat())
        },
    },
    Listed {
        kernel: "lbm-d3q27-periodic-cumulant",
        name: "vortices in three dimensions, R 100, cumulants",
        run: |threads| {
            let collision = Collision::Cumulants;
            Vortices { collision, n: 48, reynolds: 100.0, speed: 0.05, time: 0.7 }.checks(0.01, threads)
        },
    },
    Listed {
        kernel: "lbm-d3q19-cavity",
        name: "cavity in three dimensions, Re 1000",
        run: |threads| Cube { collision: Collision::Bgk, n: 64, u_lid: 0.12, sides: 35.0 }.checks(0.03, threads),
    },
    Listed {
        kernel: "lbm-d3q27-cavity-cumulant",
        name: "cavity in three dimensions of few cells, Re 1000",
        run: |threads| Cube { collision: Collision::Cumulants, n: 32, u_lid: 0.15, sides: 25.0 }.checks(0.05, threads),
    },
    Listed {
        kernel: "lbm-d2q9-plates-trt",
        name: "flow between plates",
        run: |threads| {
            let heights = [(Plates::Force, 33), (Plates::Plate, 33)];
            heights.into_iter().map(|(plates, height)| plates.check(height, 1e-10, threads)).collect()
        },
    },
    Listed {
        kernel: "lbm-d2q9-interpolated",
        name: "plates between cells",
        run: |threads| {
            let distances = [[0.2, 0.9], [1.0, 0.45]];
            distances.into_iter().map(|distances| walls::Plates { rows: 33, distances }.check(1e-10, threads)).collect()
        },
    },
    Listed {
        kernel: "lbm-thermal-convection",
        name: "convection, Ra 5000 and 10000",
        run: |threads| {
            let rolls =
                |rayleigh, published| Convection { rayleigh, height: 64, speed: 0.05 }.check(published, 0.02, threads);
            Ok(vec![rolls(5e3, 2.116)?, rolls(1e4, 2.661)?])
        },
    },
    Listed {
        kernel: "lbm-d2q9-shan-chen",
        name: "two drops",
        run: |threads| Ok(vec![drops::check(96, [12.0, 24.0], 20_000, 0.05, threads)?]),
    },
    Listed {
        kernel: "wave-1d",
        name: "string",
        run: |threads| [1, 40].into_iter().map(|mode| waves::string(500, mode, 10_001, 1e-10, threads)).collect(),
    },
    Listed {
        kernel: "fdtd-2d",
        name: "resonances of a cavity",
        run: |threads| {
            let modes = [[1, 1], [5, 8]];
            modes.into_iter().map(|mode| waves::cavity([201, 301], mode, 2001, 1e-10, threads)).collect()
        },
    },
    Listed {
        kernel: "fdtd-2d-pml",
        name: "matched layers",
        run: |threads| {
            let layer = |thickness, reflection| Layer { thickness, reflection };
            let plane = [(10, 0.1), (20, 0.01)].map(|(n, left)| layers::plane_wave(layer(n, left), 0.03, threads));
            let round = [(8, 1e-4), (16, 1e-6)].map(|(n, left)| layers::round_wave(100, layer(n, left), 1e-3, threads));
            plane.into_iter().chain(round).collect()
        },
    },
    Listed {
        kernel: "elastic-2d",
        name: "pressure and shear waves",
        run: |threads| {
            let both = [Elastic::Pressure, Elastic::Shear];
            both.into_iter().map(|wave| waves::elastic(wave, [201, 301], [5, 8], 2001, 1e-10, threads)).collect()
        },
    },
    Listed {
        kernel: "advection-1d-weno5",
        name: "WENO on a ring",
        run: |threads| [40, 80].into_iter().map(|n| Advection::Weno5.check(n, 0.05, threads)).collect(),
    },
    Listed {
        kernel: "advection-1d-rk4",
        name: "centred differences on a ring",
        run: |threads| [40, 80].into_iter().map(|n| Advection::Rk4.check(n, 0.05, threads)).collect(),
    },
    Listed {
        kernel: "gray-scott-periodic",
        name: "modes of a reaction",
        run: |threads| {
            let reaction = Reaction { feed: 0.058, kill: 0.062 };
            [(6, 400), (16, 20)]
                .into_iter()
                .map(|(waves, steps)| reaction.check_growth(66, waves, steps, 1e-6, threads))
                .collect()
        },
    },
    Listed {
        kernel: "gray-scott-periodic",
        name: "patterns of a reaction",
        run: |threads| {
            let patterns = [(Pattern::Uniform, 1e-6), (Pattern::Spots, 0.1), (Pattern::Stripes, 0.0)];
            patterns.into_iter().map(|(pattern, limit)| pattern.check(128, 10_000, limit, threads)).collect()
        },
    },
    Listed { kernel: "burgers-1d", name: "shock", run: |threads| Ok(vec![shock(2000, 0.002, threads)?]) },
    Listed { kernel: "shallow-water-2d", name: "dam break", run: |threads| Ok(vec![dam_break(2000, 0.02, threads)?]) },
];

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
    let mut found = Physics { checks: Vec::new(), failures: Vec::new() };
    for listed in runs {
        progress.stage(listed.name);
        match (listed.run)(options.threads) {
            Ok(checks) => found.checks.extend(checks.into_iter().map(Comparison::from)),
            Err(error) => found.failures.push(Failure { run: listed.name.to_owned(), reason: chain(&error) }),
        }
    }
    progress.clear();
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
            format!("{:.2} %", check.deviation * 100.0),
            format!("{:.0} %", check.limit * 100.0),
            bytes(check.storage_bytes),
            check.steps.to_string(),
            if check.passes() { "pass" } else { "FAIL" }.to_owned(),
        ]);
    }
    columns
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

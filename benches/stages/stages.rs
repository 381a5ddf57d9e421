//! What it takes from a text to code, stage by stage, on one thread: `cargo bench` in this directory, behind which a
//! name narrows it, as in `cargo bench -- heat-2d-5pt/rows`.
//!
//! criterion compares with the run before, so that a change shows where it costs. `crease bench --suite latency` times
//! the same as a whole.

use std::hint::black_box;
use std::time::Duration;

use crease::{CompileOptions, Kernel, Plan};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, SamplingMode, criterion_group, criterion_main};

/// Kernels of the catalogue, with a schedule and a size.
const SUBJECTS: [(&str, &str, i64); 4] = [
    ("heat-1d", "diamond", 8192),
    ("heat-2d-5pt", "rows", 4000),
    ("lbm-d2q9-cavity", "rows", 1024),
    ("lbm-d2q9-cavity", "auto", 1024),
];

/// Samples of each stage: the fewest that criterion takes. Each is a plan of the kernel, whatever the stage.
const SAMPLES: usize = 10;
/// What samples of a stage are meant to take together: so short that a sample is one plan, or a few of a stage that is
/// over at once.
const TOGETHER: Duration = Duration::from_millis(1);
/// Of planning, the part from which on a stage is shown.
const SHOWN: f64 = 0.02;

fn stages(criterion: &mut Criterion) {
    for (name, schedule, n) in SUBJECTS {
        let text = crease_kernels::find(name).expect("the catalogue has it").kernel().expect("it is right").to_string();
        let kernel = Kernel::parse(&text).expect("kernels read back");
        let mut group = criterion.benchmark_group(format!("{name}/{schedule}"));
        group.sample_size(SAMPLES).sampling_mode(SamplingMode::Flat);
        group.warm_up_time(TOGETHER).measurement_time(Duration::from_secs(1));
        group.bench_function("parse", |bencher| bencher.iter(|| Kernel::parse(black_box(&text))));
        let first = planned(&kernel, schedule, n);
        group.bench_function("compile", |bencher| bencher.iter(|| first.compile_with(&CompileOptions::default())));
        group.measurement_time(TOGETHER);
        group.bench_function("plan", |bencher| bencher.iter(|| planned(&kernel, schedule, n)));
        for stage in shown(&first) {
            bench_stage(&mut group, &kernel, schedule, n, stage);
        }
        group.finish();
    }
}

fn planned(kernel: &Kernel, schedule: &str, n: i64) -> Plan {
    kernel.plan().size("N", n).schedule(schedule).threads(1).build().expect("the catalogue's kernels have plans")
}

/// Seconds of the stages of that name together.
fn seconds(plan: &Plan, stage: &str) -> f64 {
    plan.report().stages.iter().filter(|found| found.name == stage).map(|found| found.seconds).sum()
}

/// Names of the stages that take long enough, each once, in order.
fn shown(plan: &Plan) -> Vec<&'static str> {
    let whole: f64 = plan.report().stages.iter().map(|stage| stage.seconds).sum();
    let mut names = Vec::new();
    for stage in &plan.report().stages {
        if !names.contains(&stage.name) && seconds(plan, stage.name) > SHOWN * whole {
            names.push(stage.name);
        }
    }
    names
}

/// The part of planning that the stage takes, as the plan's report says it.
fn bench_stage(group: &mut BenchmarkGroup<'_, WallTime>, kernel: &Kernel, schedule: &str, n: i64, stage: &str) {
    group.bench_function(format!("plan, {stage}"), |bencher| {
        bencher.iter_custom(|plans| {
            (0..plans).map(|_| Duration::from_secs_f64(seconds(&planned(kernel, schedule, n), stage))).sum()
        });
    });
}

criterion_group!(benches, stages);
criterion_main!(benches);

//! Tuned code: the same bits, on storage that a run has anyway, within its cap.

use crease::prelude::*;
use crease::{CompileOptions, Finding, MachineModel, ScheduleFinding, TuningMemory};
use ndarray::Array1;

const HEAT: &str = "kernel heat(size N; run T) {
  scalar k: f64
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = u[t-1,x] + k * (u[t-1,x-1] - u[t-1,x] + u[t-1,x+1]) }
  E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
  schedule rows { S, E -> [t, x vector(8)] }
}";

fn plan(strategy: StrategyChoice) -> Plan {
    Kernel::parse(HEAT).unwrap().plan().size("N", 99).threads(1).strategy(strategy).horizon(20).build().unwrap()
}

fn after_twenty_steps(code: &Code) -> Array1<f64> {
    let mut run = code.instantiate().unwrap();
    run.set("k", 0.2).unwrap();
    run.write("u", Array1::from_shape_fn(99, |x| ((x * 37) % 11) as f64).view()).unwrap();
    run.advance(20).unwrap();
    let mut u = Array1::zeros(99);
    run.read("u", u.view_mut()).unwrap();
    u
}

/// Full storage has room for twenty steps, and tuning keeps to them.
#[test]
fn tuned_code_computes_the_same_bits() {
    for strategy in [StrategyChoice::Auto, StrategyChoice::SuccessiveModulo, StrategyChoice::Full] {
        let plan = plan(strategy);
        let tuned = plan.compile_tuned(&CompileOptions::default(), &TuningMemory::none()).unwrap();
        assert!(matches!(&tuned.finding, Finding::Measured(all) if !all.is_empty()), "{:?}", tuned.finding);
        assert_eq!(after_twenty_steps(&tuned.code), after_twenty_steps(&plan.compile().unwrap()));
    }
}

#[test]
fn kernels_without_steps_are_tuned_on_arrays_of_the_runs_own() {
    let kernel = Kernel::parse(
        "kernel mean(size N) { input a[x]: f32 for 0 <= x < N
           output b[x]: f32 for 1 <= x < N
           S[x] for 1 <= x < N { b[x] = (a[x-1] + a[x]) * 0.5 }
           schedule row { S -> [x vector(16)] } }",
    );
    let plan = kernel.unwrap().plan().size("N", 2000).threads(1).build().unwrap();
    let tuned = plan.compile_tuned(&CompileOptions::default(), &TuningMemory::none()).unwrap();
    let a = Array1::from_shape_fn(2000, |x| x as f32);
    let mut run = tuned.code.instantiate().unwrap();
    run.write("a", a.view()).unwrap();
    run.run_once().unwrap();
    let mut b = Array1::<f32>::zeros(1999);
    run.read("b", b.view_mut()).unwrap();
    assert!(b.iter().enumerate().all(|(x, mean)| *mean == x as f32 + 0.5));
}

/// The schedule that is fastest is remembered, for the plan that it was timed for alone; results are those of any.
#[test]
fn schedules_are_timed_once_and_remembered() {
    let found = HEAT.replace("  schedule rows { S, E -> [t, x vector(8)] }\n", "");
    // Caches so small that tiles may be faster.
    let machine = MachineModel::detect().caches(512, 65536);
    let builder = |size: i64| Kernel::parse(&found).unwrap().plan().size("N", size).threads(2).machine(machine);
    let directory = tempfile::tempdir().unwrap();
    let memory = TuningMemory::in_directory(directory.path());
    let options = CompileOptions::default();
    let tuned = builder(99).build_tuned(&options, &memory).unwrap();
    let ScheduleFinding::Measured(timed) = &tuned.finding else { panic!("{:?}", tuned.finding) };
    assert!(timed.len() > 1 && tuned.not_remembered.is_none(), "{tuned:?}");
    let search = tuned.plan.report().schedule_search.clone().unwrap();
    let measured = search.candidates.iter().filter(|candidate| candidate.measured_seconds.is_some()).count();
    assert_eq!(measured, timed.len());
    let fastest = timed.iter().map(|(_, seconds)| *seconds).fold(f64::INFINITY, f64::min);
    let taken = search.taken().measured_seconds.unwrap();
    assert!(taken == fastest || search.taken().shape == timed[0].0 && taken < fastest * 1.03);

    let again = builder(99).build_tuned(&options, &memory).unwrap();
    assert_eq!(again.finding, ScheduleFinding::Remembered);
    assert_eq!(again.plan.program(), tuned.plan.program());
    assert_eq!(
        after_twenty_steps(&again.plan.compile().unwrap()),
        after_twenty_steps(&plan(StrategyChoice::Auto).compile().unwrap())
    );
    let other = builder(98).build_tuned(&options, &memory).unwrap();
    assert!(matches!(other.finding, ScheduleFinding::Measured(_)));

    let written = Kernel::parse(HEAT).unwrap().plan().size("N", 99).build_tuned(&options, &memory).unwrap();
    assert_eq!(written.finding, ScheduleFinding::Written);
}

//! Tuned code: the same bits, on storage that a run has anyway, within its cap.

use crease::prelude::*;
use crease::{CompileOptions, Finding, TuningMemory};
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

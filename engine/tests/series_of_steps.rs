//! Inputs over steps: values that steps read under every schedule, given in parts, against plain loops.

use crease::prelude::*;
use crease::{PlanBuilder, Region, RunError, StrategyChoice};
use ndarray::{Array1, Array2, arr1};

/// A rod whose left end is driven, by this step's value and that of the step before.
const ROD: &str = "kernel rod(size N; run T) for N >= 4 {
  scalar r: f64
  input left[t]: f64 for 0 <= t <= T
  state u[t, x]: f64 for 0 <= x < N
  L[t, x] for 1 <= t <= T and x = 0 { u[t,x] = left[t] - 0.25 * left[t-1] }
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = u[t-1,x] + r * (u[t-1,x-1] - 2 * u[t-1,x] + u[t-1,x+1]) }
  R[t, x] for 1 <= t <= T and x = N-1 { u[t,x] = u[t-1,x] }
  schedule rows { L -> [t, 0, 0]; S -> [t, 1, x vector(8)]; R -> [t, 2, 0] }
  schedule tiles { L, S, R -> [floor(t/8), floor((t + x)/64), t, x vector(8)] }
}";

/// A value for each step, no two alike.
fn value(step: i64) -> f64 {
    (step as f64 * 0.37).sin() + step as f64 * 1e-3
}

/// The rod after each of these many steps.
fn naive(n: usize, steps: i64) -> Array1<f64> {
    let mut u = Array1::from_shape_fn(n, |x| x as f64);
    for t in 1..=steps {
        let old = u.clone();
        u[0] = value(t) - 0.25 * value(t - 1);
        for x in 1..n - 1 {
            u[x] = old[x] + 0.2 * (old[x - 1] - 2.0 * old[x] + old[x + 1]);
        }
    }
    u
}

fn begun(plan: PlanBuilder, n: usize) -> Run {
    let mut run = plan.size("N", n as i64).build().unwrap().compile().unwrap().instantiate().unwrap();
    run.set("r", 0.2).unwrap();
    run.write("u", Array1::from_shape_fn(n, |x| x as f64).view()).unwrap();
    run
}

fn values(steps: std::ops::RangeInclusive<i64>) -> Array1<f64> {
    steps.map(value).collect()
}

fn state(run: &Run, n: usize) -> Array1<f64> {
    let mut u = Array1::zeros(n);
    run.read("u", u.view_mut()).unwrap();
    u
}

#[test]
fn every_schedule_and_calls_of_any_length_compute_the_same() {
    let kernel = Kernel::parse(ROD).unwrap();
    let n = 333;
    for (schedule, threads) in [("rows", 1), ("tiles", 1), ("auto", 1), ("auto", 2)] {
        let mut run = begun(kernel.plan().schedule(schedule).threads(threads), n);
        run.write_steps("left", 0, values(0..=5000).view()).unwrap();
        // Longer than what is in memory at a time, and shorter than a tile.
        for steps in [1, 2000, 3, 64, 500] {
            run.advance(steps).unwrap();
            assert_eq!(state(&run, n), naive(n, run.step()), "{schedule} on {threads} at {}", run.step());
        }
    }
    // Steps of storage that holds only a few.
    let mut run = begun(kernel.plan().schedule("rows").strategy(StrategyChoice::Full).horizon(7), n);
    run.write_steps("left", 0, values(0..=7).view()).unwrap();
    run.advance(7).unwrap();
    assert_eq!(state(&run, n), naive(n, 7));
}

#[test]
fn steps_are_given_in_parts_and_replaced_before_they_are_read() {
    let mut run = begun(Kernel::parse(ROD).unwrap().plan(), 20);
    run.write_steps("left", 0, values(0..=2).view()).unwrap();
    run.write_steps("left", 3, values(100..=109).view()).unwrap();
    run.write_steps("left", 3, values(3..=4).view()).unwrap();
    run.advance(4).unwrap();
    run.write_steps("left", 5, values(5..=30).view()).unwrap();
    run.advance_with(20, 3, |_, _| Ok::<_, Error>(std::ops::ControlFlow::Continue(()))).unwrap();
    assert_eq!(state(&run, 20), naive(20, 24));
    // What one step reads of the last call is still there, and no more: a run that goes back is given it again.
    let u = state(&run, 20);
    run.set_step(10).unwrap();
    run.write("u", u.view()).unwrap();
    assert!(matches!(run.advance(1), Err(Error::Run(RunError::StepsNotGiven { step: 10, first: 10, last: 11, .. }))));
}

#[test]
fn a_run_that_begins_elsewhere_is_given_the_steps_from_there() {
    let mut run = begun(Kernel::parse(ROD).unwrap().plan(), 20);
    run.write_steps("left", 0, values(0..=20).view()).unwrap();
    run.advance(5).unwrap();
    let at_five = state(&run, 20);
    run.set_step(1000).unwrap();
    run.fill("u", 0.0).unwrap();
    run.write_steps("left", 1000, values(1000..=1003).view()).unwrap();
    run.advance(3).unwrap();
    run.set_step(5).unwrap();
    run.write("u", at_five.view()).unwrap();
    // What is there may be added to from below, without a gap.
    run.write_steps("left", 8, values(8..=20).view()).unwrap();
    let gap = run.write_steps("left", 5, values(5..=6).view()).unwrap_err();
    assert_eq!(
        gap.to_string(),
        "`left` was given steps 8 to 20, and steps 5 to 6 neither overlap these nor come right after or right before them"
    );
    run.write_steps("left", 5, values(5..=9).view()).unwrap();
    run.advance(15).unwrap();
    assert_eq!(state(&run, 20), naive(20, 20));
}

#[test]
fn what_was_not_given_is_refused_with_the_step() {
    let mut run = begun(Kernel::parse(ROD).unwrap().plan(), 20);
    let refused = run.advance(5).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the next steps of kernel `rod` read `left` at steps 0 to 5, and step 0 was not given; give it with \
         `Run::write_steps`"
    );
    run.write_steps("left", 0, values(0..=4).view()).unwrap();
    assert!(matches!(run.advance(5), Err(Error::Run(RunError::StepsNotGiven { step: 5, first: 0, last: 5, .. }))));
    assert_eq!(run.step(), 0);
    let gap = run.write_steps("left", 6, values(6..=7).view()).unwrap_err();
    assert_eq!(
        gap.to_string(),
        "`left` was given steps 0 to 4, and steps 6 to 7 neither overlap these nor come right after or right before them"
    );
    let refuses = |result: Result<(), Error>| result.unwrap_err().to_string();
    assert!(refuses(run.write_steps("left", 5, Array1::<f32>::zeros(3).view())).contains("f32"));
    assert!(refuses(run.write_steps("left", 5, Array2::<f64>::zeros((3, 1)).view())).contains("[3, 1]"));
    assert!(refuses(run.write_steps("left", i64::MAX, arr1(&[1.0]).view())).contains("step"));
    assert!(refuses(run.write_steps("u", 5, arr1(&[1.0]).view())).contains("no input over steps"));
    assert!(refuses(run.write_steps("w", 5, arr1(&[1.0]).view())).contains('w'));
    assert!(refuses(run.write("left", arr1(&[1.0]).view())).contains("is an input over steps"));
    assert!(refuses(run.fill("left", 1.0)).contains("is an input over steps"));
    assert!(refuses(run.holds("left", &Region::whole()).map(|_| ())).contains("is an input over steps"));
    assert!(
        refuses(run.advance_on(1, &[("left", (&values(0..=4)).into())], &mut [])).contains("is an input over steps")
    );
    run.advance(4).unwrap();
    assert_eq!(state(&run, 20), naive(20, 4));
}

#[test]
fn a_profile_for_each_step_enters_a_plate() {
    let kernel = Kernel::parse(
        "kernel plate(size N; run T) for N >= 4 {
           input inflow[t, y]: f32 for 1 <= t <= T and 0 <= y < N
           state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
           S[t, y, x] for 1 <= t <= T and 0 <= y < N and 1 <= x < N { u[t,y,x] = 0.5 * (u[t-1,y,x] + u[t-1,y,x-1]) }
           I[t, y, x] for 1 <= t <= T and 0 <= y < N and x = 0 { u[t,y,x] = f64(inflow[t,y]) }
         }",
    )
    .unwrap();
    let (n, steps) = (40, 150);
    let inflow = Array2::from_shape_fn((steps, n), |(t, y)| value((t * n + y) as i64) as f32);
    let mut expected = Array2::<f64>::zeros((n, n));
    for t in 0..steps {
        let old = expected.clone();
        for ((y, x), cell) in expected.indexed_iter_mut() {
            *cell = if x == 0 { f64::from(inflow[[t, y]]) } else { 0.5 * (old[[y, x]] + old[[y, x - 1]]) };
        }
    }
    for threads in [1, 2] {
        let plan = kernel.plan().size("N", n as i64).threads(threads).build().unwrap();
        let mut run = plan.compile().unwrap().instantiate().unwrap();
        assert_eq!(run.shape("inflow").unwrap(), [n]);
        run.fill("u", 0.0).unwrap();
        run.write_steps("inflow", 1, inflow.view()).unwrap();
        run.advance(149).unwrap();
        run.advance(1).unwrap();
        let mut u = Array2::<f64>::zeros((n, n));
        run.read("u", u.view_mut()).unwrap();
        assert_eq!(u, expected);
    }
}

#[test]
fn other_reads_of_an_input_over_steps_are_refused() {
    let of = |index: &str| {
        let text = ROD.replace("left[t-1]", index);
        Kernel::parse(&text).unwrap_err().to_string()
    };
    for index in ["left[2*t]", "left[x]", "left[T]", "left[0]"] {
        assert!(of(index).contains("input over steps"), "{}", of(index));
    }
    let observed = ROD.replace(
        "schedule rows",
        "observe o { output v[x]: f64 for 0 <= x < N A[t, x] for 0 <= x < N { v[x] = left[t] } }\n schedule rows",
    );
    assert!(Kernel::parse(&observed).unwrap_err().to_string().contains("inputs that are not over steps"));
    let ahead = ROD.replace("left[t-1]", "left[t+1]");
    assert!(Kernel::parse(&ahead).unwrap().plan().size("N", 20).build().is_err());
}

//! Time loops: restarts, callbacks, ends that predicates decide, cancelling.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crease::prelude::*;
use crease::{Cancel, RunError};
use ndarray::Array1;

/// Reads two steps back, uses the step, and folds.
const WAVE: &str = "kernel wave(size N; run T) for N >= 3 {
  scalar k: f64
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 {
    u[t,x] = 2 * u[t-1,x] - u[t-2,x] + k * (u[t-1,x-1] - 2 * u[t-1,x] + u[t-1,x+1]) + 0.001 * index(t) }
  E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
  schedule rows { S, E -> [t, x] }
}";

fn start(size: i64) -> Run {
    let kernel = Kernel::parse(WAVE).unwrap_or_else(|error| panic!("{error}"));
    let mut run = kernel.plan().size("N", size).build().unwrap().compile().unwrap().instantiate().unwrap();
    run.set("k", 0.25).unwrap();
    run
}

fn level(run: &Run, back: u32) -> Array1<f64> {
    let mut cells = Array1::zeros(run.shape("u").unwrap()[0]);
    run.read_back("u", back, cells.view_mut()).unwrap();
    cells
}

#[test]
fn a_restart_goes_on_with_the_same_bits() {
    let mut run = start(20);
    run.fill("u", 1.0).unwrap();
    for at in [1, 7, 64, 1001] {
        run.advance(at).unwrap();
        let mut again = start(20);
        assert_eq!(again.scalar("k").unwrap(), Some(0.25));
        again.set_step(run.step()).unwrap();
        again.write("u", level(&run, 0).view()).unwrap();
        assert_eq!(again.advance(1).unwrap_err().code(), "run/state-not-given");
        again.write_back("u", 1, level(&run, 1).view()).unwrap();
        again.advance(9).unwrap();
        let mut other = start(20);
        other.fill("u", 1.0).unwrap();
        other.advance(run.step() as u64 + 9).unwrap();
        assert_eq!(
            (again.step(), level(&again, 0), level(&again, 1)),
            (other.step(), level(&other, 0), level(&other, 1))
        );
        // A run can be put back, too: then what it held is gone.
        again.set_step(3).unwrap();
        assert_eq!(again.advance(1).unwrap_err().code(), "run/state-not-given");
        assert_eq!(again.read("u", Array1::<f64>::zeros(20).view_mut()).unwrap_err().code(), "run/no-value");
    }
    for step in [-1, 1 << 62, i64::MIN] {
        assert_eq!(run.set_step(step).unwrap_err().code(), "run/step-outside");
    }
    run.set_step((1 << 62) - 1).unwrap();
    run.fill("u", 0.0).unwrap();
    assert_eq!(run.advance(1).unwrap_err().code(), "run/too-many-steps");
}

#[test]
fn a_callback_that_moves_the_run_leaves_progress_within_its_bounds() {
    let mut run = start(20);
    run.fill("u", 1.0).unwrap();
    run.advance(100).unwrap();
    let mut seen = Vec::new();
    for put in [0, 500] {
        let mut times = 0;
        let last = run.advance_with(10, 5, |run, progress| {
            seen.push((progress.steps_done(), progress.steps_left(), progress.fraction()));
            times += 1;
            if times == 1 {
                run.set_step(put)?;
                run.fill("u", 1.0)?;
                return Ok::<_, Error>(ControlFlow::Continue(()));
            }
            Ok(ControlFlow::Break(()))
        });
        let last = last.unwrap();
        seen.push((last.steps_done(), last.steps_left(), last.fraction()));
    }
    assert_eq!(seen, [(5, 5, 0.5), (0, 105, 0.0), (0, 105, 0.0), (5, 5, 0.5), (495, 0, 1.0),]);
}

#[test]
fn callbacks_come_when_they_are_due() {
    let mut run = start(20);
    run.fill("u", 1.0).unwrap();
    let mut seen = Vec::new();
    let each = |run: &mut Run, progress: &crease::Progress| {
        seen.push((progress.step, progress.steps_left()));
        run.set("k", 0.2)?;
        Ok::<_, Error>(ControlFlow::Continue(()))
    };
    let progress = run.advance_with(100, 45, each).unwrap();
    assert_eq!(seen, [(45, 55), (90, 10), (100, 0)]);
    assert_eq!((run.step(), progress.steps_done(), progress.fraction()), (100, 100, 1.0));
    assert_eq!((progress.time_left(), progress.end), (Some(Duration::ZERO), 100));
    let stopped = run.advance_with(100, 3, |run, _| {
        Ok::<_, Error>(if run.step() > 105 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    assert_eq!((run.step(), stopped.unwrap().steps_left()), (106, 94));
    let failed = run.advance_with(10, 4, |run, _| run.set("omega", 1.0).map(ControlFlow::Continue));
    assert_eq!((failed.unwrap_err().code(), run.step()), ("run/unknown-scalar", 110));
    assert!(!run.advance_until(7, 20, |_| Ok::<_, Error>(false)).unwrap() && run.step() == 130);
    assert!(run.advance_until(7, 20, |run| Ok::<_, Error>(run.step() >= 140)).unwrap() && run.step() == 144);
    let none = run.advance_with(0, 1, |_, _| -> Result<_, Error> { panic!("no step is done") }).unwrap();
    assert_eq!((none.fraction(), none.steps_done()), (1.0, 0));
}

#[test]
fn a_run_advances_for_some_time() {
    let mut run = start(1000);
    run.fill("u", 1.0).unwrap();
    assert_eq!((run.steps_in(Duration::MAX), run.advance_for(Duration::MAX, 5).unwrap()), (1, 1), "nothing is known");
    let (mut left, mut calls) = (3_000, 0);
    while left > 0 {
        let done = run.advance_for(Duration::from_millis(2), left).unwrap();
        assert!((1..=left).contains(&done));
        (left, calls) = (left - done, calls + 1);
    }
    assert!(run.step() == 3_001 && calls < 3_000, "{calls} calls");
    assert_eq!((run.advance_for(Duration::ZERO, 0).unwrap(), run.step()), (0, 3_001));
    assert_eq!((run.advance_for(Duration::ZERO, 7).unwrap(), run.step()), (1, 3_002));
    assert!(run.advance_for(Duration::MAX, u64::MAX).is_err() && run.step() == 3_002, "too many steps");
}

#[test]
fn a_cancelled_run_stands_at_a_whole_step() {
    let (mut run, cancel) = (start(1000), Cancel::new());
    run.fill("u", 1.0).unwrap();
    run.cancel_with(&cancel);
    let (other, begun) = (cancel.clone(), Instant::now());
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(120));
        other.cancel();
    });
    let result = run.advance(1 << 50);
    stopper.join().unwrap();
    let Err(Error::Run(RunError::Cancelled { step, left })) = result else { panic!("{result:?}") };
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!((step, step as u64 + left), (run.step(), 1 << 50));
    assert!(step > 100, "calls get longer: {step} steps");
    let mut same = start(1000);
    same.fill("u", 1.0).unwrap();
    same.advance(step as u64).unwrap();
    assert_eq!(level(&run, 0), level(&same, 0));
    assert!(run.advance(1).is_err() && run.step() == step, "it stays cancelled");
    cancel.reset();
    run.advance(1).unwrap();
}

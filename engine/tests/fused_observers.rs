//! Observers in the last step of a call: the same bits as behind it, whatever the schedule, the storage, the threads
//! and what else a run does; what no step can compute on the way stays behind.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Mutex;

use crease::prelude::*;
use crease::{Cancel, Code, ObserverForm, region};
use ndarray::{Array1, Array2, Array3, s};

/// A wave in a box of `N` by `M`: an observer of neighbours, two levels and an input, one of a row, read backwards, one
/// of the cell itself, one with a reduction, and one of what no step writes.
const WAVE: &str = "kernel wave(size N, M; run T) for N >= 4 and M >= 4 {
  scalar c: f64
  input depth[y, x]: f32 for 0 <= y < N and 0 <= x < M
  state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < M
  S[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and 1 <= x < M-1 {
    u[t,y,x] = 2 * u[t-1,y,x] - u[t-2,y,x] + c * f64(depth[y,x]) *
      (u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1] - 4 * u[t-1,y,x]) }
  E[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < M and (y = 0 or y = N-1 or x = 0 or x = M-1) {
    u[t,y,x] = u[t-1,y,x] }
  schedule rows { S, E -> [t, y, x vector(8)] }
  schedule plain { S, E -> [t, y, x] }
  schedule across { S, E -> [t, y parallel, x vector(4)] }
  schedule lanes { S, E -> [t, y, x parallel] }
  schedule tiles { S, E -> [floor(t/3), y + 2*t, t parallel, x vector(8)] }
  schedule passes { S, E -> [t, floor(y/4), x vector(8), y] }
  observe slope {
    output slope[y, x]: f32 for 1 <= y < N-1 and 0 <= x < M
    G[t, y, x] for 1 <= y < N-1 and 0 <= x < M { slope[y,x] = f32(u[t,y+1,x] - u[t,y-1,x]) * depth[y,x] }
  }
  observe middle {
    output row[x]: f64 for 0 <= x < M
    R[t, x] for 0 <= x < M { row[x] = u[t, 2, M-1-x] }
  }
  observe energy {
    output kinetic[y, x]: f64 for 0 <= y < N and 0 <= x < M
    output step[y, x]: f64 for 0 <= y < N and 0 <= x < M
    K[t, y, x] for 0 <= y < N and 0 <= x < M { let v = u[t,y,x] - u[t-1,y,x] kinetic[y,x] = c * v * v }
    T[t, y, x] for 0 <= y < N and 0 <= x < M and x != y { step[y,x] = index(t) + u[t,y,x] }
  }
  observe sums { reduce sum total: f64  Q[t, y, x] for 0 <= y < N and 0 <= x < M { total = u[t,y,x] } }
  observe ground { output row[x]: f64 for 0 <= x < M  R[t, x] for 0 <= x < M { row[x] = f64(depth[1,x]) } }
}";

const N: usize = 23;
const M: usize = 37;

fn start(seed: usize) -> Array2<f64> {
    Array2::from_shape_fn((N, M), |(y, x)| ((y * 31 + x * 7 + seed * 13) % 17) as f64 / 16.0)
}

/// By schedule, strategy and threads.
type Codes = BTreeMap<(String, &'static str, usize), Code>;

/// Compiled once for all tests.
fn code(schedule: &str, strategy: StrategyChoice, threads: usize) -> Code {
    static CODES: Mutex<Codes> = Mutex::new(Codes::new());
    let key = (schedule.to_owned(), strategy.name(), threads);
    if let Some(code) = CODES.lock().unwrap().get(&key) {
        return code.clone();
    }
    let kernel = Kernel::parse(WAVE).unwrap_or_else(|error| panic!("{error}"));
    let plan = kernel.plan().size("N", N as i64).size("M", M as i64).threads(threads);
    let plan = plan.schedule(schedule).strategy(strategy).horizon(8).build().unwrap_or_else(|error| panic!("{error}"));
    let code = plan.compile().unwrap();
    CODES.lock().unwrap().insert(key, code.clone());
    code
}

fn run(code: &Code, threads: usize, form: ObserverForm) -> Run {
    let options = RunOptions::default().threads(threads).guard_pages(true).observers(form);
    let mut run = code.instantiate_with(options).unwrap();
    run.set("c", 0.125).unwrap();
    run.write("depth", start(3).mapv(|d| d as f32).view()).unwrap();
    run.write("u", start(1).view()).unwrap();
    run.write_back("u", 1, start(2).view()).unwrap();
    run
}

/// What all observers say.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    slope: Array2<f32>,
    row: Vec<f64>,
    kinetic: Array2<f64>,
    step: Array2<f64>,
    total: f64,
}

impl Seen {
    fn nothing() -> Seen {
        let zeros = || Array2::from_elem((N, M), -1.0);
        Seen { slope: Array2::zeros((N - 2, M)), row: vec![0.0; M], kinetic: zeros(), step: zeros(), total: 0.0 }
    }

    /// From some steps that end with all observers, in two calls of `advance_observing_each` if `apart`.
    fn after(run: &mut Run, steps: u64) -> Seen {
        let mut seen = Seen::nothing();
        // Backwards, every second column of something wider; the rest of it stays.
        let mut wide = Array2::from_elem((N, 2 * M + 1), -1.0);
        let mut turned = Array2::<f32>::zeros((M, N - 2));
        let mut observers: [(&str, &mut [(&str, Output<'_>)]); 4] = [
            ("slope", &mut [("slope", turned.view_mut().reversed_axes().into())]),
            ("middle", &mut [("row", seen.row.as_mut_slice().into())]),
            ("sums", &mut [("total", (&mut seen.total).into())]),
            ("energy", &mut [("step", (&mut seen.step).into()), ("kinetic", wide.slice_mut(s![..;-1, 1..;2]).into())]),
        ];
        run.advance_observing_each(steps, &mut observers).unwrap();
        seen.slope.assign(&turned.t());
        seen.kinetic.assign(&wide.slice(s![..;-1, 1..;2]));
        assert!(wide.slice(s![.., ..;2]).iter().all(|cell| *cell == -1.0));
        seen
    }

    /// What the states say that the run gives back.
    fn of(run: &Run) -> Seen {
        let (mut now, mut before) = (Array2::<f64>::zeros((N, M)), Array2::<f64>::zeros((N, M)));
        run.read("u", now.view_mut()).unwrap();
        run.read_back("u", 1, before.view_mut()).unwrap();
        let step = run.step() as f64;
        let kinetic = Array2::from_shape_fn((N, M), |at| {
            let v: f64 = now[at] - before[at];
            0.125 * v * v
        });
        let depth = start(3).mapv(|d| d as f32);
        let slope = |(y, x): (usize, usize)| (now[[y + 2, x]] - now[[y, x]]) as f32 * depth[[y + 1, x]];
        let row = (0..M).map(|x| now[[2, M - 1 - x]]).collect();
        let step = Array2::from_shape_fn((N, M), |(y, x)| if x == y { -1.0 } else { step + now[[y, x]] });
        Seen { slope: Array2::from_shape_fn((N - 2, M), slope), row, kinetic, step, total: 0.0 }
    }
}

#[test]
fn the_last_step_says_what_a_pass_says() {
    let all = ["slope", "middle", "sums", "energy"];
    let ways = [
        ("rows", StrategyChoice::Auto, 1, true),
        ("rows", StrategyChoice::Full, 1, true),
        ("plain", StrategyChoice::Auto, 1, true),
        ("tiles", StrategyChoice::Auto, 2, true),
        ("tiles", StrategyChoice::Auto, 5, true),
        ("auto", StrategyChoice::Auto, 2, true),
        ("auto", StrategyChoice::Auto, 1, true),
        ("passes", StrategyChoice::Auto, 1, true),
        // Rows in parallel write what a neighbour reads.
        ("across", StrategyChoice::Auto, 3, false),
    ];
    for (schedule, strategy, threads, in_steps) in ways {
        let way = format!("{schedule}, {strategy}, {threads} threads");
        let code = code(schedule, strategy, threads);
        let [mut behind, mut fused] = [ObserverForm::Pass, ObserverForm::Fused].map(|form| run(&code, threads, form));
        assert_eq!(fused.observer_form(&all), None);
        for steps in [1, 4, 0, 2, 7] {
            let (expected, seen) = (Seen::after(&mut behind, steps), Seen::after(&mut fused, steps));
            assert!(seen == expected, "{way}, step {}", fused.step());
            let states = Seen { total: seen.total, ..Seen::of(&fused) };
            assert!(seen == states && Seen::of(&behind) == Seen::of(&fused), "{way}, step {}", fused.step());
            let form = if in_steps { ObserverForm::Fused } else { ObserverForm::Pass };
            assert_eq!(fused.observer_form(&all), Some(form), "{way}");
            assert_eq!(behind.observer_form(&all), Some(ObserverForm::Pass), "{way}");
        }
    }
}

#[test]
fn observers_of_the_cell_itself_run_in_any_step() {
    for (schedule, threads) in [("across", 3), ("lanes", 2), ("auto", 3)] {
        let code = code(schedule, StrategyChoice::Auto, threads);
        let mut run = run(&code, threads, ObserverForm::Fused);
        for steps in [3, 1, 6] {
            let mut seen = Seen::nothing();
            let mut outputs = [("step", (&mut seen.step).into()), ("kinetic", (&mut seen.kinetic).into())];
            run.advance_observing(steps, "energy", &mut outputs).unwrap();
            let expected = Seen::of(&run);
            assert!(seen.step == expected.step && seen.kinetic == expected.kinetic, "{schedule}");
            assert_eq!(run.observer_form(&["energy"]), Some(ObserverForm::Fused), "{schedule}");
        }
    }
}

#[test]
fn what_no_step_writes_stays_behind() {
    let mut run = run(&code("rows", StrategyChoice::Auto, 1), 1, ObserverForm::Fused);
    let mut row = Array1::<f64>::zeros(M);
    run.advance_observing(3, "ground", &mut [("row", (&mut row).into())]).unwrap();
    assert_eq!(row, start(3).row(1).mapv(|d| f64::from(d as f32)));
    assert_eq!(run.observer_form(&["ground"]), Some(ObserverForm::Pass));
    let mut total = 0.0;
    run.advance_observing(3, "sums", &mut [("total", (&mut total).into())]).unwrap();
    let mut again = 0.0;
    run.observe("sums", &mut [("total", (&mut again).into())]).unwrap();
    assert!(total == again && total != 0.0);
    assert_eq!((run.observer_form(&["sums"]), run.step()), (None, 6));
}

#[test]
fn what_is_wrong_is_said_before_a_step_is_done() {
    let code = code("rows", StrategyChoice::Auto, 1);
    let mut run = run(&code, 1, ObserverForm::Fused);
    let mut row = vec![0.0; M];
    let refused = |run: &mut Run, observer: &str, output: &str, row: &mut [f64]| {
        let error = run.advance_observing(2, observer, &mut [(output, row.into())]).unwrap_err();
        assert_eq!(run.step(), 0);
        error.code()
    };
    assert_eq!(refused(&mut run, "none", "row", &mut row), "run/unknown-observer");
    assert_eq!(refused(&mut run, "middle", "line", &mut row), "run/unknown-output");
    assert_eq!(refused(&mut run, "middle", "row", &mut row[1..]), "run/shape");
    assert_eq!(refused(&mut run, "energy", "step", &mut row), "run/shape");
    let error = run.advance_observing(2, "energy", &mut []).unwrap_err();
    assert_eq!((error.code(), run.step()), ("run/missing-output", 0));
    let mut bare = code.instantiate().unwrap();
    bare.set("c", 1.0).unwrap();
    let error = bare.advance_observing(2, "middle", &mut [("row", row.as_mut_slice().into())]).unwrap_err();
    assert_eq!((error.code(), bare.step()), ("run/state-not-given", 0));
    let error = run.advance_observing(u64::MAX, "middle", &mut [("row", row.as_mut_slice().into())]).unwrap_err();
    assert_eq!((error.code(), run.step()), ("run/too-many-steps", 0));
    assert_eq!(row, vec![0.0; M]);
}

#[test]
fn a_cancelled_call_leaves_outputs_alone() {
    for schedule in ["rows", "tiles"] {
        let mut run = run(&code(schedule, StrategyChoice::Auto, 2), 2, ObserverForm::Fused);
        let cancel = Cancel::new();
        run.cancel_with(&cancel);
        let mut row = vec![-7.0; M];
        run.advance_observing(11, "middle", &mut [("row", row.as_mut_slice().into())]).unwrap();
        assert_eq!(row, Seen::of(&run).row);
        let before = row.clone();
        cancel.cancel();
        let error = run.advance_observing(11, "middle", &mut [("row", row.as_mut_slice().into())]).unwrap_err();
        assert_eq!((error.code(), run.step(), &row), ("run/cancelled", 11, &before));
        cancel.reset();
        run.advance_observing(1, "middle", &mut [("row", row.as_mut_slice().into())]).unwrap();
        assert_eq!((run.step(), row), (12, Seen::of(&run).row));
    }
}

#[test]
fn the_monitor_looks_at_steps_that_end_with_observers() {
    for form in [ObserverForm::Pass, ObserverForm::Fused] {
        let mut run = run(&code("rows", StrategyChoice::Auto, 1), 1, form);
        run.monitor_nan(4).unwrap();
        let mut row = vec![0.0; M];
        let mut advance = |run: &mut Run, steps: u64| {
            run.advance_observing(steps, "middle", &mut [("row", row.as_mut_slice().into())]).map(|()| row.clone())
        };
        advance(&mut run, 10).unwrap();
        run.fill_box("u", &region![2..3, 5..6], f64::NAN).unwrap();
        // Looked at after step 12, in which the outputs were computed.
        let error = advance(&mut run, 2).unwrap_err();
        assert_eq!((error.code(), run.step()), ("run/not-a-number", 12));
        assert!(row.iter().any(|cell: &f64| cell.is_nan()));
    }
}

#[test]
fn a_restarted_run_ends_with_the_same_observers() {
    for schedule in ["rows", "tiles", "auto"] {
        let code = code(schedule, StrategyChoice::Auto, 2);
        let mut first = run(&code, 2, ObserverForm::Fused);
        first.advance(5).unwrap();
        let (mut now, mut before) = (Array2::<f64>::zeros((N, M)), Array2::<f64>::zeros((N, M)));
        first.read("u", now.view_mut()).unwrap();
        first.read_back("u", 1, before.view_mut()).unwrap();
        let mut again = run(&code, 2, ObserverForm::Fused);
        again.set_step(5).unwrap();
        again.write("u", now.view()).unwrap();
        again.write_back("u", 1, before.view()).unwrap();
        for steps in [1, 5] {
            assert_eq!(Seen::after(&mut first, steps), Seen::after(&mut again, steps), "{schedule}");
        }
        assert_eq!(again.step(), 11);
    }
}

#[test]
fn loops_with_callbacks_may_end_with_observers() {
    let mut run = run(&code("rows", StrategyChoice::Auto, 1), 1, ObserverForm::Fused);
    let mut film = Vec::new();
    run.advance_with(9, 3, |run, _| {
        // A callback may go on by itself.
        let mut row = vec![0.0; M];
        run.advance_observing(1, "middle", &mut [("row", row.as_mut_slice().into())])?;
        film.push((run.step(), row == Seen::of(run).row));
        Ok::<_, Error>(ControlFlow::Continue(()))
    })
    .unwrap();
    assert_eq!(film, [(4, true), (8, true), (10, true)]);
}

/// A lattice in small: two states that statements of their own write, the one behind the other, values over steps, an
/// output of the kernel, and halves of precision.
const COUPLED: &str = "kernel coupled(size N; run T) for N >= 6 {
  input force[t]: f64 for 1 <= t <= T
  state a[t, z, y, x]: f64 for 0 <= z, y, x < N
  state b[t, z, y, x]: f16 for 0 <= z, y, x < N
  output last[z, y, x]: f64 for 0 <= z, y, x < N
  A[t, z, y, x] for 1 <= t <= T and 1 <= z, y, x < N-1 {
    a[t,z,y,x] = 0.25 * (a[t-1,z-1,y,x] + a[t-1,z,y+1,x] + a[t-1,z,y,x-1] + a[t-1,z,y,x]) + force[t] }
  W[t, z, y, x] for 1 <= t <= T and 0 <= z, y, x < N and (z = 0 or z = N-1 or y = 0 or y = N-1 or x = 0 or x = N-1) {
    a[t,z,y,x] = a[t-1,z,y,x] }
  B[t, z, y, x] for 1 <= t <= T and 0 <= z, y, x < N {
    b[t,z,y,x] = 0.5 * f32(a[t,z,y,x]) + b[t-1,z,y,x] / 3 last[z,y,x] = a[t,z,y,x] }
  schedule rows { A, W -> [t, z, y, 0, x vector(8)]; B -> [t, z, y, 1, x vector(8)] }
  schedule planes { A, W -> [t, z parallel, 0, y, x vector(8)]; B -> [t, z parallel, 1, y, x vector(8)] }
  observe both {
    output sum[z, y, x]: f64 for 0 <= z, y, x < N
    O[t, z, y, x] for 0 <= z, y, x < N { sum[z,y,x] = a[t,z,y,x] + 2 * f64(b[t,z,y,x]) }
  }
}";

#[test]
fn observers_follow_the_last_of_several_writers() {
    const N: usize = 11;
    let kernel = Kernel::parse(COUPLED).unwrap_or_else(|error| panic!("{error}"));
    for (schedule, threads) in [("rows", 1), ("planes", 2), ("auto", 2)] {
        let plan = kernel.plan().size("N", N as i64).schedule(schedule).threads(threads).build().unwrap();
        let options = RunOptions::default().threads(threads).observers(ObserverForm::Fused).guard_pages(true);
        let mut run = plan.compile().unwrap().instantiate_with(options).unwrap();
        let start = Array3::from_shape_fn((N, N, N), |(z, y, x)| ((z * 7 + y * 5 + x * 3) % 11) as f64 / 7.0);
        run.write("a", start.view()).unwrap();
        run.write("b", start.mapv(crease::f16::from_f64).view()).unwrap();
        // More steps than are in memory at once.
        run.write_steps("force", 1, Array1::from_iter((1..=5000).map(|t| 1.0 / f64::from(t))).view()).unwrap();
        for steps in [1, 2, 4000, 3] {
            let mut sum = Array3::<f64>::zeros((N, N, N));
            run.advance_observing(steps, "both", &mut [("sum", (&mut sum).into())]).unwrap();
            let (mut a, mut last) = (Array3::<f64>::zeros((N, N, N)), Array3::<f64>::zeros((N, N, N)));
            let mut b = Array3::<crease::f16>::from_elem((N, N, N), crease::f16::ZERO);
            run.read("a", a.view_mut()).unwrap();
            run.read("b", b.view_mut()).unwrap();
            run.read("last", last.view_mut()).unwrap();
            assert!(last == a, "{schedule}");
            assert!(sum == &a + &b.mapv(|v| 2.0 * f64::from(v)), "{schedule}, step {}", run.step());
        }
        assert_eq!(run.observer_form(&["both"]), Some(ObserverForm::Fused), "{schedule}");
    }
}

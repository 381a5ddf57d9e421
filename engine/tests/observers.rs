//! Observers: under any schedule, storage and number of threads they compute what the states say that a run gives back;
//! what they may not do is refused with the place in the text.

use crease::prelude::*;
use crease::{CompileOptions, IsaChoice, region};
use ndarray::{Array1, Array2, ArrayD, ArrayView2, Dimension, s};

/// A wave in a box of `N` by `M`, three schedules, and two observers: of two levels and an input, and of one row.
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
  schedule across { S, E -> [t, y parallel, x vector(4)] }
  schedule tiles { S, E -> [floor(t/3), y + 2*t, t parallel, x vector(8)] }
  observe energy {
    output kinetic[y, x]: f64 for 0 <= y < N and 0 <= x < M
    output slope[y, x]: f32 for 1 <= y < N-1 and 0 <= x < M
    K[t, y, x] for 0 <= y < N and 0 <= x < M {
      let v = u[t,y,x] - u[t-1,y,x]
      kinetic[y,x] = c * v * v + index(t) }
    G[t, y, x] for 1 <= y < N-1 and 0 <= x < M { slope[y,x] = f32(u[t,y+1,x] - u[t,y-1,x]) * depth[y,x] }
  }
  observe middle {
    output row[x]: f64 for 0 <= x < M
    R[t, x] for 0 <= x < M { row[x] = u[t, 2, M-1-x] }
  }
}";

const N: usize = 23;
const M: usize = 37;

fn start(seed: usize) -> Array2<f64> {
    Array2::from_shape_fn((N, M), |(y, x)| ((y * 31 + x * 7 + seed * 13) % 17) as f64 / 16.0)
}

fn given_run(schedule: &str, strategy: StrategyChoice, threads: usize) -> Run {
    let kernel = Kernel::parse(WAVE).unwrap_or_else(|error| panic!("{error}"));
    let plan = kernel.plan().size("N", N as i64).size("M", M as i64).threads(threads);
    let plan = plan.schedule(schedule).strategy(strategy).horizon(8).build().unwrap_or_else(|error| panic!("{error}"));
    let mut run = plan.compile().unwrap().instantiate_with(RunOptions::default().threads(threads)).unwrap();
    run.set("c", 0.125).unwrap();
    run.write("depth", start(3).mapv(|d| d as f32).view()).unwrap();
    run.write("u", start(1).view()).unwrap();
    run.write_back("u", 1, start(2).view()).unwrap();
    run
}

/// What the observer says, from the states that the run gives back.
fn expected(run: &Run) -> (Array2<f64>, Array2<f32>, Array1<f64>) {
    let (mut now, mut before) = (Array2::<f64>::zeros((N, M)), Array2::<f64>::zeros((N, M)));
    run.read("u", now.view_mut()).unwrap();
    run.read_back("u", 1, before.view_mut()).unwrap();
    let step = run.step() as f64;
    let kinetic = Array2::from_shape_fn((N, M), |at| {
        let v: f64 = now[at] - before[at];
        0.125 * v * v + step
    });
    let depth = start(3).mapv(|d| d as f32);
    let slope = |(y, x): (usize, usize)| (now[[y + 2, x]] - now[[y, x]]) as f32 * depth[[y + 1, x]];
    let row = Array1::from_shape_fn(M, |x| now[[2, M - 1 - x]]);
    (kinetic, Array2::from_shape_fn((N - 2, M), slope), row)
}

#[test]
fn observers_say_what_the_states_say() {
    let ways = [
        ("rows", StrategyChoice::Auto, 1),
        ("rows", StrategyChoice::Full, 1),
        ("across", StrategyChoice::Auto, 3),
        ("tiles", StrategyChoice::Auto, 2),
        ("auto", StrategyChoice::Auto, 2),
    ];
    for (schedule, strategy, threads) in ways {
        let mut run = given_run(schedule, strategy, threads);
        assert_eq!(run.observed_shape("energy", "slope").unwrap(), [N - 2, M]);
        for steps in [0, 1, 4, 2] {
            run.advance(steps).unwrap();
            let (kinetic, slope, row) = expected(&run);
            // Backwards, every second column of something wider; the rest of it stays.
            let mut wide = Array2::from_elem((N, 2 * M + 1), -1.0);
            let mut turned = Array2::<f32>::zeros((M, N - 2));
            let mut outputs = [
                ("slope", turned.view_mut().reversed_axes().into()),
                ("kinetic", wide.slice_mut(s![..;-1, 1..;2]).into()),
            ];
            run.observe("energy", &mut outputs).unwrap();
            let seen: ArrayView2<'_, f64> = wide.slice(s![..;-1, 1..;2]);
            assert!(seen == kinetic, "{schedule}, {strategy}, step {}", run.step());
            assert!(turned.t() == slope, "{schedule}, {strategy}, step {}", run.step());
            assert!(wide.slice(s![.., ..;2]).iter().all(|cell| *cell == -1.0));
            let mut middle = vec![0.0; M];
            run.observe("middle", &mut [("row", middle.as_mut_slice().into())]).unwrap();
            assert_eq!(middle, row.to_vec(), "{schedule}, {strategy}, step {}", run.step());
        }
    }
}

#[test]
fn observers_take_no_part_in_storage_and_loops() {
    let with = Kernel::parse(WAVE).unwrap();
    assert_eq!(Kernel::parse(&with.to_string()).unwrap(), with, "{with}");
    let without = Kernel::parse(&format!("{} }}", &WAVE[..WAVE.find("observe").unwrap()])).unwrap();
    assert_eq!(with.observers().len(), 2);
    let plan = |kernel: &Kernel| kernel.plan().size("N", 23).size("M", 37).schedule("rows").build().unwrap();
    let (with, without) = (plan(&with), plan(&without));
    assert_eq!(with.layout(), without.layout());
    assert_eq!(with.program(), without.program());
}

/// The message of a kernel with this observer.
fn refusal(observer: &str) -> String {
    let text = format!(
        "kernel k(size N; run T) {{\n input a[x]: f64 for 0 <= x < N\n temp m[t, x]: f64 for 0 <= x < N\n \
         state u[t, x]: f64 for 0 <= x < N\n output o[x]: f64 for 0 <= x < N\n \
         M[t, x] for 1 <= t <= T and 0 <= x < N {{ m[t,x] = a[x] }}\n \
         S[t, x] for 1 <= t <= T and 0 <= x < N {{ u[t,x] = u[t-1,x] + m[t,x] o[x] = u[t-1,x] }}\n \
         schedule rows {{ M -> [t, 0, x] S -> [t, 1, x] }}\n \
         observe seen {{ output q[x]: f64 for 0 <= x < N\n{observer} }} }}"
    );
    match Kernel::parse(&text) {
        Err(error) => error.to_string(),
        Ok(kernel) => {
            let mut run = kernel.plan().size("N", 9).build().unwrap().compile().unwrap().instantiate().unwrap();
            run.fill("u", 1.0).unwrap();
            run.fill("a", 1.0).unwrap();
            let mut q = vec![0.0; 9];
            run.observe("seen", &mut [("q", q.as_mut_slice().into())])
                .map_or_else(|e| e.to_string(), |()| String::new())
        }
    }
}

#[test]
fn what_observers_may_not_do_is_refused() {
    let refused = |observer: &str, message: &str| {
        let found = refusal(observer);
        assert!(found.contains(message), "{observer}\n{found}");
    };
    assert_eq!(refusal("Q[t, x] for 0 <= x < N { q[x] = u[t,x] + a[x] }"), "");
    let at = "line 10, column";
    refused("Q[t, x] for 0 <= x < N { u[t,x] = 1 }", "`Q` of an observer writes `u`, which is not one of");
    refused("Q[t, x] for 0 <= x < N { q[x] = m[t,x] }", "cells of `m` that are gone by then");
    refused("Q[t, x] for 0 <= x < N { q[x] = o[x] }", "between steps there are inputs and states");
    refused("Q[t, x] for 0 <= x < N { q[x] = u[t-1,x] }", "between steps there are the last 1 step(s) of it");
    refused("Q[t, x] for 0 <= x < N { q[x] = u[t+1,x] }", at);
    refused("Q[t, x] for 0 <= x < N { q[x] = nothing }", at);
    refused("S[t, x] for 0 <= x < N { q[x] = u[t,x] }", at);
    refused("state v[t, x]: f64", "`output`, `reduce`, `table`, `define`, a statement, or `}`");
    refused("Q[t, x] for 0 <= x <= N { q[x-1] = u[t,x] }", "outside its index space");
    refused("Q[t, x] for 0 <= x < N { q[0] = u[t,x] }", "of an observer write one cell of `q`");
    refused("Q[t, x] for 0 <= x < N { q[x] = u[t,x] } R[t] { q[3] = 1 }", "of an observer write one cell of `q`");
    let stateless =
        "kernel k(size N) { output o[x]: f64 for 0 <= x < N S[x] for 0 <= x < N { o[x] = 1 } observe e { } }";
    assert!(Kernel::parse(stateless).unwrap_err().to_string().contains("observer `e` has nothing to observe"));
}

#[test]
fn wrong_calls_leave_everything_as_it_was() {
    let mut run = given_run("rows", StrategyChoice::Auto, 1);
    let mut row = vec![5.0_f64; M];
    let mut says = |observer: &str, outputs: &mut [(&str, Output<'_>)]| run.observe(observer, outputs).unwrap_err();
    assert!(says("nothing", &mut []).to_string().contains("no observer `nothing`; it has energy, middle"));
    assert_eq!(says("middle", &mut []).code(), "run/missing-output");
    assert_eq!(says("middle", &mut [("line", row.as_mut_slice().into())]).code(), "run/unknown-output");
    assert_eq!(says("middle", &mut [("row", row[1..].as_mut().into())]).code(), "run/shape");
    let mut single = vec![0.0_f32; M];
    assert_eq!(says("middle", &mut [("row", single.as_mut_slice().into())]).code(), "run/element-type");
    let (one, other) = row.split_at_mut(0);
    let mut twice = vec![0.0; M];
    let mut both: [(&str, Output<'_>); 2] = [("row", other.into()), ("row", twice.as_mut_slice().into())];
    assert_eq!(says("middle", &mut both).code(), "run/duplicate-array");
    assert!(one.is_empty() && row.iter().all(|cell| *cell == 5.0));
    // Of states that were never given there is nothing to see.
    let kernel = Kernel::parse(WAVE).unwrap();
    let mut fresh = kernel.plan().size("N", 5).size("M", 6).build().unwrap().compile().unwrap().instantiate().unwrap();
    fresh.set("c", 1.0).unwrap();
    let mut row = [0.0; 6];
    let error = fresh.observe("middle", &mut [("row", row.as_mut_slice().into())]).unwrap_err();
    assert_eq!(error.code(), "run/state-not-given");
}

/// Reductions of one to three dimensions, of several statements and types, beside an array.
fn reduced(dims: usize, element: &str) -> Kernel {
    let iters = &["z", "y", "x"][3 - dims..];
    let all = iters.join(", ");
    let inside = format!("0 <= {all} < N");
    let last = iters[dims - 1];
    let text = format!(
        "kernel k(size N; run T) for N >= 4 {{
          state u[t, {all}]: {element} for {inside}
          S[t, {all}] for 1 <= t <= T and {inside} {{ u[t,{all}] = u[t-1,{all}] * 0.5 }}
          schedule rows {{ S -> [t, {all}] }}
          observe totals {{
            reduce sum total: {element}
            output copy[{all}]: {element} for {inside}
            reduce min least: {element}
            reduce max most: {element}
            reduce sum inner: {element}
            reduce max none: {element}
            A[t, {all}] for {inside} and {last} mod 3 = 1 {{ let v = u[t,{all}] total = v most[] = v least = v copy[{all}] = v }}
            B[t, {all}] for {inside} and {last} mod 3 != 1 {{
              total = u[t,{all}] most = u[t,{all}] least = u[t,{all}] copy[{all}] = u[t,{all}] }}
            C[t, x] for 1 <= x < N-1 and x != 2 {{ inner = u[t{others}, x] }}
            D[t] {{ inner = u[t{others}, 2] }}
            E[t, x] for 0 <= x < N and x > N {{ none = u[t{others}, x] }}
          }} }}",
        others = ", 3".repeat(dims - 1),
    );
    Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Everything that the observer of `reduced` says of a field, after a step.
fn totals(dims: usize, n: usize, threads: usize, schedule: &str, isa: IsaChoice, start: &ArrayD<f64>) -> [f64; 5] {
    let kernel = reduced(dims, "f64");
    assert_eq!(Kernel::parse(&kernel.to_string()).unwrap(), kernel, "{kernel}");
    let plan = kernel.plan().size("N", n as i64).schedule(schedule).threads(threads).build().unwrap();
    let code = plan.compile_with(&CompileOptions::default().choice(isa)).unwrap();
    let mut run = code.instantiate_with(RunOptions::default().threads(threads)).unwrap();
    run.write("u", start.view()).unwrap();
    run.advance(1).unwrap();
    let [mut total, mut least, mut most, mut inner, mut none] = [7.0; 5];
    let mut copy = ArrayD::<f64>::zeros(vec![n; dims]);
    let mut outputs = [
        ("most", (&mut most).into()),
        ("total", (&mut total).into()),
        ("copy", (&mut copy).into()),
        ("least", (&mut least).into()),
        ("inner", (&mut inner).into()),
        ("none", (&mut none).into()),
    ];
    run.observe("totals", &mut outputs).unwrap();
    assert_eq!(run.observed_shape("totals", "total").unwrap(), [0; 0]);
    assert!(copy.iter().zip(start).all(|(c, s)| c.to_bits() == (s * 0.5).to_bits()));
    [total, least, most, inner, none]
}

#[test]
fn reductions_say_what_loops_say_with_the_same_bits_everywhere() {
    for (dims, n) in [(1, 9), (1, 3001), (2, 5), (2, 133), (3, 21)] {
        // Of whole numbers, every order has the same sum.
        let whole = ArrayD::from_shape_fn(vec![n; dims], |at| {
            (at.slice().iter().fold(3, |hash, &x| (hash * 31 + x * 7) % 1009) as f64 - 400.0) * 2.0
        });
        let row = whole.view().into_shape_with_order(n.pow(dims as u32)).unwrap().to_vec();
        let halves = || row.iter().map(|v| v * 0.5);
        let at = |x: usize| whole[&[3, 3, x][3 - dims..]] * 0.5;
        let inner: f64 = (1..n - 1).map(at).sum();
        let expected = [
            halves().sum(),
            halves().fold(f64::INFINITY, f64::min),
            halves().fold(f64::NEG_INFINITY, f64::max),
            inner,
            f64::NEG_INFINITY,
        ];
        assert_eq!(totals(dims, n, 1, "rows", IsaChoice::Auto, &whole), expected, "{dims} dimensions of {n}");

        // Of others, the bits are the same whoever computes them.
        let others = whole.mapv(|v| v / 3.0);
        let first = totals(dims, n, 1, "rows", IsaChoice::Auto, &others);
        let error = (first[0] - others.sum() * 0.5).abs();
        assert!(error <= 1e-12 * others.iter().map(|v: &f64| v.abs()).sum::<f64>(), "{error}");
        for (threads, schedule, isa) in
            [(2, "rows", IsaChoice::Auto), (3, "auto", IsaChoice::Auto), (2, "auto", IsaChoice::Scalar)]
        {
            let found = totals(dims, n, threads, schedule, isa, &others);
            assert_eq!(found.map(f64::to_bits), first.map(f64::to_bits), "{threads}, {schedule}, {isa:?}");
        }
        let mut poisoned = others.clone();
        *poisoned.iter_mut().nth(row.len() / 2).unwrap() = f64::NAN;
        let [total, least, most, ..] = totals(dims, n, 2, "rows", IsaChoice::Auto, &poisoned);
        assert!(total.is_nan() && least.is_nan() && most.is_nan());
    }
}

#[test]
fn reductions_of_floats_are_floats() {
    let mut run = reduced(2, "f32").plan().size("N", 40).build().unwrap().compile().unwrap().instantiate().unwrap();
    run.fill("u", 0.1_f32).unwrap();
    let [mut total, mut least, mut most, mut inner, mut none] = [0.0_f32; 5];
    let mut copy = Array2::<f32>::zeros((40, 40));
    let mut outputs = [
        ("most", (&mut most).into()),
        ("total", (&mut total).into()),
        ("copy", (&mut copy).into()),
        ("least", (&mut least).into()),
        ("inner", (&mut inner).into()),
        ("none", (&mut none).into()),
    ];
    run.observe("totals", &mut outputs).unwrap();
    assert!((total - 160.0).abs() < 1e-3 && least == 0.1 && most == 0.1 && (inner - 3.8).abs() < 1e-5);
    let mut wide = 0.0_f64;
    let wrong = run.observe("totals", &mut [("total", (&mut wide).into())]).unwrap_err();
    assert_eq!(wrong.code(), "run/element-type");
    let wrong = run.observe("totals", &mut [("total", (&mut copy).into())]).unwrap_err();
    assert_eq!(wrong.code(), "run/shape");
}

#[test]
fn what_is_no_reduction_is_refused() {
    let refused = |observer: &str, message: &str| {
        let found = refusal(observer);
        assert!(found.contains(message), "{observer}\n{found}");
    };
    refused("reduce mean m: f64", "unknown reduction `mean`");
    refused("reduce sum r: u8", "reduction `r`");
    refused("reduce sum r: f32 R[t, x] for 0 <= x < N { r = u[t,x] }", "f32");
    refused("reduce sum r: f64 R[t, x] for 0 <= x < N { r[x] = u[t,x] }", "`r`");
    refused("reduce sum r: f64 R[t, x] for 0 <= x < N { q[x] = r }", "r");
    refused(
        "reduce sum r: f64 R[t, x] for 0 <= x < N { r = u[t,x] r = 1 } Q[t, x] for 0 <= x < N { q[x] = 0 }",
        "twice",
    );
    refused("reduce sum r: f64 R[t, x] for x >= 0 { r = 1 } Q[t, x] for 0 <= x < N { q[x] = 0 }", "`x`");
    refused("reduce sum r: f64 R[t, x] for 0 <= x <= N { r = u[t,x] } Q[t, x] for 0 <= x < N { q[x] = 0 }", "outside");
}

/// Two states that keep what they are given, one of halves in a corner of its indices, one of floats a step longer.
const KEPT: &str = "kernel kept(size N; run T) for N >= 4 {
  state h[t, y, x]: f16 for 2 <= y < N and -3 <= x < y
  state w[t, x]: f32 for 0 <= x < N
  H[t, y, x] for 1 <= t <= T and 2 <= y < N and -3 <= x < y { h[t,y,x] = h[t-1,y,x] }
  W[t, x] for 1 <= t <= T and 0 <= x < N { w[t,x] = w[t-2,x] }
  schedule rows { H -> [t, 0, y, x]; W -> [t, 1, 0, x] }
}";

#[test]
fn the_monitor_finds_the_first_nan_and_when() {
    let code = Kernel::parse(KEPT).unwrap().plan().size("N", 600).build().unwrap().compile().unwrap();
    let fresh = || {
        let mut run = code.instantiate_with(RunOptions::default().threads(2)).unwrap();
        run.fill("h", crease::f16::ONE).unwrap();
        run.fill("w", 1.0_f32).unwrap();
        run
    };
    let mut run = fresh();
    run.monitor_nan(7).unwrap();
    run.advance(30).unwrap();
    for (y, x) in [(599, -3), (411, 17)] {
        run.fill_box("h", &region![y..y + 1, x..x + 1], crease::f16::NAN).unwrap();
    }
    // The next look is due at step 35.
    run.advance(4).unwrap();
    let error = run.advance(4).unwrap_err();
    let said = "`h[411, 17]` is NaN after step 35, and 2 cell(s) of `h` are in all; the monitor began, or found none, at \
                step 28";
    assert_eq!((error.to_string().as_str(), error.code(), run.step()), (said, "run/not-a-number", 35));
    run.monitor_nan(0).unwrap();
    run.advance(50).unwrap();

    // Only the level of even steps has one.
    let mut run = fresh();
    let mut w = Array1::from_elem(600, 1.0_f32);
    w[599] = f32::NAN;
    run.write_back("w", 1, w.view()).unwrap();
    run.monitor_nan(2).unwrap();
    run.advance(4).unwrap();
    run.monitor_nan(1).unwrap();
    assert_eq!(run.advance(4).unwrap_err().code(), "run/not-a-number");
    assert_eq!(run.step(), 5);
    // Infinities are numbers.
    let mut run = fresh();
    run.fill("w", f32::INFINITY).unwrap();
    run.monitor_nan(1).unwrap();
    run.advance(4).unwrap();
}

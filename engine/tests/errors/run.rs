//! Errors of runs: names, shapes and types of what is given, steps, memory, threads.

use crease::kernel::graph::Kernel;
use crease::{
    Cancel, Code, ElementType, Error, IndexRange, Input, MemoryCheck, Output, PoolError, Region, Run, RunOptions,
};
use crease::{StrategyChoice, region};
use ndarray::{Array1, Array2};
use std::ops::ControlFlow;

use super::cases::Cases;

const LINE: &str = "kernel line(size N; run T) for N >= 3 {
  scalar k: f64
  temp v[t, x]: f64 for 1 <= t and 0 <= x < N
  state u[t, x]: f64 for 0 <= x < N
  V[t, x] for 1 <= t <= T and 0 <= x < N { v[t,x] = k * u[t-1,x] }
  U[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = v[t,x] }
  schedule rows { V -> [t, 0, x]; U -> [t, 1, x] }
}";

/// Nothing to advance, and a temporary of which each thread has a copy.
const TASKS: &str = "kernel tasks(size N) for N >= 2 {
  input a[y, x]: f64 for 0 <= y < N and 0 <= x < N
  temp u[y, x]: f64 for 0 <= y < N and 0 <= x < N
  output b[y, x]: f64 for 0 <= y < N and 0 <= x < N
  U[y, x] for 0 <= y < N and 0 <= x < N { u[y,x] = a[y,x] }
  B[y, x] for 0 <= y < N and 0 <= x < N { b[y,x] = u[y,N-1-x] }
  schedule rows { U -> [y parallel, 0, x]; B -> [y parallel, 1, x] }
}";

/// A state that is read two steps back.
const WAVE: &str = "kernel wave(size N; run T) for N >= 3 {
  state u[t, x]: f64 for 0 <= x < N
  U[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = 2 * u[t-1,x] - u[t-2,x] }
  schedule rows { U -> [t, x] }
}";

const ONCE: &str = "kernel once(run T) {
  output b[x]: f64 for 0 <= x < 4
  S[t, x] for t = 1 and t <= T and 0 <= x < 4 { b[x] = 1.0 }
  schedule s { S -> [t, x] }
}";

/// A state whose index space is a triangle.
const TRIANGLE: &str = "kernel triangle(size N; run T) {
  state u[t, y, x]: f64 for 0 <= y and y <= x and x < N
  U[t, y, x] for 1 <= t <= T and 0 <= y and y <= x and x < N { u[t,y,x] = 2 * u[t-1,y,x] }
  schedule rows { U -> [t, y, x] }
}";

/// Folds to a row and a cell, shifted in every step.
const SHIFTED: &str = "kernel shifted(size N; run T) for N >= 3 {
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = u[t-1,x-1] + u[t-1,x+1] }
  E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
  schedule rows { S, E -> [t, x] }
}";

/// Two arrays that take each other's dying cells.
const PAIR: &str = "kernel pair(size N; run T) for N >= 3 {
  state a[t, x]: f64 for 0 <= x < N
  state b[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 {
    a[t,x] = a[t-1,x-1] + 0.5 * b[t-1,x+1]  b[t,x] = b[t-1,x+1] - a[t-1,x-1] }
  L[t, x] for 1 <= t <= T and x = 0 { a[t,x] = b[t-1,x] + b[t-1,x+1]  b[t,x] = b[t-1,x+1] - b[t-1,x] }
  R[t, x] for 1 <= t <= T and x = N-1 { a[t,x] = a[t-1,x-1]  b[t,x] = a[t-1,x] + a[t-1,x-1] }
  schedule rows { S, L, R -> [t, x parallel] }
}";

/// Folds to one ring of cells, whose coordinate mixes the indices.
const PLANE: &str = "kernel plane(size N; run T) for N >= 3 {
  state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
  S[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and 0 <= x < N { u[t,y,x] = u[t-1,y-1,x] + u[t-1,y+1,x] }
  E[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N and (y = 0 or y = N-1) { u[t,y,x] = u[t-1,y,x] }
  schedule rows { S, E -> [t, y, x] }
}";

/// Writes its output in every tenth step; in others its cells stay as they are.
const EVERY_TENTH: &str = "kernel every_tenth(size N; run T) {
  state u[t, x]: f64 for 0 <= x < N
  output seen[x]: f64 for 0 <= x < N live in for 0 <= x < N
  U[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = u[t-1,x] + 1 }
  S[t, x] for 1 <= t <= T and t mod 10 = 0 and 0 <= x < N { seen[x] = u[t,x] }
  schedule rows { U -> [t, 0, x]; S -> [t, 1, x] }
}";

/// A temporary that holds values before the run.
const FROM_NOWHERE: &str = "kernel from_nowhere(size N) {
  temp c[x]: f64 for 0 <= x < N live in for 0 <= x < N
  output d[x]: f64 for 0 <= x < N
  S[x] for 0 <= x < N { d[x] = c[x] }
  schedule row { S -> [x] }
}";

pub(crate) fn cases(cases: &mut Cases) {
    arrays(cases);
    regions(cases);
    memory_of_regions(cases);
    views(cases);
    scalars_and_steps(cases);
    stopping(cases);
    whole_calls(cases);
    observers(cases);
    lent(cases);
    memory(cases);
}

fn lent(cases: &mut Cases) {
    let text = "kernel driven(run T) {
      input force[x]: f64 for 0 <= x < 8
      state u[t, x]: f64 for 0 <= x < 8
      U[t, x] for 1 <= t <= T and 0 <= x < 8 { u[t,x] = u[t-1,x] + force[x] }
      schedule rows { U -> [t, x] }
    }";
    let mut run = code(text, None).instantiate_with(one_thread()).expect("8 cells");
    let force = Array1::from_elem(16, 1.0);
    let every_second = force.slice(ndarray::s![..;2]);
    cases.add_engine("every second number is lent", run.advance_on(1, &[("force", every_second.into())], &mut []));
}

fn observers(cases: &mut Cases) {
    let text = "kernel seen(run T) {
      state u[t, x]: f64 for 0 <= x < 8
      U[t, x] for 1 <= t <= T and 0 <= x < 8 { u[t,x] = u[t-1,x] + 1 }
      schedule rows { U -> [t, x] }
      observe first { output f[i]: f64 for 0 <= i < 1 F[t, x] for 0 <= x < 8 { f[0] = u[t,x] } }
      observe total { reduce sum s: f64 R[t, x] for 0 <= x < 8 { s = u[t,x] } }
    }";
    let mut run = code(text, None).instantiate_with(one_thread()).expect("8 cells");
    let mut first = [0.0];
    cases.add_engine("`last` of `seen` is observed", run.observe("last", &mut []));
    cases.add_engine("`total` has no `g`", run.observed_shape("total", "g"));
    let all = run.observe("first", &mut [("f", first.as_mut_slice().into())]);
    cases.add_engine("every cell of `u` is observed in one", all);
    let mut values = Array1::from_elem(8, 1.0);
    values[5] = f64::NAN;
    let broken = run.write("u", values.view()).and_then(|()| run.monitor_nan(2)).and_then(|()| run.advance(4));
    cases.add_engine("one cell of `u` was NaN from the beginning", broken);
    cases.add_engine("`s` of `total` is not given", run.observe("total", &mut []));
}

fn code(text: &str, size: Option<i64>) -> Code {
    let kernel = Kernel::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let plan = size.into_iter().fold(kernel.plan().threads(2), |plan, size| plan.size("N", size));
    plan.build().expect("a plan").compile().expect("it compiles")
}

fn one_thread() -> RunOptions {
    RunOptions::default().threads(1)
}

fn arrays(cases: &mut Cases) {
    let mut run = code(LINE, Some(8)).instantiate_with(one_thread()).expect("8 cells");
    fn write<T: ElementType>(run: &mut Run, name: &str, back: u32, values: Vec<T>) -> Result<(), Error> {
        run.write_back(name, back, Array1::from(values).view())
    }
    cases.add_engine("`w` of `line` is written", write(&mut run, "w", 0, vec![0.0; 8]));
    cases.add_engine("`u`, of 8 cells, is written from 7", write(&mut run, "u", 0, vec![0.0; 7]));
    cases.add_engine("`u`, of f64, is written from f32", write(&mut run, "u", 0, vec![0.0_f32; 8]));
    cases.add_engine("`v`, a temporary, is written", write(&mut run, "v", 0, vec![0.0; 8]));
    cases.add_engine("`u`, which keeps one step, is written 3 steps back", write(&mut run, "u", 3, vec![0.0; 8]));
}

/// 8 x 8 cells of `u`, all given.
fn triangle() -> Run {
    let mut run = code(TRIANGLE, Some(8)).instantiate_with(one_thread()).expect("8 x 8 cells");
    run.fill("u", 1.0).expect("f64");
    run
}

fn regions(cases: &mut Cases) {
    let run = triangle();
    let mut row = Array1::<f64>::zeros(8);
    let mut read = |done: &str, region: Region| cases.add_engine(done, run.read_box("u", &region, row.view_mut()));
    read("row 2 of `u[t, y, x]` is read by one range", region![2]);
    read("row 8 of 8 is read", region![8, ..]);
    read("columns -1 to 6 of 8 are read", region![0, -1..7]);
    read("every 0-th column is read", region![0, IndexRange::from(..).every(0)]);
    read("two rows are read into one", region![0..2, ..]);
}

fn memory_of_regions(cases: &mut Cases) {
    let run = triangle();
    let mut cells = [0.0; 20];
    let mut read = |done: &str, first: usize, strides: &[isize]| {
        cases.add_engine(done, run.read_strided("u", &region![0..2, ..], &mut cells, first, strides));
    };
    read("2 x 8 cells are read by one stride", 0, &[8]);
    read("2 x 8 cells are read into 20, the first into the 6th", 5, &[8, 1]);
    read("2 x 8 cells are read into rows 4 apart", 0, &[4, 1]);
}

fn views(cases: &mut Cases) {
    let run = triangle();
    cases.add_engine("a triangle is looked at as a square", run.view::<f64>("u", &Region::whole()));
    let mut ring = code(SHIFTED, Some(8)).instantiate_with(one_thread()).expect("9 cells");
    ring.fill("u", 1.0).expect("f64");
    ring.advance(3).expect("all is given");
    cases.add_engine("a ring is looked at as a row", ring.view::<f64>("u", &Region::whole()));
    let mut pair = code(PAIR, Some(8)).instantiate_with(one_thread()).expect("16 cells");
    ["a", "b"].iter().for_each(|name| pair.fill(name, 1.0).expect("f64"));
    pair.advance(1).expect("all is given");
    cases.add_engine(
        "an array of which parts lie in another one's cells is looked at",
        pair.folded::<f64>("a", &Region::whole()),
    );
    let plan = Kernel::parse(PLANE).expect("it parses").plan().size("N", 8).threads(1);
    let plan = plan.strategy(StrategyChoice::Hyperplane).build().expect("it has a plan");
    let mut plane = plan.compile().expect("it compiles").instantiate_with(one_thread()).expect("72 cells");
    plane.fill("u", 1.0).expect("f64");
    plane.advance(3).expect("all is given");
    let folded = plane.folded::<f64>("u", &Region::whole()).expect("one formula");
    cases.add_engine("rows in one ring of cells are described index by index", folded.by_index());
}

fn stopping(cases: &mut Cases) {
    let mut run = triangle();
    cases.add_engine("a run is put at step -1", run.set_step(-1));
    over_steps(cases);
    let each = |_: &mut Run, _: &crease::Progress| Ok::<_, Error>(ControlFlow::Continue(()));
    cases.add_engine("a run is to call back every 0 steps", run.advance_with(10, 0, each));
    let cancel = Cancel::new();
    run.cancel_with(&cancel);
    run.advance(4).expect("nobody has cancelled it");
    cancel.cancel();
    cases.add_engine("a run is advanced by 10 steps after it was cancelled", run.advance(10));
}

fn over_steps(cases: &mut Cases) {
    let text = "kernel driven(size N; run T) {
      input inflow[t]: f64 for 1 <= t <= T
      state u[t, x]: f64 for 0 <= x < N
      S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = u[t-1,x] + inflow[t] }
    }";
    let mut run = code(text, Some(8)).instantiate_with(one_thread()).unwrap();
    run.fill("u", 0.0).unwrap();
    let values = ndarray::Array1::<f64>::zeros(3);
    run.write_steps("inflow", 1, values.view()).unwrap();
    cases.add_engine("four steps of `driven`, which was given three", run.advance(4));
    cases.add_engine("`inflow` is given steps from 6 on after 3", run.write_steps("inflow", 6, values.view()));
    let one = values.slice(ndarray::s![..1]);
    cases.add_engine("`inflow` is given step 5 after 3", run.write_steps("inflow", 5, one));
    cases.add_engine("`inflow` is given steps from 0 on", run.write_steps("inflow", 0, values.view()));
    cases.add_engine("`inflow` is written as a whole", run.write("inflow", values.view()));
    cases.add_engine("`u` is given values of steps", run.write_steps("u", 1, values.view()));
}

fn scalars_and_steps(cases: &mut Cases) {
    let mut run = code(LINE, Some(8)).instantiate_with(one_thread()).expect("8 cells");
    cases.add_engine("a scalar `omega` is set", run.set("omega", 1.0));
    cases.add_engine("`line` is advanced before `k` is set", run.advance(1));
    run.set("k", 1.0).expect("it has k");
    given(cases, &mut run);
    cases.add_engine("`line` is advanced by 2^63 - 1 steps", run.advance(i64::MAX as u64));
    let mut tasks = code(TASKS, Some(8)).instantiate_with(one_thread()).expect("8 x 8 cells");
    cases.add_engine("`tasks`, which has no steps, is advanced", tasks.advance(1));
    let mut once = code(ONCE, None).instantiate_with(one_thread()).expect("4 cells");
    cases.add_engine("`once`, which has no state, is run once", once.run_once());
}

fn given(cases: &mut Cases, line: &mut Run) {
    cases.add_engine("`line` is advanced before `u` is given", line.advance(1));
    let mut cells = Array1::<f64>::zeros(8);
    cases.add_engine("`u` of `line` is read before it is given", line.read("u", cells.view_mut()));
    let mut tasks = code(TASKS, Some(8)).instantiate_with(one_thread()).expect("8 x 8 cells");
    cases.add_engine("`tasks` is run once before `a` is given", tasks.run_once());
    let mut b = Array2::<f64>::zeros((8, 8));
    cases.add_engine("`b`, an output, is read before it is computed", tasks.read("b", b.view_mut()));
    let mut wave = code(WAVE, Some(8)).instantiate_with(one_thread()).expect("3 x 8 cells");
    wave.write("u", cells.view()).expect("8 cells");
    cases.add_engine("`wave` is advanced with one of the two levels of `u` that it reads", wave.advance(1));
    cases.add_engine("`u` of `wave` is read one step back", wave.read_back("u", 1, cells.view_mut()));
    let mut every_tenth = code(EVERY_TENTH, Some(8)).instantiate_with(one_thread()).expect("16 cells");
    every_tenth.fill("u", 0.0).expect("8 cells");
    cases.add_engine("`every_tenth` is advanced before `seen` is given", every_tenth.advance(5));
    let mut from_nowhere = code(FROM_NOWHERE, Some(8)).instantiate_with(one_thread()).expect("16 cells");
    cases.add_engine("`from_nowhere` is run once", from_nowhere.run_once());
    let mut d = [0.0; 8];
    let borrowed = &mut [("d", (&mut d[..]).into())];
    cases
        .add_engine("`from_nowhere` is called on borrowed arrays", code(FROM_NOWHERE, Some(8)).run(&[], borrowed, &[]));
}

fn whole_calls(cases: &mut Cases) {
    let code_of_tasks = code(TASKS, Some(8));
    let (a, mut b) = (Array2::<f64>::ones((8, 8)), Array2::<f64>::zeros((8, 8)));
    let borrowed = || ("a", Input::from(&a));
    let mut call = |done: &str, inputs: &[(&str, Input<'_>)]| {
        cases.add_engine(done, code_of_tasks.run(inputs, &mut [("b", Output::from(&mut b))], &[]));
    };
    call("`tasks` is called without its input", &[]);
    call("`a` is borrowed twice", &[borrowed(), borrowed()]);
    call("`b`, an output, is borrowed as an input", &[borrowed(), ("b", Input::from(&a))]);
    let short = Input::from_slice(&[1.0; 63], &[8, 8]).expect_err("63 is not 64");
    cases.add("63 cells are borrowed as 8 x 8", short);
    cases.add_engine(
        "`line`, which has state, is called on borrowed arrays",
        code(LINE, Some(8)).run(&[], &mut [], &[]),
    );
}

fn memory(cases: &mut Cases) {
    let large = code(LINE, Some(1 << 45));
    let on = |memory: MemoryCheck| one_thread().memory(memory);
    cases.add_engine("`line` at N = 2^45, unchecked", large.instantiate_with(on(MemoryCheck::Unchecked)));
    let line = code(LINE, Some(100_000));
    let limited = line.instantiate_with(on(MemoryCheck::Limit(100_000)));
    cases.add_engine("`line` at N = 100000, limited to 100000 bytes", limited);
    let kernel = Kernel::parse(TASKS).expect("it parses");
    let plan = kernel.plan().size("N", 64).threads(1).memory_cap_bytes(2000).build().expect("one copy fits");
    let code = plan.compile().expect("it compiles");
    let threads = |threads| RunOptions::default().threads(threads);
    cases.add_engine("`tasks`, with a copy for each of 16 threads, in 2000 bytes", code.instantiate_with(threads(16)));
    cases.add_engine("a run on no thread", code.instantiate_with(threads(0)));
    let many = PoolError::TooMany { threads: 100_000, cores: 2, most: 16 };
    cases.add_made_up("machines have different numbers of cores", many);
}

//! How far storage is searched for: which strategies are not asked, as none of their kind could find clearly less.

use crease::plan::report::ChoiceReport;
use crease::prelude::*;

/// What was chosen for an array, with how it is kept: the strategy and the moduli of its first buffer.
fn chosen(plan: &Plan, array: &str) -> (ChoiceReport, &'static str, Vec<i64>) {
    let report = plan.report();
    let of_array = |choice: &&ChoiceReport| choice.arrays.iter().any(|name| name == array);
    let choice = report.choices.iter().find(of_array).expect("something was chosen").clone();
    let buffer = report.buffers.iter().find(|buffer| buffer.name == array).expect("a buffer is named after its array");
    (choice, buffer.strategy, buffer.moduli.clone())
}

fn planned(text: &str, n: i64, schedule: &str) -> Plan {
    let kernel = Kernel::parse(text).unwrap();
    kernel.plan().size("N", n).schedule(schedule).threads(2).build().unwrap()
}

/// A state that is read two steps back, in two bands of tiles at once.
const WAVE: &str = "kernel wave(size N; run T) for N >= 5 {
  scalar k: f64
  state w[t, y, x]: f64 for 0 <= y < N and 0 <= x < N outside reflect cell
  S[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and 1 <= x < N-1 {
    w[t,y,x] = 2 * w[t-1,y,x] - w[t-2,y,x] - k * (w[t-1,y-2,x] + w[t-1,y+2,x] + w[t-1,y,x-2] + w[t-1,y,x+2]) }
  E[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N and not (1 <= y < N-1 and 1 <= x < N-1) { w[t,y,x] = 0 }
  schedule tiles {
    S, E -> [floor((t-1)/8), floor((t-1)/4) + floor((2*t+y-2)/8), floor((t-1)/4) parallel, t, y, x vector(4)] }
}";

#[test]
fn as_many_steps_as_are_read_back_are_kept_where_times_tell_that_these_will_do() {
    let plan = planned(WAVE, 40, "tiles");
    let (choice, strategy, moduli) = chosen(&plan, "w");
    assert_eq!((strategy, moduli.as_slice()), ("successive-modulo", &[2, 40, 40][..]));
    assert!(choice.gave_up.is_empty(), "{choice:?}");
    for other in ["strided-hyperplane", "hyperplane", "window", "lattice", "periodic"] {
        assert!(choice.not_asked.contains(&other), "{other}: {choice:?}");
    }
}

/// A step in two stages, in two bands of tiles at once: of the first, rows at the ends of tiles wait for the next tile.
const STAGES: &str = "kernel stages(size N; run T) for N >= 5 {
  scalar k: f64
  state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N outside value 0
  temp a[t, y, x]: f64 for 1 <= t <= T and 0 <= y < N and 0 <= x < N outside value 0
  A[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N { a[t,y,x] = u[t-1,y+1,x] - u[t-1,y,x] }
  S[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N { u[t,y,x] = u[t-1,y,x] + k * (a[t,y,x] - a[t,y-1,x]) }
  schedule tiles {
    A -> [floor((t-1)/8), floor((t-1)/4) + floor((t+y)/8), floor((t-1)/4) parallel, t, y, 0, x vector(4)]
    S -> [floor((t-1)/8), floor((t-1)/4) + floor((t+y)/8), floor((t-1)/4) parallel, t, y, 1, x vector(4)] }
}";

#[test]
fn no_formula_is_sought_where_a_box_as_large_as_what_was_found_conflicts_all_over() {
    let plan = planned(STAGES, 40, "tiles");
    let (choice, strategy, moduli) = chosen(&plan, "a");
    assert_eq!((strategy, moduli.as_slice()), ("successive-modulo", &[8, 2, 40][..]));
    for other in ["strided-hyperplane", "hyperplane", "window", "lattice"] {
        assert!(choice.not_asked.contains(&other), "{other}: {choice:?}");
    }
}

#[test]
fn more_states_than_share_a_buffer_are_not_asked_to() {
    let names: Vec<String> = (0..9).map(|q| format!("u{q}")).collect();
    let states = names.iter().map(|u| format!("state {u}[t, x]: f64 for 0 <= x < N outside value 0\n"));
    let next = |q: usize| &names[(q + 1) % names.len()];
    let steps = names.iter().enumerate().map(|(q, u)| format!("{u}[t,x] = {u}[t-1,x-1] + {}[t-1,x+1]\n", next(q)));
    let text = format!(
        "kernel many(size N; run T) for N >= 3 {{ {} S[t, x] for 1 <= t <= T and 0 <= x < N {{ {} }}
         schedule rows {{ S -> [t, x] }} }}",
        states.collect::<String>(),
        steps.collect::<String>(),
    );
    let (choice, ..) = chosen(&planned(&text, 40, "rows"), "u0");
    assert!(choice.not_asked.contains(&"shared"), "{choice:?}");
}

/// A box whose rows are read from the far side, in tiles that lean along one dimension.
const AROUND: &str = "kernel around(size N; run T) for N >= 5 {
  scalar k: f64
  state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N outside x periodic, y value 0
  S[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N {
    u[t,y,x] = k * sum(d in -1..2, e in -1..2, u[t-1,y+d,x+e]) }
}";

#[test]
fn no_cut_is_sought_where_margins_of_tiles_are_all_that_storage_has_beyond_a_step() {
    let kernel = Kernel::parse(AROUND).unwrap();
    for threads in [1, 2] {
        let plan = kernel.plan().size("N", 600).schedule("auto").threads(threads).build().unwrap();
        let (choice, strategy, _) = chosen(&plan, "u");
        assert_eq!(strategy, "strided-hyperplane", "{threads} threads");
        for other in ["periodic", "hyperplane", "window", "lattice"] {
            assert!(choice.not_asked.contains(&other), "{threads} threads, {other}: {choice:?}");
        }
    }
}

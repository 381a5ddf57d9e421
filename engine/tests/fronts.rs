//! Fronts: what tiles are said to need of the fronts before is all that they need, cell by cell.
//!
//! Random stencils in schedules whose tiles run in parallel, front after front. The claims of their programs, found by
//! inequalities (`engine/src/lower/fronts.rs`), are compared with every cell that calls touch, and what several threads
//! compute with what the interpreter does, one iteration after the other.

use crease::prelude::*;
use crease_program::{LoopKind, Node, Program};
use ndarray::ArrayD;

use crate::is_thorough;

/// Kernels, a few and with `CREASE_THOROUGH`.
const KERNELS: [u64; 2] = [4, 40];
/// Steps of the oracle.
const BUDGET: u64 = 10_000_000;

/// A stencil of some points and the border that it leaves, with schedules of which some are legal.
fn text(random: &mut fastrand::Rng) -> (String, usize) {
    // Cubes take seconds each.
    let dims = random.usize(1..=if is_thorough() { 3 } else { 2 });
    let (names, reach) = (&["z", "y", "x"][3 - dims..], random.i64(1..=2));
    let point = |random: &mut fastrand::Rng| {
        let index: Vec<String> = names.iter().map(|name| format!("{name} + {}", random.i64(-reach..=reach))).collect();
        format!("u[t-1, {}]", index.join(", ")).replace("+ -", "- ")
    };
    let points: Vec<String> = (0..random.usize(2..6)).map(|_| point(random)).collect();
    let (all, first) = (names.join(", "), names[0]);
    let edges: Vec<String> = names.iter().map(|name| format!("{name} < {reach} or {name} >= N - {reach}")).collect();
    // Tiles take the first dimension; the last one has lanes, in another tile where it is the same.
    let rest = |from: usize| {
        let mut dims: Vec<String> = names[from..].iter().map(ToString::to_string).collect();
        *dims.last_mut().unwrap() += " vector(4)";
        dims.join(", ")
    };
    let (height, width, band) = (random.i64(1..5), random.i64(2..8), random.i64(2..4));
    let rows = rest(0);
    let mut schedules = vec![
        format!(
            "[floor(t/{}), floor((t * {reach} + {first})/{width}) + floor(t/{height}), floor(t/{height}) parallel, t, {rows}]",
            height * band
        ),
        format!("[floor(t/{height}), floor({first}/2) + {} * t, t parallel, {rows}]", reach + 1),
    ];
    if dims > 1 {
        let second = names[1];
        schedules.push(format!("[t, {first} parallel, {}]", rest(1)));
        schedules.push(format!(
            "[floor(t/{height}), floor((t * {reach} + {first})/{width}) + floor((t * {reach} + {second})/3), \
             floor((t * {reach} + {first})/{width}) parallel, t, {rows}]"
        ));
    }
    let count = schedules.len();
    let schedules: String =
        schedules.iter().enumerate().map(|(at, times)| format!("schedule s{at} {{ S, E -> {times} }}\n")).collect();
    let text = format!(
        "kernel points(size N; run T) for N >= 6 {{
           state u[t, {all}]: f64 for 0 <= {all} < N
           S[t, {all}] for 1 <= t <= T and {reach} <= {all} < N - {reach} {{ u[t, {all}] = 0.5 * ({}) }}
           E[t, {all}] for 1 <= t <= T and 0 <= {all} < N and ({}) {{ u[t, {all}] = u[t-1, {all}] }}
           {schedules} }}",
        points.join(" + "),
        edges.join(" or "),
    );
    (text, count)
}

fn has_fronts(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::For { kind, body, .. } => matches!(kind, LoopKind::Fronts(_)) || has_fronts(body),
        Node::If { then, otherwise, .. } => has_fronts(then) || has_fronts(otherwise),
        Node::Let { .. } | Node::Strip(_) => false,
    })
}

#[test]
fn tiles_need_no_more_than_they_are_said_to() {
    let mut found = 0;
    for seed in 0..KERNELS[usize::from(is_thorough())] {
        let mut random = fastrand::Rng::with_seed(seed);
        let (text, schedules) = text(&mut random);
        let kernel = Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        for schedule in 0..schedules {
            let n = random.i64(7..16);
            let strategy = random.choice([StrategyChoice::Auto, StrategyChoice::SuccessiveModulo]).unwrap();
            // What is found sooner.
            let strategy = if is_thorough() { strategy } else { StrategyChoice::SuccessiveModulo };
            let plan = kernel.plan().size("N", n).schedule(&format!("s{schedule}")).strategy(strategy);
            // Not all are legal.
            let Ok(plan) = plan.build() else { continue };
            let program = plan.program();
            if !has_fronts(&program.body) {
                continue;
            }
            let lengths: Vec<u64> = program.buffers.iter().map(|buffer| buffer.cells.unwrap()).collect();
            for call in [[0, 9], [3, 17]] {
                match program.verify_exactly(&call, &lengths, BUDGET) {
                    Ok(()) => found += 1,
                    Err(error) if error.to_string().contains("steps to look at") => {}
                    Err(error) => panic!("seed {seed}, s{schedule}, N = {n}: {error}\n{text}\n{program}"),
                }
            }
            agree_on_threads(&plan, program, seed);
        }
    }
    let wanted = KERNELS[usize::from(is_thorough())] as usize;
    assert!(found > wanted, "only {found} calls have fronts");
}

/// Runs on one thread and on several, which have the same bits.
fn agree_on_threads(plan: &Plan, program: &Program, seed: u64) {
    let code = plan.compile().unwrap();
    let run = |threads: usize| {
        let mut run = code.instantiate_with(RunOptions::default().threads(threads).guard_pages(true)).unwrap();
        let mut next = seed as f64;
        let mut u = ArrayD::from_shape_simple_fn(run.shape("u").unwrap(), || {
            next = (next * 7.0 + 3.0) % 101.0;
            next
        });
        run.write("u", u.view()).unwrap();
        run.advance(13).unwrap();
        run.read("u", u.view_mut()).unwrap();
        u
    };
    let expected = run(1);
    for threads in [2, 3, 5] {
        assert!(run(threads) == expected, "seed {seed}, {threads} threads\n{program}");
    }
}

/// Several calls at a time, of which one leads the threads and the others find them taken, for a part of the time.
#[test]
fn runs_that_share_two_threads_compute_what_one_does() {
    let kernel = Kernel::parse(
        "kernel line(size N; run T) for N >= 3 {
           state u[t, x]: f64 for 0 <= x < N
           S[t, x] for 1 <= t <= T and 1 <= x < N - 1 { u[t,x] = 0.3 * (u[t-1,x-1] + u[t-1,x+1]) }
           E[t, x] for 1 <= t <= T and 0 <= x < N and (x = 0 or x = N - 1) { u[t,x] = u[t-1,x] }
           schedule bands { S, E -> [floor(t/8), floor((t + x)/16) + floor(t/4), floor(t/4) parallel, t, x vector(4)] }
           schedule rows { S, E -> [t, floor(x/8) parallel, x vector(4)] }
         }",
    )
    .unwrap();
    let code = |schedule: &str| kernel.plan().size("N", 90).schedule(schedule).build().unwrap().compile().unwrap();
    let codes = [code("bands"), code("rows")];
    let result = |code: &Code, threads: usize, calls: u64| {
        let mut run = code.instantiate_with(RunOptions::default().threads(threads)).unwrap();
        run.write("u", ArrayD::from_shape_fn(vec![90], |at| (at[0] * at[0] % 17) as f64).view()).unwrap();
        (0..calls).for_each(|call| run.advance(1 + call % 11).unwrap());
        let mut end = ArrayD::<f64>::zeros(vec![90]);
        run.read("u", end.view_mut()).unwrap();
        end
    };
    let calls = if is_thorough() { 2_000 } else { 300 };
    let wanted = result(&codes[0], 1, calls);
    std::thread::scope(|scope| {
        for seed in 0..6 {
            let (code, wanted) = (&codes[seed % 2], &wanted);
            scope.spawn(move || assert!(result(code, 2, calls) == *wanted));
        }
    });
}

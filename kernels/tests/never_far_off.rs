//! The automatic choice against every strategy alone: it is within 1.05 of the smallest storage, or faster in its own
//! estimate and within 1.5 or a cache line an array, and its report says which.
//!
//! Without `CREASE_THOROUGH`, one schedule of each kernel is looked at, at one size, and kernels that take seconds are
//! left out where others are like them.

use std::collections::BTreeMap;

use crease::plan::report::{Reason, Report};
use crease::{Kernel, Objective, Plan, Rings, StrategyChoice};
use crease_kernels::catalogue;
use crease_kernels::literature::examples;

use crate::{is_left_for_later, is_of_other_cells, is_thorough};

/// A cube tile of a skewed stencil: no row with unit stride is small, a lattice is.
const CUBE: &str = "\
kernel skewed_cube(size N) for N >= 3 {
  opaque f(5)
  temp A[t, y, x]: f64 for -1 <= t < N and -2 <= y < N and -2 <= x < N
    live in for t < 0 or y < 0 or x < 0 live out for t = N-1 or y >= N-2 or x >= N-2
  S[t, y, x] for 0 <= t < N and 0 <= y < N and 0 <= x < N {
    A[t,y,x] = f(A[t-1,y-1,x-1], A[t-1,y-2,x-1], A[t-1,y,x-1], A[t-1,y-1,x-2], A[t-1,y-1,x]) }
  schedule tile { S -> [t, y, x] }
  schedule in_lanes { S -> [t, y, x vector(8)] }
}";

/// Red cells, then black ones, all rows of a colour at once: a step takes the place of the one before.
const RED_BLACK: &str = "\
kernel red_black(size N; run T) for N >= 4 {
  state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
  R[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and 1 <= x < N-1 and (x + y) mod 2 = 0 {
    u[t,y,x] = 0.25 * (u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1]) }
  B[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and 1 <= x < N-1 and (x + y) mod 2 = 1 {
    u[t,y,x] = 0.25 * (u[t,y-1,x] + u[t,y+1,x] + u[t,y,x-1] + u[t,y,x+1]) }
  ER[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N and (x + y) mod 2 = 0
    and (y = 0 or y = N-1 or x = 0 or x = N-1) { u[t,y,x] = u[t-1,y,x] }
  EB[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N and (x + y) mod 2 = 1
    and (y = 0 or y = N-1 or x = 0 or x = N-1) { u[t,y,x] = u[t-1,y,x] }
  schedule rows { R, ER -> [t, 0, y, x]; B, EB -> [t, 1, y, x] }
  schedule in_parallel { R, ER -> [t, 0, y parallel, x vector(8)]; B, EB -> [t, 1, y parallel, x vector(8)] }
}";

/// Statements of kernels that are left out.
const MANY_STATEMENTS: usize = 10;
/// Kernels and schedules that are left out; others have tiles and wavefronts too.
const SLOW_KERNELS: [&str; 3] = ["heat-1d-small-tiles", "lbm-d2q9-periodic-f32", "lbm-d2q9-periodic-f16"];
const SLOW_SCHEDULES: [&str; 1] = ["bands"];
/// The same unless all is tried.
const SECONDS_EACH: [&str; 1] = ["heat-1d-tiles"];

/// Bytes of all cells, one copy of what is private.
fn cell_bytes(report: &Report) -> u64 {
    report.buffers.iter().map(|buffer| buffer.cells * buffer.element_bytes).sum()
}

/// Compares the choice with what every strategy alone proves; how far off it is.
fn compare(kernel: &Kernel, schedule: &str, sizes: &BTreeMap<String, i64>) -> f64 {
    let strategies: Vec<StrategyChoice> =
        StrategyChoice::ALL.into_iter().filter(|choice| *choice != StrategyChoice::Full).collect();
    let at = format!("{} {schedule} {sizes:?}", kernel.name());
    let builder = kernel.plan().schedule(schedule).rings(Rings::Cut).objective(Objective::Balanced);
    let builder = sizes.iter().fold(builder, |builder, (name, &value)| builder.size(name, value));
    let plans = builder.build_each(&strategies).unwrap_or_else(|error| panic!("{at}: {error}"));
    let of = |strategy: StrategyChoice| {
        let position = strategies.iter().position(|known| *known == strategy).expect("it was asked");
        plans[position].as_ref()
    };
    let auto: &Plan = of(StrategyChoice::Auto).unwrap_or_else(|error| panic!("{at}: {error}"));
    let proved = strategies.iter().filter_map(|&choice| Some((cell_bytes(of(choice).ok()?.report()), choice.name())));
    let (least, strategy) = proved.min().expect("at least the choice");
    let (bytes, report) = (cell_bytes(auto.report()), auto.report());
    let is_faster = report.choices.iter().any(|choice| choice.reason == Reason::Faster);
    let near = bytes * 20 <= least * 21;
    let few = bytes <= least + (least / 2).max(64 * report.choices.len() as u64);
    assert!(
        near || is_faster && few,
        "{at}: {bytes} bytes, {strategy} {least}: {:?} {:?}",
        report.choices,
        report.notes
    );
    for choice in &report.choices {
        let (chosen, smallest) = (&choice.chosen, &choice.smallest);
        match choice.reason {
            Reason::Smallest => assert_eq!(chosen.bytes, smallest.bytes, "{at}"),
            Reason::NearSmallest => assert!(chosen.bytes * 20 <= smallest.bytes * 21, "{at}: {choice:?}"),
            Reason::Faster => {
                let few = chosen.bytes <= smallest.bytes + (smallest.bytes / 2).max(64);
                assert!(chosen.access < smallest.access && few, "{at}: {choice:?}");
            }
            Reason::Uncut => {
                let private = report.arrays.iter().filter(|array| choice.arrays.contains(&array.name));
                assert!(private.clone().count() == 1 && chosen.bytes <= 2 * smallest.bytes, "{at}: {choice:?}");
            }
            other => panic!("{at}: {other:?}"),
        }
    }
    bytes as f64 / least.max(1) as f64
}

#[test]
fn of_the_catalogue() {
    for entry in catalogue() {
        let kernel = entry.kernel().expect("catalogue kernels parse");
        let sizes = entry.tests[0].sizes.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        // With these, every strategy but the one that is chosen takes seconds and more.
        let takes_long = kernel.stmts().len() >= MANY_STATEMENTS || SLOW_KERNELS.contains(&entry.name);
        let is_slow = |name: &str| takes_long || SLOW_SCHEDULES.contains(&name);
        let mut schedules: Vec<&str> = kernel.schedules().iter().map(|schedule| schedule.name.as_str()).collect();
        schedules.retain(|name| !is_slow(name));
        if !is_thorough() {
            // Sizes, not bytes, are what strategies differ in; the last schedule is the one furthest from the text.
            schedules.drain(..schedules.len().saturating_sub(1));
            schedules.retain(|_| {
                let is_slow = SECONDS_EACH.contains(&entry.name) || is_left_for_later(entry.name);
                !is_of_other_cells(entry.name) && !is_slow
            });
        }
        for schedule in schedules {
            compare(&kernel, schedule, &sizes);
        }
    }
}

#[test]
fn of_publications() {
    for example in examples() {
        let kernel = (example.definition)().expect("examples are kernels");
        if kernel.name().contains("d3q") && !is_thorough() {
            continue;
        }
        for values in &example.sizes[..example.sizes.len().min(if is_thorough() { 2 } else { 1 })] {
            let sizes = example.params.iter().map(|name| (*name).to_owned()).zip(values.iter().copied()).collect();
            compare(&kernel, &kernel.schedules()[0].name, &sizes);
        }
    }
}

#[test]
fn of_kernels_that_users_found() {
    let size = |n: i64| BTreeMap::from([("N".to_owned(), n)]);
    for text in if is_thorough() { &[CUBE, RED_BLACK][..] } else { &[CUBE] } {
        let kernel = Kernel::parse(text).expect("it parses");
        let left_out = if is_thorough() { ["in_parallel", ""] } else { ["in_parallel", "tile"] };
        for schedule in kernel.schedules().iter().filter(|schedule| !left_out.contains(&schedule.name.as_str())) {
            compare(&kernel, &schedule.name, &size(20));
        }
    }
}

#[test]
fn a_cube_tile_takes_planes_and_no_cube() {
    let kernel = Kernel::parse(CUBE).unwrap();
    let plan = kernel.plan().size("N", 600).schedule("in_lanes").build().unwrap();
    assert!(plan.report().buffers[0].cells <= 6 * 600 * 600, "{:?}", plan.report());
}

#[test]
fn red_and_black_in_parallel_take_one_grid() {
    let kernel = Kernel::parse(RED_BLACK).unwrap();
    let plan = kernel.plan().size("N", 300).schedule("in_parallel").build().unwrap();
    let report = plan.report();
    assert_eq!((report.buffers[0].cells, report.buffers[0].strategy), (300 * 300, "one-level"));
    // That all of the grid is alive at once is known without a look at the conflicts.
    assert!(report.choices[0].not_asked.contains(&"lattice"), "{:?}", report.choices);
}

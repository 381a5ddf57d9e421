//! Schedules that are rewritings of others: by text, by calls and in plans they are the same, compute the same bits as
//! the rows they come from, and are refused where they break a dependence.

use std::collections::BTreeMap;

use crease::kernel::graph::{DimKind, Kernel};
use crease::plan::report::Report;
use crease::prelude::*;
use crease::schedule::TransformError;
use crease::{MachineModel, Plan};
use ndarray::{ArrayD, IxDyn};

const PLANE: &str = "\
kernel plane(size N, B; run T) for N >= 3 and B >= 0 {
  state u[t, y, x]: f64 for 0 <= y, x < N
  S[t, y, x] for 1 <= t <= T and 1 <= y, x < N-1 {
    u[t,y,x] = 0.2 * (u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1] + u[t-1,y,x]) }
  E[t, y, x] for 1 <= t <= T and 0 <= y, x < N and (y = 0 or y = N-1 or x = 0 or x = N-1) {
    u[t,y,x] = u[t-1,y,x] }
  schedule rows { S, E -> [t, y, x] }
  schedule of_sizes = rows tile(y B, x 2*B) vector(x 4)
}";

fn parsed(text: &str) -> Kernel {
    Kernel::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

/// Cells along a side.
const N: usize = 11;

/// With the strategy that is found soonest.
fn plan(kernel: &Kernel, schedule: &str, b: i64) -> Result<Plan, Error> {
    kernel
        .plan()
        .strategy(StrategyChoice::SuccessiveModulo)
        .size("N", N as i64)
        .size("B", b)
        .threads(2)
        .schedule(schedule)
        .build()
}

fn run(plan: &Plan, shape: &[usize]) -> ArrayD<f64> {
    let mut run = plan.compile().unwrap().instantiate_with(RunOptions::default().guard_pages(true)).unwrap();
    let mut u = ArrayD::from_shape_fn(IxDyn(shape), |at| (0..shape.len()).map(|d| (at[d] * (d + 3)) as f64).sum());
    run.write("u", u.view()).unwrap();
    for steps in [3, 1, 6] {
        run.advance(steps).unwrap();
    }
    run.read("u", u.view_mut()).unwrap();
    u
}

#[test]
fn every_rewriting_computes_what_rows_compute() {
    let kernel = parsed(PLANE);
    let expected = run(&plan(&kernel, "rows", 1).unwrap(), &[N, N]);
    for steps in [
        "interchange(y, x)",
        "shift(x by 2 for E) vector(x 4)",
        "split(y 4) parallel(tile y) vector(x 4)",
        "skew(y by t) tile(t 3, y 4) wavefront(tile t, tile y)",
        "tile(y 4, x 5) parallel(tile y)",
        "skewed(t 3, y 4) vector(x 4)",
        "skewed(t 3, y 4, x 5)",
        "parallelogram(t 3, y 4) vector(x 4)",
        "diagonals(t 3, y 4, x 5)",
        "pipelined(t 4, y 3) vector(x 4)",
        "diamond(t, y 6) vector(x 4)",
        "diamond(t, y 6, x 5)",
        "hexagonal(t 4, y 3) vector(x 4)",
    ] {
        let plan = plan(&kernel, &format!("rows {steps}"), 1).unwrap_or_else(|error| panic!("{steps}: {error}"));
        assert_eq!(plan.report().schedule, "rewritten");
        assert_eq!(run(&plan, &[N, N]), expected, "{steps}");
    }
}

/// What stands behind the lanes orders the cells of a block: a sum along the row is none in lock-step.
#[test]
fn lanes_that_are_ordered_behind_the_vector_dimension_run_one_by_one() {
    let kernel = parsed(
        "kernel sums(size N) for N >= 1 {
           input g[x]: f64 for 0 <= x < N
           output s[x]: f64 for 0 <= x < N
           F[x] for x = 0 { s[x] = g[x] }
           S[x] for 1 <= x < N { s[x] = s[x-1] + g[x] }
           schedule rows { F, S -> [x] }
         }",
    );
    for steps in ["", "split(x 1) vector(x 4)"] {
        let plan = kernel.plan().size("N", 23).schedule(format!("rows {steps}").trim()).build().unwrap();
        let mut run = plan.compile().unwrap().instantiate().unwrap();
        run.write("g", ndarray::Array1::from_elem(23, 1.0).view()).unwrap();
        run.run_once().unwrap();
        let mut sums = ndarray::Array1::<f64>::zeros(23);
        run.read("s", sums.view_mut()).unwrap();
        assert_eq!(sums, ndarray::Array1::from_iter((1..24).map(f64::from)), "{steps}");
    }
}

#[test]
fn diamonds_in_space_have_strips_along_two_dimensions() {
    let cube = parsed(
        "kernel cube(size N; run T) for N >= 3 {
           state u[t, z, y, x]: f64 for 0 <= z, y, x < N outside clamp
           S[t, z, y, x] for 1 <= t <= T and 0 <= z, y, x < N {
             u[t,z,y,x] = 0.25 * (u[t-1,z-1,y,x] + u[t-1,z+1,y,x]) + 0.125 * (u[t-1,z,y-1,x] + u[t-1,z,y+1,x])
               + 0.125 * (u[t-1,z,y,x-1] + u[t-1,z,y,x+1]) }
           schedule rows { S -> [t, z, y, x] }
         }",
    );
    let run = |schedule: &str| {
        let plan = cube.plan().size("N", 5).threads(2).strategy(StrategyChoice::SuccessiveModulo).schedule(schedule);
        run(&plan.build().unwrap_or_else(|error| panic!("{error}")), &[5, 5, 5])
    };
    let expected = run("rows");
    assert_eq!(run("rows diamond(t, z 4, y 3, x 4)"), expected);
    assert_eq!(run("rows diagonals(t 2, z 3, y 3)"), expected);
}

#[test]
fn calls_say_what_texts_say() {
    let kernel = parsed(PLANE);
    let calls = kernel.reschedule("rows").unwrap();
    let calls = calls.skew("y", &[("t", 1)]).and_then(|calls| calls.tile(&[("t", 3), ("y", 4)])).unwrap();
    let calls = calls.wavefront(&["tile t", "tile y"]).and_then(|calls| calls.vector("x", 8)).unwrap();
    let text = "fast = rows skew(y by t) tile(t 3, y 4) wavefront(tile t, tile y) vector(x 8)";
    assert_eq!(calls.finish("fast").unwrap(), kernel.with_schedule_text(text).unwrap());

    let calls = kernel.reschedule("rows").unwrap().skewed(("t", 4), &[("y", 8), ("x", 16)]).unwrap();
    assert_eq!(calls.finish("a").unwrap(), kernel.with_schedule_text("a = rows skewed(t 4, y 8, x 16)").unwrap());
    let calls = kernel.reschedule("rows").unwrap().hexagonal((0, 4), (1, 8)).unwrap().sequential(1).unwrap();
    let text = "a = rows hexagonal(t 4, y 8) sequential(tile y)";
    assert_eq!(calls.finish("a").unwrap(), kernel.with_schedule_text(text).unwrap());
    let error = kernel.reschedule("rows").unwrap().shift("y", 1, &["R"]).unwrap_err();
    assert!(matches!(error, TransformError::UnknownStatement { .. }), "{error}");
}

#[test]
fn sizes_of_tiles_are_those_of_the_plan() {
    let kernel = parsed(PLANE);
    let by_numbers = |b: i64| plan(&kernel, &format!("rows tile(y {b}, x {}) vector(x 4)", 2 * b), 1).unwrap();
    for b in [2, 5] {
        let tiled = plan(&kernel, "of_sizes", b).unwrap();
        let times = |plan: &Plan, name: &str| plan.kernel().schedule(name).unwrap().times.clone();
        assert_eq!(times(&tiled, "of_sizes"), times(&by_numbers(b), "rewritten"));
        let note =
            format!("schedule `of_sizes` was made for B = {b}: what is said of other sizes holds for these tiles");
        assert!(tiled.report().notes.contains(&note), "{:?}", tiled.report().notes);
    }
    // Steps go on from there, also in the text of a plan; a plan may name sizes, too.
    let further = plan(&kernel, "of_sizes parallel(tile x)", 3).unwrap();
    assert_eq!(further.kernel().schedule("rewritten").unwrap().dims[2], DimKind::Parallel);
    assert_eq!(run(&further, &[N, N]), run(&by_numbers(3), &[N, N]));

    let refused = plan(&kernel, "of_sizes", 0).unwrap_err();
    assert_eq!(refused.code(), "transform/size");
    assert_eq!(refused.to_string(), "schedule `of_sizes`: the size 0 for dimension 1 is not positive");
}

#[test]
fn what_is_rewritten_first_is_the_default() {
    let text = PLANE.replace("  schedule rows", "  schedule own { S, E -> [t, y, x] } split(y B)\n  schedule rows");
    let kernel = parsed(&text);
    assert_eq!(parsed(&kernel.to_string()), kernel);
    let plan = kernel.plan().size("N", N as i64).size("B", 4).build().unwrap();
    assert_eq!(plan.report().schedule, "own");
    let kernel = plan.kernel();
    let names: Vec<&str> = kernel.schedules().iter().map(|schedule| schedule.name.as_str()).collect();
    assert_eq!(names, ["own", "rows"]);
}

#[test]
fn orders_that_break_dependences_are_refused() {
    let kernel = parsed(PLANE);
    for steps in ["parallel(t)", "tile(t 4, y 4)", "interchange(t, y)", "shift(t by 2 for E)", "wavefront(t, y)"] {
        let error = plan(&kernel, &format!("rows {steps}"), 1).unwrap_err();
        assert!(matches!(error, Error::Illegal(_)), "{steps}: {error}");
    }
    let error = plan(&kernel, "rows tile(z 4)", 1).unwrap_err();
    assert_eq!(error.code(), "transform/unknown-dimension");
    assert!(plan(&kernel, "rows tile(y 4", 1).unwrap_err().to_string().contains("expected `)`"));
}

/// Cells of a hexagon per step, from the bottom to the top: those of one tile that the domain does not cut.
fn widths_of_hexagon(reach: &str, height: i64, width: i64) -> Vec<usize> {
    let kernel = parsed(&format!(
        "kernel line(size N; run T) for N >= 8 {{
           state u[t, x]: f64 for 0 <= x < N
           S[t, x] for 1 <= t <= T and 2 <= x < N-2 {{ u[t,x] = {reach} }}
           E[t, x] for 1 <= t <= T and (0 <= x < 2 or N-2 <= x < N) {{ u[t,x] = u[t-1,x] }}
           schedule rows {{ S, E -> [t, x] }}
         }}"
    ));
    let kernel = kernel.with_schedule_text(&format!("hexagons = rows hexagonal(t {height}, x {width})")).unwrap();
    let time = &kernel.schedule("hexagons").unwrap().times[0];
    let mut tiles: BTreeMap<(i64, i64), BTreeMap<i64, usize>> = BTreeMap::new();
    for (t, x) in (0..40).flat_map(|t| (0..200).map(move |x| (t, x))) {
        let at = |dim: usize| time[dim].eval(&[t, x], &[200, 40]).unwrap();
        *tiles.entry((at(0), at(1))).or_default().entry(t).or_default() += 1;
    }
    let middle = |t: i64| (time[0].eval(&[t, 100], &[200, 40]).unwrap(), time[1].eval(&[t, 100], &[200, 40]).unwrap());
    tiles[&middle(20)].values().copied().collect()
}

#[test]
fn hexagons_have_a_flat_bottom_and_a_flat_top() {
    let three_points = "0.5 * (u[t-1,x-1] + u[t-1,x+1])";
    assert_eq!(widths_of_hexagon(three_points, 8, 5), [5, 7, 9, 11, 11, 9, 7, 5]);
    assert_eq!(widths_of_hexagon(three_points, 6, 1), [1, 3, 5, 5, 3, 1]);
    // Towards one side only, and further to one than to the other.
    assert_eq!(widths_of_hexagon("0.5 * (u[t-1,x] + u[t-1,x-1])", 6, 4), [4, 5, 6, 5, 4, 3]);
    assert_eq!(widths_of_hexagon("0.5 * (u[t-1,x+1] + u[t-1,x-2])", 6, 4), [4, 7, 10, 11, 8, 5]);
}

#[test]
fn a_found_schedule_can_be_said_as_a_rewriting() {
    let kernel = parsed(PLANE);
    let machine = MachineModel::detect().caches(1 << 10, 1 << 11);
    let plan = kernel.plan().size("N", 64).size("B", 1).threads(2).machine(machine).schedule("auto").build().unwrap();
    let search = plan.report().schedule_search.clone().unwrap();
    let is_pipelined = |shape: &str| shape.contains("steps at once") && !shape.contains("in a pass");
    let pipelined = search.candidates.iter().find(|candidate| is_pipelined(&candidate.shape)).unwrap();
    let words: Vec<&str> = pipelined.shape.split(' ').collect();
    let (steps, rows) = (words[0], words[words.len() - 3]);
    let said = kernel
        .with_schedule_text(&format!("auto = rows pipelined(t {steps}, y {rows}) restart(t) vector(x 8)"))
        .unwrap();
    let written = said.schedule("auto").unwrap();
    let text = said.to_string();
    let time = written.times[0][1].display(&["t".into(), "y".into(), "x".into()], &[]);
    assert!(pipelined.text.contains(&time), "{}\n{text}", pipelined.text);
}

#[test]
fn storage_of_pipelined_tiles_is_hardly_more_than_one_grid() {
    let kernel = parsed(PLANE);
    let cells = |report: &Report| report.buffers[0].cells;
    let pipelined = kernel.plan().size("N", 30).size("B", 1).schedule("rows pipelined(t 4, y 1) vector(x 4)");
    let pipelined = pipelined.threads(2).build().unwrap();
    assert!(cells(pipelined.report()) < 30 * 30 * 3 / 2, "{}", cells(pipelined.report()));
}

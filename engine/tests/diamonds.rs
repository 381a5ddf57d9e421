//! Diamond and parallelogram tiles: hyperplanes found from the dependences, legal orders, the bits of the untiled
//! schedule, and the conflicts that brute force finds; with tiles of other sizes, and for the stencil that reaches
//! furthest, with `CREASE_THOROUGH` only.

use std::collections::BTreeMap;

use crease::Stage;
use crease::kernel::graph::{Kernel, ParamKind, Role};
use crease::prelude::*;
use crease::schedule::{DependenceCone, Hyperplanes, Slope, TransformError};
use crease_oracle::Trace;
use ndarray::{ArrayD, Dimension, IxDyn};

use crate::{is_thorough, oracle};

const THREE_POINT: &str = "\
kernel three_point(size N; run T) for N >= 3 {
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = 0.4 * u[t-1,x] + 0.3 * (u[t-1,x-1] + u[t-1,x+1]) }
  E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
  schedule rows { S, E -> [t, x vector(4)] }
}";

const FIVE_POINT: &str = "\
kernel five_point(size N; run T) for N >= 4 {
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 2 <= x < N-2 { u[t,x] = 0.3 * (u[t-1,x-2] + u[t-1,x+2]) + 0.2 * (u[t-1,x-1] + u[t-1,x+1]) }
  E[t, x] for 1 <= t <= T and (0 <= x < 2 or N-2 <= x < N) { u[t,x] = u[t-1,x] }
  schedule rows { S, E -> [t, x vector(4)] }
}";

const UPWIND: &str = "\
kernel upwind(size N; run T) for N >= 3 {
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 2 <= x < N { u[t,x] = 0.5 * u[t-1,x] + 0.3 * u[t-1,x-1] + 0.2 * u[t-1,x-2] }
  E[t, x] for 1 <= t <= T and 0 <= x < 2 { u[t,x] = u[t-1,x] }
  schedule rows { S, E -> [t, x vector(4)] }
}";

/// A leapfrog pair: `v` half a step after `u`, so that dependences lie between half steps too.
const TWO_ARRAYS: &str = "\
kernel two_arrays(size N; run T) for N >= 2 {
  state u[t, x]: f64 for 0 <= x < N
  state v[t, x]: f64 for 0 <= x < N
  U[t, x] for 1 <= t <= T and 1 <= x < N { u[t,x] = u[t-1,x] + 0.3 * (v[t-1,x] - v[t-1,x-1]) }
  L[t, x] for 1 <= t <= T and x = 0 { u[t,x] = u[t-1,x] }
  V[t, x] for 1 <= t <= T and 0 <= x < N-1 { v[t,x] = v[t-1,x] + 0.3 * (u[t,x+1] - u[t,x]) }
  R[t, x] for 1 <= t <= T and x = N-1 { v[t,x] = v[t-1,x] }
  schedule rows { U, L -> [2*t, x]; V, R -> [2*t + 1, x] }
}";

const PLANE: &str = "\
kernel plane(size N; run T) for N >= 3 {
  state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
  S[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and 1 <= x < N-1 {
    u[t,y,x] = 0.2 * (u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1] + u[t-1,y,x]) }
  E[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N and (y = 0 or y = N-1 or x = 0 or x = N-1) {
    u[t,y,x] = u[t-1,y,x] }
  schedule rows { S, E -> [t, y, x vector(4)] }
}";

const SEIDEL: &str = "\
kernel seidel(size N; run T) for N >= 3 {
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = 0.4 * u[t-1,x] + 0.3 * (u[t,x-1] + u[t-1,x+1]) }
  E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
  schedule rows { S, E -> [t, x] }
}";

fn kernel(text: &str) -> Kernel {
    Kernel::parse(text).unwrap()
}

fn slopes(least: (i64, i64), greatest: (i64, i64)) -> DependenceCone {
    let slope = |(space, time)| Slope { space, time };
    DependenceCone { least: slope(least), greatest: slope(greatest) }
}

#[test]
fn the_cone_has_the_extreme_slopes_of_the_dependences() {
    let cone = |text: &str| kernel(text).dependence_cone("rows", (0, 1)).unwrap();
    assert_eq!(cone(THREE_POINT), slopes((-1, 1), (1, 1)));
    assert_eq!(cone(FIVE_POINT), slopes((-2, 1), (2, 1)));
    assert_eq!(cone(UPWIND), slopes((0, 1), (2, 1)));
    assert_eq!(cone(TWO_ARRAYS), slopes((-1, 1), (1, 1)));
    assert_eq!(cone(PLANE), slopes((-1, 1), (1, 1)));
    assert_eq!(kernel(PLANE).dependence_cone("rows", (0, 2)).unwrap(), slopes((-1, 1), (1, 1)));
    assert_eq!(cone(SEIDEL), slopes((-1, 1), (1, 0)));
    // Dimensions in the other order: time is the second one.
    let swapped = kernel(&UPWIND.replace("[t, x vector(4)] }", "[x - 9*t, t] }"));
    assert_eq!(swapped.dependence_cone("rows", (1, 0)).unwrap(), slopes((-9, 1), (-7, 1)));
}

/// Runs in pieces of these lengths, from cells that differ, and returns every state array. Successive modulo is found
/// faster than what `auto` would choose for parallelograms.
fn run(kernel: &Kernel, schedule: &str, n: i64, pieces: &[u64]) -> Vec<ArrayD<f64>> {
    let plan = kernel.plan().size("N", n).schedule(schedule).strategy(StrategyChoice::SuccessiveModulo).build();
    let plan = plan.unwrap_or_else(|error| panic!("{} {schedule} at {n}: {error}", kernel.name()));
    let mut run = plan.compile().unwrap().instantiate_with(RunOptions::default().threads(2).guard_pages(true)).unwrap();
    let names: Vec<&str> = kernel.arrays().iter().map(|array| array.name.as_str()).collect();
    for name in &names {
        let shape = run.shape(name).unwrap();
        let value = |index: IxDyn| index.slice().iter().fold(1_usize, |sum, i| (sum * 37 + i) % 101) as f64 / 7.0;
        run.write(name, ArrayD::from_shape_fn(shape, value).view()).unwrap();
    }
    pieces.iter().for_each(|steps| run.advance(*steps).unwrap());
    let read = |name: &&str| {
        let mut field = ArrayD::zeros(run.shape(name).unwrap());
        run.read(name, field.view_mut()).unwrap();
        field
    };
    names.iter().map(read).collect()
}

/// Diamonds and parallelograms of the size, each of which gives the bits of the untiled schedule.
fn tiles_agree(text: &str, space: &str, n: i64, size: i64) {
    let original = kernel(text);
    let diamonds = original.diamond("diamond", "rows", ("t", space), size).unwrap();
    let both = diamonds.parallelogram("parallelogram", "rows", ("t", space), (size, size + 2)).unwrap();
    let pieces = [1, 4, 2, 6];
    let expected = run(&original, "rows", n, &pieces);
    for schedule in ["diamond", "parallelogram"] {
        assert_eq!(run(&both, schedule, n, &pieces), expected, "{} {schedule} of {size} at {n}", original.name());
    }
}

#[test]
fn tiles_compute_what_rows_compute() {
    for (text, n, size) in [(THREE_POINT, 20, 8), (FIVE_POINT, 13, 3), (UPWIND, 13, 3)] {
        tiles_agree(text, "x", n, size);
    }
    tiles_agree(PLANE, "y", 7, 2);
    if is_thorough() {
        for (text, n, size) in [(THREE_POINT, 13, 1), (FIVE_POINT, 4, 50), (UPWIND, 20, 8)] {
            tiles_agree(text, "x", n, size);
        }
        tiles_agree(PLANE, "y", 5, 16);
    }
}

/// The step stands in the time vector as `2 t`, so dimensions go by number.
#[test]
fn two_arrays_in_half_steps() {
    let original = kernel(TWO_ARRAYS);
    let rows = original.schedule("rows").unwrap();
    let hyperplanes = original.dependence_cone("rows", (0, 1)).unwrap().hyperplanes().unwrap();
    for size in [3, 8] {
        let diamond = rows.diamond("diamond", (0, 1), hyperplanes, size).unwrap();
        let tiled = original.with_schedule(diamond).unwrap();
        let pieces = [3, 1, 5];
        assert_eq!(run(&tiled, "diamond", 14, &pieces), run(&original, "rows", 14, &pieces), "size {size}");
    }
    assert!(matches!(
        original.diamond("diamond", "rows", ("t", "x"), 4),
        Err(TransformError::UnknownDimension { dimension, .. }) if dimension == "t"
    ));
}

#[test]
fn conflicts_and_legality_are_those_of_brute_force() {
    let cases = [(THREE_POINT, 5, 2), (UPWIND, 5, 3), (FIVE_POINT, 6, 3)];
    for (text, n, size) in cases.into_iter().take(if is_thorough() { 3 } else { 2 }) {
        let kernel = kernel(text).diamond("diamond", "rows", ("t", "x"), size).unwrap();
        let kernel = kernel.parallelogram("parallelogram", "rows", ("t", "x"), (2, size)).unwrap();
        for (schedule, steps) in [("diamond", 4), ("parallelogram", 3)] {
            let trace = Trace::new(&kernel, kernel.schedule(schedule).unwrap(), &[n, steps], 2000).unwrap();
            let name = format!("{} {schedule}, {steps} steps", kernel.name());
            assert_eq!(trace.illegal(), None, "{name}");
            let plan = kernel.plan().size("N", n).schedule(schedule).strategy(StrategyChoice::SuccessiveModulo);
            let plan = plan.build().unwrap();
            let printed = oracle::read_conflicts(
                plan.kernel(),
                &plan.dump(Stage::Conflicts).unwrap(),
                &[("T", steps), ("T_from", 0)],
            );
            let folded = |id: &_| matches!(kernel.array(*id).role, Role::State);
            let expected: BTreeMap<_, _> =
                kernel.array_ids().filter(folded).map(|id| (id, trace.conflicts_of(id))).collect();
            assert_eq!(printed, expected, "{name}");
        }
        assert!(kernel.params().iter().any(|p| p.kind == ParamKind::Run));
    }
}

#[test]
fn two_rows_are_enough_and_found_to_be_nearly_needed() {
    let kernel = kernel(THREE_POINT).diamond("diamond", "rows", ("t", "x"), 32).unwrap();
    let plan = kernel.plan().size("N", 640).schedule("diamond").build().unwrap();
    let buffer = &plan.report_with_bounds().unwrap().buffers[0];
    assert_eq!(buffer.cells, 2 * 640);
    assert!(buffer.lower_bound_cells.unwrap() >= 2 * 640 - 2 * 20, "{buffer:?}");
}

#[test]
fn hyperplanes_against_a_dependence_are_refused_by_the_plan() {
    let kernel = kernel(FIVE_POINT);
    let rows = kernel.schedule("rows").unwrap();
    let steep = Hyperplanes { rising: [1, 1], falling: [1, -1] };
    let tiled = kernel.with_schedule(rows.diamond("steep", (0, 1), steep, 4).unwrap()).unwrap();
    let error = tiled.plan().size("N", 20).schedule("steep").build().unwrap_err();
    assert!(matches!(error, Error::Illegal(_)), "{error}");
}

#[test]
fn impossible_tiles_are_refused() {
    let three = kernel(THREE_POINT);
    let rows = three.schedule("rows").unwrap();
    let upright = Hyperplanes { rising: [1, 1], falling: [1, -1] };
    assert!(matches!(rows.diamond("a", (0, 2), upright, 4), Err(TransformError::NoSuchDimension { dim: 2, .. })));
    assert!(matches!(rows.diamond("a", (1, 1), upright, 4), Err(TransformError::SameDimension { dim: 1, .. })));
    assert!(matches!(rows.diamond("a", (0, 1), upright, 0), Err(TransformError::Size { size: 0, .. })));
    let parallel = Hyperplanes { rising: [1, 1], falling: [2, 2] };
    assert!(matches!(rows.diamond("a", (0, 1), parallel, 4), Err(TransformError::ParallelHyperplanes { .. })));
    let huge = Hyperplanes { rising: [i64::MAX, 1], falling: [1, -1] };
    let twice = kernel(&THREE_POINT.replace("[t, x vector(4)]", "[2*t, x]"));
    let huge = twice.schedule("rows").unwrap().diamond("a", (0, 1), huge, 4);
    assert!(matches!(huge, Err(TransformError::Overflow(_))), "{huge:?}");
    assert!(matches!(rows.wavefront("a", 0..2), Err(TransformError::VectorDimension { dim: 1, .. })));
    assert!(matches!(rows.skew("a", 1, &[(1, 2)]), Err(TransformError::SameDimension { .. })));
    assert!(matches!(three.diamond("a", "columns", ("t", "x"), 4), Err(TransformError::UnknownSchedule { .. })));
    assert!(matches!(three.diamond("rows", "rows", ("t", "x"), 4), Err(TransformError::Kernel(_))));
}

#[test]
fn dependences_that_allow_no_tiles_are_named() {
    let seidel = kernel(SEIDEL);
    let error = seidel.diamond("diamond", "rows", ("t", "x"), 4).unwrap_err();
    assert_eq!(error.to_string(), "dependences of distance [0, 1], within one time step, rule out diamond tiles");
    // Parallelograms do not mind.
    let tiled = seidel.parallelogram("tiles", "rows", ("t", "x"), (3, 5)).unwrap();
    assert_eq!(run(&tiled, "tiles", 11, &[4, 5]), run(&seidel, "rows", 11, &[4, 5]));
    let periodic = kernel(
        &THREE_POINT
            .replace("(x = 0 or x = N-1) { u[t,x] = u[t-1,x] }", "(x = 0 or x = N-1) { u[t,x] = u[t-1,N-1-x] }"),
    );
    let error = periodic.diamond("diamond", "rows", ("t", "x"), 4).unwrap_err();
    assert!(matches!(error, TransformError::UnboundedDistances { time: 0, space: 1, .. }), "{error}");
    let backwards = seidel.dependence_cone("rows", (1, 0)).unwrap_err();
    assert!(matches!(backwards, TransformError::Backwards { time: 1, .. }), "{backwards}");
}

//! Conflicts and legality, from isl relations and by brute force: two answers that share no code but the kernel.
//!
//! Sizes are tiny, steps are fixed; [`Trace`] lists every instance and compares every pair of values.
//! Without `CREASE_THOROUGH`, each kernel has one size.

use std::collections::BTreeMap;

use crease::kernel::graph::{DimKind, Kernel, ParamKind, Role};
use crease::{Error, Plan, Stage};
use crease_oracle::Trace;

use crate::{is_thorough, oracle};

/// Instances and cells of one trace.
const LIMIT: usize = 4000;

fn plan(kernel: &Kernel, schedule: &str, sizes: &[i64]) -> Result<Plan, Error> {
    let params = kernel.params().iter().filter(|p| p.kind == ParamKind::Size);
    let builder = kernel.plan().schedule(schedule);
    params.zip(sizes).fold(builder, |builder, (param, &value)| builder.size(&param.name, value)).build()
}

/// Sizes first, then steps: the order in which all kernels here declare their parameters.
fn trace(kernel: &Kernel, schedule: &str, sizes: &[i64], steps: Option<i64>) -> Trace {
    let params: Vec<i64> = sizes.iter().copied().chain(steps).collect();
    Trace::new(kernel, kernel.schedule(schedule).unwrap(), &params, LIMIT).unwrap()
}

/// All schedules of a kernel are legal and have the conflicts that brute force finds.
fn agree(text: &str, sizes: &[&[i64]]) {
    let kernel = Kernel::parse(text).unwrap();
    let run = kernel.params().iter().find(|p| p.kind == ParamKind::Run);
    let steps: &[Option<i64>] = if run.is_some() { &[Some(0), Some(1), Some(2), Some(5)] } else { &[None] };
    let sizes = if is_thorough() { sizes } else { &sizes[sizes.len() - 1..] };
    for (schedule, &sizes) in kernel.schedules().iter().flat_map(|s| sizes.iter().map(move |sizes| (s, sizes))) {
        let name = &schedule.name;
        let plan = plan(&kernel, name, sizes).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        for &steps in steps {
            let trace = trace(&kernel, name, sizes, steps);
            assert_eq!(trace.illegal(), None, "{name} at {sizes:?}, {steps:?} steps\n{text}");
            // Of a partial order brute force finds a bound too, which may be the lower one.
            if steps.is_none_or(|steps| steps > 2) && schedule.dims.iter().all(|dim| *dim == DimKind::Sequential) {
                bounds_hold(&kernel, &plan, &trace);
            }
            let bound: Vec<(&str, i64)> = run.iter().zip(steps).map(|(p, t)| (p.name.as_str(), t)).collect();
            let printed = oracle::read_conflicts(&kernel, &plan.dump(Stage::Conflicts).unwrap(), &bound);
            let folded = |id: &_| matches!(kernel.array(*id).role, Role::Temp | Role::State);
            let expected: BTreeMap<_, _> =
                kernel.array_ids().filter(folded).map(|id| (id, trace.conflicts_of(id))).collect();
            for (id, expected) in &expected {
                let found = printed.get(id).cloned().unwrap_or_default();
                let extra: Vec<_> = found.difference(expected).take(4).collect();
                let missing: Vec<_> = expected.difference(&found).take(4).collect();
                let array = &kernel.array(*id).name;
                assert!(
                    extra.is_empty() && missing.is_empty(),
                    "{name} at {sizes:?}, {steps:?} steps, {array}: {extra:?} too many, {missing:?} missing\n{text}"
                );
            }
        }
    }
}

/// What the report says to be alive at once in a buffer that one array has for itself is not more than what brute force
/// counts.
fn bounds_hold(kernel: &Kernel, plan: &Plan, trace: &Trace) {
    let report = plan.report_with_bounds().unwrap();
    let pieces = || report.arrays.iter().flat_map(|array| array.pieces.iter().map(move |piece| (array, piece)));
    for array in &report.arrays {
        let is_own =
            |buffer: &str| pieces().all(|(other, piece)| (piece.buffer == buffer) == (other.name == array.name));
        let id = kernel.array_id(&array.name).unwrap();
        let folded = matches!(kernel.array(id).role, Role::Temp | Role::State);
        let own = report.buffers.iter().filter(|buffer| folded && is_own(&buffer.name));
        for bound in own.filter_map(|buffer| buffer.lower_bound_cells) {
            let alive = trace.max_live_of(id);
            assert!(bound <= alive, "{}: {bound} values alive at once, {alive} by brute force", array.name);
        }
    }
}

/// The schedule is refused with an error that names two instances, and brute force finds a violation at these sizes
/// too.
fn refused(text: &str, schedule: &str, sizes: &[i64], steps: Option<i64>, message: &[&str]) {
    let kernel = Kernel::parse(text).unwrap();
    let error = match plan(&kernel, schedule, sizes) {
        Err(Error::Illegal(error)) => error.to_string(),
        other => panic!("{schedule}: {other:?}"),
    };
    let said = message.iter().all(|part| error.contains(part)) && error.contains(&format!("schedule `{schedule}`"));
    assert!(said, "{error}, without {message:?}");
    let found = trace(&kernel, schedule, sizes, steps).illegal();
    assert!(found.is_some(), "{schedule}: brute force finds nothing wrong");
}

#[test]
fn a_line_of_stencil() {
    agree(
        "\
kernel line(size N; run T) for N >= 3 {
  opaque f(3)
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = f(u[t-1,x-1], u[t-1,x], u[t-1,x+1]) }
  E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
  schedule seq { S, E -> [t, x] }
  schedule backwards { S, E -> [t, -x] }
  schedule lanes2 { S, E -> [t, x vector(2)] }
  schedule lanes3 { S, E -> [t, x vector(3)] }
  schedule lanes4 { S, E -> [t, x vector(4)] }
  schedule parallel_rows { S, E -> [t, x parallel] }
  schedule blocks { S, E -> [t, floor(x/2) parallel, x] }
  schedule blocks_of_lanes { S, E -> [t, floor(x/4) parallel, x vector(2)] }
  schedule skewed { S, E -> [t + x, t] }
  schedule skewed_tiles { S, E -> [floor(t/2), floor((t+x)/3), t, x] }
  schedule wavefronts { S, E -> [2*t + x, t parallel] }
}",
        &[&[3], &[6]],
    );
}

#[test]
fn two_levels_and_two_states() {
    agree(
        "\
kernel wave(size N; run T) {
  opaque f(1), f(3)
  state u[t, x]: f64 for 0 <= x < N
  state v[t, x]: f64 for 0 <= x < N
  U[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = f(u[t-1,x], u[t-2,x], v[t-1,x]) }
  V[t, x] for 1 <= t <= T and 0 <= x < N-1 { v[t,x] = f(u[t,x], u[t,x+1], v[t-1,x]) }
  W[t, x] for 1 <= t <= T and x = N-1 { v[t,x] = f(u[t,x]) }
  schedule seq { U -> [t, 0, x]; V, W -> [t, 1, x] }
  schedule fused { U -> [t, x, 0]; V, W -> [t, x + 1, 1] }
  schedule lanes { U -> [t, 0, x vector(2)]; V, W -> [t, 1, x vector(2)] }
  schedule parallel_rows { U -> [t, 0, x parallel]; V, W -> [t, 1, x parallel] }
}",
        &[&[2], &[4]],
    );
}

#[test]
fn streaming_populations() {
    agree(
        "\
kernel d1q3(size N; run T) {
  opaque f(1), f(2), f(3)
  state a[t, x]: f64 for 0 <= x < N
  state l[t, x]: f64 for 0 <= x < N
  state r[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 {
    a[t,x] = f(a[t-1,x], l[t-1,x+1], r[t-1,x-1])
    l[t,x] = f(l[t-1,x+1], r[t-1,x-1])
    r[t,x] = f(r[t-1,x-1], a[t-1,x]) }
  L[t, x] for 1 <= t <= T and x = 0 {
    a[t,x] = f(a[t-1,x], l[t-1,x+1], l[t-1,x])
    l[t,x] = f(l[t-1,x+1])
    r[t,x] = f(l[t-1,x]) }
  R[t, x] for 1 <= t <= T and x = N-1 {
    a[t,x] = f(a[t-1,x], r[t-1,x-1], r[t-1,x])
    l[t,x] = f(r[t-1,x])
    r[t,x] = f(r[t-1,x-1]) }
  schedule seq { S, L, R -> [t, x] }
  schedule lanes { S, L, R -> [t, x vector(4)] }
  schedule any { S, L, R -> [t, x parallel] }
}",
        &[&[3], &[5]],
    );
}

#[test]
fn diagonals_with_borders_that_leave() {
    agree(
        "\
kernel diagonals(size N, M) {
  opaque f(1), f(2)
  temp A[t, i]: f64 for 0 <= t < N and 0 <= i < M live out for t = N-1 or i = M-1
  C[t, i] for t = 0 and i = 0 { A[t,i] = f(1) }
  R[t, i] for t = 0 and 1 <= i < M { A[t,i] = f(A[t,i-1]) }
  L[t, i] for 1 <= t < N and i = 0 { A[t,i] = f(A[t-1,i]) }
  S[t, i] for 1 <= t < N and 1 <= i < M { A[t,i] = f(A[t-1,i], A[t,i-1]) }
  schedule rows { C, R, L, S -> [t, i] }
  schedule columns { C, R, L, S -> [i, t] }
  schedule columns_of_lanes { C, R, L, S -> [t + i, t vector(2)] }
  schedule wavefronts { C, R, L, S -> [t + i, t parallel] }
  schedule tiles { C, R, L, S -> [floor(t/2), floor(i/2), t, i] }
  schedule tile_wavefronts { C, R, L, S -> [floor(t/2) + floor(i/2), floor(t/2) parallel, t, i] }
}",
        &[&[4, 4], &[3, 5], &[1, 3]],
    );
}

#[test]
fn cells_written_again_and_dead_writes() {
    agree(
        "\
kernel again(size N) {
  opaque f(1), f(2)
  temp s[i]: f64 for 0 <= i < 2
  temp d[x]: f64 for 0 <= x < N
  temp g[x]: f64 for 0 <= x < N live in for 0 <= x < N live out for x >= 2
  output o[x]: f64 for 0 <= x < N
  W[x] for 0 <= x < N { s[0] = f(x); d[x] = f(x, x) }
  V[x] for 0 <= x < N { s[1] = f(s[0], g[x]); g[x] = f(s[0], g[x]) }
  R[x] for 0 <= x < N { o[x] = f(s[0], s[1]) }
  X[x] for 0 <= x < N { d[x] = f(x) }
  schedule one_by_one { W -> [x, 0]; V -> [x, 1]; R -> [x, 2]; X -> [x, 3] }
  schedule dead_first { W -> [0, x, 0]; V -> [0, x, 1]; R -> [0, x, 2]; X -> [1, x] }
  schedule downwards { W -> [-x, 0]; V -> [-x, 1]; R -> [-x, 2]; X -> [-x, 3] }
}",
        &[&[1], &[4]],
    );
}

/// Only the values of early rounds overlap: their reads count, though later reads of the same cells follow.
#[test]
fn values_of_one_cell_are_held_until_their_own_reads() {
    agree(
        "\
kernel held(size N) for N >= 2 {
  opaque f(1), f(2)
  temp s[i]: f64 for 0 <= i < 2
  output o[x]: f64 for 0 <= x < N
  output p[x]: f64 for x = N-1
  A[x] for 0 <= x < N { s[0] = f(x) }
  E[x] for x = N-1 { p[x] = f(s[0]) }
  B[x] for 0 <= x < N { s[1] = f(x, x) }
  D[x] for 0 <= x < N-1 { o[x] = f(s[0], s[1]) }
  F[x] for x = N-1 { o[x] = f(s[1]) }
  schedule seq { A -> [x, 0]; E -> [x, 1]; B -> [x, 2]; D, F -> [x, 3] }
}",
        &[&[2], &[5]],
    );
}

#[test]
fn live_in_and_live_out_parts() {
    agree(
        "\
kernel parts(size N) {
  opaque f(1), f(2)
  temp a[x]: f64 for 0 <= x < N live in for x < 3 live out for x >= N-2
  temp b[x]: f64 for 0 <= x < N
  output o[x]: f64 for 0 <= x < N
  A[x] for 3 <= x < N { a[x] = f(a[x-3], a[x-2]) }
  B[x] for 0 <= x < N { b[x] = f(a[x]) }
  O[x] for 0 <= x < N { o[N-1-x] = f(b[x]) }
  schedule apart { A -> [0, x]; B -> [1, x]; O -> [2, x] }
  schedule fused { A -> [x, 0]; B -> [x, 1]; O -> [x, 2] }
  schedule lanes { A -> [0, x vector(2)]; B -> [1, x vector(2), 0]; O -> [1, x vector(2), 1] }
  schedule reversed { A -> [0, x]; B -> [1, 0, -x parallel]; O -> [2, x] }
}",
        &[&[3], &[7]],
    );
}

#[test]
fn statements_by_position_and_at_one_time() {
    agree(
        "\
kernel together(size N) {
  opaque f(1), f(2), f(3)
  input i[x]: f64 for 0 <= x < N
  temp a[x]: f64 for 0 <= x < N
  temp b[x]: f64 for 0 <= x < N
  temp c[x]: f64 for 0 <= x < N
  output o[x]: f64 for 0 <= x < N
  A[x] for 0 <= x < N { a[x] = f(i[x]) }
  B[x] for 0 <= x < N { b[x] = f(a[x]) }
  C[x] for 0 <= x < N { c[x] = f(a[x], i[N-1-x]) }
  O[x] for 0 <= x < N { o[x] = f(a[x], b[x], c[x]) }
  schedule seq { A -> [x, 0]; B, C -> [x, 1]; O -> [x, 2] }
  schedule lanes { A -> [x vector(3), 0]; B, C -> [x vector(3), 1]; O -> [x vector(3), 2] }
  schedule any { A -> [x parallel, 0]; B, C -> [x parallel, 1]; O -> [x parallel, 2] }
  schedule unordered { A -> [0, 0, x]; B -> [1, 0 parallel, x]; C -> [1, 1, x]; O -> [2, 0, x] }
}",
        &[&[1], &[6]],
    );
}

#[test]
fn strided_and_reversed_references() {
    agree(
        "\
kernel strided(size N) {
  opaque f(1), f(2)
  temp a[x]: f64 for 0 <= x < 2*N
  temp b[x, y]: f64 for 0 <= x < N and 0 <= y <= x
  output o[x]: f64 for 0 <= x < N
  A[x] for 0 <= x < 2*N { a[x] = f(x) }
  B[x, y] for 0 <= x < N and 0 <= y <= x { b[x,y] = f(a[2*y], a[2*N-1-2*y]) }
  O[x] for 0 <= x < N { o[x] = f(b[N-1,x], b[x,0]) }
  schedule seq { A -> [0, x]; B -> [1, x, y]; O -> [2, x] }
  schedule transposed { A -> [0, x]; B -> [1, y, x vector(2)]; O -> [2, x] }
  schedule triangle_in_parallel { A -> [0, x parallel]; B -> [1, x parallel, y]; O -> [2, -x parallel] }
}",
        &[&[2], &[4]],
    );
}

const SWEEP: &str = "\
kernel sweep(size N; run T) for N >= 3 {
  opaque f(3)
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = f(u[t,x-1], u[t-1,x], u[t-1,x+1]) }
  E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
  schedule swapped { S, E -> [x, t] }
  schedule backwards { S, E -> [t, -x] }
  schedule lanes { S, E -> [t, x vector(4)] }
  schedule any { S, E -> [t, x parallel] }
  schedule timeless { S, E -> [x] }
}";

#[test]
fn orders_against_the_dataflow_are_refused() {
    for schedule in ["swapped", "backwards", "lanes", "any"] {
        refused(SWEEP, schedule, &[6], Some(3), &["S[", " reads `u` before S[", " writes it"]);
    }
    refused(SWEEP, "timeless", &[6], Some(3), &["at the same time vector", "S["]);
}

const CELL: &str = "\
kernel cell(size N) {
  opaque f(1)
  temp s[i]: f64 for i = 0
  temp r[x]: f64 for 0 <= x < N
  output o[x]: f64 for 0 <= x < N
  W[x] for 0 <= x < N { s[0] = f(x) }
  R[x] for 0 <= x < N { r[x] = s[0] }
  O[x] for 0 <= x < N { o[x] = r[x] }
  schedule writes_at_once { W -> [0, x parallel]; R -> [1, x parallel]; O -> [2, x parallel] }
  schedule lanes { W -> [x vector(2), 0]; R -> [x vector(2), 1]; O -> [x vector(2), 2] }
  schedule one_time { W -> [x, 0]; R, O -> [x, 1] }
}";

#[test]
fn races_are_refused() {
    for schedule in ["writes_at_once", "lanes"] {
        refused(CELL, schedule, &[4], None, &["W[", " and W[", " write one cell of `s` in no certain order"]);
    }
    refused(CELL, "one_time", &[4], None, &["O[", " reads `r` before R[", " writes it"]);
}

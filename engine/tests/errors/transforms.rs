//! Errors of the rewritings of schedules and kernels.

use crease::kernel::graph::{Kernel, Schedule};
use crease::schedule::{Hyperplanes, Pipeline};

use super::cases::Cases;

/// Three points of the last step; the borders are copied.
const LINE: &str = "kernel line(size N; run T) for N >= 3 {
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = 0.5 * (u[t-1,x-1] + u[t-1,x+1]) }
  E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
  schedule rows { S, E -> [t, x vector(4)] }
  schedule twice { S, E -> [2*t, x] }
}";

/// The left neighbour is that of the same step.
const SEIDEL: &str = "kernel seidel(size N; run T) for N >= 3 {
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = 0.5 * (u[t,x-1] + u[t-1,x+1]) }
  E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
  schedule rows { S, E -> [t, x] }
}";

pub(crate) fn cases(cases: &mut Cases) {
    let (line, seidel) = (parsed(LINE), parsed(SEIDEL));
    numbered(cases, line.schedule("rows").expect("it is there"), line.schedule("twice").expect("it is there"));
    named(cases, &line);
    in_words(cases, &line);
    dependences(cases, &seidel);
    overlapped(cases, &line);
    cases.add("cells of their own for all writes, by a schedule `rowz`", line.expanded("rowz").unwrap_err());
    cases.add("cells of their own where nine reads see two writes each", many_parts().expanded("seq").unwrap_err());
}

/// Cell `[k, i]` is written again if bit `k` of `i` is not set, and then nine of them are read.
fn many_parts() -> Kernel {
    let again = |k| format!("W{k}[i] for 0 <= i < 512 and floor(i/{}) mod 2 = 0 {{ a[{k},i] = {k} }}\n", 1 << k);
    let written: String = (0..9).map(again).collect();
    let read: Vec<String> = (0..9).map(|k| format!("a[{k},i]")).collect();
    let times: Vec<String> = (0..9).map(|k| format!("W{k} -> [1, i, {k}]")).collect();
    parsed(&format!(
        "kernel bits() {{
          temp a[k, i]: f64 for 0 <= k < 9 and 0 <= i < 512
          output o[i]: f64 for 0 <= i < 512
          Z[k, i] for 0 <= k < 9 and 0 <= i < 512 {{ a[k,i] = 1 }}
          {written}R[i] for 0 <= i < 512 {{ o[i] = {} }}
          schedule seq {{ Z -> [0, k, i]; {}; R -> [1, i, 9] }}
        }}",
        read.join(" + "),
        times.join("; ")
    ))
}

fn parsed(text: &str) -> Kernel {
    Kernel::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

/// Rewritings by numbers of dimensions.
fn numbered(cases: &mut Cases, rows: &Schedule, twice: &Schedule) {
    let upright = Hyperplanes { rising: [1, 1], falling: [1, -1] };
    cases.add("tiles of 8 for dimension 2 of [t, x]", rows.tile("tiled", &[(2, 8)]).unwrap_err());
    cases.add("tiles of 0", rows.tile("tiled", &[(0, 0)]).unwrap_err());
    let pipeline = Pipeline { height: i64::MAX, width: 1, behind: 2 };
    cases.add("pipelined tiles of 2^63 - 1 steps", rows.pipelined("tiled", (0, 1), pipeline).unwrap_err());
    cases.add("diamonds in dimensions 1 and 1", rows.diamond("tiled", (1, 1), upright, 4).unwrap_err());
    let parallel = Hyperplanes { rising: [1, 1], falling: [2, 2] };
    cases.add("diamonds between t + x and 2t + 2x", rows.diamond("tiled", (0, 1), parallel, 4).unwrap_err());
    let huge = Hyperplanes { rising: [i64::MAX, 1], falling: [1, -1] };
    cases.add("diamonds over 2t with a coefficient of 2^63 - 1", twice.diamond("tiled", (0, 1), huge, 4).unwrap_err());
    cases.add("a wavefront over t and x, which is a vector", rows.wavefront("tiled", 0..2).unwrap_err());
}

/// Rewritings by names of iterators.
fn named(cases: &mut Cases, line: &Kernel) {
    let diamond = |schedule, time| line.diamond("tiled", schedule, (time, "x"), 4).unwrap_err();
    cases.add("diamonds of a schedule `rowz`", diamond("rowz", "t"));
    cases.add("diamonds over `t` where the schedule says 2*t", diamond("twice", "t"));
}

/// Steps of a rewriting.
fn in_words(cases: &mut Cases, line: &Kernel) {
    let mut add = |text: &str| drop(cases.add(&format!("`{text}`"), line.with_schedule_text(text).unwrap_err()));
    add("rows fuse(x)");
    add("rows sequential(x) wavefront(x, t)");
    add("rows interchange(t, x) pipelined(t 4, x 8)");
    add("rows hexagonal(t 3, x 8)");
    add("rows skewed(t 4)");
    add("rows diagonals(t 4, x 8)");
    add("rows hexagonal(t 4, x 8, x 8)");
    add("rows vector(x 0)");
    add("rows restart(x)");
    let rows = line.schedule("rows").expect("it is there");
    cases.add("a shift of statement 2 of two", rows.shift("shifted", 0, &[2], 1).unwrap_err());
    let unknown = line.reschedule("rows").unwrap().shift("t", 1, &["R"]).unwrap_err();
    cases.add("a shift of statement `R`", unknown);
}

/// Tiles that cannot compute what they need of others.
fn overlapped(cases: &mut Cases, line: &Kernel) {
    let mut add = |what: &str, text: &str| {
        let kernel = line.with_schedule_text(text).unwrap_or_else(|error| panic!("{error}"));
        cases.add(what, kernel.with_overlapped_tiles("rewritten", &[9, 4]).unwrap_err());
    };
    add("overlapped tiles of the steps of a state", "rows overlapped(t 4, x 8)");
    let text = LINE.replace("schedule twice { S,", "schedule twice { S -> [floor(t/4) overlapped, floor(x/8)];");
    let kernel = parsed(&text.replace("E -> [2*t, x]", "E -> [floor(t/3) overlapped, x]"));
    cases.add("overlapped tiles of two sizes", kernel.with_overlapped_tiles("twice", &[9, 4]).unwrap_err());
}

/// Dependences rule tiles out.
fn dependences(cases: &mut Cases, seidel: &Kernel) {
    let within = seidel.diamond("tiled", "rows", ("t", "x"), 4).unwrap_err();
    cases.add("diamonds where a cell needs its neighbour of the same step", within);
    cases.add("the cone of x in t, not of t in x", seidel.dependence_cone("rows", (1, 0)).unwrap_err());
    let periodic = SEIDEL.replace("= u[t-1,x] }", "= u[t-1,N-1-x] }");
    let unbounded = parsed(&periodic).diamond("tiled", "rows", ("t", "x"), 4).unwrap_err();
    cases.add("diamonds where one border is copied to the other", unbounded);
}

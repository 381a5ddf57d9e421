//! Kernels of the library beside each other and beside C: what collisions, precisions and fused stages cost,
//! recurrences in lanes, and WENO and elastic waves beside loops in C with vectors as wide as the machine has.
//!
//! `cargo run --release -p crease-bench --example library [pattern]`
//!
//! Fields are constant: nothing is asked of the answers here, which tests compare. Each row is the fastest of some
//! calls, on one thread if its name does not say two, in millions of updates a second, and over the row that it is
//! compared with; what is aimed for stands behind. Denormal numbers are flushed: what flows out of a box ends in
//! them, where a box had a seventieth of its speed on a processor of Intel. With a pattern, only comparisons whose name
//! contains it.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crease::kernel::graph::Role;
use crease::{Denormals, ElementType, RunOptions, with_element_type};
use crease_kernels::find;

/// Calls of each row.
const ROUNDS: usize = 4;

/// A kernel at some sizes.
struct Row {
    kernel: &'static str,
    schedule: &'static str,
    sizes: &'static [(&'static str, i64)],
    /// Steps of each call; 0 for kernels without any.
    steps: u64,
    threads: usize,
}

/// Two rows, the second over the first.
struct Pair {
    name: &'static str,
    first: Row,
    second: Row,
    aim: f64,
}

const fn row(kernel: &'static str, schedule: &'static str, sizes: &'static [(&'static str, i64)], steps: u64) -> Row {
    Row { kernel, schedule, sizes, steps, threads: 1 }
}

/// The same on two threads, which share what memory gives.
const fn two(row: Row) -> Row {
    Row { threads: 2, ..row }
}

const CUBE: &[(&str, i64)] = &[("N", 160)];
const BOX: &[(&str, i64)] = &[("NZ", 160), ("NY", 160), ("NX", 160)];
const SQUARE: &[(&str, i64)] = &[("N", 3000)];
const LARGE: &[(&str, i64)] = &[("NY", 4001), ("NX", 4010)];
const SMALL: &[(&str, i64)] = &[("NY", 101), ("NX", 202)];
const LINES: &[(&str, i64)] = &[("NY", 2001), ("NX", 2010)];
const POINTS: &[(&str, i64)] = &[("N", 1000)];

const PAIRS: &[Pair] = &[
    Pair {
        name: "TRT in place over BGK, from memory",
        first: row("lbm-d3q19-periodic", "rows", CUBE, 4),
        second: row("lbm-d3q19-channel-trt", "rows", BOX, 4),
        aim: 0.9,
    },
    Pair {
        name: "MRT in place over BGK, from memory",
        first: row("lbm-d3q19-periodic", "rows", CUBE, 4),
        second: row("lbm-d3q19-periodic-mrt", "rows", BOX, 4),
        aim: 0.9,
    },
    Pair {
        name: "D3Q19 cumulants in place over BGK, from memory",
        first: row("lbm-d3q19-periodic", "rows", CUBE, 4),
        second: row("lbm-d3q19-periodic-cumulant", "rows", BOX, 4),
        aim: 0.9,
    },
    Pair {
        name: "D3Q27 cumulants in place over BGK, from memory",
        first: row("lbm-d3q27-periodic", "rows", CUBE, 4),
        second: row("lbm-d3q27-periodic-cumulant", "rows", BOX, 4),
        aim: 0.9,
    },
    Pair {
        name: "TRT in place over BGK, from memory, two threads",
        first: two(row("lbm-d3q19-periodic", "rows", CUBE, 4)),
        second: two(row("lbm-d3q19-channel-trt", "rows", BOX, 4)),
        aim: 0.9,
    },
    Pair {
        name: "MRT in place over BGK, from memory, two threads",
        first: two(row("lbm-d3q19-periodic", "rows", CUBE, 4)),
        second: two(row("lbm-d3q19-periodic-mrt", "rows", BOX, 4)),
        aim: 0.9,
    },
    Pair {
        name: "D3Q19 cumulants in place over BGK, from memory, two threads",
        first: two(row("lbm-d3q19-periodic", "rows", CUBE, 4)),
        second: two(row("lbm-d3q19-periodic-cumulant", "rows", BOX, 4)),
        aim: 0.9,
    },
    Pair {
        name: "D3Q27 cumulants in place over BGK, from memory, two threads",
        first: two(row("lbm-d3q27-periodic", "rows", CUBE, 4)),
        second: two(row("lbm-d3q27-periodic-cumulant", "rows", BOX, 4)),
        aim: 0.9,
    },
    Pair {
        name: "single precision over double, D2Q9 cavity",
        first: row("lbm-d2q9-cavity", "rows", SQUARE, 6),
        second: row("lbm-d2q9-cavity-f32", "rows", SQUARE, 6),
        aim: 1.9,
    },
    Pair {
        name: "single precision over double, D3Q19 TRT",
        first: row("lbm-d3q19-channel-trt", "rows", BOX, 4),
        second: row("lbm-d3q19-channel-trt-f32", "rows", BOX, 4),
        aim: 1.9,
    },
    Pair {
        name: "f16 storage over f32, D2Q9 cavity",
        first: row("lbm-d2q9-cavity-f32", "rows", SQUARE, 6),
        second: row("lbm-d2q9-cavity-f16", "rows", SQUARE, 6),
        aim: 1.7,
    },
    Pair {
        name: "two fused stages over passes, in cache",
        first: row("transport-2d-rk2", "stages", SMALL, 4000),
        second: row("transport-2d-rk2", "fused", SMALL, 4000),
        aim: 0.9,
    },
    Pair {
        name: "three fused stages over passes, in cache",
        first: row("transport-2d-rk3", "stages", SMALL, 4000),
        second: row("transport-2d-rk3", "fused", SMALL, 4000),
        aim: 0.9,
    },
    Pair {
        name: "four fused stages over passes, in cache",
        first: row("transport-2d-rk4", "stages", SMALL, 4000),
        second: row("transport-2d-rk4", "fused", SMALL, 4000),
        aim: 0.9,
    },
    Pair {
        name: "three fused stages over passes, from memory",
        first: row("transport-2d-rk3", "stages", LARGE, 4),
        second: row("transport-2d-rk3", "fused", LARGE, 4),
        aim: 1.0,
    },
    Pair {
        name: "four fused stages over passes, from memory",
        first: row("transport-2d-rk4", "stages", LARGE, 4),
        second: row("transport-2d-rk4", "fused", LARGE, 4),
        aim: 1.0,
    },
    Pair {
        name: "Thomas down columns, lanes across them, over one by one",
        first: row("tridiagonal-columns", "columns", LINES, 0),
        second: row("tridiagonal-columns", "rows", LINES, 0),
        aim: 1.0,
    },
    Pair {
        name: "Thomas along rows, lanes across them, over one by one",
        first: row("tridiagonal-rows", "rows", LINES, 0),
        second: row("tridiagonal-rows", "lanes", LINES, 0),
        aim: 1.0,
    },
    Pair {
        name: "prefix sums along rows, lanes across them, over one by one",
        first: row("integral-image", "rows", LINES, 0),
        second: row("integral-image", "lanes", LINES, 0),
        aim: 1.0,
    },
    Pair {
        name: "Thomas along rows, schedule that is found, over one by one",
        first: row("tridiagonal-rows", "rows", LINES, 0),
        second: row("tridiagonal-rows", "auto", LINES, 0),
        aim: 1.0,
    },
    Pair {
        name: "Gauss and Seidel, schedule that is found, over rows",
        first: row("poisson-2d-gauss-seidel", "rows", POINTS, 8),
        second: row("poisson-2d-gauss-seidel", "auto", POINTS, 8),
        aim: 2.0,
    },
    Pair {
        name: "red and black points, schedule that is found, over rows",
        first: row("poisson-2d-red-black", "rows", POINTS, 8),
        second: row("poisson-2d-red-black", "auto", POINTS, 8),
        aim: 1.0,
    },
    Pair {
        name: "red and black points, that found for two threads, over rows",
        first: row("poisson-2d-red-black", "rows", POINTS, 16),
        second: two(row("poisson-2d-red-black", "auto", POINTS, 16)),
        aim: 1.5,
    },
    Pair {
        name: "WENO5 on a ring, schedule found for two threads, over one",
        first: row("advection-1d-weno5", "auto", &[("N", 1_000_001)], 10),
        second: two(row("advection-1d-weno5", "auto", &[("N", 1_000_001)], 10)),
        aim: 1.5,
    },
];

/// A kernel and a program in C that takes as many steps of the same work and prints its seconds.
struct BesideC {
    name: &'static str,
    ours: Row,
    source: &'static str,
}

const BESIDE_C: &[BesideC] = &[
    BesideC {
        name: "WENO5 on a ring, in cache, over C",
        ours: row("advection-1d-weno5", "stages", &[("N", 10_001)], 400),
        source: WENO,
    },
    BesideC {
        name: "WENO5 on a ring, from memory, over C",
        ours: row("advection-1d-weno5", "stages", &[("N", 4_000_001)], 4),
        source: WENO,
    },
    BesideC { name: "elastic waves, in cache, over C", ours: row("elastic-2d", "rows", SMALL, 2000), source: ELASTIC },
    BesideC { name: "elastic waves, from memory, over C", ours: row("elastic-2d", "rows", LARGE, 4), source: ELASTIC },
];

/// What of C is aimed for.
const AIM_OF_C: f64 = 0.9;

fn main() -> Result<(), Box<dyn Error>> {
    let pattern = std::env::args().nth(1).unwrap_or_default();
    println!("{:62} {:>9} {:>9} {:>6} {:>5}", "", "M/s", "M/s", "ratio", "aim");
    for pair in PAIRS.iter().filter(|pair| pair.name.contains(&pattern)) {
        let rates = rates([&pair.first, &pair.second])?;
        print(pair.name, rates, pair.aim);
    }
    let directory = tempfile::tempdir()?;
    for beside in BESIDE_C.iter().filter(|beside| beside.name.contains(&pattern)) {
        let program = build(directory.path(), beside)?;
        let mut run = ready(&beside.ours)?;
        let work = (run.0 * beside.ours.steps) as f64 * 1e-6;
        let (mut c, mut ours) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..ROUNDS {
            c = c.min(String::from_utf8(Command::new(&program).output()?.stdout)?.trim().parse()?);
            ours = ours.min(call(&mut run.1, beside.ours.steps)?);
        }
        print(beside.name, [work / c, work / ours], AIM_OF_C);
    }
    Ok(())
}

fn print(name: &str, [first, second]: [f64; 2], aim: f64) {
    println!("{name:62} {first:9.1} {second:9.1} {:6.2} {aim:5.2}", second / first);
}

/// Rates of both rows, whose calls come in turn.
fn rates(rows: [&Row; 2]) -> Result<[f64; 2], Box<dyn Error>> {
    let mut runs = [ready(rows[0])?, ready(rows[1])?];
    let mut seconds = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        for ((run, row), least) in runs.iter_mut().zip(rows).zip(&mut seconds) {
            *least = least.min(call(&mut run.1, row.steps)?);
        }
    }
    Ok([0, 1].map(|k| (runs[k].0 * rows[k].steps.max(1)) as f64 * 1e-6 / seconds[k]))
}

fn call(run: &mut crease::Run, steps: u64) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    if steps == 0 {
        run.run_once()?
    } else {
        run.advance(steps)?
    }
    Ok(start.elapsed().as_secs_f64())
}

/// Its sites, and a run that has been called once.
fn ready(row: &Row) -> Result<(u64, crease::Run), Box<dyn Error>> {
    let entry = find(row.kernel).ok_or("the catalogue has it")?;
    let kernel = entry.kernel()?;
    let plan = row.sizes.iter().fold(kernel.plan(), |plan, (name, value)| plan.size(name, *value));
    let plan = plan.schedule(row.schedule).threads(row.threads).build()?;
    let options = RunOptions::default().threads(row.threads).denormals(Denormals::Flush);
    let mut run = plan.compile()?.instantiate_with(options)?;
    let mut case = entry.case(&entry.default);
    case.sizes = row.sizes.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    for (name, value) in &case.scalars {
        run.set(name, *value)?;
    }
    for array in kernel.arrays().iter().filter(|array| matches!(array.role, Role::Input | Role::State)) {
        // Fluids and solids at rest, and systems whose diagonal is large.
        let value = match array.name.as_str() {
            "solid" => 0.0,
            "diagonal" => 4.0,
            _ => 0.05,
        };
        with_element_type!(array.element, T => run.fill(&array.name, T::from_number(value).unwrap_or_default()))?;
    }
    call(&mut run, row.steps)?;
    Ok(((entry.sites)(&case)?, run))
}

fn build(directory: &Path, beside: &BesideC) -> Result<std::path::PathBuf, Box<dyn Error>> {
    let define = |&(name, value): &(&str, i64)| format!("-D{name}={value}");
    let stem = beside.name.replace([' ', ','], "_");
    let (file, program) = (directory.join(format!("{stem}.c")), directory.join(stem));
    fs::write(&file, format!("{HEAD}{}", beside.source))?;
    let flags = ["-O3", "-march=native", "-mprefer-vector-width=512", "-fno-math-errno", "-fno-trapping-math"];
    let status = Command::new("cc")
        .args(flags)
        .args(beside.ours.sizes.iter().map(define))
        .arg(format!("-DT={}", beside.ours.steps))
        .arg("-o")
        .arg(&program)
        .arg(&file)
        .arg("-lm")
        .status()?;
    if status.success() { Ok(program) } else { Err(format!("cc does not compile {}", beside.name).into()) }
}

/// Vectors of eight doubles, which compilers split where the machine has narrower ones, at any address.
const HEAD: &str = "
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
typedef double vec __attribute__((vector_size(64)));
typedef double loose __attribute__((vector_size(64), aligned(8), may_alias));
#define INLINE static inline __attribute__((always_inline))
INLINE vec at(const double *p) { return *(const loose *)p; }
INLINE void put(double *p, vec v) { *(loose *)p = v; }
static double *grid(size_t cells, double value) {
  double *p = aligned_alloc(64, (cells * 8 + 4095) / 64 * 64);
  for (size_t i = 0; i < cells; i++) p[i] = value + 1e-3 * sin(i * 0.37);
  return p;
}
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
";

/// Faces of a block stay in the first-level cache until the cells between them are done; the ends of the ring are
/// copied.
const WENO: &str = "
enum { PAD = 16, BLOCK = 512 };
INLINE vec share(double optimal, vec bend, vec slope) {
  vec s = 1e-6 + (13.0 / 12 * (bend * bend) + 0.25 * (slope * slope));
  return optimal / (s * s);
}
INLINE vec face(const double *p) {
  vec a = at(p - 2), b = at(p - 1), c = at(p), d = at(p + 1), e = at(p + 2);
  vec l = share(0.1, a - 2 * b + c, a - 4 * b + 3 * c), m = share(0.6, b - 2 * c + d, b - d);
  vec r = share(0.3, c - 2 * d + e, 3 * c - 4 * d + e);
  vec w = l * (1.0 / 3 * a - 7.0 / 6 * b + 11.0 / 6 * c) + m * (5.0 / 6 * c - 1.0 / 6 * b + 1.0 / 3 * d)
    + r * (1.0 / 3 * c + 5.0 / 6 * d - 1.0 / 6 * e);
  return w / (l + m + r);
}
INLINE void stage(const double *from, const double *old, double *to, double c, double keep, double gain) {
  static double flux[BLOCK + 16];
  for (long start = 0; start < N; start += BLOCK) {
    long end = start + BLOCK < N ? start + BLOCK : N;
    for (long i = start - 1; i < end; i += 8) put(flux + i - start + 1, face(from + i));
    for (long i = start; i < end; i += 8)
      put(to + i, keep * at(old + i) + gain * (at(from + i) - c * (at(flux + i - start + 1) - at(flux + i - start))));
  }
  for (int k = 1; k <= 3; k++) to[-k] = to[N - k];
  for (int k = 0; k < 3; k++) to[N + k] = to[k];
}
int main(void) {
  double *u = grid(N + 2 * PAD, 1) + PAD, *a = grid(N + 2 * PAD, 1) + PAD, *b = grid(N + 2 * PAD, 1) + PAD, c = 0.4;
  double *v = grid(N + 2 * PAD, 1) + PAD, start = now();
  for (long t = 0; t < T; t++) {
    stage(u, u, a, c, 0, 1);
    stage(a, u, b, c, 0.75, 0.25);
    stage(b, u, v, c, 1.0 / 3, 2.0 / 3);
    double *w = u; u = v; v = w;
  }
  printf(\"%.9f\\n\", now() - start);
  return u[1] == 7;
}
";

/// Row by row, each stage as soon as what it reads is there, in place.
const ELASTIC: &str = "
enum { W = NX + 24 };
#define ROW(f, y) (f + ((y) + 1l) * W + 8)
int main(void) {
  size_t cells = (NY + 3l) * W;
  double *u = grid(cells, 0), *v = grid(cells, 0), *p = grid(cells, 0), *q = grid(cells, 0), *s = grid(cells, 0), c = 0.3;
  double *lame = grid(cells, 1.5), *shear = grid(cells, 0.8), *corner = grid(cells, 0.8), start = now();
  for (long t = 0; t < T; t++)
    for (long y = 0; y < NY; y++) {
      double *restrict uy = ROW(u, y), *restrict vy = ROW(v, y + 1), *restrict py = ROW(p, y), *restrict qy = ROW(q, y);
      double *restrict sy = ROW(s, y);
      const double *sa = ROW(s, y + 1), *qa = ROW(q, y + 1), *ub = ROW(u, y - 1), *vb = ROW(v, y);
      const double *ly = ROW(lame, y), *hy = ROW(shear, y), *cy = ROW(corner, y);
      if (y + 1 < NY)
        for (long x = 0; x < NX; x += 8)
          put(vy + x, at(vy + x) + c * (at(sa + x + 1) - at(sa + x) + (at(qa + x) - at(qy + x))));
      for (long x = 0; x < NX; x += 8)
        put(uy + x, at(uy + x) + c * (at(py + x) - at(py + x - 1) + (at(sa + x) - at(sy + x))));
      uy[0] = uy[NX] = 0;
      for (long x = 0; x < NX; x += 8) {
        vec ax = at(uy + x + 1) - at(uy + x), ay = at(vy + x) - at(vb + x), both = at(ly + x) * (ax + ay);
        vec twice = 2 * at(hy + x);
        put(py + x, at(py + x) + c * (both + twice * ax));
        put(qy + x, at(qy + x) + c * (both + twice * ay));
      }
      if (y > 0)
        for (long x = 0; x < NX; x += 8)
          put(sy + x, at(sy + x) + c * at(cy + x) * (at(uy + x) - at(ub + x) + (at(vb + x) - at(vb + x - 1))));
      sy[0] = sy[NX] = 0;
    }
  printf(\"%.9f\\n\", now() - start);
  return p[W + 20] == 7;
}
";

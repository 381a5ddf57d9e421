//! Rows of a few components of a cell that do not go on in the next one: lanes along the cells compute what cells do.

use crease::prelude::*;
use ndarray::{Array2, Array3};

use super::{machine, plainly_folded, with};

/// Two fields that lie beside each other, each of which gives to the other one.
const COUPLED: &str = "kernel coupled(size N; run T) for N >= 3 {
    state u[t, y, x, c]: f64 for 0 <= y, x < N and 0 <= c < 2
    S[t, y, x, c] for 1 <= t <= T and 1 <= y, x < N-1 and 0 <= c < 2 {
      u[t,y,x,c] = 0.25 * (u[t-1,y-1,x,c] + u[t-1,y+1,x,c]) + (0.125 * u[t-1,y,x-1,c] - 0.5 * u[t-1,y,x+1,1-c])
                 + index(c) }
    E[t, y, x, c] for 1 <= t <= T and 0 <= y, x < N and 0 <= c < 2 and (y = 0 or y = N-1 or x = 0 or x = N-1) {
      u[t,y,x,c] = u[t-1,y,x,1-c] }
  }";

/// Half the size of an image with three colours, mixed by a matrix.
const MIXED: &str = "kernel mixed(size N) for N >= 1 {
    input m[c, k]: f32 for 0 <= c < 3 and 0 <= k < 3
    input a[y, x, c]: f32 for 0 <= y < N and 0 <= x < 2*N and 0 <= c < 3
    temp s[y, x, c]: f32 for 0 <= y < N and 0 <= x < 2*N and 0 <= c < 3
    output d[y, x, c]: f32 for 0 <= y < N and 0 <= x < N and 0 <= c < 3
    M[y, x, c] for 0 <= y < N and 0 <= x < 2*N and 0 <= c < 3 { s[y,x,c] = sum(k in 0..3, m[c,k] * a[y,x,k]) }
    H[y, x, c] for 0 <= y < N and 0 <= x < N and 0 <= c < 3 { d[y,x,c] = 0.5 * (s[y,2*x,c] + s[y,2*x+1,c]) }
  }";

/// The plan of a schedule, and the words of the one that was found.
fn plan(kernel: &Kernel, schedule: &str, n: i64, threads: usize) -> (Plan, String) {
    let plan = kernel.plan().size("N", n).schedule(schedule).threads(threads).machine(machine(1 << 20, 16 << 20));
    // On several threads, storage that is found soon.
    let plan = if threads > 1 { plainly_folded(plan) } else { plan }.build().unwrap();
    let shape = plan.report().schedule_search.as_ref().map(|search| search.taken().shape.clone());
    (plan, shape.unwrap_or_default())
}

fn run(plan: &Plan, threads: usize) -> Run {
    plan.compile().unwrap().instantiate_with(RunOptions::default().threads(threads).guard_pages(true)).unwrap()
}

#[test]
fn fields_beside_each_other_compute_what_cells_do() {
    let kernel = with(COUPLED, "schedule plain { S, E -> [t, y, x, c] }");
    for n in [3, 40] {
        let len = n as usize;
        let start = Array3::from_shape_fn((len, len, 2), |(y, x, c)| ((y * 11 + x * 7 + c * 3) % 17) as f64);
        let after = |plan: &Plan, threads: usize| {
            let (mut run, mut cells) = (run(plan, threads), start.clone());
            run.write("u", start.view()).unwrap();
            [1, 9, 3].iter().for_each(|steps| run.advance(*steps).unwrap());
            run.read("u", cells.view_mut()).unwrap();
            cells
        };
        let expected = after(&plan(&kernel, "plain", n, 1).0, 1);
        for threads in 1..4 {
            let (plan, shape) = plan(&kernel, "auto", n, threads);
            assert!(n < 40 || shape.contains(", c, x"), "{shape}");
            assert!(after(&plan, threads) == expected, "N = {n}, {threads} threads: {shape}");
            if threads == 2 {
                let written = Kernel::parse(&plan.kernel().to_string()).unwrap();
                let written = self::plan(&written, "auto", n, threads).0;
                assert!(after(&written, threads) == expected, "N = {n}, written down: {shape}");
            }
        }
    }
}

#[test]
fn colours_beside_each_other_compute_what_cells_do() {
    let kernel = with(MIXED, "schedule plain { M -> [0, y, x, c]; H -> [1, y, x, c] }");
    for n in [1, 30, 401] {
        let len = n as usize;
        let a = Array3::from_shape_fn((len, 2 * len, 3), |(y, x, c)| ((y * 13 + x * 7 + c * 5) % 19) as f32);
        let m = Array2::from_shape_fn((3, 3), |(c, k)| (c as f32 - 0.5) / (k + 2) as f32);
        let result = |plan: &Plan, threads: usize| {
            let (mut run, mut cells) = (run(plan, threads), Array3::<f32>::zeros((len, len, 3)));
            run.write("a", a.view()).unwrap();
            run.write("m", m.view()).unwrap();
            run.run_once().unwrap();
            run.read("d", cells.view_mut()).unwrap();
            cells
        };
        let expected = result(&plan(&kernel, "plain", n, 1).0, 1);
        for threads in 1..4 {
            let (plan, shape) = plan(&kernel, "auto", n, threads);
            assert!(n < 30 || shape.contains(", c, x"), "{shape}");
            assert!(result(&plan, threads) == expected, "N = {n}, {threads} threads: {shape}");
        }
    }
}

/// Two indices of few values.
#[test]
fn tensors_compute_what_cells_do() {
    let text = "kernel tensor(size N; run T) for N >= 2 {
        state u[t, x, i, j]: f64 for 0 <= x < N and 0 <= i, j < 2
        S[t, x, i, j] for 1 <= t <= T and 1 <= x < N and 0 <= i, j < 2 {
          u[t,x,i,j] = 0.5 * u[t-1,x-1,i,1-j] + sum(k in 0..2, u[t-1,x,i,k]) - 0.25 * u[t-1,x,1-i,j] }
        E[t, i, j] for 1 <= t <= T and 0 <= i, j < 2 { u[t,0,i,j] = u[t-1,0,j,i] } }";
    let kernel = with(text, "schedule plain { S -> [t, x, i, j]; E -> [t, 0, i, j] }");
    for n in [2, 50] {
        let len = n as usize;
        let start = Array3::from_shape_fn((len, 2, 2), |(x, i, j)| ((x * 5 + i * 3 + j) % 7) as f64);
        let after = |plan: &Plan, threads: usize| {
            let (mut run, mut cells) = (run(plan, threads), start.clone());
            run.write("u", start.view()).unwrap();
            run.advance(5).unwrap();
            run.read("u", cells.view_mut()).unwrap();
            cells
        };
        let expected = after(&plan(&kernel, "plain", n, 1).0, 1);
        for threads in 1..3 {
            let (plan, shape) = plan(&kernel, "auto", n, threads);
            assert!(after(&plan, threads) == expected, "N = {n}, {threads} threads: {shape}");
        }
    }
}

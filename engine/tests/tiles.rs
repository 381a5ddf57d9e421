//! Rectangular tiles: the tiled schedule computes what the untiled one does, in parallel tiles, on folded storage.
//!
//! Without `CREASE_THOROUGH`, storage is successive modulo's, which is found sooner than what `auto` chooses.

use crease::kernel::graph::DimKind;
use crease::prelude::*;
use crease::schedule::TransformError;
use ndarray::Array2;

use crate::is_thorough;

const N: usize = 19;

fn kernel() -> Kernel {
    Kernel::parse(
        "kernel blocks(size N; run T) for N >= 3 {
           state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
           S[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and 1 <= x < N-1 {
             u[t,y,x] = 0.25 * (u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1]) }
           E[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N and (y = 0 or y = N-1 or x = 0 or x = N-1) {
             u[t,y,x] = u[t-1,y,x] }
           schedule rows { S, E -> [t, y parallel, x vector(4)] }
         }",
    )
    .unwrap()
}

fn run(kernel: &Kernel, schedule: &str) -> Array2<f64> {
    let strategy = if is_thorough() { StrategyChoice::Auto } else { StrategyChoice::SuccessiveModulo };
    let plan = kernel.plan().size("N", N as i64).schedule(schedule).strategy(strategy).build().unwrap();
    let mut run = plan.compile().unwrap().instantiate_with(RunOptions::default().threads(2).guard_pages(true)).unwrap();
    run.write("u", Array2::from_shape_fn((N, N), |(y, x)| (y * 7 + x * 3) as f64).view()).unwrap();
    run.advance(5).unwrap();
    let mut u = Array2::zeros((N, N));
    run.read("u", u.view_mut()).unwrap();
    u
}

#[test]
fn tiles_compute_what_rows_compute() {
    let kernel = kernel();
    let rows = kernel.schedule("rows").unwrap();
    let tiled = rows.tile("tiles", &[(1, 4), (2, 8)]).unwrap();
    let kinds = [DimKind::Sequential, DimKind::Parallel, DimKind::Sequential, DimKind::Parallel, DimKind::Vector(4)];
    assert_eq!(tiled.dims, kinds);
    let tiled = kernel.with_schedule(tiled).unwrap();
    assert_eq!(run(&tiled, "tiles"), run(&kernel, "rows"));
}

#[test]
fn impossible_tiles_are_refused() {
    let kernel = kernel();
    let rows = kernel.schedule("rows").unwrap();
    assert!(matches!(rows.tile("a", &[(3, 4)]), Err(TransformError::NoSuchDimension { dim: 3, dims: 3, .. })));
    assert!(matches!(rows.tile("a", &[(1, 0)]), Err(TransformError::Size { dim: 1, size: 0, .. })));
    assert!(kernel.with_schedule(rows.clone()).is_err(), "the name is taken");
}

//! Heat on a square plate: folded storage against two grids.
//!
//! `cargo run --release -p crease --example stencil -- [N] [STEPS]` prints what the plan needs, what a code with two grids
//! would need, and the highest temperature left after the steps.

use std::error::Error;

use crease::prelude::*;
use ndarray::Array2;

const HEAT_2D: &str = "
kernel heat_2d(size N; run T) for N >= 3 {
  scalar k: f64
  state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
  S[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and 1 <= x < N-1 {
    u[t,y,x] = u[t-1,y,x] + k * (u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1] - 4 * u[t-1,y,x])
  }
  E[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N and (y = 0 or y = N-1 or x = 0 or x = N-1) {
    u[t,y,x] = u[t-1,y,x]
  }
  schedule rows { S, E -> [t, y, x vector(8)] }
}
";

fn main() -> Result<(), Box<dyn Error>> {
    let (n, steps) = arguments()?;
    let plan = Kernel::parse(HEAT_2D)?.plan().size("N", n).schedule("rows").memory_cap_bytes(4_000_000_000).build()?;
    print_storage(&plan, n);

    let mut run = plan.compile()?.instantiate()?;
    run.set("k", 0.2)?;
    let shape = run.shape("u")?;
    let mut plate = hot_square(shape[0], shape[1]);
    println!("step {:>6}: highest temperature {:.4}", run.step(), highest(&plate));
    run.write("u", plate.view())?;
    run.advance(steps)?;
    run.read("u", plate.view_mut())?;
    println!("step {:>6}: highest temperature {:.4}", run.step(), highest(&plate));
    Ok(())
}

/// Extent of the plate and number of steps, from the command line.
fn arguments() -> Result<(i64, u64), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let n = arguments.next().map_or(Ok(512), |word| word.parse())?;
    let steps = arguments.next().map_or(Ok(1000), |word| word.parse())?;
    Ok((n, steps))
}

fn print_storage(plan: &Plan, n: i64) {
    let report = plan.report();
    for piece in report.arrays.iter().flat_map(|array| &array.pieces) {
        println!("{}", piece.formula);
    }
    let two_grids_bytes = 2 * 8 * n * n;
    let ratio = plan.folded_bytes() as f64 / two_grids_bytes as f64;
    println!("folded {} bytes, two grids {two_grids_bytes} bytes: {ratio:.3}", plan.folded_bytes());
    if let Some(bound) = report.lower_bound_bytes() {
        println!("no storage can go below {bound} bytes");
    }
}

/// Cold everywhere but in a square of the middle.
fn hot_square(rows: usize, columns: usize) -> Array2<f64> {
    let middle = |i: usize, extent: usize| (extent / 3..extent - extent / 3).contains(&i);
    Array2::from_shape_fn((rows, columns), |(y, x)| if middle(y, rows) && middle(x, columns) { 100.0 } else { 0.0 })
}

fn highest(plate: &Array2<f64>) -> f64 {
    plate.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

//! Heat on a square plate: folded storage against two grids.
//!
//! `cargo run --release -p crease --example stencil -- [N] [STEPS]` prints where each value is kept, what that takes
//! compared with two grids, and the time of both; plain loops on two grids must come to the same temperatures, bit for
//! bit.

use std::error::Error;
use std::time::Instant;

use crease::prelude::*;
use ndarray::Array2;

/// `u[t, y, x]` is the temperature after `t` steps. `S` is the inside of the plate, `E` its edge, which keeps its heat.
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

/// Diffusivity times the time step over the square of the cell size.
const K: f64 = 0.2;

fn main() -> Result<(), Box<dyn Error>> {
    let (n, steps) = arguments()?;

    // What is kept where; nothing is allocated yet, and a plan above the cap is refused.
    let plan = Kernel::parse(HEAT_2D)?.plan().size("N", n).schedule("rows").memory_cap_bytes(4_000_000_000).build()?;
    print_storage(&plan, n);

    // Machine code, then memory for one simulation.
    let mut run = plan.compile()?.instantiate()?;
    run.set("k", K)?;
    let shape = run.shape("u")?;
    let start = hot_square(shape[0], shape[1]);
    run.write("u", start.view())?;

    let clock = Instant::now();
    run.advance(steps)?;
    let folded_time = clock.elapsed();

    let mut plate = start.clone();
    run.read("u", plate.view_mut())?;
    println!("step {}: highest temperature {:.4}", run.step(), highest(&plate));

    let clock = Instant::now();
    let expected = two_grids(start, steps);
    println!("folded {folded_time:.1?}, plain loops on two grids {:.1?}", clock.elapsed());
    if plate != expected {
        return Err("folded and plain temperatures differ".into());
    }
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
    if let Ok(Some(bound)) = plan.report_with_bounds().map(|report| report.lower_bound_bytes()) {
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

/// The same by hand: what a step reads is in one grid, what it writes in the other.
fn two_grids(mut old: Array2<f64>, steps: u64) -> Array2<f64> {
    let (rows, columns) = old.dim();
    let mut new = old.clone();
    for _ in 0..steps {
        let (from, to) = (old.as_slice().expect("dense"), new.as_slice_mut().expect("dense"));
        for y in 1..rows - 1 {
            for at in y * columns + 1..(y + 1) * columns - 1 {
                let around = from[at - columns] + from[at + columns] + from[at - 1] + from[at + 1];
                to[at] = from[at] + K * (around - 4.0 * from[at]);
            }
        }
        std::mem::swap(&mut old, &mut new);
    }
    old
}

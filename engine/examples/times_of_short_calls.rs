//! What a step costs in calls of one step each, where tiles run their steps at once: in tiles, as the first calls have
//! it, then by step on the same storage, as soon as that has paid; beside rows in parallel on storage of their own, and
//! a step of whole tiles. Then what a step costs in calls of few steps in bands that run at once: in the first calls,
//! and once smaller bands have paid; beside calls of whole bands.
//!
//! `cargo run --release --example times_of_short_calls`

use std::time::Instant;

use crease::prelude::*;

const PLANE: &str = "kernel plane(size N; run T) for N >= 3 {
    state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
    S[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and 1 <= x < N-1 {
      u[t,y,x] = 0.25 * (u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1]) }
    E[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N and (y = 0 or y = N-1 or x = 0 or x = N-1) {
      u[t,y,x] = u[t-1,y,x] }
    schedule tiles { S, E -> [floor(t/8), floor(y/4) + 2*t, t parallel, y, x vector(8)] }
    schedule rows { S, E -> [t, y parallel, x vector(8)] }
    schedule bands { S, E -> [t, y, x vector(8)] } split(t 32) parallelogram(t 16, y 16) restart(t)
  }";

const CUBE: &str = "kernel cube(size N; run T) for N >= 3 {
    state u[t, z, y, x]: f64 for 0 <= z < N and 0 <= y < N and 0 <= x < N
    S[t, z, y, x] for 1 <= t <= T and 1 <= z < N-1 and 1 <= y < N-1 and 1 <= x < N-1 {
      u[t,z,y,x] = 0.125 * (u[t-1,z-1,y,x] + u[t-1,z+1,y,x] + u[t-1,z,y-1,x] + u[t-1,z,y+1,x]
                            + u[t-1,z,y,x-1] + u[t-1,z,y,x+1] + 2.0 * u[t-1,z,y,x]) }
    E[t, z, y, x] for 1 <= t <= T and 0 <= z < N and 0 <= y < N and 0 <= x < N
        and (z = 0 or z = N-1 or y = 0 or y = N-1 or x = 0 or x = N-1) { u[t,z,y,x] = u[t-1,z,y,x] }
    schedule tiles { S, E -> [floor(t/4), z + 2*t, t parallel, y, x vector(8)] }
    schedule rows { S, E -> [t, z parallel, y, x vector(8)] }
  }";

/// Seconds of short calls of each kernel: planning the program by step takes a tenth of one, and short calls have to
/// take as long before.
const SECONDS: f64 = 1.5;

fn main() -> Result<(), Error> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{threads} threads; milliseconds of a step");
    println!("kernel    in tiles   by step   from call   rows in parallel   whole tiles");
    for (text, name, sizes) in [(PLANE, "plane", [250, 1000, 4000]), (CUBE, "cube", [40, 100, 250])] {
        let kernel = Kernel::parse(text)?;
        for n in sizes {
            let mut run = instantiate(&kernel, n, "tiles", threads)?;
            let calls = timed_for(&mut run, SECONDS)?;
            // Planning and compiling take long, and happen once; the first call finds cold caches and pages.
            let switch = (1..calls.len()).max_by(|a, b| calls[*a].total_cmp(&calls[*b])).unwrap_or(1);
            let (tiles, by_step) = (median(&calls[1..switch]), median(&calls[(switch + 16).min(calls.len())..]));
            let whole = (0..9).map(|_| timed(&mut run, 16)).collect::<Result<Vec<_>, _>>()?;
            let mut rows = instantiate(&kernel, n, "rows", threads)?;
            let rows = timed_for(&mut rows, SECONDS / 4.0)?;
            let [tiles, by_step, rows, whole] = [tiles, by_step, median(&rows), median(&whole)];
            println!("{name} {n:4}   {tiles:8.3}  {by_step:8.3}   {switch:9}   {rows:16.3}   {whole:11.3}");
        }
    }
    println!("bands of 16 steps, two at once: steps of a call   at first   later   whole bands");
    let kernel = Kernel::parse(PLANE)?;
    for n in [1000, 4000] {
        for steps in [2, 4, 8, 12, 16, 20, 24, 48] {
            // Code of its own, so that nothing is planned yet.
            let mut run = instantiate(&kernel, n, "bands", threads)?;
            run.advance(32)?;
            let first = timed(&mut run, steps)?;
            let begun = Instant::now();
            let mut later = Vec::new();
            while begun.elapsed().as_secs_f64() < SECONDS {
                later.push(timed(&mut run, steps)?);
            }
            let later = median(&later[later.len() / 2..]);
            let whole = (0..9).map(|_| timed(&mut run, 32)).collect::<Result<Vec<_>, _>>()?;
            println!("plane {n:4} {steps:51}   {first:8.3}   {later:5.3}   {:11.3}", median(&whole));
        }
    }
    Ok(())
}

fn instantiate(kernel: &Kernel, n: i64, schedule: &str, threads: usize) -> Result<Run, Error> {
    let plan = kernel.plan().size("N", n).schedule(schedule).threads(threads).build()?;
    let mut run = plan.compile()?.instantiate_with(RunOptions::default().threads(threads))?;
    run.fill("u", 1.0)?;
    Ok(run)
}

/// Milliseconds of each call of one step, for so long.
fn timed_for(run: &mut Run, seconds: f64) -> Result<Vec<f64>, Error> {
    let (begun, mut calls) = (Instant::now(), Vec::new());
    while begun.elapsed().as_secs_f64() < seconds {
        calls.push(timed(run, 1)?);
    }
    Ok(calls)
}

/// Milliseconds of a step, in a call of so many.
fn timed(run: &mut Run, steps: u64) -> Result<f64, Error> {
    let begun = Instant::now();
    run.advance(steps)?;
    Ok(begun.elapsed().as_secs_f64() * 1e3 / steps as f64)
}

fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

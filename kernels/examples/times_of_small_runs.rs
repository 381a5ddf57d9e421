//! How fast many small runs are together, beside one large run of as many cells: 64 cavities of 64 by 64 and one of 512
//! by 512, on all threads, measured in turn. Small runs take one thread each; who has many shares them out, as here.
//!
//! `cargo run --release --example times_of_small_runs`

use std::time::Instant;

use crease::prelude::*;
use crease_kernels::{Entry, find};

const SMALL: i64 = 64;
const LARGE: i64 = 512;
/// Steps of each measurement, and measurements, of which the median counts.
const STEPS: u64 = 400;
const ROUNDS: usize = 9;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let threads = std::thread::available_parallelism()?.get();
    let entry = find("lbm-d2q9-cavity").ok_or("the catalogue has it")?;
    let small = code(entry, SMALL, 1)?;
    let runs = (LARGE / SMALL) * (LARGE / SMALL);
    let mut small = (0..runs).map(|_| started(entry, &small, 1)).collect::<Result<Vec<_>, _>>()?;
    for schedule in ["rows", "auto"] {
        let mut large = started(entry, &code_by(entry, LARGE, threads, schedule)?, threads)?;
        let mut ratios = Vec::new();
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            large.advance(STEPS)?;
            let one = begun.elapsed().as_secs_f64();
            let begun = Instant::now();
            share_out(&mut small, threads)?;
            ratios.push(one / begun.elapsed().as_secs_f64());
        }
        ratios.sort_by(f64::total_cmp);
        println!(
            "{runs} runs of {SMALL} by {SMALL} on {threads} threads: {:.2} of the speed of one of {LARGE} by {LARGE}, \
             schedule {schedule} (from {:.2} to {:.2})",
            ratios[ROUNDS / 2],
            ratios[0],
            ratios[ROUNDS - 1]
        );
    }
    Ok(())
}

/// Advances all runs, each thread a part of them.
fn share_out(runs: &mut [Run], threads: usize) -> Result<(), Error> {
    let part = runs.len().div_ceil(threads);
    std::thread::scope(|scope| {
        let advance = |runs: &mut [Run]| runs.iter_mut().try_for_each(|run| run.advance(STEPS));
        let workers: Vec<_> = runs.chunks_mut(part).map(|runs| scope.spawn(move || advance(runs))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no run panics"))
    })
}

fn code(entry: &Entry, edge: i64, threads: usize) -> Result<Code, Error> {
    code_by(entry, edge, threads, "auto")
}

fn code_by(entry: &Entry, edge: i64, threads: usize, schedule: &str) -> Result<Code, Error> {
    entry.kernel()?.plan().size("N", edge).schedule(schedule).threads(threads).build()?.compile()
}

fn started(entry: &Entry, code: &Code, threads: usize) -> Result<Run, Error> {
    let mut run = code.instantiate_with(RunOptions::default().threads(threads))?;
    for array in entry.kernel()?.arrays() {
        run.fill(&array.name, 0.05)?;
    }
    for scalar in entry.scalars {
        run.set(scalar.0, scalar.1)?;
    }
    Ok(run)
}

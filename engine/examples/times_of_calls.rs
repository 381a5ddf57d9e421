//! What a call costs beside its cells: microseconds of `advance(1)` on a grid of 16 by 16, one call after the other and
//! with pauses between them, on one thread and on all. Then what a handle that may cancel a run costs it, in tiles of
//! time, and how long the run goes on once it is cancelled.
//!
//! `cargo run --release --example times_of_calls`

use std::time::{Duration, Instant};

use crease::Cancel;
use crease::prelude::*;

const KERNEL: &str = "kernel small(size N; run T) for N >= 3 {
    state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
    S[t, y, x] for 1 <= t <= T and 0 <= y < N and 1 <= x < N { u[t,y,x] = 0.5 * (u[t-1,y,x-1] + u[t-1,y,x]) }
    E[t, y] for 1 <= t <= T and 0 <= y < N { u[t,y,0] = u[t-1,y,0] }
    schedule rows { S -> [t, y parallel, x vector(8)]; E -> [t, y parallel, 0] }
  }";

/// Calls that are timed together.
const CALLS: u32 = 2_000;

fn main() -> Result<(), Error> {
    let kernel = Kernel::parse(KERNEL)?;
    for threads in [1, std::thread::available_parallelism().map_or(1, usize::from)] {
        let plan = kernel.plan().size("N", 16).threads(threads).build()?;
        let mut run = plan.compile()?.instantiate_with(RunOptions::default().threads(threads))?;
        run.fill("u", 1.0)?;
        for pause in [0, 50, 1_000].map(Duration::from_micros) {
            let microseconds = median_of_calls(&mut run, pause)?;
            println!("{threads} thread(s), {pause:?} between calls: {microseconds:.2} microseconds a call");
        }
    }
    cancelling(&kernel)
}

/// Prints the part of the speed that is left with a handle, and the times from cancelling to the end of the call.
fn cancelling(kernel: &Kernel) -> Result<(), Error> {
    let plan = kernel.plan().size("N", 1000).schedule("auto").build()?;
    let code = plan.compile()?;
    let (mut without, mut with) = (code.instantiate()?, code.instantiate()?);
    let cancel = Cancel::new();
    with.cancel_with(&cancel);
    let mut ratios = Vec::new();
    for run in [&mut without, &mut with] {
        run.fill("u", 1.0)?;
        run.advance(1000)?;
    }
    for _ in 0..9 {
        let [without, with] = [&mut without, &mut with].map(|run| {
            let begun = Instant::now();
            run.advance(1000).map(|()| begun.elapsed().as_secs_f64())
        });
        ratios.push(without? / with?);
    }
    let mut late = Vec::new();
    for at in 0..60 {
        let other = cancel.clone();
        let stopper = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(40 + at));
            other.cancel();
            Instant::now()
        });
        let _cancelled = with.advance(1 << 40);
        let stopped = Instant::now();
        let cancelled = stopper.join().expect("it only cancels");
        late.push(stopped.saturating_duration_since(cancelled).as_secs_f64() * 1e3);
        cancel.reset();
    }
    ratios.sort_by(f64::total_cmp);
    late.sort_by(f64::total_cmp);
    println!("with a handle that may cancel: {:.3} of the speed without", ratios[ratios.len() / 2]);
    println!("from cancelling to the end: {:.1} ms in the median, {:.1} at most of {}", late[30], late[59], late.len());
    Ok(())
}

/// The median over rounds of the time that a call takes, without the pauses.
fn median_of_calls(run: &mut Run, pause: Duration) -> Result<f64, Error> {
    let mut rounds = Vec::new();
    for _ in 0..9 {
        let mut inside = Duration::ZERO;
        for _ in 0..if pause.is_zero() { CALLS } else { CALLS / 10 } {
            let before = Instant::now();
            while before.elapsed() < pause {
                std::hint::spin_loop();
            }
            let begun = Instant::now();
            run.advance(1)?;
            inside += begun.elapsed();
        }
        let calls = if pause.is_zero() { CALLS } else { CALLS / 10 };
        rounds.push(inside.as_secs_f64() * 1e6 / f64::from(calls));
    }
    rounds.sort_by(f64::total_cmp);
    Ok(rounds[rounds.len() / 2])
}

//! How long a plan and its code take at one size after another, in one process and on one thread: 20 sizes of a kernel
//! of the catalogue, milliseconds from the text to code that runs.
//!
//! `cargo run --release --example times_of_plans [kernel] [size parameter]`

use std::time::Instant;

use crease::prelude::*;
use crease_kernels::find;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let (name, size) = (words.next(), words.next());
    let (name, size) = (name.as_deref().unwrap_or("lbm-d2q9-cavity"), size.as_deref().unwrap_or("N"));
    let text = find(name).ok_or("the catalogue has no kernel of that name")?.kernel()?.to_string();
    for schedule in ["rows", "auto"] {
        let (mut plans, mut codes) = (Vec::new(), Vec::new());
        for edge in (0..20).map(|k| 100 + 17 * k) {
            let begun = Instant::now();
            let plan = Kernel::parse(&text)?.plan().size(size, edge).schedule(schedule).threads(1).build()?;
            let planned = begun.elapsed().as_secs_f64();
            let code = plan.compile()?;
            plans.push(planned * 1e3);
            codes.push((begun.elapsed().as_secs_f64() - planned) * 1e3);
            drop(code);
        }
        let all: Vec<f64> = plans.iter().zip(&codes).map(|(plan, code)| plan + code).collect();
        println!("{name}, schedule {schedule}, 20 sizes: ms at best, in the middle, at worst");
        for (what, times) in [("plan", plans), ("code", codes), ("both", all)] {
            let mut times = times;
            times.sort_by(f64::total_cmp);
            println!("  {what}: {:6.1} {:6.1} {:6.1}", times[0], times[times.len() / 2], times[times.len() - 1]);
        }
    }
    Ok(())
}

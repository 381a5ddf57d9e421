//! What density and velocity of a lattice, and its mass as one number, cost a run that wants them every 50 steps, beside
//! the same run without: all measured in turn, in blocks of 50 steps.
//!
//! `cargo run --release --example times_of_observers [cells per edge of the box]`

use std::time::Instant;

use crease::prelude::*;
use crease_kernels::find;
use crease_kernels::lbm::moments::{DENSITY, MOMENTS, velocity};
use ndarray::Array3;

/// Steps between two observations.
const STEPS: u64 = 50;
/// Blocks with and without, of which the medians count.
const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let edge: i64 = std::env::args().nth(1).map_or(Ok(200), |text| text.parse())?;
    for threads in [1, std::thread::available_parallelism()?.get()] {
        for schedule in ["rows", "auto"] {
            measure(edge, schedule, threads)?;
        }
    }
    Ok(())
}

fn measure(edge: i64, schedule: &str, threads: usize) -> Result<(), Box<dyn std::error::Error>> {
    let entry = find("lbm-d3q19-cavity").ok_or("the catalogue has it")?;
    let kernel = entry.kernel()?.with_observer(&mass())?;
    let plan = kernel.plan().size("N", edge).schedule(schedule).threads(threads).build()?;
    let mut run = plan.compile()?.instantiate()?;
    for array in kernel.arrays() {
        run.fill(&array.name, 0.05)?;
    }
    for scalar in entry.scalars {
        run.set(scalar.0, scalar.1)?;
    }
    let shape = (edge as usize, edge as usize, edge as usize);
    let mut outputs: Vec<Array3<f64>> = (0..4).map(|_| Array3::zeros(shape)).collect();
    let names = [DENSITY.to_string(), velocity("z"), velocity("y"), velocity("x")];
    let [mut steps, mut observed, mut reduced] = [const { Vec::new() }; 3];
    for round in 0..=ROUNDS {
        let begun = Instant::now();
        run.advance(STEPS)?;
        let after_steps = begun.elapsed().as_secs_f64();
        let mut views: Vec<(&str, Output<'_>)> =
            names.iter().zip(&mut outputs).map(|(name, output)| (name.as_str(), output.into())).collect();
        run.observe(MOMENTS, &mut views)?;
        let after_moments = begun.elapsed().as_secs_f64();
        let mut mass = 0.0;
        run.observe("mass", &mut [("mass", (&mut mass).into())])?;
        // The first round plans the observers, and touches the outputs for the first time.
        if round > 0 {
            steps.push(after_steps);
            observed.push(after_moments - after_steps);
            reduced.push(begun.elapsed().as_secs_f64() - after_moments);
        }
    }
    let [steps, observed, reduced] = [steps, observed, reduced].map(median);
    println!("lbm-d3q19-cavity, N = {edge}, schedule {schedule}, {threads} thread(s), every {STEPS} steps");
    for (what, time) in [("density and velocity", observed), ("mass", reduced)] {
        let (in_steps, share) = (time * STEPS as f64 / steps, 100.0 * time / (steps + time));
        println!("  {what}: as long as {in_steps:.2} steps, {share:.1} % of the run");
    }
    Ok(())
}

/// The mass of all populations.
fn mass() -> String {
    let populations: Vec<String> = (0..19).map(|q| format!("f{q}[t,z,y,x]")).collect();
    let sum = populations.join(" + ");
    format!("observe mass {{ reduce sum mass: f64 M[t, z, y, x] for 0 <= z, y, x < N {{ mass = {sum} }} }}")
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

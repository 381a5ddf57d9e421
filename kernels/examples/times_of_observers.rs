//! What density and velocity of a lattice, and its mass as one number, cost a run that wants them every 50 steps, beside
//! the same run without: all measured in turn, in blocks of 50 steps. Density and velocity are computed in a pass behind
//! the steps and in the last of them, by one run each, and by a third that takes the faster form by itself.
//!
//! `cargo run --release --example times_of_observers [cells per edge of the box]`

use std::time::Instant;

use crease::ObserverForm;
use crease::prelude::*;
use crease_kernels::find;
use crease_kernels::lbm::moments::{DENSITY, MOMENTS, velocity};
use ndarray::Array3;

/// Steps between two observations.
const STEPS: u64 = 50;
/// Blocks with and without, of which the medians count.
const ROUNDS: usize = 5;
/// Calls of a step with density and velocity, before blocks are measured: after so many, one form is taken.
const ROUNDS_OF_BOTH: usize = 40;

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
    let code = plan.compile()?;
    println!("lbm-d3q19-cavity, N = {edge}, schedule {schedule}, {threads} thread(s), every {STEPS} steps");
    let shape = (edge as usize, edge as usize, edge as usize);
    let mut outputs: Vec<Array3<f64>> = (0..4).map(|_| Array3::zeros(shape)).collect();
    for form in [None, Some(ObserverForm::Pass), Some(ObserverForm::Fused)] {
        let options = RunOptions::default().threads(threads);
        let mut run = code.instantiate_with(form.map_or(options.clone(), |form| options.observers(form)))?;
        for array in kernel.arrays() {
            run.fill(&array.name, 0.05)?;
        }
        for scalar in entry.scalars {
            run.set(scalar.0, scalar.1)?;
        }
        let rounds = if form.is_none() { ROUNDS_OF_BOTH } else { 0 };
        let what = match form {
            None => "the form that is taken",
            Some(ObserverForm::Pass) => "a pass behind the steps",
            Some(_) => "in the last step",
        };
        let [mut steps, mut moments, mut reduced] = [const { Vec::new() }; 3];
        for _ in 0..rounds {
            observe(&mut run, 1, &mut outputs)?;
        }
        for round in 0..=ROUNDS {
            let begun = Instant::now();
            run.advance(STEPS)?;
            let without = begun.elapsed().as_secs_f64();
            observe(&mut run, STEPS, &mut outputs)?;
            let with = begun.elapsed().as_secs_f64() - without;
            let mut mass = 0.0;
            run.observe("mass", &mut [("mass", (&mut mass).into())])?;
            // The first round plans the observers, and touches the outputs for the first time.
            if round > 0 {
                steps.push(without);
                moments.push(with - without);
                reduced.push(begun.elapsed().as_secs_f64() - without - with);
            }
        }
        let [steps, moments, reduced] = [steps, moments, reduced].map(median);
        let tell = |what: &str, time: f64| {
            let (in_steps, share) = (time * STEPS as f64 / steps, 100.0 * time / (steps + time));
            println!("  {what}: as long as {in_steps:.2} steps, {share:.1} % of the run");
        };
        let taken = run.observer_form(&[MOMENTS]);
        tell(&format!("density and velocity, {what} ({taken:?})"), moments);
        if form.is_none() {
            tell("mass", reduced);
        }
    }
    Ok(())
}

/// Runs some steps, and density and velocity behind them.
fn observe(run: &mut Run, steps: u64, outputs: &mut [Array3<f64>]) -> Result<(), crease::Error> {
    let names = [DENSITY.to_string(), velocity("z"), velocity("y"), velocity("x")];
    let mut views: Vec<(&str, Output<'_>)> =
        names.iter().zip(outputs).map(|(name, output)| (name.as_str(), output.into())).collect();
    run.advance_observing(steps, MOMENTS, &mut views)
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

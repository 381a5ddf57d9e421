//! What density and velocity of a lattice cost a run that wants them every 50 steps: in a pass behind the steps, in the
//! last of them, and in the form that a run takes by itself. Calls of a few steps that end with them are timed in turn
//! with the same calls without, and the medians compared with the time of 50 steps. Also what the mass costs, as one
//! number.
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
/// Steps that are timed with and without what ends them: those that 50 steps leave over from most tiles of time.
const LAST_STEPS: u64 = 2;
/// Steps of which the time of one is found.
const TIMED_STEPS: u64 = 10;
/// Calls with and without, of which the medians count.
const ROUNDS: usize = 9;
/// Calls with density and velocity before that: after so many, one form is taken.
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
    for form in [Some(ObserverForm::Pass), Some(ObserverForm::Fused), None] {
        let options = RunOptions::default().threads(threads);
        let mut run = code.instantiate_with(form.map_or(options.clone(), |form| options.observers(form)))?;
        for array in kernel.arrays() {
            run.fill(&array.name, 0.05)?;
        }
        for scalar in entry.scalars {
            run.set(scalar.0, scalar.1)?;
        }
        let before = if form.is_none() { ROUNDS_OF_BOTH } else { 1 };
        let begun = Instant::now();
        observe(&mut run, LAST_STEPS, &mut outputs)?;
        let first = begun.elapsed().as_secs_f64();
        (0..before).try_for_each(|_| observe(&mut run, LAST_STEPS, &mut outputs))?;
        let [mut steps, mut without, mut with, mut reduced] = [const { Vec::new() }; 4];
        let mut mass = 0.0;
        run.observe("mass", &mut [("mass", (&mut mass).into())])?;
        for _ in 0..ROUNDS {
            let mut time = |times: &mut Vec<f64>, call: &mut dyn FnMut(&mut Run) -> Result<(), crease::Error>| {
                let begun = Instant::now();
                call(&mut run)?;
                times.push(begun.elapsed().as_secs_f64());
                Ok::<_, crease::Error>(())
            };
            time(&mut steps, &mut |run| run.advance(TIMED_STEPS))?;
            time(&mut without, &mut |run| run.advance(LAST_STEPS))?;
            time(&mut with, &mut |run| observe(run, LAST_STEPS, &mut outputs))?;
            time(&mut reduced, &mut |run| run.observe("mass", &mut [("mass", (&mut mass).into())]))?;
        }
        let step = median(steps) / TIMED_STEPS as f64;
        let tell = |what: &str, time: f64| {
            let share = 100.0 * time / (STEPS as f64 * step + time);
            println!("  {what}: as long as {:.2} steps, {share:.1} % of the run", time / step);
        };
        let what = match (form, run.observer_form(&[MOMENTS])) {
            (None, Some(ObserverForm::Fused)) => "the form that is taken, which is in the last step",
            (None, _) => "the form that is taken, which is a pass",
            (_, Some(ObserverForm::Fused)) => "in the last step",
            _ => "a pass behind the steps",
        };
        let with = median(with);
        tell(&format!("density and velocity, {what}"), with - median(without));
        if form == Some(ObserverForm::Fused) {
            println!("    planned and compiled in {:.2} s", first - with);
        }
        if form.is_none() {
            tell("mass", median(reduced));
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

//! What moving arrays in and out of a run costs, as parts of the speed of a plain copy of as many cells between arrays
//! that are there already, measured in turn: whole fields in and out, the 19 populations of a lattice for a density,
//! one plane for a halo, one cell for a probe.
//!
//! `cargo run --release --example times_of_boxes [cells per edge of the box]`

use std::time::Instant;

use crease::prelude::*;
use crease::{IndexRange, Region, region};
use crease_kernels::find;
use ndarray::{Array2, Array3, ArrayD, Axis};

/// Rounds, of which the median counts.
const ROUNDS: usize = 7;
/// The same of planes, each of which comes after a step.
const HALO_ROUNDS: usize = 15;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let edge: i64 = std::env::args().nth(1).map_or(Ok(200), |text| text.parse())?;
    for threads in [1, std::thread::available_parallelism()?.get()] {
        plane(threads)?;
        lattice(edge, threads)?;
    }
    Ok(())
}

/// A run of a kernel of the catalogue, all states filled.
fn start(name: &str, size: i64, threads: usize) -> Result<Run, Box<dyn std::error::Error>> {
    let entry = find(name).ok_or("the catalogue has it")?;
    let kernel = entry.kernel()?;
    let plan = kernel.plan().size("N", size).schedule("rows").threads(threads).build()?;
    let mut run = plan.compile()?.instantiate()?;
    for array in states(&run, &kernel) {
        run.fill(&array, 0.05)?;
    }
    for scalar in entry.scalars {
        run.set(scalar.0, scalar.1)?;
    }
    Ok(run)
}

fn states(run: &Run, kernel: &Kernel) -> Vec<String> {
    kernel.arrays().iter().map(|array| array.name.clone()).filter(|name| run.shape(name).is_ok()).collect()
}

/// Heat in a plane, one array in one ring of rows.
fn plane(threads: usize) -> Result<(), Box<dyn std::error::Error>> {
    let size = 4096;
    let mut run = start("heat-2d-5pt", size, threads)?;
    run.advance(3)?;
    let (from, mut to) = (Array2::from_elem((4096, 4096), 1.0), Array2::zeros((4096, 4096)));
    let mut ratios = Ratios::new(format!("heat-2d-5pt, N = {size}, {} thread(s)", run.threads()));
    let threads = run.threads();
    for _ in 0..ROUNDS {
        let copied = seconds(|| copy(from.as_slice().unwrap(), to.as_slice_mut().unwrap(), threads));
        let read = seconds(|| run.read("u", to.view_mut()).expect("it has values"));
        ratios.note("whole array, read", copied / read);
        let transposed = seconds(|| run.read("u", to.view_mut().reversed_axes()).expect("it has values"));
        ratios.note("whole array, read transposed", copied / transposed);
        let written = seconds(|| run.write("u", from.view()).expect("it has the shape"));
        ratios.note("whole array, written", copied / written);
        run.advance(1)?;
    }
    let mut coarse = Array2::zeros((1024, 1024));
    let every = Region::new([IndexRange::from(..).every(4), IndexRange::from(..).every(4)]);
    for _ in 0..ROUNDS {
        let copied = seconds(|| coarse.assign(&from.slice(ndarray::s![..;4, ..;4])));
        let read = seconds(|| run.read_box("u", &every, coarse.view_mut()).expect("it has values"));
        ratios.note("every fourth of both, read", copied / read);
    }
    let mut sum = 0.0;
    let probes = seconds(|| {
        for at in 0..1000 {
            let mut cell = ndarray::arr0(0.0);
            run.read_box("u", &region![at, 17], cell.view_mut()).expect("it has values");
            sum += cell[()];
        }
    });
    ratios.print();
    println!("  a probe of one cell: {:.2} microseconds (sum {sum})", probes * 1e3);
    Ok(())
}

/// A box of fluid, 19 populations in one lattice.
fn lattice(edge: i64, threads: usize) -> Result<(), Box<dyn std::error::Error>> {
    let mut run = start("lbm-d3q19-cavity", edge, threads)?;
    let names = states(&run, &find("lbm-d3q19-cavity").ok_or("it is there")?.kernel()?);
    let shape = run.shape(&names[0])?;
    let (cells, threads) = (shape.iter().product::<usize>(), run.threads());
    let mut froms: Vec<ArrayD<f64>> = names.iter().map(|_| ArrayD::from_elem(shape.clone(), 1.0)).collect();
    let (mut to, mut density) = (ArrayD::<f64>::zeros(shape.clone()), ArrayD::<f64>::zeros(shape.clone()));
    let mut ratios = Ratios::new(format!("lbm-d3q19-cavity, N = {edge}, {threads} thread(s)"));
    for round in 0..ROUNDS {
        run.advance(1 + round as u64 % 2)?;
        let step = seconds(|| run.advance(1).expect("all is given"));
        let copied = seconds(|| {
            let copy = |from: &ArrayD<f64>| copy(from.as_slice().unwrap(), to.as_slice_mut().unwrap(), threads);
            froms.iter().for_each(copy)
        });
        let read = seconds(|| {
            names.iter().for_each(|name| run.read(name, to.view_mut()).expect("it has values"));
        });
        let written = seconds(|| {
            names.iter().for_each(|name| run.write(name, to.view()).expect("it has the shape"));
        });
        let summed = seconds(|| {
            density.fill(0.0);
            for name in &names {
                run.read(name, to.view_mut()).expect("it has values");
                density += &to;
            }
        });
        ratios.note("19 populations, read", copied / read);
        ratios.note("19 populations, written", copied / written);
        ratios.note("19 populations, read, in steps", read / step);
        ratios.note("19 populations, read and summed on one thread, in steps", summed / step);
        ratios.note("one step: million cells a second", cells as f64 / step / 1e6);
    }
    ratios.print();
    halo(&mut run, &names, &mut froms, edge)
}

/// A plane of each population, of adjacent rows and of cells a row apart: copied from and to arrays, read, written.
fn halo(
    run: &mut Run,
    names: &[String],
    arrays: &mut [ArrayD<f64>],
    edge: i64,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut planes = Array3::<f64>::zeros((names.len(), edge as usize, edge as usize));
    let regions = [("z", 0, region![1, .., ..]), ("y", 1, region![.., 1, ..]), ("x", 2, region![.., .., 1])];
    // Populations are moved in even and in odd steps, so that every second time a plane is in more pieces.
    for ((index, axis, region), parity) in regions.iter().flat_map(|region| [(region, 0), (region, 1)]) {
        run.advance(u64::from(run.step() % 2 != parity))?;
        let mut times: [Vec<f64>; 4] = [const { Vec::new() }; 4];
        let mut steps = Vec::new();
        let mut timed = |run: &mut Run, what: usize, copy: &mut dyn FnMut(&mut Run) -> Result<(), Error>| {
            let begun = Instant::now();
            run.advance(1)?;
            steps.push(begun.elapsed().as_secs_f64());
            let begun = Instant::now();
            copy(run)?;
            times[what].push(begun.elapsed().as_secs_f64());
            Ok::<_, Error>(())
        };
        for _ in 0..HALO_ROUNDS {
            timed(run, 0, &mut |_| {
                let pairs = arrays.iter().zip(planes.outer_iter_mut());
                pairs.for_each(|(array, mut plane)| plane.assign(&array.index_axis(Axis(*axis), 1)));
                Ok(())
            })?;
            timed(run, 1, &mut |run| {
                let mut pairs = names.iter().zip(planes.outer_iter_mut());
                pairs.try_for_each(|(name, plane)| run.read_box(name, region, plane))
            })?;
            timed(run, 2, &mut |_| {
                let pairs = arrays.iter_mut().zip(planes.outer_iter());
                pairs.for_each(|(array, plane)| array.index_axis_mut(Axis(*axis), 1).assign(&plane));
                Ok(())
            })?;
            timed(run, 3, &mut |run| {
                let mut pairs = names.iter().zip(planes.outer_iter());
                pairs.try_for_each(|(name, plane)| run.write_box(name, region, plane))
            })?;
        }
        let (step, [copied_out, read, copied_in, written]) = (median(steps), times.map(median));
        let (when, step_ms) = (["even", "odd"][parity as usize], step * 1e3);
        println!("  a plane across {index} of all populations, {when} steps, ms, beside a step of {step_ms:.1}:");
        for (what, time, copy) in [("read", read, copied_out), ("written", written, copied_in)] {
            let beside = 100.0 * (time - copy) / step;
            println!(
                "    {what} {:.2}, copied {:.2}: {beside:+.2} % of a step beside its own copy",
                time * 1e3,
                copy * 1e3
            );
        }
    }
    Ok(())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Copies on this many threads.
fn copy(from: &[f64], to: &mut [f64], threads: usize) {
    if threads == 1 {
        return to.copy_from_slice(from);
    }
    let part = from.len().div_ceil(threads);
    std::thread::scope(|scope| {
        for (from, to) in from.chunks(part).zip(to.chunks_mut(part)) {
            scope.spawn(|| to.copy_from_slice(from));
        }
    });
}

fn seconds(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64()
}

/// What was measured, by name.
struct Ratios {
    title: String,
    found: Vec<(String, Vec<f64>)>,
}

impl Ratios {
    fn new(title: String) -> Ratios {
        Ratios { title, found: Vec::new() }
    }

    fn note(&mut self, name: &str, ratio: f64) {
        match self.found.iter_mut().find(|(known, _)| known == name) {
            Some((_, ratios)) => ratios.push(ratio),
            None => self.found.push((name.to_string(), vec![ratio])),
        }
    }

    fn print(&mut self) {
        println!("{}, speed of a plain copy = 1:", self.title);
        for (name, ratios) in &mut self.found {
            ratios.sort_by(f64::total_cmp);
            let (low, high) = (ratios[0], ratios[ratios.len() - 1]);
            println!("  {name}: {:.2} (from {low:.2} to {high:.2})", ratios[ratios.len() / 2]);
        }
    }
}

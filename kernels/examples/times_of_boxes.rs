//! What moving arrays in and out of a run costs, as parts of the speed of a plain copy of as many cells between arrays
//! that are there already, measured in turn: whole fields in and out, the 19 populations of a lattice for a density,
//! one plane for a halo, one cell for a probe.
//!
//! `cargo run --release --example times_of_boxes [cells per edge of the box]`

use std::time::Instant;

use crease::prelude::*;
use crease::{IndexRange, Region, region};
use crease_kernels::find;
use ndarray::{Array2, Array3, ArrayD};

/// Rounds, of which the median counts.
const ROUNDS: usize = 7;

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
    let froms: Vec<ArrayD<f64>> = names.iter().map(|_| ArrayD::from_elem(shape.clone(), 1.0)).collect();
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
        let summed = seconds(|| {
            density.fill(0.0);
            for name in &names {
                run.read(name, to.view_mut()).expect("it has values");
                density += &to;
            }
        });
        ratios.note("19 populations, read", copied / read);
        ratios.note("19 populations, read, in steps", read / step);
        ratios.note("19 populations, read and summed on one thread, in steps", summed / step);
        ratios.note("one step: million cells a second", cells as f64 / step / 1e6);
        halo(&run, &names, &froms, edge, &mut ratios);
    }
    ratios.print();
    Ok(())
}

/// A plane of each population, of adjacent rows and of cells a row apart.
fn halo(run: &Run, names: &[String], froms: &[ArrayD<f64>], edge: i64, ratios: &mut Ratios) {
    let mut planes = Array3::<f64>::zeros((names.len(), edge as usize, edge as usize));
    let regions = [("z", 0, region![1, .., ..]), ("y", 1, region![.., 1, ..]), ("x", 2, region![.., .., 1])];
    for (index, axis, region) in regions {
        let copied = seconds(|| {
            for (from, mut to) in froms.iter().zip(planes.outer_iter_mut()) {
                to.assign(
                    &from
                        .index_axis(ndarray::Axis(axis), 1)
                        .into_dimensionality::<ndarray::Ix2>()
                        .expect("two axes are left"),
                );
            }
        });
        let read = seconds(|| {
            for (name, to) in names.iter().zip(planes.outer_iter_mut()) {
                run.read_box(name, &region, to).expect("it has values");
            }
        });
        ratios.note(&format!("a plane across {index} of all populations, read"), copied / read);
    }
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

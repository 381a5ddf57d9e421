//! Drops of one fluid in another: the jump of the pressure falls with the radius.
//!
//! In: two radii.   Out: the product of jump and radius of one over that of the other.
//!
//! Laplace's law says that the jump is the surface tension over the radius. The pressure of the two fluids is
//! `(n_0 + n_1 + g n_0 n_1) / 3`, the radius that of a disc with the mass of the drop.
//!
//! Source: X. Shan, H. Chen, Phys. Rev. E 47, 1993; X. Shan, G. Doolen, J. Stat. Phys. 81, 1995 (pressure).

use std::f64::consts::PI;

use ndarray::IxDyn;

use crate::catalogue::Case;
use crate::fields::Field;
use crate::lbm::shan_chen;
use crate::physics::{Axis, Check, Figure, PhysicsError, Simulation, relative};

const OMEGA: f64 = 1.0;
const COUPLING: f64 = 0.9;
/// A drop at rest: its tension, and the run.
struct Drop {
    tension: f64,
    radius: f64,
    simulation: Simulation,
}

/// The tension of a drop over that of one of another radius, in a box of `n` by `n` cells; `limit` is relative.
///
/// # Errors
/// [`PhysicsError`] if there are fewer than three cells.
pub fn check(n: usize, radii: [f64; 2], steps: u64, limit: f64, threads: Option<usize>) -> Result<Check, PhysicsError> {
    let (small, large) = (drop(n, radii[0], steps, threads)?, drop(n, radii[1], steps, threads)?);
    let computed = small.tension / large.tension;
    let figure = Figure::new(
        "drops",
        "Pressure inside drops of another fluid",
        "Laplace's law, with the tension of the largest drop",
        Axis::linear("1 / radius, in 1 / cell"),
        Axis::linear("jump of the pressure, in lattice units"),
    );
    let line = [0.0, 1.1 / small.radius].map(|bend| [bend, large.tension * bend]);
    let points = [&large, &small].map(|drop| [1.0 / drop.radius, drop.tension / drop.radius]);
    let figure = figure.points("computed", points).known_line("tension / radius", line);
    Ok(Check {
        kernel: shan_chen::TWO_FLUIDS.name,
        quantity: "surface tension of two drops, the smaller over the larger".to_owned(),
        source: "Laplace",
        setting: [("N", n as f64), ("radius", radii[0]), ("larger radius", radii[1]), ("coupling", COUPLING)].into(),
        steps: large.simulation.steps(),
        storage_bytes: large.simulation.storage_bytes(),
        computed,
        reference: 1.0,
        deviation: relative(computed, 1.0),
        limit,
        figures: vec![figure],
    })
}

fn drop(n: usize, radius: f64, steps: u64, threads: Option<usize>) -> Result<Drop, PhysicsError> {
    let initial = shan_chen::droplet([n, n], radius / n as f64)?;
    let scalars = [("omega", OMEGA), ("coupling", COUPLING)];
    let case = Case {
        sizes: vec![("NY".to_owned(), n as i64), ("NX".to_owned(), n as i64)],
        steps: 0,
        scalars: scalars.map(|(name, value)| (name.to_owned(), value)).to_vec(),
    };
    let mut simulation = Simulation::new(&shan_chen::TWO_FLUIDS, &case, &initial, threads)?;
    simulation.advance(steps)?;
    let fields = simulation.fields()?;
    let density = |fluid: usize| {
        let populations = (0..9).map(|q| &fields[&format!("f{fluid}_{q}")]);
        populations.fold(Field::zeros(IxDyn(&[n, n])), |sum, population| sum + population)
    };
    let densities = [density(0), density(1)];
    let pressure = |at: [usize; 2]| {
        let [a, b] = [densities[0][at.as_slice()], densities[1][at.as_slice()]];
        (a + b + COUPLING * a * b) / 3.0
    };
    let (inside, outside) = ([n / 2, n / 2], [0, 0]);
    let [within, without] = [inside, outside].map(|at| densities[0][at.as_slice()]);
    let area = densities[0].mapv(|density| (density - without) / (within - without)).sum();
    let radius = (area / PI).sqrt();
    let tension = (pressure(inside) - pressure(outside)) * radius;
    Ok(Drop { tension, radius, simulation })
}

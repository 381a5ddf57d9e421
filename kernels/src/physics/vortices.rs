//! The Taylor-Green vortex in three dimensions: large eddies that make small ones.
//!
//! In: a collision, cells per side, a Reynolds number, a speed.   Out: energy and enstrophy some time later.
//!
//! The start is `u_x = U sin x cos y cos z`, `u_y = -U cos x sin y cos z`, `u_z = 0`, where one side of the box is
//! `2 pi`, with the pressure that belongs to it. In the time `s = U k t` and the Reynolds number
//! `R = U / (k viscosity)`, where `k = 2 pi / N`, the mean square of the vorticity is, over that at the start,
//!
//! `1 - 6 s/R + (5/48 + 18/R^2) s^2 - (5/3 + 36/R^2) s^3/R + (50/6336 + 1835/(144 R^2) + 54/R^4) s^4 - ..`
//!
//! and the energy falls by that times `6/R` in a unit of `s`. Without friction, only the terms without `R` are left:
//! the vorticity grows as vortices are stretched, which no flow in a plane does. The series was computed again, in
//! fractions, from the Navier-Stokes equations, to this order and further: the term of fifth order is `-0.4153 s^5/R`
//! at `R = 20` and `-0.2627 s^5/R` at `R = 100`, which bounds what is left out.
//!
//! Source: Taylor, Green: Mechanism of the Production of Small Eddies from Large Ones, Proc. R. Soc. A 158, 1937 (start
//! and series); Brachet, Meiron, Orszag, Nickel, Morf, Frisch, J. Fluid Mech. 130, 1983 (pressure, short times).

use std::f64::consts::TAU;

use ndarray::Dimension;

use crate::catalogue::Case;
use crate::fields::Fields;
use crate::lbm::fluid::Fluid;
use crate::lbm::{Lattice, VelocitySet, fluid};
use crate::physics::collision::Collision;
use crate::physics::{Axis, Check, Figure, PhysicsError, Simulation, positive, relative};

/// A run of the vortex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vortices {
    /// Lattice and collision.
    pub collision: Collision,
    /// Cells per side.
    pub n: usize,
    /// Reynolds number `U / (k viscosity)`.
    pub reynolds: f64,
    /// Largest speed at the start, in cells per step.
    pub speed: f64,
    /// How long it runs, in `1 / (U k)`: below 1, as the series is for short times.
    pub time: f64,
}

/// Samples of the enstrophy.
const SAMPLES: u64 = 8;

impl Vortices {
    /// Energy and enstrophy at the end of the run; `limit` is relative.
    ///
    /// # Errors
    /// [`PhysicsError`] if the case makes no sense.
    pub fn checks(&self, limit: f64, threads: Option<usize>) -> Result<Vec<Check>, PhysicsError> {
        let wave_number = TAU / self.n as f64;
        let viscosity =
            positive("the speed", self.speed)? / (wave_number * positive("the Reynolds number", self.reynolds)?);
        let omega = fluid::relaxation(viscosity);
        let (lattice, scalars) = (self.collision.lattice(), self.collision.scalars(omega));
        let case = Case { sizes: self.collision.sides(self.n), steps: 0, scalars };
        let initial = start(lattice, self.n, self.speed, omega)?;
        let mut simulation = Simulation::new(self.collision.periodic(), &case, &initial, threads)?;
        let before = simulation.fluid_on(lattice)?;
        let steps = (self.time / (self.speed * wave_number)).round() as u64;
        let series = Series { reynolds: self.reynolds };
        let (mut time, mut after, mut enstrophies) = (0.0, before.clone(), vec![[0.0, 1.0]]);
        for part in 1..=SAMPLES {
            simulation.advance(steps * part / SAMPLES - simulation.steps())?;
            time = simulation.steps() as f64 * self.speed * wave_number;
            after = simulation.fluid_on(lattice)?;
            enstrophies.push([time, enstrophy(&after) / enstrophy(&before)]);
        }
        let lost = 1.0 - after.energy() / before.energy();
        let grown = enstrophy(&after) / enstrophy(&before);
        let known = (0..=20).map(|k| time * f64::from(k) / 20.0).map(|time| [time, series.grown(time)]);
        let figure = Figure::new(
            "vortices",
            "Enstrophy of vortices in three dimensions",
            "Taylor, Green 1937, series to the fourth order",
            Axis::linear("time / (1 / U k)"),
            Axis::linear("enstrophy / enstrophy at the start"),
        );
        let figure = figure
            .points(format!("R = {}, {}^3 cells, {}", self.reynolds, self.n, self.collision.name()), enstrophies)
            .known_line(format!("series, R = {}", self.reynolds), known);
        let check = |name: &str, numbers| self.check(format!("{name} at s = {time:.3}"), &simulation, numbers, limit);
        Ok(vec![
            check("energy lost", [lost, series.lost(time)]).drawn(figure),
            check("enstrophy over that before", [grown, series.grown(time)]),
        ])
    }

    fn check(&self, quantity: String, simulation: &Simulation, [computed, reference]: [f64; 2], limit: f64) -> Check {
        Check {
            kernel: self.collision.periodic().name,
            quantity,
            source: "Taylor, Green 1937, series",
            setting: [("N", self.n as f64), ("R", self.reynolds), ("speed", self.speed)].into(),
            steps: simulation.steps(),
            storage_bytes: simulation.storage_bytes(),
            computed,
            reference,
            deviation: relative(computed, reference),
            limit,
            figures: Vec::new(),
        }
    }
}

/// The mean square of the vorticity as a polynomial of the time.
#[derive(Clone, Copy, Debug)]
struct Series {
    reynolds: f64,
}

impl Series {
    fn coefficients(self) -> [f64; 5] {
        let r = self.reynolds;
        let square = r * r;
        [
            1.0,
            -6.0 / r,
            5.0 / 48.0 + 18.0 / square,
            -(5.0 / 3.0 + 36.0 / square) / r,
            50.0 / 6336.0 + 1835.0 / (144.0 * square) + 54.0 / (square * square),
        ]
    }

    fn grown(self, time: f64) -> f64 {
        self.coefficients().iter().rev().fold(0.0, |sum, c| sum * time + c)
    }

    fn lost(self, time: f64) -> f64 {
        let integral =
            self.coefficients().into_iter().enumerate().map(|(n, c)| c * time.powi(n as i32 + 1) / (n + 1) as f64);
        6.0 / self.reynolds * integral.sum::<f64>()
    }
}

/// Populations of the vortex as collisions leave them: equilibria at its velocity, and at the density that has its
/// pressure, with the stress of its velocity, `-3 w_q c_a c_b du_b/dx_a / omega` before a collision. A flow that starts
/// without it loses energy in the first step as if the viscosity were 1/6.
pub(super) fn start(lattice: Lattice, n: usize, speed: f64, omega: f64) -> Result<Fields, PhysicsError> {
    let set = VelocitySet::new(lattice);
    let wave_number = TAU / n as f64;
    let velocity = |site: &[usize]| {
        let ([sy, cy], [sx, cx], [_, cz]) = (circle(n, site[1]), circle(n, site[2]), circle(n, site[0]));
        vec![0.0, -speed * cx * sy * cz, speed * sx * cy * cz]
    };
    // Of the velocities along z, y and x, the slopes along z, y and x.
    let slopes = |site: &[usize]| {
        let ([sz, cz], [sy, cy], [sx, cx]) = (circle(n, site[0]), circle(n, site[1]), circle(n, site[2]));
        let of_y = [cx * sy * sz, -cx * cy * cz, sx * sy * cz];
        let of_x = [-sx * cy * sz, -sx * sy * cz, cx * cy * cz];
        [[0.0; 3], of_y, of_x].map(|slopes| slopes.map(|slope| speed * wave_number * slope))
    };
    let density = |site: &[usize]| {
        let [z, y, x] = [0, 1, 2].map(|axis| circle(n, 2 * site[axis])[1]);
        1.0 + 3.0 * speed * speed / 16.0 * (x + y) * (z + 2.0)
    };
    let mut populations = fluid::populations(&set, &[n; 3], velocity)?;
    for q in 0..set.len() {
        let population = populations.get_mut(&set.array(q)).expect("one array for each population");
        let along = |slopes: [[f64; 3]; 3]| {
            let c = set.velocity(q);
            let pairs = (0..3).flat_map(|b| (0..3).map(move |a| (a, b)));
            pairs.map(|(a, b)| (c[a] * c[b]) as f64 * slopes[b][a]).sum::<f64>()
        };
        for (site, value) in population.indexed_iter_mut() {
            let site = site.slice();
            *value = density(site) * (*value - (1.0 / omega - 1.0) * 3.0 * set.weight(q) * along(slopes(site)));
        }
    }
    Ok(populations)
}

/// Sine and cosine of the angle at a cell of a box that is one turn wide.
fn circle(n: usize, at: usize) -> [f64; 2] {
    let (sine, cosine) = (TAU * at as f64 / n as f64).sin_cos();
    [sine, cosine]
}

/// The sum of the squares of the vorticity, by central differences in a periodic box.
fn enstrophy(fluid: &Fluid) -> f64 {
    let u = fluid.velocity();
    let shape = u[0].shape().to_vec();
    let moved = |site: &[usize], axis: usize, by: usize| {
        let mut site = site.to_vec();
        site[axis] = (site[axis] + by) % shape[axis];
        site
    };
    let slope = |of: usize, along: usize, site: &[usize]| {
        let (above, below) = (moved(site, along, 1), moved(site, along, shape[along] - 1));
        0.5 * (u[of][above.as_slice()] - u[of][below.as_slice()])
    };
    let square = |site: &[usize]| {
        let turns = [(0, 1), (1, 2), (2, 0)].map(|(a, b)| slope(b, a, site) - slope(a, b, site));
        turns.iter().map(|turn| turn * turn).sum::<f64>()
    };
    u[0].indexed_iter().map(|(site, _)| square(site.slice())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_has_the_energy_and_the_enstrophy_of_the_vortex() {
        let (n, speed) = (16, 0.01);
        let set = VelocitySet::new(Lattice::D3Q19);
        let fluid = fluid::fluid(&set, &start(Lattice::D3Q19, n, speed, 1.9).unwrap()).unwrap();
        let cells = (n * n * n) as f64;
        assert!((fluid.energy() / cells / (speed * speed / 8.0) - 1.0).abs() < 1e-12);
        // Central differences see `sin k` for `k`, along any axis alike.
        let wave_number = (TAU / n as f64).sin();
        let expected = 0.75 * (speed * wave_number).powi(2);
        assert!((enstrophy(&fluid) / cells / expected - 1.0).abs() < 1e-12);
    }

    #[test]
    fn without_friction_nothing_is_lost_and_vorticity_grows() {
        let series = Series { reynolds: 1e12 };
        assert!(series.lost(0.5) < 1e-11 && series.grown(0.5) > 1.02);
    }
}

//! A shear wave that a wind carries along: it decays with the viscosity, whatever the wind.
//!
//! In: a collision, cells of a wave, a wind.   Out: how fast the energy of the wave decays.
//!
//! The velocity `a sin(k (x - U t))` across the wind `U` decays as `exp(-viscosity k^2 t)`, its energy twice as fast.
//! The equilibrium of BGK lacks the square of the wind in moments of third order: by theory its viscosity is
//! `1 - 3 U^2` times the one that it should be. Cumulants have that square.
//!
//! Source: Qian, Zhou: Complete Galilean-invariant lattice BGK models for the Navier-Stokes equation, Europhys. Lett.
//! 42, 1998 (what the equilibrium lacks); Geier et al. 2015 (cumulants).

use std::f64::consts::TAU;

use crate::catalogue::Case;
use crate::lbm::VelocitySet;
use crate::lbm::fluid::{self, Fluid};
use crate::physics::collision::Collision;
use crate::physics::{Axis, Check, Figure, PhysicsError, Simulation, positive, relative};

/// A run of the wave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wind {
    /// Lattice and collision.
    pub collision: Collision,
    /// Cells of the wave, and of the box along each axis.
    pub n: usize,
    /// Relaxation rate, `0 < omega < 2`.
    pub omega: f64,
    /// Speed of the wind, in cells per step.
    pub speed: f64,
}

/// Speed of the wave at its start, in cells per step.
const AMPLITUDE: f64 = 1e-3;
/// Samples of the energy.
const SAMPLES: u64 = 8;

impl Wind {
    /// Runs until the energy should have fallen by `e`, after a start as long in which stresses come to what they are;
    /// `limit` is relative.
    ///
    /// # Errors
    /// [`PhysicsError`] if the case makes no sense.
    pub fn check(&self, limit: f64, threads: Option<usize>) -> Result<Check, PhysicsError> {
        let viscosity = positive("the viscosity", fluid::viscosity(self.omega))?;
        let wave_number = TAU / self.n as f64;
        let reference = 2.0 * viscosity * wave_number * wave_number;
        let steps = (1.0 / reference).ceil() as u64;
        let set = VelocitySet::new(self.collision.lattice());
        let wave = |site: &[usize]| vec![0.0, AMPLITUDE * (wave_number * site[2] as f64).sin(), self.speed];
        let initial = fluid::populations(&set, &[self.n; 3], wave)?;
        let scalars = self.collision.scalars(self.omega);
        let case = Case { sizes: self.collision.sides(self.n), steps: 0, scalars };
        let mut simulation = Simulation::new(self.collision.periodic(), &case, &initial, threads)?;
        simulation.advance(steps / 4)?;
        let energy = |fluid: &Fluid| fluid.velocity()[1].iter().map(|v| v * v).sum::<f64>();
        let before = energy(&simulation.fluid_on(set.lattice())?);
        let mut energies = vec![[0.0, 1.0]];
        for part in 1..=SAMPLES {
            simulation.advance(steps / 4 + steps * part / SAMPLES - simulation.steps())?;
            let time = (simulation.steps() - steps / 4) as f64;
            energies.push([time * reference, energy(&simulation.fluid_on(set.lattice())?) / before]);
        }
        let computed = -energies[SAMPLES as usize][1].ln() / steps as f64;
        let exact = energies.iter().map(|[time, _]| [*time, (-time).exp()]).collect::<Vec<_>>();
        let figure = Figure::new(
            "wind",
            "Energy of a shear wave in the wind",
            "exact",
            Axis::linear("time x 2 viscosity k^2"),
            Axis::logarithmic("energy / energy at the start"),
        );
        let figure = figure
            .points(format!("{}, {} cells, wind {}", self.collision.name(), self.n, self.speed), energies)
            .known_line("exact", exact);
        Ok(Check {
            kernel: self.collision.periodic().name,
            quantity: "decay of a shear wave in the wind, per step".to_owned(),
            source: "exact",
            setting: [("N", self.n as f64), ("omega", self.omega), ("wind", self.speed)].into(),
            steps: simulation.steps(),
            storage_bytes: simulation.storage_bytes(),
            computed,
            reference,
            deviation: relative(computed, reference),
            limit,
            figures: vec![figure],
        })
    }
}

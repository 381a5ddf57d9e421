//! Decaying vortices in a periodic box against the analytic rate.
//!
//! In: cells per side, relaxation rate, speed.   Out: how fast the kinetic energy decays.
//!
//! The velocities `sin a cos b` and `-cos a sin b` solve the Navier-Stokes equations and decay as `exp(-2 nu k^2 t)`
//! with the wave number `k = 2 pi / N` along both axes; their energy decays twice as fast.
//!
//! Source: Taylor, Green: Mechanism of the Production of Small Eddies from Large Ones, 1937.

use std::f64::consts::TAU;

use crate::catalogue::Case;
use crate::lbm::entries::{D2Q9_PERIODIC, D2Q9_PERIODIC_F16, D2Q9_PERIODIC_F32};
use crate::lbm::{Lattice, Storage, VelocitySet, fluid};
use crate::physics::{Axis, Check, Figure, PhysicsError, Simulation, positive, relative};

/// A run of the vortex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaylorGreen {
    /// Cells per side.
    pub n: usize,
    /// Relaxation rate, `0 < omega < 2`.
    pub omega: f64,
    /// Largest speed at the start, in cells per step.
    pub speed: f64,
}

/// Samples of the energy.
const SAMPLES: u64 = 16;

impl TaylorGreen {
    /// Runs until the energy should have fallen by `e`, then compares its rate; `limit` is relative.
    ///
    /// # Errors
    /// [`PhysicsError`] if the case makes no sense.
    pub fn check(&self, limit: f64, threads: Option<usize>) -> Result<Check, PhysicsError> {
        self.check_in(Storage::Double, limit, threads)
    }

    /// The same with arrays of less precision.
    ///
    /// # Errors
    /// As [`TaylorGreen::check`].
    pub fn check_in(&self, storage: Storage, limit: f64, threads: Option<usize>) -> Result<Check, PhysicsError> {
        let entry = match storage {
            Storage::Double => D2Q9_PERIODIC,
            Storage::Single => D2Q9_PERIODIC_F32,
            Storage::Half => D2Q9_PERIODIC_F16,
        };
        let viscosity = positive("the viscosity", fluid::viscosity(self.omega))?;
        let reference = 4.0 * viscosity * (TAU / self.n as f64).powi(2);
        let steps = (1.0 / reference).ceil() as u64;
        let case = Case {
            sizes: vec![("N".to_owned(), self.n as i64)],
            steps: 0,
            scalars: vec![("omega".to_owned(), self.omega)],
        };
        let set = VelocitySet::new(Lattice::D2Q9);
        let vortex = fluid::vortex(&set, &[self.n; 2], positive("the speed", self.speed)?)?;
        let mut simulation = Simulation::new(&entry, &case, &storage.held(&set, vortex.clone()), threads)?;
        let before = simulation.fluid()?.energy();
        let mut energies = vec![[0.0, 1.0]];
        for part in 1..=SAMPLES {
            simulation.advance(steps * part / SAMPLES - simulation.steps())?;
            energies.push([simulation.steps() as f64 * reference, simulation.fluid()?.energy() / before]);
        }
        let computed = -energies[SAMPLES as usize][1].ln() / steps as f64;
        let exact = energies.iter().map(|[time, _]| [*time, (-time).exp()]).collect::<Vec<_>>();
        let figure = Figure::new(
            "vortex-plane",
            "Energy of decaying vortices in the plane",
            "Taylor, Green 1937",
            Axis::linear("time x 4 viscosity k^2"),
            Axis::logarithmic("energy / energy at the start"),
        );
        let figure = figure
            .points(format!("{}^2 cells, omega = {}, {}", self.n, self.omega, storage.cells()), energies)
            .known_line("exact", exact);
        Ok(Check {
            kernel: entry.name,
            quantity: "decay of the energy per step".to_owned(),
            source: "Taylor, Green 1937",
            setting: [("N", self.n as f64), ("omega", self.omega), ("speed", self.speed)].into(),
            steps,
            storage_bytes: simulation.storage_bytes(),
            computed,
            reference,
            deviation: relative(computed, reference),
            limit,
            figures: vec![figure],
        })
    }
}

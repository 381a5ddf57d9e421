//! The Taylor-Green vortex at Reynolds number 1600: how fast a flow that becomes turbulent loses its energy.
//!
//! In: a collision, cells per side, a speed.   Out: the largest loss of energy and when it is, against a spectral
//! computation.
//!
//! Start, time and Reynolds number are those of `vortices`. The energy is the mean of half the square of the velocity,
//! over the square of its largest value at the start, so that it begins at 1/8. The smallest eddies have an extent of
//! about 1/60 of `1 / k` when the loss is largest, and cells that are larger lose what they cannot hold: on a coarse
//! grid the peak is lower, wider and earlier.
//!
//! Source: C. Carton de Wiart, K. Hillewaert, M. Duponcheel, G. Winckelmans, Int. J. Numer. Meth. Fluids 74, 2014, and
//! case C3.5 of the International Workshop on High-Order Methods (the pseudo-spectral computation with 512^3 cells,
//! file `spectral_Re1600_512.gdiag`, an excerpt of which is below).

use std::f64::consts::TAU;

use crate::catalogue::Case;
use crate::lbm::fluid;
use crate::physics::collision::Collision;
use crate::physics::vortices::start;
use crate::physics::{Axis, Check, Figure, PhysicsError, Simulation, positive, relative};

/// A run of the vortex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dissipation {
    /// Lattice and collision.
    pub collision: Collision,
    /// Cells per side.
    pub n: usize,
    /// Largest speed at the start, in cells per step.
    pub speed: f64,
}

/// Reynolds number `U / (k viscosity)` of the published computation.
const REYNOLDS: f64 = 1600.0;
/// When the run ends, in `1 / (U k)`: behind the peak.
const END: f64 = 12.0;
/// Samples of the energy in a unit of that time.
const SAMPLES: f64 = 8.0;
/// The published peak: when, and how much.
const PEAK: [f64; 2] = [8.97, 0.012_857_528];

/// Published times and losses of energy.
const SPECTRAL: [[f64; 2]; 36] = [
    [0.0, 0.000_468_743],
    [0.5, 0.000_480_246],
    [1.0, 0.000_518_821],
    [1.5, 0.000_591_184],
    [2.0, 0.000_707_564],
    [2.5, 0.000_880_895],
    [3.0, 0.001_126_517],
    [3.5, 0.001_476_982],
    [4.0, 0.002_066_236],
    [4.25, 0.002_520_170],
    [4.5, 0.003_061_200],
    [4.75, 0.003_617_557],
    [5.0, 0.004_127_097],
    [5.25, 0.004_543_639],
    [5.5, 0.004_871_541],
    [5.75, 0.005_170_301],
    [6.0, 0.005_530_986],
    [6.25, 0.006_015_666],
    [6.5, 0.006_625_069],
    [6.75, 0.007_133_224],
    [7.0, 0.007_364_770],
    [7.25, 0.007_916_050],
    [7.5, 0.008_729_992],
    [7.75, 0.009_473_733],
    [8.0, 0.010_372_895],
    [8.25, 0.011_203_827],
    [8.5, 0.011_920_708],
    [8.75, 0.012_721_993],
    [9.0, 0.012_854_539],
    [9.25, 0.012_386_350],
    [9.5, 0.011_729_337],
    [9.75, 0.011_509_036],
    [10.0, 0.011_272_054],
    [10.5, 0.010_892_685],
    [11.0, 0.010_097_899],
    [12.0, 0.008_360_886],
];

impl Dissipation {
    /// The largest loss of energy and when it is; both limits are relative.
    ///
    /// # Errors
    /// [`PhysicsError`] if the case makes no sense.
    pub fn checks(&self, limits: [f64; 2], threads: Option<usize>) -> Result<Vec<Check>, PhysicsError> {
        let scale = positive("the speed", self.speed)? * TAU / self.n as f64;
        let omega = fluid::relaxation(self.speed * self.n as f64 / (TAU * REYNOLDS));
        let (lattice, scalars) = (self.collision.lattice(), self.collision.scalars(omega));
        let case = Case { sizes: self.collision.sides(self.n), steps: 0, scalars };
        let initial = start(lattice, self.n, self.speed, omega)?;
        let mut simulation = Simulation::new(self.collision.periodic(), &case, &initial, threads)?;
        let every = (1.0 / (SAMPLES * scale)).round().max(1.0);
        let between = every * scale;
        let mut energies = Vec::new();
        for _ in 0..=(END / between).round() as u64 {
            let cells = (self.n as f64).powi(3);
            energies.push(simulation.fluid_on(lattice)?.energy() / (cells * self.speed * self.speed));
            simulation.advance(every as u64)?;
        }
        let loss = |k: usize| [k as f64 * between, (energies[k - 1] - energies[k + 1]) / (2.0 * between)];
        let losses: Vec<[f64; 2]> = (1..energies.len() - 1).map(loss).collect();
        let [time, most] = losses.iter().copied().max_by(|a, b| a[1].total_cmp(&b[1])).unwrap_or([f64::NAN; 2]);
        let (time_axis, loss_axis) = (Axis::linear("time / (1 / U k)"), Axis::linear("loss of energy / (U^3 k)"));
        let figure = Figure::new(
            "dissipation",
            "Taylor-Green vortex, Reynolds number 1600",
            "spectral computation with 512^3 cells, Workshop on High-Order Methods, C3.5",
            time_axis,
            loss_axis,
        );
        let figure = figure.line(format!("computed, {0}^3 cells", self.n), losses).known_line("published", SPECTRAL);
        let check = |quantity: &str, [computed, reference]: [f64; 2], limit: f64| Check {
            kernel: self.collision.periodic().name,
            quantity: quantity.to_owned(),
            source: "Carton de Wiart et al. 2014, spectral",
            setting: [("N", self.n as f64), ("R", REYNOLDS), ("speed", self.speed)].into(),
            steps: simulation.steps(),
            storage_bytes: simulation.storage_bytes(),
            computed,
            reference,
            deviation: relative(computed, reference),
            limit,
            figures: Vec::new(),
        };
        Ok(vec![
            check("largest loss of energy", [most, PEAK[1]], limits[0]).drawn(figure),
            check("time of the largest loss", [time, PEAK[0]], limits[1]),
        ])
    }
}

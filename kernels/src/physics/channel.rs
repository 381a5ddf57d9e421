//! The channel: Poiseuille's law without an obstacle, drag and frequency with the cylinder of Schaefer and Turek.
//!
//! In: cells across the channel, a Reynolds number, a mean speed.   Out: pressure drop, drag coefficient, Strouhal
//! number.
//!
//! The Reynolds number is `u_mean D / viscosity` with the cylinder's diameter `D`, the drag coefficient
//! `2 F / (u_mean^2 D)` with the force `F` on the cylinder, and the Strouhal number `f D / u_mean` with the frequency
//! `f` at which vortices leave it. The force is the momentum that populations leave on the links between solid and
//! fluid cells.
//!
//! Source: Schaefer, Turek: Benchmark Computations of Laminar Flow Around a Cylinder, 1996, flows 2D-1 and 2D-2; Ladd,
//! J. Fluid Mech. 271, 1994 (momentum exchange).

use ndarray::Axis as Dimension;

use crate::catalogue::Case;
use crate::fields::{Field, Fields};
use crate::lbm::entries::D2Q9_CYLINDER;
use crate::lbm::inflow::SOLID;
use crate::lbm::obstacle::Cylinder;
use crate::lbm::{Lattice, VelocitySet, channel, fluid};
use crate::physics::{Axis, Check, Figure, PhysicsError, Simulation, positive, relative};

/// A run of the channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Channel {
    /// Cells across.
    pub height: usize,
    /// Cells along.
    pub length: usize,
    /// Reynolds number of the cylinder.
    pub reynolds: f64,
    /// Mean speed in cells per step.
    pub u_mean: f64,
}

/// The flow counts as steady when it changes less than this, over the mean speed, while it moves by one height.
const STEADY: f64 = 1e-5;
/// Heights it moves at most until then.
const MOST_HEIGHTS: u64 = 400;
/// Diameters that the flow moves before its frequency is observed, and while it is.
const WARM_UP: f64 = 60.0;
const OBSERVED: f64 = 40.0;
/// Samples of the lift while the flow moves by one diameter.
const SAMPLES: f64 = 20.0;

impl Channel {
    /// Without an obstacle, the pressure gradient in the middle against `12 viscosity u_mean / height^2`.
    ///
    /// # Errors
    /// [`PhysicsError`] if the case makes no sense, or the flow does not become steady.
    pub fn check_poiseuille(&self, limit: f64, threads: Option<usize>) -> Result<Check, PhysicsError> {
        let viscosity = self.viscosity()?;
        let mut initial = self.initial()?;
        initial.insert(SOLID.to_owned(), Field::zeros(vec![self.height, self.length]));
        let mut simulation = self.start(&initial, threads)?;
        let steady = self.settle(&mut simulation)?;
        let (from, to) = (self.length / 4, 3 * self.length / 4);
        let pressure = |x: usize| steady.density().index_axis(Dimension(1), x).sum() / (3 * self.height) as f64;
        let computed = (pressure(from) - pressure(to)) / (to - from) as f64;
        let reference = 12.0 * viscosity * self.u_mean / (self.height as f64).powi(2);
        let along = &steady.velocity()[1];
        let height = |y: usize| (y as f64 + 0.5) / self.height as f64;
        let parabola = (0..=40).map(|k| f64::from(k) / 40.0).map(|at| [at, 6.0 * at * (1.0 - at)]);
        let figure = Figure::new(
            "channel",
            "Velocity across the middle of a channel",
            "Poiseuille",
            Axis::linear("distance from the lower wall / height"),
            Axis::linear("velocity / mean velocity"),
        );
        let profile = (0..self.height).map(|y| [height(y), along[[y, self.length / 2]] / self.u_mean]);
        let figure = figure.points("computed", profile).known_line("exact", parabola);
        let check =
            self.result("pressure gradient, no obstacle", "Poiseuille", &simulation, computed, reference, limit);
        Ok(check.drawn(figure))
    }

    /// The drag coefficient of the steady flow against a reference.
    ///
    /// # Errors
    /// [`PhysicsError`] if the case makes no sense, or the flow does not become steady.
    pub fn check_drag(&self, reference: f64, limit: f64, threads: Option<usize>) -> Result<Check, PhysicsError> {
        let initial = self.initial()?;
        let mut simulation = self.start(&initial, threads)?;
        self.settle(&mut simulation)?;
        let [_, drag] = force(&simulation.fields()?, &initial[SOLID]);
        let computed = 2.0 * drag / (self.u_mean.powi(2) * self.cylinder().diameter);
        Ok(self.result("drag coefficient", "Schaefer, Turek 1996, 2D-1", &simulation, computed, reference, limit))
    }

    /// The Strouhal number of the vortices against a reference.
    ///
    /// # Errors
    /// [`PhysicsError`] if the case makes no sense, or [`PhysicsError::NoPeriod`] if no vortices leave the cylinder.
    pub fn check_frequency(&self, reference: f64, limit: f64, threads: Option<usize>) -> Result<Check, PhysicsError> {
        let initial = self.initial()?;
        let mut simulation = self.start(&initial, threads)?;
        let passing = self.cylinder().diameter / self.u_mean;
        simulation.advance((WARM_UP * passing) as u64)?;
        let every = ((passing / SAMPLES) as u64).max(1);
        let samples = (OBSERVED * passing) as u64 / every;
        let mut lift = Vec::new();
        for _ in 0..samples {
            simulation.advance(every)?;
            lift.push(force(&simulation.fields()?, &initial[SOLID])[0]);
        }
        let crossings = upward_crossings(&lift);
        let (Some(first), Some(last), true) = (crossings.first(), crossings.last(), crossings.len() >= 4) else {
            let (steps, crossings) = (simulation.steps(), crossings.len());
            return Err(PhysicsError::NoPeriod { steps, crossings });
        };
        let period = (last - first) / (crossings.len() - 1) as f64 * every as f64;
        let computed = passing / period;
        Ok(self.result("Strouhal number", "Schaefer, Turek 1996, 2D-2", &simulation, computed, reference, limit))
    }

    fn cylinder(&self) -> Cylinder {
        Cylinder::in_channel(self.height)
    }

    fn viscosity(&self) -> Result<f64, PhysicsError> {
        let flux = positive("the mean speed", self.u_mean)? * self.cylinder().diameter;
        positive("the viscosity", flux / positive("the Reynolds number", self.reynolds)?)
    }

    fn case(&self) -> Result<Case, PhysicsError> {
        let scalars = [("omega", fluid::relaxation(self.viscosity()?)), ("u_mean", self.u_mean)];
        let sizes = [("NY", self.height as i64), ("NX", self.length as i64)];
        Ok(Case {
            sizes: sizes.map(|(name, value)| (name.to_owned(), value)).to_vec(),
            steps: 0,
            scalars: scalars.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        })
    }

    fn initial(&self) -> Result<Fields, PhysicsError> {
        Ok(channel::initial(Lattice::D2Q9, &["NY", "NX"], &self.case()?)?)
    }

    fn start(&self, initial: &Fields, threads: Option<usize>) -> Result<Simulation, PhysicsError> {
        Simulation::new(&D2Q9_CYLINDER, &self.case()?, initial, threads)
    }

    fn settle(&self, simulation: &mut Simulation) -> Result<fluid::Fluid, PhysicsError> {
        let passing = (self.height as f64 / self.u_mean).ceil() as u64;
        simulation.settle(self.u_mean, passing, STEADY, MOST_HEIGHTS * passing)
    }

    fn result(
        &self,
        quantity: &str,
        source: &'static str,
        simulation: &Simulation,
        computed: f64,
        reference: f64,
        limit: f64,
    ) -> Check {
        let (height, length) = (self.height as f64, self.length as f64);
        Check {
            kernel: D2Q9_CYLINDER.name,
            quantity: quantity.to_owned(),
            source,
            setting: [("Re", self.reynolds), ("NY", height), ("NX", length), ("u_mean", self.u_mean)].into(),
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

/// The force on the solid cells, across the channel and along it. What left a solid cell towards the fluid had come
/// from there in the same step, in the opposite direction, and left twice its momentum.
fn force(populations: &Fields, solid: &Field) -> [f64; 2] {
    let set = VelocitySet::new(Lattice::D2Q9);
    let is_solid = |y: i64, x: i64| {
        let at = [usize::try_from(y).ok(), usize::try_from(x).ok()];
        at[0].zip(at[1]).and_then(|(y, x)| solid.get([y, x].as_slice())).is_none_or(|&cell| cell != 0.0)
    };
    let mut force = [0.0; 2];
    for (q, population) in (0..set.len()).filter_map(|q| Some((q, populations.get(&set.array(q))?))) {
        let velocity = set.velocity(q);
        for (site, _) in solid.indexed_iter().filter(|(_, cell)| **cell != 0.0) {
            let (y, x) = (site[0] as i64, site[1] as i64);
            if !is_solid(y + velocity[0], x + velocity[1]) {
                force.iter_mut().zip(velocity).for_each(|(force, &c)| *force -= 2.0 * c as f64 * population[&site]);
            }
        }
    }
    force
}

/// Where a signal passes its mean upwards, in samples, interpolated linearly.
pub(super) fn upward_crossings(signal: &[f64]) -> Vec<f64> {
    let mean = signal.iter().sum::<f64>() / signal.len().max(1) as f64;
    let passes = |(i, pair): (usize, &[f64])| {
        let (low, high) = (pair[0] - mean, pair[1] - mean);
        (low < 0.0 && high >= 0.0).then(|| i as f64 - low / (high - low))
    };
    signal.windows(2).enumerate().filter_map(passes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossings_of_a_sine_are_a_period_apart() {
        let signal: Vec<f64> = (0..200).map(|i| 3.0 + (f64::from(i) * 0.2).sin()).collect();
        let crossings = upward_crossings(&signal);
        assert!(crossings.len() >= 5);
        assert!(crossings.windows(2).all(|w| (w[1] - w[0] - std::f64::consts::TAU / 0.2).abs() < 0.1), "{crossings:?}");
    }

    #[test]
    fn a_fluid_at_rest_does_not_push() {
        let shape = [12, 20];
        let solid = Cylinder::in_channel(12).mask(&shape);
        let rest = fluid::populations(&VelocitySet::new(Lattice::D2Q9), &shape, |_| vec![0.0; 2]).unwrap();
        assert!(force(&rest, &solid).iter().all(|f| f.abs() < 1e-14));
    }
}

//! Rayleigh-Benard convection: the heat that rolls carry between a hot plate and a cold one.
//!
//! In: a Rayleigh number, cells between the plates.   Out: the Nusselt number, heat carried over heat conducted at rest.
//!
//! Rolls are as long as those that grow first, so that a pair is 2.016 times as long as high.
//! `Nu = 1 + <u_y T> H / (k dT)` with the mean over all cells, the conductivity `k` and the difference `dT` of the
//! plates, which is 1.
//!
//! Source: R. Clever, F. Busse: Transition to time-dependent convection, J. Fluid Mech. 65, 1974, table 1 (Prandtl
//! number 0.71).

use crate::catalogue::Case;
use crate::fields::Fields;
use crate::lbm::{Lattice, VelocitySet, fluid, thermal};
use crate::physics::{Axis, Check, Figure, PhysicsError, Simulation, positive, relative};

/// A run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convection {
    /// Rayleigh number.
    pub rayleigh: f64,
    /// Cells between the plates.
    pub height: usize,
    /// Speed of free fall over the height, in cells per step; the error of compressibility grows with its square.
    pub speed: f64,
}

const PRANDTL: f64 = 0.71;
/// Length of a pair of rolls over its height.
const ASPECT: f64 = 2.016;
/// Times in which heat diffuses over the height, until the flow counts as steady.
const DIFFUSIONS: f64 = 4.0;
/// Samples of the Nusselt number until then.
const SAMPLES: u64 = 64;

impl Convection {
    /// Runs to the steady state and compares with a published number; `limit` is relative.
    ///
    /// # Errors
    /// [`PhysicsError`] if the case makes no sense.
    pub fn check(&self, published: f64, limit: f64, threads: Option<usize>) -> Result<Check, PhysicsError> {
        let (h, rayleigh) = (self.height as f64, positive("the Rayleigh number", self.rayleigh)?);
        let viscosity = positive("the speed", self.speed)? * h * (PRANDTL / rayleigh).sqrt();
        let (conductivity, lift) = (viscosity / PRANDTL, self.speed * self.speed / h);
        let length = (ASPECT * h).round();
        let relaxation = |diffusivity: f64| 1.0 / (3.0 * diffusivity + 0.5);
        let scalars = [("omega", relaxation(viscosity)), ("omega_heat", relaxation(conductivity)), ("lift", lift)];
        let case = Case {
            sizes: vec![("NY".to_owned(), self.height as i64), ("NX".to_owned(), length as i64)],
            steps: 0,
            scalars: scalars.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        };
        let entry = &thermal::CONVECTION;
        let mut simulation = Simulation::new(entry, &case, &(entry.initial)(&case)?, threads)?;
        let steps = (DIFFUSIONS * h * h / conductivity).ceil() as u64;
        let (mut computed, mut numbers) = (1.0, vec![[0.0, 1.0]]);
        for part in 1..=SAMPLES {
            simulation.advance(steps * part / SAMPLES - simulation.steps())?;
            computed = 1.0 + carried(&simulation.fields()?, lift)? * h / conductivity;
            numbers.push([simulation.steps() as f64 * conductivity / (h * h), computed]);
        }
        let figure = Figure::new(
            "convection",
            "Heat that rolls carry between plates",
            "Clever, Busse 1974",
            Axis::linear("time / time of diffusion over the height"),
            Axis::linear("Nusselt number"),
        );
        let figure = figure
            .line(format!("Ra = {rayleigh}, {} cells high", self.height), numbers)
            .known_line(format!("Ra = {rayleigh}, published"), [[0.0, published], [DIFFUSIONS, published]]);
        Ok(Check {
            kernel: entry.name,
            quantity: "Nusselt number".to_owned(),
            source: "Clever, Busse 1974",
            setting: [("Ra", rayleigh), ("Pr", PRANDTL), ("NY", h), ("NX", length)].into(),
            steps: simulation.steps(),
            storage_bytes: simulation.storage_bytes(),
            computed,
            reference: published,
            deviation: relative(computed, published),
            limit,
            figures: vec![figure],
        })
    }
}

/// The mean of rising velocity times temperature.
fn carried(fields: &Fields, lift: f64) -> Result<f64, PhysicsError> {
    let flow = fluid::fluid(&VelocitySet::new(Lattice::D2Q9), fields)?;
    let warmth = (1..5).fold(fields["h0"].clone(), |sum, q| sum + &fields[&format!("h{q}")]);
    // Populations have collided, and have the momentum of half a step later.
    let rising = &flow.velocity()[0] - &(&warmth * (0.5 * lift) / flow.density());
    Ok((&rising * &warmth).sum() / warmth.len() as f64)
}

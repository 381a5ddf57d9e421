//! Physics: what folded runs compute, against published and analytic results.
//!
//! In: a flow or a profile, a resolution, a limit.   Out: one [`Check`] per quantity.
//!
//! `simulation` runs a kernel of the catalogue on folded storage, `collision` names those of a flow, `figure` is what
//! can be drawn of a check. `cavity` compares with the tables in `ghia`, `cube` with those in `albensoeder`;
//! `taylor_green`, `heat` and `conservation_laws` with analytic solutions, `vortices` with a series for short times,
//! `dissipation` with a spectral computation; `plates` and `walls` with profiles that are met exactly, `waves` with
//! dispersion relations, `shots` with the speed of pressure waves, `layers` with the reflection that they are made for,
//! `patterns` with linear theory and published classes, `drops` with Laplace's law, `convection` with a published
//! Nusselt number, `channel` with Poiseuille's law and the flow around a cylinder made of cells, `wake` with the bands
//! of a benchmark for a round one, `step` with the published length of an eddy, `wind` with the viscosity in a fluid
//! that moves; `shear_layer` has flows that collisions stand or do not. Short versions are tests of this crate;
//! `crease bench --suite physics` runs the long ones.

pub mod albensoeder;
pub mod cavity;
pub mod channel;
pub mod collision;
pub mod conservation_laws;
pub mod convection;
pub mod cube;
pub mod dissipation;
pub mod drops;
pub mod figure;
pub mod ghia;
pub mod heat;
pub mod layers;
pub mod patterns;
pub mod plates;
pub mod shear_layer;
pub mod shots;
mod simulation;
pub mod step;
pub mod taylor_green;
pub mod vortices;
pub mod wake;
pub mod walls;
pub mod waves;
pub mod wind;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::fields::KernelDataError;
pub use figure::{Axis, Figure};
pub use simulation::Simulation;

/// A quantity that was computed and what it should be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// The kernel's name in the catalogue.
    pub kernel: &'static str,
    /// What was compared.
    pub quantity: String,
    /// Where the reference comes from.
    pub source: &'static str,
    /// Sizes and dimensionless numbers of the run.
    pub setting: BTreeMap<&'static str, f64>,
    /// Steps of the longest run.
    pub steps: u64,
    /// Folded storage of the largest run, in bytes.
    pub storage_bytes: u64,
    /// What came out.
    pub computed: f64,
    /// What should.
    pub reference: f64,
    /// How far they are apart: over the lid's speed for profiles of cavities, as it is where the reference is 0, how
    /// much is missing where it is a bound, relative for all else.
    pub deviation: f64,
    /// The deviation that is accepted.
    pub limit: f64,
    /// What can be drawn of it; none where another check of the run has the figure.
    pub figures: Vec<Figure>,
}

impl Check {
    /// With a figure.
    #[must_use]
    pub fn drawn(mut self, figure: Figure) -> Check {
        self.figures.push(figure);
        self
    }

    /// Whether the deviation is within the limit; NaN is not.
    pub fn passes(&self) -> bool {
        self.deviation <= self.limit
    }
}

/// Why there is nothing to compare.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PhysicsError {
    /// The catalogue could not make the kernel's data.
    #[error(transparent)]
    Data(#[from] KernelDataError),
    /// Crease refused or failed.
    #[error(transparent)]
    Crease(#[from] crease::Error),
    /// A number of the setting makes no flow.
    #[error("{name} is {value}, it must be {expected}")]
    Setting {
        /// Which one.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        expected: &'static str,
    },
    /// A flow that should become steady did not.
    #[error("after {steps} steps the flow still changes by {change:e} of its speed in {every} steps")]
    Unsteady {
        /// Steps done.
        steps: u64,
        /// Steps between comparisons.
        every: u64,
        /// The last change over the speed.
        change: f64,
    },
    /// A flow that should oscillate did not.
    #[error("in {steps} steps the lift changed its sign upwards {crossings} times, too few for a frequency")]
    NoPeriod {
        /// Steps observed.
        steps: u64,
        /// Crossings seen.
        crossings: usize,
    },
}

/// The number if it is positive and finite.
fn positive(name: &'static str, value: f64) -> Result<f64, PhysicsError> {
    let fits = value > 0.0 && value.is_finite();
    if fits { Ok(value) } else { Err(PhysicsError::Setting { name, value, expected: "positive and finite" }) }
}

/// `|computed - reference|` over the reference's magnitude.
fn relative(computed: f64, reference: f64) -> f64 {
    ((computed - reference) / reference).abs()
}

//! Flow between plates, which two relaxation times with a product of 3/16 give exactly.
//!
//! In: cells between the plates.   Out: the largest deviation of the profile from the parabola of Poiseuille, or the line of
//! Couette, over the largest speed.
//!
//! Half-way bounce-back puts the plates half a cell outside the outermost centres. A force `F` gives
//! `u(y) = F y (H - y) / (2 viscosity)`, a moving plate `u(y) = u_plate y / H`.
//!
//! Source: I. Ginzburg, D. d'Humieres, Phys. Rev. E 68, 066614, 2003 (the product for which bounce-back is exact).

use crate::catalogue::Case;
use crate::lbm::{Lattice, Storage, VelocitySet, fluid, trt};
use crate::physics::{Axis, Check, Figure, PhysicsError, Simulation};

/// What drives the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plates {
    /// A force along the plates: Poiseuille.
    Force,
    /// The upper plate: Couette.
    Plate,
}

/// Cells along the plates: nothing changes there.
const LENGTH: usize = 8;
const OMEGA_EVEN: f64 = 1.1;
/// The product of what the relaxation times exceed 1/2 by.
const MAGIC: f64 = 3.0 / 16.0;
/// The largest speed, in cells per step.
const SPEED: f64 = 0.01;
/// Times in which a disturbance decays by `e` until the flow counts as steady: by 17 digits.
const DECAYS: f64 = 40.0;

impl Plates {
    /// Runs from rest to the steady state, and compares the profile; `limit` is over the largest speed.
    ///
    /// # Errors
    /// [`PhysicsError`] if there are fewer than three cells.
    pub fn check(self, height: usize, limit: f64, threads: Option<usize>) -> Result<Check, PhysicsError> {
        let excess = 1.0 / OMEGA_EVEN - 0.5;
        let (viscosity, omega_odd) = (excess / 3.0, 1.0 / (MAGIC / excess + 0.5));
        let h = height as f64;
        let (force, u_plate) = match self {
            Plates::Force => (8.0 * viscosity * SPEED / (h * h), 0.0),
            Plates::Plate => (0.0, SPEED),
        };
        let scalars = [("omega_even", OMEGA_EVEN), ("omega_odd", omega_odd), ("force", force), ("u_plate", u_plate)];
        let case = Case {
            sizes: vec![("NY".to_owned(), height as i64), ("NX".to_owned(), LENGTH as i64)],
            steps: 0,
            scalars: scalars.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        };
        let set = VelocitySet::new(Lattice::D2Q9);
        let rest = Storage::Double.held(&set, fluid::populations(&set, &[height, LENGTH], |_| vec![0.0; 2])?);
        let mut simulation = Simulation::new(&trt::PLATES, &case, &rest, threads)?;
        let decay = viscosity * (std::f64::consts::PI / h).powi(2);
        simulation.advance((DECAYS / decay).ceil() as u64)?;
        let flow = simulation.fluid()?;
        let (mut worst, mut pair) = (0.0, [0.0; 2]);
        let (mut profile, mut known) = (Vec::new(), Vec::new());
        for y in 0..height {
            let place = y as f64 + 0.5;
            let exact = match self {
                Plates::Force => force * place * (h - place) / (2.0 * viscosity),
                Plates::Plate => u_plate * place / h,
            };
            // Populations have collided, and have the momentum of half a step later.
            let found = flow.velocity()[1][[y, 0]] - 0.5 * force / flow.density()[[y, 0]];
            profile.push([place / h, found / SPEED]);
            known.push([place / h, exact / SPEED]);
            let off = (found - exact).abs() / SPEED;
            if off >= worst || off.is_nan() {
                (worst, pair) = (off, [found, exact]);
            }
        }
        let (quantity, source) = match self {
            Plates::Force => ("profile between plates, force", "Poiseuille, exact"),
            Plates::Plate => ("profile between plates, upper one moves", "Couette, exact"),
        };
        let figure = Figure::new(
            "plates",
            "Flow between plates, two relaxation times",
            "Poiseuille and Couette",
            Axis::linear("distance from the lower plate / distance of the plates"),
            Axis::linear("velocity / largest velocity"),
        );
        let figure = figure.points(quantity, profile).known_line(source, known);
        Ok(Check {
            kernel: trt::PLATES.name,
            quantity: quantity.to_owned(),
            source,
            setting: [("NY", h), ("omega_even", OMEGA_EVEN), ("omega_odd", omega_odd)].into(),
            steps: simulation.steps(),
            storage_bytes: simulation.storage_bytes(),
            computed: pair[0],
            reference: pair[1],
            deviation: worst,
            limit,
            figures: vec![figure],
        })
    }
}

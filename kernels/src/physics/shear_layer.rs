//! Shear layers that roll up in a periodic box: what happens where cells are too large for the flow.
//!
//! In: a collision, cells per side, a Reynolds number, a speed.   Out: how much of its energy the flow keeps.
//!
//! Two layers, `U tanh(80 (y - 1/4))` below the middle and its mirror image above, are pushed by a wave of a twentieth
//! of the speed across them. They become thin sheets between two eddies; a scheme that is not stable for sheets of less
//! than a cell makes eddies of its own there, or ends in numbers that are none.
//!
//! Source: Minion, Brown: Performance of under-resolved two-dimensional incompressible flow simulations II, J. Comput.
//! Phys. 138, 1997.

use std::f64::consts::TAU;

use crate::catalogue::{Case, Entry};
use crate::lbm::entries::D2Q9_PERIODIC;
use crate::lbm::{Lattice, VelocitySet, entropic, fluid};
use crate::physics::{PhysicsError, Simulation, positive};

/// How populations of the box collide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plane {
    /// At one rate.
    Bgk,
    /// What is no stress as the entropy says.
    Entropic,
}

/// A run of the layers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShearLayer {
    /// The collision.
    pub collision: Plane,
    /// Cells per side.
    pub n: usize,
    /// Reynolds number, of the speed and a side.
    pub reynolds: f64,
    /// Speed of the layers, in cells per step.
    pub speed: f64,
}

/// How steep layers are, over the side of the box.
const STEEPNESS: f64 = 80.0;
/// The speed of the wave over that of the layers.
const WAVE: f64 = 0.05;

impl ShearLayer {
    /// The kinetic energy over that of the start, after as many of the times in which layers move along a side; not a
    /// finite number if the flow is none any more.
    ///
    /// # Errors
    /// [`PhysicsError`] if the case makes no sense.
    pub fn energy_kept(&self, sides: f64, threads: Option<usize>) -> Result<f64, PhysicsError> {
        let speed = positive("the speed", self.speed)?;
        let side = self.n as f64;
        let omega = fluid::relaxation(speed * side / positive("the Reynolds number", self.reynolds)?);
        let set = VelocitySet::new(Lattice::D2Q9);
        let layers = |site: &[usize]| {
            let [y, x] = [site[0], site[1]].map(|at| (at as f64 + 0.5) / side);
            let distance = if y < 0.5 { y - 0.25 } else { 0.75 - y };
            vec![WAVE * speed * (TAU * (x + 0.25)).sin(), speed * (STEEPNESS * distance).tanh()]
        };
        let initial = fluid::populations(&set, &[self.n; 2], layers)?;
        let (entry, names): (&Entry, &[&str]) = match self.collision {
            Plane::Bgk => (&D2Q9_PERIODIC, &["N"]),
            Plane::Entropic => (&entropic::PERIODIC, &["NY", "NX"]),
        };
        let sizes = names.iter().map(|&name| (name.to_owned(), self.n as i64)).collect();
        let case = Case { sizes, steps: 0, scalars: vec![("omega".to_owned(), omega)] };
        let mut simulation = Simulation::new(entry, &case, &initial, threads)?;
        let before = simulation.fluid()?.energy();
        simulation.advance((sides * side / speed).round() as u64)?;
        Ok(simulation.fluid()?.energy() / before)
    }
}

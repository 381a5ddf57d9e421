//! The backward-facing step: where the flow behind it attaches to the lower wall again.
//!
//! In: height of the step in cells, a Reynolds number, a mean speed.   Out: the length of the eddy over the step's height.
//!
//! A developed flow enters a channel half as high as the one behind the step; the Reynolds number is its mean speed
//! times twice the height that it comes from, over the viscosity. The step is solid cells, the lower half of the
//! channel of the catalogue, so that its surface lies half a cell outside of them, where the channel's walls lie, too.
//!
//! Source: E. Erturk: Numerical solutions of 2-D steady incompressible flow over a backward-facing step, Part I,
//! Computers and Fluids 37, 2008 (expansion 2; the length at Reynolds number 100 is 2.922 steps: quoted, not read in
//! the paper; the documentation of the solver Lethe has 2.896 steps, 0.8 % off it); Armaly, Durst, Pereira, Schoenung,
//! J. Fluid Mech. 127, 1983 (the experiment, expansion 1.94).

use ndarray::IxDyn;

use crate::catalogue::Case;
use crate::fields::{Field, Fields};
use crate::lbm::entries::D2Q9_CYLINDER;
use crate::lbm::inflow::{INFLOW, SOLID};
use crate::lbm::{Lattice, VelocitySet, fluid};
use crate::physics::{Axis, Check, Figure, PhysicsError, Simulation, positive, relative};

/// A run of the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Height of the step and of the channel before it, in cells.
    pub height: usize,
    /// Reynolds number.
    pub reynolds: f64,
    /// Mean speed before the step, in cells per step of time.
    pub u_mean: f64,
}

/// Heights from the inlet to the step, and from there to the outlet.
const BEFORE: usize = 4;
const BEHIND: usize = 12;
/// The flow counts as steady when it changes less than this, over the mean speed, while it moves by one height.
const STEADY: f64 = 1e-5;
/// Heights that it moves at most until then.
const MOST_HEIGHTS: u64 = 600;

impl Step {
    /// The length of the eddy behind the step over its height against a reference; `limit` is relative.
    ///
    /// # Errors
    /// [`PhysicsError`] if the case makes no sense, or the flow does not become steady.
    pub fn check(&self, reference: f64, limit: f64, threads: Option<usize>) -> Result<Check, PhysicsError> {
        let height = self.height as f64;
        let flux = 2.0 * height * positive("the mean speed", self.u_mean)?;
        let viscosity = positive("the viscosity", flux / positive("the Reynolds number", self.reynolds)?)?;
        let scalars = [("omega", fluid::relaxation(viscosity)), ("u_mean", self.u_mean)];
        let [ny, nx] = self.shape();
        let case = Case {
            sizes: [("NY", ny), ("NX", nx)].map(|(name, cells)| (name.to_owned(), cells as i64)).to_vec(),
            steps: 0,
            scalars: scalars.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        };
        let mut simulation = Simulation::new(&D2Q9_CYLINDER, &case, &self.initial()?, threads)?;
        let every = (height / self.u_mean).ceil() as u64;
        let steady = simulation.settle(self.u_mean, every, STEADY, MOST_HEIGHTS * every)?;
        let along = &steady.velocity()[1];
        let computed = reattachment(along, BEFORE * self.height) / height;
        let figure = Figure::new(
            "step",
            "Friction at the wall behind a backward-facing step, Reynolds number 100",
            "Erturk 2008: where the eddy ends",
            Axis::linear("distance behind the step / height of the step"),
            Axis::linear("slope of the velocity at the wall x height / mean velocity"),
        );
        let columns = BEFORE * self.height..(BEFORE + BEHIND * 2 / 3) * self.height;
        let distance = |x: usize| (x as f64 + 0.5) / height - BEFORE as f64;
        let friction = columns.map(|x| [distance(x), friction(along, x) * height / self.u_mean]);
        let figure = figure.line("computed", friction).known_points("published", [[reference, 0.0]]);
        Ok(Check {
            kernel: D2Q9_CYLINDER.name,
            quantity: "eddy behind a step, over its height".to_owned(),
            source: "Erturk 2008",
            setting: [("Re", self.reynolds), ("NY", ny as f64), ("NX", nx as f64), ("u_mean", self.u_mean)].into(),
            steps: simulation.steps(),
            storage_bytes: simulation.storage_bytes(),
            computed,
            reference,
            deviation: relative(computed, reference),
            limit,
            figures: vec![figure],
        })
    }

    fn shape(&self) -> [usize; 2] {
        [2 * self.height, (BEFORE + BEHIND) * self.height]
    }

    /// The mask, the inflow above the step, and a flow that is that of the inlet everywhere above the step.
    fn initial(&self) -> Result<Fields, PhysicsError> {
        let [ny, nx] = self.shape();
        let above = |y: usize| {
            let position = (y as f64 + 0.5) / self.height as f64 - 1.0;
            if position > 0.0 { 6.0 * position * (1.0 - position) } else { 0.0 }
        };
        let set = VelocitySet::new(Lattice::D2Q9);
        let mut fields = fluid::populations(&set, &[ny, nx], |site| vec![0.0, self.u_mean * above(site[0])])?;
        let inflow = Field::from_shape_fn(IxDyn(&[ny]), |at| above(at[0]));
        let inside = |y: usize, x: usize| y < self.height && x < BEFORE * self.height;
        let solid = Field::from_shape_fn(IxDyn(&[ny, nx]), |at| f64::from(u8::from(inside(at[0], at[1]))));
        fields.extend([(INFLOW.to_owned(), inflow), (SOLID.to_owned(), solid)]);
        Ok(fields)
    }
}

/// The slope of the velocity at the lower wall: that of the parabola through it and the first two cells.
fn friction(along: &Field, x: usize) -> f64 {
    3.0 * along[[0, x]] - along[[1, x]] / 3.0
}

/// The distance behind a place at which the friction at the lower wall changes its sign; infinite if it does not.
fn reattachment(along: &Field, from: usize) -> f64 {
    let (slope, length) = (|x: usize| friction(along, x), along.shape()[1]);
    // The eddy begins behind the first cell, where the flow at the wall runs towards the step.
    let begins = (from..length).find(|&x| slope(x) < 0.0).unwrap_or(length);
    let ends = (begins..length).find(|&x| slope(x) >= 0.0);
    ends.map_or(f64::INFINITY, |x| {
        let (before, behind) = (slope(x - 1), slope(x));
        (x as f64 - behind / (behind - before)) + 0.5 - from as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_that_turns_at_a_place_attaches_there() {
        // u = y (x - 7.25) in coordinates whose wall is at y = 0 and whose first cell covers 0 .. 1.
        let along = Field::from_shape_fn(IxDyn(&[4, 20]), |at| (at[0] as f64 + 0.5) * (at[1] as f64 + 0.5 - 7.25));
        assert!((reattachment(&along, 3) - 4.25).abs() < 1e-12);
        assert_eq!(reattachment(&-along, 8), f64::INFINITY);
    }
}

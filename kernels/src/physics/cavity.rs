//! The lid-driven cavity against the tables of Ghia, Ghia and Shin.
//!
//! In: a Reynolds number, cells per side, speed of the lid.   Out: the largest deviation on each centre line.
//!
//! Walls lie half a cell outside the outermost centres, so that the side is `N` cells; velocities between centres, and
//! between centres and walls, are interpolated by cubic polynomials.

use ndarray::Axis as Dimension;

use crate::catalogue::{Case, Entry};
use crate::fields::Field;
use crate::lbm::entries::{D2Q9_CAVITY, D2Q9_CAVITY_F16, D2Q9_CAVITY_F32};
use crate::lbm::{Lattice, Storage, VelocitySet, cumulant, fluid, raw_moments};
use crate::physics::ghia::{Point, Reynolds};
use crate::physics::{Axis, Check, Figure, PhysicsError, Simulation, positive};

/// A run of the cavity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cavity {
    /// Reynolds number of the tables.
    pub reynolds: Reynolds,
    /// Cells per side.
    pub n: usize,
    /// Speed of the lid in cells per step; the error of compressibility grows with its square.
    pub u_lid: f64,
}

/// Velocities on the centre lines over that of the lid, at the steady state.
#[derive(Clone, Debug, PartialEq)]
pub struct CentreLines {
    cavity: Cavity,
    /// Name of the kernel that ran.
    kernel: &'static str,
    /// Horizontal velocity from the bottom to the lid: both walls and the cell centres between them.
    u: Vec<f64>,
    /// Vertical velocity from the left wall to the right one.
    v: Vec<f64>,
    steps: u64,
    storage_bytes: u64,
}

/// The flow counts as steady when it changes less than this, over the lid's speed, while the lid moves by one side.
const STEADY: f64 = 1e-5;
/// The same in half precision, whose rounding alone moves velocities by about half of it.
const STEADY_IN_HALVES: f64 = 1e-3;
/// Sides that the lid moves at most: the slowest vortices at Reynolds number 400 need less than a hundred.
const MOST_SIDES: u64 = 400;

impl Cavity {
    /// Runs from rest to the steady state.
    ///
    /// # Errors
    /// [`PhysicsError`] if the case makes no sense, or the flow does not become steady.
    pub fn run(&self, threads: Option<usize>) -> Result<CentreLines, PhysicsError> {
        self.run_in(Storage::Double, threads)
    }

    /// The same with arrays of less precision.
    ///
    /// # Errors
    /// As [`Cavity::run`].
    pub fn run_in(&self, storage: Storage, threads: Option<usize>) -> Result<CentreLines, PhysicsError> {
        let (entry, tolerance) = match storage {
            Storage::Double => (&D2Q9_CAVITY, STEADY),
            Storage::Single => (&D2Q9_CAVITY_F32, STEADY),
            Storage::Half => (&D2Q9_CAVITY_F16, STEADY_IN_HALVES),
        };
        self.run_entry(entry, &[], storage, tolerance, threads)
    }

    /// The same with central moments, all of which but the stress relax at once.
    ///
    /// # Errors
    /// As [`Cavity::run`].
    pub fn run_central(&self, threads: Option<usize>) -> Result<CentreLines, PhysicsError> {
        let rates = [("s_bulk", 1.0), ("s_third", 1.0), ("s_fourth", 1.0)];
        self.run_entry(&cumulant::PLANE, &rates, Storage::Double, STEADY, threads)
    }

    /// The same, raw moments that relax with further rates.
    ///
    /// # Errors
    /// As [`Cavity::run`].
    pub fn run_raw(&self, threads: Option<usize>) -> Result<CentreLines, PhysicsError> {
        let rates = [("s_bulk", 1.1), ("s_third", 1.8), ("s_fourth", 1.1)];
        self.run_entry(&raw_moments::CAVITY, &rates, Storage::Double, STEADY, threads)
    }

    fn run_entry(
        &self,
        entry: &Entry,
        rates: &[(&str, f64)],
        storage: Storage,
        tolerance: f64,
        threads: Option<usize>,
    ) -> Result<CentreLines, PhysicsError> {
        let (n, u_lid) = (self.n, positive("the lid's speed", self.u_lid)?);
        let viscosity = u_lid * n as f64 / self.reynolds.number();
        let scalars = [("omega", fluid::relaxation(viscosity)), ("u_lid", u_lid)];
        let case = Case {
            sizes: vec![("N".to_owned(), n as i64)],
            steps: 0,
            scalars: scalars.iter().chain(rates).map(|&(name, value)| (name.to_owned(), value)).collect(),
        };
        let set = VelocitySet::new(Lattice::D2Q9);
        let rest = storage.held(&set, fluid::populations(&set, &[n, n], |_| vec![0.0; 2])?);
        let mut simulation = Simulation::new(entry, &case, &rest, threads)?;
        let side = (n as f64 / u_lid).ceil() as u64;
        let steady = simulation.settle(u_lid, side, tolerance, MOST_SIDES * side)?;
        Ok(CentreLines {
            cavity: *self,
            kernel: entry.name,
            u: centre_line(&steady.velocity()[1], 1, u_lid, 1.0),
            v: centre_line(&steady.velocity()[0], 0, u_lid, 0.0),
            steps: simulation.steps(),
            storage_bytes: simulation.storage_bytes(),
        })
    }
}

impl CentreLines {
    /// Horizontal velocity at a height from 0 to 1.
    pub fn u(&self, height: f64) -> f64 {
        at(&self.u, height)
    }

    /// Vertical velocity at a distance from 0 to 1.
    pub fn v(&self, distance: f64) -> f64 {
        at(&self.v, distance)
    }

    /// Both lines against the tables, at the point where each is furthest off; `limit` is over the lid's speed.
    pub fn checks(&self, limit: f64) -> Vec<Check> {
        let reynolds = self.cavity.reynolds;
        let u = self.check("u on the vertical centre line", &self.u, &reynolds.u(), limit);
        let v = self.check("v on the horizontal centre line", &self.v, &reynolds.v(), limit);
        u.map(|check| check.drawn(self.figure())).into_iter().chain(v).collect()
    }

    /// Both lines and the tables.
    fn figure(&self) -> Figure {
        let Cavity { reynolds, n, .. } = self.cavity;
        let run = format!("{n}^2 cells, {}", self.kernel.trim_start_matches("lbm-d2q9-"));
        Figure::new(
            &format!("cavity-{}", reynolds.number()),
            &format!("Centre lines of a driven cavity, Reynolds number {}", reynolds.number()),
            "Ghia, Ghia, Shin 1982",
            Axis::linear("distance along the line / side"),
            Axis::linear("velocity across the line / velocity of the lid"),
        )
        .line(format!("u, {run}"), drawn_line(&self.u))
        .line(format!("v, {run}"), drawn_line(&self.v))
        .known_points("u, published", reynolds.u().iter().map(|point| [point.position, point.velocity]))
        .known_points("v, published", reynolds.v().iter().map(|point| [point.position, point.velocity]))
    }

    /// None if nothing was published.
    fn check(&self, quantity: &str, line: &[f64], published: &[Point], limit: f64) -> Option<Check> {
        let Cavity { reynolds, n, u_lid } = self.cavity;
        let worst = worst(line, published)?;
        let computed = at(line, worst.position);
        Some(Check {
            kernel: self.kernel,
            quantity: format!("{quantity}, at {}", worst.position),
            source: "Ghia, Ghia, Shin 1982",
            setting: [("Re", reynolds.number()), ("N", n as f64), ("u_lid", u_lid)].into(),
            steps: self.steps,
            storage_bytes: self.storage_bytes,
            computed,
            reference: worst.velocity,
            deviation: (computed - worst.velocity).abs(),
            limit,
            figures: Vec::new(),
        })
    }
}

/// A line as it is drawn.
pub(super) fn drawn_line(line: &[f64]) -> impl Iterator<Item = [f64; 2]> {
    (0..=60).map(|k| f64::from(k) / 60.0).map(|position| [position, at(line, position)])
}

/// The published point where the line is furthest off; a NaN is further than any number.
pub(super) fn worst(line: &[f64], published: &[Point]) -> Option<Point> {
    let off = |point: &Point| {
        let off = (at(line, point.position) - point.velocity).abs();
        if off.is_nan() { f64::INFINITY } else { off }
    };
    published.iter().copied().max_by(|a, b| off(a).total_cmp(&off(b)))
}

/// Velocities at the middle of `axis`, along the other one, over `speed`; 0 at the low wall and `end` at the high one.
fn centre_line(velocity: &Field, axis: usize, speed: f64, end: f64) -> Vec<f64> {
    let inner = velocity.axis_iter(Dimension(1 - axis)).map(|across| {
        let across: Vec<f64> = [0.0].into_iter().chain(across.iter().copied()).chain([0.0]).collect();
        at(&across, 0.5) / speed
    });
    [0.0].into_iter().chain(inner).chain([end]).collect()
}

/// The cubic through the four nearest of: a wall at 0, cell centres, a wall at 1.
pub(super) fn at(line: &[f64], position: f64) -> f64 {
    let cells = line.len() - 2;
    let place = |i: usize| match i {
        0 => 0.0,
        i if i <= cells => (i as f64 - 0.5) / cells as f64,
        _ => 1.0,
    };
    let above = (0..line.len()).position(|i| place(i) > position).unwrap_or(line.len());
    let first = above.saturating_sub(2).min(line.len() - 4.min(line.len()));
    let nodes = first..line.len().min(first + 4);
    let weight = |i: usize| {
        let others = nodes.clone().filter(|&j| j != i);
        others.map(|j| (position - place(j)) / (place(i) - place(j))).product::<f64>()
    };
    nodes.clone().map(|i| weight(i) * line[i]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubics_between_centres_and_walls_are_exact() {
        let cubic = |x: f64| 1.0 + x - 3.0 * x * x + 2.5 * x * x * x;
        let places = [0.0].into_iter().chain((0..7).map(|i| (f64::from(i) + 0.5) / 7.0)).chain([1.0]);
        let line: Vec<f64> = places.map(cubic).collect();
        assert!([0.0, 0.01, 0.3, 0.5, 0.97, 1.0].iter().all(|&x| (at(&line, x) - cubic(x)).abs() < 1e-14));
    }
}

//! Patterns of two substances that react and spread: how a mode grows, and the classes of what becomes of a spot.
//!
//! In: rates of the reaction.   Out: the growth of a mode in a step against the linear theory of the scheme; number and
//! shape of the patches where the second substance is.
//!
//! Around a homogeneous state that does not change, a mode of wave number `k` is multiplied in a step by an eigenvalue
//! of `1 + J - 4 sin(k/2)^2 diag(du, dv)` with the reaction's Jacobian `J`. That is exact for the scheme, so that only
//! the square of the amplitude is left out. Where the state is stable and a mode grows, the instability is Turing's.
//!
//! What patches look like is measured by their roundness: the square of their outline, counted in edges of cells, over
//! their area. A disc of diameter `d` has `(4 d)^2 / (pi d^2 / 4) = 64 / pi = 20.4`; a stripe of width `w` and length
//! `l` has about `4 l / w`, which grows with its length. Three of Pearson's classes are told apart:
//!
//! - uniform: the second substance is gone;
//! - spots that replicate: at least four patches where there was one, on average as compact as discs;
//! - stripes: a patch whose outline is that of four discs or more.
//!
//! Source: Turing, Phil. Trans. R. Soc. B 237, 1952; Pearson: Complex patterns in a simple system, Science 261, 1993.

use std::f64::consts::TAU;

use ndarray::IxDyn;

use crate::catalogue::Case;
use crate::fields::{Field, Fields};
use crate::physics::{Axis, Check, Figure, PhysicsError, Simulation, relative};
use crate::stencil::periodic;

/// Rates of the reaction; the first substance spreads twice as fast as the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reaction {
    /// Rate at which the first substance is fed and both are removed.
    pub feed: f64,
    /// Rate at which the second one decays beyond that.
    pub kill: f64,
}

/// What becomes of a spot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Nothing is left.
    Uniform,
    /// It divides, and so do those that it becomes.
    Spots,
    /// It grows into stripes.
    Stripes,
}

const SPREADING: [f64; 2] = [0.16, 0.08];
/// A patch is where the second substance has more than this.
const PATCH: f64 = 0.2;
/// Square of the outline over the area of a disc, whose outline is that of the square around it.
const DISC: f64 = 64.0 / std::f64::consts::PI;

impl Pattern {
    /// Rates with which it appears.
    fn reaction(self) -> Reaction {
        match self {
            Pattern::Uniform => Reaction { feed: 0.06, kill: 0.075 },
            Pattern::Spots => Reaction { feed: 0.035, kill: 0.065 },
            Pattern::Stripes => Reaction { feed: 0.04, kill: 0.06 },
        }
    }

    /// What becomes of a spot in a box of `n` by `n` cells; `limit` is for the shape of spots, relative.
    ///
    /// # Errors
    /// [`PhysicsError`] if there are fewer than three cells along a side.
    pub fn check(self, n: usize, steps: u64, limit: f64, threads: Option<usize>) -> Result<Check, PhysicsError> {
        let reaction = self.reaction();
        let spot = |inside: f64, outside: f64| {
            let near = |at: usize| (at as f64 + 0.5 - 0.5 * n as f64).abs() < 10.0;
            Field::from_shape_fn(IxDyn(&[n, n]), |at| if near(at[0]) && near(at[1]) { inside } else { outside })
        };
        let initial = Fields::from([("u".to_owned(), spot(0.5, 1.0)), ("v".to_owned(), spot(0.25, 0.0))]);
        let mut simulation = reaction.start(n, &initial, threads)?;
        simulation.advance(steps)?;
        let v = &simulation.fields()?["v"];
        let figure = Figure::new(
            "gray-scott",
            "What becomes of a spot of the second substance",
            "Pearson 1993: classes of patterns",
            Axis::linear("x"),
            Axis::linear("y"),
        );
        let figure = figure.map(format!("feed {}, kill {}", reaction.feed, reaction.kill), v, PATCH);
        let patches = patches(v);
        let count = patches.len() as f64;
        let largest = patches.iter().map(|patch| patch.shape()).fold(0.0, f64::max);
        let mean = patches.iter().map(|patch| patch.shape()).sum::<f64>() / count;
        // A class is a bound: beyond it nothing is missing.
        let (quantity, computed, reference, deviation) = match self {
            Pattern::Uniform => {
                let most = v.iter().copied().fold(0.0, f64::max);
                ("most of the second substance".to_owned(), most, 0.0, most)
            }
            Pattern::Spots if count < 4.0 => ("patches, at least".to_owned(), count, 4.0, f64::INFINITY),
            Pattern::Spots => (format!("roundness of {count} spots, a disc has"), mean, DISC, relative(mean, DISC)),
            Pattern::Stripes => {
                let missing = (1.0 - largest / (4.0 * DISC)).max(0.0);
                ("roundness of a stripe, at least that of four discs".to_owned(), largest, 4.0 * DISC, missing)
            }
        };
        Ok(reaction
            .result(quantity, "Pearson 1993", n, &simulation, [computed, reference, deviation, limit])
            .drawn(figure))
    }
}

impl Reaction {
    /// The growth in a step of a mode of so many waves along `x` around the homogeneous state, after so many steps;
    /// `limit` is relative to what a mode grows by.
    ///
    /// # Errors
    /// [`PhysicsError::Setting`] if there is no such state, or the mode turns as it grows.
    pub fn check_growth(
        self,
        n: usize,
        waves: usize,
        steps: u64,
        limit: f64,
        threads: Option<usize>,
    ) -> Result<Check, PhysicsError> {
        let amplitude = 1e-7;
        let state = self.state()?;
        let angle = TAU * waves as f64 / n as f64;
        let (growth, shape) = self.mode(state, -4.0 * (angle / 2.0).sin().powi(2))?;
        let mode = Field::from_shape_fn(IxDyn(&[n, n]), |at| (angle * at[1] as f64).cos());
        let field = |k: usize| state[k] + amplitude * shape[k] * &mode;
        let initial = Fields::from([("u".to_owned(), field(0)), ("v".to_owned(), field(1))]);
        let mut simulation = self.start(n, &initial, threads)?;
        simulation.advance(steps)?;
        let found = (&simulation.fields()?["u"] - state[0]) * &mode;
        let found = found.sum() / mode.mapv(|value| value * value).sum() / (amplitude * shape[0]);
        let computed = found.powf(1.0 / steps as f64) - 1.0;
        let reference = growth - 1.0;
        let quantity = format!("growth in a step of {waves} waves");
        let numbers = [computed, reference, relative(computed, reference), limit];
        let figure = Figure::new(
            "gray-scott-modes",
            "Growth of modes around a homogeneous state",
            "linear theory of the scheme",
            Axis::linear("wave number, in 1 / cell"),
            Axis::linear("growth in a step"),
        );
        let theory = |angle: f64| self.mode(state, -4.0 * (angle / 2.0).sin().powi(2)).map(|(growth, _)| growth - 1.0);
        let known = (1..=60).map(|k| 0.03 * f64::from(k)).filter_map(|angle| Some([angle, theory(angle).ok()?]));
        let figure = figure.points("computed", [[angle, computed]]).known_line("theory", known);
        Ok(self.result(quantity, "dispersion relation", n, &simulation, numbers).drawn(figure))
    }

    /// The homogeneous state that does not change and has most of the second substance.
    fn state(self) -> Result<[f64; 2], PhysicsError> {
        let removed = self.feed + self.kill;
        let root = 1.0 - 4.0 * removed * removed / self.feed;
        let needed = "so small that a state with both substances exists";
        let root = if root > 0.0 {
            root.sqrt()
        } else {
            return Err(PhysicsError::Setting { name: "the rate of decay", value: self.kill, expected: needed });
        };
        let u = 0.5 * (1.0 - root);
        Ok([u, self.feed * (1.0 - u) / removed])
    }

    /// The larger eigenvalue of a mode whose second difference is `curvature`, and its eigenvector.
    fn mode(self, [u, v]: [f64; 2], curvature: f64) -> Result<(f64, [f64; 2]), PhysicsError> {
        let [a, b] = [1.0 - v * v - self.feed + SPREADING[0] * curvature, -2.0 * u * v];
        let [c, d] = [v * v, 1.0 + 2.0 * u * v - (self.feed + self.kill) + SPREADING[1] * curvature];
        let discriminant = (a - d).powi(2) + 4.0 * b * c;
        if discriminant <= 0.0 {
            let expected = "such that modes do not turn";
            return Err(PhysicsError::Setting { name: "the curvature", value: curvature, expected });
        }
        let growth = 0.5 * (a + d + discriminant.sqrt());
        Ok((growth, [b, growth - a]))
    }

    fn start(self, n: usize, initial: &Fields, threads: Option<usize>) -> Result<Simulation, PhysicsError> {
        let scalars = [("du", SPREADING[0]), ("dv", SPREADING[1]), ("feed", self.feed), ("kill", self.kill)];
        let case = Case {
            sizes: vec![("N".to_owned(), n as i64)],
            steps: 0,
            scalars: scalars.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        };
        Simulation::new(&periodic::REACTION, &case, initial, threads)
    }

    fn result(
        self,
        quantity: String,
        source: &'static str,
        n: usize,
        simulation: &Simulation,
        [computed, reference, deviation, limit]: [f64; 4],
    ) -> Check {
        Check {
            kernel: periodic::REACTION.name,
            quantity,
            source,
            setting: [("N", n as f64), ("feed", self.feed), ("kill", self.kill)].into(),
            steps: simulation.steps(),
            storage_bytes: simulation.storage_bytes(),
            computed,
            reference,
            deviation,
            limit,
            figures: Vec::new(),
        }
    }
}

/// Cells that hang together across edges, on a torus.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Patch {
    cells: usize,
    /// Edges to cells outside.
    outline: usize,
}

impl Patch {
    /// The square of the outline over the area.
    fn shape(self) -> f64 {
        (self.outline * self.outline) as f64 / self.cells as f64
    }
}

/// All patches of a square field.
fn patches(field: &Field) -> Vec<Patch> {
    let n = field.shape()[0];
    let is_inside = |[y, x]: [usize; 2]| field[[y, x]] > PATCH;
    let around = |[y, x]: [usize; 2]| [[(y + 1) % n, x], [(y + n - 1) % n, x], [y, (x + 1) % n], [y, (x + n - 1) % n]];
    let mut seen = vec![false; n * n];
    let mut patches = Vec::new();
    for first in (0..n * n).map(|at| [at / n, at % n]) {
        let (mut patch, mut next) = (Patch::default(), vec![first]);
        while let Some(cell) = next.pop() {
            if is_inside(cell) && !std::mem::replace(&mut seen[cell[0] * n + cell[1]], true) {
                patch.cells += 1;
                patch.outline += around(cell).iter().filter(|&&other| !is_inside(other)).count();
                next.extend(around(cell));
            }
        }
        patches.extend((patch.cells > 0).then_some(patch));
    }
    patches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_are_counted_across_the_ends_and_measured() {
        let cells = |inside: &dyn Fn(usize, usize) -> bool| {
            patches(&Field::from_shape_fn(IxDyn(&[40, 40]), |at| if inside(at[0], at[1]) { 1.0 } else { 0.0 }))
        };
        let corner = cells(&|y, x| (y + 2) % 40 < 4 && (x + 2) % 40 < 4);
        assert_eq!(corner, [Patch { cells: 16, outline: 16 }]);
        let disc = cells(&|y, x| (y as f64 - 19.5).powi(2) + (x as f64 - 19.5).powi(2) < 15.0 * 15.0);
        assert!(disc.len() == 1 && relative(disc[0].shape(), DISC) < 0.05, "{disc:?}");
        let stripes = cells(&|y, _| y % 10 < 3);
        assert!(stripes.len() == 4 && stripes[0].shape() == 80.0 * 80.0 / 120.0, "{stripes:?}");
    }

    #[test]
    fn the_homogeneous_state_does_not_change() {
        let reaction = Reaction { feed: 0.058, kill: 0.062 };
        let [u, v] = reaction.state().unwrap();
        assert!((u * v * v - reaction.feed * (1.0 - u)).abs() < 1e-15);
        assert!((u * v * v - (reaction.feed + reaction.kill) * v).abs() < 1e-15);
        assert!(Reaction { feed: 0.04, kill: 0.07 }.state().is_err());
    }
}

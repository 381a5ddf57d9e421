//! Walls between cells: the flow between two plates, one of which moves, wherever they lie.
//!
//! In: distances of the plates from the outermost cells.   Out: the velocity that is furthest off.
//!
//! Where the profile is straight, so are populations along a link, and linear interpolation is exact: only rounding is
//! left.
//!
//! Source: Couette's flow; Bouzidi, Firdaouss, Lallemand, Phys. Fluids 13, 2001.

use ndarray::IxDyn;

use crate::catalogue::Case;
use crate::fields::Field;
use crate::lbm::interpolated::{SPEED, WALLS, cut};
use crate::lbm::{Lattice, VelocitySet, fluid};
use crate::physics::{Axis, Check, Figure, PhysicsError, Simulation};

/// Speed of the upper plate, in cells per step.
const SPEED_UP: f64 = 0.02;
const OMEGA: f64 = 1.3;
/// The run, in the time that momentum takes from plate to plate.
const TIMES: f64 = 3.0;

/// Two plates and the cells between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plates {
    /// Rows of cells.
    pub rows: usize,
    /// How far below the lowest and above the highest the plates lie, in cells, from 0 to 1.
    pub distances: [f64; 2],
}

impl Plates {
    /// The steady velocity that is furthest off, over the speed of the plate.
    ///
    /// # Errors
    /// [`PhysicsError`] if there are fewer than three rows.
    pub fn check(&self, limit: f64, threads: Option<usize>) -> Result<Check, PhysicsError> {
        let (set, shape) = (VelocitySet::new(Lattice::D2Q9), [self.rows, 3]);
        let mut initial = fluid::populations(&set, &shape, |_| vec![0.0; 2])?;
        let top = self.rows - 1;
        for q in 0..set.len() {
            // A population that moves upwards comes from below.
            let distance = |y: usize| match set.velocity(q)[0] {
                1 if y == 0 => self.distances[0],
                -1 if y == top => self.distances[1],
                _ => 0.0,
            };
            initial.insert(cut(q), Field::from_shape_fn(IxDyn(&shape), |at| distance(at[0])));
        }
        let speed = |y: usize| if y == top { SPEED_UP } else { 0.0 };
        initial.insert(SPEED.to_owned(), Field::from_shape_fn(IxDyn(&shape), |at| speed(at[0])));
        let case = Case {
            sizes: vec![("NY".to_owned(), shape[0] as i64), ("NX".to_owned(), shape[1] as i64)],
            steps: 0,
            scalars: vec![("omega".to_owned(), OMEGA)],
        };
        let mut simulation = Simulation::new(&WALLS, &case, &initial, threads)?;
        let height = top as f64 + self.distances[0] + self.distances[1];
        // What is not steady falls by the factor `exp(-pi^2)` in the time that momentum takes across.
        let across = height * height / fluid::viscosity(OMEGA);
        simulation.advance((TIMES * across).ceil() as u64)?;
        let steady = simulation.fluid()?;
        let expected = |y: usize| SPEED_UP * (y as f64 + self.distances[0]) / height;
        let off = |y: usize| (steady.velocity()[1][[y, 1]] - expected(y)).abs() / SPEED_UP;
        let worst = (0..self.rows).max_by(|&a, &b| off(a).total_cmp(&off(b))).unwrap_or(0);
        let profile = (0..self.rows).map(|y| [expected(y), steady.velocity()[1][[y, 1]]]);
        let figure = Figure::new(
            "walls",
            "Flow between plates that lie between cells, interpolated bounce-back",
            "Couette",
            Axis::linear("distance from the lower plate / distance of the plates"),
            Axis::linear("velocity / velocity of the upper plate"),
        );
        let [below, above] = self.distances;
        let figure = figure
            .points(format!("plates {below} below and {above} above"), profile.map(|point| point.map(|v| v / SPEED_UP)))
            .known_line("exact", [[0.0, 0.0], [1.0, 1.0]]);
        Ok(Check {
            kernel: WALLS.name,
            quantity: format!("velocity between plates, row {worst}"),
            source: "Couette, exact",
            setting: [("rows", self.rows as f64), ("below", self.distances[0]), ("above", self.distances[1])].into(),
            steps: simulation.steps(),
            storage_bytes: simulation.storage_bytes(),
            computed: steady.velocity()[1][[worst, 1]],
            reference: expected(worst),
            deviation: off(worst),
            limit,
            figures: vec![figure],
        })
    }
}

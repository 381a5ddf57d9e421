//! Explicit diffusion against its analytic solution: the error falls with the square of the distance of the points.
//!
//! In: a kernel of one or two dimensions, a number of intervals.   Out: the observed order in space.
//!
//! `sin(pi x)`, or `sin(pi x) sin(pi y)`, on the unit interval or square decays as `exp(-d pi^2 t)` for `d` dimensions.
//! The step is `k h^2` with `k` fixed, so that halving `h` takes four times the steps to the same time; a `k` of 1/6
//! would cancel the leading error and is avoided.

use std::f64::consts::PI;

use ndarray::{Dimension, IxDyn};

use crate::catalogue::{Case, Entry};
use crate::fields::{Field, Fields};
use crate::physics::{Axis, Check, Figure, PhysicsError, Simulation, relative};
use crate::stencil::{heat_1d, heat_2d};

/// Which equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heat {
    /// On a line: `heat-1d`, `k` = 1/4.
    Line,
    /// On a square: `heat-2d-5pt`, `k` = 1/8.
    Square,
}

/// Steps so far times `k h^2`: the time at which solutions are compared, in units of side squared over diffusivity.
const TIME: f64 = 0.125;

/// A solution at the end.
struct Solution {
    /// Largest difference from the analytic one.
    error: f64,
    steps: u64,
    storage_bytes: u64,
}

impl Heat {
    fn entry(self) -> &'static Entry {
        match self {
            Heat::Line => &heat_1d::ENTRY,
            Heat::Square => &heat_2d::ENTRY,
        }
    }

    fn dims(self) -> usize {
        match self {
            Heat::Line => 1,
            Heat::Square => 2,
        }
    }

    fn k(self) -> f64 {
        0.25 / self.dims() as f64
    }

    /// Compares the errors with `intervals` and with twice as many; `limit` is that of the order, relative to 2.
    ///
    /// # Errors
    /// [`PhysicsError`] if `intervals` is odd or less than 2.
    pub fn check(self, intervals: usize, limit: f64, threads: Option<usize>) -> Result<Check, PhysicsError> {
        if intervals < 2 || intervals % 2 == 1 {
            let value = intervals as f64;
            return Err(PhysicsError::Setting {
                name: "the number of intervals",
                value,
                expected: "even and positive",
            });
        }
        let (coarse, fine) = (self.solve(intervals, threads)?, self.solve(2 * intervals, threads)?);
        let order = (coarse.error / fine.error).log2();
        let distances = [1.0, 2.0].map(|finer| 1.0 / (finer * intervals as f64));
        let figure = Figure::new(
            "order-heat",
            "Error of explicit diffusion",
            "second order in space",
            Axis::logarithmic("distance of points / side"),
            Axis::logarithmic("largest error / largest value at the start"),
        );
        let name = self.entry().name;
        let figure = figure.points(name, [[distances[0], coarse.error], [distances[1], fine.error]]).known_line(
            format!("{name}, second order"),
            distances.map(|h| [h, coarse.error * (h / distances[0]).powi(2)]),
        );
        Ok(Check {
            kernel: self.entry().name,
            quantity: "order in space".to_owned(),
            source: "analytic",
            setting: [("intervals", intervals as f64), ("k", self.k())].into(),
            steps: fine.steps,
            storage_bytes: fine.storage_bytes,
            computed: order,
            reference: 2.0,
            deviation: relative(order, 2.0),
            limit,
            figures: vec![figure],
        })
    }

    fn solve(self, intervals: usize, threads: Option<usize>) -> Result<Solution, PhysicsError> {
        let case = Case {
            sizes: vec![("N".to_owned(), intervals as i64 + 1)],
            steps: 0,
            scalars: vec![("k".to_owned(), self.k())],
        };
        let mode = Field::from_shape_fn(IxDyn(&vec![intervals + 1; self.dims()]), |at| {
            at.slice().iter().map(|&i| (PI * i as f64 / intervals as f64).sin()).product()
        });
        let initial = Fields::from([("u".to_owned(), mode.clone())]);
        let mut simulation = Simulation::new(self.entry(), &case, &initial, threads)?;
        simulation.advance((TIME / self.k() * (intervals * intervals) as f64).round() as u64)?;
        let exact = mode * (-(self.dims() as f64) * PI * PI * TIME).exp();
        let found = simulation.fields()?;
        let differences = found.values().flatten().zip(&exact).map(|(found, exact)| (found - exact).abs());
        let error = differences.fold(0.0, |most: f64, d| if d.is_nan() { d } else { most.max(d) });
        Ok(Solution { error, steps: simulation.steps(), storage_bytes: simulation.storage_bytes() })
    }
}

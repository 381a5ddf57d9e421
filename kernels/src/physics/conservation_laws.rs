//! Conservation laws against their solutions: the order of advection schemes, a shock, a dam that breaks.
//!
//! In: cells.   Out: an order, a speed, a height.
//!
//! A sine on a ring comes back after one turn. A shock of Burgers' equation between 1 and 0 moves at 1/2. Where a dam
//! stood before a dry bed, the water has 4/9 of its height from then on.
//!
//! Source: G.-S. Jiang, C.-W. Shu, J. Comput. Phys. 126, 1996 (order of WENO); A. Ritter, 1892 (dam break).

use std::f64::consts::TAU;

use ndarray::IxDyn;

use crate::catalogue::{Case, Entry};
use crate::fields::{Field, Fields};
use crate::physics::{Axis, Check, Figure, PhysicsError, Simulation, relative};
use crate::stencil::{advection, shallow_water};

/// A scheme of advection on a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advection {
    /// Weighted essentially non-oscillatory, of fifth order in space.
    Weno5,
    /// Centred differences of fourth order, four stages of Runge and Kutta.
    Rk4,
}

/// Courant's number on the coarsest ring.
const COURANT: f64 = 0.4;
/// Cells of that ring, which others are compared with.
const COARSE: f64 = 20.0;

impl Advection {
    fn entry(self) -> &'static Entry {
        match self {
            Advection::Weno5 => &advection::WENO5,
            Advection::Rk4 => &advection::RK4,
        }
    }

    fn order(self) -> f64 {
        match self {
            Advection::Weno5 => 5.0,
            Advection::Rk4 => 4.0,
        }
    }

    /// Courant's number, so small that the third order of the stages in time does not show; and one that divides a turn
    /// into whole steps.
    fn courant(self, cells: usize) -> f64 {
        let finer = match self {
            Advection::Weno5 => (COARSE / cells as f64).powf(2.0 / 3.0),
            Advection::Rk4 => 1.0,
        };
        cells as f64 / (cells as f64 / (COURANT * finer)).ceil()
    }

    /// The order between this many cells and twice as many, from the mean error after one turn; `limit` is relative.
    ///
    /// # Errors
    /// [`PhysicsError`] if there are too few cells.
    pub fn check(self, cells: usize, limit: f64, threads: Option<usize>) -> Result<Check, PhysicsError> {
        let (coarse, _) = self.error(cells, threads)?;
        let (fine, simulation) = self.error(2 * cells, threads)?;
        let computed = (coarse / fine).log2();
        let figure = Figure::new(
            "order-advection",
            "Error of advection once around a ring",
            "orders in space",
            Axis::logarithmic("cells"),
            Axis::logarithmic("mean error"),
        );
        let ends = [1.0, 2.0].map(|finer| finer * cells as f64);
        let name = self.entry().name;
        let figure = figure.points(name, [[ends[0], coarse], [ends[1], fine]]).known_line(
            format!("{name}, order {}", self.order()),
            ends.map(|n| [n, coarse * (ends[0] / n).powf(self.order())]),
        );
        Ok(Check {
            kernel: self.entry().name,
            quantity: "order in space".to_owned(),
            source: "analytic",
            setting: [("N", cells as f64), ("c", self.courant(2 * cells))].into(),
            steps: simulation.steps(),
            storage_bytes: simulation.storage_bytes(),
            computed,
            reference: self.order(),
            deviation: relative(computed, self.order()),
            limit,
            figures: vec![figure],
        })
    }

    fn error(self, cells: usize, threads: Option<usize>) -> Result<(f64, Simulation), PhysicsError> {
        let c = self.courant(cells);
        let sine = Field::from_shape_fn(IxDyn(&[cells]), |at| (TAU * at[0] as f64 / cells as f64).sin());
        let initial = Fields::from([("u".to_owned(), sine.clone())]);
        let sizes = vec![("N".to_owned(), cells as i64)];
        let case = Case { sizes, steps: 0, scalars: vec![("c".to_owned(), c)] };
        let mut simulation = Simulation::new(self.entry(), &case, &initial, threads)?;
        simulation.advance((cells as f64 / c).round() as u64)?;
        let found = &simulation.fields()?["u"];
        let error = (found - &sine).mapv(f64::abs).sum() / cells as f64;
        Ok((error, simulation))
    }
}

/// The speed of a shock between 1 and 0 over so many cells; `limit` is relative.
///
/// # Errors
/// [`PhysicsError`] if there are fewer than three cells.
pub fn shock(cells: usize, limit: f64, threads: Option<usize>) -> Result<Check, PhysicsError> {
    let c = 0.5;
    let step = Field::from_shape_fn(IxDyn(&[cells]), |at| if at[0] < cells / 4 { 1.0 } else { 0.0 });
    let sizes = vec![("N".to_owned(), cells as i64)];
    let case = Case { sizes, steps: 0, scalars: vec![("c".to_owned(), c)] };
    let initial = Fields::from([("u".to_owned(), step)]);
    let mut simulation = Simulation::new(&advection::BURGERS, &case, &initial, threads)?;
    // As far as the middle of what is before it.
    simulation.advance((cells as f64 / 4.0 / (0.5 * c)) as u64)?;
    let found = &simulation.fields()?["u"];
    let behind = found.iter().position(|&value| value < 0.5).unwrap_or(cells);
    // Between the cells around the value in the middle.
    let (left, right) = (found[[behind - 1]], found[[behind.min(cells - 1)]]);
    let position = behind as f64 - 0.5 + (left - 0.5) / (left - right);
    let computed = (position - (cells / 4) as f64) / (c * simulation.steps() as f64);
    let width = 12;
    let shown = behind.saturating_sub(width)..(behind + width).min(cells);
    let exact = (cells / 4) as f64 + 0.5 * c * simulation.steps() as f64;
    let [left_end, right_end] = [shown.start as f64, shown.end as f64];
    let figure = Figure::new(
        "shock",
        "A shock of Burgers' equation, Godunov's method",
        "Rankine, Hugoniot: it moves at half of the velocity behind it",
        Axis::linear("distance, in cells"),
        Axis::linear("velocity"),
    );
    let figure = figure
        .points("computed", shown.map(|at| [at as f64 + 0.5, found[[at]]]))
        .known_line("exact", [[left_end, 1.0], [exact, 1.0], [exact, 0.0], [right_end, 0.0]]);
    Ok(Check {
        kernel: advection::BURGERS.name,
        quantity: "speed of a shock".to_owned(),
        source: "Rankine, Hugoniot",
        setting: [("N", cells as f64), ("c", c)].into(),
        steps: simulation.steps(),
        storage_bytes: simulation.storage_bytes(),
        computed,
        reference: 0.5,
        deviation: relative(computed, 0.5),
        limit,
        figures: vec![figure],
    })
}

/// The height of the water where a dam broke before a bed that is all but dry, over that before; `limit` is relative.
///
/// # Errors
/// [`PhysicsError`] if there are fewer than three cells.
pub fn dam_break(cells: usize, limit: f64, threads: Option<usize>) -> Result<Check, PhysicsError> {
    let (c, dry, width) = (0.2, 1e-6, 3);
    let shape = IxDyn(&[width, cells]);
    let height = Field::from_shape_fn(shape.clone(), |at| if at[1] < cells / 2 { 1.0 } else { dry });
    let still = || Field::zeros(shape.clone());
    let initial = Fields::from([("h".to_owned(), height), ("p".to_owned(), still()), ("q".to_owned(), still())]);
    let case = Case {
        sizes: vec![("NY".to_owned(), width as i64), ("NX".to_owned(), cells as i64)],
        steps: 0,
        scalars: vec![("c".to_owned(), c), ("g".to_owned(), 1.0)],
    };
    let mut simulation = Simulation::new(&shallow_water::PLANE, &case, &initial, threads)?;
    // The front moves by two cells in `1 / c` steps, and has not reached the wall.
    simulation.advance((0.4 * cells as f64 / 2.0 / c) as u64)?;
    let found = &simulation.fields()?["h"];
    let computed = 0.5 * (found[[1, cells / 2 - 1]] + found[[1, cells / 2]]);
    let moved = c * simulation.steps() as f64;
    let place = |at: f64| (at - 0.5 * cells as f64) / moved;
    let ritter = |at: f64| ((2.0 - at.clamp(-1.0, 2.0)) / 3.0).powi(2);
    let figure = Figure::new(
        "dam-break",
        "Water behind a dam that broke",
        "Ritter 1892",
        Axis::linear("distance from the dam / (time x speed of waves behind it)"),
        Axis::linear("height / height behind the dam"),
    );
    let figure = figure
        .points("computed", (0..cells).map(|at| [place(at as f64 + 0.5), found[[1, at]]]))
        .known_line("exact", (-50..=50).map(|k| 0.05 * f64::from(k)).map(|at| [at, ritter(at)]));
    Ok(Check {
        kernel: shallow_water::PLANE.name,
        quantity: "height where the dam was".to_owned(),
        source: "Ritter 1892",
        setting: [("NX", cells as f64), ("c", c), ("bed", dry)].into(),
        steps: simulation.steps(),
        storage_bytes: simulation.storage_bytes(),
        computed,
        reference: 4.0 / 9.0,
        deviation: relative(computed, 4.0 / 9.0),
        limit,
        figures: vec![figure],
    })
}

//! Standing waves against the dispersion relations of their schemes: a string, the resonances of a cavity, and pressure
//! and shear waves between walls.
//!
//! In: points, a mode.   Out: the phase that it turns by in a step.
//!
//! Leapfrog turns a mode by `w` in a step, where `sin(w/2) = c sin(k/2)` with the wave number `k` of the grid, and in
//! two dimensions `sin(w/2)^2 = c^2 (sin(k_y/2)^2 + sin(k_x/2)^2)`; the equation itself has `w = c |k|`. Started
//! between two steps in which it is the same, the mode is `cos(w n)` of its start after `n` steps.
//!
//! In an elastic plane, slopes of a potential are a pressure wave and those of a stream function a shear wave;
//! staggered differences keep them apart, so that the same relation holds with `c` times the speed of each.
//!
//! Source: J. Virieux, Geophysics 51, 1986; A. Taflove, S. Hagness: Computational Electrodynamics, 2005, section 4.2
//! (numerical dispersion).

use std::f64::consts::PI;

use ndarray::{Axis as Dimension, IxDyn, Slice};

use crate::catalogue::{Case, Entry};
use crate::fields::{Field, Fields};
use crate::physics::{Axis, Check, Figure, PhysicsError, Simulation, relative};
use crate::stencil::{elastic, fdtd, wave};

/// Courant's number of the string.
const COURANT: f64 = 0.75;
/// And of the cavity.
const COURANT_2D: f64 = 0.6;
/// Time of a step in the elastic plane over the distance of two cells, and the constants of Lame there.
const COURANT_ELASTIC: f64 = 0.3;
const LAME: f64 = 1.5;
const SHEAR: f64 = 0.8;

/// A wave in an elastic plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elastic {
    /// Of pressure.
    Pressure,
    /// Of shear.
    Shear,
}

/// The phase in a step of a string's mode of so many half waves, after so many steps.
///
/// # Errors
/// [`PhysicsError`] if there are fewer than three points.
pub fn string(
    points: usize,
    half_waves: usize,
    steps: u64,
    limit: f64,
    threads: Option<usize>,
) -> Result<Check, PhysicsError> {
    let wave_number = PI * half_waves as f64 / (points + 1) as f64;
    let phase = 2.0 * (COURANT * (wave_number / 2.0).sin()).asin();
    let mode = Field::from_shape_fn(IxDyn(&[points]), |at| (wave_number * (at[0] + 1) as f64).sin());
    let initial = Fields::from([("u".to_owned(), mode.clone()), ("v".to_owned(), &mode * (1.0 - phase.cos()))]);
    let sizes = vec![("N".to_owned(), points as i64)];
    let case = Case { sizes, steps: 0, scalars: vec![("courant".to_owned(), COURANT)] };
    let setting = [("N", points as f64), ("half waves", half_waves as f64), ("c", COURANT)];
    let ideal = COURANT * wave_number;
    let mut check =
        Turning { entry: &wave::STRING, array: "u", mode, initial, phase, ideal, wave_number, steps, limit }
            .check(&case, &setting, threads)?;
    let relation = |k: f64| [k, 2.0 * (COURANT * (k / 2.0).sin()).asin() / (COURANT * k)];
    let curve = (1..=62).map(|k| relation(0.05 * f64::from(k)));
    check.figures =
        check.figures.into_iter().map(|figure| figure.known_line("relation of the string", curve.clone())).collect();
    Ok(check)
}

/// The phase in a step of the electric field in a cavity of so many half waves along y and x, after so many steps.
///
/// # Errors
/// [`PhysicsError`] if there are fewer than three points along an axis.
pub fn cavity(
    points: [usize; 2],
    half_waves: [usize; 2],
    steps: u64,
    limit: f64,
    threads: Option<usize>,
) -> Result<Check, PhysicsError> {
    let wave_number = |axis: usize| PI * half_waves[axis] as f64 / (points[axis] - 1) as f64;
    let squares = (0..2).map(|axis| (wave_number(axis) / 2.0).sin().powi(2)).sum::<f64>();
    let phase = 2.0 * (COURANT_2D * squares.sqrt()).asin();
    let mode = Field::from_shape_fn(IxDyn(&points), |at| {
        (0..2).map(|axis| (wave_number(axis) * at[axis] as f64).sin()).product()
    });
    // Half a step before the start, magnetic fields are against those of half a step after it.
    let difference = |axis: usize| {
        let above = mode.slice_axis(Dimension(axis), Slice::from(1..));
        let below = mode.slice_axis(Dimension(axis), Slice::from(..-1));
        (&above - &below) * (0.5 * COURANT_2D)
    };
    let initial = Fields::from([
        ("e".to_owned(), mode.clone()),
        ("hx".to_owned(), difference(0)),
        ("hy".to_owned(), -difference(1)),
    ]);
    let sizes = vec![("NY".to_owned(), points[0] as i64), ("NX".to_owned(), points[1] as i64)];
    let case = Case { sizes, steps: 0, scalars: vec![("c".to_owned(), COURANT_2D)] };
    let setting = [
        ("NY", points[0] as f64),
        ("NX", points[1] as f64),
        ("half waves y", half_waves[0] as f64),
        ("half waves x", half_waves[1] as f64),
        ("c", COURANT_2D),
    ];
    let length = (0..2).map(|axis| wave_number(axis).powi(2)).sum::<f64>().sqrt();
    let ideal = COURANT_2D * length;
    Turning { entry: &fdtd::PLANE, array: "e", mode, initial, phase, ideal, wave_number: length, steps, limit }
        .check(&case, &setting, threads)
}

/// The phase in a step of a pressure or a shear wave of so many half waves along y and x, after so many steps.
///
/// # Errors
/// [`PhysicsError`] if there are fewer than four cells along an axis.
pub fn elastic(
    wave: Elastic,
    cells: [usize; 2],
    half_waves: [usize; 2],
    steps: u64,
    limit: f64,
    threads: Option<usize>,
) -> Result<Check, PhysicsError> {
    let [ny, nx] = cells;
    let wave_number = |axis: usize| PI * half_waves[axis] as f64 / cells[axis] as f64;
    let speed = match wave {
        Elastic::Pressure => (LAME + 2.0 * SHEAR).sqrt(),
        Elastic::Shear => SHEAR.sqrt(),
    };
    let squares = (0..2).map(|axis| (wave_number(axis) / 2.0).sin().powi(2)).sum::<f64>();
    let phase = 2.0 * (COURANT_ELASTIC * speed * squares.sqrt()).asin();
    let differences = |field: &Field, axis: usize| {
        &field.slice_axis(Dimension(axis), Slice::from(1..)) - &field.slice_axis(Dimension(axis), Slice::from(..-1))
    };
    // A potential in cells, whose slopes vanish at walls, or a stream function on all corners, which vanishes there.
    let (u, v) = match wave {
        Elastic::Pressure => {
            let potential = Field::from_shape_fn(IxDyn(&cells), |at| {
                (0..2).map(|axis| (wave_number(axis) * (at[axis] as f64 + 0.5)).cos()).product()
            });
            (differences(&potential, 1), differences(&potential, 0))
        }
        Elastic::Shear => {
            let stream = Field::from_shape_fn(IxDyn(&[ny + 1, nx + 1]), |at| {
                (0..2).map(|axis| (wave_number(axis) * at[axis] as f64).sin()).product()
            });
            let (along_y, along_x) = (differences(&stream, 0), differences(&stream, 1));
            let inner =
                |field: Field, axis: usize| field.slice_axis(Dimension(axis), Slice::new(1, Some(-1), 1)).to_owned();
            (inner(along_y, 1), -inner(along_x, 0))
        }
    };
    // Stresses half a step after the start: half of what velocities change them by in a step.
    let walled = |field: &Field, axis: usize| {
        let mut shape = field.shape().to_vec();
        shape[axis] += 2;
        let mut all = Field::zeros(shape);
        all.slice_axis_mut(Dimension(axis), Slice::new(1, Some(-1), 1)).assign(field);
        differences(&all, axis)
    };
    let (along_x, along_y) = (walled(&u, 1), walled(&v, 0));
    let half = 0.5 * COURANT_ELASTIC;
    let normal = |along: &Field| (LAME * (&along_x + &along_y) + 2.0 * SHEAR * along) * half;
    let initial = Fields::from([
        ("lame".to_owned(), Field::from_elem(IxDyn(&cells), LAME)),
        ("shear".to_owned(), Field::from_elem(IxDyn(&cells), SHEAR)),
        ("corner".to_owned(), Field::from_elem(IxDyn(&[ny - 1, nx - 1]), SHEAR)),
        ("p".to_owned(), normal(&along_x)),
        ("q".to_owned(), normal(&along_y)),
        ("s".to_owned(), (differences(&u, 0) + differences(&v, 1)) * (half * SHEAR)),
        ("u".to_owned(), u.clone()),
        ("v".to_owned(), v),
    ]);
    let sizes = vec![("NY".to_owned(), ny as i64), ("NX".to_owned(), nx as i64)];
    let case = Case { sizes, steps: 0, scalars: vec![("c".to_owned(), COURANT_ELASTIC)] };
    let setting = [
        ("NY", ny as f64),
        ("NX", nx as f64),
        ("half waves y", half_waves[0] as f64),
        ("half waves x", half_waves[1] as f64),
        ("speed", speed),
    ];
    let length = (0..2).map(|axis| wave_number(axis).powi(2)).sum::<f64>().sqrt();
    let ideal = COURANT_ELASTIC * speed * length;
    Turning { entry: &elastic::PLANE, array: "u", mode: u, initial, phase, ideal, wave_number: length, steps, limit }
        .check(&case, &setting, threads)
}

/// A mode that turns.
struct Turning {
    entry: &'static Entry,
    array: &'static str,
    mode: Field,
    initial: Fields,
    /// What it should turn by in a step.
    phase: f64,
    /// And what the equation itself turns by.
    ideal: f64,
    /// The mode's wave number.
    wave_number: f64,
    steps: u64,
    limit: f64,
}

impl Turning {
    fn check(
        self,
        case: &Case,
        setting: &[(&'static str, f64)],
        threads: Option<usize>,
    ) -> Result<Check, PhysicsError> {
        let mut simulation = Simulation::new(self.entry, case, &self.initial, threads)?;
        simulation.advance(self.steps)?;
        let found = &simulation.fields()?[self.array];
        let amplitude = (found * &self.mode).sum() / self.mode.mapv(|value| value * value).sum();
        // Whole half turns are those of the reference; what is left of them, the amplitude tells.
        let half_turns = (self.phase * self.steps as f64 / PI).floor();
        let sign = if half_turns % 2.0 == 0.0 { 1.0 } else { -1.0 };
        let computed = (half_turns * PI + (sign * amplitude).clamp(-1.0, 1.0).acos()) / self.steps as f64;
        let figure = Figure::new(
            "dispersion",
            "Speed of modes in three schemes",
            "dispersion relations of the schemes; 1 is that of the equations",
            Axis::linear("wave number, in 1 / cell"),
            Axis::linear("speed / speed of waves"),
        );
        let figure = figure
            .points(self.entry.name, [[self.wave_number, computed / self.ideal]])
            .known_points("relation of the scheme", [[self.wave_number, self.phase / self.ideal]]);
        Ok(Check {
            kernel: self.entry.name,
            quantity: "phase of a mode in a step".to_owned(),
            source: "dispersion relation",
            setting: setting.iter().copied().collect(),
            steps: simulation.steps(),
            storage_bytes: simulation.storage_bytes(),
            computed,
            reference: self.phase,
            deviation: relative(computed, self.phase),
            limit: self.limit,
            figures: vec![figure],
        })
    }
}

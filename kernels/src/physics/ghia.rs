//! Centre-line velocities of the lid-driven cavity.
//!
//! Source: U. Ghia, K. N. Ghia, C. T. Shin: High-Re Solutions for Incompressible Flow Using the Navier-Stokes Equations
//! and a Multigrid Method. J. Comput. Phys. 48, 1982, tables I and II: 129 x 129 points, second order. Positions are
//! over the side of the cavity, velocities over that of the lid, which is at height 1 and moves along `x`.

/// A Reynolds number of the tables: lid speed times side over viscosity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reynolds {
    /// 100.
    Re100,
    /// 400.
    Re400,
}

/// A published point: position along the line, velocity across it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Height for `u`, distance from the left wall for `v`.
    pub position: f64,
    /// Velocity over that of the lid.
    pub velocity: f64,
}

/// Heights of table I.
const Y: [f64; 17] = [
    1.0, 0.9766, 0.9688, 0.9609, 0.9531, 0.8516, 0.7344, 0.6172, 0.5, 0.4531, 0.2813, 0.1719, 0.1016, 0.0703, 0.0625,
    0.0547, 0.0,
];
/// Table I, horizontal velocity on the vertical centre line.
const U_100: [f64; 17] = [
    1.0, 0.84123, 0.78871, 0.73722, 0.68717, 0.23151, 0.00332, -0.13641, -0.20581, -0.21090, -0.15662, -0.10150,
    -0.06434, -0.04775, -0.04192, -0.03717, 0.0,
];
const U_400: [f64; 17] = [
    1.0, 0.75837, 0.68439, 0.61756, 0.55892, 0.29093, 0.16256, 0.02135, -0.11477, -0.17119, -0.32726, -0.24299,
    -0.14612, -0.10338, -0.09266, -0.08186, 0.0,
];
/// Distances of table II.
const X: [f64; 17] = [
    1.0, 0.9688, 0.9609, 0.9531, 0.9453, 0.9063, 0.8594, 0.8047, 0.5, 0.2344, 0.2266, 0.1563, 0.0938, 0.0781, 0.0703,
    0.0625, 0.0,
];
/// Table II, vertical velocity on the horizontal centre line.
const V_100: [f64; 17] = [
    0.0, -0.05906, -0.07391, -0.08864, -0.10313, -0.16914, -0.22445, -0.24533, 0.05454, 0.17527, 0.17507, 0.16077,
    0.12317, 0.10890, 0.10091, 0.09233, 0.0,
];
const V_400: [f64; 17] = [
    0.0, -0.12146, -0.15663, -0.19254, -0.22847, -0.23827, -0.44993, -0.38598, 0.05186, 0.30174, 0.30203, 0.28124,
    0.22965, 0.20920, 0.19713, 0.18360, 0.0,
];
/// The point of table II at Reynolds number 400 that does not lie on any smooth curve through its neighbours.
const MISPRINT: f64 = 0.9063;

impl Reynolds {
    /// The number.
    pub fn number(self) -> f64 {
        match self {
            Reynolds::Re100 => 100.0,
            Reynolds::Re400 => 400.0,
        }
    }

    /// Table I: horizontal velocity `u` against height, at half of the width.
    pub fn u(self) -> Vec<Point> {
        match self {
            Reynolds::Re100 => points(&Y, &U_100),
            Reynolds::Re400 => points(&Y, &U_400),
        }
    }

    /// Table II: vertical velocity `v` against distance from the left wall, at half of the height; without the point
    /// that [`Self::misprint`] tells.
    pub fn v(self) -> Vec<Point> {
        let misprint = self.misprint().map(|point| point.position);
        self.v_printed().into_iter().filter(|point| Some(point.position) != misprint).collect()
    }

    /// The point of table II that is left out, as printed.
    pub fn misprint(self) -> Option<Point> {
        match self {
            Reynolds::Re100 => None,
            Reynolds::Re400 => self.v_printed().into_iter().find(|point| point.position == MISPRINT),
        }
    }

    fn v_printed(self) -> Vec<Point> {
        match self {
            Reynolds::Re100 => points(&X, &V_100),
            Reynolds::Re400 => points(&X, &V_400),
        }
    }
}

fn points(positions: &[f64], velocities: &[f64]) -> Vec<Point> {
    positions.iter().zip(velocities).map(|(&position, &velocity)| Point { position, velocity }).collect()
}

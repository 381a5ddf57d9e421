//! Inflow, outflow and obstacles: the arrays that describe them, and what kernels and naive loops both compute of them.

use crate::lbm::velocity_set::VelocitySet;

/// The input with the shape of the inflow: speed at each cell of the inlet over the mean speed.
pub const INFLOW: &str = "inflow";
/// The mask of obstacles.
pub const SOLID: &str = "solid";

/// What the populations that do not come in through the outlet carry of the momentum along another axis, at rest along
/// the last one.
pub(super) fn known_share(set: &VelocitySet, axis: usize) -> f64 {
    let known = (0..set.len()).filter(|&q| set.velocity(q)[set.dims() - 1] >= 0);
    3.0 * known.map(|q| set.weight(q) * set.velocity(q)[axis].pow(2) as f64).sum::<f64>()
}

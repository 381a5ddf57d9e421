//! Obstacles: masks that say which cells are solid, and the cylinder of the channel benchmark.
//!
//! Source: Schaefer, Turek: Benchmark Computations of Laminar Flow Around a Cylinder, 1996, figure 1.

use ndarray::IxDyn;

use crate::fields::Field;

/// Height of the channel in diameters: 0.41 m and 0.1 m.
const HEIGHT: f64 = 4.1;
/// Distance of the axis from the inlet and from the lower wall, in diameters: 0.2 m each, so that the cylinder stands a
/// little below the middle and the flow need not be pushed out of its symmetry.
const CENTRE: f64 = 2.0;

/// A cylinder across a channel, in cells. The flow is along the last axis, the walls are half a cell outside the box;
/// in three dimensions the cylinder spans the first axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylinder {
    /// Diameter.
    pub diameter: f64,
    /// Its axis: across the channel and along it, in coordinates in which cell `i` covers `i .. i + 1`.
    pub centre: [f64; 2],
}

impl Cylinder {
    /// The cylinder of the benchmark in a channel `height` cells high.
    pub fn in_channel(height: usize) -> Cylinder {
        let diameter = height as f64 / HEIGHT;
        Cylinder { diameter, centre: [CENTRE * diameter; 2] }
    }

    /// Its mask: 1 where the centre of a cell lies inside.
    pub fn mask(&self, shape: &[usize]) -> Field {
        let [y, x] = [shape.len() - 2, shape.len() - 1];
        Field::from_shape_fn(IxDyn(shape), |site| {
            let [dy, dx] = [site[y] as f64 + 0.5 - self.centre[0], site[x] as f64 + 0.5 - self.centre[1]];
            f64::from(u8::from(dy * dy + dx * dx < 0.25 * self.diameter * self.diameter))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_has_the_area_of_the_circle_and_lies_below_the_middle() {
        let cylinder = Cylinder::in_channel(82);
        let mask = cylinder.mask(&[82, 200]);
        let area = std::f64::consts::FRAC_PI_4 * cylinder.diameter.powi(2);
        assert!((mask.sum() / area - 1.0).abs() < 0.02, "{}", mask.sum());
        let height: f64 = mask.indexed_iter().map(|(at, m)| m * (at[0] as f64 + 0.5)).sum::<f64>() / mask.sum();
        assert!((height - 40.0).abs() < 0.1, "{height}");
    }
}

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

    /// How far along the link against `velocity` its surface lies, from 0 to 1, of cells outside whose neighbour is
    /// inside; 0 where it is not cut. Cells inside are walled off half-way from those outside, so that what is there
    /// stays there.
    pub fn cuts(&self, shape: &[usize; 2], velocity: [i64; 2]) -> Field {
        let inside = self.mask(shape);
        let square = |v: [f64; 2]| v[0] * v[0] + v[1] * v[1];
        let c = velocity.map(|c| c as f64);
        Field::from_shape_fn(IxDyn(shape), |site| {
            let from = [0, 1].map(|axis| site[axis].checked_add_signed(-velocity[axis] as isize));
            let from = from[0].zip(from[1]).and_then(|(y, x)| inside.get([y, x].as_slice()));
            match (inside[&site], from.copied().unwrap_or(0.0)) {
                (0.0, 1.0) => {
                    let p = [0, 1].map(|axis| site[axis] as f64 + 0.5 - self.centre[axis]);
                    let (along, length) = (p[0] * c[0] + p[1] * c[1], square(c));
                    let outside = square(p) - 0.25 * self.diameter * self.diameter;
                    let distance = (along - (along * along - length * outside).max(0.0).sqrt()) / length;
                    distance.clamp(1e-9, 1.0)
                }
                (1.0, 0.0) => 0.5,
                _ => 0.0,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_links_end_on_the_circle() {
        let (cylinder, shape) = (Cylinder::in_channel(41), [41, 50]);
        let mask = cylinder.mask(&shape);
        for velocity in [[0, 1], [-1, 0], [1, -1], [1, 1]] {
            let cuts = cylinder.cuts(&shape, velocity);
            let outer = cuts.indexed_iter().filter(|(site, cut)| **cut > 0.0 && mask[site] == 0.0);
            let radius = |(site, cut): (IxDyn, &f64)| {
                let at = |axis: usize| site[axis] as f64 + 0.5 - cut * velocity[axis] as f64 - cylinder.centre[axis];
                at(0).hypot(at(1))
            };
            let radii: Vec<f64> = outer.map(radius).collect();
            assert!(radii.len() > 8 && radii.iter().all(|r| (r - 0.5 * cylinder.diameter).abs() < 1e-9), "{radii:?}");
        }
    }

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

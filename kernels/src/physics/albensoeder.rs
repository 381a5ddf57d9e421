//! Centre-line velocities of the lid-driven cavity in three dimensions: a cube at Reynolds number 1000.
//!
//! Source: S. Albensoeder, H. C. Kuhlmann: Accurate three-dimensional lid-driven cavity flow, J. Comput. Phys. 206,
//! 2005, tables 5 and 6: Chebyshev collocation, 96 x 96 x 96 points, resting end walls. Taken from a transcription of
//! the tables that is public with a solver (PICT of the Technical University of Munich), not from the paper itself.
//! There the cavity is centred, the lid lies at `x = -1/2` and moves along `y`; here it lies at height 1 and moves
//! along `x`, so that heights are `1/2 - x`, distances from the wall that the lid leaves `y + 1/2`, and vertical
//! velocities have the other sign.

use crate::physics::ghia::Point;

/// Lid speed times side over viscosity.
pub const REYNOLDS: f64 = 1000.0;

/// Table 5: coordinate and velocity along the lid's motion, without walls.
const ALONG: [(f64, f64); 15] = [
    (0.4453, -0.20623),
    (0.4375, -0.22283),
    (0.4297, -0.23696),
    (0.3984, -0.27293),
    (0.3281, -0.25160),
    (0.2187, -0.10999),
    (0.0469, -0.00612),
    (0.0, 0.00802),
    (-0.1172, 0.03905),
    (-0.2344, 0.07334),
    (-0.3516, 0.12183),
    (-0.4531, 0.33171),
    (-0.4609, 0.39821),
    (-0.4688, 0.48443),
    (-0.4766, 0.58964),
];
/// Table 6: coordinate and velocity away from the lid.
const AWAY: [(f64, f64); 15] = [
    (-0.4375, -0.21738),
    (-0.4297, -0.22746),
    (-0.4219, -0.23503),
    (-0.4062, -0.24407),
    (-0.3437, -0.22924),
    (-0.2734, -0.17580),
    (-0.2656, -0.16987),
    (0.0, -0.03674),
    (0.3047, 0.15223),
    (0.3594, 0.31117),
    (0.4063, 0.43423),
    (0.4453, 0.33511),
    (0.4531, 0.29032),
    (0.4609, 0.24095),
    (0.4688, 0.18864),
];

/// Velocity along the lid's motion against height, in the middle of the cube.
pub fn u() -> Vec<Point> {
    ALONG.iter().map(|&(x, velocity)| Point { position: 0.5 - x, velocity }).collect()
}

/// Vertical velocity against the distance from the wall that the lid leaves.
pub fn v() -> Vec<Point> {
    AWAY.iter().map(|&(y, velocity)| Point { position: y + 0.5, velocity: -velocity }).collect()
}

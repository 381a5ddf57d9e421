//! Hexagonal tiles: diamonds with a flat top and bottom, in a plane of time and space.
//!
//! In: a schedule, its time and space dimensions, how far dependences reach, a height and a width.   Out:
//! `[front, strip parallel, t, x]`, as for diamonds. Diamonds end in single cells, where strips are short; hexagons start
//! with as many as one likes.
//!
//! ```text
//!  t   __/      \__/     Time is stretched: every `h/2` steps, where diamonds would touch, it jumps ahead by the width of
//!  ^     \      /        a flat side. Diamonds in stretched time are hexagons in time: two families of strips, of
//!  |      \____/         `t + x` and of `t - x`, with `t + (w - 1) floor(2t/h)` in the place of `t`. It never goes back,
//!  +--> x /    \         so a family that no dependence crosses backwards stays one.
//! ```
//!
//! Source: Grosser, Cohen, Holewinski, Sadayappan and Verdoolaege, Hybrid hexagonal/classical tiling for GPUs (CGO 2014),
//! which gives the two phases of a front one after the other; here they are fronts of their own.

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::graph::{DimKind, Schedule};
use crate::schedule::transform::TransformError;

/// Hexagons in a plane of time and space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hexagon {
    /// Cells that dependences reach at most in a step, towards small and towards large values of space.
    pub reach: [i64; 2],
    /// Steps from the bottom to the top, an even number.
    pub height: i64,
    /// Cells of the bottom.
    pub width: i64,
}

impl Schedule {
    /// The schedule `name` in hexagonal tiles over the dimensions `time` and `space`. Fronts come first, one after the
    /// other, then the tiles of one in parallel, then the dimensions there were.
    ///
    /// # Errors
    /// [`TransformError`] names the dimension that does not exist, the size that is not positive, or the height that is
    /// odd; and coefficients that overflow.
    pub fn hexagonal(
        &self,
        name: &str,
        (time, space): (usize, usize),
        tiles: Hexagon,
    ) -> Result<Schedule, TransformError> {
        self.verify_pair(time, space)?;
        self.verify_size(time, tiles.height)?;
        self.verify_size(space, tiles.width)?;
        let (half, jump, [back, forth]) = (tiles.height / 2, tiles.width - 1, tiles.reach);
        if tiles.height % 2 == 1 {
            return Err(TransformError::OddHeight { schedule: self.name.clone(), dim: time, size: tiles.height });
        }
        let slopes = back.checked_add(forth).filter(|sum| *sum >= 1).ok_or(AffineOverflow)?;
        // What the two families move against each other while time jumps once.
        let size = slopes.checked_mul(half).and_then(|size| size.checked_add(jump.checked_mul(2)?));
        let size = size.ok_or(AffineOverflow)?;
        let first = time.min(space);
        let strips = self.with_dims_at(name, first, &[DimKind::Sequential; 2], |old| {
            let (t, x) = (&old[time], &old[space]);
            let jumps = t.floor_div(half)?.scale(jump)?;
            let strip = |slope: i64, sign: i64, start: i64| {
                let leaning = t.scale(slope)?.add(&x.scale(sign)?)?.add(&jumps)?;
                leaning.add(&Affine::constant(start))?.floor_div(size)
            };
            Ok(vec![strip(back, 1, jump / 2)?, strip(forth, -1, jump - jump / 2)?])
        })?;
        strips.wavefront(name, first..first + 2)
    }
}

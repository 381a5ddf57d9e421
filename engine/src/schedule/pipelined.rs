//! Pipelined tiles: the steps of a tile of time run at once, each some blocks of space behind the one before.
//!
//! In: a schedule, its time and space dimensions, tile sizes, how many blocks a step is behind.   Out: `[t, y, x]` becomes
//! `[floor(t/B), floor(y/h) + w t, t parallel, y, x]`. No step waits for a tile to begin, and a value dies as soon as the
//! step behind has passed, so that storage takes hardly more than one level.
//!
//! Source: Wellein, Hager, Zeiser, Wittmann and Fehske, Efficient temporal blocking for stencil computations by
//! multicore-aware wavefront parallelization (COMPSAC 2009).

use num_integer::Integer;

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::graph::{DimKind, Schedule};
use crate::schedule::transform::TransformError;

/// Pipelined tiles of a plane of time and space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pipeline {
    /// Steps of time in a tile.
    pub height: i64,
    /// Cells of space in a block.
    pub width: i64,
    /// Blocks that each step is behind the one before.
    pub behind: i64,
}

impl Schedule {
    /// The schedule `name` in pipelined tiles over the dimensions `time` and `space`, of which time is the outer one.
    ///
    /// # Errors
    /// [`TransformError`] names the dimension that does not exist, the size that is not positive, or time if it is not
    /// the outer one; and coefficients that overflow.
    pub fn pipelined(
        &self,
        name: &str,
        (time, space): (usize, usize),
        tiles: Pipeline,
    ) -> Result<Schedule, TransformError> {
        self.verify_pair(time, space)?;
        self.verify_size(time, tiles.height)?;
        self.verify_size(space, tiles.width)?;
        if time > space {
            return Err(TransformError::TimeInside { schedule: self.name.clone(), time, space });
        }
        let mut pipelined = self.with_dims_at(name, time, &[DimKind::Sequential; 2], |old| {
            Ok(vec![old[time].floor_div(tiles.height)?, front(&old[time], &old[space], tiles)?])
        })?;
        pipelined.dims[time + 2] = DimKind::Parallel;
        Ok(pipelined)
    }
}

/// `floor(space / width) + behind time`: what is done at the same time.
pub(crate) fn front(time: &Affine, space: &Affine, tiles: Pipeline) -> Result<Affine, AffineOverflow> {
    space.floor_div(tiles.width)?.add(&time.scale(tiles.behind)?)
}

/// By how many blocks of that width a step must be behind the one before, to run at the same time, for a dependence that
/// points at least `least` cells forwards in so many steps.
pub(crate) fn behind_for((steps, least): (i64, i64), width: i64) -> i64 {
    if steps == 0 { 0 } else { Integer::div_ceil(&(1 - Integer::div_floor(&least, &width)), &steps) }
}

//! Parallelogram tiles: rectangles in time and skewed space, in order or in wavefronts.
//!
//! In: a schedule, its time and space dimensions, a lean, tile sizes.   Out: `[t, x]` becomes
//! `[floor(t/h), floor((x + r t)/w), t, x]`, for a lean `r` that no dependence outruns: one that reaches `r` cells back
//! in space for a step in time stays in its tile or comes from the one before. Tiles are `h` steps high and `w` cells
//! wide. `wavefront` over the two block numbers then runs tiles in parallel.
//!
//! Unlike diamonds they need no concurrent start: dependences within one time step are welcome where they point
//! forwards.

use crate::kernel::graph::{Kernel, Schedule};
use crate::schedule::skewed::Leaning;
use crate::schedule::transform::TransformError;

/// Parallelogram tiles of a plane of time and space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parallelogram {
    /// Cells of space by which a tile moves back at each step of time.
    pub lean: i64,
    /// Steps of time in a tile.
    pub height: i64,
    /// Cells of space in a tile, at each step.
    pub width: i64,
}

impl Schedule {
    /// The schedule `name` in parallelogram tiles over the dimensions `time` and `space`, which run tile after tile.
    ///
    /// # Errors
    /// [`TransformError`] names the dimension that does not exist or the size that is not positive, and coefficients
    /// that overflow.
    ///
    /// Source: Wonnacott, Using time skewing to eliminate idle time due to memory bandwidth and network limitations
    /// (2000).
    pub fn parallelogram(
        &self,
        name: &str,
        (time, space): (usize, usize),
        tiles: Parallelogram,
    ) -> Result<Schedule, TransformError> {
        let Parallelogram { lean, height, width } = tiles;
        self.skewed(name, time, height, &[Leaning { dim: space, lean, width }])
    }
}

impl Kernel {
    /// The kernel with one more schedule, `name`: `schedule` in parallelogram tiles, those of one wavefront in
    /// parallel. `time` and `space` name iterators that are time dimensions of `schedule`; tiles are `height` steps of
    /// `time` high and `width` cells of `space` wide, and lean as the dependence cone says.
    ///
    /// # Errors
    /// [`TransformError`] if a name is unknown, a size is not positive, or distances are not bounded.
    pub fn parallelogram(
        &self,
        name: &str,
        schedule: &str,
        (time, space): (&str, &str),
        (height, width): (i64, i64),
    ) -> Result<Kernel, TransformError> {
        let original = self.schedule_or_error(schedule)?;
        let dims = (self.time_dimension(original, time)?, self.time_dimension(original, space)?);
        let lean = self.dependence_cone(schedule, dims)?.lean()?;
        let tiled = original.parallelogram(name, dims, Parallelogram { lean, height, width })?;
        let first = dims.0.min(dims.1);
        Ok(self.with_schedule(tiled.wavefront(name, first..first + 2)?)?)
    }
}

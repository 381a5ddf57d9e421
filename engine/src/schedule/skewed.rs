//! Skewed tiles: blocks of time and of one or more dimensions of space that lean back with each step.
//!
//! In: a schedule, its time, dimensions of space, each with a lean and a size.   Out: `[t, z, y, x]` becomes
//! `[floor(t/B), floor((z + r t)/h), floor((y + q t)/w), t, z, y, x]`, for leans `r` and `q` that no dependence outruns:
//! one that reaches `r` cells back in space for a step in time stays in its tile or comes from one before. Tiles run one
//! after the other; `wavefront` over the tiles of space runs those of a diagonal in parallel, and over those of time and
//! space those of parallelograms.
//!
//! Source: Wonnacott, Using time skewing to eliminate idle time due to memory bandwidth and network limitations (2000).

use num_integer::Integer;

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::graph::{DimKind, Schedule};
use crate::schedule::transform::TransformError;

/// A dimension of space in skewed tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Leaning {
    /// The time dimension that it is, from 0.
    pub dim: usize,
    /// Cells by which a tile moves back at each step of time.
    pub lean: i64,
    /// Cells in a tile, at each step.
    pub width: i64,
}

impl Schedule {
    /// The schedule `name` in skewed tiles, `height` steps of the dimension `time` high, one after the other.
    ///
    /// # Errors
    /// [`TransformError`] names the dimension that does not exist or the size that is not positive, and coefficients
    /// that overflow.
    pub fn skewed(&self, name: &str, time: usize, height: i64, spaces: &[Leaning]) -> Result<Schedule, TransformError> {
        self.verify_dim(time)?;
        self.verify_size(time, height)?;
        for space in spaces {
            self.verify_pair(time, space.dim)?;
            self.verify_size(space.dim, space.width)?;
        }
        let first = spaces.iter().map(|space| space.dim).fold(time, usize::min);
        let kinds = vec![DimKind::Sequential; spaces.len() + 1];
        self.with_dims_at(name, first, &kinds, |old| {
            let tiles = spaces.iter().map(|space| leaning_tile(&old[time], &old[space.dim], space.lean, space.width));
            std::iter::once(old[time].floor_div(height)).chain(tiles).collect()
        })
    }
}

impl Schedule {
    /// The schedule `name` with strips that lean with time before dimension `at`.
    pub(crate) fn with_leaning_strips(
        &self,
        name: &str,
        at: usize,
        time: usize,
        space: Leaning,
    ) -> Result<Schedule, TransformError> {
        self.with_dims_at(name, at, &[DimKind::Sequential], |old| {
            Ok(vec![leaning_tile(&old[time], &old[space.dim], space.lean, space.width)?])
        })
    }
}

/// `floor((space + lean time) / width)`.
pub(crate) fn leaning_tile(time: &Affine, space: &Affine, lean: i64, width: i64) -> Result<Affine, AffineOverflow> {
    space.add(&time.scale(lean)?)?.floor_div(width)
}

/// The lean of tiles that a dependence asks for which points at least `least` cells forwards in so many steps.
pub(crate) fn lean_for((steps, least): (i64, i64)) -> i64 {
    if steps == 0 { 0 } else { Integer::div_ceil(&least.saturating_neg(), &steps) }
}

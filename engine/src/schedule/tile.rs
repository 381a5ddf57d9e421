//! Rectangular tiles: time dimensions cut into blocks, block numbers first.
//!
//! In: a schedule and a size for some of its dimensions.   Out: the tiled schedule. `[t, y, x]` with `y` in tiles of 32
//! and `x` in tiles of 256 becomes `[t, floor(y/32), floor(x/256), y, x]`. The block numbers stand before the first
//! tiled dimension and keep its kind (vector dimensions give sequential blocks); inside a tile, parallel dimensions
//! stay as they are. Whether the result is legal is for `legality` to say.

use crate::kernel::graph::{DimKind, Schedule};
use crate::schedule::transform::TransformError;

/// The largest size of a tile, and number of lanes: no dimension is as long, and times are made of products of sizes.
const LARGEST_SIZE: i64 = 1 << 31;

impl Schedule {
    /// The schedule `name` with rectangular tiles: each entry of `tiles` is a time dimension and its tile size.
    ///
    /// # Errors
    /// [`TransformError`] names the dimension that does not exist, or the size that is not positive or too large.
    ///
    /// Source: Irigoin and Triolet, Supernode partitioning (1988).
    pub fn tile(&self, name: &str, tiles: &[(usize, i64)]) -> Result<Schedule, TransformError> {
        for &(dim, size) in tiles {
            self.verify_dim(dim)?;
            self.verify_size(dim, size)?;
        }
        let Some(first) = tiles.iter().map(|t| t.0).min() else {
            return Ok(Schedule { name: name.to_string(), ..self.clone() });
        };
        let kinds: Vec<DimKind> = tiles.iter().map(|&(dim, _)| self.block_kind(dim)).collect();
        self.with_dims_at(name, first, &kinds, |time| {
            tiles.iter().map(|&(dim, size)| time[dim].floor_div(size)).collect()
        })
    }

    /// Refuses a tile size below 1, and one with which times would leave 64 bits.
    pub(crate) fn verify_size(&self, dim: usize, size: i64) -> Result<(), TransformError> {
        let schedule = || self.name.clone();
        match size {
            1..=LARGEST_SIZE => Ok(()),
            ..1 => Err(TransformError::Size { schedule: schedule(), dim, size }),
            _ => Err(TransformError::SizeTooLarge { schedule: schedule(), dim, size, limit: LARGEST_SIZE }),
        }
    }
}

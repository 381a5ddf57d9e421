//! Rectangular tiles: time dimensions cut into blocks, block numbers first.
//!
//! In: a schedule and a size for some of its dimensions.   Out: the tiled schedule. `[t, y, x]` with `y` in tiles of 32 and
//! `x` in tiles of 256 becomes `[t, floor(y/32), floor(x/256), y, x]`. The block numbers stand before the first tiled
//! dimension and keep its kind (vector dimensions give sequential blocks); inside a tile, parallel dimensions stay as
//! they are. Whether the result is legal is for `legality` to say.

use crate::kernel::affine::AffineOverflow;
use crate::kernel::graph::{DimKind, Schedule};

/// Why a schedule was not tiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TileError {
    /// The dimension does not exist.
    #[error("schedule `{schedule}` has {dims} time dimensions, so dimension {dim} cannot be tiled")]
    NoSuchDimension {
        /// The schedule.
        schedule: String,
        /// The dimension asked for, from 0.
        dim: usize,
        /// How many there are.
        dims: usize,
    },
    /// A tile size below 1.
    #[error("schedule `{schedule}`: tile size {size} of dimension {dim} is not positive")]
    Size {
        /// The schedule.
        schedule: String,
        /// The dimension, from 0.
        dim: usize,
        /// The size asked for.
        size: i64,
    },
    /// A coefficient left 64 bits.
    #[error("{0}")]
    Overflow(#[from] AffineOverflow),
}

impl Schedule {
    /// The schedule `name` with rectangular tiles: each entry of `tiles` is a time dimension and its tile size.
    ///
    /// # Errors
    /// [`TileError`] names the dimension that does not exist or the size that is not positive.
    ///
    /// Source: Irigoin and Triolet, Supernode partitioning (1988).
    pub fn tile(&self, name: &str, tiles: &[(usize, i64)]) -> Result<Schedule, TileError> {
        for &(dim, size) in tiles {
            if dim >= self.dims.len() {
                return Err(TileError::NoSuchDimension { schedule: self.name.clone(), dim, dims: self.dims.len() });
            }
            if size < 1 {
                return Err(TileError::Size { schedule: self.name.clone(), dim, size });
            }
        }
        let Some(first) = tiles.iter().map(|t| t.0).min() else {
            return Ok(Schedule { name: name.to_string(), ..self.clone() });
        };
        let block_kind = |dim: usize| match self.dims[dim] {
            DimKind::Vector(_) => DimKind::Sequential,
            kind => kind,
        };
        let mut dims = self.dims.clone();
        dims.splice(first..first, tiles.iter().map(|t| block_kind(t.0)));
        let mut times = Vec::new();
        for time in &self.times {
            let blocks = tiles.iter().map(|&(dim, size)| time[dim].floor_div(size)).collect::<Result<Vec<_>, _>>()?;
            let mut time = time.clone();
            time.splice(first..first, blocks);
            times.push(time);
        }
        Ok(Schedule { name: name.to_string(), dims, times })
    }
}

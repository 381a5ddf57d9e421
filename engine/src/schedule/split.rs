//! Splits: a time dimension cut into blocks where it stands.
//!
//! In: a schedule, one of its dimensions, a size.   Out: `[t, y, x]` with `y` split by 32 is `[t, floor(y/32), y, x]`. The
//! order stays the same; the blocks can be made parallel, or interchanged with other dimensions (`tile` does both for
//! several dimensions at once).

use crate::kernel::graph::{DimKind, Schedule};
use crate::schedule::transform::TransformError;

impl Schedule {
    /// The schedule `name` with blocks of `size` of dimension `dim` before it. They have its kind; those of vectors are
    /// sequential.
    ///
    /// # Errors
    /// [`TransformError`] names the dimension that does not exist or the size that is not positive.
    ///
    /// Source: Loveman, Program improvement by source-to-source transformation (1977).
    pub fn split(&self, name: &str, dim: usize, size: i64) -> Result<Schedule, TransformError> {
        self.verify_dim(dim)?;
        self.verify_size(dim, size)?;
        let kind = self.block_kind(dim);
        self.with_dims_at(name, dim, &[kind], |time| Ok(vec![time[dim].floor_div(size)?]))
    }

    /// The kind of blocks of a dimension.
    pub(crate) fn block_kind(&self, dim: usize) -> DimKind {
        match self.dims[dim] {
            DimKind::Vector(_) => DimKind::Sequential,
            kind => kind,
        }
    }
}

//! Fusion: statements that share a loop, instead of one loop after the other.
//!
//! In: a schedule and a dimension behind one of positions.   Out: positions are numbers that order statements, one loop
//! after the other: `S -> [0, y, x]; R -> [1, y, x]`. With the loop over `y` fused, they stand behind it,
//! `S -> [y, 0, x]; R -> [y, 1, x]`: row by row, first `S`, then `R`. Statements that need rows which are not there yet
//! are to be shifted, too (`shift`).

use crate::kernel::graph::Schedule;
use crate::schedule::transform::TransformError;

impl Schedule {
    /// The schedule `name` with the loop of dimension `dim` fused: the positions before it come behind it.
    ///
    /// # Errors
    /// [`TransformError`] names the dimension that does not exist, or has no positions before it.
    ///
    /// Source: Kennedy and McKinley, Maximizing loop parallelism and improving data locality via loop fusion and
    /// distribution (1993).
    pub fn fuse(&self, name: &str, dim: usize) -> Result<Schedule, TransformError> {
        self.verify_dim(dim)?;
        let has_positions = dim > 0 && self.times.iter().all(|time| time[dim - 1].as_constant().is_some());
        if !has_positions {
            return Err(TransformError::NoPositions { schedule: self.name.clone(), dim });
        }
        self.interchange(name, dim - 1, dim)
    }
}

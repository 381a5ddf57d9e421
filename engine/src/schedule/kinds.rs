//! Kinds of time dimensions: in order, in parallel, in lanes.
//!
//! In: a schedule, one of its dimensions, a kind.   Out: the schedule with that kind. Whether nothing is broken by it is
//! for `legality` to say.

use crate::kernel::graph::{DimKind, Schedule};
use crate::schedule::transform::TransformError;

impl Schedule {
    /// The schedule `name` with dimension `dim` of another kind.
    ///
    /// # Errors
    /// [`TransformError`] names the dimension that does not exist, or a number of lanes of 0.
    pub fn with_kind(&self, name: &str, dim: usize, kind: DimKind) -> Result<Schedule, TransformError> {
        self.verify_dim(dim)?;
        if let DimKind::Vector(lanes) = kind {
            self.verify_size(dim, lanes.into())?;
        }
        let mut schedule = Schedule { name: name.to_string(), ..self.clone() };
        schedule.dims[dim] = kind;
        Ok(schedule)
    }
}

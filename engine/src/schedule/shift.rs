//! Shifts: some statements that run later, or earlier, by a number of iterations.
//!
//! In: a schedule, one of its dimensions, statements, a number.   Out: `R -> [t, y, x]` with `y` shifted by 1 is
//! `R -> [t, y + 1, x]`: beside the rows of other statements, those of `R` run one row behind. What reads a row and its
//! neighbours can then run in the same loop as what writes them.

use crate::kernel::affine::Affine;
use crate::kernel::graph::Schedule;
use crate::schedule::transform::TransformError;

impl Schedule {
    /// The schedule `name` with `by` added to dimension `dim` of the statements at these positions of the kernel.
    ///
    /// # Errors
    /// [`TransformError`] names the dimension or the statement that does not exist, and numbers that overflow.
    ///
    /// Source: Darte and Huard, Loop shifting for loop compaction (1999).
    pub fn shift(&self, name: &str, dim: usize, stmts: &[usize], by: i64) -> Result<Schedule, TransformError> {
        self.verify_dim(dim)?;
        let mut shifted = Schedule { name: name.to_string(), ..self.clone() };
        for &stmt in stmts {
            let (schedule, count) = (self.name.clone(), self.times.len());
            let none = TransformError::NoSuchStatement { schedule, stmt, stmts: count };
            let time = shifted.times.get_mut(stmt).ok_or(none)?;
            time[dim] = time[dim].add(&Affine::constant(by))?;
        }
        Ok(shifted)
    }
}

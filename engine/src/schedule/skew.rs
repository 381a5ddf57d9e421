//! Skewing: multiples of other time dimensions added to one, so that dependences point forwards in it.
//!
//! In: a schedule, a dimension, multiples of others.   Out: the skewed schedule. `[t, x]` with `x` skewed by `2 t`
//! becomes `[t, 2 t + x]`: the order stays the same where the others stand before the skewed dimension, but tiles and
//! wavefronts over both are now legal for dependences that reach two cells back or forth.

use crate::kernel::graph::Schedule;
use crate::schedule::transform::TransformError;

impl Schedule {
    /// The schedule `name` with `factor` times each other dimension of `by` added to dimension `dim`.
    ///
    /// # Errors
    /// [`TransformError`] names the dimension that does not exist or is added to itself, and coefficients that
    /// overflow.
    ///
    /// Source: Wolfe, Loop skewing: the wavefront method revisited (1986).
    pub fn skew(&self, name: &str, dim: usize, by: &[(usize, i64)]) -> Result<Schedule, TransformError> {
        self.verify_dim(dim)?;
        for &(other, _) in by {
            self.verify_pair(dim, other)?;
        }
        let mut skewed = Schedule { name: name.to_string(), ..self.clone() };
        for (time, old) in skewed.times.iter_mut().zip(&self.times) {
            for &(other, factor) in by {
                time[dim] = time[dim].add(&old[other].scale(factor)?)?;
            }
        }
        Ok(skewed)
    }
}

//! Restarted times: steps counted from the first one of each call.
//!
//! In: a schedule of a kernel with steps.   Out: `[floor(t/B), floor((y + t)/h), t, y, x]` becomes
//! `[floor((t - _from - 1)/B), floor((y + t - _from - 1)/h), t, y, x]`, where `_from` is the step before the first one of a
//! call. So a call begins with a tile of its own wherever it starts, where it would cut one of a run; calls of whole tiles
//! cut none.

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::graph::{ParamId, Schedule};
use crate::schedule::transform::TransformError;

impl Schedule {
    /// The schedule `name`, in which everything but dimension `step` itself counts steps from the first one of a call. That
    /// dimension is the step, the first iterator of every statement.
    ///
    /// # Errors
    /// [`TransformError`] names the dimension that does not exist or is not the step, and coefficients that overflow. That
    /// kernels without states have no such schedule is found where it is given to one.
    pub fn restart(&self, name: &str, step: usize) -> Result<Schedule, TransformError> {
        self.verify_dim(step)?;
        let steps = Affine::iter(0);
        if self.times.iter().any(|time| time[step] != steps) {
            return Err(TransformError::NotTheStep { schedule: self.name.clone(), dim: step });
        }
        let (mut restarted, of_call) = (Schedule { name: name.to_string(), ..self.clone() }, in_call(&steps)?);
        for e in restarted.times.iter_mut().flatten().filter(|e| **e != steps) {
            *e = e.substitute_iter(0, &of_call)?;
        }
        Ok(restarted)
    }
}

/// The number that a step has in its call, from 0.
pub(crate) fn in_call(step: &Affine) -> Result<Affine, AffineOverflow> {
    step.sub(&Affine::param(ParamId::FROM_STEP))?.sub(&Affine::constant(1))
}

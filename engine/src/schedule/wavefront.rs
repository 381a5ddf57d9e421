//! Wavefronts: neighbouring time dimensions that become their sum, then all but the last of them in parallel.
//!
//! In: a schedule, and which of its dimensions.   Out: `[a, b, ..]` becomes `[a + b, a parallel, ..]`. Where every
//! dependence is non-negative in each of these dimensions, one that leaves a point of them goes to a later sum, so
//! points of one sum may run at once. They are block numbers most often: tiles of one wavefront run in parallel.

use std::ops::Range;

use crate::kernel::affine::Affine;
use crate::kernel::graph::{DimKind, Schedule};
use crate::schedule::transform::TransformError;

impl Schedule {
    /// The schedule `name` with the dimensions `dims` in wavefronts. No dimension or one: the schedule as it is.
    ///
    /// # Errors
    /// [`TransformError`] names the dimension that does not exist or runs in vectors, and coefficients that overflow.
    ///
    /// Source: Lamport, The parallel execution of DO loops (1974).
    pub fn wavefront(&self, name: &str, dims: Range<usize>) -> Result<Schedule, TransformError> {
        for dim in dims.clone() {
            self.verify_dim(dim)?;
            if matches!(self.dims[dim], DimKind::Vector(_)) {
                return Err(TransformError::VectorDimension { schedule: self.name.clone(), dim });
            }
        }
        let mut front = Schedule { name: name.to_string(), ..self.clone() };
        if dims.len() < 2 {
            return Ok(front);
        }
        for (time, old) in front.times.iter_mut().zip(&self.times) {
            let parts = &old[dims.clone()];
            let sum = parts.iter().try_fold(Affine::constant(0), |sum, part| sum.add(part))?;
            let others = parts[..parts.len() - 1].iter().cloned();
            time.splice(dims.clone(), std::iter::once(sum).chain(others));
        }
        front.dims[dims.clone()].fill(DimKind::Parallel);
        front.dims[dims.start] = DimKind::Sequential;
        Ok(front)
    }
}

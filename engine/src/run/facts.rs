//! Facts of a run: of which kernel it is, at which sizes, and what it holds.
//!
//! For what handles any run, such as files: it asks the run instead of the caller.

use crate::error::Error;
use crate::kernel::graph::Kernel;
use crate::run::Run;
use crate::run::region::Region;

impl Run {
    /// The kernel, as it was given: with all of its schedules.
    pub fn kernel(&self) -> &Kernel {
        self.shared.kernel()
    }

    /// The size parameters with their values, in declaration order.
    pub fn sizes(&self) -> Vec<(String, i64)> {
        self.shared.request.sizes()
    }

    /// Whether all cells of a region were written or computed, so that it can be read.
    ///
    /// ```
    /// use crease::prelude::*;
    /// use crease::{Region, region};
    /// use ndarray::Array1;
    ///
    /// # let kernel = Kernel::parse(
    /// #     "kernel decay(size N; run T) {
    /// #        state u[t, x]: f64 for 0 <= x < N
    /// #        S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = 0.5 * u[t-1,x] }
    /// #        schedule rows { S -> [t, x] }
    /// #      }",
    /// # )?;
    /// let mut run = kernel.plan().size("N", 100).build()?.compile()?.instantiate()?;
    /// run.write_box("u", &region![0..40], Array1::from_elem(40, 1.0).view())?;
    /// assert!(run.holds("u", &region![10..40])? && !run.holds("u", &Region::whole())?);
    /// assert_eq!((run.kernel().name(), run.sizes()), ("decay", vec![("N".to_owned(), 100)]));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Run::read_box`] about the array and the region.
    pub fn holds(&self, array: &str, region: &Region) -> Result<bool, Error> {
        let boxed = self.shared.boxed_of_any(array, region, self.step)?;
        Ok(self.given.verify_one(self.shared.kernel(), boxed.at, &boxed.axes, &boxed.low()).is_ok())
    }
}

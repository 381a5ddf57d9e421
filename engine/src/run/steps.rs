//! Inputs over steps, for callers: values of some steps in, and which steps are read.
//!
//! In: an input over steps by name, its values at some steps.   Out: the run with them; `series` keeps them.

use std::ops::Range;

use crease_jit::ElementType;
use ndarray::{ArrayView, Dimension};

use crate::error::Error;
use crate::run::series::Series;
use crate::run::{Run, RunError};

impl Run {
    /// The first step of an input over steps: the least value of its first index.
    ///
    /// # Errors
    /// [`RunError::UnknownArray`], [`RunError::NotOverSteps`].
    pub fn first_step(&self, array: &str) -> Result<i64, Error> {
        Ok(self.over_steps(array)?.low)
    }

    /// The steps of an input over steps that the next so many steps read.
    ///
    /// # Errors
    /// As [`Self::first_step`].
    pub fn steps_read(&self, array: &str, steps: u64) -> Result<Range<i64>, Error> {
        let needed = self.over_steps(array)?.needed(self.step, self.step.saturating_add_unsigned(steps));
        Ok(if steps == 0 { needed.start..needed.start } else { needed })
    }

    fn over_steps(&self, array: &str) -> Result<&Series, RunError> {
        let id = self.shared.array_id(array)?;
        self.series.of(id).ok_or_else(|| RunError::NotOverSteps { array: array.to_string() })
    }

    /// Gives an input over steps its values at `first` and the steps after it; the view's first axis are the steps.
    /// They may be given in parts, long before they are needed or just before [`Run::advance`], each part without a gap
    /// to those before; of steps that are given again, the last values count. They are forgotten once no step reads them
    /// any more.
    ///
    /// ```
    /// use crease::prelude::*;
    /// use ndarray::Array1;
    ///
    /// let kernel = Kernel::parse(
    ///     "kernel driven(size N; run T) {
    ///        input inflow[t]: f64 for 1 <= t <= T
    ///        state u[t, x]: f64 for 0 <= x < N
    ///        S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = u[t-1,x] + inflow[t] }
    ///      }",
    /// )?;
    /// let mut run = kernel.plan().size("N", 4).build()?.compile()?.instantiate()?;
    /// run.fill("u", 0.0)?;
    /// run.write_steps("inflow", 1, Array1::from_iter((1..=100).map(f64::from)).view())?;
    /// run.advance(100)?;
    /// let mut u = Array1::<f64>::zeros(4);
    /// run.read("u", u.view_mut())?;
    /// assert_eq!(u[3], 5050.0);
    /// let missing = run.advance(1).unwrap_err();
    /// assert!(missing.to_string().contains("step 101"));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`RunError::UnknownArray`], [`RunError::NotOverSteps`], [`RunError::ElementType`], [`RunError::Shape`],
    /// [`RunError::StepOutside`], [`RunError::StepBeforeFirst`], [`RunError::StepsApart`]; nothing has then been taken.
    pub fn write_steps<T: ElementType, D: Dimension>(
        &mut self,
        array: &str,
        first: i64,
        view: ArrayView<'_, T, D>,
    ) -> Result<(), Error> {
        let (id, name) = (self.over_steps(array)?.array, || array.to_string());
        let expected = self.shared.kernel().array(id).element;
        if expected != T::ELEMENT {
            return Err(RunError::ElementType { array: name(), expected, found: T::ELEMENT }.into());
        }
        let (shape, steps) = (self.shared.shape(id), view.shape().first().copied().unwrap_or(0));
        let expected: Vec<usize> = std::iter::once(steps).chain(shape).collect();
        if view.shape() != expected {
            return Err(RunError::Shape { array: name(), expected, found: view.shape().to_vec() }.into());
        }
        let most = 1_i64 << 62;
        let end = first.checked_add_unsigned(steps as u64).filter(|&end| first >= -most && end <= most);
        let end = end.ok_or(RunError::StepOutside { step: first })?;
        let series = self.series.of_mut(id).expect("it was just found");
        Ok(series.put(first, end, view)?)
    }
}

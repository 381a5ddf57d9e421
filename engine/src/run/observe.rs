//! Observers of a run: what is computed of its states on demand, between steps, into arrays of the caller.
//!
//! In: the name of an observer of the kernel, its outputs as views.   Out: the outputs, computed where they lie.
//!
//! An observer is compiled when it is first asked for, for the storage that the steps have, and kept with the code. It
//! costs the steps nothing: neither their storage nor their schedule knows of it.

use crease_jit::{BufferRef, Call, CallError};

use crate::error::Error;
use crate::kernel::graph::{Array, Reduction};
use crate::plan::layout::{Layout, Owner};
use crate::run::borrowed::Output;
use crate::run::observed::Observed;
use crate::run::reduced::Accumulators;
use crate::run::{Run, RunError};

impl Run {
    /// Computes an observer of the kernel, of the states as they are now, into arrays of the caller by name, where they
    /// lie. Every output of the observer has to be given, once, in the shape that [`Run::observed_shape`] says; cells
    /// that it does not compute keep their values. The first call plans and compiles the observer, which takes
    /// milliseconds; all runs of this code then have it.
    ///
    /// ```
    /// use crease::prelude::*;
    /// use ndarray::Array1;
    ///
    /// let kernel = Kernel::parse(
    ///     "kernel heat(size N; run T) {
    ///        state u[t, x]: f64 for 0 <= x < N
    ///        S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = 0.5 * (u[t-1,x-1] + u[t-1,x+1]) }
    ///        E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
    ///        observe flux {
    ///          output q[x]: f64 for 0 <= x < N-1
    ///          Q[t, x] for 0 <= x < N-1 { q[x] = u[t,x] - u[t,x+1] }
    ///        }
    ///      }",
    /// )?;
    /// let mut run = kernel.plan().size("N", 10).build()?.compile()?.instantiate()?;
    /// run.write("u", Array1::from_iter((0..10).map(|x| 2.0 * x as f64)).view())?;
    /// run.advance(5)?;
    /// let mut q = Array1::<f64>::zeros(9);
    /// run.observe("flux", &mut [("q", (&mut q).into())])?;
    /// assert_eq!(q, Array1::from_elem(9, -2.0));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`RunError::UnknownObserver`], [`RunError::UnknownOutput`], [`RunError::DuplicateArray`],
    /// [`RunError::MissingOutput`], [`RunError::ElementType`], [`RunError::Shape`], [`RunError::UnsetScalar`],
    /// [`RunError::StateNotGiven`] and [`RunError::InputNotGiven`] of what it reads, [`RunError::Call`]; and of the
    /// first call those of planning and compiling, such as [`Error::Illegal`] for cells that are not there. Nothing has
    /// then been written.
    pub fn observe(&mut self, observer: &str, outputs: &mut [(&str, Output<'_>)]) -> Result<(), Error> {
        let observed = self.shared.observed(observer)?;
        self.compute(&observed, outputs)
    }

    /// Computes what is compiled, of the states as they are now.
    pub(super) fn compute(&mut self, observed: &Observed, outputs: &mut [(&str, Output<'_>)]) -> Result<(), Error> {
        self.verify_has(observed)?;
        let mut given = observed.given(outputs)?;
        self.compute_into(observed, &mut given)
    }

    /// Checks that the run has all that it reads.
    pub(super) fn verify_has(&self, observed: &Observed) -> Result<(), RunError> {
        self.scalar_values()?;
        self.given.verify_read(self.shared.kernel(), &observed.reads(), self.step)
    }

    /// The same into arrays that were matched with its outputs.
    pub(super) fn compute_into(&mut self, observed: &Observed, given: &mut [BufferRef<'_>]) -> Result<(), Error> {
        let mut accumulators = observed.accumulators();
        // The statements run for the second one alone.
        let args = [self.step, self.step];
        self.call_beside(&args, &observed.layout, with_accumulators(given, &mut accumulators), |call| {
            observed.compiled.run(call)
        })?;
        for (number, accumulators) in given.iter_mut().zip(accumulators) {
            if let Some(accumulators) = accumulators {
                accumulators.finish(number);
            }
        }
        Ok(())
    }

    /// Checks what a call of [`Self::compute_into`] would refuse, and computes nothing.
    pub(super) fn verify_compute(&mut self, observed: &Observed, given: &mut [BufferRef<'_>]) -> Result<(), Error> {
        let mut accumulators = observed.accumulators();
        let args = [self.step, self.step];
        self.call_beside(&args, &observed.layout, with_accumulators(given, &mut accumulators), |call| {
            observed.compiled.verify(call)
        })
    }

    /// Makes a call of a program beside that of the steps: on the run's own storage, and what the layout has behind it.
    pub(super) fn call_beside<'c>(
        &mut self,
        args: &[i64],
        layout: &Layout,
        given: impl IntoIterator<Item = BufferRef<'c>>,
        call: impl FnOnce(&mut Call<'_>) -> Result<(), CallError>,
    ) -> Result<(), Error> {
        let scalars = self.scalar_values()?;
        self.allocate_caller_arrays()?;
        let mut buffers: Vec<BufferRef<'_>> = Vec::with_capacity(layout.buffers.len());
        for (field, buffer) in self.fields.iter_mut().zip(&layout.buffers) {
            let field = field.as_mut().expect("all arrays were just allocated");
            buffers.push(if matches!(buffer.owner, Owner::Input(_)) { (&*field).into() } else { field.into() });
        }
        given.into_iter().for_each(|buffer| buffers.push(buffer));
        Ok(call(&mut Call { args, scalars: &scalars, buffers, pool: &self.pool }).map_err(RunError::from)?)
    }

    /// The shape of an observer's output; empty for a reduction.
    ///
    /// # Errors
    /// [`RunError::UnknownObserver`], [`RunError::UnknownOutput`], and as the first call of [`Self::observe`].
    pub fn observed_shape(&self, observer: &str, array: &str) -> Result<Vec<usize>, Error> {
        let observed = self.shared.observed(observer)?;
        let position = observed.outputs().iter().position(|output| output.name == array);
        Ok(observed.shape(position.ok_or_else(|| observed.unknown(array))?))
    }
}

/// The arrays of an observer's outputs, of which reductions are accumulators.
fn with_accumulators<'g>(
    given: &'g mut [BufferRef<'_>],
    accumulators: &'g mut [Option<Accumulators>],
) -> impl Iterator<Item = BufferRef<'g>> {
    let pairs = given.iter_mut().zip(accumulators);
    pairs.map(|(given, accumulators)| accumulators.as_mut().map_or_else(|| given.reborrow(), Accumulators::buffer))
}

impl Observed {
    /// The observer's name.
    fn name(&self) -> &str {
        &self.kernel.schedules()[0].name
    }

    fn unknown(&self, array: &str) -> RunError {
        RunError::unknown_output(self.name(), self.outputs(), array)
    }

    /// Whether some output is a reduction.
    pub(super) fn reduces(&self) -> bool {
        self.reductions.iter().any(Option::is_some)
    }

    /// Accumulators for the outputs that are reductions.
    fn accumulators(&self) -> Vec<Option<Accumulators>> {
        let new = |(k, (array, reduction)): (usize, (&Array, &Option<Reduction>))| {
            reduction.map(|reduction| Accumulators::new(reduction, array.element, &self.stored_shape(k)))
        };
        self.outputs().iter().zip(&self.reductions).enumerate().map(new).collect()
    }

    /// The caller's arrays in the order of the observer's outputs.
    pub(super) fn given<'a>(&self, given: &'a mut [(&str, Output<'_>)]) -> Result<Vec<BufferRef<'a>>, RunError> {
        let own = self.outputs();
        let mut found: Vec<Option<BufferRef<'a>>> = own.iter().map(|_| None).collect();
        for (array, output) in given {
            let position = own.iter().position(|output| output.name == **array);
            let position = position.ok_or_else(|| self.unknown(array))?;
            let cells = output.reborrow();
            let (expected, element) = (own[position].element, cells.element());
            if expected != element {
                return Err(RunError::ElementType { array: array.to_string(), expected, found: element });
            }
            let expected = self.shape(position);
            let shape = cells.extents().unwrap_or_default().to_vec();
            if expected != shape {
                return Err(RunError::Shape { array: array.to_string(), expected, found: shape });
            }
            if found[position].replace(cells).is_some() {
                return Err(RunError::DuplicateArray { array: array.to_string() });
            }
        }
        let missing = |(output, array): (Option<BufferRef<'a>>, &Array)| {
            let missing = || RunError::MissingOutput { observer: self.name().to_string(), output: array.name.clone() };
            output.ok_or_else(missing)
        };
        found.into_iter().zip(own).map(missing).collect()
    }
}

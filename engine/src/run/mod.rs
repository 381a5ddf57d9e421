//! Running: compiled code, its folded storage, and the logical view of it.
//!
//! [`Code`] is shared by any number of [`Run`]s; each has its own fields. `view` moves logical arrays in and out of
//! folded storage and `given` remembers which; `borrowed` runs kernels without state on the caller's own arrays; `tune`
//! times ways to compile; `available` and `memory` refuse what there is no memory for.

mod available;
mod borrowed;
pub(crate) mod error;
mod given;
mod memory;
mod options;
mod shared;
mod tune;
mod view;

use std::sync::Arc;

use crease_jit::{BufferRef, Call, Compiled, ElementType, Field, FieldOptions, Pool, field_memory_bytes};
use ndarray::{ArrayView, ArrayViewMut, Dimension};

use crate::error::Error;
use crate::kernel::graph::Scalar;
use crate::plan::layout::{BufferLayout, Owner};
use crate::plan::outcome::Outcome;
use crate::plan::request::Request;
use crate::run::given::Given;
use crate::run::memory::Keeps;
use crate::run::shared::Shared;
use crate::run::view::View;
use crate::storage::placement::rows::page_offset_bytes;

pub use available::{AvailableMemory, LimitedBy, available_memory};
pub use borrowed::{Input, Output};
pub use error::RunError;
use error::list;
pub use options::{MemoryCheck, RunOptions};
pub use tune::TunedCode;

/// A compiled kernel: `Send + Sync`, cheap to clone, shared by many runs.
#[derive(Clone, Debug)]
pub struct Code {
    shared: Arc<Shared>,
}

impl Code {
    pub(crate) fn new(request: Request, outcome: Outcome, compiled: Compiled) -> Code {
        Code { shared: Arc::new(Shared { request, outcome, compiled }) }
    }

    /// Allocates folded storage for the planned threads to run on: all cores, if nothing else was planned. Arrays of
    /// the caller that a run keeps get memory when they are first needed.
    ///
    /// # Errors
    /// As [`Self::instantiate_with`].
    pub fn instantiate(&self) -> Result<Run, Error> {
        self.instantiate_with(RunOptions::default().threads(self.shared.request.threads))
    }

    /// Allocates folded storage.
    ///
    /// # Errors
    /// [`RunError::Threads`] if there cannot be this many, [`RunError::TooLarge`] if the copies of private buffers for
    /// this many exceed the plan's memory cap, [`RunError::OutOfMemory`] if the machine does not have the memory, and
    /// [`RunError::Memory`], which names the buffer, if it does not give it.
    pub fn instantiate_with(&self, options: RunOptions) -> Result<Run, Error> {
        let shared = &self.shared;
        let pool = shared.pool(&options)?;
        let threads = pool.threads();
        shared.verify_cap(threads, Keeps::Least)?;
        shared.verify_memory(threads, Keeps::Least, 0, options.memory)?;
        let folded = |b: &BufferLayout| {
            (b.owner == Owner::Folded).then(|| allocate(b, shared.line_offset_bytes(b), threads, &options)).transpose()
        };
        let fields = shared.outcome.layout.buffers.iter().map(folded).collect::<Result<Vec<_>, _>>()?;
        let (scalars, given) = (vec![None; shared.kernel().scalars().len()], Given::nothing(shared.kernel()));
        Ok(Run { shared: Arc::clone(shared), fields, scalars, given, pool, step: 0, options })
    }

    /// The machine code's size, texts and compile times.
    pub fn compiled(&self) -> &Compiled {
        &self.shared.compiled
    }
}

fn allocate(
    buffer: &BufferLayout,
    line_offset_bytes: usize,
    threads: usize,
    options: &RunOptions,
) -> Result<Field, RunError> {
    let cells = buffer.cells_for(threads);
    let page_offset_bytes = page_offset_bytes(buffer.id);
    let options =
        FieldOptions { page_offset_bytes, line_offset_bytes, guard_pages: options.guard_pages, mapped: buffer.mapped };
    let field = Field::new(buffer.element, cells, options);
    field.map_err(|source| RunError::Memory { buffer: buffer.name.clone(), source })
}

/// Folded storage in use: fields, scalars, the current step.
#[derive(Debug)]
pub struct Run {
    shared: Arc<Shared>,
    /// One per buffer of the layout; none for arrays of the caller that were never written, read or computed.
    fields: Vec<Option<Field>>,
    scalars: Vec<Option<f64>>,
    given: Given,
    pool: Pool,
    step: i64,
    options: RunOptions,
}

impl Run {
    /// Sets a run-time scalar; `f32` scalars are rounded when used.
    ///
    /// # Errors
    /// [`RunError::UnknownScalar`].
    pub fn set(&mut self, scalar: &str, value: f64) -> Result<(), Error> {
        let position = self.shared.kernel().scalars().iter().position(|s| s.name == scalar);
        let known = || list(self.shared.kernel().scalars().iter().map(|s| s.name.as_str()));
        let unknown =
            || RunError::UnknownScalar { kernel: self.kernel_name(), scalar: scalar.to_string(), known: known() };
        let position = position.ok_or_else(unknown)?;
        self.scalars[position] = Some(value);
        Ok(())
    }

    /// Steps done so far.
    pub fn step(&self) -> i64 {
        self.step
    }

    /// Threads that the run takes: one if no loop of the code is parallel.
    pub fn threads(&self) -> usize {
        self.pool.threads()
    }

    /// Copies an array in, in logical order: an input, or the current level of a state array (without its step index).
    ///
    /// # Errors
    /// [`RunError::Shape`], [`RunError::ElementType`], [`RunError::Temporary`], [`RunError::Memory`]; nothing has then
    /// been copied.
    pub fn write<T: ElementType, D: Dimension>(&mut self, array: &str, view: ArrayView<'_, T, D>) -> Result<(), Error> {
        self.write_back(array, 0, view)
    }

    /// The same for the level `back` steps before the current one, of kernels that read further back than one step.
    ///
    /// # Errors
    /// As [`Self::write`], and [`RunError::NoSuchLevel`].
    pub fn write_back<T: ElementType, D: Dimension>(
        &mut self,
        array: &str,
        back: u32,
        view: ArrayView<'_, T, D>,
    ) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        let logical = shared.view_of::<T>(array, back, self.step, Some(view.shape()))?;
        let mut values = view.iter();
        self.put(&logical, &mut || *values.next().expect("the shape was checked"))?;
        self.given.note(shared.kernel(), shared.array_id(array)?, back, self.step);
        Ok(())
    }

    /// Sets all cells of an array to one value: an input, or all levels of a state array that the kernel reads back. So
    /// an array is given that starts as zeros, or is the same everywhere, without one in memory to copy from.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn fill<T: ElementType>(&mut self, array: &str, value: T) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        let id = shared.array_id(array)?;
        for back in 0..shared.kernel().state_depth(id).max(1) {
            let logical = shared.view_of::<T>(array, back, self.step, None)?;
            self.put(&logical, &mut || value)?;
            self.given.note(shared.kernel(), id, back, self.step);
        }
        Ok(())
    }

    /// Stores the next value in each cell of a level, in logical order.
    fn put<T: ElementType>(&mut self, logical: &View<'_>, next: &mut dyn FnMut() -> T) -> Result<(), Error> {
        self.allocate_caller_arrays()?;
        let fields = &mut self.fields;
        logical.for_each_row(&mut |row| {
            let field = fields[row.buffer].as_mut().expect("all fields are allocated");
            let cells = field.as_mut_slice::<T>().expect("the element type was checked");
            row.for_each_cell(&mut |cell, inside| {
                let value = next();
                if inside {
                    cells[cell] = value;
                }
            });
        });
        Ok(())
    }

    /// Copies an array out, in logical order. Cells outside the array's index space are left alone.
    ///
    /// # Errors
    /// As [`Self::write`], and [`RunError::NoValue`] for an array that was neither written nor computed.
    pub fn read<T: ElementType, D: Dimension>(&self, array: &str, view: ArrayViewMut<'_, T, D>) -> Result<(), Error> {
        self.read_back(array, 0, view)
    }

    /// The same for the level `back` steps before the current one.
    ///
    /// # Errors
    /// As [`Self::read`], and [`RunError::NoSuchLevel`].
    pub fn read_back<T: ElementType, D: Dimension>(
        &self,
        array: &str,
        back: u32,
        mut view: ArrayViewMut<'_, T, D>,
    ) -> Result<(), Error> {
        let shared = &self.shared;
        let logical = shared.view_of::<T>(array, back, self.step, Some(view.shape()))?;
        self.given.verify_one(shared.kernel(), shared.array_id(array)?, back, self.step)?;
        let mut values = view.iter_mut();
        logical.for_each_row(&mut |row| {
            let field = self.fields[row.buffer].as_ref().expect("what has a value has memory");
            let cells = field.as_slice::<T>().expect("the element type was checked");
            row.for_each_cell(&mut |cell, inside| {
                let value = values.next().expect("the shape was checked");
                if inside {
                    *value = cells[cell];
                }
            });
        });
        Ok(())
    }

    /// The logical shape of an array: a state array's without its step index.
    ///
    /// # Errors
    /// [`RunError::UnknownArray`], [`RunError::Temporary`].
    pub fn shape(&self, array: &str) -> Result<Vec<usize>, Error> {
        Ok(self.shared.logical(array, 0, self.step)?.shape())
    }

    /// Runs `steps` more steps. All inputs and all levels of state that the kernel reads back must have been given
    /// ([`Self::write`], [`Self::write_back`], [`Self::fill`]).
    ///
    /// # Errors
    /// [`RunError::UnsetScalar`], [`RunError::InputNotGiven`], [`RunError::OutputNotGiven`],
    /// [`RunError::StateNotGiven`], [`RunError::LiveInTemporary`], [`RunError::NoSteps`], [`RunError::TooManySteps`],
    /// and for copies of inputs and outputs the errors of [`Code::instantiate_with`]; nothing has then been computed.
    pub fn advance(&mut self, steps: u64) -> Result<(), Error> {
        if !self.shared.kernel().has_state() {
            return Err(RunError::NoSteps { kernel: self.kernel_name() }.into());
        }
        let too_many = || RunError::TooManySteps { step: self.step, more: steps };
        let more = i64::try_from(steps).map_err(|_| too_many())?;
        let end = self.step.checked_add(more).filter(|&end| end < 1 << 62).ok_or_else(too_many)?;
        if steps == 0 {
            return Ok(());
        }
        self.call(&[self.step, end])?;
        self.step = end;
        Ok(())
    }

    /// Runs a kernel without state on the arrays written before; its outputs can then be read.
    ///
    /// # Errors
    /// As [`Self::advance`], and [`RunError::UnboundRun`].
    pub fn run_once(&mut self) -> Result<(), Error> {
        if self.shared.kernel().has_state() {
            return self.advance(1);
        }
        self.shared.check_stateless()?;
        self.call(&[])
    }

    /// Calls the code on the run's own arrays.
    fn call(&mut self, args: &[i64]) -> Result<(), Error> {
        self.scalar_values()?;
        self.shared.check_live_in()?;
        self.given.verify_all(self.shared.kernel(), self.step)?;
        self.allocate_caller_arrays()?;
        let borrowed = self.fields.iter().map(|_| None).collect();
        self.call_on(args, borrowed)?;
        self.given.note_outputs(self.shared.kernel());
        Ok(())
    }

    /// Calls the code; buffers that are not borrowed are the run's own.
    fn call_on(&mut self, args: &[i64], borrowed: Vec<Option<BufferRef<'_>>>) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        self.call_code(&shared.compiled, args, borrowed)
    }

    /// Calls code of the same program.
    fn call_code(&mut self, code: &Compiled, args: &[i64], borrowed: Vec<Option<BufferRef<'_>>>) -> Result<(), Error> {
        let scalars = self.scalar_values()?;
        let owners = self.shared.outcome.layout.buffers.iter().map(|b| b.owner);
        let mut buffers = Vec::with_capacity(self.fields.len());
        for ((field, owner), borrowed) in self.fields.iter_mut().zip(owners).zip(borrowed) {
            buffers.push(match (borrowed, field, owner) {
                (Some(borrowed), ..) => borrowed,
                (None, Some(field), Owner::Input(_)) => BufferRef::from(&*field),
                (None, Some(field), Owner::Folded | Owner::Output(_)) => BufferRef::from(field),
                (None, None, _) => unreachable!("what is not borrowed is allocated"),
            });
        }
        let mut call = Call { args, scalars: &scalars, buffers, pool: &self.pool };
        Ok(code.run(&mut call).map_err(RunError::from)?)
    }

    fn scalar_values(&self) -> Result<Vec<f64>, RunError> {
        let kernel = self.shared.kernel();
        let value = |(value, scalar): (&Option<f64>, &Scalar)| {
            let unset = || RunError::UnsetScalar { kernel: kernel.name().to_string(), scalar: scalar.name.clone() };
            value.ok_or_else(unset)
        };
        self.scalars.iter().zip(kernel.scalars()).map(value).collect()
    }

    /// Memory for arrays of the caller that the run keeps, zero at first.
    fn allocate_caller_arrays(&mut self) -> Result<(), RunError> {
        if self.fields.iter().all(Option::is_some) {
            return Ok(());
        }
        let threads = self.threads();
        self.shared.verify_cap(threads, Keeps::Copies)?;
        let allocated = |field: &Field| field_memory_bytes(field.cells() * field.element().bytes(), field.mapped());
        let has_bytes = self.fields.iter().flatten().map(allocated).fold(0, u64::saturating_add);
        self.shared.verify_memory(threads, Keeps::Copies, has_bytes, self.options.memory)?;
        for (field, buffer) in self.fields.iter_mut().zip(&self.shared.outcome.layout.buffers) {
            if field.is_none() {
                *field = Some(allocate(buffer, 0, threads, &self.options)?);
            }
        }
        Ok(())
    }

    fn kernel_name(&self) -> String {
        self.shared.kernel().name().to_string()
    }
}

//! Running: compiled code, its folded storage, and the logical view of it.
//!
//! [`Code`] is shared by any number of [`Run`]s; each has its own fields. `view` moves logical arrays in and out of
//! folded storage; `lent` runs kernels without state on the caller's own arrays; `tune` times ways to compile.

mod error;
mod lent;
mod tune;
mod view;

use std::sync::Arc;

use crease_jit::program::BufferId;
use crease_jit::{BufferRef, Call, Compiled, Denormals, ElementType, Field, FieldOptions, Pool};
use ndarray::{ArrayView, ArrayViewMut, Dimension};

use crate::cache::{ALIASING_BYTES, LINE_BYTES};
use crate::error::Error;
use crate::kernel::graph::{ArrayId, Kernel, Role};
use crate::pipeline::Outcome;
use crate::plan::Request;
use crate::plan::layout::{BufferLayout, Owner};
use crate::run::view::View;

pub use error::RunError;
pub use lent::{Input, Output};
pub use tune::TunedCode;

/// Distance between the starts of neighbouring fields within a 4 KiB page: nine fields of a lattice end up spread
/// evenly.
const SKEW_BYTES: usize = 7 * 64;

/// How a run is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Threads of the run's own pool. Default: all cores.
    pub threads: usize,
    /// Guard pages around every field, so that a stray access stops the program. Default: off; it costs huge pages.
    pub guard_pages: bool,
    /// What steps do with denormal numbers, on every thread that takes part. Default: as the calling thread has it,
    /// which is to keep them unless somebody chose otherwise.
    pub denormals: Denormals,
}

impl Default for RunOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        RunOptions { threads, guard_pages: false, denormals: Denormals::AsFound }
    }
}

/// A compiled kernel: `Send + Sync`, cheap to clone, shared by many runs.
#[derive(Clone, Debug)]
pub struct Code {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    kernel: Arc<Kernel>,
    /// Threads planned for.
    threads: usize,
    cap_bytes: Option<u64>,
    outcome: Outcome,
    compiled: Compiled,
}

impl Code {
    pub(crate) fn new(request: Request, outcome: Outcome, compiled: Compiled) -> Code {
        let Request { kernel, threads, cap_bytes, .. } = request;
        Code { shared: Arc::new(Shared { kernel, threads, cap_bytes, outcome, compiled }) }
    }

    /// Allocates folded storage, all cells zero, with the planned threads to run on: all cores, if nothing else was
    /// planned.
    /// Arrays of the caller that a run keeps get memory when they are first needed.
    ///
    /// # Errors
    /// [`RunError::Memory`] names the buffer that could not be had, [`RunError::Threads`] if the pool cannot start.
    pub fn instantiate(&self) -> Result<Run, Error> {
        self.instantiate_with(RunOptions { threads: self.shared.threads, ..RunOptions::default() })
    }

    /// Allocates folded storage, all cells zero.
    ///
    /// # Errors
    /// [`RunError::TooLarge`] if the copies of private buffers for so many threads exceed the plan's memory cap; and
    /// those of [`Self::instantiate`].
    pub fn instantiate_with(&self, options: RunOptions) -> Result<Run, Error> {
        self.shared.verify_cap(options.threads)?;
        let pool = Pool::new(options.threads).and_then(|pool| pool.with_denormals(options.denormals));
        let pool = pool.map_err(RunError::from)?;
        let lead = |b: &BufferLayout| self.shared.lead_bytes(b);
        let folded = |b: &BufferLayout| (b.owner == Owner::Folded).then(|| allocate(b, lead(b), options)).transpose();
        let fields = self.shared.outcome.layout.buffers.iter().map(folded).collect::<Result<Vec<_>, _>>()?;
        let scalars = vec![None; self.shared.kernel.scalars().len()];
        Ok(Run { shared: Arc::clone(&self.shared), fields, scalars, pool, step: 0, options })
    }

    /// The machine code's size, texts and compile times.
    pub fn compiled(&self) -> &Compiled {
        &self.shared.compiled
    }
}

fn allocate(buffer: &BufferLayout, lead_bytes: usize, options: RunOptions) -> Result<Field, RunError> {
    let cells = buffer.cells_for(options.threads);
    let skew_bytes = buffer.id as usize * SKEW_BYTES % ALIASING_BYTES as usize;
    let options = FieldOptions { skew_bytes, lead_bytes, guard_pages: options.guard_pages, mapped: buffer.mapped };
    let field = Field::new(buffer.element, cells, options);
    field.map_err(|source| RunError::Memory { buffer: buffer.name.clone(), source })
}

/// Folded storage in use: fields, scalars, the current step.
#[derive(Debug)]
pub struct Run {
    shared: Arc<Shared>,
    /// One per buffer of the layout; none for arrays of the caller that nobody wrote, read or computed.
    fields: Vec<Option<Field>>,
    scalars: Vec<Option<f64>>,
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
        let position = self.shared.kernel.scalars().iter().position(|s| s.name == scalar);
        let unknown = || RunError::UnknownScalar { kernel: self.kernel_name(), scalar: scalar.to_string() };
        let position = position.ok_or_else(unknown)?;
        self.scalars[position] = Some(value);
        Ok(())
    }

    /// Steps done so far.
    pub fn step(&self) -> i64 {
        self.step
    }

    /// Threads of the run's pool.
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
        let logical = shared.view_of::<T>(array, back, self.step, view.shape())?;
        self.allocate_caller_arrays()?;
        let mut values = view.iter();
        let fields = &mut self.fields;
        logical.for_each_row(&mut |row| {
            let field = fields[row.buffer].as_mut().expect("all fields are allocated");
            let cells = field.as_mut_slice::<T>().expect("the element type was checked");
            row.for_each_cell(&mut |cell, inside| {
                let value = *values.next().expect("the shape was checked");
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
    /// As [`Self::write`].
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
        let logical = self.shared.view_of::<T>(array, back, self.step, view.shape())?;
        let mut values = view.iter_mut();
        logical.for_each_row(&mut |row| {
            let field = self.fields[row.buffer].as_ref();
            let cells = field.map(|field| field.as_slice::<T>().expect("the element type was checked"));
            row.for_each_cell(&mut |cell, inside| {
                let value = values.next().expect("the shape was checked");
                if inside {
                    // Fields are zero before anything is written.
                    *value = cells.map_or_else(T::default, |cells| cells[cell]);
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

    /// Runs `steps` more steps.
    ///
    /// # Errors
    /// [`RunError::UnsetScalar`], [`RunError::NoSteps`], [`RunError::TooManySteps`]; nothing has then been computed.
    pub fn advance(&mut self, steps: u64) -> Result<(), Error> {
        if !self.shared.kernel.has_state() {
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
    /// [`RunError::UnsetScalar`], [`RunError::UnboundRun`].
    pub fn run_once(&mut self) -> Result<(), Error> {
        if self.shared.kernel.has_state() {
            return self.advance(1);
        }
        self.shared.check_stateless()?;
        self.call(&[])
    }

    /// Calls the code on the run's own arrays.
    fn call(&mut self, args: &[i64]) -> Result<(), Error> {
        self.allocate_caller_arrays()?;
        let lent = self.fields.iter().map(|_| None).collect();
        self.call_on(args, lent)
    }

    /// Calls the code; buffers that are not lent are the run's own.
    fn call_on(&mut self, args: &[i64], lent: Vec<Option<BufferRef<'_>>>) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        self.call_code(&shared.compiled, args, lent)
    }

    /// Calls code of the same program.
    fn call_code(&mut self, code: &Compiled, args: &[i64], lent: Vec<Option<BufferRef<'_>>>) -> Result<(), Error> {
        let kernel = &self.shared.kernel;
        let mut scalars = Vec::with_capacity(self.scalars.len());
        for (value, scalar) in self.scalars.iter().zip(kernel.scalars()) {
            let unset = || RunError::UnsetScalar { kernel: kernel.name().to_string(), scalar: scalar.name.clone() };
            scalars.push(value.ok_or_else(unset)?);
        }
        let owners = self.shared.outcome.layout.buffers.iter().map(|b| b.owner);
        let mut buffers = Vec::with_capacity(self.fields.len());
        for ((field, owner), lent) in self.fields.iter_mut().zip(owners).zip(lent) {
            buffers.push(match (lent, field, owner) {
                (Some(lent), ..) => lent,
                (None, Some(field), Owner::Input(_)) => BufferRef::from(&*field),
                (None, Some(field), Owner::Folded | Owner::Output(_)) => BufferRef::from(field),
                (None, None, _) => unreachable!("what is not lent is allocated"),
            });
        }
        let mut call = Call { args, scalars: &scalars, buffers, pool: &self.pool };
        Ok(code.run(&mut call).map_err(RunError::from)?)
    }

    /// Memory for arrays of the caller that the run keeps, zero at first.
    fn allocate_caller_arrays(&mut self) -> Result<(), RunError> {
        for (field, buffer) in self.fields.iter_mut().zip(&self.shared.outcome.layout.buffers) {
            if field.is_none() {
                *field = Some(allocate(buffer, 0, self.options)?);
            }
        }
        Ok(())
    }

    fn kernel_name(&self) -> String {
        self.shared.kernel.name().to_string()
    }
}

impl Shared {
    /// Bytes from a cache line's start to the first cell of a buffer, so that most rows of it are stored in whole
    /// lines.
    fn lead_bytes(&self, buffer: &BufferLayout) -> usize {
        let bytes = buffer.element.bytes() as usize;
        let line = LINE_BYTES as usize / bytes;
        let phase = self.outcome.program.store_phase(BufferId(buffer.id), line as i64).unwrap_or(0);
        (line - phase as usize) % line * bytes
    }

    fn verify_cap(&self, threads: usize) -> Result<(), RunError> {
        let needed_bytes = self.outcome.layout.folded_bytes(threads);
        match self.cap_bytes.filter(|cap| needed_bytes > *cap) {
            Some(cap_bytes) => {
                let kernel = self.kernel.name().to_string();
                Err(RunError::TooLarge { kernel, threads, needed_bytes, cap_bytes })
            }
            None => Ok(()),
        }
    }

    /// Checks that a call needs to know of no steps.
    fn check_stateless(&self) -> Result<(), RunError> {
        let kernel = || self.kernel.name().to_string();
        if self.kernel.has_state() {
            return Err(RunError::HasState { kernel: kernel() });
        }
        match self.outcome.program.args.last() {
            Some(param) => Err(RunError::UnboundRun { kernel: kernel(), param: param.clone() }),
            None => Ok(()),
        }
    }

    fn array_id(&self, array: &str) -> Result<ArrayId, RunError> {
        let unknown = || RunError::UnknownArray { kernel: self.kernel.name().to_string(), array: array.to_string() };
        self.kernel.array_id(array).ok_or_else(unknown)
    }

    fn logical(&self, array: &str, back: u32, step: i64) -> Result<View<'_>, RunError> {
        let id = self.array_id(array)?;
        let kernel = &self.kernel;
        let depth = kernel.state_depth(id).max(1);
        match kernel.array(id).role {
            Role::Temp => return Err(RunError::Temporary { array: array.to_string() }),
            _ if back >= depth => return Err(RunError::NoSuchLevel { array: array.to_string(), depth, back }),
            Role::Input | Role::Output | Role::State => {}
        }
        let level = step + kernel.state_write_offset() - i64::from(back);
        Ok(View::new(kernel, &self.outcome, id, level))
    }

    fn view_of<T: ElementType>(
        &self,
        array: &str,
        back: u32,
        step: i64,
        found: &[usize],
    ) -> Result<View<'_>, RunError> {
        let logical = self.logical(array, back, step)?;
        let element = self.kernel.array(self.array_id(array)?).element;
        if element != T::ELEMENT {
            return Err(RunError::ElementType { array: array.to_string(), expected: element, found: T::ELEMENT });
        }
        let expected = logical.shape();
        if expected != found {
            return Err(RunError::Shape { array: array.to_string(), expected, found: found.to_vec() });
        }
        Ok(logical)
    }
}

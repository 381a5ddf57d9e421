//! Running: compiled code, its folded storage, and the logical view of it.
//!
//! [`Code`] is shared by any number of [`Run`]s; each has its own fields. `boxes` moves logical arrays in and out of
//! folded storage, any `region` of them: `level` finds the formulas that keep it, `walk` the places, `transfer` copies,
//! from `copy_lists` what was asked for before. `observe` runs what a kernel computes of its states on demand, once it
//! is `observed` in machine code, with numbers that arrays are `reduced` to; `observing` does so in the steps that
//! leave these states, where code with both `fused` is faster, as `fused_times` say; `numbers` looks for NaN in that
//! way, when the `monitor` is due. `given` remembers what was written of the `kept_levels`, `series` what was given of
//! inputs over `steps`, `facts` tells of it; `folded` shows storage as it is. `calls` checks what code needs and calls
//! it; `drive` is for time loops, in calls at some `pace` where `cancel` may end them; `short_calls`, with
//! `short_times`, and `calls_in_bands`, with `smaller_bands`, are for what is too short for tiles of time; `two_ways`
//! tells what is faster. `borrowed` runs kernels without state on the caller's own arrays; `tune` times ways to
//! compile; `available` and `memory` refuse what there is no memory for.

mod available;
mod borrowed;
mod boxes;
mod calls;
mod calls_in_bands;
mod cancel;
mod conditions;
mod copy_lists;
mod drive;
pub(crate) mod error;
mod facts;
mod folded;
mod fused;
mod fused_times;
mod given;
mod kept_levels;
mod level;
mod memory;
mod monitor;
mod numbers;
mod observe;
mod observed;
mod observing;
mod options;
mod pace;
mod reduced;
mod region;
mod series;
mod shared;
mod short_calls;
mod short_times;
mod smaller_bands;
mod steps;
mod transfer;
mod tune;
mod tune_schedule;
mod two_ways;
mod unknown_names;
mod walk;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use crease_jit::{CompileOptions, Compiled, ElementType, Field, FieldOptions, Kept, Load, Pool};
use ndarray::{ArrayView, ArrayViewMut, Dimension};

use crate::error::Error;
use crate::kernel::nearest::list;
use crate::plan::layout::{BufferLayout, Owner};
use crate::plan::outcome::Outcome;
use crate::plan::request::Request;
use crate::run::copy_lists::CopyLists;
use crate::run::fused_times::Observing;
use crate::run::given::Given;
use crate::run::kept_levels::KeptLevels;
use crate::run::memory::Keeps;
use crate::run::monitor::NanMonitor;
use crate::run::pace::Pace;
use crate::run::series::AllSeries;
use crate::run::shared::Shared;
use crate::run::short_times::ShortCalls;
use crate::run::smaller_bands::SmallerBands;
use crate::run::two_ways::TwoWays;
use crate::schedule::bands::Bands;
use crate::schedule::by_step::StepsAtOnce;
use crate::schedule::tile_of_steps::tile_of_steps;
use crate::storage::placement::rows::page_offset_bytes;

pub use available::{AvailableMemory, LimitedBy, available_memory};
pub use borrowed::{Input, Output};
pub use cancel::Cancel;
pub use drive::Progress;
pub use error::RunError;
pub use folded::{Folded, FoldedCoordinate, FoldedIndex};
pub use options::{MemoryCheck, ObserverForm, RunOptions};
pub use region::{IndexRange, Region};
pub use tune::TunedCode;
pub use tune_schedule::{ScheduleFinding, TunedPlan};

/// A compiled kernel: `Send + Sync`, cheap to clone, shared by many runs.
#[derive(Clone, Debug)]
pub struct Code {
    shared: Arc<Shared>,
}

impl Code {
    pub(crate) fn new(
        request: Request,
        outcome: Outcome,
        (compiled, kept): (Compiled, Kept),
        options: CompileOptions,
    ) -> Code {
        let (observers, fused, by_step) = (Mutex::default(), Mutex::default(), OnceLock::new());
        let steps_at_once = StepsAtOnce::of(request.kernel(), request.bound.written_schedule());
        let bands = Bands::of(request.kernel(), request.bound.written_schedule());
        let bands = bands.map(|bands| Arc::new(SmallerBands::new(bands)));
        let tile_of_steps = tile_of_steps(request.bound.written_schedule(), 0);
        let levels = KeptLevels::new(request.kernel());
        let conditions = level::conditions(request.kernel(), &outcome);
        let shared = Shared {
            request,
            outcome,
            levels,
            conditions,
            compiled,
            kept,
            options,
            observers,
            fused,
            steps_at_once,
            by_step,
            bands,
            tile_of_steps,
        };
        Code { shared: Arc::new(shared) }
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Whether its machine code was found in the cache or is kept there now, and if not, why
    /// ([`PlanBuilder::cache`](crate::PlanBuilder::cache)).
    pub fn kept(&self) -> &Kept {
        &self.shared.kept
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
        let scalars = vec![None; shared.kernel().scalars().len()];
        let given = Given::nothing(shared.kernel(), &shared.levels, |id| shared.shape(id));
        let series = AllSeries::new(shared);
        let (shared, cancel, nan_monitor, short_calls) = (Arc::clone(shared), None, None, ShortCalls::default());
        let (step, observing) = (0, Observing::default());
        let copy_lists = CopyLists::nothing(shared.kernel().arrays().len());
        Ok(Run {
            shared,
            fields,
            scalars,
            given,
            copy_lists,
            series,
            pool,
            step,
            options,
            cancel,
            pace: Pace::default(),
            nan_monitor,
            short_calls,
            last_steps: BTreeMap::new(),
            observing,
        })
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
    /// Rows of boxes that were asked for before.
    copy_lists: CopyLists,
    series: AllSeries,
    pool: Pool,
    step: i64,
    options: RunOptions,
    /// Who may stop it.
    cancel: Option<Cancel>,
    /// How long its calls take.
    pace: Pace,
    /// Whether, and how often, it looks for NaN.
    nan_monitor: Option<NanMonitor>,
    /// What it knows of calls of few steps.
    short_calls: ShortCalls,
    /// What larger and smaller bands take for the last steps of calls, by how many there are.
    last_steps: BTreeMap<i64, TwoWays>,
    /// What it knows of observers in steps and behind them.
    observing: Observing,
}

impl Run {
    /// Sets a run-time scalar; `f32` scalars are rounded when used.
    ///
    /// # Errors
    /// [`RunError::UnknownScalar`].
    pub fn set(&mut self, scalar: &str, value: f64) -> Result<(), Error> {
        let position = self.scalar_position(scalar)?;
        self.scalars[position] = Some(value);
        Ok(())
    }

    /// A run-time scalar as it was set; none if it was not.
    ///
    /// # Errors
    /// [`RunError::UnknownScalar`].
    pub fn scalar(&self, scalar: &str) -> Result<Option<f64>, Error> {
        Ok(self.scalars[self.scalar_position(scalar)?])
    }

    fn scalar_position(&self, scalar: &str) -> Result<usize, RunError> {
        let position = self.shared.kernel().scalars().iter().position(|s| s.name == scalar);
        let known = || list(self.shared.kernel().scalars().iter().map(|s| s.name.as_str()));
        let unknown =
            || RunError::UnknownScalar { kernel: self.kernel_name(), scalar: scalar.to_string(), known: known() };
        position.ok_or_else(unknown)
    }

    /// Steps done so far, those before a restart included.
    pub fn step(&self) -> i64 {
        self.step
    }

    /// Puts the run at a step, as if it had done that many: for a restart. All levels of state then have to be given,
    /// those of this step and before. Inputs and scalars stay as they are, but for inputs over steps, of which only values
    /// stay that go on from the next step without a gap.
    ///
    /// ```
    /// use crease::prelude::*;
    /// use ndarray::Array1;
    ///
    /// let kernel = Kernel::parse(
    ///     "kernel driven(size N; run T) {
    ///        state u[t, x]: f64 for 0 <= x < N
    ///        S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = u[t-1,x] + index(t) }
    ///        schedule rows { S -> [t, x] }
    ///      }",
    /// )?;
    /// let code = kernel.plan().size("N", 4).build()?.compile()?;
    /// let (mut run, mut u) = (code.instantiate()?, Array1::zeros(4));
    /// run.fill("u", 0.0)?;
    /// run.advance(10)?;
    /// run.read("u", u.view_mut())?; // what a checkpoint keeps: the step, the state, the scalars
    ///
    /// let mut again = code.instantiate()?;
    /// again.set_step(10)?;
    /// again.write("u", u.view())?;
    /// again.advance(1)?;
    /// again.read("u", u.view_mut())?;
    /// assert_eq!((again.step(), u[0]), (11, 66.0));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`RunError::NoSteps`] if the kernel has none, [`RunError::StepOutside`]; the run is then as it was.
    pub fn set_step(&mut self, step: i64) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        if !shared.kernel().has_state() {
            return Err(RunError::NoSteps { kernel: self.kernel_name() }.into());
        }
        if !(0..1 << 62).contains(&step) {
            return Err(RunError::StepOutside { step }.into());
        }
        self.given.begin_at(step, shared.kernel(), |id| shared.shape(id));
        self.series.begin_at(step);
        self.step = step;
        if let Some(monitor) = &mut self.nan_monitor {
            monitor.looked = step;
        }
        Ok(())
    }

    /// Threads that the run takes: one if no loop of the code is parallel.
    pub fn threads(&self) -> usize {
        self.pool.threads()
    }

    /// What the threads did in steps since this was asked for the last time: how long they were busy, why they waited,
    /// and when each ran which iterations. None unless [`RunOptions::records_load`] was set.
    ///
    /// ```
    /// use crease::prelude::*;
    ///
    /// # let kernel = Kernel::parse(
    /// #     "kernel decay(size N; run T) {
    /// #        state u[t, x]: f64 for 0 <= x < N
    /// #        S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = 0.5 * u[t-1,x] }
    /// #        schedule rows { S -> [t, x parallel] }
    /// #      }",
    /// # )?;
    /// let options = RunOptions::default().threads(2).records_load(true);
    /// let mut run = kernel.plan().size("N", 100).build()?.compile()?.instantiate_with(options)?;
    /// run.fill("u", 1.0)?;
    /// run.advance(10)?;
    /// let load = run.take_load().expect("it is recorded");
    /// assert_eq!((load.calls, load.loops, load.workers.len()), (1, 10, 2));
    /// println!("busy {:.2}, waiting {:.2}", load.share_busy(), load.share_waiting());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn take_load(&self) -> Option<Load> {
        self.pool.take_load()
    }

    /// Copies an array in, in logical order: an input, or the current level of a state array (without its step index).
    ///
    /// # Errors
    /// [`RunError::UnknownArray`], [`RunError::Temporary`], [`RunError::OverSteps`], [`RunError::Shape`],
    /// [`RunError::ElementType`], [`RunError::Memory`]; nothing has then been copied.
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
        self.write_box(array, &Region::whole().back(back), view)
    }

    /// Sets all cells of an array to one value: an input, or all levels of a state array that the kernel reads back. So
    /// an array is given that starts as zeros, or is the same everywhere, without one in memory to copy from.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn fill<T: ElementType>(&mut self, array: &str, value: T) -> Result<(), Error> {
        let id = self.shared.array_id(array)?;
        let depth = self.shared.levels.count(id);
        (0..depth).try_for_each(|back| self.fill_box(array, &Region::whole().back(back), value))
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
        view: ArrayViewMut<'_, T, D>,
    ) -> Result<(), Error> {
        self.read_box(array, &Region::whole().back(back), view)
    }

    /// The logical shape of an array: a state array's without its step index.
    ///
    /// # Errors
    /// [`RunError::UnknownArray`], [`RunError::Temporary`].
    pub fn shape(&self, array: &str) -> Result<Vec<usize>, Error> {
        Ok(self.shared.level(self.shared.array_id(array)?, 0, self.step)?.shape())
    }

    /// Runs `steps` more steps. All inputs and all levels of state that the kernel reads back must have been given
    /// ([`Self::write`], [`Self::write_back`], [`Self::fill`]).
    ///
    /// # Errors
    /// [`RunError::UnsetScalar`], [`RunError::InputNotGiven`], [`RunError::OutputNotGiven`],
    /// [`RunError::StateNotGiven`], [`RunError::StepsNotGiven`], [`RunError::LiveInTemporary`],
    /// [`RunError::NoSteps`], [`RunError::TooManySteps`], and for copies of inputs and outputs the errors of
    /// [`Code::instantiate_with`]; nothing has then been computed. After some of the steps, and with the state of the
    /// last one, [`RunError::Cancelled`] if somebody may cancel the run ([`Self::cancel_with`]), and
    /// [`RunError::NotANumber`] if it is monitored ([`Self::monitor_nan`]).
    pub fn advance(&mut self, steps: u64) -> Result<(), Error> {
        self.advance_to(self.end_after(steps)?, &mut [])
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
        self.call(&[], &mut [])
    }

    fn kernel_name(&self) -> String {
        self.shared.kernel().name().to_string()
    }
}

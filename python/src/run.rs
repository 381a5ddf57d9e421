//! Code and runs: steps, boxes in and out, views, calls on NumPy arrays.
//!
//! The interpreter's lock is given up while the library works. A run that one thread works with refuses others instead
//! of letting them wait, so that a signal handler which touches it cannot wait for itself.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, MutexGuard};

use crease::kernel::graph::Element;
use crease::{Input, Output, with_element_type};
use pyo3::prelude::*;

use crate::arrays::{Cells, CellsMut, CellsView, CellsViewMut, of_any_type, shown, shown_mut};
use crate::error::{Answer, Failure};
use crate::kept::Kept;
use crate::options::{SetUp, kept_word};
use crate::region::{Span, region};
use crate::signals::LOOK;
use crate::view::{Described, View, folded, numpy_array};

/// Machine code, shared by any number of runs.
#[pyclass(frozen, module = "crease._crease")]
#[derive(Debug)]
pub(crate) struct Code {
    code: crease::Code,
    kernel: Arc<crease::Kernel>,
    planned_threads: usize,
}

impl Code {
    pub(crate) fn new(code: crease::Code, kernel: Arc<crease::Kernel>, planned_threads: usize) -> Code {
        Code { code, kernel, planned_threads }
    }
}

#[pymethods]
impl Code {
    /// What became of it in the cache of plans, in words.
    #[getter]
    fn kept(&self) -> String {
        kept_word(self.code.kept())
    }

    /// Allocates folded storage.
    fn instantiate(&self, py: Python<'_>, options: SetUp) -> Answer<Run> {
        let options = options.run_options(self.planned_threads);
        let run = py.detach(|| self.code.instantiate_with(options))?;
        let threads = run.threads();
        let (kernel, step) = (Arc::clone(&self.kernel), AtomicI64::new(0));
        Ok(Run { kept: Kept::new(run), kernel, threads, step })
    }
}

/// A handle that stops runs, from any thread.
#[pyclass(frozen, module = "crease._crease")]
#[derive(Debug, Default)]
pub(crate) struct Cancel {
    cancel: crease::Cancel,
}

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Cancel {
        Cancel::default()
    }

    /// Stops all runs that look at this handle.
    fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Lets runs go on.
    fn reset(&self) {
        self.cancel.reset();
    }

    /// Whether runs are to stop.
    #[getter]
    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}

/// Folded storage in use.
#[pyclass(frozen, module = "crease._crease")]
#[derive(Debug)]
pub(crate) struct Run {
    kept: Kept,
    kernel: Arc<crease::Kernel>,
    threads: usize,
    /// As it was when the last call ended, or the last part of one that still runs.
    step: AtomicI64,
}

impl Run {
    fn lock(&self) -> Answer<MutexGuard<'_, crease::Run>> {
        self.kept.lock()
    }

    fn element(&self, array: &str) -> Answer<Element> {
        let known = self.kernel.array_id(array);
        let id = known.ok_or_else(|| crease::RunError::unknown_array(&self.kernel, array))?;
        Ok(self.kernel.array(id).element)
    }

    /// The element type of an observer's output.
    fn observed_element(&self, observer: &str, output: &str) -> Answer<Element> {
        let declared = self.kernel.observer(observer);
        let declared = declared.ok_or_else(|| crease::RunError::unknown_observer(&self.kernel, observer))?;
        let found = declared.arrays.iter().find(|declared| declared.name == output);
        let unknown = || crease::RunError::unknown_output(observer, &declared.arrays, output);
        Ok(found.ok_or_else(unknown)?.element)
    }

    /// As many steps as may be done until signals are looked at again; at most so many.
    fn some_steps(&self, py: Python<'_>, most: u64) -> Answer<u64> {
        let run = &mut *self.lock()?;
        self.kept.verify_unviewed("a step")?;
        let answer = py.detach(|| run.advance_for(LOOK, most));
        self.step.store(run.step(), Ordering::Release);
        Ok(answer?)
    }
}

#[pymethods]
impl Run {
    /// Threads that it takes.
    #[getter]
    fn threads(&self) -> usize {
        self.threads
    }

    /// Steps done so far. Any thread may ask at any time.
    #[getter]
    fn step(&self) -> i64 {
        self.step.load(Ordering::Acquire)
    }

    /// Views that exist.
    #[getter]
    fn views(&self) -> usize {
        self.kept.views()
    }

    /// Sets a scalar.
    fn set(&self, scalar: &str, value: f64) -> Answer<()> {
        Ok(self.lock()?.set(scalar, value)?)
    }

    /// A scalar as it was set.
    fn scalar(&self, scalar: &str) -> Answer<Option<f64>> {
        Ok(self.lock()?.scalar(scalar)?)
    }

    /// Puts the run at a step; all state then has to be given.
    fn set_step(&self, step: i64) -> Answer<()> {
        let mut run = self.lock()?;
        self.kept.verify_unviewed("another step")?;
        run.set_step(step)?;
        self.step.store(step, Ordering::Release);
        Ok(())
    }

    /// Lets a handle cancel this run's steps.
    fn cancel_with(&self, cancel: &Cancel) -> Answer<()> {
        self.lock()?.cancel_with(&cancel.cancel);
        Ok(())
    }

    /// First and last value of each index of an array.
    fn index_ranges(&self, array: &str) -> Answer<Vec<(i64, i64)>> {
        Ok(self.lock()?.index_ranges(array)?)
    }

    /// Runs more steps. Signal handlers run between parts of it; where one raises an exception, the run stays at the
    /// last whole step.
    fn advance(&self, py: Python<'_>, steps: u64) -> Answer<()> {
        let end = self.step().checked_add_unsigned(steps);
        let Some(end) = end.filter(|end| steps > 0 && *end < 1 << 62) else {
            // Whatever is wrong with that, the library says.
            return Ok(self.lock()?.advance(steps)?);
        };
        let mut left = steps;
        loop {
            left -= self.some_steps(py, left).map_err(|failure| failure.of_call(end))?;
            if left == 0 {
                return Ok(());
            }
            py.check_signals()?;
        }
    }

    /// The same, but for as many steps at the end as may be done at a time, which it returns.
    fn advance_but_last(&self, py: Python<'_>, steps: u64) -> Answer<u64> {
        let mut left = steps;
        let end = self.step().saturating_add_unsigned(steps);
        while left > self.lock()?.steps_in(LOOK) {
            left -= self.some_steps(py, left - 1).map_err(|failure| failure.of_call(end))?;
            py.check_signals()?;
        }
        Ok(left)
    }

    /// Looks for NaN in all states after every so many steps; 0 ends that.
    fn monitor_nan(&self, every: u64) -> Answer<()> {
        Ok(self.lock()?.monitor_nan(every)?)
    }

    /// Runs a kernel without state on the arrays written before.
    fn run_once(&self, py: Python<'_>) -> Answer<()> {
        let run = &mut *self.lock()?;
        self.kept.verify_unviewed("a call")?;
        Ok(py.detach(|| run.run_once())?)
    }

    /// Runs a kernel without state on these arrays, where they lie.
    fn run_on(
        slf: &Bound<'_, Self>,
        inputs: Vec<(String, Bound<'_, PyAny>)>,
        outputs: Vec<(String, Bound<'_, PyAny>)>,
    ) -> Answer<()> {
        let this = slf.get();
        let mut run = this.lock()?;
        inputs.iter().chain(&outputs).try_for_each(|(name, array)| verify_foreign(slf, name, array))?;
        let read = |(name, array): &(String, _)| Cells::of(array, name, this.element(name)?);
        let write = |(name, array): &(String, _)| CellsMut::of(array, name, this.element(name)?);
        let read: Vec<Cells<'_>> = inputs.iter().map(read).collect::<Answer<_>>()?;
        let mut written: Vec<CellsMut<'_>> = outputs.iter().map(write).collect::<Answer<_>>()?;
        let name = |(name, _): &(String, Bound<'_, PyAny>)| name.clone();
        let read_names: Vec<String> = inputs.iter().map(name).collect();
        let written_names: Vec<String> = outputs.iter().map(name).collect();
        let read: Vec<CellsView<'_>> = read.iter().map(Cells::view).collect();
        let written: Vec<CellsViewMut<'_>> = written.iter_mut().map(CellsMut::view_mut).collect();
        let run = &mut *run;
        let call = move || {
            let inputs = read_names.iter().map(String::as_str).zip(read.into_iter().map(Input::from));
            let outputs = written_names.iter().map(String::as_str).zip(written.into_iter().map(Output::from));
            run.run_on(&inputs.collect::<Vec<_>>(), &mut outputs.collect::<Vec<_>>())
        };
        Ok(slf.py().detach(call)?)
    }

    /// Whether there are such an observer and such outputs, without compiling it.
    fn verify_observed(&self, observer: &str, outputs: Vec<String>) -> Answer<()> {
        if self.kernel.observer(observer).is_none() {
            return Err(crease::RunError::unknown_observer(&self.kernel, observer).into());
        }
        outputs.iter().try_for_each(|output| self.observed_element(observer, output).map(drop))
    }

    /// The shape of an observer's output.
    fn observed_shape(&self, py: Python<'_>, observer: &str, output: &str) -> Answer<Vec<usize>> {
        let run = &*self.lock()?;
        Ok(py.detach(|| run.observed_shape(observer, output))?)
    }

    /// Computes an observer of the states as they are into these arrays, where they lie; or of those that some more
    /// steps leave, in the last of them if that is faster.
    #[pyo3(signature = (observer, outputs, steps = 0))]
    fn observe(
        slf: &Bound<'_, Self>,
        observer: &str,
        outputs: Vec<(String, Bound<'_, PyAny>)>,
        steps: u64,
    ) -> Answer<()> {
        let this = slf.get();
        let mut run = this.lock()?;
        if steps > 0 {
            this.kept.verify_unviewed("a step")?;
        }
        outputs.iter().try_for_each(|(name, array)| verify_foreign(slf, name, array))?;
        let run = &mut *run;
        let write = |(name, array): &(String, _)| CellsMut::of(array, name, this.observed_element(observer, name)?);
        let mut written: Vec<CellsMut<'_>> = outputs.iter().map(write).collect::<Answer<_>>()?;
        let names: Vec<String> = outputs.iter().map(|(name, _)| name.clone()).collect();
        let written: Vec<CellsViewMut<'_>> = written.iter_mut().map(CellsMut::view_mut).collect();
        let call = move || {
            let outputs = names.iter().map(String::as_str).zip(written.into_iter().map(Output::from));
            let mut outputs = outputs.collect::<Vec<_>>();
            let answer = match steps {
                0 => run.observe(observer, &mut outputs),
                _ => run.advance_observing(steps, observer, &mut outputs),
            };
            (run.step(), answer)
        };
        let (step, answer) = slf.py().detach(call);
        this.step.store(step, Ordering::Release);
        Ok(answer?)
    }

    /// Copies an array into a box.
    fn write(
        slf: &Bound<'_, Self>,
        array: &str,
        spans: Option<Vec<Span>>,
        back: u32,
        cells: &Bound<'_, PyAny>,
    ) -> Answer<()> {
        let (py, this) = (slf.py(), slf.get());
        let mut run = this.lock()?;
        verify_foreign(slf, array, cells)?;
        let (region, cells) = (region(spans, back), Cells::of(cells, array, this.element(array)?)?);
        let run = &mut *run;
        of_any_type!(Cells, &cells, cells => {
            let view = shown(cells);
            py.detach(|| run.write_box(array, &region, view))?;
        });
        Ok(())
    }

    /// Gives an input over steps values of some steps.
    fn write_steps(slf: &Bound<'_, Self>, array: &str, first: i64, cells: &Bound<'_, PyAny>) -> Answer<()> {
        let this = slf.get();
        let mut run = this.lock()?;
        verify_foreign(slf, array, cells)?;
        let cells = Cells::of(cells, array, this.element(array)?)?;
        of_any_type!(Cells, &cells, cells => run.write_steps(array, first, shown(cells))?);
        Ok(())
    }

    /// Copies a box into an array.
    fn read(
        slf: &Bound<'_, Self>,
        array: &str,
        spans: Option<Vec<Span>>,
        back: u32,
        cells: &Bound<'_, PyAny>,
    ) -> Answer<()> {
        let (py, this) = (slf.py(), slf.get());
        let run = this.lock()?;
        verify_foreign(slf, array, cells)?;
        let (region, mut cells) = (region(spans, back), CellsMut::of(cells, array, this.element(array)?)?);
        let run = &*run;
        of_any_type!(CellsMut, &mut cells, cells => {
            let view = shown_mut(cells);
            py.detach(|| run.read_box(array, &region, view))?;
        });
        Ok(())
    }

    /// A NumPy array of a box where it lies.
    fn view<'py>(
        slf: &Bound<'py, Self>,
        array: &str,
        spans: Option<Vec<Span>>,
        back: u32,
        writable: bool,
    ) -> Answer<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let (region, element) = (region(spans, back), this.element(array)?);
        let (kept, cells) = (&this.kept, (array, &region));
        with_element_type!(element, T => numpy_array::<T>(py, kept, cells, writable))
    }

    /// Folded memory, and where in it the cells of a box are.
    fn folded<'py>(&self, py: Python<'py>, array: &str, spans: Option<Vec<Span>>, back: u32) -> Answer<Described<'py>> {
        let (region, element) = (region(spans, back), self.element(array)?);
        let (kept, cells) = (&self.kept, (array, &region));
        with_element_type!(element, T => folded::<T>(py, kept, cells))
    }
}

/// Refuses an array that shows cells of the run itself: it would be read and written at a time.
fn verify_foreign(run: &Bound<'_, Run>, name: &str, array: &Bound<'_, PyAny>) -> Answer<()> {
    match View::is_of(array, &run.get().kept) {
        true => {
            let message = format!("the NumPy array for `{name}` is a view of this run; make a copy");
            Err(Failure::refused("py/overlap", message))
        }
        false => Ok(()),
    }
}

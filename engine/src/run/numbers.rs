//! A monitor for NaN: where a run went wrong, found while it runs.
//!
//! What looks is an observer like those of kernels: a reduction over all cells of all states, on folded storage, with
//! all threads. Only where it finds something are cells read one by one.

use crease_jit::ElementType;
use ndarray::{ArrayD, IxDyn};

use crate::error::Error;
use crate::kernel::graph::{Array, ArrayId, Element, Kernel, Observer, Role};
use crate::run::monitor::NanMonitor;
use crate::run::region::{IndexRange, Region};
use crate::run::{Run, RunError};

/// Cells that are read at a time where a NaN is looked for.
const CELLS_TO_SEARCH: usize = 1 << 16;

impl Run {
    /// Looks for NaN in all cells of all states after every `every` steps from now on, over however many calls; 0 ends
    /// that. Calls of `advance` and the like then stop at the step where one is found with [`RunError::NotANumber`],
    /// which names array, cell and step, and leave the states to be read. Calls are cut into shorter ones for that, and
    /// a look costs about as much as reading all states once, which is why it has to be asked for.
    ///
    /// ```
    /// use crease::prelude::*;
    ///
    /// let kernel = Kernel::parse(
    ///     "kernel growth(size N; run T) {
    ///        state u[t, x]: f64 for 0 <= x < N
    ///        S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = u[t-1,x] * u[t-1,x] - u[t-1,x] * u[t-1,x] / 2 }
    ///        schedule rows { S -> [t, x] }
    ///      }",
    /// )?;
    /// let mut run = kernel.plan().size("N", 100).build()?.compile()?.instantiate()?;
    /// run.fill("u", 1.0)?;
    /// run.fill_box("u", &crease::region![70..72], 8.0)?;
    /// run.monitor_nan(5)?;
    /// let error = run.advance(1000).unwrap_err();
    /// assert!(error.to_string().starts_with("`u[70]` is NaN after step 10"), "{error}");
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`RunError::NoSteps`] if the kernel has none; those of [`Run::observe`], where the look is compiled.
    pub fn monitor_nan(&mut self, every: u64) -> Result<(), Error> {
        if !self.shared.kernel().has_state() {
            return Err(RunError::NoSteps { kernel: self.kernel_name() }.into());
        }
        self.nan_monitor = (every > 0).then_some(NanMonitor { every, looked: self.step });
        Ok(())
    }

    /// Looks, if it is time to.
    pub(super) fn verify_numbers(&mut self) -> Result<(), Error> {
        let Some(monitor) = self.nan_monitor.filter(|monitor| monitor.steps_left(self.step) == 0) else {
            return Ok(());
        };
        let looked = monitor.looked;
        self.nan_monitor = Some(NanMonitor { looked: self.step, ..monitor });
        let written = self.shared.request.bound.written();
        let monitored: Vec<ArrayId> = monitored(written).collect();
        if monitored.is_empty() {
            return Ok(());
        }
        let observed = self.shared.observed_by("", || Observer::of_nan(written, &monitored))?;
        let mut counts = vec![0.0; monitored.len()];
        let names: Vec<String> = observed.outputs().iter().map(|output| output.name.clone()).collect();
        let mut outputs: Vec<_> = names.iter().map(String::as_str).zip(counts.iter_mut().map(Into::into)).collect();
        self.compute(&observed, &mut outputs)?;
        let Some(found) = counts.iter().position(|count| *count > 0.0) else { return Ok(()) };
        let array = &self.shared.kernel().array(monitored[found]).clone();
        let cell = match array.element {
            Element::F64 => self.first_nan::<f64>(array),
            Element::F32 => self.first_nan::<f32>(array),
            Element::F16 => self.first_nan::<crate::f16>(array),
            _ => unreachable!("integers are numbers"),
        }?;
        let (array, cells) = (array.name.clone(), counts[found] as u64);
        Err(RunError::NotANumber { array, cell, cells, step: self.step, looked }.into())
    }

    /// The first cell of a state, in logical order, that is NaN, as comma-separated indices.
    fn first_nan<T: ElementType + Into<f64>>(&self, array: &Array) -> Result<String, Error> {
        let ranges = self.index_ranges(&array.name)?;
        let whole = |(low, high): &(i64, i64)| IndexRange::from(*low..high.saturating_add(1));
        let (first, rest) = ranges.split_first().map_or((None, &[][..]), |(first, rest)| (Some(first), rest));
        let row: usize = rest.iter().map(|(low, high)| high.abs_diff(*low) as usize + 1).product();
        let (mut at, last) = first.map_or((0, 0), |(low, high)| (*low, *high));
        let rows = (CELLS_TO_SEARCH / row.max(1)).max(1) as i64;
        while at <= last {
            let end = at.saturating_add(rows).min(last.saturating_add(1));
            let slab = first.map(|_| IndexRange::from(at..end));
            let region = Region::new(slab.into_iter().chain(rest.iter().map(whole)));
            let mut cells = ArrayD::<T>::from_elem(IxDyn(&self.box_shape(&array.name, &region)?), T::default());
            self.read_box(&array.name, &region, cells.view_mut())?;
            let found = cells.indexed_iter().find(|(_, cell)| Into::<f64>::into(**cell).is_nan());
            if let Some((position, _)) = found {
                let lows = std::iter::once(at).take(slab.is_some() as usize).chain(rest.iter().map(|(low, _)| *low));
                let index = lows.enumerate().map(|(axis, low)| (low + position[axis] as i64).to_string());
                return Ok(index.collect::<Vec<_>>().join(", "));
            }
            at = end;
        }
        unreachable!("one was counted")
    }
}

/// States whose cells may be NaN.
fn monitored(kernel: &Kernel) -> impl Iterator<Item = ArrayId> {
    let may_be = |id: &ArrayId| {
        let Array { role, element, .. } = kernel.array(*id);
        *role == Role::State && !element.is_integer()
    };
    kernel.array_ids().filter(may_be)
}

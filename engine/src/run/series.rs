//! Inputs over steps: what a run was given of them, and the part that a call needs.
//!
//! In: values of some steps, whenever the caller has them.   Out: a ring of steps in the input's buffer, filled before
//! each call of the code with the steps that it reads. The code takes steps modulo the ring's length
//! (`engine/src/plan/layout.rs`), and a call that would need more is cut (`engine/src/run/drive.rs`).
//!
//! Values are kept from the step on that the next call needs, and forgotten behind it.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt::{self, Debug};
use std::ops::Range;

use crease_jit::{ElementType, Field};
use ndarray::{ArrayView, Dimension};

use crate::kernel::graph::ArrayId;
use crate::plan::layout::Owner;
use crate::run::RunError;
use crate::run::shared::Shared;

/// All inputs over steps of a run.
#[derive(Debug)]
pub(super) struct AllSeries(Vec<Series>);

/// One of them.
pub(super) struct Series {
    pub(super) array: ArrayId,
    name: String,
    /// Its buffer.
    buffer: usize,
    /// Steps that the buffer holds.
    ring: i64,
    /// The first step that there is.
    pub(super) low: i64,
    /// Which steps a step reads: from the first of these after it to the last.
    offsets: (i64, i64),
    values: Option<Box<dyn Values>>,
}

impl Debug for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Series").field("name", &self.name).field("steps", &self.steps()).finish_non_exhaustive()
    }
}

/// Values of consecutive steps, of some element type.
trait Values: Send + Sync {
    fn steps(&self) -> Range<i64>;
    /// Forgets what comes before a step.
    fn begin_at(&mut self, step: i64);
    /// Copies steps that are there into a ring of so many.
    fn fill(&self, field: &mut Field, ring: i64, steps: Range<i64>);
    fn as_any(&mut self) -> &mut dyn Any;
}

struct Rows<T> {
    first: i64,
    /// Cells of one step.
    row: usize,
    cells: VecDeque<T>,
}

impl<T: ElementType> Values for Rows<T> {
    fn steps(&self) -> Range<i64> {
        self.first..self.first + (self.cells.len() / self.row) as i64
    }

    fn begin_at(&mut self, step: i64) {
        let steps = self.steps();
        let first = step.clamp(steps.start, steps.end);
        self.cells.drain(..(first - steps.start) as usize * self.row);
        self.first = first;
    }

    fn fill(&self, field: &mut Field, ring: i64, steps: Range<i64>) {
        let places = field.as_mut_slice::<T>().expect("the buffer has the array's element type");
        for step in steps {
            let place = step.rem_euclid(ring) as usize * self.row;
            let cell = (step - self.first) as usize * self.row;
            for (place, value) in places[place..place + self.row].iter_mut().zip(self.cells.range(cell..)) {
                *place = *value;
            }
        }
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

impl Series {
    fn steps(&self) -> Range<i64> {
        self.values.as_ref().map_or(0..0, |values| values.steps())
    }

    /// The steps that a call from one step to another reads.
    pub(super) fn needed(&self, from: i64, to: i64) -> Range<i64> {
        let (first, last) = self.offsets;
        let low = from.saturating_add(1).saturating_add(first).max(self.low);
        low..to.saturating_add(last).saturating_add(1).max(low)
    }

    /// Takes values of steps from `first` to before `end`.
    pub(super) fn put<T: ElementType, D: Dimension>(
        &mut self,
        first: i64,
        end: i64,
        view: ArrayView<'_, T, D>,
    ) -> Result<(), RunError> {
        let row = view.len() / first.abs_diff(end).max(1) as usize;
        if row == 0 {
            return Ok(());
        }
        if first < self.low {
            return Err(RunError::StepBeforeFirst { array: self.name.clone(), step: first, first: self.low });
        }
        let known = self.steps();
        if known.is_empty() {
            self.values = Some(Box::new(Rows::<T> { first, row, cells: VecDeque::new() }));
        } else if first > known.end || end < known.start {
            let (array, known_first, known_last) = (self.name.clone(), known.start, known.end - 1);
            return Err(RunError::StepsApart { array, first, last: end - 1, known_first, known_last });
        }
        let values = self.values.as_mut().expect("there are some now").as_any();
        let rows: &mut Rows<T> = values.downcast_mut().expect("they are of the array's element type");
        rows.put(first, view);
        Ok(())
    }
}

impl AllSeries {
    pub(super) fn new(shared: &Shared) -> AllSeries {
        let kernel = shared.kernel();
        let series = |array| {
            let buffers = &shared.outcome.layout.buffers;
            let buffer = buffers.iter().position(|b| b.owner == Owner::Input(array)).expect("inputs have buffers");
            Series {
                array,
                name: kernel.array(array).name.clone(),
                buffer,
                ring: buffers[buffer].moduli[0],
                low: shared.outcome.index_boxes[array.index()][0].0,
                offsets: kernel.series_offsets(array),
                values: None,
            }
        };
        AllSeries(kernel.array_ids().filter(|&id| kernel.is_series(id)).map(series).collect())
    }

    /// That of an array, if it is one.
    pub(super) fn of(&self, array: ArrayId) -> Option<&Series> {
        self.0.iter().find(|series| series.array == array)
    }

    pub(super) fn of_mut(&mut self, array: ArrayId) -> Option<&mut Series> {
        self.0.iter_mut().find(|series| series.array == array)
    }

    /// Most steps of one call of the code: what rings have room for.
    pub(super) fn most_steps(&self) -> u64 {
        let room = |series: &Series| series.ring - (series.offsets.1 - series.offsets.0);
        self.0.iter().map(room).min().map_or(u64::MAX, |room| room.max(1) as u64)
    }

    /// Checks that everything was given that steps after `from` until `to` read.
    pub(super) fn verify(&self, kernel: &str, from: i64, to: i64) -> Result<(), RunError> {
        for series in &self.0 {
            let (needed, given) = (series.needed(from, to), series.steps());
            let is_there = |step: &i64| given.contains(step);
            if needed.is_empty() || is_there(&needed.start) && is_there(&(needed.end - 1)) {
                continue;
            }
            let step = if is_there(&needed.start) { given.end } else { needed.start };
            let (kernel, array) = (kernel.to_string(), series.name.clone());
            return Err(RunError::StepsNotGiven { kernel, array, step, first: needed.start, last: needed.end - 1 });
        }
        Ok(())
    }

    /// Fills the rings with what a call from one step to another reads.
    pub(super) fn fill(&self, fields: &mut [Option<Field>], from: i64, to: i64) {
        for series in &self.0 {
            if let (Some(values), Some(field)) = (&series.values, &mut fields[series.buffer]) {
                values.fill(field, series.ring, series.needed(from, to));
            }
        }
    }

    /// Begins with another step: forgets what no step after it reads, and what leaves a gap behind it.
    pub(super) fn begin_at(&mut self, step: i64) {
        for series in &mut self.0 {
            if !series.steps().contains(&series.needed(step, step).start) {
                series.values = None;
            }
        }
        self.pass(step);
    }

    /// Forgets what no step after this one reads.
    pub(super) fn pass(&mut self, step: i64) {
        for series in &mut self.0 {
            let first = series.needed(step, step).start;
            if let Some(values) = &mut series.values {
                values.begin_at(first);
            }
        }
    }
}

impl<T: ElementType> Rows<T> {
    /// Values of steps that leave no gap to those that are there.
    fn put<D: Dimension>(&mut self, first: i64, view: ArrayView<'_, T, D>) {
        let before = self.first.saturating_sub(first).max(0) as usize * self.row;
        for value in view.iter().take(before).collect::<Vec<_>>().into_iter().rev() {
            self.cells.push_front(*value);
        }
        self.first = self.first.min(first);
        let begin = (first - self.first) as usize * self.row;
        for (at, value) in (begin..).zip(view) {
            match self.cells.get_mut(at) {
                Some(cell) => *cell = *value,
                None => self.cells.push_back(*value),
            }
        }
    }
}

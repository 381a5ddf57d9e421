//! Borrowed arrays: kernels without state run on the caller's arrays, where they lie.

use crease::{Input, Output, with_element_type};

use crate::handle::Handle;
use crate::kernel::element_of;
use crate::memory::{Address, Cells};
use crate::raw::{List, Text, exports};
use crate::run::RunBody;
use crate::status::Failure;

/// An array of the caller, with its name.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct ArrayArgument {
    name: Text,
    data: Address,
    element: i32,
    rank: usize,
    shape: List<usize>,
    strides: List<isize>,
}

impl ArrayArgument {
    fn name(&self) -> Result<&str, Failure> {
        Ok(self.name.get("name of an array")?)
    }

    /// Where its cells are.
    pub(crate) fn cells(&self) -> Result<Cells<'_>, Failure> {
        Ok(Cells::new(self.name()?, self.data, self.rank, &self.shape, &self.strides)?)
    }

    fn input<'c>(&self, cells: &'c Cells<'_>) -> Result<Input<'c>, Failure> {
        Ok(with_element_type!(element_of(self.element)?, T => Input::from(cells.view::<T>()?)))
    }

    fn output<'c>(&self, cells: &'c Cells<'_>) -> Result<Output<'c>, Failure> {
        Ok(with_element_type!(element_of(self.element)?, T => Output::from(cells.view_mut::<T>()?)))
    }
}

/// Arrays to write to, by name.
pub(crate) fn written<'c>(
    arrays: &'c [ArrayArgument],
    cells: &'c [Cells<'_>],
) -> Result<Vec<(&'c str, Output<'c>)>, Failure> {
    arrays.iter().zip(cells).map(|(array, cells)| Ok((array.name()?, array.output(cells)?))).collect()
}

exports! {
    fn crease_run_on(
        run: Handle<RunBody>,
        inputs: List<ArrayArgument>,
        input_count: usize,
        outputs: List<ArrayArgument>,
        output_count: usize,
    ) {
        let body = run.get("run")?;
        let (inputs, outputs) = (inputs.get("inputs", input_count)?, outputs.get("outputs", output_count)?);
        let read: Vec<Cells<'_>> = inputs.iter().map(ArrayArgument::cells).collect::<Result<_, Failure>>()?;
        let write: Vec<Cells<'_>> = outputs.iter().map(ArrayArgument::cells).collect::<Result<_, Failure>>()?;
        let inputs = inputs.iter().zip(&read).map(|(array, cells)| Ok((array.name()?, array.input(cells)?)));
        let inputs = inputs.collect::<Result<Vec<_>, Failure>>()?;
        let mut outputs = written(outputs, &write)?;
        Ok(body.take()?.run_on(&inputs, &mut outputs)?)
    }
}

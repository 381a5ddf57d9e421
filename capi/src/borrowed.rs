//! Borrowed arrays: kernels without state run on the caller's arrays, where they lie.

use crease::{CallError, Input, Output, RunError, with_element_type};

use crate::handle::Handle;
use crate::kernel::{element_of, rank};
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
    pub(crate) fn name(&self) -> Result<&str, Failure> {
        Ok(self.name.get("name of an array")?)
    }

    /// Where its cells are, in an array of this rank.
    pub(crate) fn cells(&self, rank: usize) -> Result<Cells<'_>, Failure> {
        Cells::new(self.name()?, self.data, (self.rank, rank), &self.shape, &self.strides)
    }

    fn input<'c>(&self, cells: &'c Cells<'_>) -> Result<Input<'c>, Failure> {
        Ok(with_element_type!(element_of(self.element)?, T => Input::from(cells.view::<T>()?)))
    }

    fn output<'c>(&self, cells: &'c Cells<'_>) -> Result<Output<'c>, Failure> {
        Ok(with_element_type!(element_of(self.element)?, T => Output::from(cells.view_mut::<T>()?)))
    }
}

/// Where the cells of arrays of a run's kernel are.
fn cells_for<'c>(run: &RunBody, arrays: &'c [ArrayArgument]) -> Result<Vec<Cells<'c>>, Failure> {
    arrays.iter().map(|array| array.cells(rank(&run.kernel, run.array(array.name()?)?))).collect()
}

/// Whether numbers, arrays of rank 0, share nothing with each other and with dense arrays: the engine reduces into numbers
/// of its own, so that its check of what a call is given does not see them.
pub(crate) fn verify_numbers_apart(arrays: &[ArrayArgument], cells: &[Cells<'_>]) -> Result<(), Failure> {
    let addresses = |(array, cells): (&ArrayArgument, &Cells<'_>)| -> Result<_, Failure> {
        Ok(cells.dense_addresses(element_of(array.element)?.bytes()).unwrap_or_default())
    };
    let all = arrays.iter().zip(cells).map(addresses).collect::<Result<Vec<_>, _>>()?;
    for (number, own) in arrays.iter().zip(&all).filter(|(array, _)| array.rank == 0) {
        for (other, theirs) in arrays.iter().zip(&all) {
            // One that is given twice is told by the engine.
            let meets = own.start < theirs.end && theirs.start < own.end;
            if meets && number.name()? != other.name()? {
                let (first, second) = (number.name()?.to_string(), other.name()?.to_string());
                return Err(RunError::from(CallError::Overlap { first, second }).into());
            }
        }
    }
    Ok(())
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
        let read = cells_for(&body, inputs)?;
        let write = cells_for(&body, outputs)?;
        let inputs = inputs.iter().zip(&read).map(|(array, cells)| Ok((array.name()?, array.input(cells)?)));
        let inputs = inputs.collect::<Result<Vec<_>, Failure>>()?;
        let mut outputs = written(outputs, &write)?;
        Ok(body.take()?.run_on(&inputs, &mut outputs)?)
    }
}

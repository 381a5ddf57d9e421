//! Inputs over steps: from files with a row for each step, or one number for all.
//!
//! In: a run, and what the command line says.   Out: the values of all steps until the last.

use std::convert::identity;

use crease::kernel::graph::{Array, Element};
use crease::{ElementType, Run, f16, with_element_type};
use ndarray::ArrayD;
use ndarray_npy::ReadableElement;

use crate::error::CommandError;
use crate::kernel_source::KernelSource;
use crate::run_request::RunRequest;
use crate::start_values::{cell_value, read, unset};

/// Gives an input over steps to the run. The first row of a file is that of the first step that the kernel declares; a
/// number is that of all steps until `end`.
pub(crate) fn give(
    run: &mut Run,
    source: &KernelSource,
    array: &Array,
    request: &RunRequest,
    end: u64,
) -> Result<(), CommandError> {
    let name = &array.name;
    if let Some(fill) = request.fills.iter().rev().find(|fill| fill.name == *name) {
        return with_element_type!(array.element, T => fill_with(run, name, end, cell_value::<T>(fill)?));
    }
    let Some((_, path)) = request.inputs.iter().find(|(given, _)| given == name) else {
        return Err(unset(source, "the input over steps", name.clone()));
    };
    match array.element {
        Element::F64 => put::<f64, _>(run, name, read(path, array)?, identity),
        Element::F32 => put::<f32, _>(run, name, read(path, array)?, identity),
        Element::F16 => put(run, name, read(path, array)?, f16::from_f32),
        Element::U8 => put::<u8, _>(run, name, read(path, array)?, identity),
        Element::I8 => put::<i8, _>(run, name, read(path, array)?, identity),
        Element::I16 => put::<i16, _>(run, name, read(path, array)?, identity),
        Element::U16 => put::<u16, _>(run, name, read(path, array)?, identity),
        Element::I32 => put::<i32, _>(run, name, read(path, array)?, identity),
        Element::U32 => put::<u32, _>(run, name, read(path, array)?, identity),
        Element::I64 => put::<i64, _>(run, name, read(path, array)?, identity),
    }
}

fn put<T: ElementType, F: ReadableElement + Clone + 'static>(
    run: &mut Run,
    name: &str,
    rows: ArrayD<F>,
    cell: fn(F) -> T,
) -> Result<(), CommandError> {
    let first = run.first_step(name)?;
    Ok(run.write_steps(name, first, rows.mapv_into_any(cell).view())?)
}

fn fill_with<T: ElementType>(run: &mut Run, name: &str, end: u64, value: T) -> Result<(), CommandError> {
    let steps = run.steps_read(name, end.saturating_sub(run.step().unsigned_abs()))?;
    let shape: Vec<usize> = std::iter::once(steps.clone().count()).chain(run.shape(name)?).collect();
    Ok(run.write_steps(name, steps.start, ArrayD::from_elem(shape, value).view())?)
}

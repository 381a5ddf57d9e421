//! Inputs over steps: from files with a row for each step, or one number for all.
//!
//! In: a run, and what the command line says.   Out: the values of all steps until the last.

use std::convert::identity;
use std::ops::Range;
use std::path::Path;

use crease::kernel::graph::{Array, Element};
use crease::{ElementType, Run, f16, with_element_type};
use ndarray::ArrayD;
use ndarray_npy::ReadableElement;

use crate::error::CommandError;
use crate::kernel_source::KernelSource;
use crate::run_request::RunRequest;
use crate::start_values::{cell_value, read, unset};

/// Cells that are filled at once: some MiB.
const CELLS_OF_A_BLOCK: usize = 1 << 19;

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
        Element::F64 => put::<f64, _>(run, array, path, identity),
        Element::F32 => put::<f32, _>(run, array, path, identity),
        Element::F16 => put(run, array, path, f16::from_f32),
        Element::U8 => put::<u8, _>(run, array, path, identity),
        Element::I8 => put::<i8, _>(run, array, path, identity),
        Element::I16 => put::<i16, _>(run, array, path, identity),
        Element::U16 => put::<u16, _>(run, array, path, identity),
        Element::I32 => put::<i32, _>(run, array, path, identity),
        Element::U32 => put::<u32, _>(run, array, path, identity),
        Element::I64 => put::<i64, _>(run, array, path, identity),
    }
}

fn put<T: ElementType, F: ReadableElement + Clone + 'static>(
    run: &mut Run,
    array: &Array,
    path: &Path,
    cell: fn(F) -> T,
) -> Result<(), CommandError> {
    let first = run.first_step(&array.name)?;
    let shape: Vec<_> = std::iter::once(None).chain(run.shape(&array.name)?.into_iter().map(Some)).collect();
    let rows = read(path, array, &shape)?;
    Ok(run.write_steps(&array.name, first, rows.mapv_into_any(cell).view())?)
}

/// In blocks, so that what is filled is there once.
fn fill_with<T: ElementType>(run: &mut Run, name: &str, end: u64, value: T) -> Result<(), CommandError> {
    let (steps, row) = (steps_until(run, name, end)?, run.shape(name)?);
    let cells = row.iter().product::<usize>().max(1);
    let block = (CELLS_OF_A_BLOCK / cells).max(1);
    for first in steps.clone().step_by(block) {
        let rows = first.abs_diff(steps.end).min(block as u64) as usize;
        let shape: Vec<usize> = std::iter::once(rows).chain(row.iter().copied()).collect();
        run.write_steps(name, first, ArrayD::from_elem(shape, value).view())?;
    }
    Ok(())
}

/// The steps of an input that the run reads until `end`.
fn steps_until(run: &Run, name: &str, end: u64) -> Result<Range<i64>, CommandError> {
    Ok(run.steps_read(name, end.saturating_sub(run.step().unsigned_abs()))?)
}

/// Bytes of inputs over steps that numbers fill until `end`: the run holds each step's cells until it has been read.
pub(crate) fn filled_bytes(run: &Run, request: &RunRequest, end: u64) -> Result<u64, CommandError> {
    let mut bytes = 0_u64;
    let kernel = run.kernel();
    for id in kernel.array_ids().filter(|&id| kernel.is_series(id)) {
        let array = kernel.array(id);
        if request.fills.iter().any(|fill| fill.name == array.name) {
            let steps = steps_until(run, &array.name, end)?;
            let row =
                run.shape(&array.name)?.into_iter().fold(1_u64, |cells, extent| cells.saturating_mul(extent as u64));
            let cells = steps.start.abs_diff(steps.end.max(steps.start)).saturating_mul(row);
            bytes = bytes.saturating_add(cells.saturating_mul(array.element.bytes()));
        }
    }
    Ok(bytes)
}

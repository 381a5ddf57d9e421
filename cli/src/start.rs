//! What a run starts from: a checkpoint, arrays in files, numbers, or the catalogue's initial data.
//!
//! In: a run, and what the command line says.   Out: the run with everything that its first step reads, or what is missing.

use std::convert::identity;
use std::path::Path;

use crease::kernel::graph::{Array, Element, Role};
use crease::{ElementType, Run, f16, with_element_type};
use crease_files::checkpoint::Checkpoint;
use crease_kernels::{Fields, transfer};
use ndarray_npy::ReadableElement;

use crate::error::CommandError;
use crate::kernel_source::KernelSource;
use crate::run_request::RunRequest;
use crate::settings::{Assignment, Settings};
use crate::start_values::{cell_value, read, unset};
use crate::steps;

/// Gives the run everything that it starts from: what a checkpoint holds, if there is one, then what options name, then
/// what is missing. Initial data are gone when it returns.
pub(crate) fn start(
    run: &mut Run,
    source: &KernelSource,
    settings: &Settings,
    request: &RunRequest,
    restart: Option<&Checkpoint>,
) -> Result<(), CommandError> {
    if let Some(checkpoint) = restart {
        checkpoint.restore(run)?;
    }
    let is_assigned = |name: &str| request.request.assignments.iter().any(|assigned| assigned.name == name);
    for (name, value) in &settings.scalars {
        // What the checkpoint has counts more than the catalogue, and less than the command line.
        if is_assigned(name) || run.scalar(name)?.is_none() {
            run.set(name, *value)?;
        }
    }
    for scalar in source.kernel.scalars() {
        if settings.steps != Some(0) && run.scalar(&scalar.name)?.is_none() {
            let (kernel, name) = (source.kernel.name().to_owned(), scalar.name.clone());
            return Err(CommandError::Unset { kernel, what: "a value for scalar", name, option: "--set NAME=VALUE" });
        }
    }
    let is_restored = |name: &str| restart.is_some_and(|checkpoint| checkpoint.holds(name));
    let starts = source.starting_arrays();
    let is_made = starts.iter().any(|name| !request.gives(name) && !is_restored(name));
    let initial = if is_made { initial_data(source, settings)? } else { None };
    for array in source.kernel.arrays().iter().filter(|array| starts.contains(&array.name)) {
        match (is_restored(&array.name), request.gives(&array.name)) {
            (true, false) => {}
            (true, true) if array.role == Role::State => {
                return Err(CommandError::GivenTwice { name: array.name.clone() });
            }
            _ => give(run, source, array, request, initial.as_ref(), settings.steps.unwrap_or(0))?,
        }
    }
    Ok(())
}

/// How the command line calls a level of an array: `u` the newest one, `u@1` the one before.
pub(crate) fn level(array: &Array, back: u32) -> String {
    if back == 0 { array.name.clone() } else { format!("{}@{back}", array.name) }
}

fn initial_data(source: &KernelSource, settings: &Settings) -> Result<Option<Fields>, CommandError> {
    let Some(entry) = source.entry else { return Ok(None) };
    let mut case = entry.case(&entry.default);
    case.sizes.clone_from(&settings.sizes);
    case.scalars.clone_from(&settings.scalars);
    Ok(Some((entry.initial)(&case)?))
}

/// Gives one array to the run, all of its levels.
fn give(
    run: &mut Run,
    source: &KernelSource,
    array: &Array,
    request: &RunRequest,
    initial: Option<&Fields>,
    end: u64,
) -> Result<(), CommandError> {
    let name = &array.name;
    let id = source.kernel.array_id(name).expect("the array is the kernel's");
    if source.kernel.is_series(id) {
        return steps::give(run, source, array, request, end);
    }
    if let Some(fill) = request.fills.iter().rev().find(|fill| fill.name == *name) {
        return fill_with(run, array, fill);
    }
    for back in 0..source.kernel.state_depth(id).max(1) {
        let level = level(array, back);
        if let Some((_, path)) = request.inputs.iter().find(|(given, _)| *given == level) {
            read_level(run, array, back, path)?;
            continue;
        }
        match initial.and_then(|fields| fields.get(&level)) {
            Some(field) => transfer::write_back(run, array, back, field)?,
            None => {
                let what = match array.role {
                    Role::State => "the state",
                    Role::Output => "the live-in output",
                    _ => "the input",
                };
                return Err(unset(source, what, level));
            }
        }
    }
    Ok(())
}

fn fill_with(run: &mut Run, array: &Array, fill: &Assignment) -> Result<(), CommandError> {
    with_element_type!(array.element, T => run.fill(&array.name, cell_value::<T>(fill)?)?);
    Ok(())
}

fn read_level(run: &mut Run, array: &Array, back: u32, path: &Path) -> Result<(), CommandError> {
    match array.element {
        Element::F64 => read_into::<f64, _>(run, array, back, path, identity),
        Element::F32 => read_into::<f32, _>(run, array, back, path, identity),
        Element::F16 => read_into(run, array, back, path, f16::from_f32),
        Element::U8 => read_into::<u8, _>(run, array, back, path, identity),
        Element::I8 => read_into::<i8, _>(run, array, back, path, identity),
        Element::I16 => read_into::<i16, _>(run, array, back, path, identity),
        Element::U16 => read_into::<u16, _>(run, array, back, path, identity),
        Element::I32 => read_into::<i32, _>(run, array, back, path, identity),
        Element::U32 => read_into::<u32, _>(run, array, back, path, identity),
        Element::I64 => read_into::<i64, _>(run, array, back, path, identity),
    }
}

/// Writes the array of a file to one level of the run's.
fn read_into<T: ElementType, F: ReadableElement + Clone + 'static>(
    run: &mut Run,
    array: &Array,
    back: u32,
    path: &Path,
    cell: fn(F) -> T,
) -> Result<(), CommandError> {
    let shape: Vec<_> = run.shape(&array.name)?.into_iter().map(Some).collect();
    let cells = read(path, array, &shape)?;
    Ok(run.write_back(&array.name, back, cells.mapv_into_any(cell).view())?)
}

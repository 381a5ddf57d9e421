//! Values that arrays start from: out of files, and numbers on the command line.

use std::path::Path;

use crease::ElementType;
use crease::kernel::graph::{Array, Element};
use ndarray::ArrayD;
use ndarray_npy::{ReadableElement, read_npy};

use crate::error::CommandError;
use crate::kernel_source::KernelSource;
use crate::settings::Assignment;

/// The error of an array that is not given.
pub(crate) fn unset(source: &KernelSource, what: &'static str, name: String) -> CommandError {
    let kernel = source.kernel.name().to_owned();
    CommandError::Unset { kernel, what, name, option: "--input NAME=FILE.npy or --fill NAME=NUMBER" }
}

/// A number that cells of a type can hold: rounded to floating-point types.
pub(crate) fn cell_value<T: ElementType>(fill: &Assignment) -> Result<T, CommandError> {
    let wanted = || match T::ELEMENT {
        Element::U8 => "ARRAY=NUMBER, whole and from 0 to 255",
        _ => "ARRAY=NUMBER, one that cells of this array can hold",
    };
    let value = fill.number()?;
    // The double is then not what was said.
    let is_rounded = T::ELEMENT == Element::I64 && value.abs() > (1_u64 << 53) as f64;
    let cell = T::from_number(value).filter(|_| !is_rounded);
    cell.ok_or_else(|| fill.bad(wanted()))
}

/// What a file holds for an array. That of `f16` cells holds `f32`, as the library for files has no half precision.
pub(crate) fn read<F: ReadableElement>(path: &Path, array: &Array) -> Result<ArrayD<F>, CommandError> {
    let cells = if array.element == Element::F16 { Element::F32 } else { array.element };
    read_npy(path).map_err(|error| {
        let message = format!("{error}; array `{}` takes an .npy file of {}", array.name, cells.name());
        CommandError::BadArray { path: path.to_owned(), message }
    })
}

//! Values that arrays start from: out of files, and numbers on the command line.

use std::path::Path;

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

/// A number that a cell of a byte can hold.
pub(crate) fn byte(fill: &Assignment) -> Result<u8, CommandError> {
    fill.value.parse().map_err(|_| fill.bad("ARRAY=NUMBER, whole and from 0 to 255"))
}

/// The array of a file.
pub(crate) fn read<F: ReadableElement>(path: &Path) -> Result<ArrayD<F>, CommandError> {
    read_npy(path).map_err(|error| CommandError::BadArray { path: path.to_owned(), message: error.to_string() })
}

//! Values that arrays start from: out of files, and numbers on the command line.

use std::fs::File;
use std::io::{BufReader, Seek};
use std::path::Path;

use crease::ElementType;
use crease::kernel::graph::{Array, Element};
use ndarray::ArrayD;
use ndarray_npy::npy::header::Header;
use ndarray_npy::{ReadNpyError, ReadableElement, read_npy};

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

/// What a file holds for an array, which has `shape`; none where any number of rows will do. That of `f16` cells holds
/// `f32`, as the library for files has no half precision.
pub(crate) fn read<F: ReadableElement>(
    path: &Path,
    array: &Array,
    shape: &[Option<usize>],
) -> Result<ArrayD<F>, CommandError> {
    let cells = if array.element == Element::F16 { Element::F32 } else { array.element };
    let bad = |message: String| CommandError::BadArray { path: path.to_owned(), message };
    let wanted =
        |error: ReadNpyError| bad(format!("{error}; array `{}` takes an .npy file of {}", array.name, cells.name()));
    verify_size::<F>(path, array, shape).map_err(wanted)?.map_err(bad)?;
    read_npy(path).map_err(wanted)
}

/// Whether the file is of that shape, and as long as its header says; in words, if not. Nothing is allocated before, as
/// a header of some bytes can name any number of cells.
fn verify_size<F>(path: &Path, array: &Array, shape: &[Option<usize>]) -> Result<Result<(), String>, ReadNpyError> {
    let mut file = BufReader::new(File::open(path)?);
    let header = Header::from_reader(&mut file)?;
    let fits = header.shape.len() == shape.len()
        && header.shape.iter().zip(shape).all(|(found, wanted)| wanted.is_none_or(|wanted| *found == wanted));
    if !fits {
        let extents = shape.iter().map(|extent| extent.map_or("steps".to_owned(), |extent| extent.to_string()));
        let wanted = extents.collect::<Vec<_>>().join(", ");
        return Ok(Err(format!("an array of shape {:?}, but `{}` has [{wanted}]", header.shape, array.name)));
    }
    // Cells of another type are told by the library, which then reads nothing.
    let descriptor = header.type_descriptor.to_string();
    let cell: u64 = descriptor.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0);
    if cell != size_of::<F>() as u64 {
        return Ok(Ok(()));
    }
    let cells = header.shape.iter().try_fold(1_u64, |cells, extent| cells.checked_mul(*extent as u64));
    let bytes = cells.and_then(|cells| cells.checked_mul(cell));
    let (metadata, begin) = (file.get_ref().metadata()?, file.stream_position().unwrap_or(0));
    let held = metadata.len().saturating_sub(begin);
    match bytes {
        Some(bytes) if !metadata.is_file() || bytes <= held => Ok(Ok(())),
        _ => Ok(Err(format!(
            "an array of shape {:?} and cells of {cell} bytes, of which the file holds {held} bytes",
            header.shape
        ))),
    }
}

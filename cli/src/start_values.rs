//! Values that arrays start from: out of files, and numbers on the command line.

use std::any::Any;
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
    // Doubles have not all of them.
    if T::ELEMENT == Element::I64
        && let Ok(whole) = fill.value.parse::<i64>()
        && let Some(cell) = (&whole as &dyn Any).downcast_ref::<T>()
    {
        return Ok(*cell);
    }
    let wanted = || match T::ELEMENT {
        Element::U8 => "ARRAY=NUMBER, whole and from 0 to 255",
        _ => "ARRAY=NUMBER, one that cells of this array can hold",
    };
    let value = fill.number()?;
    // The double may then not be what was said.
    let is_rounded = T::ELEMENT == Element::I64 && value.abs() >= (1_u64 << 53) as f64;
    let cell = T::from_number(value).filter(|_| !is_rounded);
    cell.ok_or_else(|| fill.bad(wanted()))
}

/// What a file holds for an array, which has `shape`; none where any number of rows will do. That of `f16` cells holds
/// `f32`, as the library for files has no half precision.
///
/// A header of some bytes can name any number of cells, so that of a file is read before there is room for these. What
/// is no file, such as a pipe, can be read once alone.
pub(crate) fn read<F: ReadableElement>(
    path: &Path,
    array: &Array,
    shape: &[Option<usize>],
) -> Result<ArrayD<F>, CommandError> {
    let cells = if array.element == Element::F16 { Element::F32 } else { array.element };
    let bad = |message: String| CommandError::BadArray { path: path.to_owned(), message };
    let wanted =
        |error: ReadNpyError| bad(format!("{error}; array `{}` takes an .npy file of {}", array.name, cells.name()));
    if path.is_file() {
        let (header, held) = header(path).map_err(wanted)?;
        verify_shape(&header.shape, array, shape).map_err(bad)?;
        verify_length(&header, size_of::<F>() as u64, held).map_err(bad)?;
    }
    let found: ArrayD<F> = read_npy(path).map_err(wanted)?;
    verify_shape(found.shape(), array, shape).map_err(bad)?;
    Ok(found)
}

/// The header of a file, and the bytes behind it.
fn header(path: &Path) -> Result<(Header, u64), ReadNpyError> {
    let mut file = BufReader::new(File::open(path)?);
    let header = Header::from_reader(&mut file)?;
    let begin = file.stream_position()?;
    Ok((header, file.get_ref().metadata()?.len().saturating_sub(begin)))
}

/// Whether that is the shape of the array; in words, if not.
fn verify_shape(found: &[usize], array: &Array, shape: &[Option<usize>]) -> Result<(), String> {
    let fits = |(found, wanted): (&usize, &Option<usize>)| wanted.is_none_or(|wanted| *found == wanted);
    if found.len() == shape.len() && found.iter().zip(shape).all(fits) {
        return Ok(());
    }
    let extents = shape.iter().map(|extent| extent.map_or("steps".to_owned(), |extent| extent.to_string()));
    let wanted = extents.collect::<Vec<_>>().join(", ");
    Err(format!("an array of shape {found:?}, but `{}` has [{wanted}]", array.name))
}

/// Whether a file holds all cells that its header names, if they have that many bytes: of those of another type the
/// library reads nothing. In words, if not.
fn verify_length(header: &Header, cell: u64, held: u64) -> Result<(), String> {
    let descriptor = header.type_descriptor.to_string();
    if descriptor.trim_matches(|c: char| !c.is_ascii_digit()).parse() != Ok(cell) {
        return Ok(());
    }
    let bytes = header.shape.iter().try_fold(cell, |bytes, extent| bytes.checked_mul(*extent as u64));
    if bytes.is_some_and(|bytes| bytes <= held) {
        return Ok(());
    }
    let shape = &header.shape;
    Err(format!("an array of shape {shape:?} and cells of {cell} bytes, of which the file holds {held} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_64_bits_are_what_is_said_or_refused() {
        let value = |text: &str| cell_value::<i64>(&text.parse().unwrap()).ok();
        assert_eq!(value("a=9223372036854775807"), Some(i64::MAX));
        assert_eq!(value("a=-9223372036854775808"), Some(i64::MIN));
        assert_eq!(value("a=9007199254740993"), Some((1 << 53) + 1));
        assert_eq!(
            (value("a=9007199254740993.0"), value("a=1e18"), value("a=9223372036854775808")),
            (None, None, None)
        );
        assert_eq!((value("a=1e15"), value("a=0.5")), (Some(1_000_000_000_000_000), None));
        assert_eq!(cell_value::<f64>(&"a=9007199254740993".parse().unwrap()).ok(), Some(9_007_199_254_740_992.0));
    }
}

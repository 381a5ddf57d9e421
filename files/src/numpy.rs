//! Arrays of NumPy: `.npy`, one field each, and `.npz`, all fields of a step.
//!
//! In: fields of any number of indices.   Out: files in C order. The crate for these formats has no half precision, so
//! that `f16` cells become `float32`.

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use ndarray::{ArrayD, IxDyn, arr0};
use ndarray_npy::{NpzWriter, WritableElement, write_zeroed_npy};

use crate::error::OutputError;
use crate::field::{Field, Source};
use crate::partial::{Durability, Partial};
use crate::slabs::{self, Cell};
use crease::with_element_type;

/// Writes one field at the current step of a run, piece by piece.
pub(crate) fn write_npy(source: &Source<'_>, field: &Field, path: &Path) -> Result<(), OutputError> {
    let mut partial = Partial::create(path)?;
    with_element_type!(field.element, T => write_cells::<T>(source, field, &mut partial, path))?;
    Ok(partial.commit(Durability::Buffered)?)
}

fn write_cells<T: Cell>(
    source: &Source<'_>,
    field: &Field,
    partial: &mut Partial,
    path: &Path,
) -> Result<(), OutputError>
where
    T::Wide: WritableElement,
{
    // A header, and zeros that take no time: cells go where they are.
    let shape = IxDyn(&slabs::shape(&field.ranges));
    write_zeroed_npy::<T::Wide, _>(partial.file(), shape).map_err(encode(path))?;
    let cells = slabs::cells(&field.ranges).unwrap_or(0) * size_of::<T::Wide>() as u64;
    let end = partial.file().seek(SeekFrom::End(0)).map_err(partial.refused())?;
    partial.file().seek(SeekFrom::Start(end - cells)).map_err(partial.refused())?;
    source.write::<T>(field, partial)
}

/// Writes all fields at the current step of a run, with `step` and `time`; one field at a time is in memory.
pub(crate) fn write_npz(source: &Source<'_>, fields: &[Field], path: &Path, time: f64) -> Result<(), OutputError> {
    let mut partial = Partial::create(path)?;
    let mut archive = NpzWriter::new(partial.file());
    archive.add_array("step", &arr0(source.run.step())).map_err(encode(path))?;
    archive.add_array("time", &arr0(time)).map_err(encode(path))?;
    for field in fields {
        with_element_type!(field.element, T => add_field::<T, _>(&mut archive, source, field, path))?;
    }
    archive.finish().map_err(encode(path))?;
    Ok(partial.commit(Durability::Buffered)?)
}

fn add_field<T: Cell, W: Write + Seek>(
    archive: &mut NpzWriter<W>,
    source: &Source<'_>,
    field: &Field,
    path: &Path,
) -> Result<(), OutputError>
where
    T::Wide: WritableElement,
{
    let mut all: Vec<T::Wide> = Vec::with_capacity(slabs::cells(&field.ranges).unwrap_or(0) as usize);
    source.read::<T>(field, |cells| {
        all.extend(cells.iter().map(|cell| cell.widen()));
        Ok(())
    })?;
    let array = ArrayD::from_shape_vec(slabs::shape(&field.ranges), all).expect("all cells were read");
    archive.add_array(field.name.as_str(), &array).map_err(encode(path))
}

/// What to make of an error of the crate for these formats.
fn encode<E: std::fmt::Display>(path: &Path) -> impl FnOnce(E) -> OutputError + use<'_, E> {
    |error| OutputError::Encode { path: path.to_owned(), message: error.to_string() }
}

//! Pictures: a plane of numbers as coloured squares in a PNG file.
//!
//! In: a two-dimensional field, a colour for each value.   Out: a PNG, RGB with 8 bits a channel. The first index runs
//! upwards, as `y` does in a drawing of a flow; small fields are enlarged by whole numbers, so that each cell stays one
//! square. Of a field in space the middle plane of its first axes is drawn.

use std::io::Write;
use std::path::Path;

use crease::{IndexRange, Region, Run};
use ndarray::{Array2, ArrayView2, Ix2};

use crate::error::{FileError, OutputError};
use crate::field::{Field, Source};
use crate::partial::{Durability, Partial};
use crate::slabs::{self, Cell};
use crease::with_element_type;

/// Pixels that the longer side of an image has at least.
const AT_LEAST: usize = 512;

/// Red, green and blue.
pub type Colour = [u8; 3];

/// What is not finite.
const NOT_FINITE: Colour = [128, 128, 128];

/// Pixels per cell, along both sides, of a picture of so many rows and columns.
pub fn enlargement(rows: usize, columns: usize) -> usize {
    AT_LEAST.div_ceil(rows.max(columns).max(1))
}

/// Writes `colour_of` every row, column and value of `field` to `path`; `description` becomes the file's text chunk.
///
/// # Errors
/// [`FileError::Io`] if the file cannot be written, or the image has no pixel or too many.
pub fn save_picture(
    path: &Path,
    field: ArrayView2<'_, f64>,
    colour_of: &dyn Fn(usize, usize, f64) -> Colour,
    description: &str,
) -> Result<(), FileError> {
    let refused = |error: png::EncodingError| FileError::io("write", path)(error.into());
    let (rows, columns) = field.dim();
    let scale = enlargement(rows, columns);
    let side = |cells: usize| {
        let pixels = cells.checked_mul(scale).and_then(|pixels| u32::try_from(pixels).ok());
        let too_large = || std::io::Error::other(format!("an image of {rows} by {columns} cells is too large"));
        pixels.ok_or_else(too_large).map_err(FileError::io("write", path))
    };
    let (width, height) = (side(columns)?, side(rows)?);
    let mut partial = Partial::create(path)?;
    let mut encoder = png::Encoder::new(std::io::BufWriter::new(partial.file()), width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.add_itxt_chunk("Description".into(), description.into()).map_err(refused)?;
    let mut writer = encoder.write_header().map_err(refused)?;
    // A line at a time: the image is nowhere in memory.
    let mut lines = writer.stream_writer().map_err(refused)?;
    let mut line = Vec::with_capacity(columns * scale * 3);
    // The last row of the field is the uppermost one.
    for row in (0..rows).rev() {
        line.clear();
        for column in 0..columns {
            let colour = colour_of(row, column, field[[row, column]]);
            (0..scale).for_each(|_| line.extend(colour));
        }
        (0..scale).try_for_each(|_| lines.write_all(&line)).map_err(FileError::io("write", path))?;
    }
    lines.finish().map_err(refused)?;
    writer.finish().map_err(refused)?;
    partial.commit(Durability::Buffered)
}

/// Draws a field of two indices or more at the current step of a run, in viridis between two values: those given, or
/// the least and the greatest that are finite.
pub(crate) fn write(
    source: &Source<'_>,
    field: &Field,
    path: &Path,
    range: Option<(f64, f64)>,
) -> Result<(), OutputError> {
    let run = source.run;
    let plane = match source.derived_plane(field).map(|plane| plane.into_dimensionality::<Ix2>()) {
        Some(plane) => plane.expect("pictures are made of fields with two indices or more"),
        None => with_element_type!(field.element, T => plane::<T>(run, field))?,
    };
    let (least, most) = range.unwrap_or_else(|| finite_range(&plane));
    let colour = |_: usize, _: usize, value: f64| {
        let share = if most > least { ((value - least) / (most - least)).clamp(0.0, 1.0) } else { 0.5 };
        let colour = colorous::VIRIDIS.eval_continuous(share);
        if value.is_finite() { [colour.r, colour.g, colour.b] } else { NOT_FINITE }
    };
    let description = format!("{} at step {}, from {least:e} to {most:e}", field.name, run.step());
    Ok(save_picture(path, plane.view(), &colour, &description)?)
}

/// The last two axes of a field, at the middle of those before.
fn plane<T: Cell>(run: &Run, field: &Field) -> Result<Array2<f64>, OutputError> {
    let (before, last) = field.ranges.split_at(field.ranges.len() - 2);
    let middle = before.iter().map(|&(low, high)| IndexRange::from(low + (high - low + 1) / 2));
    let whole = last.iter().map(|&(low, high)| IndexRange::from(low..=high));
    let shape = slabs::shape(last);
    let mut cells = Array2::<T>::default((shape[0], shape[1]));
    run.read_box(&field.name, &Region::new(middle.chain(whole)), cells.view_mut())?;
    Ok(cells.mapv_into_any(T::to_number))
}

/// The least and the greatest finite value; 0 if there is none.
fn finite_range(plane: &Array2<f64>) -> (f64, f64) {
    let finite = || plane.iter().copied().filter(|value| value.is_finite());
    let (least, most) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    if least <= most { (least, most) } else { (0.0, 0.0) }
}

//! VTK image data: fields on one regular grid, as ParaView and VisIt open them.
//!
//! In: fields of one, two or three indices, all with the same ranges.   Out: a `.vti` file in XML, with the cells behind
//! it as they are in memory (appended raw data, 64-bit headers, little endian), and a `.pvd` file that lists a series.
//!
//! The last index is VTK's `x`: rows are rows in both. A cell of an array is a point of the image, with its index as
//! extent, so that indices which begin at -1 do so in the picture, too.
//!
//! The crate `vtkio` writes such files from a model that holds all of their data in memory, and its newest version,
//! 0.7.0-rc2, is a release candidate; what is written here goes to the file piece by piece, below a few lines of XML.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use crease::Run;
use crease::kernel::graph::Element;

use crate::error::OutputError;
use crate::field::{Field, Source};
use crate::partial::{Durability, Partial};
use crate::slabs;
use crease::with_element_type;

/// Where the points of an image are, by its axes `x`, `y` and `z`: the last index of a field is `x`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Grid {
    /// The place of the point all of whose indices are 0. Default: 0.
    pub origin: [f64; 3],
    /// How far neighbours are apart, greater than 0. Default: 1.
    pub spacing: [f64; 3],
    /// The time that a step takes. Default: 1.
    pub time_step: f64,
}

impl Default for Grid {
    fn default() -> Self {
        Grid { origin: [0.0; 3], spacing: [1.0; 3], time_step: 1.0 }
    }
}

impl Grid {
    /// Sets [`Self::origin`].
    pub fn origin(mut self, origin: [f64; 3]) -> Grid {
        self.origin = origin;
        self
    }

    /// Sets [`Self::spacing`].
    pub fn spacing(mut self, spacing: [f64; 3]) -> Grid {
        self.spacing = spacing;
        self
    }

    /// Sets [`Self::time_step`].
    pub fn time_step(mut self, time_step: f64) -> Grid {
        self.time_step = time_step;
        self
    }

    /// Time at a step.
    pub(crate) fn time(&self, step: i64) -> f64 {
        self.time_step * step as f64
    }

    pub(crate) fn verify(&self) -> Result<(), OutputError> {
        let origin = self.origin.map(|value| ("a coordinate of the origin", value, false));
        let spacing = self.spacing.map(|value| ("a spacing", value, true));
        let time_step = ("the time step", self.time_step, true);
        for (what, value, positive) in origin.into_iter().chain(spacing).chain([time_step]) {
            if !value.is_finite() || (positive && value <= 0.0) {
                return Err(OutputError::Number { what, value, positive });
            }
        }
        Ok(())
    }
}

/// Whether these fields can be in one file.
pub(crate) fn verify(fields: &[Field], path: &Path) -> Result<(), OutputError> {
    let Some(first) = fields.first() else { return Ok(()) };
    for field in fields {
        if !(1..=3).contains(&field.ranges.len()) {
            let (field, dims, takes) = (field.name.clone(), field.ranges.len(), "1 to 3");
            return Err(OutputError::Dimensions { field, dims, format: "image data of VTK", takes });
        }
        if field.ranges != first.ranges {
            let (first_ranges, second_ranges) = (first.ranges_text(), field.ranges_text());
            let (first, second) = (first.name.clone(), field.name.clone());
            return Err(OutputError::Grids { first, second, first_ranges, second_ranges });
        }
        let is_int = |value: i64| i32::try_from(value).is_ok();
        let is_fit = |&(low, high): &(i64, i64)| low <= high && is_int(low) && is_int(high);
        if !field.ranges.iter().all(is_fit) {
            let message = format!(
                "field `{}` has indices {}, and extents of VTK are 32-bit numbers of at least one point",
                field.name,
                field.ranges_text()
            );
            return Err(OutputError::Encode { path: path.to_owned(), message });
        }
    }
    Ok(())
}

/// Writes fields that were verified, at the current step of a run.
pub(crate) fn write(source: &Source<'_>, fields: &[Field], path: &Path, grid: &Grid) -> Result<(), OutputError> {
    let mut partial = Partial::create(path)?;
    let xml = beginning(source.run, fields, grid);
    partial.file().write_all(xml.as_bytes()).map_err(partial.refused())?;
    for field in fields {
        let bytes = bytes(field).to_le_bytes();
        partial.file().write_all(&bytes).map_err(partial.refused())?;
        with_element_type!(field.element, T => source.write::<T>(field, &mut partial))?;
    }
    partial.file().write_all(b"\n  </AppendedData>\n</VTKFile>\n").map_err(partial.refused())?;
    Ok(partial.commit(Durability::Buffered)?)
}

/// Size of the cells of a field in the file.
fn bytes(field: &Field) -> u64 {
    slabs::cells(&field.ranges).expect("extents are 32-bit numbers of what is in memory") * data_type(field.element).1
}

/// VTK's name of a type of cells, and its size in bytes. It has no half precision.
fn data_type(element: Element) -> (&'static str, u64) {
    match element {
        Element::F64 => ("Float64", 8),
        Element::F32 | Element::F16 => ("Float32", 4),
        Element::U8 => ("UInt8", 1),
        Element::I8 => ("Int8", 1),
        Element::I16 => ("Int16", 2),
        Element::U16 => ("UInt16", 2),
        Element::I32 => ("Int32", 4),
        Element::U32 => ("UInt32", 4),
        Element::I64 => ("Int64", 8),
    }
}

/// All that stands before the cells.
fn beginning(run: &Run, fields: &[Field], grid: &Grid) -> String {
    let ranges = &fields[0].ranges;
    let axis = |axis: usize| ranges.iter().rev().nth(axis).copied().unwrap_or((0, 0));
    let extent = |(low, high)| format!("{low} {high}");
    let extent = [axis(0), axis(1), axis(2)].map(extent).join(" ");
    let numbers = |numbers: [f64; 3]| numbers.map(|number| number.to_string()).join(" ");
    let (origin, spacing) = (numbers(grid.origin), numbers(grid.spacing));
    let mut arrays = String::new();
    let mut offset = 0;
    for field in fields {
        let (name, (kind, _)) = (&field.name, data_type(field.element));
        let _ = writeln!(
            arrays,
            "        <DataArray type=\"{kind}\" Name=\"{name}\" format=\"appended\" offset=\"{offset}\"/>"
        );
        offset += size_of::<u64>() as u64 + bytes(field);
    }
    let (scalars, time) = (&fields[0].name, grid.time(run.step()));
    format!(
        r#"<?xml version="1.0"?>
<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian" header_type="UInt64">
  <ImageData WholeExtent="{extent}" Origin="{origin}" Spacing="{spacing}">
    <FieldData>
      <DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">{time}</DataArray>
    </FieldData>
    <Piece Extent="{extent}">
      <PointData Scalars="{scalars}">
{arrays}      </PointData>
    </Piece>
  </ImageData>
  <AppendedData encoding="raw">
   _"#
    )
}

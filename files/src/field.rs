//! Fields: arrays that a run leaves, and what is computed of them, as files take them.
//!
//! In: a run, names or none.   Out: states and outputs, with their index ranges; their cells, piece by piece.

use std::fmt;
use std::io::Write;

use crease::Run;
use crease::kernel::graph::{Element, Role};
use ndarray::{ArrayD, Axis};

use crate::error::{FileError, OutputError};
use crate::partial::Partial;
use crate::slabs::{self, Cell, Level};

/// An array that is handed out at the current step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) element: Element,
    /// First and last value of each index.
    pub(crate) ranges: Vec<(i64, i64)>,
    /// Which of the derived fields it is; none for an array of the run.
    derived: Option<usize>,
}

/// Computes all derived fields of a run at its current step, in doubles.
type Compute = Box<dyn FnMut(&Run) -> Result<Vec<ArrayD<f64>>, Box<dyn std::error::Error + Send + Sync>> + Send>;

/// Fields that are computed of a run's arrays whenever they are written, such as the density of a flow.
pub struct Derived {
    pub(crate) fields: Vec<Field>,
    compute: Compute,
}

impl Derived {
    /// Fields of these names, and first and last values of their indices. `compute` gives them in this order, each with
    /// as many values of each index; all are in memory while a step is written.
    pub fn new<S: Into<String>>(
        fields: impl IntoIterator<Item = (S, Vec<(i64, i64)>)>,
        compute: impl FnMut(&Run) -> Result<Vec<ArrayD<f64>>, Box<dyn std::error::Error + Send + Sync>> + Send + 'static,
    ) -> Derived {
        let field = |(number, (name, ranges)): (usize, (S, Vec<(i64, i64)>))| Field {
            name: name.into(),
            element: Element::F64,
            ranges,
            derived: Some(number),
        };
        Derived { fields: fields.into_iter().enumerate().map(field).collect(), compute: Box::new(compute) }
    }

    /// Their values at the current step.
    pub(crate) fn values(&mut self, run: &Run) -> Result<Vec<ArrayD<f64>>, OutputError> {
        let values = (self.compute)(run).map_err(|source| OutputError::Derived { source })?;
        let wrong = |field: String, expected: Vec<usize>, found: Vec<usize>| {
            let message = format!("field `{field}` was to have shape {expected:?} and has {found:?}");
            OutputError::Derived { source: message.into() }
        };
        for (number, field) in self.fields.iter().enumerate() {
            let expected = slabs::shape(&field.ranges);
            let found = values.get(number).map(|value| value.shape().to_vec()).unwrap_or_default();
            if values.len() != self.fields.len() || expected != found {
                return Err(wrong(field.name.clone(), expected, found));
            }
        }
        Ok(values)
    }
}

impl fmt::Debug for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Derived").field("fields", &self.fields).finish_non_exhaustive()
    }
}

/// Where cells come from: a run, and the derived fields of its current step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) run: &'a Run,
    pub(crate) derived: &'a [ArrayD<f64>],
}

impl Source<'_> {
    /// Writes the cells of a field, piece by piece and widened, where the file stands.
    pub(crate) fn write<T: Cell>(&self, field: &Field, partial: &mut Partial) -> Result<(), OutputError> {
        let (mut wide, mut bytes) = (Vec::new(), Vec::new());
        self.read::<T>(field, |cells| {
            wide.clear();
            wide.extend(cells.iter().map(|cell| cell.widen()));
            T::Wide::encode(&wide, &mut bytes);
            let written = partial.file().write_all(&bytes);
            written.map_err(partial.refused()).map_err(|error: FileError| error.into())
        })
    }

    /// Visits the cells of a field, piece by piece.
    pub(crate) fn read<T: Cell>(
        &self,
        field: &Field,
        mut visit: impl FnMut(&[T]) -> Result<(), OutputError>,
    ) -> Result<(), OutputError> {
        let Some(number) = field.derived else {
            let level = Level { array: &field.name, back: 0, ranges: &field.ranges };
            return slabs::read(self.run, &level, visit);
        };
        let mut values = self.derived[number].iter();
        loop {
            let cells: Vec<T> =
                values.by_ref().take(slabs::SLAB_CELLS as usize).map(|&value| T::narrow(value)).collect();
            if cells.is_empty() {
                return Ok(());
            }
            visit(&cells)?;
        }
    }

    /// The last two axes of a field, at the middle of those before.
    pub(crate) fn derived_plane(&self, field: &Field) -> Option<ArrayD<f64>> {
        let mut plane = self.derived[field.derived?].view();
        while plane.ndim() > 2 {
            let middle = plane.len_of(Axis(0)) / 2;
            plane = plane.index_axis_move(Axis(0), middle);
        }
        Some(plane.to_owned())
    }
}

impl Field {
    /// Whether there are values for it: an output has none before the first step.
    pub(crate) fn is_there(&self, run: &Run) -> Result<bool, OutputError> {
        Ok(self.derived.is_some() || run.holds(&self.name, &crease::Region::whole())?)
    }

    /// As `y: 0 to 9, x: -1 to 5` without names: `0 to 9 by -1 to 5`.
    pub(crate) fn ranges_text(&self) -> String {
        let ranges: Vec<String> = self.ranges.iter().map(|(low, high)| format!("{low} to {high}")).collect();
        ranges.join(" by ")
    }
}

/// The fields of these names.
pub(crate) fn named(run: &Run, names: &[String], derived: &[Field]) -> Result<Vec<Field>, OutputError> {
    let all = [derived, &all(run)?].concat();
    let mut found: Vec<Field> = Vec::new();
    for name in names {
        let Some(field) = all.iter().find(|field| field.name == *name) else {
            let known: Vec<&str> = all.iter().map(|field| field.name.as_str()).collect();
            let (kernel, field) = (run.kernel().name().to_owned(), name.clone());
            return Err(OutputError::UnknownField { kernel, field, known: known.join(", ") });
        };
        if found.contains(field) {
            return Err(OutputError::Twice { field: name.clone() });
        }
        found.push(field.clone());
    }
    Ok(found)
}

/// All states and outputs.
pub(crate) fn all(run: &Run) -> Result<Vec<Field>, OutputError> {
    let arrays = run.kernel().arrays().iter().filter(|array| matches!(array.role, Role::State | Role::Output));
    let field = |array: &crease::kernel::graph::Array| {
        Ok(Field {
            name: array.name.clone(),
            element: array.element,
            ranges: run.index_ranges(&array.name)?,
            derived: None,
        })
    };
    arrays.map(field).collect()
}

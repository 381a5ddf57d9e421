//! Series: the same fields, step after step, as files of one format in a directory.
//!
//! In: a run, and how its fields are to be written.   Out: a file or one for each field whenever it is asked for, under
//! names with the step.
//!
//! Each file is whole or not there. A series that was interrupted is continued from any of its steps: what was written
//! after that step is removed, and what a killed process left out of the list of frames is put in.

use std::path::{Path, PathBuf};
use std::{fmt, fs};

use crease::Run;

use crate::collection::{self, Frame};
use crate::error::{FileError, OutputError};
use crate::field::{self, Derived, Field, Source};
use crate::vtk::{self, Grid};
use crate::{numpy, picture};

/// Digits of the step in names of files, so that these sort by step; larger steps have more.
const STEP_DIGITS: usize = 8;

/// A format of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// VTK image data: all fields in one `.vti` file a step, and a `.pvd` file with all steps and times. Fields have
    /// one to three indices, and all the same.
    Vtk,
    /// NumPy: a `.npy` file for each field and step.
    Npy,
    /// NumPy: all fields of a step, `step` and `time` in an `.npz` file. One field at a time is in memory.
    Npz,
    /// Pictures: a `.png` file for each field and step, of the middle plane where a field has more than two indices.
    /// That plane is in memory.
    Png,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Vtk => "vtk",
            Format::Npy => "npy",
            Format::Npz => "npz",
            Format::Png => "png",
        })
    }
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Format::Vtk => "vti",
            Format::Npy => "npy",
            Format::Npz => "npz",
            Format::Png => "png",
        }
    }

    /// In words, for errors: what it is, and how many indices it takes.
    fn takes(self) -> (&'static str, &'static str) {
        match self {
            Format::Vtk => ("image data of VTK", "1 to 3"),
            Format::Npy | Format::Npz => ("NumPy", "any number of"),
            Format::Png => ("a picture", "2 or more"),
        }
    }

    fn is_for(self, field: &Field) -> bool {
        let dims = field.ranges.len();
        match self {
            Format::Vtk => (1..=3).contains(&dims),
            Format::Npy | Format::Npz => true,
            Format::Png => dims >= 2 && field.ranges.iter().all(|(low, high)| low <= high),
        }
    }

    /// Whether each field has a file of its own.
    fn is_by_field(self) -> bool {
        matches!(self, Format::Npy | Format::Png)
    }
}

/// What becomes of files of the same series that are there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Existing {
    /// They are an error: nothing is lost, and no two runs are mixed.
    #[default]
    Refuse,
    /// They are removed.
    Replace,
    /// Those up to the step of the run stay, for a run that was restored; those after it are removed.
    Continue,
}

/// What is written, and how; see [`Output::begin`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct OutputOptions {
    /// States, outputs and derived fields by name. Default: all derived fields that the format takes, or if none are
    /// given all states and outputs that it takes.
    pub fields: Option<Vec<String>>,
    /// What names of files begin with. Default: the kernel's name.
    pub prefix: Option<String>,
    /// What becomes of files that are there already. Default: they are an error.
    pub existing: Existing,
    /// Where the points of an image are, and when a step is. Default: one apart, from 0 on.
    pub grid: Grid,
    /// The values at both ends of the colours of a picture. Default: the least and the greatest of each picture.
    pub range: Option<(f64, f64)>,
}

impl OutputOptions {
    /// Sets [`Self::fields`].
    pub fn fields<S: Into<String>>(mut self, fields: impl IntoIterator<Item = S>) -> OutputOptions {
        self.fields = Some(fields.into_iter().map(Into::into).collect());
        self
    }

    /// Sets [`Self::prefix`].
    pub fn prefix(mut self, prefix: &str) -> OutputOptions {
        self.prefix = Some(prefix.to_owned());
        self
    }

    /// Sets [`Self::existing`].
    pub fn existing(mut self, existing: Existing) -> OutputOptions {
        self.existing = existing;
        self
    }

    /// Sets [`Self::grid`].
    pub fn grid(mut self, grid: Grid) -> OutputOptions {
        self.grid = grid;
        self
    }

    /// Sets [`Self::range`].
    pub fn range(mut self, least: f64, most: f64) -> OutputOptions {
        self.range = Some((least, most));
        self
    }
}

/// A series of files in a directory.
///
/// ```
/// use std::ops::ControlFlow;
/// use crease::prelude::*;
/// use crease_files::{Format, Output, OutputError, OutputOptions};
///
/// # let kernel = Kernel::parse(
/// #     "kernel decay(size N; run T) {
/// #        state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
/// #        S[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N { u[t,y,x] = 0.5 * u[t-1,y,x] }
/// #      }",
/// # )?;
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path();
/// let mut run = kernel.plan().size("N", 8).build()?.compile()?.instantiate()?;
/// run.fill("u", 1.0)?;
/// let mut frames = Output::begin(&run, Format::Vtk, directory.join("vtk"), &OutputOptions::default())?;
/// run.advance_with(100, 20, |run, _| {
///     frames.write(run)?;
///     Ok::<_, OutputError>(ControlFlow::Continue(()))
/// })?;
/// assert!(directory.join("vtk/decay.pvd").exists() && directory.join("vtk/decay_00000080.vti").exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Output {
    format: Format,
    directory: PathBuf,
    prefix: String,
    fields: Vec<Field>,
    derived: Option<Derived>,
    grid: Grid,
    range: Option<(f64, f64)>,
    /// Steps that are in the directory, with their times, in order.
    frames: Vec<(i64, f64)>,
}

impl Output {
    /// Makes the directory, and does with files of the series that are there as the options say. Nothing is written
    /// yet.
    ///
    /// # Errors
    /// [`OutputError::UnknownField`], [`OutputError::Twice`], [`OutputError::NoField`], [`OutputError::Dimensions`],
    /// [`OutputError::Grids`], [`OutputError::Number`], [`OutputError::FileName`], [`OutputError::Encode`],
    /// [`OutputError::Exists`], [`OutputError::Series`], [`OutputError::File`].
    pub fn begin(
        run: &Run,
        format: Format,
        directory: impl AsRef<Path>,
        options: &OutputOptions,
    ) -> Result<Output, OutputError> {
        Output::begin_derived(run, format, directory, options, None)
    }

    /// The same, with fields that are computed of the run's.
    ///
    /// # Errors
    /// As [`Output::begin`].
    pub fn begin_derived(
        run: &Run,
        format: Format,
        directory: impl AsRef<Path>,
        options: &OutputOptions,
        derived: Option<Derived>,
    ) -> Result<Output, OutputError> {
        let directory = directory.as_ref().to_owned();
        let fields = chosen(run, format, options, derived.as_ref().map_or(&[], |derived| &derived.fields))?;
        if format == Format::Vtk {
            vtk::verify(&fields, &directory)?;
        }
        options.grid.verify()?;
        for value in options.range.iter().flat_map(|&(least, most)| [least, most]) {
            if !value.is_finite() {
                return Err(OutputError::Number { what: "an end of the range", value, positive: false });
            }
        }
        let prefix = options.prefix.clone().unwrap_or_else(|| run.kernel().name().to_owned());
        for name in fields.iter().map(|field| &field.name).chain([&prefix]) {
            let is_plain = |c: char| c.is_alphanumeric() || "_-.".contains(c);
            if name.is_empty() || name.starts_with('.') || !name.chars().all(is_plain) {
                return Err(OutputError::FileName { name: name.clone() });
            }
        }
        fs::create_dir_all(&directory).map_err(FileError::io("create", &directory))?;
        let (grid, range) = (options.grid, options.range);
        let mut output = Output { format, directory, prefix, fields, derived, grid, range, frames: Vec::new() };
        output.take_over(run.step(), options.existing)?;
        Ok(output)
    }

    /// Writes all fields that hold values at the current step of the run: an output has none before the first step. A
    /// step that is there already is written once more.
    ///
    /// # Errors
    /// [`OutputError::File`], [`OutputError::Encode`]; files that were there are as they were.
    pub fn write(&mut self, run: &Run) -> Result<(), OutputError> {
        let mut fields = Vec::new();
        for field in &self.fields {
            if field.is_there(run)? {
                fields.push(field.clone());
            }
        }
        if fields.is_empty() {
            return Ok(());
        }
        let (step, time) = (run.step(), self.grid.time(run.step()));
        let derived = self.derived.as_mut().map_or(Ok(Vec::new()), |derived| derived.values(run))?;
        let source = &Source { run, derived: &derived };
        match self.format {
            Format::Vtk => vtk::write(source, &fields, &self.file(None, step), &self.grid)?,
            Format::Npz => numpy::write_npz(source, &fields, &self.file(None, step), time)?,
            Format::Npy => {
                fields.iter().try_for_each(|field| numpy::write_npy(source, field, &self.file(Some(field), step)))?;
            }
            Format::Png => {
                let write = |field| picture::write(source, field, &self.file(Some(field), step), self.range);
                fields.iter().try_for_each(write)?;
            }
        }
        if self.frames.last().is_none_or(|(last, _)| *last < step) {
            self.frames.push((step, time));
        }
        self.write_collection()
    }

    /// The steps that are in the directory.
    pub fn steps(&self) -> impl Iterator<Item = i64> {
        self.frames.iter().map(|(step, _)| *step)
    }

    /// The format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Looks at what is in the directory.
    fn take_over(&mut self, step: i64, existing: Existing) -> Result<(), OutputError> {
        let mut found = self.files()?;
        found.sort_by_key(|(step, _)| *step);
        let list = self.collection();
        let first = found.first().map(|(_, path)| path.clone()).or_else(|| list.clone().filter(|list| list.exists()));
        let known = match (existing, first) {
            (_, None) => return Ok(()),
            (Existing::Refuse, Some(path)) => return Err(OutputError::Exists { path }),
            (Existing::Replace, _) => Vec::new(),
            (Existing::Continue, _) => list.as_deref().map_or(Ok(Vec::new()), collection::read)?,
        };
        let stays = |at: i64| existing == Existing::Continue && at <= step;
        // The list first, so that it never names a file that is gone.
        for &(at, ref path) in found.iter().filter(|(at, _)| stays(*at)) {
            let is_this = |frame: &&Frame| path.file_name().is_some_and(|name| name == frame.file.as_str());
            let time = known.iter().find(is_this).map_or(self.grid.time(at), |frame| frame.time);
            if self.frames.last().is_none_or(|(last, _)| *last < at) {
                self.frames.push((at, time));
            }
        }
        self.write_collection()?;
        for (_, path) in found.iter().filter(|(at, _)| !stays(*at)) {
            fs::remove_file(path).map_err(FileError::io("remove", path))?;
        }
        Ok(())
    }

    /// The files of this series in the directory, with their steps.
    fn files(&self) -> Result<Vec<(i64, PathBuf)>, FileError> {
        let refused = |error| FileError::io("read", &self.directory)(error);
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(refused)? {
            let path = entry.map_err(refused)?.path();
            if let Some(step) = path.file_name().and_then(|name| self.step_of(name.to_str()?)) {
                found.push((step, path));
            }
        }
        Ok(found)
    }

    /// The step of a file of this series, by its name.
    fn step_of(&self, name: &str) -> Option<i64> {
        let (stem, digits) = name.strip_suffix(self.format.extension())?.strip_suffix('.')?.rsplit_once('_')?;
        let is_ours = match self.format.is_by_field() {
            true => self.fields.iter().any(|field| stem == format!("{}_{}", self.prefix, field.name)),
            false => stem == self.prefix,
        };
        let is_step = digits.len() >= STEP_DIGITS && digits.bytes().all(|digit| digit.is_ascii_digit());
        if is_ours && is_step { digits.parse().ok() } else { None }
    }

    fn file(&self, field: Option<&Field>, step: i64) -> PathBuf {
        self.directory.join(self.file_name(field, step))
    }

    fn file_name(&self, field: Option<&Field>, step: i64) -> String {
        let field = field.map(|field| format!("_{}", field.name)).unwrap_or_default();
        format!("{}{field}_{step:0STEP_DIGITS$}.{}", self.prefix, self.format.extension())
    }

    /// The file with all steps, of formats that have one.
    fn collection(&self) -> Option<PathBuf> {
        (self.format == Format::Vtk).then(|| self.directory.join(format!("{}.pvd", self.prefix)))
    }

    fn write_collection(&self) -> Result<(), OutputError> {
        let Some(path) = self.collection() else { return Ok(()) };
        let frame = |&(step, time): &(i64, f64)| Frame { time, file: self.file_name(None, step) };
        Ok(collection::write(&path, &self.frames.iter().map(frame).collect::<Vec<_>>())?)
    }
}

/// The fields that are asked for, or all that the format takes.
fn chosen(run: &Run, format: Format, options: &OutputOptions, derived: &[Field]) -> Result<Vec<Field>, OutputError> {
    let (name, takes) = format.takes();
    let fields = match &options.fields {
        Some(names) => field::named(run, names, derived)?,
        None if !derived.is_empty() => derived.iter().filter(|field| format.is_for(field)).cloned().collect(),
        None => field::all(run)?.into_iter().filter(|field| format.is_for(field)).collect(),
    };
    if let Some(field) = fields.iter().find(|field| !format.is_for(field)) {
        let (field, dims) = (field.name.clone(), field.ranges.len());
        return Err(OutputError::Dimensions { field, dims, format: name, takes });
    }
    if fields.is_empty() {
        return Err(OutputError::NoField { kernel: run.kernel().name().to_owned(), format: name, takes });
    }
    Ok(fields)
}

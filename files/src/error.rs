//! Why a file was not written or not read.

use std::io;
use std::path::{Path, PathBuf};

/// A file or a directory cannot be used.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "file/")]
#[non_exhaustive]
pub enum FileError {
    /// The system refused: no such directory, no permission, no space left.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Another process, or another thread, is writing the same file.
    #[error("{} is being written by somebody else, who holds {}", path.display(), partial.display())]
    Busy {
        /// The file.
        path: PathBuf,
        /// The unfinished file, which is locked.
        partial: PathBuf,
    },
    /// The path ends in no name.
    #[error("{} names no file", path.display())]
    NoName {
        /// The path.
        path: PathBuf,
    },
}

impl FileError {
    /// What to make of an error of the system.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError + use<> {
        let path = path.to_owned();
        move |source| FileError::Io { action, path, source }
    }
}

/// Why there is no checkpoint, or none that fits.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "checkpoint/")]
#[non_exhaustive]
pub enum CheckpointError {
    /// A file cannot be used.
    #[error(transparent)]
    #[strum(transparent)]
    File(#[from] FileError),
    /// The run does not hold what is to be saved, or refuses what is restored.
    #[error(transparent)]
    #[strum(transparent)]
    Run(#[from] crease::Error),
    /// The kernel has no steps: a run of it begins and ends in one call.
    #[error("kernel `{kernel}` has no state: there is nothing to restart")]
    NoState {
        /// The kernel.
        kernel: String,
    },
    /// An array is larger than a file can be.
    #[error("level `{field}` of shape {shape:?} does not fit in a file: its size in bytes leaves 64 bits")]
    TooLarge {
        /// The level, as `u@1`.
        field: String,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// The file is something else.
    #[error("{} is no checkpoint: it begins with {found:02x?}, a checkpoint with {expected:02x?}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// How checkpoints begin.
        expected: Vec<u8>,
        /// How it begins.
        found: Vec<u8>,
    },
    /// The file was written by a program whose numbers have their bytes in another order.
    #[error("{} has its numbers in another byte order than this format's, which is little endian", path.display())]
    ByteOrder {
        /// The file.
        path: PathBuf,
    },
    /// A later program wrote the file.
    #[error("{} has version {found} of the format, and this program reads version {known}", path.display())]
    NewerVersion {
        /// The file.
        path: PathBuf,
        /// The newest version that is read.
        known: u32,
        /// The file's.
        found: u32,
    },
    /// The file ends early, or goes on behind its end.
    #[error("{} should have {expected} bytes and has {found}", path.display())]
    Length {
        /// The file.
        path: PathBuf,
        /// What it says of itself; for a file that ends before it does, the least it could have.
        expected: u64,
        /// What there is.
        found: u64,
    },
    /// Bytes are not those that were written.
    #[error("{}: {part} is damaged: its checksum is {found:016x}, {expected:016x} was written", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Which part, in words.
        part: String,
        /// The checksum in the file.
        expected: u64,
        /// That of the bytes that are there.
        found: u64,
    },
    /// The header does not describe a checkpoint.
    #[error("{}: the header is wrong: {message}", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// The checkpoint is of a run of another kernel.
    #[error(
        "{} is of kernel `{found_kernel}`, the run of `{kernel}`; without schedules, they differ first in line {line}: \
         `{found}`, where the run's kernel has `{expected}`",
        path.display()
    )]
    OtherKernel {
        /// The file.
        path: PathBuf,
        /// The run's kernel.
        kernel: String,
        /// The file's kernel.
        found_kernel: String,
        /// The first line of the kernels' texts in which they differ, from 1.
        line: usize,
        /// That line of the run's kernel.
        expected: String,
        /// That line of the file's kernel.
        found: String,
    },
    /// The checkpoint is of a run of other sizes.
    #[error("{} is of kernel `{kernel}` at {found}, the run at {expected}", path.display())]
    OtherSizes {
        /// The file.
        path: PathBuf,
        /// The kernel.
        kernel: String,
        /// The run's sizes, as `N = 40, M = 3`.
        expected: String,
        /// The file's.
        found: String,
    },
    /// An array of the checkpoint is not as the run has it.
    #[error("{}: array `{array}` has {what} {found}, that of the run has {expected}", path.display())]
    OtherArray {
        /// The file.
        path: PathBuf,
        /// The array.
        array: String,
        /// What differs, in words.
        what: &'static str,
        /// The run's.
        expected: String,
        /// The file's.
        found: String,
    },
    /// A level of a state, or an array, is not in the checkpoint.
    #[error("{} does not hold `{field}`; it holds {known}", path.display())]
    NotThere {
        /// The file.
        path: PathBuf,
        /// The level, as `u@1`.
        field: String,
        /// What there is, with commas.
        known: String,
    },
    /// The file was sound when it was looked at and could not be read to its end afterwards. No state of the run is
    /// given any more, so that it does no step before it is restored once more.
    #[error("{} was restored in part only, and the run has no state any more: {source}", path.display())]
    HalfRestored {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: Box<CheckpointError>,
    },
}

impl CheckpointError {
    /// What went wrong, as a code that stays the same when messages get better: `checkpoint/damaged`.
    pub fn code(&self) -> &'static str {
        self.into()
    }
}

/// Why a time loop did not write what it was to write.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "output/")]
#[non_exhaustive]
pub enum OutputError {
    /// A file or the directory cannot be used.
    #[error(transparent)]
    #[strum(transparent)]
    File(#[from] FileError),
    /// A checkpoint was not written.
    #[error(transparent)]
    #[strum(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The run refused.
    #[error(transparent)]
    #[strum(transparent)]
    Run(#[from] crease::Error),
    /// An array cannot be handed out, or there is none of that name.
    #[error("kernel `{kernel}` has no field `{field}`; it has {known}")]
    UnknownField {
        /// The kernel.
        kernel: String,
        /// The array asked for.
        field: String,
        /// What there is, with commas.
        known: String,
    },
    /// The kernel leaves nothing that the format takes.
    #[error("kernel `{kernel}` leaves no array of {takes} indices, which is what {format} takes")]
    NoField {
        /// The kernel.
        kernel: String,
        /// The format, in words.
        format: &'static str,
        /// How many indices it takes, in words.
        takes: &'static str,
    },
    /// A derived field was not computed, or has another shape than was said.
    #[error("cannot compute what is to be written: {source}")]
    Derived {
        /// Why not.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A field is named twice.
    #[error("field `{field}` is named twice")]
    Twice {
        /// The array.
        field: String,
    },
    /// Image data has one grid for all of its fields.
    #[error(
        "fields `{first}` and `{second}` have different index ranges, {first_ranges} and {second_ranges}: a file of \
             image data has one grid; choose fields of one shape"
    )]
    Grids {
        /// A field.
        first: String,
        /// Another.
        second: String,
        /// First and last value of each index.
        first_ranges: String,
        /// The other's.
        second_ranges: String,
    },
    /// The format does not take fields of so many indices.
    #[error("field `{field}` has {dims} indices, {format} takes {takes}")]
    Dimensions {
        /// The field.
        field: String,
        /// Its number of indices.
        dims: usize,
        /// The format, in words.
        format: &'static str,
        /// How many it takes, in words.
        takes: &'static str,
    },
    /// Files of an earlier series would be mixed with new ones.
    #[error("{} is there already; write elsewhere, or say that the series is to be replaced or continued", path.display())]
    Exists {
        /// A file of the series.
        path: PathBuf,
    },
    /// The collection of a series to be continued is not one that this program wrote.
    #[error("{}: {message}", path.display())]
    Series {
        /// The collection.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A file of an array or a picture could not be made.
    #[error("cannot write {}: {message}", path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// Why not.
        message: String,
    },
    /// A prefix, or the name of a derived field, cannot be part of names of files everywhere.
    #[error("`{name}` cannot be part of names of files: letters, digits, `_`, `-` and `.` can, and no `.` comes first")]
    FileName {
        /// What was asked for.
        name: String,
    },
    /// Something is to be done every 0 steps.
    #[error("something is to be done every 0 steps; ask for 1 or more")]
    NoInterval,
    /// A number is not finite, or no length.
    #[error("{what} is {value}; it has to be finite{}", if *.positive { " and positive" } else { "" })]
    Number {
        /// What it is for.
        what: &'static str,
        /// The number.
        value: f64,
        /// Whether it must be greater than 0.
        positive: bool,
    },
}

impl OutputError {
    /// What went wrong, as a code that stays the same when messages get better: `output/exists`.
    pub fn code(&self) -> &'static str {
        self.into()
    }
}

//! What the command reports when it cannot do as asked.

use std::io;
use std::path::PathBuf;

use crease_bench::BenchError;
use crease_files::{CheckpointError, OutputError};
use crease_kernels::KernelDataError;
use crease_pictures::PictureError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// Two options say what one name is, how one array starts, or what one file is to hold.
    #[error("two options name `{name}`; which one counts?")]
    GivenTwice {
        /// The size, scalar, array, level of an array, or file.
        name: String,
    },
    /// A result would be written over the text of the kernel.
    #[error("{} holds the text of the kernel, which what is written there would replace", path.display())]
    OverKernel {
        /// The file.
        path: PathBuf,
    },
    /// `NAME=VALUE` does not read as such.
    #[error("`{text}` is not of the form {form}")]
    BadSetting {
        /// What was given.
        text: String,
        /// What is expected.
        form: &'static str,
    },
    /// A value was left open and has no default.
    #[error("kernel {kernel} needs {what} `{name}`: give it with {option}")]
    Unset {
        /// The kernel.
        kernel: String,
        /// Parameter, scalar or input.
        what: &'static str,
        /// Its name.
        name: String,
        /// The option that gives it.
        option: &'static str,
    },
    /// There is not as much memory as the command would take. Sizes are in bytes.
    #[error(
        "kernel {kernel} needs {run} bytes to run and {others} for its data, and {available} are left, as {limited_by}\
         {fits}; choose smaller sizes (--set)"
    )]
    Memory {
        /// The kernel.
        kernel: String,
        /// Folded storage and copies of inputs and outputs.
        run: u64,
        /// Initial data or results, whichever are more.
        others: u64,
        /// What is left, less what predictions may be off by.
        available: u64,
        /// Who has no more, in words.
        limited_by: String,
        /// Sizes that would fit, in words; empty if none are known.
        fits: String,
    },
    /// An option says how files are written, and none are that heed it.
    #[error("{option} is for {formats}, which this run does not write")]
    WithoutFiles {
        /// The option.
        option: &'static str,
        /// The options that write files which heed it.
        formats: &'static str,
    },
    /// An option is for steps, and the kernel has none.
    #[error("{option} is for steps, and kernel {kernel} has none")]
    WithoutSteps {
        /// The option.
        option: &'static str,
        /// The kernel.
        kernel: String,
    },
    /// A file is too large for what it is to hold.
    #[error("{} has more than the {limit} bytes that {what} may have", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// What it is to hold.
        what: &'static str,
        /// Bytes that this may have.
        limit: u64,
    },
    /// A file does not hold text.
    #[error("{} is not text in UTF-8: line {line}, column {column} has the byte {byte:#04x}", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// The line of the first byte that belongs to no character, from 1.
        line: usize,
        /// Its column, from 1.
        column: usize,
        /// That byte.
        byte: u8,
    },
    /// A record has no charts: those of its suite have none, or nothing was measured.
    #[error("{} is a record of the suite `{suite}`, of which there is nothing to draw", path.display())]
    NoCharts {
        /// The record.
        path: PathBuf,
        /// The suite.
        suite: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// A file does not hold the array that is needed.
    #[error("{}: {message}", path.display())]
    BadArray {
        /// The file.
        path: PathBuf,
        /// What it holds or what is wrong with it.
        message: String,
    },
    /// The process was asked to end; what was done is saved.
    #[error(
        "stopped at step {step}, {left} before the end; {0} holds this step, go on with --restart {0}",
        path.display()
    )]
    Stopped {
        /// The last whole step.
        step: i64,
        /// Steps that were still to do.
        left: u64,
        /// The checkpoint.
        path: PathBuf,
    },
    /// A checkpoint is of a later step than the last one that is asked for.
    #[error("{} is of step {step}, and the run is to end at step {end}", path.display())]
    PastEnd {
        /// The checkpoint.
        path: PathBuf,
        /// Its step.
        step: u64,
        /// The last step.
        end: u64,
    },
    /// A checkpoint was not written, or does not fit.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A series was not written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// Signals cannot be waited for.
    #[error("cannot wait for signals: {0}")]
    Signals(#[from] ctrlc::Error),
    /// An option goes with machine code only.
    #[error("{option} goes with `--dump asm`, with no other form")]
    OnlyForAsm {
        /// The option.
        option: &'static str,
    },
    /// An option means nothing to the suite.
    #[error("the suite `{suite}` does not take {option}")]
    NotForSuite {
        /// The suite.
        suite: &'static str,
        /// The option.
        option: &'static str,
    },
    /// Documents that are made from records differ from what would be made.
    #[error("{paths}: not what the records in bench-results/ say; `crease results` writes it again")]
    Stale {
        /// Which, with commas.
        paths: String,
    },
    /// A document has no place for results.
    #[error("{}: no lines `{begin}` and `{end}` with results between them", path.display())]
    NoPlaceForResults {
        /// The document.
        path: PathBuf,
        /// The line before results.
        begin: &'static str,
        /// The line behind them.
        end: &'static str,
    },
    /// A kernel, a suite or a record is not what it should be.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// Nothing was drawn.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// The catalogue could not make a kernel's data.
    #[error(transparent)]
    Data(#[from] KernelDataError),
    /// Crease refused or failed.
    #[error(transparent)]
    Crease(#[from] crease::Error),
    /// A report could not be written as JSON.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Standard output is gone.
    #[error("cannot print: {0}")]
    Print(#[from] io::Error),
}

//! What the command reports when it cannot do as asked.

use std::io;
use std::path::PathBuf;

use crease_kernels::KernelDataError;

use crate::cloops::CLoopError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The catalogue has no kernel of that name, and there is no such file.
    #[error("`{name}` is neither a kernel of the catalogue ({known}) nor a file")]
    UnknownKernel {
        /// What was asked for.
        name: String,
        /// The catalogue, with commas.
        known: String,
    },
    /// Two options say how one array starts, or where it goes.
    #[error("two options name `{name}`; which one counts?")]
    GivenTwice {
        /// The array, or one of its levels.
        name: String,
    },
    /// There is no suite of that name.
    #[error("there is no suite `{name}`; there are {known}")]
    UnknownSuite {
        /// What was asked for.
        name: String,
        /// The suites, with commas.
        known: String,
    },
    /// `NAME=VALUE` does not read as such.
    #[error("`{text}` is not of the form {form}")]
    BadSetting {
        /// What was given.
        text: String,
        /// What is expected.
        form: &'static str,
    },
    /// The kernel has no parameter or scalar of that name.
    #[error("kernel {kernel} has no {what} `{name}`; it has {known}")]
    UnknownName {
        /// The kernel.
        kernel: String,
        /// Size, scalar, array or schedule.
        what: &'static str,
        /// What was asked for.
        name: String,
        /// What there is, with commas.
        known: String,
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
    /// A picture of single values would have too many of them.
    #[error(
        "kernel {kernel} at {sizes} has more than the {limit} instances and cells that a picture can show{}",
        would_do(smaller)
    )]
    TooMuchToDraw {
        /// The kernel.
        kernel: String,
        /// Sizes and steps, as `N = 3, T = 4`.
        sizes: String,
        /// Instances and cells that can be drawn.
        limit: usize,
        /// Sizes and steps that would do; empty if none were found.
        smaller: Vec<(String, i64)>,
    },
    /// No result of the kernel has two indices.
    #[error("kernel {kernel} leaves no array with two indices or more: there is nothing to make an image of")]
    NoImage {
        /// The kernel.
        kernel: String,
    },
    /// This machine cannot run what was asked for.
    #[error(transparent)]
    Isa(#[from] crease::IsaError),
    /// A small run could not be enumerated.
    #[error(transparent)]
    Trace(#[from] crease::trace::TraceError),
    /// A file is no record of a benchmark.
    #[error("{} is no record of `crease bench`: {message}", path.display())]
    BadRecord {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// Layouts gave wrong answers or could not be run; they were not timed.
    #[error("of {rows} rows, {wrong} have wrong answers and {failed} could not be run")]
    Failures {
        /// Answers beyond their tolerance.
        wrong: usize,
        /// Layouts without plan, code or storage.
        failed: usize,
        /// All rows.
        rows: usize,
    },
    /// The suite of physics has no run of the kernel.
    #[error("the suite `physics` has no run of {kernel}")]
    NoPhysics {
        /// The kernel.
        kernel: &'static str,
    },
    /// An option goes with machine code only.
    #[error("{option} goes with `--dump asm`, with no other form")]
    OnlyForAsm {
        /// The option.
        option: &'static str,
    },
    /// The suite has no row of the kernel.
    #[error("the suite `{suite}` does not measure {kernel}")]
    NotInSuite {
        /// The suite.
        suite: &'static str,
        /// The kernel.
        kernel: String,
    },
    /// Rows of the suite of strips have wrong answers, ours or those of C, or could not be run.
    #[error("{failed} of {rows} rows are wrong or could not be run")]
    Strips {
        /// How many.
        failed: usize,
        /// All rows.
        rows: usize,
    },
    /// An option means nothing to the suite.
    #[error("the suite `{suite}` does not take {option}")]
    NotForSuite {
        /// The suite.
        suite: &'static str,
        /// The option.
        option: &'static str,
    },
    /// Sizes of the suite of the optimizer are not what is promised.
    #[error("{broken} rows of the optimizer break a promise")]
    Optimizer {
        /// How many.
        broken: usize,
    },
    /// Results of the suite of physics are beyond their limits or missing.
    #[error("{failed} of the physics checks failed")]
    Physics {
        /// How many.
        failed: usize,
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
    /// The catalogue could not make a kernel's data.
    #[error(transparent)]
    Data(#[from] KernelDataError),
    /// A C loop failed.
    #[error(transparent)]
    CLoop(#[from] CLoopError),
    /// Crease refused or failed.
    #[error(transparent)]
    Crease(#[from] crease::Error),
    /// The record could not be written as JSON.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Standard output is gone.
    #[error("cannot print: {0}")]
    Print(#[from] io::Error),
}

/// An error and its causes, each said once.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let said = inner.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = inner.source();
    }
    text
}

impl BenchError {
    /// A name that the kernel does not have, and those it has.
    pub(crate) fn unknown<'a>(
        kernel: &str,
        what: &'static str,
        name: &str,
        known: impl Iterator<Item = &'a String>,
    ) -> BenchError {
        let known = known.map(String::as_str).collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() { "none".to_owned() } else { known };
        BenchError::UnknownName { kernel: kernel.to_owned(), what, name: name.to_owned(), known }
    }
}

/// Options that set sizes which can be drawn; empty without sizes.
fn would_do(sizes: &[(String, i64)]) -> String {
    let options: Vec<String> = sizes.iter().map(|(name, value)| format!("--set {name}={value}")).collect();
    if options.is_empty() { String::new() } else { format!("; {} can", options.join(" ")) }
}

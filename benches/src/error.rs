//! Why a measurement could not be made, or what of its results is not as it should be.

use std::io;
use std::path::PathBuf;

use crease_kernels::KernelDataError;

use crate::cloops::CLoopError;

/// Why a suite failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The catalogue has no kernel of that name, and there is no such file.
    #[error(
        "`{name}` is neither a file nor a kernel of the catalogue, where {similar} come nearest; `crease kernels` lists all"
    )]
    UnknownKernel {
        /// What was asked for.
        name: String,
        /// The names that look most like it, with commas.
        similar: String,
    },
    /// There is no suite of that name.
    #[error("there is no suite `{name}`; there are {known}")]
    UnknownSuite {
        /// What was asked for.
        name: String,
        /// The suites, with commas.
        known: String,
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
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// This machine cannot run what was asked for.
    #[error(transparent)]
    Isa(#[from] crease::IsaError),
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
    /// The papers' suite has no part of that name.
    #[error("the suite `paper` has no part `{name}`; it has {known}")]
    UnknownPart {
        /// What was asked for.
        name: String,
        /// The parts, with commas.
        known: String,
    },
    /// Rows of the papers' suite have wrong answers or could not be run.
    #[error("{broken} rows of {part} are wrong or could not be run")]
    Paper {
        /// The part.
        part: String,
        /// How many.
        broken: usize,
    },
    /// A process of several ended before its time.
    #[error("a process ended: {reason}")]
    Instance {
        /// What it said last.
        reason: String,
    },
    /// A process could not be started, or no longer talks.
    #[error("cannot run a process: {0}")]
    Child(#[source] io::Error),
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
    /// There is no memory to measure bandwidth with.
    #[error("cannot map memory to measure bandwidth: {0}")]
    Probe(#[from] io::Error),
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
    pub fn unknown<'a>(
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

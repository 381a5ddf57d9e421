//! What `crease run` is asked: a kernel, what it starts from, and where results go.

use std::path::PathBuf;

use crate::files::FileOptions;
use crate::request::KernelRequest;
use crate::settings::Assignment;

/// What to run and on what.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRequest {
    /// The kernel and its plan.
    pub request: KernelRequest,
    /// Whether opaque functions run, as hashes of their arguments.
    pub opaque: bool,
    /// Array, or `ARRAY@BACK` for an older level, and `.npy` file to read it from.
    pub inputs: Vec<(String, PathBuf)>,
    /// Array and the number that its cells start as.
    pub fills: Vec<Assignment>,
    /// Array, or `ARRAY@BACK` for an older level, and `.npy` file to write it to.
    pub outputs: Vec<(String, PathBuf)>,
    /// Directory for images of what the last step leaves, if anywhere.
    pub images: Option<PathBuf>,
    /// Whether what the threads did is told.
    pub load: bool,
    /// Directory for a picture of it, if anywhere.
    pub timeline: Option<PathBuf>,
    /// Files that are written on the way, and a checkpoint to go on from.
    pub files: FileOptions,
}

impl RunRequest {
    /// Whether the command line says how an array starts.
    pub(crate) fn gives(&self, name: &str) -> bool {
        self.inputs.iter().any(|(given, _)| given == name) || self.fills.iter().any(|fill| fill.name == name)
    }
}

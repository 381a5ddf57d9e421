//! Where kernels come from: the catalogue, or a file in the text form.

use std::fs;
use std::path::Path;

use crease::Kernel;
use crease::kernel::graph::{Array, Role};
use crease_bench::catalogue::unknown_kernel;
use crease_kernels::{Entry, find};

use crate::error::CommandError;

/// A kernel, and its entry if it is one of the catalogue.
pub struct KernelSource {
    /// The kernel.
    pub kernel: Kernel,
    /// Sizes, scalars and data that go with it.
    pub entry: Option<&'static Entry>,
}

/// The kernel of that name in the catalogue, or in the file of that name.
///
/// # Errors
/// [`BenchError::UnknownKernel`](crease_bench::BenchError::UnknownKernel) if there is neither, [`CommandError::File`]
/// if the file cannot be read, [`CommandError::Crease`] if its text is wrong.
pub fn load(name: &str) -> Result<KernelSource, CommandError> {
    if let Some(entry) = find(name) {
        return Ok(KernelSource { kernel: entry.kernel().map_err(crease::Error::from)?, entry: Some(entry) });
    }
    let path = Path::new(name);
    if !path.exists() {
        return Err(unknown_kernel(name).into());
    }
    let text = fs::read_to_string(path).map_err(|source| CommandError::File { path: path.to_owned(), source })?;
    Ok(KernelSource { kernel: Kernel::parse(&text).map_err(crease::Error::from)?, entry: None })
}

impl KernelSource {
    /// Arrays that a run starts from.
    pub(crate) fn starting_arrays(&self) -> Vec<String> {
        let starts = self.kernel.arrays().iter().filter(|array| starts(array));
        starts.map(|array| array.name.clone()).collect()
    }

    /// Those of them whose initial data the catalogue has.
    pub(crate) fn made_arrays(&self) -> Vec<String> {
        if self.entry.is_some() { self.starting_arrays() } else { Vec::new() }
    }
}

/// Whether a run needs values of the array before it begins: an output that is live in keeps some of them.
pub(crate) fn starts(array: &Array) -> bool {
    match array.role {
        Role::Input | Role::State => true,
        Role::Output => array.live_in.is_some(),
        _ => false,
    }
}

//! Where kernels come from: the catalogue, or a file in the text form.

use std::fs;
use std::path::Path;

use crease::Kernel;
use crease_kernels::{Entry, catalogue, find};

use crate::error::BenchError;

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
/// [`BenchError::UnknownKernel`] if there is neither, [`BenchError::File`] if the file cannot be read,
/// [`BenchError::Crease`] if its text is wrong.
pub fn load(name: &str) -> Result<KernelSource, BenchError> {
    if let Some(entry) = find(name) {
        return Ok(KernelSource { kernel: entry.kernel().map_err(crease::Error::from)?, entry: Some(entry) });
    }
    let path = Path::new(name);
    if !path.exists() {
        return Err(unknown_kernel(name));
    }
    let text = fs::read_to_string(path).map_err(|source| BenchError::File { path: path.to_owned(), source })?;
    Ok(KernelSource { kernel: Kernel::parse(&text).map_err(crease::Error::from)?, entry: None })
}

/// The entry of that name.
///
/// # Errors
/// [`BenchError::UnknownKernel`].
pub fn catalogue_entry(name: &str) -> Result<&'static Entry, BenchError> {
    find(name).ok_or_else(|| unknown_kernel(name))
}

fn unknown_kernel(name: &str) -> BenchError {
    let known = catalogue().iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ");
    BenchError::UnknownKernel { name: name.to_owned(), known }
}

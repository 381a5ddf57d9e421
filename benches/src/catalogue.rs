//! Kernels of the catalogue by name, and stencils of this crate.

use crease_kernels::{Entry, catalogue, find, library};

use crate::error::BenchError;
use crate::paper::unsharp_tiled;
use crate::stencils;

/// The entry of that name.
///
/// # Errors
/// [`BenchError::UnknownKernel`].
pub fn catalogue_entry(name: &str) -> Result<&'static Entry, BenchError> {
    find(name)
        .or_else(|| stencils::find(name))
        .or_else(|| unsharp_tiled::find(name))
        .ok_or_else(|| unknown_kernel(name))
}

/// That there is no kernel of that name, and which there are.
pub fn unknown_kernel(name: &str) -> BenchError {
    let known = catalogue().iter().chain(library()).map(|entry| entry.name).collect::<Vec<_>>().join(", ");
    BenchError::UnknownKernel { name: name.to_owned(), known }
}

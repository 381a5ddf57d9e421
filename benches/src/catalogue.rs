//! Kernels of the catalogue by name.

use crease_kernels::{Entry, catalogue, find, library};

use crate::error::BenchError;
use crate::paper::unsharp_tiled;

/// Names that a message about a wrong one has.
const SIMILAR_NAMES: usize = 4;

/// The entry of that name.
///
/// # Errors
/// [`BenchError::UnknownKernel`].
pub fn catalogue_entry(name: &str) -> Result<&'static Entry, BenchError> {
    find(name).or_else(|| unsharp_tiled::find(name)).ok_or_else(|| unknown_kernel(name))
}

/// That there is no kernel of that name, and which names are most like it.
pub fn unknown_kernel(name: &str) -> BenchError {
    let likeness = |known: &str| strsim::jaro_winkler(&name.to_lowercase(), known);
    let mut known: Vec<&str> = catalogue().iter().chain(library()).map(|entry| entry.name).collect();
    known.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
    let similar: Vec<String> = known.iter().take(SIMILAR_NAMES).map(|name| format!("`{name}`")).collect();
    BenchError::UnknownKernel { name: name.to_owned(), similar: similar.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_come_first() {
        let BenchError::UnknownKernel { similar, .. } = unknown_kernel("heat-2d-5p") else { panic!("another error") };
        assert!(similar.starts_with("`heat-2d-5pt`, "), "{similar}");
        assert_eq!(similar.split(", ").count(), SIMILAR_NAMES);
    }
}

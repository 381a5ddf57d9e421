//! Why nothing was drawn.

use std::io;
use std::path::PathBuf;

use crease_kernels::KernelDataError;

/// Why nothing was drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PictureError {
    /// Moduli that fit no buffer.
    #[error("`{text}` is not of the form BUFFER=MODULUS, with a positive modulus per coordinate such as 8x9")]
    BadModuli {
        /// What was given.
        text: String,
    },
    /// There is no buffer of that name to force moduli of.
    #[error("kernel {kernel} has no folded buffer `{name}`; it has {known}")]
    UnknownBuffer {
        /// The kernel.
        kernel: String,
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
    /// A small run could not be enumerated.
    #[error(transparent)]
    Trace(#[from] crease_oracle::TraceError),
    /// The catalogue could not make a kernel's data.
    #[error(transparent)]
    Data(#[from] KernelDataError),
    /// Crease refused or failed.
    #[error(transparent)]
    Crease(#[from] crease::Error),
}

/// Options that set sizes which can be drawn; empty without sizes.
fn would_do(sizes: &[(String, i64)]) -> String {
    let options: Vec<String> = sizes.iter().map(|(name, value)| format!("--set {name}={value}")).collect();
    if options.is_empty() { String::new() } else { format!("; {} can", options.join(" ")) }
}

//! Where kernels come from: the catalogue, or a file in the text form.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crease::Kernel;
use crease::kernel::LONGEST_TEXT_BYTES;
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
/// if the file cannot be read, [`CommandError::TooLong`] or [`CommandError::NotText`] if it holds no such text,
/// [`CommandError::Crease`] if its text is wrong.
pub fn load(name: &str) -> Result<KernelSource, CommandError> {
    if let Some(entry) = find(name) {
        return Ok(KernelSource { kernel: entry.kernel().map_err(crease::Error::from)?, entry: Some(entry) });
    }
    let path = Path::new(name);
    // A link that leads nowhere is something: opening it says what.
    if path.symlink_metadata().is_err() {
        return Err(unknown_kernel(name).into());
    }
    Ok(KernelSource { kernel: Kernel::parse(&text(path)?).map_err(crease::Error::from)?, entry: None })
}

/// What a file says, which may be a pipe or a device without end.
fn text(path: &Path) -> Result<String, CommandError> {
    let refused = |source| CommandError::File { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(refused)?;
    file.take(LONGEST_TEXT_BYTES + 1).read_to_end(&mut bytes).map_err(refused)?;
    if bytes.len() as u64 > LONGEST_TEXT_BYTES {
        return Err(CommandError::TooLong {
            path: path.to_owned(),
            what: "the text of a kernel",
            limit: LONGEST_TEXT_BYTES,
        });
    }
    String::from_utf8(bytes).map_err(|error| {
        let (valid, rest) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
        let before = String::from_utf8_lossy(valid);
        let line = before.rsplit('\n').next().unwrap_or_default();
        CommandError::NotText {
            path: path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
            byte: rest[0],
        }
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_no_text_is_said_with_its_place() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("k.crk");
        fs::write(&path, b"kernel\nk(\xc3\xa9\xff)").unwrap();
        let refused = |path: &Path| load(path.to_str().unwrap()).map(drop).unwrap_err().to_string();
        assert!(
            refused(&path).ends_with("is not text in UTF-8: line 2, column 4 has the byte 0xff"),
            "{}",
            refused(&path)
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_text_without_end_is_not_read_to_it() {
        let refused = load("/dev/zero").map(drop).unwrap_err().to_string();
        assert_eq!(refused, "/dev/zero has more than the 4194304 bytes that the text of a kernel may have");
    }
}

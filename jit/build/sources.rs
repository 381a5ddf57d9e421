//! A hash of source files, for build scripts: one build of a crate tells itself from another by it.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::fs;
use std::hash::Hasher;
use std::io;
use std::path::{Path, PathBuf};

/// Hashes all files of these directories of the crate that is built, and the lock file with the versions of what it is
/// built on; the script runs again when one of them changes.
pub(crate) fn hash_of(directories: &[&str]) -> io::Result<u64> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut sources = Vec::new();
    for directory in directories.iter().map(|name| root.join(name)) {
        println!("cargo:rerun-if-changed={}", directory.display());
        if directory.is_dir() {
            add_files(&directory, &mut sources)?;
        }
    }
    let lock = root.ancestors().map(|directory| directory.join("Cargo.lock")).find(|path| path.is_file());
    if let Some(lock) = lock {
        println!("cargo:rerun-if-changed={}", lock.display());
        sources.push(lock);
    }
    sources.sort();
    let mut hash = DefaultHasher::new();
    for source in sources {
        hash.write(&fs::read(source)?);
    }
    Ok(hash.finish())
}

fn add_files(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() { add_files(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

//! Tells one build of the code generators from another: a remembered finding of tuning holds for the code it was timed
//! in.
//!
//! In: the sources of this crate and of the loop language, and the lock file with the versions of what they are built
//! on.   Out: a hash of all of them, `CREASE_JIT_BUILD`.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::fs;
use std::hash::Hasher;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut sources = Vec::new();
    for directory in ["src", "program/src"].map(|name| root.join(name)) {
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
    println!("cargo:rustc-env=CREASE_JIT_BUILD={:016x}", hash.finish());
    Ok(())
}

fn add_files(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() { add_files(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

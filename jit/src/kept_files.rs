//! Files that a process keeps for later ones: where, and how they are written.
//!
//! Files are written under names of their own and renamed, so that readers see one whole file or another, whoever else
//! writes.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How names of files end that are being written.
pub(crate) const TEMPORARY: &str = "new";

/// `crease` in the user's directory for such files: what `XDG_CACHE_HOME` names, else `.cache` in the home directory;
/// none where there is neither. Read from the environment by name, as the base directory specification of
/// freedesktop.org has it: the one platform that code is tested on needs no library for that.
pub(crate) fn directory_of_user() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    base.map(|base| base.join("crease"))
}

/// Writes a file that others see whole or not at all.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_extension(format!("{}.{number}.{TEMPORARY}", std::process::id()));
    let write = || {
        fs::File::create_new(&temporary)?.write_all(bytes)?;
        fs::rename(&temporary, path)
    };
    write().inspect_err(|_| _ = fs::remove_file(&temporary))
}

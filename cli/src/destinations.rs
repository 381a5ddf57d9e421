//! Where results go, tried before anything runs: a run of hours is not to end with a path that cannot be written.
//!
//! In: the paths that a run is to write after its last step.   Out: nothing, or why the first of them will not do.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::{io, process};

use crate::error::CommandError;

/// Whether a file can be written there. One that exists stays as it is; one that does not is made and removed. Pipes and
/// devices are not opened.
///
/// # Errors
/// [`CommandError::File`].
pub(crate) fn verify_file(path: &Path) -> Result<(), CommandError> {
    let tried = match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if found.is_file() => OpenOptions::new().append(true).open(path).map(drop),
        Ok(_) => Ok(()),
        Err(_) => File::create_new(path).and_then(|_| fs::remove_file(path)),
    };
    tried.map_err(|source| CommandError::File { path: path.to_owned(), source })
}

/// Whether files can be written into a directory, which is made if there is none.
///
/// # Errors
/// [`CommandError::File`].
pub(crate) fn verify_directory(path: &Path) -> Result<(), CommandError> {
    let named = |source| CommandError::File { path: path.to_owned(), source };
    if path.metadata().is_ok_and(|found| !found.is_dir()) {
        return Err(named(io::ErrorKind::NotADirectory.into()));
    }
    fs::create_dir_all(path).map_err(named)?;
    let tried = verify_file(&path.join(format!(".crease-{}", process::id())));
    // What cannot be written is the directory, not a file that nobody asked for.
    tried.map_err(|error| match error {
        CommandError::File { source, .. } => named(source),
        other => other,
    })
}

/// Whether a file can be put in the place of another one, as checkpoints are: written beside it and renamed.
///
/// # Errors
/// [`CommandError::File`].
pub(crate) fn verify_replaced(path: &Path) -> Result<(), CommandError> {
    verify_file(path)?;
    verify_file(&path.with_file_name(format!(".crease-{}", process::id())))
}

/// The file that a path leads to, however it is spelled and through whatever links, whether it is there or not.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| in_its_directory(path))
}

/// A path by the place of its directory; its last part, which may be a link, is as it is.
pub(crate) fn in_its_directory(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (fs::canonicalize(parent), path.file_name()) {
        (Ok(parent), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_tried_leaves_no_trace() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("old.npy"), "old").unwrap();
        verify_file(&at("old.npy")).unwrap();
        verify_file(&at("new.npy")).unwrap();
        verify_replaced(&at("new.checkpoint")).unwrap();
        verify_directory(&at("pictures")).unwrap();
        verify_directory(directory.path()).unwrap();
        let mut names: Vec<_> =
            fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["old.npy", "pictures"]);
        assert_eq!(fs::read_to_string(at("old.npy")).unwrap(), "old");
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let refused = |tried: Result<(), CommandError>| tried.unwrap_err().to_string();
        let missing = directory.path().join("missing/u.npy");
        assert!(refused(verify_file(&missing)).starts_with(&format!("{}: ", missing.display())));
        assert!(refused(verify_file(directory.path())).contains("is a directory"));
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(refused(verify_directory(&file.join("inside"))).contains("file"));
        assert!(refused(verify_directory(&file)).contains("not a directory"));
        assert!(refused(verify_replaced(&missing)).contains("missing"));
    }
}

//! Files that are there whole or not at all.
//!
//! In: the path of a file.   Out: a file under another name in the same directory, which takes the path's place when it
//! is complete.
//!
//! The other name is always the same, so that a process that was killed leaves one such file at most, which the next
//! writer takes over. A lock keeps two writers apart; the system drops it with the process that holds it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::FileError;

/// How often a writer tries again because the one before it finished in between.
const TRIES: usize = 16;

/// An unfinished file; removed again if it is not put in place.
#[derive(Debug)]
pub(crate) struct Partial {
    file: File,
    path: PathBuf,
    target: PathBuf,
    is_done: bool,
}

/// Whether a file, and its name, have reached the disk when it is put in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Yes: also after a power cut there is the old file or the new one.
    Synced,
    /// When the system gets to it. A killed process still leaves whole files.
    Buffered,
}

impl Partial {
    /// An empty file that is to become `target`.
    pub(crate) fn create(target: &Path) -> Result<Partial, FileError> {
        let name = target.file_name().ok_or_else(|| FileError::NoName { path: target.to_owned() })?;
        let mut partial = OsString::from(".");
        partial.push(name);
        partial.push(".partial");
        let path = target.with_file_name(partial);
        for _ in 0..TRIES {
            let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let file = file.map_err(FileError::io("create", &path))?;
            match file.try_lock() {
                Ok(()) => {}
                // File systems without locks leave it to their users that two programs do not write one file.
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
                Err(TryLockError::Error(source)) => return Err(FileError::io("lock", &path)(source)),
                Err(TryLockError::WouldBlock) => {
                    return Err(FileError::Busy { path: target.to_owned(), partial: path });
                }
            }
            // The writer before may have put the file in place between the two calls above: then it is not ours.
            if is_at(&file, &path) {
                let partial = Partial { file, path, target: target.to_owned(), is_done: false };
                partial.file.set_len(0).map_err(FileError::io("empty", &partial.path))?;
                return Ok(partial);
            }
        }
        Err(FileError::Busy { path: target.to_owned(), partial: path })
    }

    /// The file, to write it.
    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// An error of writing it, which names the file that was to be.
    pub(crate) fn refused(&self) -> impl FnOnce(std::io::Error) -> FileError + use<> {
        FileError::io("write", &self.target)
    }

    /// Puts the file in place of what was there.
    pub(crate) fn commit(mut self, durability: Durability) -> Result<(), FileError> {
        if durability == Durability::Synced {
            self.file.sync_all().map_err(FileError::io("write", &self.target))?;
        }
        fs::rename(&self.path, &self.target).map_err(FileError::io("replace", &self.target))?;
        self.is_done = true;
        if durability == Durability::Synced {
            sync_directory(&self.target)?;
        }
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.is_done {
            // What cannot be removed is taken over by the next writer.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes a small file as a whole.
pub(crate) fn write_whole(target: &Path, bytes: &[u8], durability: Durability) -> Result<(), FileError> {
    let mut partial = Partial::create(target)?;
    std::io::Write::write_all(partial.file(), bytes).map_err(partial.refused())?;
    partial.commit(durability)
}

/// Makes a rename last.
fn sync_directory(target: &Path) -> Result<(), FileError> {
    let directory = match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    if cfg!(unix) {
        let opened = File::open(directory).map_err(FileError::io("open", directory))?;
        opened.sync_all().map_err(FileError::io("write", directory))?;
    }
    Ok(())
}

/// Whether the path still leads to this file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(ours), Ok(there)) => place(ours) == place(there),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_is_whole_or_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("a");
        write_whole(&target, b"old", Durability::Synced).unwrap();
        let mut unfinished = Partial::create(&target).unwrap();
        unfinished.file().write_all(b"ne").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"old");
        let other = Partial::create(&target).unwrap_err();
        assert!(matches!(other, FileError::Busy { .. }), "{other}");
        drop(unfinished);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
        // What a killed process left is longer than what comes in its place.
        fs::write(directory.path().join(".a.partial"), b"much longer").unwrap();
        write_whole(&target, b"new", Durability::Buffered).unwrap();
        assert_eq!((fs::read(&target).unwrap(), fs::read_dir(&directory).unwrap().count()), (b"new".to_vec(), 1));
    }

    #[test]
    fn directories_that_are_not_there_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let missing = Partial::create(&directory.path().join("no/a")).unwrap_err().to_string();
        assert!(missing.contains("cannot create") && missing.contains("no/.a.partial"), "{missing}");
        fs::write(directory.path().join("file"), b"").unwrap();
        assert!(matches!(Partial::create(&directory.path().join("file/a")), Err(FileError::Io { .. })));
        assert!(matches!(Partial::create(Path::new("..")), Err(FileError::NoName { .. })));
    }

    /// Many writers of one file: each finishes or is told that it is busy, and there is always a whole file.
    #[test]
    fn writers_of_one_file_do_not_mix() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("a");
        let (target, start) = (&target, &std::sync::Barrier::new(4));
        std::thread::scope(|scope| {
            for writer in 0..4_u8 {
                scope.spawn(move || {
                    start.wait();
                    for _ in 0..50 {
                        match write_whole(target, &[writer; 1000], Durability::Buffered) {
                            Ok(()) | Err(FileError::Busy { .. }) => {}
                            Err(error) => panic!("{error}"),
                        }
                        if let Ok(there) = fs::read(target) {
                            assert!(there.len() == 1000 && there.iter().all(|&byte| byte == there[0]));
                        }
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
    }
}

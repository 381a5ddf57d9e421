//! The cache on disk: values by their keys, in files that a later process takes over.
//!
//! In: a directory, a key.   Out: the value that was kept for exactly this key.
//!
//! A file holds its whole key, so that a value is taken for nothing else, and a checksum of all of it, so that what is
//! cut off or damaged is no value. Readers and writers in any number of processes get along: files are renamed into
//! place whole.
//!
//! Unsafe, because machine code is among the values, and what a cache gives back is run without another proof. Who can
//! write into the directory can have any code run by those who use it, as with a directory of libraries: so it has to
//! be the user's own, and nobody else may write there.
#![allow(unsafe_code)]

use crate::kept_files::{TEMPORARY, directory_of_user, write_whole};
use std::fmt;
use std::fs::{self, DirBuilder, File, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// What every file begins with.
const MAGIC: &[u8; 16] = b"crease cache  1\n";
/// Bytes of a length and of a checksum.
const WORD_BYTES: usize = 8;
/// How names of cached files end.
const EXTENSION: &str = "cached";
/// Most bytes that cached files take together; beyond, those that were not used for longest go.
pub(crate) const MOST_CACHED_BYTES: u64 = 256 << 20;

/// Plans and machine code that are kept in a directory for later processes, or not kept.
///
/// A plan is found again by all that it depends on: the kernel, sizes, schedule, options, the machine's caches, the
/// library's own build and that of the integer set library; code by the program, the options, the processor and the
/// library's build. What is found was proved when it was kept and is not proved again: the directory is trusted as
/// libraries are. It has to belong to the user, and nobody else may write there; else nothing is read or kept.
///
/// Any number of processes may use a directory at once. Cached files take at most 256 MiB; beyond, those that were not
/// used for longest are removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanCache {
    directory: Option<PathBuf>,
}

/// What became of a value in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kept {
    /// There is no cache.
    Off,
    /// It was there.
    Found,
    /// It is there now.
    Added,
    /// It could not be kept: why.
    Not(String),
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kept::Off => f.write_str("not kept, as there is no cache"),
            Kept::Found => f.write_str("found in the cache, proved when it was kept"),
            Kept::Added => f.write_str("kept in the cache"),
            Kept::Not(why) => write!(f, "not kept: {why}"),
        }
    }
}

impl From<Result<(), PlanCacheError>> for Kept {
    fn from(result: Result<(), PlanCacheError>) -> Kept {
        result.map_or_else(|error| Kept::Not(error.to_string()), |()| Kept::Added)
    }
}

/// Why something was not kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanCacheError {
    /// The directory or a file in it cannot be read or written.
    #[error("cannot write `{}`: {source}", path.display())]
    File {
        /// The file, or the directory.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Others could put code there.
    #[error("`{}` belongs to user {owner} with mode {mode:o}, and nobody but user {user} may write there", path.display())]
    Untrusted {
        /// The directory.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Who runs this process.
        user: u32,
        /// Who may do what.
        mode: u32,
    },
    /// The code refers to something in a way that files have no word for.
    #[error("machine code with references of kind `{kind}` cannot be kept")]
    Reference {
        /// In the words of the code generator.
        kind: String,
    },
}

impl PlanCache {
    /// Keeps nothing.
    pub fn none() -> Self {
        PlanCache::default()
    }

    /// Keeps plans and code in this directory, which is made, for the user alone, when there is something to keep.
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        PlanCache { directory: Some(directory.into()) }
    }

    /// Keeps plans and code in `crease/plans` in the user's directory for such things: what `XDG_CACHE_HOME` names,
    /// else `.cache` in the home directory; nothing is kept where there is neither.
    pub fn of_user() -> Self {
        PlanCache { directory: directory_of_user().map(|crease| crease.join("plans")) }
    }

    /// Where plans and code are kept, if anywhere.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// The value that was kept for `key`, if it is there, whole, and nobody else can have put it there.
    pub fn recall(&self, kind: &str, key: &[u8]) -> Option<Vec<u8>> {
        let directory = self.directory.as_deref()?;
        verify_trust(directory, &fs::metadata(directory).ok()?).ok()?;
        let path = path(directory, kind, key);
        let mut bytes = fs::read(&path).ok()?;
        let value = value_in(&bytes, key)?;
        // Marks it as used. That may fail, as on disks that cannot be written.
        _ = File::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        bytes.truncate(value.end);
        bytes.drain(..value.start);
        Some(bytes)
    }

    /// Keeps a value for `key`.
    ///
    /// # Errors
    /// [`PlanCacheError`]; then nothing was kept.
    ///
    /// # Safety
    /// Whoever recalls the value must be able to rely on it as on one that was just computed and proved.
    pub unsafe fn keep(&self, kind: &str, key: &[u8], value: &[u8]) -> Result<(), PlanCacheError> {
        let Some(directory) = self.directory.as_deref() else { return Ok(()) };
        let failed = |path: &Path| {
            let path = path.to_owned();
            |source| PlanCacheError::File { path, source }
        };
        DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed(directory))?;
        verify_trust(directory, &fs::metadata(directory).map_err(failed(directory))?)?;
        let path = path(directory, kind, key);
        write_whole(&path, &file_of(key, value)).map_err(failed(&path))?;
        remove_oldest(directory, MOST_CACHED_BYTES);
        Ok(())
    }
}

/// Refuses a directory in which others may write.
fn verify_trust(path: &Path, metadata: &Metadata) -> Result<(), PlanCacheError> {
    // SAFETY: it reads a number of the process and cannot fail.
    let user = unsafe { libc::geteuid() };
    let (owner, mode) = (metadata.uid(), metadata.mode() & 0o777);
    if owner == user && mode & 0o022 == 0 {
        return Ok(());
    }
    Err(PlanCacheError::Untrusted { path: path.to_owned(), owner, user, mode })
}

/// The file for a key. Its name only spreads keys over files; the key inside decides.
fn path(directory: &Path, kind: &str, key: &[u8]) -> PathBuf {
    directory.join(format!("{kind}-{:032x}.{EXTENSION}", xxh3_128(key)))
}

/// A file: what it is, the lengths of key and value, both, and a checksum.
fn file_of(key: &[u8], value: &[u8]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for part in [key, value] {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part);
    }
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    bytes
}

/// Where the value is in a file's bytes, if they are whole and for this key.
fn value_in(bytes: &[u8], key: &[u8]) -> Option<std::ops::Range<usize>> {
    let (content, checksum) = bytes.split_last_chunk::<WORD_BYTES>()?;
    if u64::from_le_bytes(*checksum) != xxh3_64(content) {
        return None;
    }
    let part = |bytes: &'_ [u8]| -> Option<usize> {
        let (length, rest) = bytes.split_first_chunk::<WORD_BYTES>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        (length <= rest.len()).then_some(length)
    };
    let rest = content.strip_prefix(MAGIC)?;
    let key_end = WORD_BYTES + part(rest)?;
    if &rest[WORD_BYTES..key_end] != key {
        return None;
    }
    let length = part(&rest[key_end..])?;
    let start = MAGIC.len() + key_end + WORD_BYTES;
    (start + length == content.len()).then_some(start..start + length)
}

/// Removes files that were not used for longest, until those of a cache take three quarters of what they may; nothing
/// while they take no more than that. What processes left unfinished that were killed counts, too. What cannot be
/// removed stays.
fn remove_oldest(directory: &Path, most_bytes: u64) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let of_cache = |entry: &fs::DirEntry| {
        entry.path().extension().is_some_and(|extension| extension == EXTENSION || extension == TEMPORARY)
    };
    let used = |entry: fs::DirEntry| {
        let metadata = entry.metadata().ok()?;
        Some((metadata.modified().ok()?, metadata.len(), entry.path()))
    };
    let mut files: Vec<_> = entries.flatten().filter(of_cache).filter_map(used).collect();
    let mut bytes: u64 = files.iter().map(|(_, length, _)| length).sum();
    if bytes <= most_bytes {
        return;
    }
    files.sort();
    for (_, length, path) in files {
        if bytes <= most_bytes / 4 * 3 {
            return;
        }
        if fs::remove_file(path).is_ok() {
            bytes -= length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn keep(cache: &PlanCache, key: &[u8], value: &[u8]) -> Result<(), PlanCacheError> {
        // SAFETY: nothing relies on these values.
        unsafe { cache.keep("test", key, value) }
    }

    #[test]
    fn values_come_back_for_their_key_alone() {
        let directory = tempfile::tempdir().unwrap();
        let cache = PlanCache::in_directory(directory.path().join("some/where"));
        assert_eq!(cache.recall("test", b"key"), None);
        keep(&cache, b"key", b"value").unwrap();
        keep(&cache, b"", b"").unwrap();
        assert_eq!(cache.recall("test", b"key").as_deref(), Some(&b"value"[..]));
        assert_eq!(cache.recall("test", b"").as_deref(), Some(&b""[..]));
        assert_eq!(cache.recall("test", b"keys"), None);
        assert_eq!(cache.recall("other", b"key"), None);
        // One key's file under another one's name.
        let directory = cache.directory().unwrap();
        fs::copy(path(directory, "test", b"key"), path(directory, "test", b"keys")).unwrap();
        assert_eq!(cache.recall("test", b"keys"), None);
    }

    #[test]
    fn what_is_cut_off_or_changed_is_no_value() {
        let whole = file_of(b"some key", b"some value");
        assert_eq!(
            value_in(&whole, b"some key").map(|range| whole[range].to_vec()).as_deref(),
            Some(&b"some value"[..])
        );
        for at in 0..whole.len() {
            assert_eq!(value_in(&whole[..at], b"some key"), None, "cut at {at}");
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            assert_eq!(value_in(&damaged, b"some key"), None, "damaged at {at}");
        }
        // A checksum that fits does not make lengths that do not.
        let mut long = MAGIC.to_vec();
        long.extend(u64::MAX.to_le_bytes());
        long.extend(xxh3_64(&long).to_le_bytes());
        assert_eq!(value_in(&long, b""), None);
    }

    #[test]
    fn a_directory_in_which_others_may_write_is_not_used() {
        let directory = tempfile::tempdir().unwrap();
        let cache = PlanCache::in_directory(directory.path());
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o700)).unwrap();
        keep(&cache, b"key", b"value").unwrap();
        for mode in [0o720, 0o702, 0o777] {
            fs::set_permissions(directory.path(), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(cache.recall("test", b"key"), None);
            let refused = keep(&cache, b"key", b"value").unwrap_err();
            assert!(matches!(refused, PlanCacheError::Untrusted { mode: found, .. } if found == mode), "{refused}");
        }
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(cache.recall("test", b"key").is_some());
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let directory = tempfile::tempdir().unwrap();
        let cache = PlanCache::in_directory(directory.path());
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(directory.path().join("somebody's"), [0; 4000]).unwrap();
        for key in 0..8_u8 {
            keep(&cache, &[key], &[0; 1000]).unwrap();
            let file = File::open(path(directory.path(), "test", &[key])).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(u64::from(key))).unwrap();
        }
        assert!(cache.recall("test", &[0]).is_some(), "used last");
        remove_oldest(directory.path(), 9000);
        assert!((0..8).all(|key| path(directory.path(), "test", &[key]).exists()), "there is room");
        remove_oldest(directory.path(), 6000);
        let left: Vec<u8> = (0..8).filter(|key| cache.recall("test", &[*key]).is_some()).collect();
        assert_eq!(left, [0, 5, 6, 7]);
        assert!(directory.path().join("somebody's").exists());
    }

    #[test]
    fn without_a_directory_nothing_is_kept() {
        keep(&PlanCache::none(), b"key", b"value").unwrap();
        assert_eq!(PlanCache::none().recall("test", b"key"), None);
    }
}

//! What tuning found, in files: one for each program and machine.
//!
//! In: a directory.   Out: findings, looked up and added.
//!
//! A file holds the whole text it was found for, so that a finding is taken for nothing else: what is cut off, damaged,
//! from another version or another machine is no finding. Nothing here can fail a run.

use super::Variant;
use crate::cache::CODE_BUILD;
use crate::kept_files::{directory_of_user, write_whole};
use crate::machine::last_level_cache_bytes;
use crate::processor::processor_name;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The first line of every file.
const HEADER: &str = "crease tuning 2";

/// Findings of tuning, kept in a directory, or not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TuningMemory {
    directory: Option<PathBuf>,
}

/// Why a finding was not kept.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the finding to `{}`", path.display())]
#[non_exhaustive]
pub struct TuningMemoryError {
    /// The file, or the directory that could not be made.
    pub path: PathBuf,
    /// Why not.
    pub source: io::Error,
}

impl TuningMemory {
    /// Keeps nothing.
    pub fn none() -> Self {
        TuningMemory::default()
    }

    /// Keeps findings in this directory, which is made when there is something to keep.
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        TuningMemory { directory: Some(directory.into()) }
    }

    /// Keeps findings in `crease` in the user's directory for such things: what `XDG_CACHE_HOME` names, else `.cache`
    /// in the home directory; nothing is kept where there is neither.
    pub fn of_user() -> Self {
        TuningMemory { directory: directory_of_user() }
    }

    /// Where findings are kept, if anywhere.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// What was found for `key`, if anything.
    pub(super) fn recall(&self, name: &str, key: &str) -> Option<Variant> {
        parse(&fs::read_to_string(self.path(name, key)?).ok()?, key)
    }

    /// Keeps a finding.
    pub(super) fn remember(&self, name: &str, key: &str, variant: Variant) -> Result<(), TuningMemoryError> {
        self.write(name, key, &render(variant, key))
    }

    /// What was chosen for `what`, if anything: a line that [`Self::remember_choice`] was given on this machine by this
    /// version.
    pub fn recall_choice(&self, name: &str, what: &str) -> Option<String> {
        let key = of_this_machine(what);
        let text = fs::read_to_string(self.path(name, &key)?).ok()?;
        let rest = text.strip_suffix("\nend\n")?.strip_suffix(&key)?.strip_suffix("\nfor\n")?;
        let choice = rest.strip_prefix(HEADER)?.strip_prefix("\nchoice ")?;
        (!choice.contains('\n')).then(|| choice.to_string())
    }

    /// Keeps what was chosen for `what`, one line.
    ///
    /// # Errors
    /// [`TuningMemoryError`] if the file cannot be written.
    pub fn remember_choice(&self, name: &str, what: &str, choice: &str) -> Result<(), TuningMemoryError> {
        let key = of_this_machine(what);
        self.write(name, &key, &format!("{HEADER}\nchoice {choice}\nfor\n{key}\nend\n"))
    }

    /// Writes a finding.
    fn write(&self, name: &str, key: &str, text: &str) -> Result<(), TuningMemoryError> {
        let Some(path) = self.path(name, key) else { return Ok(()) };
        let failed = |path: &Path| {
            let path = path.to_owned();
            |source| TuningMemoryError { path, source }
        };
        let directory = path.parent().expect("files lie in the directory");
        fs::create_dir_all(directory).map_err(failed(directory))?;
        write_whole(&path, text.as_bytes()).map_err(failed(&path))
    }

    /// The file for a key. Its name only spreads keys over files; the key inside decides.
    fn path(&self, name: &str, key: &str) -> Option<PathBuf> {
        Some(self.directory.as_ref()?.join(format!("{name}-{:016x}.tuning", fnv1a(key.as_bytes()))))
    }
}

/// A key with what else a choice depends on.
fn of_this_machine(what: &str) -> String {
    let (version, bytes) = (env!("CARGO_PKG_VERSION"), last_level_cache_bytes());
    format!("crease {version} {CODE_BUILD}\nprocessor {}, {bytes} bytes\n{what}", processor_name())
}

fn render(Variant { width, unroll, non_temporal, prefetch }: Variant, key: &str) -> String {
    format!(
        "{HEADER}\nwidth {width}\nunroll {unroll}\nnon-temporal {non_temporal}\nprefetch {prefetch}\nfor\n{key}\nend\n"
    )
}

/// The finding in a file's text, if it is whole and for this key.
fn parse(text: &str, key: &str) -> Option<Variant> {
    let rest = text.strip_suffix("\nend\n")?.strip_suffix(key)?.strip_suffix("\nfor\n")?;
    let mut lines = rest.lines();
    let mut line = |word: &str| lines.next()?.strip_prefix(word)?.strip_prefix(' ');
    if line("crease")? != HEADER.strip_prefix("crease ")? {
        return None;
    }
    let width = line("width")?.parse().ok()?;
    let unroll = line("unroll")?.parse().ok()?;
    let non_temporal = line("non-temporal")?.parse().ok()?;
    let prefetch = line("prefetch")?.parse().ok()?;
    lines.next().is_none().then_some(Variant { width, unroll, non_temporal, prefetch })
}

/// The hash of Fowler, Noll and Vo, 64 bits: the same on every machine and with every compiler.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{NonTemporal, Prefetch, Unroll, VectorWidth};

    const FOUND: Variant = Variant {
        width: VectorWidth::Bits512,
        unroll: Unroll::Exactly(2),
        non_temporal: NonTemporal::Never,
        prefetch: Prefetch::Always,
    };
    const KEY: &str = "crease 0\nprogram p() {\n}\n";

    #[test]
    fn choices_are_read_back_for_what_they_were_made_alone() {
        let directory = tempfile::tempdir().unwrap();
        let memory = TuningMemory::in_directory(directory.path());
        assert_eq!(memory.recall_choice("p", "kernel"), None);
        memory.remember_choice("p", "kernel", "rows in parallel").unwrap();
        assert_eq!(memory.recall_choice("p", "kernel").as_deref(), Some("rows in parallel"));
        assert_eq!(memory.recall_choice("p", "another"), None);
        let file = fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap().path();
        fs::write(&file, fs::read_to_string(&file).unwrap().replace("choice ", "chose ")).unwrap();
        assert_eq!(memory.recall_choice("p", "kernel"), None);
    }

    #[test]
    fn findings_are_read_back() {
        for width in VectorWidth::ALL {
            for non_temporal in NonTemporal::ALL {
                for unroll in [Unroll::AtMost(4), Unroll::Exactly(8)] {
                    for prefetch in Prefetch::ALL {
                        let variant = Variant { width, unroll, non_temporal, prefetch };
                        assert_eq!(parse(&render(variant, KEY), KEY), Some(variant));
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_cut_off_or_changed_or_for_another_key_is_no_finding() {
        let text = render(FOUND, KEY);
        for end in 0..text.len() {
            assert_eq!(parse(&text[..end], KEY), None, "cut at {end}");
            let mut damaged = text.clone().into_bytes();
            damaged[end] ^= 1;
            // One character may turn a finding into another one; it never turns into one for another key.
            let found = parse(&String::from_utf8_lossy(&damaged), KEY);
            assert!(found.is_none() || end < text.find("\nfor\n").unwrap(), "damaged at {end}: {found:?}");
        }
        assert_eq!(parse(&text, "crease 1\nprogram p() {\n}\n"), None);
        assert_eq!(parse(&text.replacen("tuning 2", "tuning 1", 1), KEY), None);
        assert_eq!(parse(&text.replacen("for\n", "also\nfor\n", 1), KEY), None);
    }

    /// The hashes that its authors publish.
    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn without_a_directory_nothing_is_kept() {
        let memory = TuningMemory::none();
        memory.remember("p", KEY, FOUND).unwrap();
        assert_eq!(memory.recall("p", KEY), None);
    }
}

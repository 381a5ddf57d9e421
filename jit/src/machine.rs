//! The machine that code runs on: the sizes of its caches, and its pages.
//!
//! In: what Linux says.   Out: values to pass on; which stores are non-temporal and which loads are prefetched
//! depends on the sizes, and how much memory a field takes on the pages.

use crate::knobs::{
    ASSUMED_FIRST_LEVEL_BYTES, ASSUMED_LAST_LEVEL_BYTES, ASSUMED_SECOND_LEVEL_BYTES, SHARED_CACHE_BYTES,
};
use crate::processor::{INTEL, vendor};
use crate::target::wide_target;
use crate::{Isa, IsaChoice};
use std::fs::DirEntry;
use std::path::Path;
use std::sync::OnceLock;

/// Where the caches of the first core are told.
const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";

/// When huge pages are given: the chosen word of `always madvise never` is in brackets.
const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// Bytes of the largest cache that the first core has, shared or not, and no more than 16 MiB for each logical
/// processor that this system has of those that share it; 32 MiB where the system does not tell.
pub fn last_level_cache_bytes() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| largest_in(Path::new(CACHES), None).unwrap_or(ASSUMED_LAST_LEVEL_BYTES))
}

/// Bytes of the second-level cache that the first core has; 1 MiB where the system does not tell.
pub fn second_level_cache_bytes() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| largest_in(Path::new(CACHES), Some("2")).unwrap_or(ASSUMED_SECOND_LEVEL_BYTES))
}

/// Bytes of the first-level cache for data that the first core has; 32 KiB where the system does not tell.
pub fn first_level_cache_bytes() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| largest_in(Path::new(CACHES), Some("1")).unwrap_or(ASSUMED_FIRST_LEVEL_BYTES))
}

/// Whether the last-level cache is far from a core, so that it is hardly faster than memory: yes on Intel's processors,
/// as the cores of their servers share one over a mesh; no on all others, as AMD's have one for each few cores.
pub fn is_last_level_far() -> bool {
    vendor() == INTEL
}

/// Registers of the widest vectors that code is compiled for on this processor.
pub fn vector_registers() -> u32 {
    let isa = Isa::detect();
    let widest = isa.resolve(IsaChoice::Auto).ok().and_then(wide_target);
    widest.map_or(isa.vector_registers, |target| target.features().registers as u32)
}

/// Whether fields that ask for huge pages may get them; no where the system does not tell.
pub(crate) fn has_huge_pages() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| std::fs::read_to_string(HUGE_PAGES).is_ok_and(|text| !text.contains("[never]")))
}

/// The largest size in the files `index*/size` of a directory, of one level or of all, but for what has instructions
/// alone.
fn largest_in(directory: &Path, level: Option<&str>) -> Option<u64> {
    let caches = std::fs::read_dir(directory).ok()?.flatten();
    let read = |cache: &DirEntry, file| std::fs::read_to_string(cache.path().join(file)).ok();
    let is_wanted = |cache: &DirEntry| {
        level.is_none_or(|level| read(cache, "level").is_some_and(|l| l.trim() == level))
            && read(cache, "type").is_none_or(|kind| kind.trim() != "Instruction")
    };
    let sizes = caches.filter(is_wanted).filter_map(|cache| {
        let sharing = read(&cache, "shared_cpu_list").and_then(|list| count(&list)).unwrap_or(1);
        Some(parse(&read(&cache, "size")?)?.min(SHARED_CACHE_BYTES.saturating_mul(sharing)))
    });
    sizes.max().filter(|bytes| *bytes > 0)
}

/// How many numbers a list like `0-3,8-11` has.
fn count(list: &str) -> Option<u64> {
    let mut all = 0_u64;
    for range in list.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse::<u64>().ok()?, last.parse::<u64>().ok()?);
        all = all.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    Some(all)
}

/// `32768K` as bytes.
fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_or_none() {
        assert_eq!(parse("32768K\n"), Some(32 << 20));
        assert_eq!(parse("2M"), Some(2 << 20));
        assert_eq!(parse("512"), Some(512));
        for text in ["", "K", "many", "-1K", "99999999999999999999K", "18446744073709551615M"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
        assert_eq!(largest_in(Path::new("/no/such/directory"), None), None);
        assert_eq!([count("0-1\n"), count("0-3,8-11"), count("5")], [Some(2), Some(8), Some(1)]);
        for text in ["", "3-1", "0-", "a", "0-18446744073709551615"] {
            assert_eq!(count(text), None, "{text:?}");
        }
        assert!(first_level_cache_bytes() > 0 && first_level_cache_bytes() <= second_level_cache_bytes());
        assert!(second_level_cache_bytes() > 0 && second_level_cache_bytes() <= last_level_cache_bytes());
    }
}

//! The machine that code runs on: the size of its last cache, and its processor's name.
//!
//! In: what Linux says.   Out: values to pass on; what stores go past the cache depends on the first, whether a finding of
//! tuning holds on both.

use std::path::Path;
use std::sync::OnceLock;

/// What is assumed where the system does not tell: a server of recent years.
const ASSUMED_BYTES: u64 = 32 << 20;

/// Bytes of the largest cache that the first core has, shared or not; 32 MiB where the system does not tell.
pub fn last_level_cache_bytes() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| largest_in(Path::new("/sys/devices/system/cpu/cpu0/cache")).unwrap_or(ASSUMED_BYTES))
}

/// What the processor calls itself; its architecture where the system does not tell.
pub(crate) fn processor_name() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.trim_start().strip_prefix(':'));
    name.map_or(std::env::consts::ARCH, str::trim).to_owned()
}

/// The largest size in the files `index*/size` of a directory.
fn largest_in(directory: &Path) -> Option<u64> {
    let caches = std::fs::read_dir(directory).ok()?.flatten();
    let sizes = caches.filter_map(|cache| parse(&std::fs::read_to_string(cache.path().join("size")).ok()?));
    sizes.max().filter(|bytes| *bytes > 0)
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
        assert_eq!(largest_in(Path::new("/no/such/directory")), None);
        assert!(last_level_cache_bytes() > 0 && !processor_name().is_empty());
    }
}

//! What the processor calls itself, and who made it.
//!
//! In: what Linux says.   Out: names; whether a finding of tuning and code that was kept hold depends on the one, what
//! vectors are estimated to take on the other.

use std::sync::OnceLock;

/// What Intel's processors say of who made them.
pub(crate) const INTEL: &str = "GenuineIntel";

/// What the processor calls itself; its architecture where the system does not tell.
pub(crate) fn processor_name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| of_first_processor("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()))
}

/// Who made the processor, as `cpuid` says it; empty where the system does not tell.
pub(crate) fn vendor() -> &'static str {
    static VENDOR: OnceLock<String> = OnceLock::new();
    VENDOR.get_or_init(|| of_first_processor("vendor_id").unwrap_or_default())
}

/// Family and model of the processor, as `cpuid` says them; none where the system does not tell.
pub(crate) fn family_and_model() -> Option<(u32, u32)> {
    static NUMBERS: OnceLock<Option<(u32, u32)>> = OnceLock::new();
    let number = |name: &str| of_first_processor(name)?.parse().ok();
    *NUMBERS.get_or_init(|| Some((number("cpu family")?, number("model")?)))
}

/// What Linux says of the first processor under a name.
fn of_first_processor(name: &str) -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    told(&text, name).map(str::to_owned)
}

/// What stands first behind a name in lines like `model name : AMD EPYC`.
fn told<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let found = text.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':'));
    found.map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_first_processor() {
        let text = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 143\nmodel name\t: A Processor\n\n\
                    vendor_id\t: Another\n";
        let names = ["vendor_id", "model name", "model", "flags", "cpu family"].map(|name| told(text, name));
        assert_eq!(names, [Some("GenuineIntel"), Some("A Processor"), Some("143"), None, None]);
        assert!(!processor_name().is_empty());
    }
}

//! The machine a record was made on.

use std::collections::BTreeMap;
use std::process::Command;
use std::thread;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

/// What a reader of a record needs to know of where it comes from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub cpu: String,
    /// Cores this process may use.
    pub cores: usize,
    /// Vector and fused arithmetic the processor has.
    pub isa: Vec<String>,
    /// Main memory in bytes; 0 if unknown.
    pub memory_bytes: u64,
    /// Operating system and architecture.
    pub platform: String,
    /// C compiler and flags; `None` if there is none.
    pub c_compiler: Option<String>,
    /// Gigabytes per second of updating memory in place, by number of threads: the median of all probes.
    pub update_in_place_gb_per_s: BTreeMap<String, f64>,
    /// The same of a triad, write-allocate counted.
    pub triad_gb_per_s: BTreeMap<String, f64>,
}

impl Machine {
    /// Describes this machine; bandwidths are still empty.
    pub fn describe(c_compiler: Option<String>) -> Machine {
        let wanted = RefreshKind::nothing()
            .with_cpu(CpuRefreshKind::nothing())
            .with_memory(MemoryRefreshKind::nothing().with_ram());
        let system = System::new_with_specifics(wanted).ok();
        let cpus = system.as_ref().map_or(&[][..], System::cpus);
        let cpu = cpus.first().map(|cpu| cpu.brand().trim().to_owned()).unwrap_or_default();
        Machine {
            cpu: if cpu.is_empty() { "unknown processor".into() } else { cpu },
            cores: cores(),
            isa: isa(),
            memory_bytes: system.as_ref().map_or(0, System::total_memory),
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            c_compiler,
            update_in_place_gb_per_s: BTreeMap::new(),
            triad_gb_per_s: BTreeMap::new(),
        }
    }
}

/// Cores this process may use.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, |n| n.get())
}

/// The date in UTC, such as `2026-01-31T12:00:00Z`.
pub fn date() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// The revision of the sources this command was built from, marked if they were changed since; `None` where they are
/// gone or not under version control. Records are no sources: those that a command has just written mark nothing.
pub fn revision() -> Option<String> {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(env!("CARGO_MANIFEST_DIR")).args(arguments);
        command
    };
    let named = git(&["describe", "--always", "--abbrev=12"]).output().ok().filter(|output| output.status.success())?;
    let name =
        String::from_utf8(named.stdout).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())?;
    let is_changed =
        !git(&["diff", "--quiet", "HEAD", "--", ":/", ":(top,exclude)bench-results"]).status().ok()?.success();
    Some(if is_changed { name + "-dirty" } else { name })
}

#[cfg(target_arch = "x86_64")]
fn isa() -> Vec<String> {
    let known = [
        ("sse4.2", is_x86_feature_detected!("sse4.2")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512dq", is_x86_feature_detected!("avx512dq")),
        ("avx512vl", is_x86_feature_detected!("avx512vl")),
    ];
    known.into_iter().filter(|&(_, has)| has).map(|(name, _)| name.to_owned()).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn isa() -> Vec<String> {
    if cfg!(target_arch = "aarch64") { vec!["neon".to_owned()] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_core_and_memory() {
        let machine = Machine::describe(None);
        assert!(machine.cores >= 1 && machine.memory_bytes > 1 << 20, "{machine:?}");
        assert!(date().ends_with('Z'));
    }
}

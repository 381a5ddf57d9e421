//! Available memory: how much this process may still take before the system ends it.
//!
//! In: what Linux says of the machine and of the control groups that the process is in.   Out: the least of them all,
//! and who sets it. Elsewhere nothing is known.
//!
//! Both versions of control groups are read, from the process's own group up to the root, as each may set a limit. What
//! a group uses includes files that it has read, which the system drops when memory is short: they count as available,
//! as they do in the machine's `MemAvailable`. That is why no library is asked: `sysinfo` counts them as used, and a
//! container that has just read its data would be refused memory that it can have. Swap does not count: a run that
//! lives there would never end.

use std::fmt;
use std::fs;
use std::path::Path;

/// Limits from here on are none: version 1 writes the largest number of pages where there is no limit.
const NO_LIMIT_BYTES: u64 = 1 << 60;

/// How much memory this process may still take.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AvailableMemory {
    /// Bytes.
    pub bytes: u64,
    /// Who has no more.
    pub limited_by: LimitedBy,
}

/// Who sets a limit of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitedBy {
    /// All that the machine has, without what is in use.
    Machine,
    /// A control group, such as that of a container: its path.
    ControlGroup(String),
    /// [`MemoryCheck::Limit`](crate::MemoryCheck::Limit).
    Option,
}

impl fmt::Display for LimitedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LimitedBy::Machine => f.write_str("the machine has no more free"),
            LimitedBy::ControlGroup(path) => write!(f, "the control group {path} allows no more"),
            LimitedBy::Option => f.write_str("the run's options allow no more"),
        }
    }
}

/// How much memory this process may still take; none where the system does not tell.
pub fn available_memory() -> Option<AvailableMemory> {
    available_under(Path::new("/"))
}

/// The same, of the system whose files are in this directory.
fn available_under(root: &Path) -> Option<AvailableMemory> {
    let machine = read_field(&root.join("proc/meminfo"), "MemAvailable:")
        .map(|kib| AvailableMemory { bytes: kib.saturating_mul(1024), limited_by: LimitedBy::Machine });
    groups(root).into_iter().chain(machine).min_by_key(|available| available.bytes)
}

/// A hierarchy of control groups that limits memory: names of its files.
struct Version {
    limit: &'static str,
    usage: &'static str,
    /// Fields of `memory.stat` that tell what the system can take back.
    reclaimable: [&'static str; 2],
}

const VERSION_1: Version = Version {
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    reclaimable: ["total_inactive_file", "total_active_file"],
};

const VERSION_2: Version =
    Version { limit: "memory.max", usage: "memory.current", reclaimable: ["inactive_file", "active_file"] };

/// What each group with a limit has left, in both versions.
fn groups(root: &Path) -> Vec<AvailableMemory> {
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let (memberships, mounts) = (read("proc/self/cgroup"), read("proc/self/mountinfo"));
    let mut left = Vec::new();
    for (version, group) in memberships.lines().filter_map(membership) {
        let Some((mounted, at)) = mounts
            .lines()
            .filter_map(mount)
            .find_map(|(v, mounted, at)| (v.limit == version.limit).then_some((mounted, at)))
        else {
            continue;
        };
        // A group outside of what is mounted is that of a container's host: its own files are at the mount's root.
        let inner = group.strip_prefix(&mounted).map(|inner| inner.trim_matches('/')).unwrap_or_default();
        let base = root.join(at.trim_start_matches('/'));
        let directory = if base.join(inner).is_dir() { base.join(inner) } else { base.clone() };
        let chain = directory.ancestors().take_while(|path| path.starts_with(&base));
        left.extend(chain.filter_map(|path| left_in(path, version, root)));
    }
    left
}

/// What a group has left, if it has a limit.
fn left_in(directory: &Path, version: &Version, root: &Path) -> Option<AvailableMemory> {
    let number = |file: &str| fs::read_to_string(directory.join(file)).ok()?.trim().parse::<u64>().ok();
    let limit = number(version.limit).filter(|limit| *limit < NO_LIMIT_BYTES)?;
    let statistics = directory.join("memory.stat");
    let reclaimable = version.reclaimable.iter().filter_map(|field| read_field(&statistics, field));
    let used = number(version.usage)?.saturating_sub(reclaimable.fold(0, u64::saturating_add));
    let path = directory.strip_prefix(root).map_or(directory.to_path_buf(), |path| Path::new("/").join(path));
    let limited_by = LimitedBy::ControlGroup(path.display().to_string());
    Some(AvailableMemory { bytes: limit.saturating_sub(used), limited_by })
}

/// A line of `/proc/self/cgroup`, `4:memory:/a/b` or `0::/a/b`: the version and the group, if it is about memory.
fn membership(line: &str) -> Option<(&'static Version, &str)> {
    let mut fields = line.splitn(3, ':');
    let (hierarchy, controllers, group) = (fields.next()?, fields.next()?, fields.next()?);
    match (hierarchy, controllers) {
        ("0", "") => Some((&VERSION_2, group)),
        _ if controllers.split(',').any(|controller| controller == "memory") => Some((&VERSION_1, group)),
        _ => None,
    }
}

/// A line of `/proc/self/mountinfo`: the version, the group that is mounted, and where, if it is about memory.
fn mount(line: &str) -> Option<(&'static Version, String, String)> {
    let (before, after) = line.split_once(" - ")?;
    let (mut before, mut after) = (before.split(' ').skip(3), after.split(' '));
    let (mounted, at) = (unescaped(before.next()?), unescaped(before.next()?));
    let (kind, options) = (after.next()?, after.nth(1)?);
    match kind {
        "cgroup2" => Some((&VERSION_2, mounted, at)),
        "cgroup" if options.split(',').any(|option| option == "memory") => Some((&VERSION_1, mounted, at)),
        _ => None,
    }
}

/// A path in which the system wrote blanks as `\040`.
fn unescaped(path: &str) -> String {
    let path = path.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
    if path == "/" { String::new() } else { path }
}

/// The number behind a word at the start of a line.
fn read_field(file: &Path, word: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        (words.next()? == word).then(|| words.next()?.parse().ok())?
    };
    text.lines().find_map(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A directory with the files of a system; removed again.
    struct System(PathBuf);

    impl System {
        fn new(name: &str, files: &[(&str, &str)]) -> System {
            let root = std::env::temp_dir().join(format!("crease-{}-{name}", std::process::id()));
            for (path, text) in files {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            System(root)
        }

        fn available(&self) -> Option<(u64, String)> {
            available_under(&self.0).map(|found| (found.bytes, found.limited_by.to_string()))
        }
    }

    impl Drop for System {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const MEMINFO: (&str, &str) = ("proc/meminfo", "MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable:    8000 kB\n");
    const MACHINE: u64 = 8000 * 1024;

    #[test]
    fn a_machine_without_groups_says_what_it_has() {
        let machine = |files: &[_], name| System::new(name, files).available();
        assert_eq!(machine(&[MEMINFO], "bare"), Some((MACHINE, "the machine has no more free".to_string())));
        assert_eq!(machine(&[("proc/nothing", "")], "unknown"), None);
        assert_eq!(machine(&[("proc/meminfo", "MemAvailable: many kB\n")], "broken"), None);
    }

    #[test]
    fn the_tightest_of_nested_groups_counts_and_files_can_be_dropped() {
        let files = [
            MEMINFO,
            ("proc/self/cgroup", "0::/a/b/c\n"),
            (
                "proc/self/mountinfo",
                "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
            ),
            ("sys/fs/cgroup/cgroup.procs", ""),
            ("sys/fs/cgroup/a/memory.max", "900000\n"),
            ("sys/fs/cgroup/a/memory.current", "800000\n"),
            ("sys/fs/cgroup/a/memory.stat", "anon 500000\ninactive_file 200000\nactive_file 50000\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/b/memory.current", "700000\n"),
            ("sys/fs/cgroup/a/b/c/memory.max", "2000000\n"),
            ("sys/fs/cgroup/a/b/c/memory.current", "600000\n"),
        ];
        let found = System::new("v2", &files).available();
        assert_eq!(found, Some((350_000, "the control group /sys/fs/cgroup/a allows no more".to_string())));
    }

    #[test]
    fn version_1_has_a_hierarchy_for_memory_and_large_numbers_for_no_limit() {
        let mounts = "33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n\
                      35 31 0:32 /docker /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let files = [
            MEMINFO,
            ("proc/self/cgroup", "5:cpuacct:/x\n4:hugetlb,memory:/docker/run\n0::/\n"),
            ("proc/self/mountinfo", mounts),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "5000\n"),
            ("sys/fs/cgroup/memory/run/memory.limit_in_bytes", "100000\n"),
            ("sys/fs/cgroup/memory/run/memory.usage_in_bytes", "70000\n"),
            ("sys/fs/cgroup/memory/run/memory.stat", "inactive_file 9\ntotal_inactive_file 10000\n"),
        ];
        let found = System::new("v1", &files).available();
        assert_eq!(found, Some((40_000, "the control group /sys/fs/cgroup/memory/run allows no more".to_string())));
    }

    #[test]
    fn a_container_sees_its_own_group_as_the_root() {
        let files = [
            MEMINFO,
            ("proc/self/cgroup", "0::/../../kubepods/pod7\n"),
            ("proc/self/mountinfo", "1 2 0:3 / /sys/fs/cgroup ro - cgroup2 cgroup ro\n"),
            ("sys/fs/cgroup/memory.max", "5000\n"),
            ("sys/fs/cgroup/memory.current", "6000\n"),
        ];
        assert_eq!(System::new("container", &files).available().map(|(bytes, _)| bytes), Some(0));
    }

    #[test]
    fn this_system_is_understood() {
        if cfg!(target_os = "linux") {
            let found = available_memory().expect("Linux says");
            assert!(found.bytes > 0, "{found:?}");
        }
    }
}

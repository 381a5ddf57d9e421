//! The kernel texts of this repository.

use std::fs;
use std::path::Path;

use crease::Kernel;
use crease_kernels::catalogue;

/// Folders and files with texts, from the root.
const SOURCES: [&str; 6] = [
    "kernels/tests/texts",
    "engine/tests/filetests/fold",
    "engine/tests/filetests/parse",
    "engine/tests/filetests/stages",
    "docs/KERNEL-TEXT.md",
    "README.md",
];

/// Texts of the catalogue, the filetests and the documents: those that are right, and those that are wrong on purpose.
pub(crate) fn texts() -> (Vec<String>, Vec<String>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found: Vec<String> = catalogue().iter().map(|entry| entry.kernel().unwrap().to_string()).collect();
    for source in SOURCES {
        let before = found.len();
        collect(&root.join(source), &mut found);
        assert!(found.len() > before, "no kernel in {source}");
    }
    found.into_iter().partition(|text| Kernel::parse(text).is_ok())
}

fn collect(path: &Path, found: &mut Vec<String>) {
    if path.is_dir() {
        let mut paths: Vec<_> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.iter().for_each(|path| collect(path, found));
        return;
    }
    let text = fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for start in (0..lines.len()).filter(|&at| lines[at].trim_start().starts_with("kernel ")) {
        found.extend(kernel_at(&lines[start..]));
    }
}

/// The kernel that starts in the first line: up to the line in which its braces close.
fn kernel_at(lines: &[&str]) -> Option<String> {
    let (mut depth, mut text) = (0, String::new());
    for line in lines {
        // What a filetest expects stands behind the line.
        let line = line.split(" ; error").next().unwrap_or_default();
        text.push_str(line);
        text.push('\n');
        depth += line.matches('{').count() as i64 - line.matches('}').count() as i64;
        if depth <= 0 {
            let end = text.rfind('}')? + 1;
            text.truncate(end);
            return Some(text);
        }
    }
    None
}

//! The pictures in `docs/pictures` are what the commands beside them draw.
//!
//! `BLESS=1 cargo test -p crease-cli --test pictures` draws them again; look at the difference before you commit it.

use std::fs;
use std::path::{Path, PathBuf};

use crease_cli::explain::{ExplainOptions, Form, explain};
use crease_cli::request::KernelRequest;

/// Draws a small run of `kernel` into `directory`.
fn plot(kernel: &str, assignments: &[&str], forced: &[&str], directory: &Path) -> Vec<PathBuf> {
    let assignments = assignments.iter().map(|text| text.parse().unwrap()).collect();
    let options = ExplainOptions {
        request: KernelRequest { assignments, ..KernelRequest::of(kernel) },
        form: Form::Text,
        plot: Some(directory.to_owned()),
        forced_moduli: forced.iter().map(|text| text.parse().unwrap()).collect(),
        all_sizes: false,
    };
    explain(&options).unwrap();
    let mut files: Vec<PathBuf> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn check(name: &str, assignments: &[&str], forced: &[&str]) {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/pictures").join(name);
    let drawn = tempfile::tempdir().unwrap();
    if std::env::var_os("BLESS").is_some() {
        fs::create_dir_all(&kept).unwrap();
        plot("heat-1d", assignments, forced, &kept);
    }
    for file in plot("heat-1d", assignments, forced, drawn.path()) {
        let kept = kept.join(file.file_name().unwrap());
        let same = fs::read(&kept).is_ok_and(|bytes| bytes == fs::read(&file).unwrap());
        assert!(same, "{} is not what is drawn now", kept.display());
    }
}

#[test]
fn a_line_in_one_ring() {
    check("heat-1d", &["N=12", "T=5"], &[]);
}

#[test]
fn a_ring_that_is_one_cell_short() {
    check("collision", &["N=12", "T=5"], &["u=12"]);
}

//! The pictures in `docs/pictures` are what the commands beside them draw.
//!
//! `BLESS=1 cargo test -p crease-cli --test pictures` draws them again; look at the difference before you commit it.

use std::fs;
use std::path::{Path, PathBuf};

use crease_cli::explain::{ExplainOptions, Form, explain};
use crease_cli::request::KernelRequest;

/// Draws a small run into `directory` and says so.
fn draw(request: KernelRequest, forced: &[&str], directory: &Path) -> String {
    let options = ExplainOptions {
        request,
        form: Form::Text,
        plot: Some(directory.to_owned()),
        forced_moduli: forced.iter().map(|text| text.parse().unwrap()).collect(),
        all_sizes: false,
    };
    explain(&options).unwrap()
}

/// The files of a small run of `kernel`, in `directory`.
fn plot(kernel: &str, assignments: &[&str], forced: &[&str], directory: &Path) -> Vec<PathBuf> {
    let assignments = assignments.iter().map(|text| text.parse().unwrap()).collect();
    draw(KernelRequest { assignments, ..KernelRequest::of(kernel) }, forced, directory);
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

/// Smaller sizes have another schedule than those that pictures cannot show.
#[test]
fn pictures_say_which_schedule_was_found() {
    let drawn = tempfile::tempdir().unwrap();
    let of = |schedule: &str| {
        let request = KernelRequest { schedule: Some(schedule.to_string()), ..KernelRequest::of("heat-1d") };
        draw(request, &[], drawn.path())
    };
    let (found, written) = (of("auto"), of("rows"));
    assert!(found.contains("\nschedule, found for these sizes: "), "{found}");
    assert!(!written.contains("schedule, found"), "{written}");
}

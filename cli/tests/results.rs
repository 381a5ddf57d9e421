//! `docs/RESULTS.md` and the table in `README.md` are what the newest records say.
//!
//! `cargo run --release -- results` writes them again.

use std::path::Path;

use crease_cli::results::Results;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

#[test]
fn documents_say_what_the_newest_records_say() {
    let stale = Results::read(root()).unwrap().stale();
    assert!(stale.is_empty(), "{stale:?}: `cargo run --release -- results` writes them again");
}

#[test]
fn every_record_is_read_or_passed_over_for_a_reason() {
    let results = Results::read(root()).unwrap();
    // Planning times are quoted where they belong, in docs/LIMITS.md.
    let reasons = ["does not begin with a date", "not a suite as it is", "no results are shown of the suite `latency`"];
    for skipped in &results.skipped {
        assert!(reasons.iter().any(|reason| skipped.contains(reason)), "{skipped}");
    }
}

#[test]
fn prose_is_no_wider_than_120_columns() {
    for document in Results::read(root()).unwrap().documents {
        for line in document.text.lines().filter(|line| !line.starts_with('|')) {
            assert!(line.chars().count() <= 120, "{}: {line}", document.name);
        }
    }
}

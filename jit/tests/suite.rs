//! All tests of this crate from outside: one program to link, whose threads are all busy until the end.
//!
//! What takes seconds is smaller in `cargo test`, which people wait for, than in `.ci/run`, which sets
//! `CREASE_THOROUGH`.

mod extremes;
mod filetests;
mod functions;
mod mutants;
mod native;
mod program_random;
mod tuning;

/// Whether everything is tried.
fn is_thorough() -> bool {
    std::env::var_os("CREASE_THOROUGH").is_some()
}

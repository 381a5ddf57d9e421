//! `crease results`: what the newest records say, as documents.
//!
//! In: the records in `bench-results/`.   Out: `docs/RESULTS.md`, and the table in `README.md`.
//!
//! `newest` finds the newest record of each suite, `document` writes all of them at length, `summary` the few lines of
//! the README; `files` compares with what is there and writes. Nothing is computed but ratios of what records hold.

mod document;
mod files;
mod newest;
mod summary;

pub use files::{Document, Results};

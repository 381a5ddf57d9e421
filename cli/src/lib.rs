//! `crease-cli`: what the command `crease` does.
//!
//! `cli` reads the command line, with `cache_args` and those of `paper`, the suite of the publications' tables.
//! `explain` tells what a plan decides and why, `beyond` what more is known, with `waiting`; `run` computes what a
//! `run_request` says, from its `start` (with `start_values` and inputs over `steps`), in as much `memory` as there is,
//! to `destinations` that were tried before, and writes `files` on the way. Both get their plan by `request`: a kernel
//! of `kernel_source`, `settings` of its sizes, and `storage`. `listing` shows the catalogue, `logging` prints what
//! decisions were made of, `charts` draws records again, `results` writes what the newest of them say into documents. What is measured is in
//! `crease-bench`, what is drawn in `crease-pictures`.

mod beyond;
mod cache_args;
mod charts;
pub mod cli;
mod destinations;
pub mod error;
pub mod explain;
pub mod files;
pub mod kernel_source;
pub mod listing;
mod logging;
mod memory;
mod paper;
pub mod request;
pub mod results;
pub mod run;
pub mod run_request;
pub mod settings;
mod start;
mod start_values;
mod steps;
pub mod storage;
mod waiting;

pub use error::CommandError;

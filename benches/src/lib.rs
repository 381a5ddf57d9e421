//! `crease-bench`: what the command `crease` does.
//!
//! `cli` reads the command line. `bench` measures: `suites` say what, `layouts` are ours, `cloops` the C they are
//! compared with, `contestant` checks answers, `timing` interleaves, `bandwidth` gives the roofline, `report` and
//! `table` say what was found. `explain` tells what a plan decides and why, `beyond` what more is
//! known, `physics` and `optimizer` compare with published results, `strips` sets our code beside C, `results` writes what
//! the newest records say into documents, `run` computes on arrays in files, `listing` shows the catalogue, `pictures`
//! draws.

pub mod bandwidth;
pub mod bench;
mod beyond;
pub mod cli;
pub mod cloops;
pub mod code_variant;
mod contestant;
pub mod error;
pub mod explain;
pub mod kernel_source;
pub mod layouts;
pub mod listing;
mod logging;
pub mod machine;
mod memory;
pub mod optimizer;
pub mod physics;
pub mod pictures;
pub mod progress;
pub mod report;
pub mod results;
pub mod roofline;
pub mod run;
pub mod settings;
pub mod storage;
pub mod strips;
pub mod suites;
pub mod table;
pub mod timing;

pub use error::BenchError;

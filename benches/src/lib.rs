//! `crease-bench`: measurements of our own layouts beside C loops, publications and analytic solutions.
//!
//! `suites` lists comparisons and `bench` holds them, of kernels in the `catalogue`; `strips` sets
//! our code beside C strip by strip; `driver` is what both share: `layouts` are ours, `cloops` the C they are compared
//! with, `variants` of both kinds have their answers checked as `comparable`, `timing` interleaves them, `bandwidth`
//! gives the roofline. `physics` and `optimizer` compare with published results; `latency` says what it takes from text
//! to code; `paper` regenerates the publications' tables. All write a `record`, with a header of the `machine`; of
//! comparisons it has `row`s, which `table` shows in `columns`. `roofline` says what one core allows the strips of a
//! plan, `many_cores` simulates its tiles on more than there are.

pub mod bandwidth;
pub mod bench;
pub mod catalogue;
pub mod cloops;
pub mod code_variant;
pub mod columns;
mod comparable;
pub mod cores;
mod driver;
pub mod error;
pub mod latency;
pub mod layouts;
pub mod machine;
pub mod many_cores;
pub mod optimizer;
pub mod paper;
pub mod physics;
mod physics_runs;
pub mod progress;
pub mod record;
pub mod roofline;
pub mod round_trip;
pub mod row;
pub mod strips;
pub mod suites;
pub mod table;
pub mod timing;
mod variants;

pub use error::BenchError;

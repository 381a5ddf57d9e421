//! The choice of storage mappings.
//!
//! `problem` is what every strategy sees, `options` what a caller may ask for. One file per strategy proposes storage
//! (`engine/src/storage.rs`), `given` takes it from the caller; `check` asks the checker (`engine/src/check/`) to prove it,
//! which shares neither facts nor code with any of them; `choice` takes a strategy by name, `auto` chooses among the
//! proved: `search` asks strategies for one array, `candidate` compares what they found by size and by what `cost` thinks
//! of it, `decision` says how it ended, `logging` tells whoever listens. `mirror` has rings mapped twice.

pub(crate) mod auto;
mod candidate;
pub(crate) mod check;
pub(crate) mod choice;
pub(crate) mod cost;
pub(crate) mod decision;
pub(crate) mod full;
pub(crate) mod given;
pub(crate) mod hyperplane;
pub(crate) mod in_place;
pub(crate) mod lattice;
mod logging;
pub(crate) mod mirror;
pub(crate) mod occupancy;
pub(crate) mod options;
mod outline;
pub(crate) mod periodic;
pub(crate) mod polytope;
mod problem;
pub(crate) mod rounding;
pub(crate) mod scalar;
mod search;
pub(crate) mod shared;
pub(crate) mod strided_hyperplane;
pub(crate) mod successive_modulo;
pub(crate) mod window;

pub(crate) use problem::{Problem, Proposal, Span, Strategy};

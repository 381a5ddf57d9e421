//! Analyses: what is known about a kernel under a schedule, as integer relations.
//!
//! `model` turns a kernel into relations; `lifetimes` says when each value is written and read; `privatization` which
//! arrays live inside single tasks; `conflicts` which values may not share storage, `uniform` how far these are apart
//! in tiles; `coverage` which cells are never written; `relations` hands affine expressions to the integer set library;
//! `bound` how many are alive at once, `peak_liveness` when most are, `count` counts them; `expansion` gives every
//! write cells of its own.

pub(crate) mod accesses;
pub(crate) mod bound;
pub(crate) mod conflicts;
pub(crate) mod coverage;
pub(crate) mod error;
pub(crate) mod events;
pub(crate) mod expansion;
pub(crate) mod lifetimes;
pub(crate) mod model;
pub(crate) mod peak_liveness;
pub(crate) mod privatization;
pub(crate) mod step_dependences;
pub(crate) mod uniform;

pub use crease_isl::{IslError, library as integer_set_library};
pub use error::AnalysisError;
pub use expansion::{Expanded, ExpansionError};

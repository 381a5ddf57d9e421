//! Storage: where each cell of a folded array is kept, and how that is chosen.
//!
//! `data` says what storage is, `error` why there is none, `options` what a caller may ask for, `problem` what there is
//! to solve. `strategies` propose; the checker (`engine/src/check/`) proves, and shares neither facts nor code with any
//! of them; `choose` takes a strategy by name, or the best of what several found; `placement` has all that depends on
//! the machine: rounding, padding, rings that are mapped twice.

pub(crate) mod choose;
mod data;
mod error;
mod knobs;
pub(crate) mod options;
pub(crate) mod placement;
pub(crate) mod problem;
pub(crate) mod strategies;

pub use data::{ArrayMapping, Buffer, Piece, Sharing, StorageMapping};
pub use error::MappingError;
pub use options::StrategyId;

//! `crease-oracle`: lifetimes and conflicts of a kernel at small concrete sizes, by enumeration.
//!
//! It knows no isl and shares no code with the analyses that it checks: it lists every instance and every cell, and
//! asks the order of events about every pair. `order` holds that order, `domain` and `instances` the enumeration,
//! `values` the dataflow, `privatization` what stays inside tasks of a parallel loop, `conflicts` what follows from it,
//! `simulate` a second check that executes a storage mapping, `history` what pictures and tables show of it.

mod conflicts;
mod domain;
mod error;
mod history;
mod instances;
mod order;
mod privatization;
mod simulate;
mod values;

pub use error::TraceError;
pub use history::{Lifetime, TracedInstance};
pub use instances::{Cell, Instance};
pub use simulate::{Overwritten, Reader};
pub use values::Trace;

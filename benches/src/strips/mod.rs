//! Strips: our code beside C loops for the same work, in cache and from memory.
//!
//! `subjects` says what is measured, `suite` measures it, `record` has what was found, as JSON and as a table.

mod record;
mod subjects;
mod suite;

pub use record::{CompileRow, Strips, StripsRow, columns, compile_columns};
pub use subjects::WorkingSet;
pub use suite::{SUITE, StripsOptions, strips};

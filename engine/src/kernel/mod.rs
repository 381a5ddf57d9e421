//! Kernels: systems of affine recurrences over arrays, with named schedules.
//!
//! `affine` and `formula` hold index expressions and sets of integer points, `graph` the kernel itself; `builder` and
//! `parse` make one, `print` writes it, `verify` checks it, `interpret` runs it on full storage (the oracle).

pub mod affine;
pub mod builder;
pub mod formula;
pub mod graph;
pub mod interpret;
pub mod parse;
pub mod print;
pub mod verify;

//! `crease-kernels`: the kernel catalogue.
//!
//! Every entry holds the definition of a kernel as text, naive loops in plain Rust that give bit-identical results,
//! deterministic initial data, and sizes to test and to measure it with. `catalogue` lists them, `fields` holds data
//! and noise, `real` and `grid` what naive loops compute with, `transfer` moves them into runs and out of them,
//! `stencil`, `lbm`, `image` and `bee` hold the kernels, `physics` compares what they compute with published results.

pub mod bee;
pub mod catalogue;
pub mod fields;
mod grid;
pub mod image;
pub mod lbm;
pub mod literature;
pub mod physics;
mod real;
pub mod stencil;
pub mod transfer;

pub use catalogue::{Case, Entry, Preset, Published, boxes, catalogue, find, library, site_instructions};
pub use fields::{Field, Fields, KernelDataError};

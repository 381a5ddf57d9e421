//! Kernels that publications measured storage mappings on, with what they found.
//!
//! `table` lists arrays at sizes, each with the published number of cells and the smallest one known; `stencils` makes
//! the kernels. Sizes are formulas of the parameters, so that they hold at any size. Optimizers are compared on them;
//! kernels that do something useful are in the catalogue.

mod stencils;
mod table;

pub use table::{Cells, Definition, Example, FoldedArray, examples};

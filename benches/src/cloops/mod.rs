//! C loops to compare with: good C for the same kernels, built by the system compiler for the machine it runs on.
//!
//! `native` is the only unsafe module of this crate: it loads what `compiler` built and calls it; `loops` builds each
//! source once. The sources are in `benches/c/`; [`sources`] says which kernel each belongs to, `arrays` how its data
//! are ordered, `lattice` writes the header of a velocity set.

mod arrays;
mod compiler;
mod lattice;
mod loops;
mod native;
mod source;

pub use arrays::Arrays;
pub use compiler::{Compiler, CompilerError};
pub use loops::CLoops;
pub use native::{CLoop, CLoopError};
pub use source::{Source, sources};

#[cfg(test)]
mod tests;

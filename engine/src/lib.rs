//! Crease: folded storage for affine kernels.
//!
//! A simulation code describes a kernel at run time as an affine dataflow graph; Crease finds, for a schedule, which values
//! are alive together, folds every array it owns into the smallest storage it can prove, and compiles the kernel for it.

pub mod analysis;
mod error;
pub mod kernel;
mod lower;
pub mod mapping;
mod pipeline;
pub mod plan;
mod run;
pub mod schedule;

pub use crease_jit::{CompileOptions, ElementType, Isa, IsaChoice};
pub use error::Error;
pub use kernel::graph::Kernel;
pub use mapping::auto::StrategyChoice;
pub use pipeline::Stage;
pub use plan::{Plan, PlanBuilder, PlanError};
pub use run::{Code, Run, RunError, RunOptions};

/// What most programs import.
pub mod prelude {
    pub use crate::{Code, Error, Kernel, Plan, Run, RunOptions, StrategyChoice};
}

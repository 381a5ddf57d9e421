//! Crease: folded storage for affine kernels.
//!
//! A simulation code describes a kernel at run time as an affine dataflow graph; Crease finds, for a schedule, which
//! values are alive together, folds every array it owns into small storage that it can prove correct, and compiles the
//! kernel for it.
//!
//! ```
//! use crease::prelude::*;
//!
//! let kernel = Kernel::parse(
//!     "kernel heat(size N; run T) {
//!        scalar k: f64
//!        state u[t, x]: f64 for 0 <= x < N
//!        S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = u[t-1,x] + k * (u[t-1,x-1] - 2 * u[t-1,x] + u[t-1,x+1]) }
//!        E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
//!        schedule rows { S, E -> [t, x vector(8)] }
//!      }",
//! )?;
//! let plan = kernel.plan().size("N", 100).build()?;
//! assert_eq!(plan.report().buffers[0].cells, 101); // one row and a cell: `u[(x - t) mod 101]`
//!
//! let mut run = plan.compile()?.instantiate()?;
//! run.set("k", 0.25)?;
//! run.write("u", ndarray::Array1::from_elem(100, 3.0).view())?;
//! run.advance(1000)?;
//! assert_eq!(run.step(), 1000);
//! # Ok::<(), crease::Error>(())
//! ```
//!
//! - [`Kernel`]: what to compute; [`kernel`] holds the text form, the builder and the interpreter;
//! - [`PlanBuilder`]: sizes, [schedule](kernel::graph::Schedule), [strategy](StrategyChoice), memory cap;
//! - [`Plan`]: the proved storage, its [report](plan::report::Report), every [intermediate form](Stage) as text;
//! - [`Code`]: machine code, shared by many runs;
//! - [`Run`]: folded storage in use, with the arrays that it was given.
//!
//! What fails, fails as an [`Error`] that names the culprit and the numbers; nothing has then been half written. Its
//! [code](Error::code) is for programs; `docs/ERRORS.md` lists all.
//!
//! Builders: what only collects options is taken and given back by each call ([`PlanBuilder`], [`RunOptions`]); what
//! hands out handles while it grows is borrowed ([`kernel::builder`]). Every choice that has a name is read with
//! `FromStr` and written with `Display`. Reports, errors, options and the nodes of kernels may grow in a later version,
//! and are marked so (`non_exhaustive`); what a definition closes, as a mapping's matrix, offset and moduli, is not.

pub mod analysis;
pub mod check;
mod clock;
mod error;
#[cfg(doctest)]
mod guide;
pub mod kernel;
mod lower;
mod machine;
pub mod parametric;
mod pipeline;
pub mod plan;
mod run;
pub mod schedule;
mod sets;
mod stage;
pub mod storage;

pub use analysis::{AnalysisError, Expanded, ExpansionError, integer_set_library};
pub use crease_jit::with_element_type;
pub use crease_jit::{
    Affinity, CompileOptions, CompileTimes, Denormals, ElementType, Finding, Isa, IsaChoice, NonTemporal, Prefetch,
    TuningMemory, TuningMemoryError, Unroll, Variant, VectorUnits, VectorWidth,
};
pub use crease_jit::{CallError, CompileError, FieldError, IsaError, PoolError};
pub use crease_jit::{Kept, PlanCache};
pub use crease_jit::{Load, TileRun, WorkerLoad};
pub use crease_jit::{ThreadPool, ThreadPoolBuilder, most_threads};
pub use crease_program::functions;
pub use crease_program::{DEFAULT_WORK_LIMIT, UnknownName, f16};
pub use crease_program::{GraphTile, LoopTiles, TileGraph, TileGraphError};
pub use error::Error;
pub use kernel::fast_math::{Arithmetic, FastMathFlag};
pub use kernel::graph::Kernel;
pub use lower::LowerError;
pub use machine::MachineModel;
pub use plan::{Plan, PlanBuilder, PlanError, StorageView};
pub use run::{AvailableMemory, LimitedBy, MemoryCheck, available_memory};
pub use run::{Cancel, Progress};
pub use run::{Code, Input, ObserverForm, Output, Run, RunError, RunOptions, ScheduleFinding, TunedCode, TunedPlan};
pub use run::{Folded, FoldedCoordinate, FoldedIndex, IndexRange, Region};
pub use stage::Stage;
pub use storage::options::{Objective, Rings, Rounding, StrategyChoice};

/// What most programs import.
pub mod prelude {
    pub use crate::{Code, Error, Input, Kernel, Objective, Output, Plan, Run, RunOptions, StrategyChoice};
}

/// The examples of README.md and docs/KERNEL-TEXT.md, run by `cargo test`.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../README.md")]
    struct Readme;
    #[doc = include_str!("../../docs/KERNEL-TEXT.md")]
    struct KernelText;
}

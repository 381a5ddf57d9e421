//! `crease-jit`: a loop language with strips of lock-step lanes, its interpreter, and code generation for it.
//!
//! It knows machine code and nothing of integer sets.

pub mod program;

mod alive;
mod binding;
mod buffer;
mod callable;
mod clif;
mod compile;
mod denormals;
mod isa;
mod listing;
mod machine;
mod memory;
mod names;
mod parallel;
mod symbols;
mod tune;
mod wide;
mod work;
mod workers;

pub use binding::BufferRef;
pub use buffer::{ALIGN_BYTES, ElementType, Field, FieldError, FieldOptions, field_memory_bytes, mirror_bytes};
pub use callable::{Call, CallError, Compiled};
pub use compile::{
    CompileError, CompileOptions, CompileTimes, Prefetch, Streaming, Unroll, VectorWidth, compile, compile_named,
};
pub use denormals::Denormals;
#[doc(inline)]
pub use half::f16;
pub use isa::{Isa, IsaChoice, IsaError};
pub use listing::{OperationNames, RegisterUse, StripListing};
pub use machine::{last_level_cache_bytes, second_level_cache_bytes};
pub use parallel::Pool;
#[doc(inline)]
pub use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
pub use tune::{Finding, Stopwatch, Tuned, TuningMemory, TuningMemoryError, Variant, tune};
pub use work::{DEFAULT_WORK_LIMIT, PAIRS_PER_UNIT};
pub use workers::{PoolError, cores, most_threads, verify_threads};

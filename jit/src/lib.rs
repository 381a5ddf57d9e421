//! `crease-jit`: machine code for the loop language of `crease-program`, and what runs it.
//!
//! It knows machine code and nothing of integer sets.

mod affinity;
mod alive;
mod binding;
mod cache;
mod callable;
mod clif;
mod compile;
mod denormals;
mod element_type;
mod field;
mod frame;
mod fronts;
mod isa;
mod kept_files;
mod knobs;
mod listing;
mod load;
mod loop_body;
mod machine;
mod memory;
mod options;
mod parallel;
mod processor;
mod row_copies;
mod strided;
mod strip;
mod symbols;
mod target;
mod team;
mod tune;
mod vector;
mod work;
mod workers;
mod x86;

pub use affinity::Affinity;
pub use binding::BufferRef;
pub use cache::{CODE_BUILD, Kept, PlanCache, PlanCacheError, compile_cached};
pub use callable::{Call, CallError, CompileTimes, Compiled};
pub use compile::{CompileError, compile, compile_named};
#[doc(hidden)]
pub use crease_program::{Element, f16};
pub use denormals::Denormals;
pub use element_type::ElementType;
pub use field::{ALIGN_BYTES, Field, FieldError, FieldOptions, double_map_bytes, field_memory_bytes};
pub use isa::{Isa, IsaChoice, IsaError};
pub use knobs::LEAST_GAIN;
pub use listing::{OperationNames, RegisterUse, StripListing};
pub use load::{Load, TileRun, WorkerLoad};
pub use machine::{
    first_level_cache_bytes, is_last_level_far, last_level_cache_bytes, second_level_cache_bytes, vector_registers,
};
pub use options::{CompileOptions, NonTemporal, Pipelining, Prefetch, Unroll, VectorUnits, VectorWidth};
pub use parallel::Pool;
#[doc(inline)]
pub use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
pub use row_copies::{RowCopies, copying_rows};
pub use strided::{NoView, Places, Row, Strided, StridedMut};
pub use tune::{Finding, Stopwatch, Tuned, TuningMemory, TuningMemoryError, Variant, tune};
pub use workers::{PoolError, cores, most_threads, verify_threads};

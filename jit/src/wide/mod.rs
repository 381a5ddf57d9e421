//! Wide strips: AVX2 and AVX-512 code for the bodies of strips, which Cranelift compiles for 128 bits at most.
//!
//! In: a strip with the order and the facts that [`crate::clif`] found.   Out: one function
//! `extern "sysv64" fn(table, frame, start, end)` that runs iterations `start..end` of a strip no stream of which
//! wraps.
//!
//! Cranelift keeps everything around it: loops, addresses, the cuts at rings, strips of single lanes. The `table` holds
//! the address of each pointer's cell at iteration 0 and then the value of each index operation there.
//!
//! `body` decides whether a strip is eligible and what is computed once; `allocate` and `select` turn operations into
//! instructions on registers, without loops or branches; `neighbours` finds loads that share vectors; `function` lays
//! out the loops around them, `aligned_stores` and `alignment` what brings stores to multiples of a vector's size, `prefetch` what calls for
//! cells ahead of time, `encode` and `codes` make bytes. `shape` names the vectors, `cost` chooses among them.
//!
//! Both emitters give the interpreter's bits: one operation is one instruction of the same rounding, and nothing is
//! contracted or reassociated.

mod aligned_stores;
mod alignment;
mod allocate;
mod assembler;
mod body;
mod codes;
mod cost;
mod encode;
mod function;
mod instruction;
mod neighbours;
mod prefetch;
mod select;
mod shape;

pub(crate) use body::{Place, StripFacts, WideOptions};
pub(crate) use function::{WideCode, emit};
pub(crate) use prefetch::calls_for_far;
pub(crate) use shape::WideIsa;

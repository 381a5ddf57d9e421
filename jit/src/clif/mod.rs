//! Code generation with Cranelift.
//!
//! `module` turns a program into functions, `nodes` emits control flow, `ints` integers, `strip` the loops of a strip,
//! `rings` its cuts, which `mirror` does without where a ring is mapped twice, and `lanes` its body, for which `half`
//! converts cells of half precision, and which `wide` replaces by a call where [`crate::wide`] can compile it; `plan`
//! and `order` decide about a strip before anything is emitted, and strips that do the same share their wide code
//! (`shared_code`, `lone`). What does not fit the stack waits in the memory of the call: `spill` says which values,
//! `scratch` where. `frame` lays out what a call passes in, `linear` compares integer expressions, `emitter` holds the
//! state of one function.

mod alias;
mod emitter;
mod frame;
mod half;
mod ints;
mod lanes;
mod linear;
mod lone;
mod mirror;
mod module;
mod nodes;
mod order;
mod plan;
mod rings;
mod scratch;
mod shared_code;
mod spill;
mod strip;
mod wide;

pub(crate) use alias::Aliases;
pub(crate) use frame::{FrameLayout, Slot};
pub(crate) use module::{EmitError, EmitOptions, Emitted, MOST_FRAME_BYTES, emit};
pub(crate) use plan::operands;

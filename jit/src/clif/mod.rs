//! Code generation with Cranelift.
//!
//! `module` turns a program into functions, `nodes` emits control flow, `coalesced` that of short rows, `ints` integers (`division` divides them by
//! constants), `strip` the loops of a strip, `rings` its cuts, which `double_mapped` does without where a ring is
//! mapped twice, and after which `joined` brings together again what `ring_groups` finds a constant apart (`segments`
//! says where), and `lanes` its body, for which `bits` has operations on bits, `integers` those on integers, `tables`
//! lookups, `vectors` those on lanes of several types, and `half` converts cells of half precision, and which `wide`
//! replaces by a call where [`crate::vector`] can compile it; `plan` decides about a strip before anything is emitted,
//! `run` holds what its loops share, `carried` what their iterations hand on in registers, and strips that do the same share their wide code (`shared_code`). What does not
//! fit the stack waits in the memory of the call: `spill` says which values, `scratch` where. `image` keeps the code of
//! a program as bytes, `function_image` that of a function. `emitter` holds the state of one function.

mod bits;
mod carried;
mod coalesced;
mod division;
mod double_mapped;
mod emitter;
mod function_image;
mod half;
mod image;
mod integers;
mod ints;
mod joined;
mod lanes;
mod module;
mod nodes;
mod plan;
mod ring_groups;
mod rings;
mod run;
mod scratch;
mod segments;
mod shared_code;
mod spill;
mod strip;
mod tables;
mod vectors;
mod wide;

pub(crate) use image::CodeImage;
pub(crate) use module::{EmitError, Emitted, MOST_FRAME_BYTES, emit};

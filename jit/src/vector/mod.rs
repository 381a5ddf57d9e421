//! Wide strips, as far as all instruction sets agree: bodies in vectors of more than the 128 bits that Cranelift has.
//!
//! In: a strip with the order and the facts that [`crate::clif`] found, and a target.   Out: one function
//! `fn(table, frame, start, end)` that runs iterations `start..end` of a strip no stream of which wraps.
//!
//! Cranelift keeps everything around it: loops, addresses, the cuts at rings, strips of single lanes. The `table` holds
//! the address of each pointer's cell at iteration 0 and then the value of each index operation there.
//!
//! `facts` is what is known about a strip, `eligible` decides whether it may be wide, `body` what is computed once;
//! `allocate` and `select` turn operations into instructions on registers (`allocation`), without loops or branches,
//! and `few_alive` orders operations whose values are too many for these; `integers` says what strips of integers may
//! do, `conversions` which types become which in strips of several; `load_sharing` finds loads that share vectors,
//! `lookups` how values are brought into tables, `strided` cells that do not follow each other, `aligned_stores` the stores that are brought to multiples of a
//! vector's size together, `pipelining` which blocks overlap, `prefetch` what to call for ahead of time. `address` says
//! where cells are, `shape` names the vectors, and `cost` chooses among them. `target` is the way down: what an
//! instruction set says of itself, and what it makes bytes of.
//!
//! Both emitters give the interpreter's bits: one operation on floating-point numbers is one instruction of the same
//! rounding, and nothing is contracted or reassociated.

mod address;
mod aligned_stores;
mod allocate;
mod allocation;
mod body;
mod conversions;
mod cost;
mod eligible;
mod facts;
mod few_alive;
mod instruction;
mod integers;
mod load_sharing;
mod lookups;
mod pipelining;
mod prefetch;
mod select;
mod shape;
mod shared_windows;
mod slots;
mod stored_rows;
mod strided;
mod target;
mod together;

pub(crate) use address::StreamAddress;
pub(crate) use aligned_stores::AlignedStores;
pub(crate) use allocation::{Allocation, SharedLoads};
pub(crate) use body::Body;
pub(crate) use conversions::{
    BOTH_HALVES, INT64, TWO_52, UPPER_HALF, ends, float_bits, has_highest, kept_lanes, wider_by_load,
};
pub(crate) use cost::{MOST_SLOT_BYTES, WideStrip};
pub(crate) use facts::StripFacts;
pub(crate) use instruction::{Arith, Class, FmaForm, Inst, Memory, Operand, Reg, Rounding, Sequence, SignOp};
pub(crate) use integers::{LOW_BYTES, greatest, kept_bits, lowered_sign};
pub(crate) use lookups::{DISTANCE, Pitches, WORD_BITS, WORD_STARTS, bounds};
pub(crate) use pipelining::{Bank, Pipelined};
pub(crate) use prefetch::{Ahead, prefetched};
pub(crate) use shape::{Extent, Features, INTEGER_SCRATCH, LINE_BYTES, LaneShifts, Number, Shape};
pub(crate) use strided::{Apart, WINDOW_BYTES, Window, distances};
pub(crate) use target::{Encoded, LookupEntry, Target, WideCode, WideOptions, emit};

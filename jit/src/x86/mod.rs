//! x86-64 as a target of wide strips: AVX2 and AVX-512.
//!
//! In: a strip with vectors and registers chosen.   Out: machine code for
//! `extern "sysv64" fn(table, frame, start, end)`.
//!
//! `avx` says what the two have; `function` lays out the loops around blocks, `alignment` what brings stores to
//! multiples of a vector's size, by what `alignment_slot` keeps; `encode` and `codes` make instructions of blocks,
//! `assembler` bytes and text.

mod alignment;
mod alignment_slot;
mod assembler;
mod avx;
mod codes;
mod encode;
mod function;

pub(crate) use avx::Avx;

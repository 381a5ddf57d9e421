//! x86-64 as a target of wide strips: AVX2 and AVX-512.
//!
//! In: a strip with vectors and registers chosen.   Out: machine code for
//! `extern "sysv64" fn(table, frame, start, end)`.
//!
//! `avx` says what the two have; `function` lays out the loops around blocks, `alignment` what brings stores to
//! multiples of a vector's size, by what `alignment_slot` keeps; `encode` and `codes` make instructions of blocks,
//! `float_cells` what floating-point numbers are converted from and to; `assembler` makes bytes and text. `integers` has
//! what operations on integers take several instructions for, `integer_cells` their loads and stores, `integer_codes`
//! their instructions.

mod alignment;
mod alignment_slot;
mod assembler;
mod avx;
mod codes;
mod encode;
mod float_cells;
mod function;
mod integer_cells;
mod integer_codes;
#[cfg(test)]
mod integer_codes_tests;
mod integers;

pub(crate) use avx::Avx;

//! x86-64 as a target of wide strips: AVX2 and AVX-512.
//!
//! In: a strip with vectors and registers chosen.   Out: machine code for
//! `extern "sysv64" fn(table, frame, start, end)`.
//!
//! `avx` says what the two have; `function` lays out the loops around blocks, `alignment` what brings stores to
//! multiples of a vector's size, by what `alignment_slot` keeps, `carried` what a loop finds that shares vectors,
//! `pipelined` a loop whose blocks overlap; `encode` and `codes` make instructions of blocks, by what `kinds` says that
//! they do; `truth` compares and chooses; `float_cells` converts floating-point numbers from cells and to them, `indices`
//! counts iterations.
//! `integers` has the operations on integers, of which some take several instructions, `integer_cells` their loads and
//! stores, and `integer_codes` their instructions. Strips of several types have `conversions`, by the table in
//! `conversion_codes`, `mixed_cells`, `strided_cells` and `lookups`. `assembler` makes bytes and text.

mod alignment;
mod alignment_slot;
mod assembler;
mod avx;
mod carried;
mod codes;
mod conversion_codes;
#[cfg(test)]
mod conversion_codes_tests;
mod conversions;
mod encode;
mod float_cells;
mod function;
mod indices;
mod integer_cells;
mod integer_codes;
#[cfg(test)]
mod integer_codes_tests;
mod integers;
mod kinds;
mod lookups;
mod mixed_cells;
mod pipelined;
mod strided_cells;
mod truth;

pub(crate) use avx::Avx;

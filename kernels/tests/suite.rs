//! All tests of this crate from outside: one program to link, whose threads are all busy until the end.
//!
//! Kernels have schedules, sizes and cell types, each to be had with every strategy and kind of vectors. `cargo test`
//! tries every value of each beside the defaults of the others, and leaves most schedules and other cells than `f64`
//! out where the choice of storage or its proofs are compared. The rest takes longer: `.ci/run` sets `CREASE_THOROUGH`.

mod agreement;
mod claims;
mod lattices;
mod mutants;
mod mutated_texts;
mod native;
mod never_far_off;
mod orders;
mod physics;

/// Whether products are tried.
fn is_thorough() -> bool {
    std::env::var_os("CREASE_THOROUGH").is_some()
}

/// Whether a kernel differs from another one in its cells' type alone.
fn is_of_other_cells(name: &str) -> bool {
    ["-f16", "-f32"].iter().any(|kind| name.ends_with(kind))
}

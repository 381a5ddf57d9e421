//! All tests of this crate from outside: one program to link, whose threads are all busy until the end.
//!
//! Kernels have schedules, sizes and cell types, each to be had with every strategy and kind of vectors. `cargo test`
//! tries every value of each beside the defaults of the others, and leaves most schedules and other cells than `f64`
//! out where the choice of storage or its proofs are compared, as are kernels that take seconds each. The rest takes
//! longer: `.ci/run` sets `CREASE_THOROUGH`.

mod agreement;
mod boxes;
mod cached;
mod claims;
mod lattices;
mod library;
mod mutants;
mod mutated_texts;
mod native;
mod never_far_off;
mod observers;
mod orders;
mod physics;
mod random_kernels;
mod texts;

/// Whether products are tried.
fn is_thorough() -> bool {
    std::env::var_os("CREASE_THOROUGH").is_some()
}

/// Kernels that take seconds to plan, each like another one that takes less: all is tried of them only if products are.
const SLOW_KERNELS: [&str; 5] =
    ["heat-1d-small-tiles", "gray-scott-periodic", "lbm-d2q9-cylinder", "lbm-d2q5-cavity", "lbm-d2q5-periodic"];

/// Whether a kernel is left out, or tried as users get it by default.
fn is_left_for_later(name: &str) -> bool {
    !is_thorough() && SLOW_KERNELS.contains(&name)
}

/// Whether a kernel differs from another one in its cells' type alone.
fn is_of_other_cells(name: &str) -> bool {
    ["-f16", "-f32"].iter().any(|kind| name.ends_with(kind))
}

/// What a variable of the environment says, or else the default.
fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable} is no number")))
}

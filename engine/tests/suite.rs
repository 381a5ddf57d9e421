//! The tests of this crate that may share a process: one program to link, whose threads are all busy until the end.
//!
//! `threads.rs` counts the threads of its process and is a program of its own, as is `walls.rs`, which needs no code of
//! this crate. A file that no program names fails `walls.rs`.
//!
//! What tries many samples tries a few of them in `cargo test`, which people wait for, and the rest in `.ci/run`, which
//! sets numbers of samples or `CREASE_THOROUGH`.

mod arithmetic;
mod automatic;
mod borrowed;
mod boxes;
mod brute_force;
mod cached;
mod diamonds;
mod double_mapped;
mod drive;
mod errors;
mod expanded_texts;
mod expansion;
mod filetests;
mod floors_as_numbers;
mod fronts;
mod further_sizes;
mod fused_observers;
mod given;
mod golden;
mod golden_hyperplane;
mod golden_lattice;
mod golden_shared;
mod host;
mod hostile_builders;
mod in_place;
mod kernel_filetests;
mod kernel_interpret;
mod lent;
mod limits;
mod lookups;
mod memory;
mod mutants;
mod names;
mod observers;
mod oracle;
mod overlapped;
mod private;
mod quota;
mod random_programs;
mod reuse;
mod rewritings;
mod searches;
mod series_of_steps;
mod tiles;
mod tuning;

/// Whether all samples are tried.
fn is_thorough() -> bool {
    std::env::var_os("CREASE_THOROUGH").is_some()
}

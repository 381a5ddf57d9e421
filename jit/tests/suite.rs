//! All tests of this crate from outside: one program to link, whose threads are all busy until the end.

mod extremes;
mod filetests;
mod mutants;
mod native;
mod program_random;
mod tuning;

//! The tests of the C interface: the header says what the sources do, and programs in C, C++ and Fortran, compiled by
//! the system's compilers, agree with Rust.

mod documents;
mod header;
mod programs;
mod toolkit;

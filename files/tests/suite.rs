//! All tests in one program, which is linked once.

mod checkpoints;
mod codes;
mod damage;
mod kernels;
mod kill;
mod series;

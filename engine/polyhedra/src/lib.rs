//! Polyhedra as rows of integers: what is asked of them thousands of times in a plan, without the integer set library.
//!
//! - [`elimination`]: inequalities with integer coefficients, and variables eliminated from them (Fourier and Motzkin);
//! - [`linear_program`]: the largest value of a linear form over a polyhedron, and the lexicographically smallest
//!   integer point, both exact and by pivots of one tableau;
//! - [`witnesses`]: points that were found once, so that most questions of whether rows leave any take no program;
//! - [`matrix`]: Hermite and Smith normal forms.
//!
//! A crate of its own, as it knows nothing of kernels, and so that tests of the engine run with it optimised. Like all
//! crates but `crease`, it is no interface to program against. What proves a choice uses none of it.

pub mod elimination;
pub mod linear_program;
pub mod matrix;
pub mod witnesses;

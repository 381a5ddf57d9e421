//! Exact linear and integer programs of a few variables.
//!
//! - `tableau`: affine forms over one denominator, and the one pivot that exchanges a variable for a form;
//! - `maximum`: the largest value of a linear form over a polyhedron that holds the origin (the primal method);
//! - `integer_program`: the lexicographically smallest integer point (the dual method, with cuts);
//! - `rational`: the fractions and the points that they answer with.
//!
//! Each method is a rule for choosing the next pivot. Vertices of a polytope are found with the same tableau
//! (`engine/src/storage/strategies/polytope.rs`). Numbers have 127 bits, or 63, which whoever asks tries first where
//! most fit; where they would overflow, or where pivots are too many, there is no answer. Normal forms of matrices,
//! projections and the generators of cones combine rows of integers without a denominator and are elsewhere.

mod integer_program;
mod maximum;
mod rational;
mod tableau;

pub use integer_program::{GaveUp, IntegerProgram};
pub use maximum::{Maximum, maximum};
pub use rational::{Ratio, RationalPoint};
pub use tableau::{Entry, Tableau};

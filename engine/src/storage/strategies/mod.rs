//! Strategies: ways to find storage mappings, one a file or folder; `registry` is the table of them.
//!
//! `baseline` has the literature's that the automatic choice takes rarely or never, `given` what a caller writes down.
//! `polytope` and `envelope` are the convex parts that searches judge their candidates by.

pub(crate) mod baseline;
mod envelope;
pub(crate) mod full;
pub(crate) mod given;
pub(crate) mod in_place;
pub(crate) mod leaning;
pub(crate) mod mirrored;
pub(crate) mod periodic;
mod polytope;
pub(crate) mod registry;
pub(crate) mod scalar;
pub(crate) mod shared;
pub(crate) mod strided_hyperplane;
pub(crate) mod successive_modulo;
pub(crate) mod sweeping;

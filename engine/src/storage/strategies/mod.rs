//! Strategies: ways to find storage mappings, one a file or folder.

pub(crate) mod baseline;
pub(crate) mod full;
pub(crate) mod given;
pub(crate) mod in_place;
mod outline;
pub(crate) mod periodic;
pub(crate) mod polytope;
pub(crate) mod registry;
pub(crate) mod scalar;
pub(crate) mod shared;
pub(crate) mod strided_hyperplane;
pub(crate) mod successive_modulo;

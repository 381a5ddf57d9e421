//! Storage hyperplanes: rows `gamma . i mod m` that separate as many conflicts as possible, each as narrow as possible.
//!
//! Source: Bhaskaracharya, Bondhugula and Cohen, Automatic Storage Optimization for Arrays (2016).
//!
//! `conflict_polyhedra` cuts the difference set into convex parts, `decisions` finds which of them one hyperplane can
//! satisfy, `narrowest` the hyperplane, and `search` repeats that until no conflict is left. All of it works with sizes
//! as numbers or as parameters; `strategy` is the first. `cone` turns constraints into vertices and rays,
//! `engine/polyhedra/src/linear_program/integer_program.rs` finds smallest integer points.

mod cone;
mod conflict_polyhedra;
mod decisions;
mod narrowest;
mod search;
mod strategy;

pub(crate) use narrowest::Bounded;
pub(crate) use search::{SearchError, find_hyperplanes};
pub(crate) use strategy::Hyperplane;

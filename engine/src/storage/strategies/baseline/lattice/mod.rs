//! Lattices: modular mappings as their kernels, found in the set of conflicting differences.
//!
//! The cells that a modular mapping keeps in one place differ by the vectors of a lattice; it is valid if no
//! conflicting difference is among them (Darte, Schreiber and Villard 2005), and takes as many cells as the lattice's
//! determinant says.
//!
//! - `rows` holds the differences, `body` their convex hull, `clique` a bound that no lattice goes below;
//! - `exhaustive` finds the smallest lattice, `heuristics` good ones, from the bases of `reduction`; `family` carries
//!   the smallest lattices of small sizes over to the size at hand;
//! - `fold` makes a mapping of a lattice, `strategy` proposes;
//! - the arithmetic, `matrix` and `linear_program`, is that of `engine/src/sets/`.

mod body;
mod clique;
mod exhaustive;
mod family;
mod fold;
mod heuristics;
mod reduction;
mod rows;
mod strategy;
#[cfg(test)]
mod tests;

pub(crate) use family::Small;
pub(crate) use strategy::Lattice;

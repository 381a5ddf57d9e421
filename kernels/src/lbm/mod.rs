//! Lattice Boltzmann kernels: one state array per population, collided and streamed in one pass.
//!
//! `velocity_set` holds the lattices, `collision` the text of a BGK collision, `region` a box cut into inside, faces,
//! edges and corners; `cavity` and `periodic` put them together, `naive` are plain loops for both, `fluid` relates
//! populations to density and velocity.

pub mod cavity;
pub mod collision;
pub mod fluid;
pub mod naive;
pub mod periodic;
pub mod region;
pub mod velocity_set;

pub use velocity_set::{Lattice, VelocitySet};

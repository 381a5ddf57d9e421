//! Lattice Boltzmann kernels: one state array per population, collided and streamed in one pass.
//!
//! `velocity_set` holds the lattices, `storage` what arrays hold of them, `collision` a BGK collision, `region` a box
//! cut into inside, faces, edges and corners; `cavity`, `periodic` and `channel` put them together, `naive` are plain
//! loops for all, `obstacle` makes masks, `inflow` names what flows in and where, `fluid` and `concentration` relate
//! populations to what they carry, `moments` observes that while a run goes on, `entries` lists all of it for the catalogue.

pub mod cavity;
pub mod channel;
pub mod collision;
pub mod concentration;
pub mod entries;
pub mod fluid;
pub mod inflow;
pub mod moments;
pub mod naive;
pub mod obstacle;
pub mod periodic;
pub mod region;
pub mod storage;
pub mod velocity_set;

pub use storage::{Scheme, Storage};
pub use velocity_set::{Lattice, VelocitySet};

//! Lattice Boltzmann kernels: one state array per population, collided and streamed in one pass.
//!
//! `velocity_set` holds the lattices, `storage` what arrays hold of them, `collision` a BGK collision, `region` a box
//! cut into inside, faces, edges and corners; `cavity`, `periodic` and `channel` put them together, `naive` are plain
//! loops for all, `obstacle` makes masks, `inflow` names what flows in and where, `fluid` and `concentration` relate
//! populations to what they carry, `moments` observes that while a run goes on, `entries` lists all of it for the
//! catalogue.
//!
//! What the builder does not make are texts (`kernels/src/texts/`), each with its loops, made of what `sites` has:
//! `trt`, `mrt`, `raw_moments`, `cumulant`, `cumulant_planes`, `stress`, `entropic` and `limiter` are other collisions,
//! `small_sets` other velocities, `zou_he`, `convective`, `interpolated` and `cylinder` other borders, `thermal` and
//! `shan_chen` have two lattices.

pub mod cavity;
pub mod channel;
pub mod collision;
pub mod concentration;
pub mod convective;
pub mod cumulant;
pub mod cumulant_planes;
pub mod cylinder;
pub mod entries;
pub mod entropic;
pub mod fluid;
pub mod inflow;
pub mod interpolated;
pub mod limiter;
pub mod moments;
pub mod mrt;
mod mrt_space;
pub mod naive;
pub mod obstacle;
pub mod periodic;
pub mod raw_moments;
pub mod region;
pub mod shan_chen;
mod sites;
pub mod small_sets;
pub mod storage;
pub mod stress;
pub mod thermal;
pub mod trt;
pub mod velocity_set;
pub mod zou_he;

pub use storage::{Scheme, Storage};
pub use velocity_set::{Lattice, VelocitySet};

//! Stencils on regular grids: finite differences, most of them explicit.
//!
//! `heat_1d`, `heat_1d_tiles`, `heat_2d`, `periodic` and `sine_gordon` are those that every choice of the engine is
//! tried on. `heat_neighbours`, `wave`, `fourth_order`, `advection`, `runge_kutta`, `shallow_water`, `fdtd`, `pml`, `pml_space`,
//! `elastic`, `cahn_hilliard`, `poisson`, `tridiagonal` and `life` are texts (`kernels/src/texts/`) that simulations
//! are made of.

pub mod advection;
pub mod cahn_hilliard;
pub mod elastic;
pub mod fdtd;
pub mod fourth_order;
pub mod heat_1d;
pub mod heat_1d_tiles;
pub mod heat_2d;
pub mod heat_neighbours;
pub mod life;
pub mod periodic;
pub mod pml;
pub mod pml_space;
pub mod poisson;
pub mod runge_kutta;
pub mod shallow_water;
pub mod sine_gordon;
pub mod tridiagonal;
pub mod wave;

//! Stencils on regular grids: explicit finite differences.

pub mod heat_1d;
pub mod heat_1d_tiles;
pub mod heat_2d;
pub mod periodic;
pub mod sine_gordon;

//! `crease-pictures`: pictures, each drawn from data that is written beside it.
//!
//! Of a benchmark's record: `footprint` and `speed` of its `comparisons`, bars on `bars` and `axis`; of the
//! publications' tables `paper_charts`, also on `lines`; of checks of physics `physics_charts`. Of a small run of a
//! kernel, which `small_run` traces value by value: `storage_map`, `lifetimes`, `wavefronts`, put together by
//! `kernel_pictures`. Of what threads did: `timeline`. Of arrays: `fields` and `flow`, which write PNG through
//! `raster`. `canvas` writes SVG, `colour` holds every colour, `tables` writes CSV.

mod axis;
mod bars;
mod canvas;
mod colour;
mod comparisons;
pub mod error;
pub mod fields;
mod flow;
mod footprint;
pub mod kernel_pictures;
mod lifetimes;
mod lines;
pub mod paper_charts;
pub mod physics_charts;
mod raster;
pub mod record_charts;
mod small_run;
mod speed;
mod storage_map;
mod tables;
pub mod timeline;
mod wavefronts;

pub use error::PictureError;
pub use small_run::ForcedModuli;

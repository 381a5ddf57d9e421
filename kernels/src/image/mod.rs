//! Image pipelines: stages that each read a few neighbours, with temporary images between them.
//!
//! `blur_interleaved` and `blur_tiled` are the two blurs of the storage-folding literature, `unsharp_mask` sharpens
//! three colour planes, `harris` finds corners; each is for `f32` and `f64` from one definition; `blur_u8` blurs bytes
//! in integers, and `tone_curve_u8` looks them up in tables, `camera` makes them of 16-bit counts. `colours` has kernels
//! of pixels whose colours lie beside each other. `filters`, `pyramid` and `local_laplacian` are texts
//! (`kernels/src/texts/`). `pixel` has images to start from. A run has no steps: input image in, output out.

pub mod blur_interleaved;
pub mod blur_tiled;
pub mod blur_u8;
pub mod camera;
pub mod colours;
pub mod filters;
pub mod harris;
pub mod local_laplacian;
mod pixel;
pub mod pyramid;
pub mod tone_curve_u8;
pub mod unsharp_mask;

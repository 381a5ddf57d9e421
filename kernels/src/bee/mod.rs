//! The programs of Bee+Cl@k [Alias, Baray and Darte 2007], figures 2 and 4: linear algebra, image processing and a toy
//! of dynamic programming, whose temporary arrays fold by lattices.
//!
//! They are written in single assignment where the paper does, so that most temporary arrays turn out to be scalars.
//! Where the paper's text leaves arithmetic open, each file says what it does. A run has no steps: inputs in, outputs
//! out.

pub mod durbin;
pub mod dynprog;
pub mod gauss;
pub mod mot_detect;
pub mod reg_detect;

use crate::fields::{Field, KernelDataError, cells, noise};

/// Noise in `-1 .. 1` of a seed, by cell.
fn noisy(seed: u64, shape: &[usize]) -> Result<Field, KernelDataError> {
    cells(shape)?;
    Ok(Field::from_shape_fn(shape.to_vec(), |p| {
        let position: Vec<usize> = (0..shape.len()).map(|k| p[k]).collect();
        noise(seed, &position)
    }))
}

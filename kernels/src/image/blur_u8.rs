//! A blur of pixels of one byte, computed in integers.
//!
//! Source: the binomial filter of three by three pixels, as in P. Burt, E. Adelson: The Laplacian Pyramid as a Compact
//! Image Code, 1983, with weights 1, 2, 1.

use crease::kernel::graph::Kernel;

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Fields, KernelDataError, cells};
use crate::grid::Grid;
use crate::image::pixel::disc;

/// Pixels from 0 to 255.
pub const BYTES: Entry = Entry {
    name: "blur-u8",
    summary: "binomial blur of nine pixels, of bytes",
    source: "Burt, Adelson 1983",
    definition: || Kernel::parse(include_str!("../texts/blur_u8.crk")),
    scalars: &[],
    default: Preset { sizes: &[("N", 1001)], steps: 0 },
    tests: &[Preset { sizes: &[("N", 37)], steps: 0 }, Preset { sizes: &[("N", 2)], steps: 0 }],
    benches: &[Preset { sizes: &[("N", 8192)], steps: 0 }],
    sites: |case| Ok(cells(&shape(case)?)? as u64),
    initial: |case| {
        let mut image = disc::<f64>(&shape(case)?)?;
        image.mapv_inplace(|pixel| (pixel.abs() * 255.0).min(255.0).trunc());
        Ok(Fields::from([("image".to_owned(), image)]))
    },
    naive,
    published: &[],
};

fn shape(case: &Case) -> Result<[usize; 2], KernelDataError> {
    let n = case.extent("N", 2)?;
    Ok([n, n])
}

/// All nine products of each pixel at once.
fn naive(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let shape = shape(case)?;
    let image = Grid::<f64, 2>::read(initial, "image", shape)?;
    let blurred = Grid::<f64, 2>::of(shape, |[y, x]| {
        let weight = |k: i64| if k == 1 { 2.0 } else { 1.0 };
        let product = |k: i64| weight(k / 3) * weight(k % 3) * image.nearest([y + k / 3 - 1, x + k % 3 - 1]);
        (((0..9).map(product).sum::<f64>() + 8.0) / 16.0).floor()
    });
    Ok(Fields::from([("out".to_owned(), blurred.field())]))
}

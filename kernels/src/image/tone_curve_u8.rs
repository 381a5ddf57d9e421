//! Tone curves of bytes: a look-up table for each brightness of the surround, applied pixel by pixel.
//!
//! Source: E. Reinhard, M. Stark, P. Shirley, J. Ferwerda: Photographic tone reproduction for digital images, 2002,
//! whose operator depends on a pixel and on a mean around it; here what it makes of both is in the tables.

use crease::kernel::graph::Kernel;

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells};
use crate::grid::Grid;
use crate::image::pixel::disc;

/// Pixels from 0 to 255.
pub const BYTES: Entry = Entry {
    name: "tone-curve-u8",
    summary: "tone curves of bytes, by the brightness around a pixel",
    source: "Reinhard, Stark, Shirley, Ferwerda 2002",
    definition: || Kernel::parse(include_str!("../texts/tone_curve_u8.crk")),
    scalars: &[],
    default: Preset { sizes: &[("N", 1001)], steps: 0 },
    tests: &[Preset { sizes: &[("N", 37)], steps: 0 }, Preset { sizes: &[("N", 2)], steps: 0 }],
    benches: &[Preset { sizes: &[("N", 8192)], steps: 0 }],
    sites: |case| Ok(cells(&shape(case)?)? as u64),
    initial: |case| {
        let mut image = disc::<f64>(&shape(case)?)?;
        image.mapv_inplace(|pixel| (pixel.abs() * 255.0).min(255.0).trunc());
        Ok(Fields::from([("image".to_owned(), image), ("curves".to_owned(), curves())]))
    },
    naive,
    published: &[],
};

/// Brightness of the surround, in as many classes as there are curves.
const CLASSES: usize = 16;

fn shape(case: &Case) -> Result<[usize; 2], KernelDataError> {
    let n = case.extent("N", 2)?;
    Ok([n, n])
}

/// Bright pixels are compressed, the more the brighter it is around them.
fn curves() -> Field {
    Field::from_shape_fn(vec![CLASSES, 256], |at| {
        let (surround, value) = (at[0] as f64 / (CLASSES - 1) as f64, at[1] as f64 / 255.0);
        (255.0 * value * (1.0 + surround) / (1.0 + surround * (1.0 + value))).trunc()
    })
}

/// All nine products around each pixel at once, then a cell of the curves.
fn naive(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let shape = shape(case)?;
    let image = Grid::<f64, 2>::read(initial, "image", shape)?;
    let curves = Grid::<f64, 2>::read(initial, "curves", [CLASSES, 256])?;
    let toned = Grid::<f64, 2>::of(shape, |[y, x]| {
        let weight = |k: i64| if k == 1 { 2.0 } else { 1.0 };
        let product = |k: i64| weight(k / 3) * weight(k % 3) * image.nearest([y + k / 3 - 1, x + k % 3 - 1]);
        let class = ((0..9).map(product).sum::<f64>() / 256.0).floor() as i64;
        curves.nearest([class, image[[y, x]] as i64])
    });
    Ok(Fields::from([("out".to_owned(), toned.field())]))
}

//! Filters of an image: the median of nine pixels, the bilateral filter, and sums over all pixels above and to the
//! left.
//!
//! Source: Smith, Implementing median filters in XC4000E FPGAs, 1996 (sorted columns); Tomasi, Manduchi: Bilateral
//! Filtering for Gray and Color Images, 1998, equation 1; Crow: Summed-Area Tables for Texture Mapping, 1984.

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Fields, KernelDataError, cells};
use crate::grid::Grid;
use crate::image::pixel::disc;
use crate::real::Real;

/// The median of nine.
pub const MEDIAN: Entry = median::<f64>("median-3x3", "median of nine pixels");
/// The same in single precision.
pub const MEDIAN_F32: Entry = median::<f32>("median-3x3-f32", "median of nine pixels, f32");
/// Sums above and to the left.
pub const INTEGRAL: Entry = integral::<f64>("integral-image", "sums over all pixels above and to the left");
/// The same in single precision.
pub const INTEGRAL_F32: Entry =
    integral::<f32>("integral-image-f32", "sums over all pixels above and to the left, f32");
/// The bilateral filter.
pub const BILATERAL: Entry = bilateral::<f64>("bilateral-5x5", "bilateral filter of 25 pixels");
/// The same in single precision.
pub const BILATERAL_F32: Entry = bilateral::<f32>("bilateral-5x5-f32", "bilateral filter of 25 pixels, f32");

const fn median<P: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Smith 1996",
        definition: || P::parse(include_str!("../texts/median_3x3.crk")),
        scalars: &[],
        default: Preset { sizes: &[("NY", 601), ("NX", 810)], steps: 0 },
        tests: &[
            Preset { sizes: &[("NY", 9), ("NX", 21)], steps: 0 },
            Preset { sizes: &[("NY", 3), ("NX", 3)], steps: 0 },
        ],
        benches: &[Preset { sizes: &[("NY", 2001), ("NX", 3010)], steps: 0 }],
        sites: |case| Ok(cells(&extents(case, 2)?)? as u64),
        initial: |case| Ok(Fields::from([("image".to_owned(), disc::<P>(&extents(case, 2)?)?)])),
        naive: naive_median::<P>,
        published: &[],
    }
}

const fn integral<P: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        source: "Crow 1984",
        definition: || P::parse(include_str!("../texts/integral_image.crk")),
        naive: naive_integral::<P>,
        ..median::<P>(name, summary)
    }
}

const fn bilateral<P: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        source: "Tomasi, Manduchi 1998",
        definition: || P::parse(include_str!("../texts/bilateral_5x5.crk")),
        scalars: &[("space", 0.125), ("range", 8.0)],
        tests: &[
            Preset { sizes: &[("NY", 5), ("NX", 13)], steps: 0 },
            Preset { sizes: &[("NY", 1), ("NX", 1)], steps: 0 },
        ],
        sites: |case| Ok(cells(&extents(case, 1)?)? as u64),
        initial: |case| {
            let [ny, nx] = extents(case, 1)?;
            Ok(Fields::from([("image".to_owned(), disc::<P>(&[ny + 4, nx + 4])?)]))
        },
        naive: naive_bilateral::<P>,
        ..median::<P>(name, summary)
    }
}

fn extents(case: &Case, at_least: usize) -> Result<[usize; 2], KernelDataError> {
    Ok([case.extent("NY", at_least)?, case.extent("NX", at_least)?])
}

fn image<P: Real>(initial: &Fields, shape: [usize; 2]) -> Result<Grid<P, 2>, KernelDataError> {
    Grid::read(initial, "image", shape)
}

fn out<P: Real>(pixels: &Grid<P, 2>) -> Fields {
    Fields::from([("out".to_owned(), pixels.field())])
}

/// All nine in order, and the fifth of them.
fn naive_median<P: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let shape = extents(case, 3)?;
    let image = image::<P>(initial, shape)?;
    Ok(out(&Grid::of(shape, |[y, x]| {
        let nine = (0..9).map(|k| image.nearest([y + k / 3 - 1, x + k % 3 - 1]));
        let mut nine: Vec<P> = nine.collect();
        nine.sort_by(|a, b| a.partial_cmp(b).expect("pixels are numbers"));
        nine[4]
    })))
}

fn naive_integral<P: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let shape = extents(case, 2)?;
    let image = image::<P>(initial, shape)?;
    let mut rows = image.clone();
    for [y, x] in image.places() {
        rows[[y, x]] = rows.or([y, x - 1], P::default()) + image[[y, x]];
    }
    let mut total = rows.clone();
    for [y, x] in image.places() {
        total[[y, x]] = total.or([y - 1, x], P::default()) + rows[[y, x]];
    }
    Ok(out(&total))
}

fn naive_bilateral<P: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let shape = extents(case, 1)?;
    let image = image::<P>(initial, shape.map(|extent| extent + 4))?;
    let [space, range] = [P::of(case.scalar("space")?), P::of(case.scalar("range")?)];
    Ok(out(&Grid::of(shape, |[y, x]| {
        let centre = image[[y + 2, x + 2]];
        let (mut sum, mut weights) = (None, None);
        for (i, j) in (0..5).flat_map(|i| (0..5).map(move |j| (i, j))) {
            let pixel = image[[y + i, x + j]];
            let far = P::of(((i - 2) * (i - 2) + (j - 2) * (j - 2)) as f64);
            let weight = (-(space * far + range * (pixel - centre) * (pixel - centre))).exponential();
            sum = Some(sum.map_or(weight * pixel, |sum| sum + weight * pixel));
            weights = Some(weights.map_or(weight, |weights| weights + weight));
        }
        sum.zip(weights).map_or(P::default(), |(sum, weights): (P, P)| sum / weights)
    })))
}

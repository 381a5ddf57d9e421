//! A camera's pipeline: from 16-bit counts of a sensor with a mosaic of colours to bytes of red, green and blue.
//!
//! Planes between the stages are folded to a row or three where rows follow each other. Integers all along: factors are
//! in 1/256, halves are rounded up.
//!
//! Source: B. E. Bayer: Color imaging array, US patent 3971065, 1976 (mosaic); stages as those of the camera pipeline
//! of Halide (Ragan-Kelley et al. 2013), with bilinear interpolation of missing colours.

use crease::kernel::graph::Kernel;

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells};
use crate::grid::Grid;
use crate::image::pixel::disc;

/// Counts of 16 bits.
pub const PIPELINE: Entry = Entry {
    name: "camera-u16",
    summary: "camera pipeline: black level, gains, demosaic, colour matrix and tone curve, of 16-bit counts",
    source: "Bayer 1976; Ragan-Kelley et al. 2013",
    definition: || Kernel::parse(include_str!("../texts/camera_u16.crk")),
    scalars: &[],
    default: Preset { sizes: &[("NY", 301), ("NX", 405)], steps: 0 },
    tests: &[Preset { sizes: &[("NY", 9), ("NX", 21)], steps: 0 }, Preset { sizes: &[("NY", 1), ("NX", 1)], steps: 0 }],
    benches: &[Preset { sizes: &[("NY", 1501), ("NX", 2001)], steps: 0 }],
    sites: |case| Ok(4 * cells(&blocks(case)?)? as u64),
    initial: |case| {
        let [ny, nx] = blocks(case)?;
        let mut raw = disc::<f64>(&[2 * ny + 4, 2 * nx + 4])?;
        raw.mapv_inplace(|pixel| 64.0 + (pixel.abs() * 959.0).min(959.0).trunc());
        Ok(Fields::from([("raw".to_owned(), raw), ("curve".to_owned(), curve())]))
    },
    naive,
    published: &[],
};

const GAIN: [[i64; 2]; 2] = [[430, 256], [256, 390]];
const MATRIX: [[i64; 3]; 3] = [[420, -120, -44], [-60, 380, -64], [-10, -110, 376]];
/// What pixels in the dark count.
const BLACK: i64 = 64;
const LARGEST: i64 = 1023;

fn blocks(case: &Case) -> Result<[usize; 2], KernelDataError> {
    Ok([case.extent("NY", 1)?, case.extent("NX", 1)?])
}

/// A power of 1 / 2.2, as displays expect it.
fn curve() -> Field {
    Field::from_shape_fn(vec![LARGEST as usize + 1], |at| {
        (255.0 * (at[0] as f64 / LARGEST as f64).powf(1.0 / 2.2)).round()
    })
}

/// Pixel by pixel, each colour from the nearest pixels that have it.
fn naive(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let [ny, nx] = blocks(case)?;
    let raw = Grid::<f64, 2>::read(initial, "raw", [2 * ny + 4, 2 * nx + 4])?;
    let curve = Grid::<f64, 1>::read(initial, "curve", [LARGEST as usize + 1])?;
    let limited = |value: i64| value.clamp(0, LARGEST);
    let counted =
        |y: i64, x: i64| limited(((raw[[y, x]] as i64 - BLACK) * GAIN[(y % 2) as usize][(x % 2) as usize]) >> 8);
    // The colour of a pixel: 0 is red, 2 is blue.
    let colour = |y: i64, x: i64| y % 2 + x % 2;
    let mean = |pixels: &[(i64, i64)]| {
        let count = pixels.len() as i64;
        let sum: i64 = pixels.iter().map(|&(y, x)| counted(y, x)).sum();
        (sum + count / 2) >> count.trailing_zeros()
    };
    let value = |wanted: i64, y: i64, x: i64| {
        if colour(y, x) == wanted {
            return counted(y, x);
        }
        let around = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (y + dy, x + dx)));
        // Of green, the nearest are beside a pixel, not at its corners.
        let near =
            around.filter(|&(b, a)| colour(b, a) == wanted && (wanted != 1 || (b - y).abs() + (a - x).abs() == 1));
        mean(&near.collect::<Vec<_>>())
    };
    let plane = |k: usize| {
        Grid::<f64, 2>::of([2 * ny, 2 * nx], |[y, x]| {
            let mixed: i64 = (0..3).map(|c| MATRIX[k][c as usize] * value(c, y + 2, x + 2)).sum();
            curve[[limited(mixed >> 8)]]
        })
    };
    Ok((0..3).map(|k| (format!("rgb{k}"), plane(k).field())).collect())
}

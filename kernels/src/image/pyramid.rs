//! Levels of a Gaussian pyramid: down to half as many pixels along both axes, and up again.
//!
//! By rows, the level down keeps five rows of what was weighted along the other axis, the level up three.
//!
//! Source: Burt, Adelson: The Laplacian Pyramid as a Compact Image Code, IEEE Trans. Commun. 31, 1983, equations 1 and
//! 2 (binomial weights, a = 3/8).

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Fields, KernelDataError, cells};
use crate::grid::Grid;
use crate::image::pixel::disc;
use crate::real::Real;

/// Down.
pub const DOWN: Entry = down::<f64>("pyramid-down", "level up a Gaussian pyramid: half as many pixels, five weights");
/// The same in single precision.
pub const DOWN_F32: Entry =
    down::<f32>("pyramid-down-f32", "level up a Gaussian pyramid: half as many pixels, five weights, f32");
/// Up.
pub const UP: Entry = up::<f64>("pyramid-up", "level down a Gaussian pyramid: twice as many pixels, three weights");
/// The same in single precision.
pub const UP_F32: Entry =
    up::<f32>("pyramid-up-f32", "level down a Gaussian pyramid: twice as many pixels, three weights, f32");

const fn down<P: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Burt, Adelson 1983",
        definition: || P::parse(include_str!("../texts/pyramid_down.crk")),
        scalars: &[],
        default: Preset { sizes: &[("NY", 301), ("NX", 410)], steps: 0 },
        tests: &[
            Preset { sizes: &[("NY", 5), ("NX", 13)], steps: 0 },
            Preset { sizes: &[("NY", 1), ("NX", 1)], steps: 0 },
        ],
        benches: &[Preset { sizes: &[("NY", 1001), ("NX", 1510)], steps: 0 }],
        sites: |case| Ok(cells(&extents(case)?)? as u64),
        initial: |case| image::<P>(extents(case)?.map(|extent| 2 * extent + 3)),
        naive: naive_down::<P>,
        published: &[],
    }
}

const fn up<P: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        definition: || P::parse(include_str!("../texts/pyramid_up.crk")),
        initial: |case| image::<P>(extents(case)?.map(|extent| extent + 2)),
        naive: naive_up::<P>,
        ..down::<P>(name, summary)
    }
}

fn extents(case: &Case) -> Result<[usize; 2], KernelDataError> {
    Ok([case.extent("NY", 1)?, case.extent("NX", 1)?])
}

fn image<P: Real>(shape: [usize; 2]) -> Result<Fields, KernelDataError> {
    Ok(Fields::from([("image".to_owned(), disc::<P>(&shape)?)]))
}

/// The weighted sum from the left.
pub(super) fn weighted<P: Real>(weights: &[f64], pixel: impl Fn(i64) -> P) -> P {
    let terms = weights.iter().enumerate().filter(|(_, weight)| **weight != 0.0);
    terms.map(|(d, &weight)| P::of(weight) * pixel(d as i64)).reduce(|sum, term| sum + term).unwrap_or_default()
}

fn naive_down<P: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let [ny, nx] = extents(case)?;
    let image = Grid::<P, 2>::read(initial, "image", [2 * ny + 3, 2 * nx + 3])?;
    let weights = [1.0 / 16.0, 0.25, 0.375, 0.25, 1.0 / 16.0];
    let wide = Grid::of([2 * ny + 3, nx], |[y, x]| weighted(&weights, |d| image[[y, 2 * x + d]]));
    let out = Grid::of([ny, nx], |[y, x]| weighted(&weights, |d| wide[[2 * y + d, x]]));
    Ok(Fields::from([("out".to_owned(), out.field())]))
}

fn naive_up<P: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let [ny, nx] = extents(case)?;
    let image = Grid::<P, 2>::read(initial, "image", [ny + 2, nx + 2])?;
    let weights = [[0.125, 0.75, 0.125], [0.0, 0.5, 0.5]];
    let wide = [0, 1].map(|a| Grid::of([ny + 2, nx], |[y, x]| weighted(&weights[a], |d| image[[y, x + d]])));
    let out = Grid::of([2 * ny, 2 * nx], |[y, x]| {
        weighted(&weights[(y % 2) as usize], |d| wide[(x % 2) as usize][[y / 2 + d, x / 2]])
    });
    Ok(Fields::from([("out".to_owned(), out.field())]))
}

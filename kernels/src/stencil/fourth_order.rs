//! Diffusion and waves of fourth order in space, on a line and in a box whose outermost points are held.
//!
//! Second differences have the weights -1/12, 4/3, -5/2, 4/3, -1/12. By rows a state takes a grid and two rows, or
//! planes; where rows or planes run in parallel, two grids or nearly so.
//!
//! Source: Fornberg, Math. Comput. 51, 1988, table 1 (weights); Alford, Kelly, Boore, Geophysics 39, 1974 (waves).

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Fields, KernelDataError, cells, hills};
use crate::grid::Grid;
use crate::real::Real;

/// Diffusion on a line.
pub const HEAT_LINE: Entry = heat_line::<f64>("heat-1d-4th", "explicit diffusion on a line, fourth order");
/// The same in single precision.
pub const HEAT_LINE_F32: Entry = heat_line::<f32>("heat-1d-4th-f32", "explicit diffusion on a line, fourth order, f32");
/// Diffusion in a box.
pub const HEAT_BOX: Entry = heat_box::<f64>("heat-3d-4th", "explicit diffusion in a box, fourth order");
/// The same in single precision.
pub const HEAT_BOX_F32: Entry = heat_box::<f32>("heat-3d-4th-f32", "explicit diffusion in a box, fourth order, f32");
/// Waves on a string.
pub const WAVE_LINE: Entry = wave_line::<f64>("wave-1d-4th", "waves on a string, fourth order in space, leapfrog");
/// The same in single precision.
pub const WAVE_LINE_F32: Entry =
    wave_line::<f32>("wave-1d-4th-f32", "waves on a string, fourth order in space, leapfrog, f32");
/// Waves in a box.
pub const WAVE_BOX: Entry = wave_box::<f64>("wave-3d-4th", "waves in a box, fourth order in space, leapfrog");
/// The same in single precision.
pub const WAVE_BOX_F32: Entry =
    wave_box::<f32>("wave-3d-4th-f32", "waves in a box, fourth order in space, leapfrog, f32");

const fn heat_line<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Fornberg 1988",
        definition: || R::parse(include_str!("../texts/heat_1d_4th.crk")),
        scalars: &[("k", 0.2)],
        default: Preset { sizes: &[("N", 10_001)], steps: 100 },
        tests: &[Preset { sizes: &[("N", 37)], steps: 5 }, Preset { sizes: &[("N", 5)], steps: 3 }],
        benches: &[Preset { sizes: &[("N", 1_600_001)], steps: 100 }],
        sites: |case| Ok(case.extent("N", 5)? as u64),
        initial: |case| Ok(Fields::from([("u".to_owned(), hills(1, &line(case)?)?)])),
        naive: |case, initial| diffused::<R, 1>(case, initial, line(case)?),
        published: &[],
    }
}

const fn heat_box<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        definition: || R::parse(include_str!("../texts/heat_3d_4th.crk")),
        scalars: &[("k", 0.1)],
        default: Preset { sizes: &[("NZ", 50), ("NY", 51), ("NX", 70)], steps: 50 },
        tests: &[Preset { sizes: &[("NZ", 6), ("NY", 7), ("NX", 13)], steps: 3 }],
        benches: &[Preset { sizes: &[("NZ", 201), ("NY", 203), ("NX", 210)], steps: 20 }],
        sites: |case| Ok(cells(&space(case)?)? as u64),
        initial: |case| Ok(Fields::from([("u".to_owned(), hills(1, &space(case)?)?)])),
        naive: |case, initial| diffused::<R, 3>(case, initial, space(case)?),
        ..heat_line::<R>(name, summary)
    }
}

const fn wave_line<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        source: "Alford, Kelly, Boore 1974",
        definition: || R::parse(include_str!("../texts/wave_1d_4th.crk")),
        scalars: &[("courant", 0.5)],
        initial: |case| moving(&line(case)?),
        naive: |case, initial| moved::<R, 1>(case, initial, line(case)?),
        ..heat_line::<R>(name, summary)
    }
}

const fn wave_box<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        source: "Alford, Kelly, Boore 1974",
        definition: || R::parse(include_str!("../texts/wave_3d_4th.crk")),
        scalars: &[("courant", 0.4)],
        initial: |case| moving(&space(case)?),
        naive: |case, initial| moved::<R, 3>(case, initial, space(case)?),
        ..heat_box::<R>(name, summary)
    }
}

fn line(case: &Case) -> Result<[usize; 1], KernelDataError> {
    Ok([case.extent("N", 5)?])
}

fn space(case: &Case) -> Result<[usize; 3], KernelDataError> {
    Ok([case.extent("NZ", 5)?, case.extent("NY", 5)?, case.extent("NX", 5)?])
}

fn moving(shape: &[usize]) -> Result<Fields, KernelDataError> {
    let slow = hills(2, shape)?.mapv(|hill| 0.01 * hill);
    Ok(Fields::from([("u".to_owned(), hills(1, shape)?), ("v".to_owned(), slow)]))
}

/// Whether the point is not one of the two outermost along any axis.
fn is_inside<const D: usize>(at: [i64; D], shape: [usize; D]) -> bool {
    (0..D).all(|axis| (2..shape[axis] as i64 - 2).contains(&at[axis]))
}

/// The second differences along all axes.
fn bend<R: Real, const D: usize>(u: &Grid<R, D>, at: [i64; D]) -> R {
    let pair = |axis: usize, d: i64| {
        let moved = |by: i64| std::array::from_fn(|a| if a == axis { at[a] + by } else { at[a] });
        u[moved(-d)] + u[moved(d)]
    };
    let ring = |d: i64| (0..D).map(|axis| pair(axis, d)).reduce(|sum, pair| sum + pair).unwrap_or_default();
    R::of(-2.5 * D as f64) * u[at] + (R::of(4.0 / 3.0) * ring(1) + R::of(-1.0 / 12.0) * ring(2))
}

fn diffused<R: Real, const D: usize>(
    case: &Case,
    initial: &Fields,
    shape: [usize; D],
) -> Result<Fields, KernelDataError> {
    let (k, mut u) = (R::of(case.scalar("k")?), Grid::<R, D>::read(initial, "u", shape)?);
    for _ in 0..case.steps.max(0) {
        u = Grid::of(shape, |at| if is_inside(at, shape) { u[at] + k * bend(&u, at) } else { u[at] });
    }
    Ok(Fields::from([("u".to_owned(), u.field())]))
}

fn moved<R: Real, const D: usize>(case: &Case, initial: &Fields, shape: [usize; D]) -> Result<Fields, KernelDataError> {
    let courant = R::of(case.scalar("courant")?);
    let (mut u, mut v) = (Grid::<R, D>::read(initial, "u", shape)?, Grid::<R, D>::read(initial, "v", shape)?);
    for _ in 0..case.steps.max(0) {
        v = Grid::of(shape, |at| if is_inside(at, shape) { v[at] + courant * courant * bend(&u, at) } else { v[at] });
        u = Grid::of(shape, |at| if is_inside(at, shape) { u[at] + v[at] } else { u[at] });
    }
    Ok(Fields::from([("u".to_owned(), u.field()), ("v".to_owned(), v.field())]))
}

//! Shallow water between walls: height and two discharges, Rusanov's flux.
//!
//! Nothing but positive heights is needed of the ground: a film of water stands for a dry one.
//!
//! Source: Rusanov 1961, as in Toro: Shock-Capturing Methods for Free-Surface Shallow Flows, 2001, section 9.5; Ritter
//! 1892 (the dam that breaks).

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells, hills};
use crate::grid::Grid;
use crate::real::Real;

/// Shallow water.
pub const PLANE: Entry = entry::<f64>("shallow-water-2d", "shallow water between walls, Rusanov's flux");
/// The same in single precision.
pub const PLANE_F32: Entry = entry::<f32>("shallow-water-2d-f32", "shallow water between walls, Rusanov's flux, f32");

const fn entry<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Rusanov 1961; Toro 2001",
        definition: || R::parse(include_str!("../texts/shallow_water_2d.crk")),
        scalars: &[("c", 0.1), ("g", 1.0)],
        default: Preset { sizes: &[("NY", 101), ("NX", 210)], steps: 100 },
        tests: &[
            Preset { sizes: &[("NY", 9), ("NX", 13)], steps: 3 },
            Preset { sizes: &[("NY", 3), ("NX", 3)], steps: 2 },
        ],
        benches: &[Preset { sizes: &[("NY", 1001), ("NX", 1010)], steps: 50 }],
        sites: |case| Ok(cells(&extents(case)?)? as u64),
        initial,
        naive: naive::<R>,
        published: &[],
    }
}

fn extents(case: &Case) -> Result<[usize; 2], KernelDataError> {
    Ok([case.extent("NY", 3)?, case.extent("NX", 3)?])
}

/// A hill of water, and small discharges of noise.
fn initial(case: &Case) -> Result<Fields, KernelDataError> {
    let shape = extents(case)?;
    let moved = |seed| Ok::<Field, KernelDataError>(hills(seed, &shape)?.mapv(|hill| 0.1 * hill));
    let height = hills(1, &shape)?.mapv(|hill| 1.0 + 0.5 * hill);
    Ok([("h", height), ("p", moved(2)?), ("q", moved(3)?)].map(|(name, field)| (name.to_owned(), field)).into())
}

/// Height, discharge through the face and discharge along it, on both sides of a face.
type Sides<R> = [[R; 3]; 2];

/// What passes a face of height, of discharge through it and of discharge along it.
fn flux<R: Real>(g: R, [a, b]: Sides<R>) -> [R; 3] {
    let half = R::of(0.5);
    let speed = |[h, n, _]: [R; 3]| (n / h).magnitude() + (g * h).root();
    let fastest = if speed(a) > speed(b) { speed(a) } else { speed(b) };
    let across = |k: usize| half * (a[1] * a[k] / a[0] + b[1] * b[k] / b[0] - fastest * (b[k] - a[k]));
    let mass = half * (a[1] + b[1] - fastest * (b[0] - a[0]));
    [mass, across(1) + R::of(0.25) * g * (a[0] * a[0] + b[0] * b[0]), across(2)]
}

fn naive<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (shape, [c, g]) = (extents(case)?, [R::of(case.scalar("c")?), R::of(case.scalar("g")?)]);
    let names = ["h", "p", "q"];
    let mut now = Vec::new();
    for name in names {
        now.push(Grid::<R, 2>::read(initial, name, shape)?);
    }
    for _ in 0..case.steps.max(0) {
        // Beyond a wall, the discharge through it is turned.
        let at = |k: usize, y: i64, x: i64| {
            let turned = match k {
                1 => !now[k].has([y, 0]),
                2 => !now[k].has([0, x]),
                _ => false,
            };
            if turned { -now[k].nearest([y, x]) } else { now[k].nearest([y, x]) }
        };
        let along_y = |y: i64, x: i64| flux(g, [y, y + 1].map(|y| [at(0, y, x), at(1, y, x), at(2, y, x)]));
        let along_x = |y: i64, x: i64| flux(g, [x, x + 1].map(|x| [at(0, y, x), at(2, y, x), at(1, y, x)]));
        let change = |k: usize, y: i64, x: i64| {
            let place = [0, 2, 1][k];
            let (south, north, west, east) = (along_y(y - 1, x), along_y(y, x), along_x(y, x - 1), along_x(y, x));
            c * (north[k] - south[k] + (east[place] - west[place]))
        };
        now = (0..3).map(|k| Grid::of(shape, |[y, x]| now[k][[y, x]] - change(k, y, x))).collect();
    }
    Ok(names.into_iter().zip(&now).map(|(name, grid)| (name.to_owned(), grid.field())).collect())
}

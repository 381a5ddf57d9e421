//! Maxwell's equations in cavities of perfect conductors: Yee's scheme in the plane and in space.
//!
//! Magnetic fields are at half steps. Every field is in place, whether rows or whole stages follow each other: storage
//! is one grid each.
//!
//! Source: Yee, IEEE Trans. Antennas Propag. 14, 1966; Taflove, Hagness: Computational Electrodynamics, 2005, section
//! 4.

use ndarray::Dimension;

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells, hills};
use crate::grid::Grid;
use crate::real::Real;

/// The plane.
pub const PLANE: Entry = plane::<f64>("fdtd-2d", "Maxwell's equations in a plane cavity, Yee's scheme");
/// The same in single precision.
pub const PLANE_F32: Entry = plane::<f32>("fdtd-2d-f32", "Maxwell's equations in a plane cavity, Yee's scheme, f32");
/// Space.
pub const SPACE: Entry = space::<f64>("fdtd-3d", "Maxwell's equations in a cavity, Yee's scheme");
/// The same in single precision.
pub const SPACE_F32: Entry = space::<f32>("fdtd-3d-f32", "Maxwell's equations in a cavity, Yee's scheme, f32");

const fn plane<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Yee 1966",
        definition: || R::parse(include_str!("../texts/fdtd_2d.crk")),
        scalars: &[("c", 0.7)],
        default: Preset { sizes: &[("NY", 201), ("NX", 310)], steps: 100 },
        tests: &[
            Preset { sizes: &[("NY", 9), ("NX", 13)], steps: 4 },
            Preset { sizes: &[("NY", 3), ("NX", 3)], steps: 2 },
        ],
        benches: &[Preset { sizes: &[("NY", 2001), ("NX", 2010)], steps: 50 }],
        sites: |case| Ok(cells(&case.extents(&["NY", "NX"], 3)?)? as u64),
        initial: |case| {
            let [ny, nx] = [case.extent("NY", 3)?, case.extent("NX", 3)?];
            let e = walled(hills(1, &[ny, nx])?, |at| [0, ny - 1].contains(&at[0]) || [0, nx - 1].contains(&at[1]));
            let fields = [("e", e), ("hx", hills(2, &[ny - 1, nx])?), ("hy", hills(3, &[ny, nx - 1])?)];
            Ok(fields.map(|(name, field)| (name.to_owned(), field)).into())
        },
        naive: naive_plane::<R>,
        published: &[],
    }
}

const fn space<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Yee 1966",
        definition: || R::parse(include_str!("../texts/fdtd_3d.crk")),
        scalars: &[("c", 0.5)],
        default: Preset { sizes: &[("NZ", 40), ("NY", 41), ("NX", 70)], steps: 50 },
        tests: &[Preset { sizes: &[("NZ", 3), ("NY", 4), ("NX", 9)], steps: 3 }],
        benches: &[Preset { sizes: &[("NZ", 151), ("NY", 153), ("NX", 160)], steps: 20 }],
        sites: |case| Ok(cells(&case.extents(&["NZ", "NY", "NX"], 2)?)? as u64),
        initial: |case| {
            let n = extents(case)?;
            let mut fields = Fields::new();
            for a in 0..3 {
                let on_wall = |at: &[usize]| (0..3).any(|axis| axis != a && [0, n[axis]].contains(&at[axis]));
                fields.insert(format!("e{a}"), walled(hills(a as u64, &edges(n, a))?, on_wall));
                fields.insert(format!("h{a}"), hills(a as u64 + 3, &faces(n, a))?);
            }
            Ok(fields)
        },
        naive: naive_space::<R>,
        published: &[],
    }
}

/// A field that is 0 where walls are.
fn walled(mut field: Field, is_wall: impl Fn(&[usize]) -> bool) -> Field {
    field.indexed_iter_mut().filter(|(at, _)| is_wall(at.slice())).for_each(|(_, value)| *value = 0.0);
    field
}

/// Cells along z, y and x.
pub(super) fn extents(case: &Case) -> Result<[usize; 3], KernelDataError> {
    Ok([case.extent("NZ", 2)?, case.extent("NY", 2)?, case.extent("NX", 2)?])
}

/// Points of the edges along an axis.
pub(super) fn edges(n: [usize; 3], axis: usize) -> [usize; 3] {
    std::array::from_fn(|a| if a == axis { n[a] } else { n[a] + 1 })
}

/// Points of the faces across an axis.
pub(super) fn faces(n: [usize; 3], axis: usize) -> [usize; 3] {
    std::array::from_fn(|a| if a == axis { n[a] + 1 } else { n[a] })
}

fn naive_plane<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let ([ny, nx], c) = ([case.extent("NY", 3)?, case.extent("NX", 3)?], R::of(case.scalar("c")?));
    let mut e = Grid::<R, 2>::read(initial, "e", [ny, nx])?;
    let mut hx = Grid::<R, 2>::read(initial, "hx", [ny - 1, nx])?;
    let mut hy = Grid::<R, 2>::read(initial, "hy", [ny, nx - 1])?;
    for _ in 0..case.steps.max(0) {
        hx = Grid::of([ny - 1, nx], |[y, x]| hx[[y, x]] - c * (e[[y + 1, x]] - e[[y, x]]));
        hy = Grid::of([ny, nx - 1], |[y, x]| hy[[y, x]] + c * (e[[y, x + 1]] - e[[y, x]]));
        e = Grid::of([ny, nx], |[y, x]| {
            if y == 0 || x == 0 || y == ny as i64 - 1 || x == nx as i64 - 1 {
                return R::default();
            }
            e[[y, x]] + c * (hy[[y, x]] - hy[[y, x - 1]] - (hx[[y, x]] - hx[[y - 1, x]]))
        });
    }
    Ok([("e", e.field()), ("hx", hx.field()), ("hy", hy.field())].map(|(name, field)| (name.to_owned(), field)).into())
}

fn naive_space<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (n, c) = (extents(case)?, R::of(case.scalar("c")?));
    let (mut e, mut h) = (Vec::new(), Vec::new());
    for a in 0..3 {
        e.push(Grid::<R, 3>::read(initial, &format!("e{a}"), edges(n, a))?);
        h.push(Grid::<R, 3>::read(initial, &format!("h{a}"), faces(n, a))?);
    }
    let moved = |place: [i64; 3], axis: usize, by: i64| {
        let mut place = place;
        place[axis] += by;
        place
    };
    for _ in 0..case.steps.max(0) {
        let ahead = |a: usize, d: usize, place: [i64; 3]| e[a][moved(place, d, 1)] - e[a][place];
        let turned = |a: usize, place| {
            let (b, d) = ((a + 1) % 3, (a + 2) % 3);
            h[a][place] + c * (ahead(b, d, place) - ahead(d, b, place))
        };
        h = (0..3).map(|a| Grid::of(faces(n, a), |place| turned(a, place))).collect();
        let behind = |a: usize, d: usize, place: [i64; 3]| h[a][place] - h[a][moved(place, d, -1)];
        let turned = |a: usize, place: [i64; 3]| {
            let (b, d) = ((a + 1) % 3, (a + 2) % 3);
            let on_wall = [b, d].iter().any(|&axis| place[axis] == 0 || place[axis] == n[axis] as i64);
            let now = e[a][place];
            if on_wall { now } else { now - c * (behind(b, d, place) - behind(d, b, place)) }
        };
        e = (0..3).map(|a| Grid::of(edges(n, a), |place| turned(a, place))).collect();
    }
    let named = |letter: &'static str, grids: Vec<Grid<R, 3>>| {
        grids.into_iter().enumerate().map(move |(a, grid)| (format!("{letter}{a}"), grid.field()))
    };
    Ok(named("e", e).chain(named("h", h)).collect())
}

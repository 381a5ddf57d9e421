//! Waves in an elastic plane: velocities and stresses, staggered in space and time.
//!
//! Pressure waves run at `sqrt(lame + 2 shear)`, shear waves at `sqrt(shear)`, for a density of 1; both are stable up
//! to `c = 1 / (sqrt(2) v)` with the faster speed `v`. Every field is in place, whether rows or whole stages follow
//! each other, and a shot in a cell changes nothing of that.
//!
//! Source: Virieux: P-SV wave propagation in heterogeneous media: velocity-stress finite-difference method, Geophysics
//! 51, 1986 (the scheme, its stability, and an explosion as what normal stresses gain alike); Ricker, Geophysics 18,
//! 1953 (the pulse). Of the walls: rigid, without friction, so that mirror images are solutions.

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Fields, KernelDataError, cells, hills};
use crate::grid::Grid;
use crate::real::Real;
use crate::stencil::wave::pulse;

/// The plane.
pub const PLANE: Entry =
    plane::<f64>("elastic-2d", "pressure and shear waves in an elastic plane, velocities and stresses");
/// The same in single precision.
pub const PLANE_F32: Entry =
    plane::<f32>("elastic-2d-f32", "pressure and shear waves in an elastic plane, velocities and stresses, f32");

/// The plane with a shot in it.
pub const SHOT: Entry = shot::<f64>(
    "elastic-2d-source",
    "waves of a shot in an elastic plane, velocities and stresses, receivers along a row",
);
/// The same in single precision.
pub const SHOT_F32: Entry = shot::<f32>(
    "elastic-2d-source-f32",
    "waves of a shot in an elastic plane, velocities and stresses, receivers along a row, f32",
);

const fn plane<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Virieux 1986",
        definition: || R::parse(include_str!("../texts/elastic_2d.crk")),
        scalars: &[("c", 0.4)],
        default: Preset { sizes: &[("NY", 201), ("NX", 310)], steps: 100 },
        tests: &[Preset { sizes: &[("NY", 7), ("NX", 13)], steps: 3 }],
        benches: &[Preset { sizes: &[("NY", 2001), ("NX", 2010)], steps: 50 }],
        sites: |case| Ok(cells(&shape(case)?)? as u64),
        initial,
        naive: |case, initial| naive::<R>(case, initial, None),
        published: &[],
    }
}

const fn shot<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        source: "Virieux 1986; Ricker 1953",
        definition: || R::parse(include_str!("../texts/elastic_2d_source.crk")),
        scalars: &[("c", 0.4), ("frequency", 0.05)],
        default: Preset { sizes: &[("NY", 201), ("NX", 310), ("SY", 30), ("SX", 155), ("RY", 5)], steps: 200 },
        tests: &[
            Preset { sizes: &[("NY", 7), ("NX", 13), ("SY", 2), ("SX", 5), ("RY", 1)], steps: 3 },
            Preset { sizes: &[("NY", 4), ("NX", 4), ("SY", 1), ("SX", 2), ("RY", 3)], steps: 2 },
        ],
        benches: &[Preset { sizes: &[("NY", 2001), ("NX", 2010), ("SY", 30), ("SX", 1005), ("RY", 5)], steps: 50 }],
        initial: |case| {
            let mut fields = initial(case)?;
            let moves = |name: &str| ["u", "v", "p", "q", "s"].contains(&name);
            fields.iter_mut().filter(|(name, _)| moves(name)).for_each(|(_, field)| field.fill(0.0));
            Ok(fields)
        },
        naive: |case, initial| {
            let at = [case.extent("SY", 0)? as i64, case.extent("SX", 0)? as i64];
            naive::<R>(case, initial, Some((at, R::of(case.scalar("frequency")?))))
        },
        ..plane::<R>(name, summary)
    }
}

fn shape(case: &Case) -> Result<[usize; 2], KernelDataError> {
    Ok([case.extent("NY", 4)?, case.extent("NX", 4)?])
}

fn initial(case: &Case) -> Result<Fields, KernelDataError> {
    let [ny, nx] = shape(case)?;
    let moduli =
        |seed: u64, shape: &[usize]| Ok::<_, KernelDataError>(hills(seed, shape)?.mapv(|hill| 0.7 + hill.abs()));
    let fields = [
        ("lame", moduli(1, &[ny, nx])?),
        ("shear", moduli(2, &[ny, nx])?),
        ("corner", moduli(3, &[ny - 1, nx - 1])?),
        ("u", hills(4, &[ny, nx - 1])?),
        ("v", hills(5, &[ny - 1, nx])?),
        ("p", hills(6, &[ny, nx])?),
        ("q", hills(7, &[ny, nx])?),
        ("s", hills(8, &[ny - 1, nx - 1])?),
    ];
    Ok(fields.map(|(name, field)| (name.to_owned(), field)).into())
}

/// `shot` is the cell of one, and its frequency.
fn naive<R: Real>(case: &Case, initial: &Fields, shot: Option<([i64; 2], R)>) -> Result<Fields, KernelDataError> {
    let ([ny, nx], c) = (shape(case)?, R::of(case.scalar("c")?));
    let grid = |name: &str, extents: [usize; 2]| Grid::<R, 2>::read(initial, name, extents);
    let (lame, shear, corner) = (grid("lame", [ny, nx])?, grid("shear", [ny, nx])?, grid("corner", [ny - 1, nx - 1])?);
    // Faces and corners count from 1 in the kernel.
    let (mut u, mut v) = (grid("u", [ny, nx - 1])?, grid("v", [ny - 1, nx])?);
    let (mut p, mut q, mut s) = (grid("p", [ny, nx])?, grid("q", [ny, nx])?, grid("s", [ny - 1, nx - 1])?);
    let still = R::default();
    for t in 1..=case.steps.max(0) {
        u = Grid::of([ny, nx - 1], |[y, x]| {
            u[[y, x]] + c * (p[[y, x + 1]] - p[[y, x]] + (s.or([y, x], still) - s.or([y - 1, x], still)))
        });
        v = Grid::of([ny - 1, nx], |[y, x]| {
            v[[y, x]] + c * (s.or([y, x], still) - s.or([y, x - 1], still) + (q[[y + 1, x]] - q[[y, x]]))
        });
        let along_x = |y: i64, x: i64| u.or([y, x], still) - u.or([y, x - 1], still);
        let along_y = |y: i64, x: i64| v.or([y, x], still) - v.or([y - 1, x], still);
        let stress = |old: R, [y, x]: [i64; 2], along: R| {
            let both = lame[[y, x]] * (along_x(y, x) + along_y(y, x));
            let new = old + c * (both + R::of(2.0) * shear[[y, x]] * along);
            match shot {
                Some((cell, frequency)) if cell == [y, x] => new + pulse(frequency, t),
                _ => new,
            }
        };
        p = Grid::of([ny, nx], |[y, x]| stress(p[[y, x]], [y, x], along_x(y, x)));
        q = Grid::of([ny, nx], |[y, x]| stress(q[[y, x]], [y, x], along_y(y, x)));
        s = Grid::of([ny - 1, nx - 1], |[y, x]| {
            s[[y, x]] + c * corner[[y, x]] * (u[[y + 1, x]] - u[[y, x]] + (v[[y, x + 1]] - v[[y, x]]))
        });
    }
    let fields = [("u", u), ("v", v), ("p", p), ("q", q), ("s", s)];
    Ok(fields.map(|(name, grid)| (name.to_owned(), grid.field())).into())
}

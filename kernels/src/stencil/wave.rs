//! Waves: on a string, a membrane, a torus and in a box, by leapfrog with velocities at half steps; and sound of a
//! source.
//!
//! `v[t] = v[t-1] + c^2 lap u[t-1]`, `u[t] = u[t-1] + v[t]` is the scheme of three levels in two arrays, of which `v`
//! is in place: a grid, and by rows another one and a row. Where rows run in parallel `u` takes two.
//!
//! Source: Courant, Friedrichs, Lewy 1928 (the scheme and its limit); Alford, Kelly, Boore, Geophysics 39, 1974 (fourth
//! order); Virieux, Geophysics 49, 1984 (staggered velocities); Ricker, Geophysics 18, 1953 (the pulse).

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells, hills};
use crate::grid::Grid;
use crate::real::Real;

/// A string.
pub const STRING: Entry = string::<f64>("wave-1d", "waves on a string, ends held, leapfrog");
/// The same in single precision.
pub const STRING_F32: Entry = string::<f32>("wave-1d-f32", "waves on a string, ends held, leapfrog, f32");
/// A membrane.
pub const MEMBRANE: Entry =
    membrane::<f64>("wave-2d-variable", "waves on a membrane of variable stiffness, free edges");
/// The same in single precision.
pub const MEMBRANE_F32: Entry =
    membrane::<f32>("wave-2d-variable-f32", "waves on a membrane of variable stiffness, free edges, f32");
/// A torus.
pub const TORUS: Entry = torus::<f64>("wave-2d-4th", "waves on a torus, fourth order in space, leapfrog");
/// The same in single precision.
pub const TORUS_F32: Entry = torus::<f32>("wave-2d-4th-f32", "waves on a torus, fourth order in space, leapfrog, f32");
/// A box.
pub const BOX: Entry = space::<f64>("wave-3d", "waves in a box, walls held, leapfrog");
/// The same in single precision.
pub const BOX_F32: Entry = space::<f32>("wave-3d-f32", "waves in a box, walls held, leapfrog, f32");
/// Sound of a source.
pub const SOUND: Entry =
    sound::<f64>("acoustic-2d", "sound of a pulse between rigid walls, staggered grid, receivers along a row");
/// The same in single precision.
pub const SOUND_F32: Entry =
    sound::<f32>("acoustic-2d-f32", "sound of a pulse between rigid walls, staggered grid, receivers along a row, f32");

const fn string<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Courant, Friedrichs, Lewy 1928",
        definition: || R::parse(include_str!("../texts/wave_1d.crk")),
        scalars: &[("courant", 0.75)],
        default: Preset { sizes: &[("N", 10_001)], steps: 100 },
        tests: &[Preset { sizes: &[("N", 37)], steps: 5 }, Preset { sizes: &[("N", 3)], steps: 4 }],
        benches: &[Preset { sizes: &[("N", 1_600_001)], steps: 100 }],
        sites: |case| Ok(case.extent("N", 3)? as u64),
        initial: |case| moving(&[case.extent("N", 3)?]),
        naive: |case, initial| {
            let square = square::<R>(case)?;
            leapfrog::<R, 1>(case, initial, [case.extent("N", 3)?], |u, [x]| {
                let at = |x| u.or([x], R::default());
                square * (at(x - 1) - R::of(2.0) * at(x) + at(x + 1))
            })
        },
        published: &[],
    }
}

const fn membrane<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Courant, Friedrichs, Lewy 1928; Virieux 1984",
        definition: || R::parse(include_str!("../texts/wave_2d_variable.crk")),
        scalars: &[],
        default: Preset { sizes: &[("NY", 201), ("NX", 310)], steps: 100 },
        tests: &[
            Preset { sizes: &[("NY", 9), ("NX", 13)], steps: 4 },
            Preset { sizes: &[("NY", 3), ("NX", 3)], steps: 2 },
        ],
        benches: &[Preset { sizes: &[("NY", 2001), ("NX", 2010)], steps: 50 }],
        sites: |case| Ok(cells(&plane(case, 3)?)? as u64),
        initial: |case| {
            let mut fields = moving(&plane(case, 3)?)?;
            fields.insert("k".to_owned(), hills(8, &plane(case, 3)?)?.mapv(|hill| 0.1 + 0.2 * hill.abs()));
            Ok(fields)
        },
        naive: |case, initial| {
            let k = Grid::<R, 2>::read(initial, "k", plane(case, 3)?)?;
            leapfrog::<R, 2>(case, initial, plane(case, 3)?, |u, [y, x]| {
                let pull =
                    |there: [i64; 2]| R::of(0.5) * (k[[y, x]] + k.nearest(there)) * (u.nearest(there) - u[[y, x]]);
                pull([y - 1, x]) + pull([y + 1, x]) + pull([y, x - 1]) + pull([y, x + 1])
            })
        },
        published: &[],
    }
}

const fn torus<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        source: "Alford, Kelly, Boore 1974",
        definition: || R::parse(include_str!("../texts/wave_2d_4th.crk")),
        scalars: &[("courant", 0.5)],
        tests: &[
            Preset { sizes: &[("NY", 9), ("NX", 13)], steps: 4 },
            Preset { sizes: &[("NY", 5), ("NX", 5)], steps: 2 },
        ],
        initial: |case| moving(&plane(case, 5)?),
        naive: |case, initial| {
            let square = square::<R>(case)?;
            leapfrog::<R, 2>(case, initial, plane(case, 5)?, |u, [y, x]| {
                let at = |y, x| u.around([y, x]);
                let ring = |d| at(y - d, x) + at(y + d, x) + (at(y, x - d) + at(y, x + d));
                let rings = R::of(4.0 / 3.0) * ring(1) + R::of(-1.0 / 12.0) * ring(2);
                square * (R::of(-5.0) * at(y, x) + rings)
            })
        },
        ..membrane::<R>(name, summary)
    }
}

const fn space<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Courant, Friedrichs, Lewy 1928",
        definition: || R::parse(include_str!("../texts/wave_3d.crk")),
        scalars: &[("courant", 0.5)],
        default: Preset { sizes: &[("NZ", 50), ("NY", 51), ("NX", 70)], steps: 50 },
        tests: &[Preset { sizes: &[("NZ", 4), ("NY", 5), ("NX", 11)], steps: 3 }],
        benches: &[Preset { sizes: &[("NZ", 201), ("NY", 203), ("NX", 210)], steps: 20 }],
        sites: |case| Ok(cells(&case.extents(&["NZ", "NY", "NX"], 3)?)? as u64),
        initial: |case| moving(&case.extents(&["NZ", "NY", "NX"], 3)?),
        naive: |case, initial| {
            let square = square::<R>(case)?;
            let shape = [case.extent("NZ", 3)?, case.extent("NY", 3)?, case.extent("NX", 3)?];
            leapfrog::<R, 3>(case, initial, shape, |u, [z, y, x]| {
                let at = |z, y, x| u.or([z, y, x], R::default());
                let side = |d: i64| [at(z + d, y, x), at(z, y + d, x), at(z, y, x + d)];
                let [low, high] = [side(-1), side(1)].map(|[a, b, c]| a + b + c);
                square * (low + high - R::of(6.0) * at(z, y, x))
            })
        },
        published: &[],
    }
}

const fn sound<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Virieux 1984; Ricker 1953",
        definition: || R::parse(include_str!("../texts/acoustic_2d.crk")),
        scalars: &[("c", 0.5), ("frequency", 0.02)],
        default: Preset { sizes: &[("NY", 201), ("NX", 310)], steps: 200 },
        tests: &[
            Preset { sizes: &[("NY", 9), ("NX", 13)], steps: 4 },
            Preset { sizes: &[("NY", 4), ("NX", 4)], steps: 2 },
        ],
        benches: &[Preset { sizes: &[("NY", 2001), ("NX", 2010)], steps: 50 }],
        sites: |case| Ok(cells(&plane(case, 4)?)? as u64),
        initial: |case| {
            let [ny, nx] = plane(case, 4)?;
            let stiffness = hills(8, &[ny, nx])?.mapv(|hill| 1.0 + 0.5 * hill.abs());
            let still = |shape: [usize; 2]| Field::zeros(shape.to_vec());
            let fields =
                [("p", still([ny, nx])), ("v", still([ny - 1, nx])), ("u", still([ny, nx - 1])), ("k", stiffness)];
            Ok(fields.map(|(name, field)| (name.to_owned(), field)).into())
        },
        naive: naive_sound::<R>,
        published: &[],
    }
}

fn plane(case: &Case, at_least: usize) -> Result<[usize; 2], KernelDataError> {
    Ok([case.extent("NY", at_least)?, case.extent("NX", at_least)?])
}

fn square<R: Real>(case: &Case) -> Result<R, KernelDataError> {
    let courant = R::of(case.scalar("courant")?);
    Ok(courant * courant)
}

/// Displacements and velocities that differ from cell to cell.
fn moving(shape: &[usize]) -> Result<Fields, KernelDataError> {
    let slow = hills(2, shape)?.mapv(|hill| 0.01 * hill);
    Ok(Fields::from([("u".to_owned(), hills(1, shape)?), ("v".to_owned(), slow)]))
}

/// Velocities gain what `gain` says of displacements, displacements gain velocities.
fn leapfrog<R: Real, const D: usize>(
    case: &Case,
    initial: &Fields,
    shape: [usize; D],
    gain: impl Fn(&Grid<R, D>, [i64; D]) -> R,
) -> Result<Fields, KernelDataError> {
    let (mut u, mut v) = (Grid::read(initial, "u", shape)?, Grid::<R, D>::read(initial, "v", shape)?);
    for _ in 0..case.steps.max(0) {
        v = Grid::of(shape, |place| v[place] + gain(&u, place));
        u = Grid::of(shape, |place| u[place] + v[place]);
    }
    Ok(Fields::from([("u".to_owned(), u.field()), ("v".to_owned(), v.field())]))
}

fn naive_sound<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let [ny, nx] = plane(case, 4)?;
    let (c, frequency, none) = (R::of(case.scalar("c")?), R::of(case.scalar("frequency")?), R::default());
    let k = Grid::<R, 2>::read(initial, "k", [ny, nx])?;
    let mut p = Grid::<R, 2>::read(initial, "p", [ny, nx])?;
    // Rows count from 1 in the kernel, and columns of `u`.
    let mut v = Grid::<R, 2>::read(initial, "v", [ny - 1, nx])?;
    let mut u = Grid::<R, 2>::read(initial, "u", [ny, nx - 1])?;
    for t in 1..=case.steps.max(0) {
        v = Grid::of([ny - 1, nx], |[y, x]| v[[y, x]] - c * (p[[y + 1, x]] - p[[y, x]]));
        u = Grid::of([ny, nx - 1], |[y, x]| u[[y, x]] - c * (p[[y, x + 1]] - p[[y, x]]));
        let pulse = pulse(frequency, t);
        p = Grid::of([ny, nx], |[y, x]| {
            let across = v.or([y, x], none) - v.or([y - 1, x], none);
            let along = u.or([y, x], none) - u.or([y, x - 1], none);
            let new = p[[y, x]] - c * k[[y, x]] * (across + along);
            if [y, x] == [ny as i64 / 2, nx as i64 / 2] { new + pulse } else { new }
        });
    }
    Ok([("p", p.field()), ("v", v.field()), ("u", u.field())].map(|(name, field)| (name.to_owned(), field)).into())
}

/// Ricker's pulse at a step, which is largest after one over the frequency.
pub(super) fn pulse<R: Real>(frequency: R, step: i64) -> R {
    let (pi, one, two) = (R::of(std::f64::consts::PI), R::of(1.0), R::of(2.0));
    let turns = pi * frequency * R::of(step as f64) - pi;
    (one - two * (turns * turns)) * (-(turns * turns)).exponential()
}

//! Diffusion on a square and in a cube whose outermost points are held, by the points around each: nine of a square,
//! seven and all 27 of a cube.
//!
//! By rows a state takes a grid and a row and a cell, or a plane, a row and a cell; where rows or planes run in
//! parallel, two grids or nearly so.
//!
//! Source: forward-time central-space scheme, as in heat-2d and heat-3d of the Pluto suite; one weight for each distance
//! of 27 points, as in kernel MG of Bailey et al., The NAS parallel benchmarks, RNR-94-007, 1994.

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, noise};
use crate::grid::Grid;
use crate::real::Real;

/// Nine points of a square.
pub const NINE: Entry = nine::<f64>("heat-2d-9pt", "explicit diffusion on a square, nine points, fixed border");
/// The same in single precision.
pub const NINE_F32: Entry =
    nine::<f32>("heat-2d-9pt-f32", "explicit diffusion on a square, nine points, fixed border, f32");
/// Seven points of a cube.
pub const SEVEN: Entry = seven::<f64>("heat-3d-7pt", "explicit diffusion in a cube, seven points, fixed border");
/// The same in single precision.
pub const SEVEN_F32: Entry =
    seven::<f32>("heat-3d-7pt-f32", "explicit diffusion in a cube, seven points, fixed border, f32");
/// All 27 points of a cube.
pub const ALL: Entry = all::<f64>("heat-3d-27pt", "explicit diffusion in a cube, 27 points, fixed border");
/// The same in single precision.
pub const ALL_F32: Entry = all::<f32>("heat-3d-27pt-f32", "explicit diffusion in a cube, 27 points, fixed border, f32");

const fn nine<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "forward-time central-space scheme; heat-2d of the Pluto suite",
        definition: || R::parse(include_str!("../texts/heat_2d_9pt.crk")),
        scalars: &[("k", 0.0875), ("c", 0.0375)],
        default: Preset { sizes: &[("N", 512)], steps: 50 },
        tests: &[Preset { sizes: &[("N", 21)], steps: 5 }, Preset { sizes: &[("N", 3)], steps: 2 }],
        benches: &[Preset { sizes: &[("N", 4000)], steps: 200 }],
        sites: |case| Ok(case.extent("N", 3)?.pow(2) as u64),
        initial: initial::<2>,
        naive: |case, before| {
            let [k, c] = scalars::<R, 2>(case, ["k", "c"])?;
            let rest = R::of(1.0) - R::of(4.0) * (k + c);
            run(case, before, |u: &Grid<R, 2>, [y, x]| {
                let at = |b: i64, a: i64| u[[y + b, x + a]];
                let sides = (at(-1, 0) + at(1, 0)) + (at(0, -1) + at(0, 1));
                let corners = (at(-1, -1) + at(-1, 1)) + (at(1, -1) + at(1, 1));
                c.fma(corners, rest.fma(u[[y, x]], k * sides))
            })
        },
        published: &[],
    }
}

const fn seven<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        source: "forward-time central-space scheme; heat-3d of the Pluto suite",
        definition: || R::parse(include_str!("../texts/heat_3d_7pt.crk")),
        scalars: &[("k", 1.0 / 12.0)],
        default: Preset { sizes: &[("N", 64)], steps: 50 },
        tests: &[Preset { sizes: &[("N", 11)], steps: 3 }, Preset { sizes: &[("N", 3)], steps: 2 }],
        benches: &[Preset { sizes: &[("N", 300)], steps: 100 }],
        sites: |case| Ok(case.extent("N", 3)?.pow(3) as u64),
        initial: initial::<3>,
        naive: |case, before| {
            let [k] = scalars::<R, 1>(case, ["k"])?;
            let rest = R::of(1.0) - R::of(6.0) * k;
            run(case, before, |u: &Grid<R, 3>, [z, y, x]| {
                let at = |c: i64, b: i64, a: i64| u[[z + c, y + b, x + a]];
                let across = (at(-1, 0, 0) + at(1, 0, 0)) + (at(0, -1, 0) + at(0, 1, 0));
                rest.fma(at(0, 0, 0), k * (across + (at(0, 0, -1) + at(0, 0, 1))))
            })
        },
        ..nine::<R>(name, summary)
    }
}

const fn all<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        source: "weights by distance, as in MG of Bailey et al. 1994",
        definition: || R::parse(include_str!("../texts/heat_3d_27pt.crk")),
        scalars: &[("centre", 0.4), ("side", 0.05), ("edge", 0.02), ("corner", 0.0075)],
        naive: |case, before| {
            let [centre, side, edge, corner] = scalars::<R, 4>(case, ["centre", "side", "edge", "corner"])?;
            run(case, before, |u: &Grid<R, 3>, [z, y, x]| {
                let at = |c: i64, b: i64, a: i64| u[[z + c, y + b, x + a]];
                let four = |c: i64| (at(c, -1, -1) + at(c, -1, 1)) + (at(c, 1, -1) + at(c, 1, 1));
                let beside = |c: i64| at(c, 0, -1) + at(c, 0, 1);
                let across = |c: i64| at(c, -1, 0) + at(c, 1, 0);
                let sides = (at(-1, 0, 0) + at(1, 0, 0)) + (across(0) + beside(0));
                let edges = four(0) + ((across(-1) + beside(-1)) + (across(1) + beside(1)));
                let corners = four(-1) + four(1);
                centre.fma(at(0, 0, 0), side.fma(sides, edge.fma(edges, corner * corners)))
            })
        },
        ..seven::<R>(name, summary)
    }
}

fn scalars<R: Real, const S: usize>(case: &Case, names: [&str; S]) -> Result<[R; S], KernelDataError> {
    let mut values = [R::default(); S];
    for (value, name) in values.iter_mut().zip(names) {
        *value = R::of(case.scalar(name)?);
    }
    Ok(values)
}

fn initial<const D: usize>(case: &Case) -> Result<Fields, KernelDataError> {
    let n = case.extent("N", 3)?;
    let field = Field::from_shape_fn(vec![n; D], |at| {
        let position: Vec<usize> = (0..D).map(|axis| at[axis]).collect();
        0.5 + 0.25 * noise(D as u64, &position)
    });
    Ok(Fields::from([("u".to_owned(), field)]))
}

/// All steps, of which each computes `next` at every point that is not an outermost one.
fn run<R: Real, const D: usize>(
    case: &Case,
    before: &Fields,
    next: impl Fn(&Grid<R, D>, [i64; D]) -> R,
) -> Result<Fields, KernelDataError> {
    let n = case.extent("N", 3)?;
    let mut u = Grid::<R, D>::read(before, "u", [n; D])?;
    for _ in 0..case.steps.max(0) {
        let is_inside = |at: [i64; D]| at.iter().all(|i| (1..n as i64 - 1).contains(i));
        u = Grid::of([n; D], |at| if is_inside(at) { next(&u, at) } else { u[at] });
    }
    Ok(Fields::from([("u".to_owned(), u.field())]))
}

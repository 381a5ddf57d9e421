//! Solvers of Poisson's equation on a square, and what carries residuals and corrections between grids.
//!
//! The iteration of Gauss and Seidel is in place, red and black points need a row and two cells more, and Jacobi's a
//! row by rows and two grids where rows run in parallel. A restriction along both axes keeps three rows of the first.
//!
//! Source: Briggs, Henson, McCormick: A Multigrid Tutorial, 2000, chapters 2 and 3; Young, Trans. Amer. Math. Soc. 76,
//! 1954 (over-relaxation).

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells, hills};
use crate::grid::Grid;
use crate::real::Real;

/// Jacobi's iteration.
pub const JACOBI: Entry = solver::<f64>(
    "poisson-2d-jacobi",
    "Poisson's equation on a square, damped Jacobi iteration",
    || f64::parse(include_str!("../texts/poisson_2d_jacobi.crk")),
    &[("damping", 0.8)],
    naive_jacobi::<f64>,
);
/// The same in single precision.
pub const JACOBI_F32: Entry = solver::<f32>(
    "poisson-2d-jacobi-f32",
    "Poisson's equation on a square, damped Jacobi iteration, f32",
    || f32::parse(include_str!("../texts/poisson_2d_jacobi.crk")),
    &[("damping", 0.8)],
    naive_jacobi::<f32>,
);
/// Over-relaxation in the order of rows.
pub const GAUSS_SEIDEL: Entry = solver::<f64>(
    "poisson-2d-gauss-seidel",
    "Poisson's equation on a square, over-relaxation in the order of rows",
    || f64::parse(include_str!("../texts/poisson_2d_gauss_seidel.crk")),
    &[("omega", 1.5)],
    naive_gauss_seidel::<f64>,
);
/// The same in single precision.
pub const GAUSS_SEIDEL_F32: Entry = solver::<f32>(
    "poisson-2d-gauss-seidel-f32",
    "Poisson's equation on a square, over-relaxation in the order of rows, f32",
    || f32::parse(include_str!("../texts/poisson_2d_gauss_seidel.crk")),
    &[("omega", 1.5)],
    naive_gauss_seidel::<f32>,
);
/// Over-relaxation of red and black points.
pub const RED_BLACK: Entry = solver::<f64>(
    "poisson-2d-red-black",
    "Poisson's equation on a square, over-relaxation of red and black points",
    || f64::parse(include_str!("../texts/poisson_2d_red_black.crk")),
    &[("omega", 1.5)],
    naive_red_black::<f64>,
);
/// The same in single precision.
pub const RED_BLACK_F32: Entry = solver::<f32>(
    "poisson-2d-red-black-f32",
    "Poisson's equation on a square, over-relaxation of red and black points, f32",
    || f32::parse(include_str!("../texts/poisson_2d_red_black.crk")),
    &[("omega", 1.5)],
    naive_red_black::<f32>,
);
/// To a coarser grid.
pub const RESTRICTION: Entry = restriction::<f64>("restriction-2d", "to a grid of half as many points, full weighting");
/// The same in single precision.
pub const RESTRICTION_F32: Entry =
    restriction::<f32>("restriction-2d-f32", "to a grid of half as many points, full weighting, f32");
/// To a finer grid.
pub const PROLONGATION: Entry = prolongation::<f64>("prolongation-2d", "to a grid of twice as many points, bilinear");
/// The same in single precision.
pub const PROLONGATION_F32: Entry =
    prolongation::<f32>("prolongation-2d-f32", "to a grid of twice as many points, bilinear, f32");

type Definition = fn() -> Result<crease::Kernel, crease::kernel::KernelError>;
type Naive = fn(&Case, &Fields) -> Result<Fields, KernelDataError>;

const fn solver<R: Real>(
    name: &'static str,
    summary: &'static str,
    definition: Definition,
    scalars: &'static [(&'static str, f64)],
    naive: Naive,
) -> Entry {
    Entry {
        name,
        summary,
        source: "Briggs, Henson, McCormick 2000",
        definition,
        scalars,
        default: Preset { sizes: &[("N", 257)], steps: 100 },
        tests: &[Preset { sizes: &[("N", 13)], steps: 4 }, Preset { sizes: &[("N", 3)], steps: 2 }],
        benches: &[Preset { sizes: &[("N", 2049)], steps: 20 }],
        sites: |case| Ok(cells(&[case.extent("N", 3)?; 2])? as u64),
        initial: |case| {
            let shape = [case.extent("N", 3)?; 2];
            Ok([("u", hills(1, &shape)?), ("b", hills(2, &shape)?)]
                .map(|(name, field)| (name.to_owned(), field))
                .into())
        },
        naive,
        published: &[],
    }
}

const fn restriction<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Briggs, Henson, McCormick 2000, chapter 3",
        definition: || R::parse(include_str!("../texts/restriction_2d.crk")),
        scalars: &[],
        default: Preset { sizes: &[("N", 515)], steps: 0 },
        tests: &[Preset { sizes: &[("N", 11)], steps: 0 }, Preset { sizes: &[("N", 1)], steps: 0 }],
        benches: &[Preset { sizes: &[("N", 2049)], steps: 0 }],
        sites: |case| Ok(cells(&[case.extent("N", 1)?; 2])? as u64),
        initial: |case| {
            let fine = 2 * case.extent("N", 1)? + 1;
            Ok(Fields::from([("fine".to_owned(), hills(1, &[fine, fine])?)]))
        },
        naive: |case, initial| {
            let n = case.extent("N", 1)?;
            let fine = Grid::<R, 2>::read(initial, "fine", [2 * n + 1; 2])?;
            let weighted = |values: [R; 3]| R::of(0.25) * values[0] + R::of(0.5) * values[1] + R::of(0.25) * values[2];
            let half = Grid::of([2 * n + 1, n], |[y, x]| weighted([0, 1, 2].map(|d| fine[[y, 2 * x + d]])));
            let coarse = Grid::of([n, n], |[y, x]| weighted([0, 1, 2].map(|d| half[[2 * y + d, x]])));
            Ok(Fields::from([("coarse".to_owned(), coarse.field())]))
        },
        published: &[],
    }
}

const fn prolongation<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        definition: || R::parse(include_str!("../texts/prolongation_2d.crk")),
        tests: &[Preset { sizes: &[("N", 11)], steps: 0 }, Preset { sizes: &[("N", 2)], steps: 0 }],
        initial: |case| Ok(Fields::from([("coarse".to_owned(), hills(1, &[case.extent("N", 2)?; 2])?)])),
        naive: |case, initial| {
            let n = case.extent("N", 2)?;
            let coarse = Grid::<R, 2>::read(initial, "coarse", [n, n])?;
            let fine = Grid::of([2 * n - 1; 2], |[y, x]| {
                let at = |dy: i64, dx: i64| coarse[[y / 2 + dy, x / 2 + dx]];
                match (y % 2, x % 2) {
                    (0, 0) => at(0, 0),
                    (0, _) => R::of(0.5) * (at(0, 0) + at(0, 1)),
                    (_, 0) => R::of(0.5) * (at(0, 0) + at(1, 0)),
                    _ => R::of(0.25) * (at(0, 0) + at(0, 1) + (at(1, 0) + at(1, 1))),
                }
            });
            Ok(Fields::from([("fine".to_owned(), fine.field())]))
        },
        ..restriction::<R>(name, summary)
    }
}

/// The right-hand side, and the solution so far.
fn read<R: Real>(case: &Case, initial: &Fields) -> Result<(Grid<R, 2>, Grid<R, 2>), KernelDataError> {
    let shape = [case.extent("N", 3)?; 2];
    Ok((Grid::read(initial, "b", shape)?, Grid::read(initial, "u", shape)?))
}

fn solution<R: Real>(u: &Grid<R, 2>) -> Result<Fields, KernelDataError> {
    let field: Field = u.field();
    Ok(Fields::from([("u".to_owned(), field)]))
}

fn naive_jacobi<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let ((b, mut u), damping) = (read::<R>(case, initial)?, R::of(case.scalar("damping")?));
    for _ in 0..case.steps.max(0) {
        u = Grid::of([case.extent("N", 3)?; 2], |[y, x]| {
            let at = |y, x| u.or([y, x], R::default());
            let ring = at(y - 1, x) + at(y + 1, x) + (at(y, x - 1) + at(y, x + 1));
            u[[y, x]] + damping * (R::of(0.25) * (ring + b[[y, x]]) - u[[y, x]])
        });
    }
    solution(&u)
}

fn naive_gauss_seidel<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let ((b, mut u), omega) = (read::<R>(case, initial)?, R::of(case.scalar("omega")?));
    for _ in 0..case.steps.max(0) {
        for [y, x] in b.places() {
            let at = |y, x| u.or([y, x], R::default());
            let ring = at(y + 1, x) + at(y, x + 1) + b[[y, x]] + at(y - 1, x) + at(y, x - 1);
            u[[y, x]] = u[[y, x]] + omega * (R::of(0.25) * ring - u[[y, x]]);
        }
    }
    solution(&u)
}

fn naive_red_black<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let ((b, mut u), omega) = (read::<R>(case, initial)?, R::of(case.scalar("omega")?));
    let inside = 1..case.extent("N", 3)? as i64 - 1;
    for _ in 0..case.steps.max(0) {
        for colour in [0, 1] {
            let is_inside = |[y, x]: &[i64; 2]| inside.contains(y) && inside.contains(x);
            for [y, x] in b.places().filter(|place| is_inside(place) && (place[0] + place[1]) % 2 == colour) {
                let ring = u[[y - 1, x]] + u[[y + 1, x]] + (u[[y, x - 1]] + u[[y, x + 1]]) + b[[y, x]];
                u[[y, x]] = u[[y, x]] + omega * (R::of(0.25) * ring - u[[y, x]]);
            }
        }
    }
    solution(&u)
}

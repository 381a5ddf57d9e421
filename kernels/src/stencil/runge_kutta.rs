//! Methods of Runge and Kutta of two, three and four stages, for what moves along and spreads in a plane.
//!
//! Stages are temporary arrays. Pass by pass each takes a grid; fused, a stage follows the one before it by a row, so
//! that each takes three rows, and the state is read from memory once in a step. The classical method keeps states
//! instead of slopes: with `a`, `b` and `d` at the end of its stages, `u + (k1 + 2 k2 + 2 k3 + k4) / 6 = (a + 2 b + d -
//! u) / 3 + k4 / 6`.
//!
//! Source: Heun 1900 (two stages); Shu, Osher, J. Comput. Phys. 77, 1988, equation 2.18 (three); Kutta 1901 (four).

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Fields, KernelDataError, cells, hills};
use crate::grid::Grid;
use crate::real::Real;

/// Two stages.
pub const RK2: Entry = entry::<f64>(
    "transport-2d-rk2",
    "advection and diffusion in a plane, central differences, method of Heun",
    "Heun 1900",
    || f64::parse(include_str!("../texts/transport_2d_rk2.crk")),
    |case, initial| naive::<f64>(case, initial, heun),
);
/// The same in single precision.
pub const RK2_F32: Entry = entry::<f32>(
    "transport-2d-rk2-f32",
    "advection and diffusion in a plane, central differences, method of Heun, f32",
    "Heun 1900",
    || f32::parse(include_str!("../texts/transport_2d_rk2.crk")),
    |case, initial| naive::<f32>(case, initial, heun),
);
/// Three stages.
pub const RK3: Entry = entry::<f64>(
    "transport-2d-rk3",
    "advection and diffusion in a plane, central differences, SSP-RK3",
    "Shu, Osher 1988",
    || f64::parse(include_str!("../texts/transport_2d_rk3.crk")),
    |case, initial| naive::<f64>(case, initial, shu_osher),
);
/// The same in single precision.
pub const RK3_F32: Entry = entry::<f32>(
    "transport-2d-rk3-f32",
    "advection and diffusion in a plane, central differences, SSP-RK3, f32",
    "Shu, Osher 1988",
    || f32::parse(include_str!("../texts/transport_2d_rk3.crk")),
    |case, initial| naive::<f32>(case, initial, shu_osher),
);
/// Four stages.
pub const RK4: Entry = entry::<f64>(
    "transport-2d-rk4",
    "advection and diffusion in a plane, central differences, RK4",
    "Kutta 1901",
    || f64::parse(include_str!("../texts/transport_2d_rk4.crk")),
    |case, initial| naive::<f64>(case, initial, kutta),
);
/// The same in single precision.
pub const RK4_F32: Entry = entry::<f32>(
    "transport-2d-rk4-f32",
    "advection and diffusion in a plane, central differences, RK4, f32",
    "Kutta 1901",
    || f32::parse(include_str!("../texts/transport_2d_rk4.crk")),
    |case, initial| naive::<f32>(case, initial, kutta),
);

type Definition = fn() -> Result<crease::Kernel, crease::kernel::KernelError>;
type Naive = fn(&Case, &Fields) -> Result<Fields, KernelDataError>;
/// A step: from a grid, and what a grid changes by.
type Step<R> = fn(&Grid<R, 2>, [usize; 2], &dyn Fn(&Grid<R, 2>, [i64; 2]) -> R) -> Grid<R, 2>;

const fn entry<R: Real>(
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    definition: Definition,
    naive: Naive,
) -> Entry {
    Entry {
        name,
        summary,
        source,
        definition,
        scalars: &[("k", 0.1), ("wind_y", -0.1), ("wind_x", 0.15)],
        default: Preset { sizes: &[("NY", 201), ("NX", 310)], steps: 100 },
        tests: &[Preset { sizes: &[("NY", 9), ("NX", 13)], steps: 4 }],
        benches: &[Preset { sizes: &[("NY", 4001), ("NX", 4010)], steps: 20 }],
        sites: |case| Ok(cells(&shape(case)?)? as u64),
        initial: |case| Ok(Fields::from([("u".to_owned(), hills(1, &shape(case)?)?)])),
        naive,
        published: &[],
    }
}

fn shape(case: &Case) -> Result<[usize; 2], KernelDataError> {
    Ok([case.extent("NY", 3)?, case.extent("NX", 3)?])
}

fn naive<R: Real>(case: &Case, initial: &Fields, step: Step<R>) -> Result<Fields, KernelDataError> {
    let scalar = |name: &str| Ok(R::of(case.scalar(name)?));
    let (k, wind_y, wind_x, shape) = (scalar("k")?, scalar("wind_y")?, scalar("wind_x")?, shape(case)?);
    let change = |from: &Grid<R, 2>, [y, x]: [i64; 2]| {
        let at = |y, x| from.or([y, x], R::default());
        let [below, above, before, behind] = [at(y - 1, x), at(y + 1, x), at(y, x - 1), at(y, x + 1)];
        k * (below + above + (before + behind) - R::of(4.0) * at(y, x))
            - (wind_y * (above - below) + wind_x * (behind - before))
    };
    let mut u = Grid::<R, 2>::read(initial, "u", shape)?;
    for _ in 0..case.steps.max(0) {
        u = step(&u, shape, &change);
    }
    Ok(Fields::from([("u".to_owned(), u.field())]))
}

fn heun<R: Real>(u: &Grid<R, 2>, shape: [usize; 2], change: &dyn Fn(&Grid<R, 2>, [i64; 2]) -> R) -> Grid<R, 2> {
    let half = R::of(0.5);
    let a = Grid::of(shape, |at| u[at] + change(u, at));
    Grid::of(shape, |at| half * u[at] + half * (a[at] + change(&a, at)))
}

fn shu_osher<R: Real>(u: &Grid<R, 2>, shape: [usize; 2], change: &dyn Fn(&Grid<R, 2>, [i64; 2]) -> R) -> Grid<R, 2> {
    let number = R::of;
    let a = Grid::of(shape, |at| u[at] + change(u, at));
    let b = Grid::of(shape, |at| number(0.75) * u[at] + number(0.25) * (a[at] + change(&a, at)));
    Grid::of(shape, |at| number(1.0 / 3.0) * u[at] + number(2.0 / 3.0) * (b[at] + change(&b, at)))
}

fn kutta<R: Real>(u: &Grid<R, 2>, shape: [usize; 2], change: &dyn Fn(&Grid<R, 2>, [i64; 2]) -> R) -> Grid<R, 2> {
    let number = R::of;
    let a = Grid::of(shape, |at| u[at] + number(0.5) * change(u, at));
    let b = Grid::of(shape, |at| u[at] + number(0.5) * change(&a, at));
    let d = Grid::of(shape, |at| u[at] + change(&b, at));
    let sum = |at| a[at] + number(2.0) * b[at] + (d[at] - u[at]);
    Grid::of(shape, |at| number(1.0 / 3.0) * sum(at) + number(1.0 / 6.0) * change(&d, at))
}

//! What moves along: advection by donor cells, by fifth-order WENO and by Runge and Kutta's method, and Burgers'
//! equation.
//!
//! Stages of a Runge-Kutta step are temporary arrays: on a ring each takes a ring, or shares one with a stage that is
//! done, and the state stays in place.
//!
//! Source: Courant, Isaacson, Rees 1952 (donor cells); Jiang, Shu, J. Comput. Phys. 126, 1996, section 2 (WENO); Shu,
//! Osher, J. Comput. Phys. 77, 1988, equation 2.18 (stages); Godunov 1959, as in LeVeque, Finite Volume Methods for
//! Hyperbolic Problems, 2002, section 12.1 (Burgers).

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Fields, KernelDataError, cells, hills};
use crate::grid::Grid;
use crate::real::Real;

/// Donor cells on a torus.
pub const UPWIND: Entry = upwind::<f64>("advection-2d-upwind", "advection on a torus, donor cells");
/// The same in single precision.
pub const UPWIND_F32: Entry = upwind::<f32>("advection-2d-upwind-f32", "advection on a torus, donor cells, f32");
/// WENO on a ring.
pub const WENO5: Entry = ring::<f64>(
    "advection-1d-weno5",
    "advection on a ring, WENO of fifth order, SSP-RK3",
    "Jiang, Shu 1996; Shu, Osher 1988",
    || f64::parse(include_str!("../texts/advection_1d_weno5.crk")),
    |case, initial| stepped::<f64>(case, initial, weno_step),
);
/// The same in single precision.
pub const WENO5_F32: Entry = ring::<f32>(
    "advection-1d-weno5-f32",
    "advection on a ring, WENO of fifth order, SSP-RK3, f32",
    "Jiang, Shu 1996; Shu, Osher 1988",
    || f32::parse(include_str!("../texts/advection_1d_weno5.crk")),
    |case, initial| stepped::<f32>(case, initial, weno_step),
);
/// Runge and Kutta's method on a ring.
pub const RK4: Entry = ring::<f64>(
    "advection-1d-rk4",
    "advection on a ring, central differences of fourth order, RK4",
    "Kutta 1901",
    || f64::parse(include_str!("../texts/advection_1d_rk4.crk")),
    |case, initial| stepped::<f64>(case, initial, runge_kutta_step),
);
/// The same in single precision.
pub const RK4_F32: Entry = ring::<f32>(
    "advection-1d-rk4-f32",
    "advection on a ring, central differences of fourth order, RK4, f32",
    "Kutta 1901",
    || f32::parse(include_str!("../texts/advection_1d_rk4.crk")),
    |case, initial| stepped::<f32>(case, initial, runge_kutta_step),
);
/// Burgers' equation.
pub const BURGERS: Entry = ring::<f64>(
    "burgers-1d",
    "Burgers' equation without viscosity, Godunov's method",
    "Godunov 1959; LeVeque 2002",
    || f64::parse(include_str!("../texts/burgers_1d.crk")),
    |case, initial| stepped::<f64>(case, initial, godunov_step),
);
/// The same in single precision.
pub const BURGERS_F32: Entry = ring::<f32>(
    "burgers-1d-f32",
    "Burgers' equation without viscosity, Godunov's method, f32",
    "Godunov 1959; LeVeque 2002",
    || f32::parse(include_str!("../texts/burgers_1d.crk")),
    |case, initial| stepped::<f32>(case, initial, godunov_step),
);

type Definition = fn() -> Result<crease::Kernel, crease::kernel::KernelError>;
type Naive = fn(&Case, &Fields) -> Result<Fields, KernelDataError>;

const fn upwind<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Courant, Isaacson, Rees 1952",
        definition: || R::parse(include_str!("../texts/advection_2d_upwind.crk")),
        scalars: &[("wind_y", -0.25), ("wind_x", 0.5)],
        default: Preset { sizes: &[("NY", 201), ("NX", 310)], steps: 100 },
        tests: &[
            Preset { sizes: &[("NY", 9), ("NX", 13)], steps: 4 },
            Preset { sizes: &[("NY", 3), ("NX", 3)], steps: 2 },
        ],
        benches: &[Preset { sizes: &[("NY", 2001), ("NX", 2010)], steps: 50 }],
        sites: |case| Ok(cells(&case.extents(&["NY", "NX"], 3)?)? as u64),
        initial: |case| Ok(Fields::from([("u".to_owned(), hills(1, &case.extents(&["NY", "NX"], 3)?)?)])),
        naive: naive_upwind::<R>,
        published: &[],
    }
}

const fn ring<R: Real>(
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
        scalars: &[("c", 0.4)],
        default: Preset { sizes: &[("N", 10_001)], steps: 100 },
        tests: &[Preset { sizes: &[("N", 37)], steps: 4 }, Preset { sizes: &[("N", 6)], steps: 3 }],
        benches: &[Preset { sizes: &[("N", 1_000_001)], steps: 20 }],
        sites: |case| Ok(case.extent("N", 3)? as u64),
        initial: |case| Ok(Fields::from([("u".to_owned(), hills(1, &[case.extent("N", 6)?])?)])),
        naive,
        published: &[],
    }
}

fn smaller<R: Real>(a: R, b: R) -> R {
    if a < b { a } else { b }
}

fn larger<R: Real>(a: R, b: R) -> R {
    if a > b { a } else { b }
}

fn naive_upwind<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let shape = [case.extent("NY", 3)?, case.extent("NX", 3)?];
    let [along_y, along_x] = [R::of(case.scalar("wind_y")?), R::of(case.scalar("wind_x")?)];
    let flux = |c: R, low: R, high: R| larger(c, R::default()) * low + smaller(c, R::default()) * high;
    let mut u = Grid::<R, 2>::read(initial, "u", shape)?;
    for _ in 0..case.steps.max(0) {
        u = Grid::of(shape, |[y, x]| {
            let at = |y, x| u.around([y, x]);
            let here = at(y, x);
            let across = flux(along_y, here, at(y + 1, x)) - flux(along_y, at(y - 1, x), here);
            let along = flux(along_x, here, at(y, x + 1)) - flux(along_x, at(y, x - 1), here);
            here - across - along
        });
    }
    Ok(Fields::from([("u".to_owned(), u.field())]))
}

/// Steps of a line of cells; `step` is given Courant's number and all cells.
fn stepped<R: Real>(
    case: &Case,
    initial: &Fields,
    step: fn(R, &Grid<R, 1>, [usize; 1]) -> Grid<R, 1>,
) -> Result<Fields, KernelDataError> {
    let (shape, c) = ([case.extent("N", 3)?], R::of(case.scalar("c")?));
    let mut u = Grid::read(initial, "u", shape)?;
    for _ in 0..case.steps.max(0) {
        u = step(c, &u, shape);
    }
    Ok(Fields::from([("u".to_owned(), u.field())]))
}

fn weno_step<R: Real>(c: R, u: &Grid<R, 1>, shape: [usize; 1]) -> Grid<R, 1> {
    let number = R::of;
    let forward = |from: &Grid<R, 1>, x: i64| {
        let v: [R; 6] = std::array::from_fn(|d| from.around([x + d as i64 - 3]));
        v[3] - c * (face(&v[1..]) - face(&v))
    };
    let a = Grid::of(shape, |[x]| forward(u, x));
    let b = Grid::of(shape, |[x]| number(0.75) * u[[x]] + number(0.25) * forward(&a, x));
    Grid::of(shape, |[x]| number(1.0 / 3.0) * u[[x]] + number(2.0 * (1.0 / 3.0)) * forward(&b, x))
}

/// What leaves the third of five cells to the right.
fn face<R: Real>(v: &[R]) -> R {
    let n = R::of;
    let squared = |p: R| p * p;
    let share = |optimal: f64, bend: R, slope: R| {
        n(optimal) / squared(n(1e-6) + (n(13.0 / 12.0) * squared(bend) + n(0.25) * squared(slope)))
    };
    let [third, sixth, five] = [n(1.0 / 3.0), n(1.0 / 6.0), n(5.0 / 6.0)];
    let left = share(1.0 / 10.0, v[0] - n(2.0) * v[1] + v[2], v[0] - n(4.0) * v[1] + n(3.0) * v[2]);
    let middle = share(6.0 / 10.0, v[1] - n(2.0) * v[2] + v[3], v[1] - v[3]);
    let right = share(3.0 / 10.0, v[2] - n(2.0) * v[3] + v[4], n(3.0) * v[2] - n(4.0) * v[3] + v[4]);
    let weighted = left * (third * v[0] - n(7.0 / 6.0) * v[1] + n(11.0 / 6.0) * v[2])
        + middle * (five * v[2] - sixth * v[1] + third * v[3])
        + right * (third * v[2] + five * v[3] - sixth * v[4]);
    weighted / (left + middle + right)
}

fn runge_kutta_step<R: Real>(c: R, u: &Grid<R, 1>, shape: [usize; 1]) -> Grid<R, 1> {
    let n = R::of;
    let change = |value: &dyn Fn(i64) -> R, x: i64| {
        let far = n(0.083_333_333_333_333_33) * (value(x + 2) - value(x - 2));
        c * (far - n(0.666_666_666_666_666_6) * (value(x + 1) - value(x - 1)))
    };
    let half = |k: &Grid<R, 1>, x: i64| u.around([x]) + n(0.5) * k.around([x]);
    let k1 = Grid::of(shape, |[x]| change(&|x| u.around([x]), x));
    let k2 = Grid::of(shape, |[x]| change(&|x| half(&k1, x), x));
    let k3 = Grid::of(shape, |[x]| change(&|x| half(&k2, x), x));
    Grid::of(shape, |[x]| {
        let k4 = change(&|x| u.around([x]) + k3.around([x]), x);
        u[[x]] + (k1[[x]] + n(2.0) * k2[[x]] + n(2.0) * k3[[x]] + k4) / n(6.0)
    })
}

fn godunov_step<R: Real>(c: R, u: &Grid<R, 1>, shape: [usize; 1]) -> Grid<R, 1> {
    let flux = |low: R, high: R| {
        let (right, left) = (larger(low, R::default()), smaller(high, R::default()));
        R::of(0.5) * larger(right * right, left * left)
    };
    Grid::of(shape, |[x]| {
        let (low, here, high) = (u.nearest([x - 1]), u[[x]], u.nearest([x + 1]));
        here - c * (flux(here, high) - flux(low, here))
    })
}

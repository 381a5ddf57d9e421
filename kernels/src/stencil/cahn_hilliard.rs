//! Two substances that separate, on a torus: the equation of Cahn and Hilliard, explicit.
//!
//! The chemical potential is a stage of its own, of which a grid is alive; the concentration is in place.
//!
//! Source: Cahn, Hilliard, J. Chem. Phys. 28, 1958, equation 3.9 (with the free energy `(u^2 - 1)^2 / 4`).

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells, noise};
use crate::grid::Grid;
use crate::real::Real;

/// Separation on a torus.
pub const TORUS: Entry = entry::<f64>("cahn-hilliard-2d", "two substances that separate on a torus, explicit");
/// The same in single precision.
pub const TORUS_F32: Entry =
    entry::<f32>("cahn-hilliard-2d-f32", "two substances that separate on a torus, explicit, f32");

const fn entry<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Cahn, Hilliard 1958",
        definition: || R::parse(include_str!("../texts/cahn_hilliard_2d.crk")),
        scalars: &[("m", 0.05), ("e", 0.5)],
        default: Preset { sizes: &[("NY", 129), ("NX", 130)], steps: 1000 },
        tests: &[
            Preset { sizes: &[("NY", 9), ("NX", 13)], steps: 4 },
            Preset { sizes: &[("NY", 3), ("NX", 3)], steps: 2 },
        ],
        benches: &[Preset { sizes: &[("NY", 1001), ("NX", 1010)], steps: 100 }],
        sites: |case| Ok(cells(&extents(case)?)? as u64),
        initial: |case| {
            let shape = extents(case)?;
            cells(&shape)?;
            let mixed = Field::from_shape_fn(shape.to_vec(), |at| 0.1 * noise(1, &[at[0], at[1]]));
            Ok(Fields::from([("u".to_owned(), mixed)]))
        },
        naive: naive::<R>,
        published: &[],
    }
}

fn extents(case: &Case) -> Result<[usize; 2], KernelDataError> {
    Ok([case.extent("NY", 3)?, case.extent("NX", 3)?])
}

fn naive<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (shape, [m, e]) = (extents(case)?, [R::of(case.scalar("m")?), R::of(case.scalar("e")?)]);
    let bend = |grid: &Grid<R, 2>, y: i64, x: i64| {
        let at = |y, x| grid.around([y, x]);
        at(y - 1, x) + at(y + 1, x) + (at(y, x - 1) + at(y, x + 1)) - R::of(4.0) * at(y, x)
    };
    let mut u = Grid::read(initial, "u", shape)?;
    for _ in 0..case.steps.max(0) {
        let mu = Grid::of(shape, |[y, x]| {
            let w = u[[y, x]];
            w * w * w - w - e * bend(&u, y, x)
        });
        u = Grid::of(shape, |[y, x]| u[[y, x]] + m * bend(&mu, y, x));
    }
    Ok(Fields::from([("u".to_owned(), u.field())]))
}

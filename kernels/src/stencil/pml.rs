//! Maxwell's equations in the plane, open on all sides: Yee's scheme inside perfectly matched layers.
//!
//! Inside a layer each direction of slopes has losses of its own, electric and magnetic ones alike, so that waves enter
//! without being reflected, at any angle, and die out before the conductor behind it. The losses grow from 0 at the
//! inner edge; in the source's form, the field across the plane is two, one for each direction of slopes. Every field
//! is in place.
//!
//! Source: Berenger: A perfectly matched layer for the absorption of electromagnetic waves, J. Comput. Phys. 114, 1994
//! (split field, reflection at a right angle, grading by a power); losses are taken in the middle of a step, as in
//! Taflove, Hagness: Computational Electrodynamics, 2005, chapter 3.

use ndarray::{Dimension, IxDyn};

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells, hills};
use crate::grid::Grid;
use crate::real::Real;

/// The plane.
pub const PLANE: Entry =
    plane::<f64>("fdtd-2d-pml", "Maxwell's equations in a plane without borders, Yee's scheme, matched layers");
/// The same in single precision.
pub const PLANE_F32: Entry = plane::<f32>(
    "fdtd-2d-pml-f32",
    "Maxwell's equations in a plane without borders, Yee's scheme, matched layers, f32",
);

/// A layer around a box of points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// Distances between points that it is thick.
    pub thickness: usize,
    /// What is left of a wave that arrives at a right angle, goes through it and comes back: `R(0)` of the source.
    pub reflection: f64,
}

/// The losses grow with this power of the depth.
const GRADING: i32 = 3;

impl Layer {
    /// `1 / (1 + s/2)` at points along an axis of so many, the first one at `from`; `s` is the loss in a step.
    pub fn factors(self, points: usize, from: f64, extent: usize, courant: f64) -> Field {
        let thickness = self.thickness as f64;
        // The integral of the loss over the layer is `-ln R / 2`.
        let most = -self.reflection.ln() * f64::from(GRADING + 1) / (2.0 * thickness);
        Field::from_shape_fn(IxDyn(&[points]), |at| {
            let position = from + at[0] as f64;
            let depth = thickness - position.min(extent as f64 - 1.0 - position);
            let loss = most * (depth.max(0.0) / thickness).powi(GRADING);
            1.0 / (1.0 + 0.5 * courant * loss)
        })
    }

    /// All four inputs of the kernel for a box of points and a Courant number.
    pub fn inputs(self, [ny, nx]: [usize; 2], courant: f64) -> Fields {
        let along = |axis: &str, n: usize| {
            [
                (format!("r{axis}"), self.factors(n, 0.0, n, courant)),
                (format!("r{axis}_half"), self.factors(n - 1, 0.5, n, courant)),
            ]
        };
        along("y", ny).into_iter().chain(along("x", nx)).collect()
    }
}

const fn plane<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Berenger 1994; Yee 1966",
        definition: || R::parse(include_str!("../texts/fdtd_2d_pml.crk")),
        scalars: &[("c", 0.7)],
        default: Preset { sizes: &[("NY", 201), ("NX", 310)], steps: 100 },
        tests: &[Preset { sizes: &[("NY", 7), ("NX", 13)], steps: 3 }],
        benches: &[Preset { sizes: &[("NY", 2001), ("NX", 2010)], steps: 50 }],
        sites: |case| Ok(cells(&shape(case)?)? as u64),
        initial,
        naive: naive::<R>,
        published: &[],
    }
}

fn shape(case: &Case) -> Result<[usize; 2], KernelDataError> {
    Ok([case.extent("NY", 3)?, case.extent("NX", 3)?])
}

fn initial(case: &Case) -> Result<Fields, KernelDataError> {
    let [ny, nx] = shape(case)?;
    let inside = |mut field: Field| {
        let on_wall = |at: &[usize]| [0, ny - 1].contains(&at[0]) || [0, nx - 1].contains(&at[1]);
        field.indexed_iter_mut().filter(|(at, _)| on_wall(at.slice())).for_each(|(_, value)| *value = 0.0);
        field
    };
    let layer = Layer { thickness: ny.min(nx) / 3, reflection: 1e-4 };
    let mut fields = layer.inputs([ny, nx], case.scalar("c")?);
    let waves = [
        ("ex", inside(hills(1, &[ny, nx])?)),
        ("ey", inside(hills(2, &[ny, nx])?)),
        ("hx", hills(3, &[ny - 1, nx])?),
        ("hy", hills(4, &[ny, nx - 1])?),
    ];
    fields.extend(waves.map(|(name, field)| (name.to_owned(), field)));
    Ok(fields)
}

fn naive<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let ([ny, nx], c) = (shape(case)?, R::of(case.scalar("c")?));
    let line = |name: &str, n: usize| Grid::<R, 1>::read(initial, name, [n]);
    let (ry, rx) = (line("ry", ny)?, line("rx", nx)?);
    let (ry_half, rx_half) = (line("ry_half", ny - 1)?, line("rx_half", nx - 1)?);
    let grid = |name: &str, extents: [usize; 2]| Grid::<R, 2>::read(initial, name, extents);
    let (mut ex, mut ey) = (grid("ex", [ny, nx])?, grid("ey", [ny, nx])?);
    let (mut hx, mut hy) = (grid("hx", [ny - 1, nx])?, grid("hy", [ny, nx - 1])?);
    let kept = |r: R, value: R| (R::of(2.0) * r - R::of(1.0)) * value;
    for _ in 0..case.steps.max(0) {
        let e = |y: i64, x: i64| ex[[y, x]] + ey[[y, x]];
        hx = Grid::of([ny - 1, nx], |[y, x]| {
            kept(ry_half[[y]], hx[[y, x]]) - c * ry_half[[y]] * (e(y + 1, x) - e(y, x))
        });
        hy = Grid::of([ny, nx - 1], |[y, x]| {
            kept(rx_half[[x]], hy[[y, x]]) + c * rx_half[[x]] * (e(y, x + 1) - e(y, x))
        });
        let on_wall = |y: i64, x: i64| y == 0 || x == 0 || y == ny as i64 - 1 || x == nx as i64 - 1;
        let inside = |[y, x]: [i64; 2], value: &dyn Fn() -> R| if on_wall(y, x) { R::default() } else { value() };
        ex = Grid::of([ny, nx], |[y, x]| {
            inside([y, x], &|| kept(rx[[x]], ex[[y, x]]) + c * rx[[x]] * (hy[[y, x]] - hy[[y, x - 1]]))
        });
        ey = Grid::of([ny, nx], |[y, x]| {
            inside([y, x], &|| kept(ry[[y]], ey[[y, x]]) - c * ry[[y]] * (hx[[y, x]] - hx[[y - 1, x]]))
        });
    }
    let fields = [("ex", ex), ("ey", ey), ("hx", hx), ("hy", hy)];
    Ok(fields.map(|(name, grid)| (name.to_owned(), grid.field())).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_begin_at_the_inner_edge_and_add_up_to_the_reflection() {
        let layer = Layer { thickness: 40, reflection: 1e-3 };
        let factors = layer.factors(200, 0.0, 200, 0.5);
        assert!(factors[[40]] == 1.0 && factors[[100]] == 1.0 && factors[[159]] == 1.0 && factors[[39]] < 1.0);
        assert!((factors[[0]] - factors[[199]]).abs() < 1e-15);
        // The loss per distance is `s / c`; the trapezium rule adds up one side.
        let loss = |at: usize| 2.0 * (1.0 / factors[[at]] - 1.0) / 0.5;
        let total = (1..40).map(loss).sum::<f64>() + 0.5 * loss(0);
        assert!(((-2.0 * total).exp() / 1e-3 - 1.0).abs() < 0.01, "{total}");
    }
}

//! Walls between cells: what comes back from a wall is interpolated by where the wall cuts the link.
//!
//! Half-way bounce-back knows walls half a cell outside of cells, so that slanted and round ones are stairs. Here a
//! population that would come from beyond a wall at the distance `d`, in links from the cell, is, of those that left
//! cells in the step before, `2 d f_back + (1 - 2 d) f_behind` where `d < 1/2`, with the opposite one of this cell and
//! of the cell behind it, and else `(f_back + (2 d - 1) f_other) / (2 d)` with this cell's own one that leaves the
//! wall. A moving wall adds `6 w c u`, over `2 d` in the second case.
//!
//! Distances are data, so that every value may have three readers: the cell that it streams to, and its own cell twice.
//! The lattice is then not exactly one as with half-way walls, but one and a row or so for each population where rows
//! follow each other; where rows run in parallel most populations take two.
//!
//! Source: Bouzidi, Firdaouss, Lallemand: Momentum transfer of a Boltzmann-lattice fluid with boundaries, Phys. Fluids
//! 13, 2001 (linear interpolation, and moving walls).

use ndarray::{Dimension, IxDyn};

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells, noise};
use crate::grid::Grid;
use crate::lbm::fluid;
use crate::lbm::sites::{Set, advance, extents, fields, sum};
use crate::lbm::velocity_set::{Lattice, VelocitySet};
use crate::real::Real;

/// A box with walls anywhere.
pub const WALLS: Entry =
    walls::<f64>("lbm-d2q9-interpolated", "walls anywhere between cells, D2Q9 BGK, interpolated bounce-back");
/// The same in single precision.
pub const WALLS_F32: Entry =
    walls::<f32>("lbm-d2q9-interpolated-f32", "walls anywhere between cells, D2Q9 BGK, interpolated bounce-back, f32");

const SIZES: [&str; 2] = ["NY", "NX"];
/// The input with the speed of walls.
pub const SPEED: &str = "speed";

/// The input with the distances of walls along links to where a population comes from.
pub fn cut(q: usize) -> String {
    format!("cut{q}")
}

const fn walls<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Bouzidi, Firdaouss, Lallemand 2001",
        definition: || R::parse(include_str!("../texts/lbm_d2q9_interpolated.crk")),
        scalars: &[("omega", 1.6)],
        default: Preset { sizes: &[("NY", 101), ("NX", 310)], steps: 100 },
        tests: &[Preset { sizes: &[("NY", 7), ("NX", 13)], steps: 3 }],
        benches: &[Preset { sizes: &[("NY", 1001), ("NX", 1010)], steps: 50 }],
        sites: |case| Ok(cells(&extents(case, SIZES)?)? as u64),
        initial,
        naive: naive::<R>,
        published: &[],
    }
}

/// A vortex among walls that cut half of the links, each somewhere, and move as fast as the vortex turns.
fn initial(case: &Case) -> Result<Fields, KernelDataError> {
    let (set, shape) = (VelocitySet::new(Lattice::D2Q9), extents(case, SIZES)?);
    let mut fields = fluid::perturbed_vortex(&set, &shape)?;
    let random = |seed: usize| Field::from_shape_fn(IxDyn(&shape), |at| noise(seed as u64, at.slice()));
    fields.extend((0..set.len()).map(|q| (cut(q), random(q).mapv(|distance| distance.max(0.0)))));
    fields.insert(SPEED.to_owned(), random(20) * 0.05);
    Ok(fields)
}

fn naive<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (set, shape) = (Set::of(Lattice::D2Q9), extents(case, SIZES)?);
    let omega = R::of(case.scalar("omega")?);
    let cuts = (0..set.len()).map(|q| Grid::<R, 2>::read(initial, &cut(q), shape)).collect::<Result<Vec<_>, _>>()?;
    let speed = Grid::<R, 2>::read(initial, SPEED, shape)?;
    let (one, two, half) = (R::of(1.0), R::of(2.0), R::of(0.5));
    let last = advance(case.steps, set.read::<R>(initial, shape)?, |f, place| {
        let arriving = |q: usize| {
            let (d, back) = (cuts[q][place], f[set.opposite(q)][place]);
            if q == 0 || d <= R::default() {
                return f[q].around(set.upwind(q, place));
            }
            let drag = R::of(set.c[q][1] as f64 * (6.0 * set.w[q])) * speed[place];
            if d < half {
                let behind = f[set.opposite(q)].around(set.upwind(set.opposite(q), place));
                return two * d * back + (one - two * d) * behind + drag;
            }
            (back + (two * d - one) * f[q][place]) / (two * d) + drag / (two * d)
        };
        let g: Vec<R> = (0..set.len()).map(arriving).collect();
        let (rho, u) = set.flow(&g);
        let flat = one - R::of(1.5) * sum(u.iter().map(|&u| u * u));
        let relaxed = |q: usize| {
            let cu = set.along(q, &u);
            let equilibrium = R::of(set.w[q]) * rho * (flat + (R::of(3.0) + R::of(4.5) * cu) * cu);
            g[q] + omega * (equilibrium - g[q])
        };
        (0..set.len()).map(relaxed).collect()
    });
    Ok(fields(&last))
}

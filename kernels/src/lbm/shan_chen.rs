//! Two fluids that repel each other: a lattice each, and a force against the gradient of the other's density.
//!
//! The force reads the densities of neighbours, so that a step has two stages, and each population two readers: of the
//! temporary densities one grid each is alive, and of the populations a lattice and a row or two, as the second stage
//! may follow itself in place.
//!
//! Source: Shan, Chen: Lattice Boltzmann model for simulating flows with multiple phases and components, Phys. Rev. E
//! 47, 1993, equations 2 to 6.

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells, noise};
use crate::grid::Grid;
use crate::lbm::sites::{Set, advance, extents, sum};
use crate::lbm::velocity_set::Lattice;
use crate::real::Real;

/// Two fluids.
pub const TWO_FLUIDS: Entry =
    entry::<f64>("lbm-d2q9-shan-chen", "two fluids that repel each other, D2Q9 BGK, Shan-Chen");
/// The same in single precision.
pub const TWO_FLUIDS_F32: Entry =
    entry::<f32>("lbm-d2q9-shan-chen-f32", "two fluids that repel each other, D2Q9 BGK, Shan-Chen, f32");

const PLANE: [&str; 2] = ["NY", "NX"];

const fn entry<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Shan, Chen 1993",
        definition: || R::parse(include_str!("../texts/lbm_d2q9_shan_chen.crk")),
        scalars: &[("omega", 1.0), ("coupling", 0.9)],
        default: Preset { sizes: &[("NY", 65), ("NX", 66)], steps: 200 },
        tests: &[Preset { sizes: &[("NY", 5), ("NX", 9)], steps: 3 }],
        benches: &[Preset { sizes: &[("NY", 513), ("NX", 514)], steps: 100 }],
        sites: |case| Ok(cells(&extents(case, PLANE)?)? as u64),
        initial: |case| droplet(extents(case, PLANE)?, 0.25),
        naive: naive::<R>,
        published: &[],
    }
}

/// A droplet of the first fluid in the second one, at rest; its radius is a share of the smaller extent.
pub(crate) fn droplet(shape: [usize; 2], radius: f64) -> Result<Fields, KernelDataError> {
    cells(&shape)?;
    let set = Set::<2>::of(Lattice::D2Q9);
    let centred = |at: usize, extent: usize| at as f64 + 0.5 - extent as f64 / 2.0;
    let is_inside = |at: &[usize]| {
        centred(at[0], shape[0]).hypot(centred(at[1], shape[1])) < radius * shape[0].min(shape[1]) as f64
    };
    let population = |k: usize, q: usize| {
        Field::from_shape_fn(shape.to_vec(), |at| {
            let dense = is_inside(&[at[0], at[1]]) == (k == 0);
            set.w[q] * if dense { 2.0 } else { 0.1 } * (1.0 + 1e-3 * noise(k as u64, &[q, at[0], at[1]]))
        })
    };
    let all = (0..2).flat_map(|k| (0..set.len()).map(move |q| (k, q)));
    Ok(all.map(|(k, q)| (format!("f{k}_{q}"), population(k, q))).collect())
}

fn naive<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (set, shape, number) = (Set::<2>::of(Lattice::D2Q9), extents(case, PLANE)?, R::of);
    let [omega, coupling] = [R::of(case.scalar("omega")?), R::of(case.scalar("coupling")?)];
    let name = |at: usize| format!("f{}_{}", at / set.len(), at % set.len());
    let mut all = Vec::new();
    for at in 0..2 * set.len() {
        all.push(Grid::<R, 2>::read(initial, &name(at), shape)?);
    }
    for _ in 0..case.steps.max(0) {
        let density = |k: usize| {
            let f = &all[k * set.len()..][..set.len()];
            Grid::of(shape, |place| sum(set.around(f, place).into_iter()))
        };
        let n = [density(0), density(1)];
        all = advance(1, all, |all, place| {
            let g: Vec<R> = [0, 1].iter().flat_map(|k| set.around(&all[k * set.len()..][..set.len()], place)).collect();
            let both = |a: usize| {
                let moving = (0..g.len()).filter(|q| set.c[q % set.len()][a] != 0);
                sum(moving.map(|q| number(set.c[q % set.len()][a] as f64) * g[q])) / (n[0][place] + n[1][place])
            };
            let u = [both(0), both(1)];
            let leaving = |k: usize| {
                let away = |q: usize| n[1 - k].around([place[0] + set.c[q][0], place[1] + set.c[q][1]]);
                let there: Vec<R> = (0..set.len()).map(away).collect();
                let force = |a: usize| set.moment(&there, |q| set.w[q] * set.c[q][a] as f64);
                let v = [0, 1].map(|a| u[a] - coupling / omega * force(a));
                let g = &g[k * set.len()..][..set.len()];
                let leaving = |q: usize| g[q] - omega * (g[q] - set.equilibrium(q, n[k][place], &v));
                (0..set.len()).map(leaving).collect::<Vec<R>>()
            };
            [leaving(0), leaving(1)].concat()
        });
    }
    Ok(all.iter().enumerate().map(|(at, grid)| (name(at), grid.field())).collect())
}

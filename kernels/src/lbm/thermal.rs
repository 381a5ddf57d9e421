//! Convection between plates: a flow on one lattice, its temperature on a second one.
//!
//! The warm fluid is lifted (Boussinesq), the temperature is carried along. Both meet in the cell alone, so that every
//! value has one reader, and storage is one lattice of each.
//!
//! Source: Shan: Simulation of Rayleigh-Benard convection using a lattice Boltzmann method, Phys. Rev. E 55, 1997; Guo,
//! Zheng, Shi, Phys. Rev. E 65, 2002 (force); Krueger et al. 2017, section 8.5.2 (anti-bounce-back).

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells, noise};
use crate::grid::Grid;
use crate::lbm::sites::{Set, advance, extents, sum};
use crate::lbm::velocity_set::Lattice;
use crate::real::Real;

/// Convection.
pub const CONVECTION: Entry = entry::<f64>("lbm-thermal-convection", "Rayleigh-Benard convection, D2Q9 and D2Q5 BGK");
/// The same in single precision.
pub const CONVECTION_F32: Entry =
    entry::<f32>("lbm-thermal-convection-f32", "Rayleigh-Benard convection, D2Q9 and D2Q5 BGK, f32");

const PLANE: [&str; 2] = ["NY", "NX"];

const fn entry<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Shan 1997; Guo, Zheng, Shi 2002",
        definition: || R::parse(include_str!("../texts/lbm_thermal_convection.crk")),
        scalars: &[("omega", 1.7), ("omega_heat", 1.6), ("lift", 1e-4)],
        default: Preset { sizes: &[("NY", 50), ("NX", 101)], steps: 200 },
        tests: &[
            Preset { sizes: &[("NY", 6), ("NX", 11)], steps: 3 },
            Preset { sizes: &[("NY", 3), ("NX", 3)], steps: 2 },
        ],
        benches: &[Preset { sizes: &[("NY", 1025), ("NX", 1030)], steps: 100 }],
        sites: |case| Ok(cells(&extents(case, PLANE)?)? as u64),
        initial,
        naive: naive::<R>,
        published: &[],
    }
}

/// At rest, with a wave of temperature on the profile of a fluid that only conducts, and noise.
fn initial(case: &Case) -> Result<Fields, KernelDataError> {
    let shape = extents(case, PLANE)?;
    cells(&shape)?;
    let (flow, heat) = (Set::<2>::of(Lattice::D2Q9), Set::<2>::of(Lattice::D2Q5));
    let rest =
        |q: usize| Field::from_shape_fn(shape.to_vec(), |at| flow.w[q] * (1.0 + 1e-3 * noise(6, &[q, at[0], at[1]])));
    let warm = |q: usize| {
        Field::from_shape_fn(shape.to_vec(), |at| {
            let (height, along) = ((at[0] as f64 + 0.5) / shape[0] as f64, at[1] as f64 / shape[1] as f64);
            let wave = 0.05 * (std::f64::consts::PI * height).sin() * (std::f64::consts::TAU * along).cos();
            heat.w[q] * (0.5 - height + wave + 1e-3 * noise(7, &[q, at[0], at[1]]))
        })
    };
    let f = (0..flow.len()).map(|q| (format!("f{q}"), rest(q)));
    Ok(f.chain((0..heat.len()).map(|q| (format!("h{q}"), warm(q)))).collect())
}

fn naive<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (flow, heat) = (Set::<2>::of(Lattice::D2Q9), Set::<2>::of(Lattice::D2Q5));
    let (shape, number) = (extents(case, PLANE)?, R::of);
    let [omega, omega_heat, lift] = ["omega", "omega_heat", "lift"].map(|name| case.scalar(name).map(R::of));
    let (omega, omega_heat, lift) = (omega?, omega_heat?, lift?);
    let mut all = flow.read(initial, shape)?;
    for q in 0..heat.len() {
        all.push(Grid::read(initial, &format!("h{q}"), shape)?);
    }
    let last = advance(case.steps, all, |all, place| {
        let (f, h) = all.split_at(flow.len());
        let arriving = |grids: &[Grid<R, 2>], set: &Set<2>, q: usize, plate: &dyn Fn(usize, R, bool) -> R| {
            let [y, x] = set.upwind(q, place);
            let returned = || grids[set.opposite(q)][place];
            if grids[q].has([y, 0]) { grids[q].around([y, x]) } else { plate(q, returned(), y < 0) }
        };
        let solid = |_: usize, returned: R, _: bool| returned;
        let held = |q: usize, returned: R, below: bool| number(if below { heat.w[q] } else { -heat.w[q] }) - returned;
        let g: Vec<R> = (0..flow.len()).map(|q| arriving(f, &flow, q, &solid)).collect();
        let k: Vec<R> = (0..heat.len()).map(|q| arriving(h, &heat, q, &held)).collect();
        let (warmth, rho) = (sum(k.iter().copied()), sum(g.iter().copied()));
        let force = lift * warmth;
        let u = [(flow.momentum(&g, 0) + number(0.5) * force) / rho, flow.momentum(&g, 1) / rho];
        let push = (number(1.0) - number(0.5) * omega) * force;
        let pushed = |q: usize| {
            let c = number(flow.c[q][0] as f64);
            number(3.0 * flow.w[q]) * push * (number(3.0) * flow.along(q, &u) * c + c - u[0])
        };
        let moving = (0..flow.len()).map(|q| g[q] - omega * (g[q] - flow.equilibrium(q, rho, &u)) + pushed(q));
        let carried = |q: usize| number(heat.w[q]) * warmth * (number(1.0) + number(3.0) * heat.along(q, &u));
        moving.chain((0..heat.len()).map(|q| k[q] - omega_heat * (k[q] - carried(q)))).collect()
    });
    let name = |at: usize| if at < flow.len() { format!("f{at}") } else { format!("h{}", at - flow.len()) };
    Ok(last.iter().enumerate().map(|(at, grid)| (name(at), grid.field())).collect())
}

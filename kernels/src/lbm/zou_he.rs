//! A channel with the borders of Zou and He: the velocity is given where the flow enters, the density where it leaves.
//!
//! The unknown populations at both ends follow from those that arrive at the same cell, and what bounces back from the
//! walls: no value gets a second reader, and storage is one lattice.
//!
//! Source: Zou, He: On pressure and velocity boundary conditions for the lattice Boltzmann BGK model, Phys. Fluids 9,
//! 1997, section II.

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Fields, KernelDataError, cells};
use crate::grid::Grid;
use crate::lbm::channel::parabola;
use crate::lbm::fluid;
use crate::lbm::inflow::INFLOW;
use crate::lbm::sites::{Set, advance, extents, fields};
use crate::lbm::velocity_set::{Lattice, VelocitySet};
use crate::real::Real;

/// The channel.
pub const CHANNEL: Entry =
    entry::<f64>("lbm-d2q9-channel-zou-he", "channel, D2Q9 BGK, velocity inlet and pressure outlet");
/// The same in single precision.
pub const CHANNEL_F32: Entry =
    entry::<f32>("lbm-d2q9-channel-zou-he-f32", "channel, D2Q9 BGK, velocity inlet and pressure outlet, f32");

const PLANE: [&str; 2] = ["NY", "NX"];

pub(super) const fn entry<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Zou, He 1997; Ladd 1994",
        definition: || R::parse(include_str!("../texts/lbm_d2q9_channel_zou_he.crk")),
        scalars: &[("omega", 1.25), ("u_mean", 0.04)],
        default: Preset { sizes: &[("NY", 33), ("NX", 130)], steps: 100 },
        tests: &[
            Preset { sizes: &[("NY", 7), ("NX", 11)], steps: 3 },
            Preset { sizes: &[("NY", 3), ("NX", 3)], steps: 2 },
        ],
        benches: &[Preset { sizes: &[("NY", 1025), ("NX", 1030)], steps: 100 }],
        sites: |case| Ok(cells(&extents(case, PLANE)?)? as u64),
        initial,
        naive: naive::<R>,
        published: &[],
    }
}

/// A developed flow, off by up to a thousandth, and its profile with mean 1.
fn initial(case: &Case) -> Result<Fields, KernelDataError> {
    let (shape, u_mean) = (extents(case, PLANE)?, case.scalar("u_mean")?);
    let set = VelocitySet::new(Lattice::D2Q9);
    set.sites(&shape)?;
    let inflow = parabola(&shape[..1]);
    let mut fields = fluid::populations(&set, &shape, |site| vec![0.0, u_mean * inflow[site[0]]])?;
    fluid::perturb(&set, &mut fields, 4);
    fields.insert(INFLOW.to_owned(), inflow);
    Ok(fields)
}

fn naive<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (set, shape) = (Set::of(Lattice::D2Q9), extents(case, PLANE)?);
    let [omega, u_mean] = [R::of(case.scalar("omega")?), R::of(case.scalar("u_mean")?)];
    let inflow = Grid::<R, 1>::read(initial, INFLOW, [shape[0]])?;
    let (number, last) = (R::of, shape[1] as i64 - 1);
    let last = advance(case.steps, set.read::<R>(initial, shape)?, |f, place| {
        let [y, x] = place;
        let returned = |q: usize| f[set.opposite(q)][place];
        // Walls count first, so that this is all but what enters at the ends.
        let known = |q: usize| {
            let from = set.upwind(q, place);
            if f[q].has(from) { f[q][from] } else { returned(q) }
        };
        let resting = || known(0) + known(3) + known(4);
        let across = |q: usize| match set.c[q][0] {
            0 => R::default(),
            c => number(0.5 * c as f64) * (known(3) - known(4)),
        };
        let entering = |q: usize| {
            let from_wall = !f[q].has([y - set.c[q][0], x]);
            match set.c[q][1] {
                1 if x == 0 && !from_wall => {
                    let speed = u_mean * inflow[[y]];
                    let leaving = number(2.0) * (known(2) + known(5) + known(8));
                    let density = (resting() + leaving) / (number(1.0) - speed);
                    known(set.opposite(q)) + number(6.0 * set.w[q]) * (density * speed) - across(q)
                }
                -1 if x == last && !from_wall => {
                    let leaving = number(2.0) * (known(1) + known(6) + known(7));
                    let outflow = resting() + leaving - number(1.0);
                    known(set.opposite(q)) - number(6.0 * set.w[q]) * outflow - across(q)
                }
                _ => known(q),
            }
        };
        let g: Vec<R> = (0..set.len()).map(entering).collect();
        let (rho, u) = set.flow(&g);
        (0..set.len()).map(|q| g[q] - omega * (g[q] - set.equilibrium(q, rho, &u))).collect()
    });
    Ok(fields(&last))
}

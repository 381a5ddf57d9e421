//! A channel past an obstacle whose surface lies between cells: where a link is cut, what comes back is interpolated.
//!
//! Inlet and outlet are those of `channel`. At the obstacle, a population that comes back is the one that left for it,
//! and `(1 - 2 d) / (1 + 2 d)` times what the one behind that has more than the one that left in the other direction,
//! with the distance `d` of the surface: one formula for all distances, and as many readers as those of `interpolated`,
//! so that storage is one lattice and a row or so for each population where rows follow each other. Even and odd parts
//! relax at rates of their own: with BGK the place of the surface would depend on the viscosity.
//!
//! Source: Ginzburg, Verhaeghe, d'Humieres, Commun. Comput. Phys. 3, 2008 (collision, and central linear
//! interpolation); Ladd, J. Fluid Mech. 271, 1994 (inlet); Mohamad, Succi, Eur. Phys. J. Special Topics 171, 2009
//! (outlet).

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Fields, KernelDataError, cells};
use crate::grid::Grid;
use crate::lbm::channel::parabola;
use crate::lbm::fluid;
use crate::lbm::inflow::INFLOW;
use crate::lbm::interpolated::cut;
use crate::lbm::obstacle::Cylinder;
use crate::lbm::sites::{Set, advance, extents, fields};
use crate::lbm::velocity_set::{Lattice, VelocitySet};
use crate::real::Real;

/// The channel.
pub const CYLINDER: Entry = cylinder::<f64>(
    "lbm-d2q9-cylinder-interpolated",
    "vortices behind a round cylinder in a channel, D2Q9 TRT, interpolated bounce-back",
);
/// The same in single precision.
pub const CYLINDER_F32: Entry = cylinder::<f32>(
    "lbm-d2q9-cylinder-interpolated-f32",
    "vortices behind a round cylinder in a channel, D2Q9 TRT, interpolated bounce-back, f32",
);

const SIZES: [&str; 2] = ["NY", "NX"];

const fn cylinder<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Schaefer, Turek 1996; Ginzburg, Verhaeghe, d'Humieres 2008",
        definition: || R::parse(include_str!("../texts/lbm_d2q9_cylinder_interpolated.crk")),
        // A Reynolds number of 100 at the default size, and walls half-way between cells.
        scalars: &[("omega_even", 100.0 / 53.0), ("omega_odd", 4.0 / 27.0), ("u_mean", 0.05)],
        default: Preset { sizes: &[("NY", 82), ("NX", 440)], steps: 100 },
        tests: &[
            Preset { sizes: &[("NY", 9), ("NX", 14)], steps: 3 },
            Preset { sizes: &[("NY", 3), ("NX", 3)], steps: 2 },
        ],
        benches: &[Preset { sizes: &[("NY", 405), ("NX", 2010)], steps: 50 }],
        sites: |case| Ok(cells(&extents(case, SIZES)?)? as u64),
        initial,
        naive: naive::<R>,
        published: &[],
    }
}

/// A developed flow around the cylinder of the benchmark, off by up to a thousandth, its profile and the cut links.
fn initial(case: &Case) -> Result<Fields, KernelDataError> {
    let (set, shape, u_mean) = (VelocitySet::new(Lattice::D2Q9), extents(case, SIZES)?, case.scalar("u_mean")?);
    set.sites(&shape)?;
    let inflow = parabola(&shape[..1]);
    let obstacle = Cylinder::in_channel(shape[0]);
    let solid = obstacle.mask(&shape);
    let mut fields =
        fluid::populations(&set, &shape, |site| vec![0.0, u_mean * inflow[site[0]] * (1.0 - solid[site])])?;
    fluid::perturb(&set, &mut fields, 4);
    let cuts = (0..set.len()).map(|q| (cut(q), obstacle.cuts(&shape, [set.velocity(q)[0], set.velocity(q)[1]])));
    fields.extend(cuts);
    fields.insert(INFLOW.to_owned(), inflow);
    Ok(fields)
}

/// What comes back along a link that is cut at the distance `d`: of what left for the obstacle, of what did so behind
/// that, and of what left in the other direction.
pub(crate) fn bounced<R: Real>(d: R, back: R, behind: R, other: R) -> R {
    let (one, two) = (R::of(1.0), R::of(2.0));
    back + (one - two * d) / (one + two * d) * (behind - other)
}

fn naive<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (set, shape, number) = (Set::of(Lattice::D2Q9), extents(case, SIZES)?, R::of);
    let scalar = |name: &str| Ok(R::of(case.scalar(name)?));
    let (omega_even, omega_odd, u_mean) = (scalar("omega_even")?, scalar("omega_odd")?, scalar("u_mean")?);
    let inflow = Grid::<R, 1>::read(initial, INFLOW, [shape[0]])?;
    let cuts = (0..set.len()).map(|q| Grid::<R, 2>::read(initial, &cut(q), shape)).collect::<Result<Vec<_>, _>>()?;
    let last = advance(case.steps, set.read::<R>(initial, shape)?, |f, place| {
        let [y, x] = place;
        let returned = |q: usize| f[set.opposite(q)][place];
        // Walls count first, so that this is all but what enters at the ends.
        let known = |q: usize| {
            let from = set.upwind(q, place);
            if f[q].has(from) { f[q][from] } else { returned(q) }
        };
        let from_outlet = |q: usize| {
            let leaving = number(2.0) * (known(1) + known(6) + known(7));
            let along = known(0) + known(3) + known(4) + leaving - number(1.0);
            let across = number(1.2) * (known(3) + known(7) - (known(4) + known(6)));
            let e = number(set.c[q][1] as f64) * along;
            let e = if set.c[q][0] == 0 { e + R::default() } else { e + number(set.c[q][0] as f64) * across };
            let square = along * along + across * across;
            number(set.w[q]) * (number(1.0) + (number(3.0) + number(4.5) * e) * e - number(1.5) * square)
        };
        let arriving = |q: usize| {
            let is_between_walls = f[q].has([y - set.c[q][0], x]);
            if !is_between_walls || f[q].has(set.upwind(q, place)) {
                known(q)
            } else if set.c[q][1] > 0 {
                returned(q) + number(6.0 * set.w[q]) * (u_mean * inflow[[y]])
            } else {
                from_outlet(q)
            }
        };
        let g: Vec<R> = (0..set.len())
            .map(|q| match cuts[q][place] {
                _ if q == 0 => f[0][place],
                d if d > R::default() => bounced(d, returned(q), arriving(set.opposite(q)), f[q][place]),
                _ => arriving(q),
            })
            .collect();
        let (rho, u) = set.flow(&g);
        let square = u[0] * u[0] + u[1] * u[1];
        let even_equilibrium = |q: usize| {
            let cu = set.along(q, &u);
            number(set.w[q]) * rho * (number(1.0) + number(4.5) * cu * cu - number(1.5) * square)
        };
        let mut leaving = vec![g[0] - omega_even * (g[0] - even_equilibrium(0))];
        for q in (1..set.len()).step_by(2) {
            let even = omega_even * (number(0.5) * (g[q] + g[q + 1]) - even_equilibrium(q));
            let odd_equilibrium = number(3.0 * set.w[q]) * rho * set.along(q, &u);
            let odd = omega_odd * (number(0.5) * (g[q] - g[q + 1]) - odd_equilibrium);
            leaving.extend([g[q] - even - odd, g[q + 1] - even + odd]);
        }
        leaving
    });
    Ok(fields(&last))
}

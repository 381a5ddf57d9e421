//! Two relaxation times: even and odd parts of opposite populations relax at rates of their own, and where walls are
//! does not depend on the viscosity.
//!
//! With `(1/omega_even - 1/2) (1/omega_odd - 1/2) = 3/16` half-way bounce-back puts a wall exactly half-way between
//! cells, so that the profiles of Poiseuille and Couette are exact. The viscosity is that of `omega_even`, and the
//! force is Guo's. Every value has one reader: storage is one lattice, whatever the mask says.
//!
//! Source: Ginzburg, Verhaeghe, d'Humieres: Two-relaxation-time lattice Boltzmann scheme, Commun. Comput. Phys. 3, 2008;
//! Guo, Zheng, Shi, Phys. Rev. E 65, 2002, equation 20 (force).

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells};
use crate::lbm::fluid;
use crate::lbm::inflow::SOLID;
use crate::lbm::sites::{Set, advance, extents, fields, sum};
use crate::lbm::velocity_set::{Lattice, VelocitySet};
use crate::real::Real;

/// Flow between plates, in the plane.
pub const PLATES: Entry =
    plates::<f64>("lbm-d2q9-plates-trt", "flow between plates, D2Q9 TRT, a force and a moving plate");
/// The same in single precision.
pub const PLATES_F32: Entry =
    plates::<f32>("lbm-d2q9-plates-trt-f32", "flow between plates, D2Q9 TRT, a force and a moving plate, f32");
/// A channel in space.
pub const CHANNEL: Entry =
    channel::<f64>("lbm-d3q19-channel-trt", "flow past solid cells, D3Q19 TRT, a force, periodic sides");
/// The same in single precision.
pub const CHANNEL_F32: Entry =
    channel::<f32>("lbm-d3q19-channel-trt-f32", "flow past solid cells, D3Q19 TRT, a force, periodic sides, f32");

const SOURCE: &str = "Ginzburg, Verhaeghe, d'Humieres 2008; Guo, Zheng, Shi 2002";
const PLANE: [&str; 2] = ["NY", "NX"];
const SPACE: [&str; 3] = ["NZ", "NY", "NX"];

const fn plates<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: SOURCE,
        definition: || R::parse(include_str!("../texts/lbm_d2q9_plates_trt.crk")),
        scalars: &[("omega_even", 1.0), ("omega_odd", 8.0 / 7.0), ("force", 1e-5), ("u_plate", 0.02)],
        default: Preset { sizes: &[("NY", 65), ("NX", 130)], steps: 100 },
        tests: &[
            Preset { sizes: &[("NY", 7), ("NX", 11)], steps: 3 },
            Preset { sizes: &[("NY", 3), ("NX", 3)], steps: 2 },
        ],
        benches: &[Preset { sizes: &[("NY", 1025), ("NX", 1030)], steps: 100 }],
        sites: |case| Ok(cells(&extents(case, PLANE)?)? as u64),
        initial: |case| fluid::perturbed_vortex(&VelocitySet::new(Lattice::D2Q9), &extents(case, PLANE)?),
        naive: naive_plates::<R>,
        published: &[],
    }
}

const fn channel<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: SOURCE,
        definition: || R::parse(include_str!("../texts/lbm_d3q19_channel_trt.crk")),
        scalars: &[("omega_even", 1.0), ("omega_odd", 8.0 / 7.0), ("force", 1e-5)],
        default: Preset { sizes: &[("NZ", 24), ("NY", 25), ("NX", 50)], steps: 20 },
        tests: &[Preset { sizes: &[("NZ", 3), ("NY", 4), ("NX", 9)], steps: 3 }],
        benches: &[Preset { sizes: &[("NZ", 100), ("NY", 101), ("NX", 202)], steps: 20 }],
        sites: |case| Ok(cells(&extents(case, SPACE)?)? as u64),
        initial: |case| {
            let shape = extents(case, SPACE)?;
            let mut fields = fluid::perturbed_vortex(&VelocitySet::new(Lattice::D3Q19), &shape)?;
            fields.insert(SOLID.to_owned(), walls(shape));
            Ok(fields)
        },
        naive: naive_channel::<R>,
        published: &[],
    }
}

/// Solid are the planes of the first and the last `z`, and a cube in the middle.
fn walls(shape: [usize; 3]) -> Field {
    let is_middle = |at: usize, extent: usize| (3 * extent / 8..extent.div_ceil(2)).contains(&at);
    Field::from_shape_fn(shape.to_vec(), |at| {
        let is_wall = at[0] == 0 || at[0] == shape[0] - 1;
        let is_obstacle = (0..3).all(|axis| is_middle(at[axis], shape[axis]));
        if is_wall || is_obstacle { 1.0 } else { 0.0 }
    })
}

/// Both rates and the force along the last axis.
struct Collision<R> {
    even: R,
    odd: R,
    force: R,
}

impl<R: Real> Collision<R> {
    fn of(case: &Case) -> Result<Collision<R>, KernelDataError> {
        let scalar = |name: &str| Ok(R::of(case.scalar(name)?));
        Ok(Collision { even: scalar("omega_even")?, odd: scalar("omega_odd")?, force: scalar("force")? })
    }

    fn leaving<const D: usize>(&self, set: &Set<D>, g: &[R]) -> Vec<R> {
        let number = R::of;
        let rho = sum(g.iter().copied());
        let u: [R; D] = std::array::from_fn(|a| {
            let j = set.momentum(g, a);
            if a == D - 1 { (j + number(0.5) * self.force) / rho } else { j / rho }
        });
        let square = sum(u.iter().map(|&u| u * u));
        let weight = |q: usize| number(3.0 * set.w[q]);
        let driven = |q: usize| number(set.c[q][D - 1] as f64) * self.force;
        let even_equilibrium = |q: usize| {
            let cu = set.along(q, &u);
            number(set.w[q]) * rho * (number(1.0) + number(4.5) * cu * cu - number(1.5) * square)
        };
        let even_force = |q: usize| weight(q) * (number(3.0) * set.along(q, &u) * driven(q) - self.force * u[D - 1]);
        let [even_share, odd_share] = [self.even, self.odd].map(|omega| number(1.0) - number(0.5) * omega);
        let mut leaving = vec![g[0] - self.even * (g[0] - even_equilibrium(0)) + even_share * even_force(0)];
        for q in (1..set.len()).step_by(2) {
            let even = self.even * (number(0.5) * (g[q] + g[q + 1]) - even_equilibrium(q)) - even_share * even_force(q);
            let odd_equilibrium = weight(q) * rho * set.along(q, &u);
            let odd =
                self.odd * (number(0.5) * (g[q] - g[q + 1]) - odd_equilibrium) - odd_share * (weight(q) * driven(q));
            leaving.extend([g[q] - even - odd, g[q + 1] - even + odd]);
        }
        leaving
    }
}

fn naive_plates<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (set, collision, shape) = (Set::of(Lattice::D2Q9), Collision::<R>::of(case)?, extents(case, PLANE)?);
    let plate = R::of(case.scalar("u_plate")?);
    let last = advance(case.steps, set.read::<R>(initial, shape)?, |f, place| {
        let arriving = |q: usize| {
            let [y, x] = set.upwind(q, place);
            if f[q].has([y, 0]) {
                return f[q].around([y, x]);
            }
            let returned = f[set.opposite(q)][place];
            match set.c[q][1] {
                c if y > 0 && c != 0 => returned + R::of(c as f64) * (R::of(6.0 * set.w[q]) * plate),
                _ => returned,
            }
        };
        collision.leaving(&set, &(0..set.len()).map(arriving).collect::<Vec<_>>())
    });
    Ok(fields(&last))
}

fn naive_channel<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (set, collision, shape) = (Set::of(Lattice::D3Q19), Collision::<R>::of(case)?, extents(case, SPACE)?);
    let solid = crate::grid::Grid::<f64, 3>::read(initial, SOLID, shape)?;
    let last = advance(case.steps, set.read::<R>(initial, shape)?, |f, place| {
        let g = set.around(f, place);
        match solid[place] {
            0.0 => collision.leaving(&set, &g),
            _ => (0..set.len()).map(|q| g[set.opposite(q)]).collect(),
        }
    });
    Ok(fields(&last))
}

//! Two relaxation times: even and odd parts of opposite populations relax at rates of their own, and where walls are
//! does not depend on the viscosity.
//!
//! With `(1/omega_even - 1/2) (1/omega_odd - 1/2) = 3/16` half-way bounce-back puts a wall exactly half-way between
//! cells, so that the profiles of Poiseuille and Couette are exact. The viscosity is that of `omega_even`, and the
//! force is Guo's, which the equilibrium takes in: `w omega_even (rho - work / rho)` and a square of `c.j` are the even
//! half of what leaves. Every value has one reader: storage is one lattice, whatever the mask says.
//!
//! Source: Ginzburg, Verhaeghe, d'Humieres: Two-relaxation-time lattice Boltzmann scheme, Commun. Comput. Phys. 3,
//! 2008; Guo, Zheng, Shi, Phys. Rev. E 65, 2002, equation 20 (force).

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
        let (number, last) = (R::of, D - 1);
        let (half, fused) = (number(0.5), |factor: f64, a: R, b: R| number(factor).fma(a, b));
        let pairs = (1..set.len()).step_by(2);
        let (s, d): (Vec<R>, Vec<R>) = pairs.clone().map(|q| (g[q] + g[q + 1], g[q] - g[q + 1])).unzip();
        let around = |a: usize| s[a] + sum(s[D + last * a..D + last * (a + 1)].iter().copied());
        let rho = g[0] + sum((0..D).map(around));
        let inverse = number(1.0) / rho;
        let mut j: [R; D] = std::array::from_fn(|a| {
            let moving = pairs.clone().zip(&d).filter(|(q, _)| set.c[*q][a] != 0);
            sum(moving.map(|(q, &d)| number(set.c[q][a] as f64) * d))
        });
        j[last] = half.fma(self.force, j[last]);
        let three_halves = number(1.5) * self.even;
        let even_push = number(3.0) - three_halves;
        let odd_push = fused(-1.5, self.odd, number(3.0)) * self.force;
        let curve = number(4.5) * self.even * inverse;
        let lean = number(3.0) * even_push * self.force * inverse;
        let square = j[..last].iter().fold(R::default(), |sum, &j| j.fma(j, sum));
        let work = three_halves.fma(j[last].fma(j[last], square), even_push * self.force * j[last]);
        let shared = (-inverse).fma(work, self.even * rho);
        let (keep_even, keep_odd) = (fused(-0.5, self.even, half), fused(-0.5, self.odd, half));
        let mut leaving = vec![fused(set.w[0], shared, (number(1.0) - self.even) * g[0])];
        for (p, q) in pairs.enumerate() {
            let (w, along) = (set.w[q], set.along(q, &j));
            let (curve, slope) = (number(w) * curve, number(3.0 * w) * self.odd);
            let (bend, odd) = match set.c[q][last] {
                0 => (curve * along, slope.fma(along, keep_odd * d[p])),
                c => {
                    let downstream = |push: R| number(c as f64) * (number(w) * push);
                    (curve.fma(along, downstream(lean)), keep_odd.fma(d[p], slope.fma(along, downstream(odd_push))))
                }
            };
            let even = keep_even.fma(s[p], bend.fma(along, number(w) * shared));
            leaving.extend([even + odd, even - odd]);
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

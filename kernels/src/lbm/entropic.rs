//! An entropic collision: how what is no stress relaxes is not a constant, but what makes the entropy largest.
//!
//! What is off the equilibrium has a part with the deviators of the stress, which relaxes with the viscosity, and a
//! rest. How far the rest goes follows from products of both parts, each over the equilibrium: to second order, the
//! entropy after the collision is then the largest that this stress allows, without a search for a root. Where flows
//! are smooth it is about as far as by BGK, where cells are too large for them it is what keeps them finite. The
//! equilibrium is the one of the entropy, whose populations are products of shares along both axes. Every value has one
//! reader: storage is one lattice.
//!
//! Source: Karlin, Boesch, Chikatamarla: Gibbs' principle for the lattice-kinetic theory of fluid dynamics, Phys. Rev.
//! E 90, 031302(R), 2014 (deviators as the stress); Ansumali, Karlin, Oettinger: Minimal entropic kinetic models for
//! hydrodynamics, Europhys. Lett. 63, 2003 (equilibrium, whose shares along an axis are `(p + e u) / 2` and `1 - p`,
//! with `p = (2 sqrt(1 + 3 u^2) - 1) / 3`).

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Fields, KernelDataError, cells};
use crate::lbm::fluid;
use crate::lbm::sites::{Set, advance, extents, fields, sum};
use crate::lbm::velocity_set::{Lattice, VelocitySet};
use crate::real::Real;

/// A periodic box.
pub const PERIODIC: Entry =
    periodic::<f64>("lbm-d2q9-periodic-entropic", "decaying vortices in a periodic box, D2Q9, entropic");
/// The same in single precision.
pub const PERIODIC_F32: Entry =
    periodic::<f32>("lbm-d2q9-periodic-entropic-f32", "decaying vortices in a periodic box, D2Q9, entropic, f32");

const PLANE: [&str; 2] = ["NY", "NX"];

const fn periodic<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Karlin, Boesch, Chikatamarla 2014",
        definition: || R::parse(include_str!("../texts/lbm_d2q9_periodic_entropic.crk")),
        scalars: &[("omega", 1.98)],
        default: Preset { sizes: &[("NY", 129), ("NX", 130)], steps: 100 },
        tests: &[
            Preset { sizes: &[("NY", 7), ("NX", 11)], steps: 3 },
            Preset { sizes: &[("NY", 3), ("NX", 3)], steps: 2 },
        ],
        benches: &[Preset { sizes: &[("NY", 1025), ("NX", 1030)], steps: 100 }],
        sites: |case| Ok(cells(&extents(case, PLANE)?)? as u64),
        initial: |case| fluid::perturbed_vortex(&VelocitySet::new(Lattice::D2Q9), &extents(case, PLANE)?),
        naive: naive::<R>,
        published: &[],
    }
}

fn naive<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (set, shape, omega) = (Set::of(Lattice::D2Q9), extents(case, PLANE)?, R::of(case.scalar("omega")?));
    let last =
        advance(case.steps, set.read::<R>(initial, shape)?, |f, place| collide(&set, omega, &set.around(f, place)));
    Ok(fields(&last))
}

/// The shares of what moves back, rests and moves forward along an axis at a velocity.
fn shares<R: Real>(u: R) -> [R; 3] {
    let number = R::of;
    let bulge = number(2.0 / 3.0) * (number(1.0) + number(3.0) * (u * u)).root() - number(1.0 / 3.0);
    [number(0.5) * (bulge - u), number(1.0) - bulge, number(0.5) * (bulge + u)]
}

/// What leaves a cell.
fn collide<R: Real>(set: &Set<2>, omega: R, g: &[R]) -> Vec<R> {
    let number = R::of;
    let rho = sum(g.iter().copied());
    let inverse = number(1.0) / rho;
    let share = [0, 1].map(|axis| shares(set.momentum(g, axis) * inverse));
    let over = share.map(|shares| shares.map(|share| number(1.0) / share));
    let product = |of: &[[R; 3]; 2], q: usize| {
        let [along_y, along_x] = set.c[q].map(|c| (c + 1) as usize);
        of[0][along_y] * of[1][along_x]
    };
    let off: Vec<R> = (0..9).map(|q| g[q] - rho * product(&share, q)).collect();
    let stretch = number(0.25) * (off[1] + off[2] - (off[3] + off[4]));
    let shear = number(0.25) * (off[7] + off[8] - (off[5] + off[6]));
    let stress = [R::default(), stretch, stretch, -stretch, -stretch, -shear, -shear, shear, shear];
    let rest: Vec<R> = off.iter().zip(stress).map(|(&off, stress)| off - stress).collect();
    let weighted: Vec<R> = (0..9).map(|q| rest[q] * product(&over, q)).collect();
    let both = sum((1..9).map(|q| weighted[q] * stress[q]));
    let square = sum((0..9).map(|q| weighted[q] * rest[q]));
    let (two, most) = (number(2.0), number(2.0) / omega);
    let gamma = if square > R::default() { most - (two - most) * (both / square) } else { two };
    let reach = number(0.5) * omega * gamma;
    (0..9).map(|q| g[q] - (omega * stress[q] + reach * rest[q])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::noise;

    fn arriving(set: &Set<2>) -> Vec<f64> {
        (0..9).map(|q| set.equilibrium(q, 1.1, &[0.1, -0.07]) * (1.0 + 0.05 * noise(4, &[q]))).collect()
    }

    fn of_equilibrium(set: &Set<2>, g: &[f64]) -> Vec<f64> {
        let (rho, u) = set.flow(g);
        let share = u.map(shares);
        (0..9).map(|q| rho * share[0][(set.c[q][0] + 1) as usize] * share[1][(set.c[q][1] + 1) as usize]).collect()
    }

    /// The entropy: `-sum f ln(f / w)`.
    fn entropy(set: &Set<2>, f: &[f64]) -> f64 {
        -(0..9).map(|q| f[q] * (f[q] / set.w[q]).ln()).sum::<f64>()
    }

    #[test]
    fn the_equilibrium_has_the_flow_and_the_largest_entropy() {
        let set = Set::of(Lattice::D2Q9);
        let g = arriving(&set);
        let equilibrium = of_equilibrium(&set, &g);
        let ((rho, u), (same_rho, same_u)) = (set.flow(&g), set.flow(&equilibrium));
        assert!((rho - same_rho).abs() < 1e-15 && (0..2).all(|axis| (u[axis] - same_u[axis]).abs() < 1e-15));
        // The gradient of the entropy is a sum of what is conserved: there is no direction in which it grows.
        let slope = |q: usize| (equilibrium[q] / set.w[q]).ln();
        let along = [0, 1].map(|axis| {
            let q = set.c.iter().position(|c| c[axis] == 1 && c[1 - axis] == 0).expect("the lattice has its axes");
            (slope(q) - slope(set.opposite(q))) / 2.0
        });
        for q in 0..9 {
            let expected = slope(0) + set.along(q, &along) + (set.c[q][0].pow(2) as f64) * (slope(3) + slope(4)) / 2.0
                - (set.c[q][0].pow(2) as f64) * slope(0)
                + (set.c[q][1].pow(2) as f64) * ((slope(1) + slope(2)) / 2.0 - slope(0));
            assert!((slope(q) - expected).abs() < 1e-14, "{q}");
        }
    }

    #[test]
    fn mass_and_momentum_stay_and_the_stress_relaxes() {
        let (set, omega) = (Set::of(Lattice::D2Q9), 1.7);
        let g = arriving(&set);
        let (after, equilibrium) = (collide(&set, omega, &g), of_equilibrium(&set, &g));
        let moment = |f: &[f64], of: fn([i64; 2]) -> i64| (0..9).map(|q| of(set.c[q]) as f64 * f[q]).sum::<f64>();
        for of in [|_| 1, |c: [i64; 2]| c[0], |c: [i64; 2]| c[1]] {
            assert!((moment(&g, of) - moment(&after, of)).abs() < 1e-15);
        }
        for of in [|c: [i64; 2]| c[1] * c[1] - c[0] * c[0], |c: [i64; 2]| c[1] * c[0]] {
            let [before, left] = [&g, &after].map(|f| moment(f, of) - moment(&equilibrium, of));
            assert!((left - (1.0 - omega) * before).abs() < 1e-15 && before.abs() > 1e-4, "{left} of {before}");
        }
    }

    /// Any other multiple of the rest leaves less entropy, but for terms of third order.
    #[test]
    fn the_entropy_after_a_collision_is_the_largest() {
        let (set, omega) = (Set::of(Lattice::D2Q9), 1.9);
        let equilibrium = of_equilibrium(&set, &arriving(&set));
        let off = |q: usize| 1e-4 * equilibrium[q] * noise(8, &[q]);
        let g: Vec<f64> = (0..9).map(|q| equilibrium[q] + off(q)).collect();
        let after = collide(&set, omega, &g);
        let (rho, u) = set.flow(&g);
        assert!(rho > 0.0 && u[0] != 0.0);
        // A direction that keeps density, momentum and the deviators: the rest of any such cell.
        let rest: Vec<f64> = {
            let off: Vec<f64> = g.iter().zip(of_equilibrium(&set, &g)).map(|(g, e)| g - e).collect();
            let stretch = 0.25 * (off[1] + off[2] - off[3] - off[4]);
            let shear = 0.25 * (off[7] + off[8] - off[5] - off[6]);
            let stress = [0.0, stretch, stretch, -stretch, -stretch, -shear, -shear, shear, shear];
            off.iter().zip(stress).map(|(off, stress)| off - stress).collect()
        };
        let moved =
            |by: f64| entropy(&set, &after.iter().zip(&rest).map(|(f, rest)| f + by * rest).collect::<Vec<_>>());
        assert!([-0.2, -0.05, 0.05, 0.2].iter().all(|&by| moved(by) < moved(0.0)));
    }
}

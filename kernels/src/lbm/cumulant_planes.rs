//! Cumulants of D3Q19: a collision whose cumulants of third and fourth order vanish, in few operations.
//!
//! Moments of D3Q19 go up to the second order along two axes: those about a velocity are made of these alone, so that
//! the lattice has its own cumulants. Those of second order relax, deviators with the viscosity and the trace with a
//! rate of its own. All others are forgotten ("AllOne" in the source), so that nobody needs them before a collision,
//! and moments of higher order are sums of products of those of first and second order: with moments `n` after the
//! collision, velocity `u` and `n_ab = rho u_a u_b + c_ab`,
//!
//! `n_aab = u_b n_aa + 2 u_a c_ab`, `n_aabb = (n_aa n_bb + 2 c_ab (n_ab + rho u_a u_b)) / rho - (n_cc - rho/3) / 6`.
//!
//! Without the last term, no cumulant of third or fourth order would be left. It is what the lattice adds, whose
//! weights are no products of weights along axes: the moments along two axes of an equilibrium of second order, or of a
//! stress, have it. Left out, short waves grow if the trace relaxes as slowly as the rest, and flows of small viscosity
//! lose energy that they should keep.
//!
//! Moments of third order along two axes have the squares of the velocity, which BGK's equilibrium lacks: shear waves
//! decay alike whatever wind carries them along. Stresses on the diagonal keep an error of third order in the velocity,
//! as in every set of these speeds, and the moment along all three axes is missing here: flows of few cells that D3Q27
//! stands, D3Q19 may not. Every value has one reader: storage is one lattice.
//!
//! Source: Geier, Schoenherr, Pasquali, Krafczyk: The cumulant lattice Boltzmann equation in three dimensions: theory
//! and validation, Comput. Math. Appl. 70, 2015, equations 47 and 48 (cumulants of second order), 55 to 57 and 61 to 65
//! without their slopes of the velocity (how they relax), 82 (moments of fourth order, but for the lattice's own term).

use crate::catalogue::{Case, Entry};
use crate::fields::{Fields, KernelDataError};
use crate::grid::Grid;
use crate::lbm::fluid;
use crate::lbm::mrt::scalars;
use crate::lbm::sites::{Set, advance, extents, fields};
use crate::lbm::velocity_set::{Lattice, VelocitySet};
use crate::lbm::{cumulant, mrt};
use crate::real::Real;

/// The lid-driven cavity.
pub const CAVITY: Entry =
    cavity::<f64>("lbm-d3q19-cavity-cumulant", "lid-driven cavity, D3Q19 cumulants, half-way bounce-back");
/// The same in single precision.
pub const CAVITY_F32: Entry =
    cavity::<f32>("lbm-d3q19-cavity-cumulant-f32", "lid-driven cavity, D3Q19 cumulants, half-way bounce-back, f32");
/// Decaying vortices in a periodic box.
pub const PERIODIC: Entry =
    periodic::<f64>("lbm-d3q19-periodic-cumulant", "decaying vortices in a periodic box, D3Q19 cumulants");
/// The same in single precision.
pub const PERIODIC_F32: Entry =
    periodic::<f32>("lbm-d3q19-periodic-cumulant-f32", "decaying vortices in a periodic box, D3Q19 cumulants, f32");

const CUBE: [&str; 3] = ["N", "N", "N"];
const SPACE: [&str; 3] = ["NZ", "NY", "NX"];

/// Axes of the planes zy, zx and yx.
const FIRST: [usize; 3] = [0, 0, 1];
const SECOND: [usize; 3] = [1, 2, 2];
/// Of each plane, the pair of opposite populations that move along both axes, and the one that moves back along the
/// second.
const PLUS: [usize; 3] = [8, 7, 4];
const MINUS: [usize; 3] = [5, 6, 3];

const fn cavity<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        definition: || R::parse(include_str!("../texts/lbm_d3q19_cavity_cumulant.crk")),
        scalars: &[("omega", 1.8), ("s_bulk", 1.0), ("u_lid", 0.08)],
        initial: |case| fluid::perturbed_vortex(&VelocitySet::new(Lattice::D3Q19), &extents(case, CUBE)?),
        naive: |case, initial| {
            let lid = R::of(case.scalar("u_lid")?);
            naive::<R>(case, CUBE, initial, |set, f, place| set.contracted_cavity(f, place, lid))
        },
        ..cumulant::cavity::<R>(name, summary)
    }
}

const fn periodic<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        source: "Geier, Schoenherr, Pasquali, Krafczyk 2015",
        definition: || R::parse(include_str!("../texts/lbm_d3q19_periodic_cumulant.crk")),
        scalars: &[("omega", 1.8), ("s_bulk", 1.0)],
        naive: |case, initial| naive::<R>(case, SPACE, initial, |set, f, place| set.around(f, place)),
        ..mrt::periodic::<R>(name, summary)
    }
}

fn naive<R: Real>(
    case: &Case,
    names: [&str; 3],
    initial: &Fields,
    arriving: impl Fn(&Set<3>, &[Grid<R, 3>], [i64; 3]) -> Vec<R>,
) -> Result<Fields, KernelDataError> {
    let [omega, bulk] = scalars::<R, 2>(case, ["omega", "s_bulk"])?;
    let (rates, shape, set) = (Rates { omega, bulk }, extents(case, names)?, Set::of(Lattice::D3Q19));
    let last = advance(case.steps, set.read::<R>(initial, shape)?, |f, place| rates.leaving(&arriving(&set, f, place)));
    Ok(fields(&last))
}

/// Rates of relaxation.
struct Rates<R> {
    omega: R,
    bulk: R,
}

impl<R: Real> Rates<R> {
    /// The populations that leave a cell.
    fn leaving(&self, g: &[R]) -> Vec<R> {
        let (number, planes) = (R::of, [0, 1, 2]);
        let (one, two, half, quarter) = (number(1.0), number(2.0), number(0.5), number(0.25));
        let s: [R; 9] = std::array::from_fn(|p| g[2 * p + 1] + g[2 * p + 2]);
        let d: [R; 9] = std::array::from_fn(|p| g[2 * p + 1] - g[2 * p + 2]);
        let plane = planes.map(|k| s[PLUS[k]] + s[MINUS[k]]);
        let ahead = planes.map(|k| d[PLUS[k]] + d[MINUS[k]]);
        let aside = planes.map(|k| d[PLUS[k]] - d[MINUS[k]]);
        let j = [d[2] + (ahead[0] + ahead[1]), d[1] + (aside[0] + ahead[2]), d[0] + (aside[1] + aside[2])];
        let m = [s[2] + (plane[0] + plane[1]), s[1] + (plane[0] + plane[2]), s[0] + (plane[1] + plane[2])];
        let rho = g[0] + (m[0] + (s[1] + s[0] + plane[2]));
        let inverse = one / rho;
        let u = j.map(|j| j * inverse);

        let central: [R; 3] = std::array::from_fn(|a| (-j[a]).fma(u[a], m[a]));
        let trace = central[0] + central[1] + central[2];
        let keep = one - self.omega;
        let [zy, zx] = [keep * (central[0] - central[1]), keep * (central[0] - central[2])];
        let zz = number(1.0 / 3.0) * (self.bulk.fma(rho - trace, trace) + (zy + zx));
        let n = [j[0].fma(u[0], zz), j[1].fma(u[1], zz - zy), j[2].fma(u[2], zz - zx)];
        let flow = planes.map(|k| j[FIRST[k]] * u[SECOND[k]]);
        let twice = planes.map(|k| (two - two * self.omega) * (s[PLUS[k]] - s[MINUS[k]] - flow[k]));
        let mixed = planes.map(|k| half.fma(twice[k], flow[k]));
        let odd = |k: usize, a: usize, b: usize| u[a].fma(n[b], u[b] * twice[k]);
        let odd_first = planes.map(|k| odd(k, FIRST[k], SECOND[k]));
        let odd_second = planes.map(|k| odd(k, SECOND[k], FIRST[k]));
        let product = |k: usize| twice[k].fma(mixed[k] + flow[k], n[FIRST[k]] * n[SECOND[k]]);
        let own = |k: usize| number(-1.0 / 24.0).fma(n[2 - k], number(1.0 / 72.0) * rho);
        let fourth = planes.map(|k| (quarter * inverse).fma(product(k), own(k)));

        let long = [fourth[0] + fourth[1], fourth[0] + fourth[2], fourth[1] + fourth[2]];
        let of_third = [odd_first[0] + odd_first[1], odd_second[0] + odd_first[2], odd_second[1] + odd_second[2]];
        let mut leaving = g.to_vec();
        leaving[0] = number(4.0).fma(fourth[2] + long[0], rho - (n[0] + n[1] + n[2]));
        for a in 0..3 {
            let (even, odd) = ((-two).fma(long[a], half * n[a]), j[a] - of_third[a]);
            leaving[5 - 2 * a] = half.fma(odd, even);
            leaving[6 - 2 * a] = (-half).fma(odd, even);
        }
        for k in planes {
            let of_plane = [
                (PLUS[k], odd_first[k] + odd_second[k], quarter.fma(mixed[k], fourth[k])),
                (MINUS[k], odd_first[k] - odd_second[k], (-quarter).fma(mixed[k], fourth[k])),
            ];
            for (pair, odd, even) in of_plane {
                leaving[2 * pair + 1] = quarter.fma(odd, even);
                leaving[2 * pair + 2] = (-quarter).fma(odd, even);
            }
        }
        leaving
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::fields::noise;
    use crate::lbm::cumulant::tests::cumulant_of;

    const RATES: Rates<f64> = Rates { omega: 1.7, bulk: 1.2 };

    /// What a cell may hold that moves fast and is far from its equilibrium.
    fn arriving(set: &Set<3>) -> Vec<f64> {
        let u = [0.07, -0.11, 0.13];
        (0..19).map(|q| set.equilibrium(q, 1.1, &u) * (1.0 + 0.2 * noise(3, &[q]))).collect()
    }

    /// The moment about the velocity whose orders are how often each axis is named.
    fn central(set: &Set<3>, g: &[f64], axes: &[usize]) -> f64 {
        let (_, u) = set.flow(g);
        let product = |q: usize| axes.iter().map(|&a| set.c[q][a] as f64 - u[a]).product::<f64>();
        (0..19).map(|q| product(q) * g[q]).sum()
    }

    /// The cumulant, by the sum over all ways to part the axes.
    fn cumulant(set: &Set<3>, g: &[f64], axes: &[usize]) -> f64 {
        cumulant_of(&|part: &[usize]| central(set, g, part) / central(set, g, &[]), axes)
    }

    #[test]
    fn mass_and_momentum_stay() {
        let set = Set::of(Lattice::D3Q19);
        let before = arriving(&set);
        let ((rho, u), (rho_after, u_after)) = (set.flow(&before), set.flow(&RATES.leaving(&before)));
        assert!((rho - rho_after).abs() < 1e-15 && (0..3).all(|a| (u[a] - u_after[a]).abs() < 1e-15));
    }

    /// Of second order, the trace goes to that of rest, all else to 0.
    #[test]
    fn stresses_relax_with_their_rates() {
        let set = Set::of(Lattice::D3Q19);
        let before = arriving(&set);
        let after = RATES.leaving(&before);
        let both = |axes: [usize; 2]| [&before, &after].map(|g| central(&set, g, &axes));
        for axes in [[0, 1], [0, 2], [1, 2]] {
            let [before, after] = both(axes);
            assert!((after + 0.7 * before).abs() < 1e-15 && before.abs() > 1e-3, "{axes:?}: {before} {after}");
        }
        let diagonal = [0, 1, 2].map(|a| both([a, a]));
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            let [before, after] = [0, 1].map(|time| diagonal[a][time] - diagonal[b][time]);
            assert!((after + 0.7 * before).abs() < 1e-15 && before.abs() > 1e-3, "{a} {b}: {before} {after}");
        }
        let rho: f64 = before.iter().sum();
        let [before, after] = [0, 1].map(|time| diagonal.iter().map(|m| m[time]).sum::<f64>() - rho);
        assert!((after + 0.2 * before).abs() < 1e-15 && before.abs() > 1e-3, "{before} {after}");
    }

    #[test]
    fn no_cumulant_of_higher_order_is_left_but_the_lattice_has_its_own() {
        let set = Set::of(Lattice::D3Q19);
        let before = arriving(&set);
        let after = RATES.leaving(&before);
        let (rho, _) = set.flow(&after);
        for (a, b, c) in [(0, 1, 2), (1, 0, 2), (0, 2, 1), (2, 0, 1), (1, 2, 0), (2, 1, 0)] {
            let along = (0..19).map(|q| (set.c[q][c] * set.c[q][c]) as f64 * after[q]).sum::<f64>();
            let own = -(along / rho - 1.0 / 3.0) / 6.0;
            for (axes, left) in [(vec![a, a, b], 0.0), (vec![a, a, b, b], own)] {
                let (before, after) = (cumulant(&set, &before, &axes), cumulant(&set, &after, &axes));
                assert!((after - left).abs() < 1e-15 && before.abs() > 1e-4, "{axes:?}: {after} of {before}");
            }
        }
    }

    /// The equilibrium of second order is one of this collision, but for terms of third order in the velocity.
    #[test]
    fn slow_equilibria_stay() {
        let set = Set::of(Lattice::D3Q19);
        let equilibrium: Vec<f64> = (0..19).map(|q| set.equilibrium(q, 1.1, &[7e-4, -2e-4, 4e-4])).collect();
        let after = RATES.leaving(&equilibrium);
        assert!(equilibrium.iter().zip(&after).all(|(before, after)| (before - after).abs() < 1e-9), "{after:?}");
    }

    /// A wave in a wind, by a collision that is linear about it: `e^(-i k.c)` times what leaves, step after step.
    fn growth(rates: &Rates<f64>, wind: [f64; 3], k: [f64; 3], steps: usize) -> f64 {
        let set = Set::of(Lattice::D3Q19);
        let rest: Vec<f64> = (0..19).map(|q| set.equilibrium(q, 1.0, &wind)).collect();
        let slope = |towards: &[f64]| -> Vec<f64> {
            let moved = |by: f64| rates.leaving(&rest.iter().zip(towards).map(|(f, d)| f + by * d).collect::<Vec<_>>());
            moved(1e-6).iter().zip(moved(-1e-6)).map(|(high, low)| (high - low) / 2e-6).collect()
        };
        let columns: Vec<Vec<f64>> =
            (0..19).map(|p| slope(&(0..19).map(|q| f64::from(u8::from(p == q))).collect::<Vec<_>>())).collect();
        let mut wave: Vec<[f64; 2]> = (0..19).map(|q| [noise(5, &[q]), noise(6, &[q])]).collect();
        let size = |wave: &[[f64; 2]]| wave.iter().flatten().map(|part| part * part).sum::<f64>().sqrt();
        let before = size(&wave);
        for _ in 0..steps {
            let leaving = |q: usize, part: usize| (0..19).map(|p| columns[p][q] * wave[p][part]).sum::<f64>();
            let turned = |q: usize| {
                let (sine, cosine) = (0..3).map(|a| k[a] * set.c[q][a] as f64).sum::<f64>().sin_cos();
                let [re, im] = [leaving(q, 0), leaving(q, 1)];
                [re * cosine + im * sine, im * cosine - re * sine]
            };
            wave = (0..19).map(turned).collect();
        }
        size(&wave) / before
    }

    /// Without the lattice's own term the first one grows by 3 per cent in a step.
    #[test]
    fn short_waves_do_not_grow() {
        for (omega, bulk) in [(1.97, 1.97), (1.97, 1.0), (1.9, 1.2)] {
            for k in [[PI, 2.75, 1.96], [0.39, -0.39, -1.18], [3.0, 0.3, -0.3], [PI / 2.0; 3]] {
                for wind in [[0.0; 3], [0.03, 0.05, 0.1]] {
                    let grown = growth(&Rates { omega, bulk }, wind, k, 500);
                    assert!(grown < 3.0, "{omega} {bulk} {k:?} {wind:?}: {grown}");
                }
            }
        }
    }
}

//! Central moments and cumulants: what relaxes is seen from the fluid in the cell, so that the collision is the same at any
//! velocity.
//!
//! Moments about the velocity are made along one axis after the other and go back the same way. Of those of second order,
//! deviators relax with the viscosity and the trace with a rate of its own; higher ones with further rates, by default at
//! once. In the plane they relax towards those of a Gaussian; in space it is the cumulants of fourth order and above that
//! vanish, which are the moments less the products that moments of lower order make of them. Every value has one reader:
//! storage is one lattice.
//!
//! Stresses on the diagonal keep an error of third order in the velocity, as in every set of these speeds: the correction by
//! slopes of the velocity that the source has for it is left out.
//!
//! Source: Geier, Greiner, Korvink: Cascaded digital lattice Boltzmann automata for high Reynolds number flow, Phys. Rev. E
//! 73, 066705, 2006 (central moments); Geier, Schoenherr, Pasquali, Krafczyk: The cumulant lattice Boltzmann equation in
//! three dimensions: theory and validation, Comput. Math. Appl. 70, 2015 (cumulants, and moments along one axis after the
//! other). The products that cumulants leave out are checked against the sum over all ways to part a set.

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Fields, KernelDataError, cells};
use crate::lbm::fluid;
use crate::lbm::mrt::{self, scalars};
use crate::lbm::sites::{Set, advance, extents, fields, sum};
use crate::lbm::velocity_set::{Lattice, VelocitySet};
use crate::real::Real;

/// The lid-driven cavity in the plane, central moments.
pub const PLANE: Entry =
    plane::<f64>("lbm-d2q9-cavity-central", "lid-driven cavity, D2Q9 central moments, half-way bounce-back");
/// The same in single precision.
pub const PLANE_F32: Entry =
    plane::<f32>("lbm-d2q9-cavity-central-f32", "lid-driven cavity, D2Q9 central moments, half-way bounce-back, f32");
/// The lid-driven cavity in space, cumulants.
pub const CAVITY: Entry =
    cavity::<f64>("lbm-d3q27-cavity-cumulant", "lid-driven cavity, D3Q27 cumulants, half-way bounce-back");
/// The same in single precision.
pub const CAVITY_F32: Entry =
    cavity::<f32>("lbm-d3q27-cavity-cumulant-f32", "lid-driven cavity, D3Q27 cumulants, half-way bounce-back, f32");
/// Decaying vortices in a periodic box, cumulants.
pub const PERIODIC: Entry =
    periodic::<f64>("lbm-d3q27-periodic-cumulant", "decaying vortices in a periodic box, D3Q27 cumulants");
/// The same in single precision.
pub const PERIODIC_F32: Entry =
    periodic::<f32>("lbm-d3q27-periodic-cumulant-f32", "decaying vortices in a periodic box, D3Q27 cumulants, f32");

const SQUARE: [&str; 2] = ["N", "N"];
const CUBE: [&str; 3] = ["N", "N", "N"];
const SPACE: [&str; 3] = ["NZ", "NY", "NX"];
const RATES: [&str; 4] = ["omega", "s_bulk", "s_third", "s_fourth"];

const fn plane<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        source: "Geier, Greiner, Korvink 2006; Ladd 1994",
        definition: || R::parse(include_str!("../texts/lbm_d2q9_cavity_central.crk")),
        scalars: &[("omega", 1.6), ("s_bulk", 1.1), ("s_third", 1.2), ("s_fourth", 0.9), ("u_lid", 0.08)],
        naive: |case, initial| {
            let lid = R::of(case.scalar("u_lid")?);
            let (rates, shape) = (Rates::<R>::of(case)?, extents(case, SQUARE)?);
            let set = Set::of(Lattice::D2Q9);
            let last = advance(case.steps, set.read::<R>(initial, shape)?, |f, place| {
                rates.collide_in_plane(&set, &set.cavity(f, place, lid))
            });
            Ok(fields(&last))
        },
        ..mrt::cavity::<R>(name, summary)
    }
}

const fn cavity<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Geier, Schoenherr, Pasquali, Krafczyk 2015; Ladd 1994",
        definition: || R::parse(include_str!("../texts/lbm_d3q27_cavity_cumulant.crk")),
        scalars: &[("omega", 1.8), ("s_bulk", 1.0), ("s_third", 0.9), ("s_fourth", 1.1), ("u_lid", 0.08)],
        default: Preset { sizes: &[("N", 33)], steps: 20 },
        tests: &[Preset { sizes: &[("N", 9)], steps: 2 }],
        benches: &[Preset { sizes: &[("N", 129)], steps: 20 }],
        sites: |case| Ok(cells(&extents(case, CUBE)?)? as u64),
        initial: |case| fluid::perturbed_vortex(&VelocitySet::new(Lattice::D3Q27), &extents(case, CUBE)?),
        naive: |case, initial| {
            let lid = R::of(case.scalar("u_lid")?);
            naive_space::<R>(case, CUBE, initial, |set, f, place| set.cavity(f, place, lid))
        },
        published: &[],
    }
}

const fn periodic<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        source: "Geier, Schoenherr, Pasquali, Krafczyk 2015",
        definition: || R::parse(include_str!("../texts/lbm_d3q27_periodic_cumulant.crk")),
        scalars: &[("omega", 1.8), ("s_bulk", 1.0), ("s_third", 0.9), ("s_fourth", 1.1)],
        initial: |case| fluid::perturbed_vortex(&VelocitySet::new(Lattice::D3Q27), &extents(case, SPACE)?),
        naive: |case, initial| naive_space::<R>(case, SPACE, initial, |set, f, place| set.around(f, place)),
        ..mrt::periodic::<R>(name, summary)
    }
}

fn naive_space<R: Real>(
    case: &Case,
    names: [&str; 3],
    initial: &Fields,
    arriving: impl Fn(&Set<3>, &[crate::grid::Grid<R, 3>], [i64; 3]) -> Vec<R>,
) -> Result<Fields, KernelDataError> {
    let (rates, shape, set) = (Rates::<R>::of(case)?, extents(case, names)?, Set::of(Lattice::D3Q27));
    let last = advance(case.steps, set.read::<R>(initial, shape)?, |f, place| {
        rates.collide_in_space(&set, &arriving(&set, f, place))
    });
    Ok(fields(&last))
}

/// Rates of relaxation.
struct Rates<R> {
    omega: R,
    bulk: R,
    third: R,
    fourth: R,
}

/// Moments, or populations, by orders or velocities plus one along z, y and x.
type Cube<R> = [[[R; 3]; 3]; 3];

impl<R: Real> Rates<R> {
    fn of(case: &Case) -> Result<Rates<R>, KernelDataError> {
        let [omega, bulk, third, fourth] = scalars::<R, 4>(case, RATES)?;
        Ok(Rates { omega, bulk, third, fourth })
    }

    fn collide_in_plane(&self, set: &Set<2>, g: &[R]) -> Vec<R> {
        let (number, one) = (R::of, R::of(1.0));
        let (rho, [v, u]) = flow(set, g);
        let at = |j: usize, i: usize| set.c.iter().position(|&[y, x]| (y + 1, x + 1) == (j as i64, i as i64));
        let place: [[usize; 3]; 3] =
            std::array::from_fn(|j| std::array::from_fn(|i| at(j, i).expect("the lattice has all neighbours")));
        let along_x: [[R; 3]; 3] =
            std::array::from_fn(|j| std::array::from_fn(|i| moment(i, place[j].map(|q| g[q]), u)));
        let m: [[R; 3]; 3] = std::array::from_fn(|j| std::array::from_fn(|i| moment(j, along_x.map(|row| row[i]), v)));
        let trace = m[0][2] + m[2][0];
        let relaxed = trace + self.bulk * (number(2.0 / 3.0) * rho - trace);
        let difference = (one - self.omega) * (m[0][2] - m[2][0]);
        let half = number(0.5);
        let fourth = m[2][2] + self.fourth * (number(1.0 / 9.0) * rho - m[2][2]);
        let n = [
            [m[0][0], m[0][1], half * (relaxed + difference)],
            [m[1][0], (one - self.omega) * m[1][1], (one - self.third) * m[1][2]],
            [half * (relaxed - difference), (one - self.third) * m[2][1], fourth],
        ];
        let mut leaving = g.to_vec();
        for j in 0..3 {
            let row: [R; 3] = std::array::from_fn(|i| back(j, n.map(|row| row[i]), v));
            (0..3).for_each(|i| leaving[place[j][i]] = back(i, row, u));
        }
        leaving
    }

    fn collide_in_space(&self, set: &Set<3>, g: &[R]) -> Vec<R> {
        let (_, [w, v, u]) = flow(set, g);
        let at = |k: usize, j: usize, i: usize| {
            let place = [k, j, i].map(|c| c as i64 - 1);
            set.c.iter().position(|c| *c == place).expect("the lattice has all neighbours")
        };
        let of = |cell: &dyn Fn(usize, usize, usize) -> R| -> Cube<R> {
            std::array::from_fn(|k| std::array::from_fn(|j| std::array::from_fn(|i| cell(k, j, i))))
        };
        let along_x = of(&|k, j, i| moment(i, [0, 1, 2].map(|i| g[at(k, j, i)]), u));
        let along_y = of(&|k, j, i| moment(j, [0, 1, 2].map(|j| along_x[k][j][i]), v));
        let m = of(&|k, j, i| moment(k, [0, 1, 2].map(|k| along_y[k][j][i]), w));
        let n = self.relaxed(sum(g.iter().copied()), &m);
        let from_z = of(&|k, j, i| back(k, [0, 1, 2].map(|k| n[k][j][i]), w));
        let from_y = of(&|k, j, i| back(j, [0, 1, 2].map(|j| from_z[k][j][i]), v));
        let mut leaving = g.to_vec();
        for (k, j, i) in (0..27).map(|cell| (cell / 9, cell / 3 % 3, cell % 3)) {
            leaving[at(k, j, i)] = back(i, from_y[k][j], u);
        }
        leaving
    }

    /// Central moments after a collision.
    fn relaxed(&self, rho: R, m: &Cube<R>) -> Cube<R> {
        let (one, two, four) = (R::of(1.0), R::of(2.0), R::of(4.0));
        let inverse = one / rho;
        let [
            [[m000, m001, m002], [m010, m011, m012], [m020, m021, m022]],
            [[m100, m101, m102], [m110, m111, m112], [m120, m121, _]],
            [[m200, m201, m202], [m210, m211, _], [m220, _, _]],
        ] = *m;
        let trace = m002 + m020 + m200;
        let xy = (one - self.omega) * (m002 - m020);
        let xz = (one - self.omega) * (m002 - m200);
        let n002 = (trace + self.bulk * (rho - trace) + xy + xz) / R::of(3.0);
        let (n020, n200) = (n002 - xy, n002 - xz);
        let [n011, n101, n110] = [m011, m101, m110].map(|m| (one - self.omega) * m);
        let [n012, n021, n102, n201, n120, n210, n111] =
            [m012, m021, m102, m201, m120, m210, m111].map(|m| (one - self.third) * m);
        let pairs = |a: R, b: R, d: R, e: R| (a * b + two * (d * e)) * inverse;
        let fourth = |m: R, before: [R; 4], after: [R; 4]| {
            let [[a, b, d, e], [a2, b2, d2, e2]] = [before, after];
            (one - self.fourth) * (m - pairs(a, b, d, e)) + pairs(a2, b2, d2, e2)
        };
        let n022 = fourth(m022, [m002, m020, m011, m011], [n002, n020, n011, n011]);
        let n202 = fourth(m202, [m002, m200, m101, m101], [n002, n200, n101, n101]);
        let n220 = fourth(m220, [m020, m200, m110, m110], [n020, n200, n110, n110]);
        let n112 = fourth(m112, [m002, m110, m011, m101], [n002, n110, n011, n101]);
        let n121 = fourth(m121, [m020, m101, m011, m110], [n020, n101, n011, n110]);
        let n211 = fourth(m211, [m200, m011, m101, m110], [n200, n011, n101, n110]);
        let fifth = |a: R, b: R, pair: R, crossed: R| (a + b + four * pair + two * crossed) * inverse;
        let n122 = fifth(n002 * n120, n020 * n102, n011 * n111, n101 * n021 + n110 * n012);
        let n212 = fifth(n002 * n210, n200 * n012, n101 * n111, n011 * n201 + n110 * n102);
        let n221 = fifth(n020 * n201, n200 * n021, n110 * n111, n011 * n210 + n101 * n120);
        let pairs = four * (n111 * n111)
            + n002 * n220
            + n020 * n202
            + n200 * n022
            + four * (n110 * n112 + n101 * n121 + n011 * n211)
            + two * (n021 * n201 + n012 * n210 + n102 * n120);
        let triples = R::of(16.0) * (n011 * n101 * n110)
            + four * (n101 * n101 * n020 + n110 * n110 * n002 + n011 * n011 * n200)
            + two * (n002 * n020 * n200);
        let n222 = pairs * inverse - triples * (inverse * inverse);
        [
            [[m000, m001, n002], [m010, n011, n012], [n020, n021, n022]],
            [[m100, n101, n102], [n110, n111, n112], [n120, n121, n122]],
            [[n200, n201, n202], [n210, n211, n212], [n220, n221, n222]],
        ]
    }
}

/// Density, and momentum over it.
fn flow<R: Real, const D: usize>(set: &Set<D>, g: &[R]) -> (R, [R; D]) {
    let rho = sum(g.iter().copied());
    let inverse = R::of(1.0) / rho;
    (rho, std::array::from_fn(|axis| set.momentum(g, axis) * inverse))
}

/// The moment of an order, 0 to 2, about a velocity.
fn moment<R: Real>(order: usize, [low, mid, high]: [R; 3], u: R) -> R {
    let two = R::of(2.0);
    match order {
        0 => low + high + mid,
        1 => high - low - u * (low + high + mid),
        _ => low + high - two * u * (high - low) + u * u * (low + high + mid),
    }
}

/// The population of a velocity plus one, of moments about a velocity.
fn back<R: Real>(velocity: usize, [m0, m1, m2]: [R; 3], u: R) -> R {
    let (half, one, two) = (R::of(0.5), R::of(1.0), R::of(2.0));
    match velocity {
        0 => half * (m0 * (u * u - u) + m1 * (two * u - one) + m2),
        1 => m0 * (one - u * u) - two * u * m1 - m2,
        _ => half * (m0 * (u * u + u) + m1 * (two * u + one) + m2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::noise;

    /// The cumulant of some axes, named once for each order, from central moments: the sum over all ways to part them of the
    /// products of moments, `(-1)^(n-1) (n-1)!` times for `n` parts.
    fn cumulant(m: &Cube<f64>, axes: &[usize]) -> f64 {
        let rho = m[0][0][0];
        let moment = |part: &[usize]| {
            let order = |axis: usize| part.iter().filter(|&&a| a == axis).count();
            m[order(0)][order(1)][order(2)] / rho
        };
        let mut partings: Vec<Vec<Vec<usize>>> = vec![Vec::new()];
        for &axis in axes {
            let grown = |parts: &Vec<Vec<usize>>| {
                let mut all: Vec<Vec<Vec<usize>>> = (0..=parts.len()).map(|_| parts.clone()).collect();
                all.iter_mut().enumerate().for_each(|(i, parts)| match parts.get_mut(i) {
                    Some(part) => part.push(axis),
                    None => parts.push(vec![axis]),
                });
                all
            };
            partings = partings.iter().flat_map(grown).collect();
        }
        let term = |parts: &Vec<Vec<usize>>| {
            let factor = (1..parts.len()).fold(1.0, |factor, n| -(n as f64) * factor);
            factor * parts.iter().map(|part| moment(part)).product::<f64>()
        };
        partings.iter().map(term).sum()
    }

    fn some_moments() -> Cube<f64> {
        let mut m: Cube<f64> = [[[0.0; 3]; 3]; 3];
        for (k, j, i) in (0..27).map(|at| (at / 9, at / 3 % 3, at % 3)) {
            m[k][j][i] = 0.4 + 0.3 * noise(5, &[k, j, i]);
        }
        m[0][0][0] = 1.1;
        [m[1][0][0], m[0][1][0], m[0][0][1]] = [0.0; 3];
        m
    }

    #[test]
    fn cumulants_of_fourth_order_relax_and_those_above_vanish() {
        let m = some_moments();
        let after = Rates { omega: 1.7, bulk: 1.2, third: 0.8, fourth: 0.6 }.relaxed(1.1, &m);
        for axes in [[1, 1, 2, 2], [0, 0, 2, 2], [0, 0, 1, 1], [0, 1, 2, 2], [0, 1, 1, 2], [0, 0, 1, 2]] {
            let (found, before) = (cumulant(&after, &axes), cumulant(&m, &axes));
            assert!((found - 0.4 * before).abs() < 1e-14 && before.abs() > 1e-3, "{axes:?}: {found} of {before}");
        }
        for axes in [[0, 1, 1, 2, 2], [0, 0, 1, 2, 2], [0, 0, 1, 1, 2]] {
            assert!(cumulant(&after, &axes).abs() < 1e-14 && cumulant(&m, &axes).abs() > 1e-3, "{axes:?}");
        }
        let all = [0, 0, 1, 1, 2, 2];
        assert!(cumulant(&after, &all).abs() < 1e-13 && cumulant(&m, &all).abs() > 1e-3);
    }

    /// Of second order, the trace goes to that of rest, all else to 0.
    #[test]
    fn stresses_relax_with_their_rates() {
        let m = some_moments();
        let after = Rates { omega: 1.7, bulk: 1.2, third: 0.8, fourth: 0.6 }.relaxed(1.1, &m);
        let trace = |m: &Cube<f64>| m[2][0][0] + m[0][2][0] + m[0][0][2] - 1.1;
        assert!((trace(&after) + 0.2 * trace(&m)).abs() < 1e-14);
        let stretch = |m: &Cube<f64>| m[2][0][0] - m[0][2][0];
        assert!((stretch(&after) + 0.7 * stretch(&m)).abs() < 1e-14);
        assert!((after[1][0][1] + 0.7 * m[1][0][1]).abs() < 1e-14);
    }

    /// What flows evenly stays as it is, at any velocity: the moments of a box that moves are those of one at rest.
    #[test]
    fn moments_go_back_to_the_populations_that_they_are_of() {
        let (g, u) = ([0.3, 0.9, 0.5], 0.17);
        let m = [0, 1, 2].map(|order| moment(order, g, u));
        let found = [0, 1, 2].map(|velocity| back(velocity, m, u));
        assert!(g.iter().zip(found).all(|(g, found): (&f64, f64)| (g - found).abs() < 1e-15), "{found:?}");
    }
}

//! Central moments and cumulants: what relaxes is seen from the fluid in the cell, so that the collision is the same at
//! any velocity.
//!
//! Moments about the velocity are made along one axis after the other and go back the same way, in six operations for
//! three populations each, as they are halved for each axis along which they have an order. Of those of second order,
//! deviators relax with the viscosity and the trace with a rate of its own; higher ones with further rates, by default
//! at once. In the plane they relax towards those of a Gaussian; in space it is the cumulants of fourth order and above
//! that vanish, which are the moments less the products that moments of lower order make of them. Every value has one
//! reader: storage is one lattice.
//!
//! Stresses on the diagonal keep an error of third order in the velocity, as in every set of these speeds: the
//! correction by slopes of the velocity that the source has for it is left out.
//!
//! Source: Geier, Greiner, Korvink: Cascaded digital lattice Boltzmann automata for high Reynolds number flow, Phys.
//! Rev. E 73, 066705, 2006 (central moments); Geier, Schoenherr, Pasquali, Krafczyk: The cumulant lattice Boltzmann
//! equation in three dimensions: theory and validation, Comput. Math. Appl. 70, 2015 (cumulants, and moments along one
//! axis after the other). The products that cumulants leave out are checked against the sum over all ways to part a
//! set.

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

/// A cavity; what else has cumulants takes its sizes.
pub(super) const fn cavity<R: Real>(name: &'static str, summary: &'static str) -> Entry {
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
            naive_space::<R>(case, CUBE, initial, |set, f, place| set.contracted_cavity(f, place, lid))
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
        let number = R::of;
        let at = |j: usize, i: usize| set.c.iter().position(|&[y, x]| (y + 1, x + 1) == (j as i64, i as i64));
        let place: [[usize; 3]; 3] =
            std::array::from_fn(|j| std::array::from_fn(|i| at(j, i).expect("the lattice has all neighbours")));
        let lines = place.map(|row| row.map(|q| g[q]));
        let row = lines.map(total);
        let rho = total(row);
        let inverse = number(1.0) / rho;
        let (v, u) = ((row[2] - row[0]) * inverse, sum(lines.iter().map(|line| line[2] - line[0])) * inverse);
        let along_x: [[R; 3]; 3] = lines.map(|line| [0, 1, 2].map(|i| moment(i, line, u)));
        let m: [[R; 3]; 3] = std::array::from_fn(|j| std::array::from_fn(|i| moment(j, along_x.map(|row| row[i]), v)));
        let quarter = number(0.25);
        let [keep, keep_third] = [self.omega, self.third].map(|rate| quarter - quarter * rate);
        let trace = m[0][2] + m[2][0];
        let relaxed = quarter * (trace + self.bulk * (number(2.0 / 3.0) * rho - trace));
        let difference = keep * (m[0][2] - m[2][0]);
        let fourth = m[2][2] + self.fourth * (number(1.0 / 9.0) * rho - m[2][2]);
        let none = R::default();
        let halved = [
            [m[0][0], none, relaxed + difference],
            [none, keep * m[1][1], keep_third * m[1][2]],
            [relaxed - difference, keep_third * m[2][1], quarter * fourth],
        ];
        let mut leaving = g.to_vec();
        for j in 0..3 {
            let row: [R; 3] = std::array::from_fn(|i| back(j, halved.map(|row| row[i]), v));
            (0..3).for_each(|i| leaving[place[j][i]] = back(i, row, u));
        }
        leaving
    }

    fn collide_in_space(&self, set: &Set<3>, g: &[R]) -> Vec<R> {
        let at = |k: usize, j: usize, i: usize| {
            let place = [k, j, i].map(|c| c as i64 - 1);
            set.c.iter().position(|c| *c == place).expect("the lattice has all neighbours")
        };
        let of = |cell: &dyn Fn(usize, usize, usize) -> R| -> Cube<R> {
            std::array::from_fn(|k| std::array::from_fn(|j| std::array::from_fn(|i| cell(k, j, i))))
        };
        let lines = of(&|k, j, i| g[at(k, j, i)]);
        let rows = lines.map(|plane| plane.map(total));
        let planes = rows.map(total);
        let rho = total(planes);
        let inverse = R::of(1.0) / rho;
        let w = (planes[2] - planes[0]) * inverse;
        let v = sum(rows.iter().map(|row| row[2] - row[0])) * inverse;
        let u = sum(lines.iter().map(|plane| sum(plane.iter().map(|line| line[2] - line[0])))) * inverse;
        let along_x = of(&|k, j, i| moment(i, lines[k][j], u));
        let along_y = of(&|k, j, i| moment(j, [0, 1, 2].map(|j| along_x[k][j][i]), v));
        let m = of(&|k, j, i| moment(k, [0, 1, 2].map(|k| along_y[k][j][i]), w));
        let halved = self.relaxed(rho, &m);
        let from_z = of(&|k, j, i| back(k, [0, 1, 2].map(|k| halved[k][j][i]), w));
        let from_y = of(&|k, j, i| back(j, [0, 1, 2].map(|j| from_z[k][j][i]), v));
        let mut leaving = g.to_vec();
        for (k, j, i) in (0..27).map(|cell| (cell / 9, cell / 3 % 3, cell % 3)) {
            leaving[at(k, j, i)] = back(i, from_y[k][j], u);
        }
        leaving
    }

    /// Central moments after a collision, halved for each axis along which they have an order. Those of first order are
    /// 0 by the choice of the velocity.
    fn relaxed(&self, rho: R, m: &Cube<R>) -> Cube<R> {
        let (one, two, four, half, quarter) = (R::of(1.0), R::of(2.0), R::of(4.0), R::of(0.5), R::of(0.25));
        let inverse = one / rho;
        let [
            [[m000, _, m002], [_, m011, m012], [m020, m021, m022]],
            [[_, m101, m102], [m110, m111, m112], [m120, m121, _]],
            [[m200, m201, m202], [m210, m211, _], [m220, _, _]],
        ] = *m;
        let [v002, v020, v200, v011, v101, v110] = [m002, m020, m200, m011, m101, m110].map(|m| m * inverse);
        let trace = m002 + m020 + m200;
        let keep = (-half).fma(self.omega, half);
        let xz = keep * (m002 - m200);
        let both = keep.fma(m002 - m020, xz);
        let h002 = R::of(1.0 / 6.0).fma(self.bulk.fma(rho - trace, trace), R::of(1.0 / 3.0) * both);
        let (h020, h200) = ((-keep).fma(m002 - m020, h002), h002 - xz);
        let [n011, n101, n110] = [m011, m101, m110].map(|m| (one - self.omega) * m);
        let [h011, h101, h110] = [n011, n101, n110].map(|n| quarter * n);
        let [r002, r020, r200] = [h002, h020, h200].map(|h| h * inverse);
        let [r011, r101, r110] = [v011, v101, v110].map(|v| (one - self.omega) * v);
        let third = (-quarter).fma(self.third, quarter);
        let [h012, h021, h102, h201, h120, h210] = [m012, m021, m102, m201, m120, m210].map(|m| third * m);
        let h111 = half * third * m111;
        let n111 = four * h111;
        let fourth = (-quarter).fma(self.fourth, quarter);
        let [p011, p101, p110] = [r011 * n011, r101 * n101, r110 * n110];
        let [q112, q121, q211] = [r011 * n101, r011 * n110, r101 * n110];
        let left = |m: R, v: R, n: R, v2: R, n2: R| (-(two * v2)).fma(n2, (-v).fma(n, m));
        let both = r002 * h020;
        let h022 = fourth.fma(left(m022, v002, m020, v011, m011), half.fma(p011, both));
        let h202 = fourth.fma(left(m202, v002, m200, v101, m101), r002.fma(h200, half * p101));
        let h220 = fourth.fma(left(m220, v020, m200, v110, m110), r020.fma(h200, half * p110));
        let mixed = half * fourth;
        let h112 = mixed.fma(left(m112, v002, m110, v011, m101), r002.fma(h110, quarter * q112));
        let h121 = mixed.fma(left(m121, v020, m101, v011, m110), r020.fma(h101, quarter * q121));
        let h211 = mixed.fma(left(m211, v200, m011, v101, m110), r200.fma(h011, quarter * q211));
        let h122 = r110.fma(h012, r101.fma(h021, r011.fma(n111, r020.fma(h102, r002 * h120))));
        let h212 = r110.fma(h102, r011.fma(h201, r101.fma(n111, r200.fma(h012, r002 * h210))));
        let h221 = r101.fma(h120, r011.fma(h210, r110.fma(n111, r020.fma(h201, r200 * h021))));
        let thirds = four.fma(h102.fma(h120, h021.fma(h201, h012 * h210)), two * (n111 * n111));
        let diagonal =
            r200.fma((-two).fma(both, h022 - p011), r020.fma(h202 - p101, r002.fma(h220 - p110, inverse * thirds)));
        let crossed = r110.fma(four.fma(h112, -(two * q112)), diagonal);
        let h222 = four.fma(r101.fma(h121, r011 * h211), crossed);
        let none = R::default();
        [
            [[m000, none, h002], [none, h011, h012], [h020, h021, h022]],
            [[none, h101, h102], [h110, h111, h112], [h120, h121, h122]],
            [[h200, h201, h202], [h210, h211, h212], [h220, h221, h222]],
        ]
    }
}

/// The sum along a line, the middle last.
fn total<R: Real>([low, mid, high]: [R; 3]) -> R {
    low + high + mid
}

/// The moment of an order, 0 to 2, about a velocity.
fn moment<R: Real>(order: usize, line: [R; 3], u: R) -> R {
    let [low, _, high] = line;
    let slope = (-u).fma(total(line), high - low);
    match order {
        0 => total(line),
        1 => slope,
        _ => (-u).fma(high - low + slope, low + high),
    }
}

/// The population of a velocity plus one, of a moment about a velocity and halves of those of orders 1 and 2.
fn back<R: Real>(velocity: usize, [m0, h1, h2]: [R; 3], u: R) -> R {
    let half_slope = (R::of(0.5) * u).fma(m0, h1);
    let half_bend = u.fma(h1 + half_slope, h2);
    match velocity {
        0 => half_bend - half_slope,
        1 => R::of(-2.0).fma(half_bend, m0),
        _ => half_bend + half_slope,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::fields::noise;

    /// The cumulant of some axes, named once for each order, from what `moment` gives of a part of them, over the
    /// density: the sum over all ways to part them of the products of moments, `(-1)^(n-1) (n-1)!` times for `n` parts.
    pub(in crate::lbm) fn cumulant_of(moment: &dyn Fn(&[usize]) -> f64, axes: &[usize]) -> f64 {
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

    /// The cumulant of central moments by their orders.
    fn cumulant(m: &Cube<f64>, axes: &[usize]) -> f64 {
        let moment = |part: &[usize]| {
            let order = |axis: usize| part.iter().filter(|&&a| a == axis).count();
            m[order(0)][order(1)][order(2)] / m[0][0][0]
        };
        cumulant_of(&moment, axes)
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

    /// What `relaxed` gives, with its halves made whole.
    fn relaxed(rates: &Rates<f64>, m: &Cube<f64>) -> Cube<f64> {
        let mut n = rates.relaxed(m[0][0][0], m);
        for (k, j, i) in (0..27).map(|at| (at / 9, at / 3 % 3, at % 3)) {
            n[k][j][i] *= f64::from(1 << [k, j, i].iter().filter(|&&order| order > 0).count());
        }
        n
    }

    #[test]
    fn cumulants_of_fourth_order_relax_and_those_above_vanish() {
        let m = some_moments();
        let after = relaxed(&Rates { omega: 1.7, bulk: 1.2, third: 0.8, fourth: 0.6 }, &m);
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
        let after = relaxed(&Rates { omega: 1.7, bulk: 1.2, third: 0.8, fourth: 0.6 }, &m);
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
        let [m0, m1, m2] = [0, 1, 2].map(|order| moment(order, g, u));
        let found = [0, 1, 2].map(|velocity| back(velocity, [m0, 0.5 * m1, 0.5 * m2], u));
        assert!(g.iter().zip(found).all(|(g, found): (&f64, f64)| (g - found).abs() < 1e-15), "{found:?}");
    }
}

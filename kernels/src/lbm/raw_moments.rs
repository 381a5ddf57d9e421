//! Many relaxation times of raw moments: those about rest, powers of the velocities along both axes.
//!
//! Of second order, deviators relax with the viscosity and the trace with a rate of its own, higher ones with further
//! rates; equilibria are those of BGK, so that the collision is BGK's with all rates equal. Moments of orthogonal rows
//! (`mrt`) mix orders, those about the velocity (`cumulant`) relax alike at any velocity: these are made in the fewest
//! operations. Every value has one reader: storage is one lattice.
//!
//! Source: Coreixas, Chopard, Latt: Comprehensive comparison of collision models in the lattice Boltzmann framework:
//! Theoretical investigations, Phys. Rev. E 100, 033305, 2019 (raw moments); Ladd 1994 (walls).

use crate::catalogue::{Case, Entry};
use crate::fields::{Fields, KernelDataError};
use crate::lbm::mrt::{self, scalars};
use crate::lbm::sites::{Set, advance, extents, fields};
use crate::lbm::velocity_set::Lattice;
use crate::real::Real;

/// The lid-driven cavity.
pub const CAVITY: Entry =
    cavity::<f64>("lbm-d2q9-cavity-raw", "lid-driven cavity, D2Q9 MRT of raw moments, half-way bounce-back");
/// The same in single precision.
pub const CAVITY_F32: Entry =
    cavity::<f32>("lbm-d2q9-cavity-raw-f32", "lid-driven cavity, D2Q9 MRT of raw moments, half-way bounce-back, f32");

const RATES: [&str; 4] = ["omega", "s_bulk", "s_third", "s_fourth"];

const fn cavity<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        source: "Coreixas, Chopard, Latt 2019; Ladd 1994",
        definition: || R::parse(include_str!("../texts/lbm_d2q9_cavity_raw.crk")),
        scalars: &[("omega", 1.6), ("s_bulk", 1.1), ("s_third", 1.2), ("s_fourth", 0.9), ("u_lid", 0.08)],
        naive: naive::<R>,
        ..mrt::cavity::<R>(name, summary)
    }
}

fn naive<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (set, shape, rates) = (Set::of(Lattice::D2Q9), extents(case, ["N", "N"])?, scalars::<R, 4>(case, RATES)?);
    let lid = R::of(case.scalar("u_lid")?);
    let last =
        advance(case.steps, set.read::<R>(initial, shape)?, |f, place| leaving(rates, &set.cavity(f, place, lid)));
    Ok(fields(&last))
}

/// The populations that leave a cell.
fn leaving<R: Real>([omega, bulk, third, fourth]: [R; 4], g: &[R]) -> Vec<R> {
    let (half, quarter) = (R::of(0.5), R::of(0.25));
    let relaxed = |rate: R, m: R, equilibrium: R| rate.fma(equilibrium - m, m);
    let s: [R; 4] = std::array::from_fn(|p| g[2 * p + 1] + g[2 * p + 2]);
    let d: [R; 4] = std::array::from_fn(|p| g[2 * p + 1] - g[2 * p + 2]);
    let (both, m21, m12) = (s[3] + s[2], d[3] + d[2], d[3] - d[2]);
    let j = [d[1] + m21, d[0] + m12];
    let rho = g[0] + (s[0] + s[1] + both);
    let inverse = R::of(1.0) / rho;
    let u = j.map(|j| j * inverse);
    let square = j[1].fma(u[1], j[0] * u[0]);
    let (m20, m02) = (s[1] + both, s[0] + both);
    let trace = relaxed(bulk, m20 + m02, R::of(2.0 / 3.0).fma(rho, square));
    let stretch = relaxed(omega, m02 - m20, j[1].fma(u[1], -(j[0] * u[0])));
    let n11 = relaxed(omega, s[3] - s[2], j[0] * u[1]);
    let n21 = relaxed(third, m21, R::of(1.0 / 3.0) * j[0]);
    let n12 = relaxed(third, m12, R::of(1.0 / 3.0) * j[1]);
    let n22 = relaxed(fourth, both, R::of(1.0 / 3.0).fma(square, R::of(1.0 / 9.0) * rho));
    let even = [trace - stretch, trace + stretch].map(|sum| quarter.fma(sum, -half * n22));
    let lean = [j[0] - n21, j[1] - n12];
    let (alike, unlike) = (quarter * (n22 + n11), quarter * (n22 - n11));
    let mut leaving = vec![rho - trace + n22];
    let pairs = [(half, lean[1], even[1]), (half, lean[0], even[0])];
    for (factor, odd, even) in pairs.into_iter().chain([(quarter, n21 - n12, unlike), (quarter, n21 + n12, alike)]) {
        leaving.extend([factor.fma(odd, even), (-factor).fma(odd, even)]);
    }
    leaving
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::noise;

    /// A product of powers of a velocity.
    type Power = fn([i64; 2]) -> i64;

    fn arriving(set: &Set<2>) -> Vec<f64> {
        (0..9).map(|q| set.equilibrium(q, 1.1, &[0.1, -0.07]) * (1.0 + 0.05 * noise(4, &[q]))).collect()
    }

    #[test]
    fn equal_rates_are_a_single_one() {
        let set = Set::of(Lattice::D2Q9);
        let g = arriving(&set);
        let (rho, u) = set.flow(&g);
        for (q, found) in leaving([1.6; 4], &g).into_iter().enumerate() {
            let expected = g[q] + 1.6 * (set.equilibrium(q, rho, &u) - g[q]);
            assert!((found - expected).abs() < 1e-15, "{q}: {found} and {expected}");
        }
    }

    /// Each moment is as far from its equilibrium as its rate leaves it.
    #[test]
    fn moments_relax_with_their_rates() {
        let set = Set::of(Lattice::D2Q9);
        let g = arriving(&set);
        let (rho, u) = set.flow(&g);
        let equilibrium: Vec<f64> = (0..9).map(|q| set.equilibrium(q, rho, &u)).collect();
        let after = leaving([1.7, 1.1, 1.2, 0.9], &g);
        let moments: [(f64, Power); 9] = [
            (0.0, |_| 1),
            (0.0, |c| c[0]),
            (0.0, |c| c[1]),
            (1.1, |c| c[0] * c[0] + c[1] * c[1]),
            (1.7, |c| c[1] * c[1] - c[0] * c[0]),
            (1.7, |c| c[0] * c[1]),
            (1.2, |c| c[0] * c[1] * c[1]),
            (1.2, |c| c[0] * c[0] * c[1]),
            (0.9, |c| c[0] * c[0] * c[1] * c[1]),
        ];
        for (rate, of) in moments {
            let off = |f: &[f64]| (0..9).map(|q| of(set.c[q]) as f64 * (f[q] - equilibrium[q])).sum::<f64>();
            let [before, left] = [&g[..], &after].map(off);
            assert!((left - (1.0 - rate) * before).abs() < 1e-15, "{rate}: {left} of {before}");
        }
    }
}

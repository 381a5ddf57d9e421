//! Many relaxation times: moments of the populations relax, each at a rate of its own.
//!
//! Moments are orthogonal, so that the way back is the transposed matrix over the squares of its rows; in space, where
//! that would be most of the work, `mrt_space` shares what opposite populations have in common. With all rates equal to
//! `omega` the collision is BGK's; energy, its square and its fluxes may be damped more, which is what makes flows of
//! small viscosity stable. Every value has one reader: storage is one lattice.
//!
//! Source: Lallemand, Luo, Phys. Rev. E 61, 2000, equations 7 to 12 (D2Q9, with the equilibria of BGK); d'Humieres,
//! Ginzburg, Krafczyk, Lallemand, Luo: Multiple-relaxation-time lattice Boltzmann models in three dimensions, Phil.
//! Trans. R. Soc. A 360, 2002, appendix A (D3Q19, with `w_e = 3`, `w_ej = -11/2`, `w_xx = -1/2`, those of BGK).

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Fields, KernelDataError, cells};
use crate::lbm::fluid;
use crate::lbm::mrt_space::SpaceRates;
use crate::lbm::sites::{Set, advance, extents, fields, sum};
use crate::lbm::velocity_set::{Lattice, VelocitySet};
use crate::real::Real;

/// The lid-driven cavity.
pub const CAVITY: Entry = cavity::<f64>("lbm-d2q9-cavity-mrt", "lid-driven cavity, D2Q9 MRT, half-way bounce-back");
/// The same in single precision.
pub const CAVITY_F32: Entry =
    cavity::<f32>("lbm-d2q9-cavity-mrt-f32", "lid-driven cavity, D2Q9 MRT, half-way bounce-back, f32");
/// Decaying vortices in a periodic box.
pub const PERIODIC: Entry = periodic::<f64>("lbm-d3q19-periodic-mrt", "decaying vortices in a periodic box, D3Q19 MRT");
/// The same in single precision.
pub const PERIODIC_F32: Entry =
    periodic::<f32>("lbm-d3q19-periodic-mrt-f32", "decaying vortices in a periodic box, D3Q19 MRT, f32");

const SQUARE: [&str; 2] = ["N", "N"];
const SPACE: [&str; 3] = ["NZ", "NY", "NX"];

/// A cavity; what else collides in one takes its sizes and its start.
pub(super) const fn cavity<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "Lallemand, Luo 2000; Ladd 1994",
        definition: || R::parse(include_str!("../texts/lbm_d2q9_cavity_mrt.crk")),
        scalars: &[("omega", 1.6), ("s_energy", 1.4), ("s_square", 1.3), ("s_flux", 1.9), ("u_lid", 0.08)],
        default: Preset { sizes: &[("N", 129)], steps: 100 },
        tests: &[Preset { sizes: &[("N", 11)], steps: 3 }, Preset { sizes: &[("N", 3)], steps: 2 }],
        benches: &[Preset { sizes: &[("N", 1025)], steps: 100 }],
        sites: |case| Ok(cells(&extents(case, SQUARE)?)? as u64),
        initial: |case| fluid::perturbed_vortex(&VelocitySet::new(Lattice::D2Q9), &extents(case, SQUARE)?),
        naive: naive_cavity::<R>,
        published: &[],
    }
}

/// A periodic box, likewise.
pub(super) const fn periodic<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source: "d'Humieres, Ginzburg, Krafczyk, Lallemand, Luo 2002",
        definition: || R::parse(include_str!("../texts/lbm_d3q19_periodic_mrt.crk")),
        scalars: &[
            ("omega", 1.6),
            ("s_energy", 1.19),
            ("s_square", 1.4),
            ("s_flux", 1.2),
            ("s_product", 1.4),
            ("s_third", 1.98),
        ],
        default: Preset { sizes: &[("NZ", 24), ("NY", 25), ("NX", 50)], steps: 20 },
        tests: &[Preset { sizes: &[("NZ", 3), ("NY", 4), ("NX", 9)], steps: 2 }],
        benches: &[Preset { sizes: &[("NZ", 100), ("NY", 101), ("NX", 202)], steps: 20 }],
        sites: |case| Ok(cells(&extents(case, SPACE)?)? as u64),
        initial: |case| fluid::perturbed_vortex(&VelocitySet::new(Lattice::D3Q19), &extents(case, SPACE)?),
        naive: naive_periodic::<R>,
        published: &[],
    }
}

/// What relaxes, as polynomials of a velocity.
struct Moments<const D: usize, const K: usize> {
    set: Set<D>,
    rows: [fn(&[i64; D]) -> i64; K],
}

impl<const D: usize, const K: usize> Moments<D, K> {
    fn row(&self, k: usize, q: usize) -> f64 {
        (self.rows[k])(&self.set.c[q]) as f64
    }

    fn of<R: Real>(&self, g: &[R]) -> [R; K] {
        std::array::from_fn(|k| self.set.moment(g, |q| self.row(k, q)))
    }

    /// Populations less what their moments change by.
    fn leaving<R: Real>(&self, g: &[R], change: [R; K]) -> Vec<R> {
        let norm = |k: usize| (0..self.set.len()).map(|q| self.row(k, q).powi(2)).sum::<f64>();
        let back = |q: usize| {
            let there = (0..K).filter(|&k| self.row(k, q) != 0.0);
            sum(there.map(|k| R::of(self.row(k, q) / norm(k)) * change[k]))
        };
        (0..self.set.len()).map(|q| g[q] - back(q)).collect()
    }
}

/// Moments of D2Q9 beside density and momentum; `c` is `[y, x]`.
fn plane() -> Moments<2, 6> {
    let rows: [fn(&[i64; 2]) -> i64; 6] = [
        |c| 3 * length(c) - 4,
        |c| (9 * length(c) * length(c) - 21 * length(c) + 8) / 2,
        |c| (3 * length(c) - 5) * c[1],
        |c| (3 * length(c) - 5) * c[0],
        |c| c[1] * c[1] - c[0] * c[0],
        |c| c[1] * c[0],
    ];
    Moments { set: Set::of(Lattice::D2Q9), rows }
}

/// The square of a velocity's length.
fn length(c: &[i64]) -> i64 {
    c.iter().map(|c| c * c).sum()
}

fn naive_cavity<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (moments, shape) = (plane(), extents(case, SQUARE)?);
    let [omega, energy, square, flux, lid] =
        scalars::<R, 5>(case, ["omega", "s_energy", "s_square", "s_flux", "u_lid"])?;
    let number = R::of;
    let last = advance(case.steps, moments.set.read::<R>(initial, shape)?, |f, place| {
        let g = moments.set.cavity(f, place, lid);
        let (rho, m) = (sum(g.iter().copied()), moments.of(&g));
        let [jy, jx] = [0, 1].map(|axis| moments.set.momentum(&g, axis));
        let inverse = number(1.0) / rho;
        let jj = (jx * jx + jy * jy) * inverse;
        let change = [
            energy * (m[0] - (number(3.0) * jj - number(2.0) * rho)),
            square * (m[1] - (rho - number(3.0) * jj)),
            flux * (m[2] + jx),
            flux * (m[3] + jy),
            omega * (m[4] - (jx * jx - jy * jy) * inverse),
            omega * (m[5] - jx * jy * inverse),
        ];
        moments.leaving(&g, change)
    });
    Ok(fields(&last))
}

fn naive_periodic<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (set, shape) = (Set::of(Lattice::D3Q19), extents(case, SPACE)?);
    let names = ["omega", "s_energy", "s_square", "s_flux", "s_product", "s_third"];
    let [omega, energy, square, flux, product, third] = scalars::<R, 6>(case, names)?;
    let rates = SpaceRates { omega, energy, square, flux, product, third };
    let last = advance(case.steps, set.read::<R>(initial, shape)?, |f, place| rates.leaving(&set.around(f, place)));
    Ok(fields(&last))
}

/// Several scalars of a case.
pub(super) fn scalars<R: Real, const N: usize>(case: &Case, names: [&str; N]) -> Result<[R; N], KernelDataError> {
    let values = names.iter().map(|name| Ok(R::of(case.scalar(name)?))).collect::<Result<Vec<R>, KernelDataError>>()?;
    Ok(values.try_into().unwrap_or_else(|_| unreachable!("one value for each name")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::noise;
    use crate::lbm::naive::{Boundary, Rates, advance};
    use crate::lbm::storage::Storage;

    /// With all rates equal the collision is BGK's, but for rounding.
    #[test]
    fn equal_rates_are_a_single_one() {
        for (entry, lattice, boundary) in
            [(CAVITY, Lattice::D2Q9, Boundary::Cavity { lid: 0.08 }), (PERIODIC, Lattice::D3Q19, Boundary::Periodic)]
        {
            let mut case = entry.case(&entry.tests[0]);
            case.scalars.iter_mut().filter(|(name, _)| name != "u_lid").for_each(|(_, value)| *value = 1.6);
            let initial = (entry.initial)(&case).unwrap();
            let shape = initial["f0"].shape().to_vec();
            let set = VelocitySet::new(lattice);
            let expected =
                advance(&set, Storage::Double, &shape, boundary, &Rates::fluid(1.6), case.steps, &initial).unwrap();
            for (name, found) in (entry.naive)(&case, &initial).unwrap() {
                let off = found.iter().zip(&expected[&name]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(off < 1e-14, "{} {name}: {off}", entry.name);
            }
        }
    }

    /// Moments of D3Q19 beside density and momentum; `c` is `[z, y, x]`.
    fn space() -> Moments<3, 15> {
        let rows: [fn(&[i64; 3]) -> i64; 15] = [
            |c| 19 * length(c) - 30,
            |c| (21 * length(c) * length(c) - 53 * length(c) + 24) / 2,
            |c| (5 * length(c) - 9) * c[2],
            |c| (5 * length(c) - 9) * c[1],
            |c| (5 * length(c) - 9) * c[0],
            |c| 3 * c[2] * c[2] - length(c),
            |c| (3 * length(c) - 5) * (3 * c[2] * c[2] - length(c)),
            |c| c[1] * c[1] - c[0] * c[0],
            |c| (3 * length(c) - 5) * (c[1] * c[1] - c[0] * c[0]),
            |c| c[2] * c[1],
            |c| c[1] * c[0],
            |c| c[2] * c[0],
            |c| (c[1] * c[1] - c[0] * c[0]) * c[2],
            |c| (c[0] * c[0] - c[2] * c[2]) * c[1],
            |c| (c[2] * c[2] - c[1] * c[1]) * c[0],
        ];
        Moments { set: Set::of(Lattice::D3Q19), rows }
    }

    /// Sums and differences of pairs give what the rows of the matrix give, each moment with a rate of its own.
    #[test]
    fn moments_of_pairs_are_those_of_the_matrix() {
        let moments = space();
        let rates = SpaceRates { omega: 1.7, energy: 1.19, square: 1.4, flux: 1.2, product: 1.3, third: 1.98 };
        let g: Vec<f64> = (0..19).map(|q| moments.set.w[q] * (1.0 + 0.1 * noise(11, &[q]))).collect();
        let (rho, m) = (sum(g.iter().copied()), moments.of(&g));
        let [jz, jy, jx] = [0, 1, 2].map(|axis| moments.set.momentum(&g, axis));
        let jj = (jx * jx + jy * jy + jz * jz) / rho;
        let (stretch, turn) = (3.0 * jx * jx / rho - jj, (jy * jy - jz * jz) / rho);
        let equilibrium = [
            19.0 * jj - 11.0 * rho,
            3.0 * rho - 5.5 * jj,
            -2.0 / 3.0 * jx,
            -2.0 / 3.0 * jy,
            -2.0 / 3.0 * jz,
            stretch,
            -0.5 * stretch,
            turn,
            -0.5 * turn,
            jx * jy / rho,
            jy * jz / rho,
            jx * jz / rho,
            0.0,
            0.0,
            0.0,
        ];
        let SpaceRates { omega, energy, square, flux, product, third } = rates;
        let rate = [
            energy, square, flux, flux, flux, omega, product, omega, product, omega, omega, omega, third, third, third,
        ];
        let expected = moments.leaving(&g, std::array::from_fn(|k| rate[k] * (m[k] - equilibrium[k])));
        let found = rates.leaving(&g);
        let off = expected.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-15, "{off}: {found:?}");
    }
}

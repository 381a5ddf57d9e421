//! A limiter: collisions leave no negative population.
//!
//! Where the rate of the viscosity would leave one, all populations of the cell relax at the largest rate that leaves
//! none, so that mass and momentum are kept. Every value has one reader: storage is one lattice.
//!
//! Source: Brownlee, Gorban, Levesley: Stability and stabilization of the lattice Boltzmann method, Phys. Rev. E 75,
//! 036711, 2007 (positivity rule); Ladd 1994 (walls).

use crate::catalogue::{Case, Entry};
use crate::fields::{Fields, KernelDataError};
use crate::lbm::mrt;
use crate::lbm::sites::{Set, advance, extents, fields};
use crate::lbm::velocity_set::Lattice;
use crate::real::Real;

/// The lid-driven cavity.
pub const CAVITY: Entry =
    cavity::<f64>("lbm-d2q9-cavity-positive", "lid-driven cavity, D2Q9 BGK with a positivity limiter");
/// The same in single precision.
pub const CAVITY_F32: Entry =
    cavity::<f32>("lbm-d2q9-cavity-positive-f32", "lid-driven cavity, D2Q9 BGK with a positivity limiter, f32");

const fn cavity<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        source: "Brownlee, Gorban, Levesley 2007; Ladd 1994",
        definition: || R::parse(include_str!("../texts/lbm_d2q9_cavity_positive.crk")),
        scalars: &[("omega", 1.9), ("u_lid", 0.3)],
        naive: naive::<R>,
        ..mrt::cavity::<R>(name, summary)
    }
}

fn naive<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (set, shape) = (Set::of(Lattice::D2Q9), extents(case, ["N", "N"])?);
    let [omega, lid] = [R::of(case.scalar("omega")?), R::of(case.scalar("u_lid")?)];
    let last = advance(case.steps, set.read::<R>(initial, shape)?, |f, place| {
        let g = set.cavity(f, place, lid);
        let (rho, u) = set.flow(&g);
        let e: Vec<R> = (0..set.len()).map(|q| set.equilibrium(q, rho, &u)).collect();
        let most = |q: usize| {
            if g[q] + omega * (e[q] - g[q]) < R::default() { g[q] / (g[q] - e[q]) } else { omega }
        };
        let rate = (0..set.len()).map(most).fold(omega, |least, rate| if rate < least { rate } else { least });
        (0..set.len()).map(|q| g[q] + rate * (e[q] - g[q])).collect()
    });
    Ok(fields(&last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_negative_is_limited_and_stays_positive() {
        let mut case = CAVITY.case(&CAVITY.tests[0]);
        case.steps = 60;
        // Rates near 2 beside a fast lid make negative populations.
        case.scalars = vec![("omega".to_owned(), 1.99), ("u_lid".to_owned(), 0.45)];
        let initial = (CAVITY.initial)(&case).unwrap();
        let least = |fields: &Fields| fields.values().flatten().copied().fold(f64::INFINITY, f64::min);
        assert!(least(&(CAVITY.naive)(&case, &initial).unwrap()) >= -1e-15);
        let unlimited = |g: &[f64]| {
            let set = Set::<2>::of(Lattice::D2Q9);
            let (rho, u) = set.flow(g);
            (0..9).map(|q| g[q] + 1.99 * (set.equilibrium(q, rho, &u) - g[q])).fold(f64::INFINITY, f64::min)
        };
        // A cell of which almost everything moves one way.
        assert!(unlimited(&[0.4, 0.3, 0.001, 0.1, 0.1, 0.03, 0.001, 0.03, 0.001]) < 0.0);
    }
}

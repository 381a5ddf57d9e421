//! Collisions that look at the stress, the second moments of what is out of equilibrium: the regularised one keeps
//! nothing else, and Smagorinsky's model makes the viscosity grow with it.
//!
//! The eddy viscosity is `(c_s)^2 |S|`, where the strain rate `S` is the stress over the density and the time of
//! relaxation that it changes; with that, `tau = (tau_0 + sqrt(tau_0^2 + 18 sqrt(2) c_s^2 |stress| / rho)) / 2`. Every
//! value has one reader: storage is one lattice.
//!
//! Source: Latt, Chopard: Lattice Boltzmann method with regularized pre-collision distribution functions, Math. Comput.
//! Simul. 72, 2006, equation 15; Hou, Sterling, Chen, Doolen: A lattice Boltzmann subgrid model for high Reynolds
//! number flows, 1996, equation 2.17.

use crate::catalogue::{Case, Entry};
use crate::fields::{Fields, KernelDataError};
use crate::lbm::mrt;
use crate::lbm::sites::{Set, advance, extents, fields, sum};
use crate::lbm::velocity_set::Lattice;
use crate::real::Real;

/// The lid-driven cavity, regularised.
pub const CAVITY: Entry =
    cavity::<f64>("lbm-d2q9-cavity-regularised", "lid-driven cavity, D2Q9 regularised BGK, half-way bounce-back");
/// The same in single precision.
pub const CAVITY_F32: Entry = cavity::<f32>(
    "lbm-d2q9-cavity-regularised-f32",
    "lid-driven cavity, D2Q9 regularised BGK, half-way bounce-back, f32",
);
/// A periodic box with Smagorinsky's model.
pub const PERIODIC: Entry =
    periodic::<f64>("lbm-d3q19-periodic-smagorinsky", "vortices in a periodic box, D3Q19 BGK, Smagorinsky's model");
/// The same in single precision.
pub const PERIODIC_F32: Entry = periodic::<f32>(
    "lbm-d3q19-periodic-smagorinsky-f32",
    "vortices in a periodic box, D3Q19 BGK, Smagorinsky's model, f32",
);

const SQUARE: [&str; 2] = ["N", "N"];
const SPACE: [&str; 3] = ["NZ", "NY", "NX"];

const fn cavity<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        source: "Latt, Chopard 2006; Ladd 1994",
        definition: || R::parse(include_str!("../texts/lbm_d2q9_cavity_regularised.crk")),
        scalars: &[("omega", 1.6), ("u_lid", 0.08)],
        naive: naive_cavity::<R>,
        ..mrt::cavity::<R>(name, summary)
    }
}

const fn periodic<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        source: "Hou, Sterling, Chen, Doolen 1996",
        definition: || R::parse(include_str!("../texts/lbm_d3q19_periodic_smagorinsky.crk")),
        scalars: &[("tau", 0.51), ("cs", 0.16)],
        naive: naive_periodic::<R>,
        ..mrt::periodic::<R>(name, summary)
    }
}

/// Equilibria, and the second moments of what is out of them.
fn stress<R: Real, const D: usize>(set: &Set<D>, g: &[R]) -> (R, Vec<R>, [[R; D]; D]) {
    let (rho, u) = set.flow(g);
    let e: Vec<R> = (0..set.len()).map(|q| set.equilibrium(q, rho, &u)).collect();
    let out: Vec<R> = g.iter().zip(&e).map(|(&g, &e)| g - e).collect();
    let product = |q: usize, a: usize, b: usize| (set.c[q][a] * set.c[q][b]) as f64;
    let stress = std::array::from_fn(|a| std::array::from_fn(|b| set.moment(&out, |q| product(q, a, b))));
    (rho, e, stress)
}

fn naive_cavity<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (set, shape) = (Set::of(Lattice::D2Q9), extents(case, SQUARE)?);
    let [omega, lid] = [R::of(case.scalar("omega")?), R::of(case.scalar("u_lid")?)];
    let kept = R::of(1.0) - omega;
    let last = advance(case.steps, set.read::<R>(initial, shape)?, |f, place| {
        let (_, e, stress) = stress(&set, &set.cavity(f, place, lid));
        let tensor =
            |q: usize, a: usize, b: usize| (set.c[q][a] * set.c[q][b]) as f64 - f64::from(u8::from(a == b)) / 3.0;
        let leaving = |q: usize| {
            let pairs = (0..2).flat_map(|a| (0..2).map(move |b| (a, b))).filter(|&(a, b)| tensor(q, a, b) != 0.0);
            let along = sum(pairs.map(|(a, b)| R::of(tensor(q, a, b)) * stress[a][b]));
            e[q] + kept * (R::of(4.5 * set.w[q]) * along)
        };
        (0..set.len()).map(leaving).collect()
    });
    Ok(fields(&last))
}

fn naive_periodic<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (set, shape) = (Set::of(Lattice::D3Q19), extents(case, SPACE)?);
    let [tau, cs] = [R::of(case.scalar("tau")?), R::of(case.scalar("cs")?)];
    let eddies = R::of(18.0 * std::f64::consts::SQRT_2) * (cs * cs);
    let last = advance(case.steps, set.read::<R>(initial, shape)?, |f, place| {
        let g = set.around(f, place);
        let (rho, e, stress) = stress(&set, &g);
        let square: R = sum(stress.iter().flatten().map(|&s| s * s));
        let omega = R::of(2.0) / (tau + (tau * tau + eddies * square.root() / rho).root());
        (0..set.len()).map(|q| g[q] - omega * (g[q] - e[q])).collect()
    });
    Ok(fields(&last))
}

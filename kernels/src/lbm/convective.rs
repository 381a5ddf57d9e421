//! A channel whose inflow is in equilibrium and whose outflow is convective: what arrives in the last column moves out
//! at a speed that is given, so that vortices leave as they are.
//!
//! In the last column every value has two readers, the cell that it streams to and its own; so has every value in the
//! column before it. Storage is then not exactly one lattice, but more by what these columns need.
//!
//! Source: I. Orlanski, J. Comput. Phys. 21, 1976 (outflow), for populations as in Q. Lou, Z. Guo, B. Shi, Phys. Rev. E
//! 87, 063301, 2013; Mohamad, Succi, Eur. Phys. J. Special Topics 171, 2009 (equilibrium boundaries).

use crate::catalogue::{Case, Entry};
use crate::fields::{Fields, KernelDataError};
use crate::grid::Grid;
use crate::lbm::inflow::INFLOW;
use crate::lbm::sites::{Set, advance, extents, fields};
use crate::lbm::velocity_set::Lattice;
use crate::lbm::zou_he;
use crate::real::Real;

/// The channel.
pub const CHANNEL: Entry =
    entry::<f64>("lbm-d2q9-channel-convective", "channel, D2Q9 BGK, equilibrium inlet and convective outlet");
/// The same in single precision.
pub const CHANNEL_F32: Entry =
    entry::<f32>("lbm-d2q9-channel-convective-f32", "channel, D2Q9 BGK, equilibrium inlet and convective outlet, f32");

const fn entry<R: Real>(name: &'static str, summary: &'static str) -> Entry {
    Entry {
        source: "Orlanski 1976; Lou, Guo, Shi 2013; Mohamad, Succi 2009",
        definition: || R::parse(include_str!("../texts/lbm_d2q9_channel_convective.crk")),
        scalars: &[("omega", 1.25), ("u_mean", 0.04), ("convection", 0.04)],
        naive: naive::<R>,
        ..zou_he::entry::<R>(name, summary)
    }
}

fn naive<R: Real>(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let (set, shape) = (Set::of(Lattice::D2Q9), extents(case, ["NY", "NX"])?);
    let scalar = |name: &str| Ok(R::of(case.scalar(name)?));
    let (omega, u_mean, convection) = (scalar("omega")?, scalar("u_mean")?, scalar("convection")?);
    let inflow = Grid::<R, 1>::read(initial, INFLOW, [shape[0]])?;
    let (number, last) = (R::of, shape[1] as i64 - 1);
    let last = advance(case.steps, set.read::<R>(initial, shape)?, |f, place| {
        let [y, x] = place;
        if x == last {
            return f.iter().map(|f| f[place] - convection * (f[place] - f[[y, x - 1]])).collect();
        }
        let arriving = |q: usize| {
            let from = set.upwind(q, place);
            match f[q].has(from) {
                true => f[q][from],
                false if !f[q].has([from[0], x]) => f[set.opposite(q)][place],
                false => {
                    let v = u_mean * inflow[[y]];
                    number(set.w[q]) * (number(1.0) + (number(3.0) + number(3.0) * v) * v)
                }
            }
        };
        let g: Vec<R> = (0..set.len()).map(arriving).collect();
        let (rho, u) = set.flow(&g);
        (0..set.len()).map(|q| g[q] - omega * (g[q] - set.equilibrium(q, rho, &u))).collect()
    });
    Ok(fields(&last))
}

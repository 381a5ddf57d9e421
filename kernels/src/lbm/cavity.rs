//! The lid-driven cavity: a box of resting walls and one moving lid.
//!
//! Walls bounce back half-way: a population that would come from beyond a wall is the opposite one of the same site, so
//! that every value has exactly one reader and its slot dies there. The lid is the wall after the last row (2-D) or
//! plane (3-D); it moves along `x` at `u_lid` and adds `6 w_q rho_0 c_q.u_lid` with the constant `rho_0 = 1`: a
//! local density would be a second reader.
//!
//! Source: Ladd, J. Fluid Mech. 271, 1994 (half-way bounce-back with moving walls); Ghia, Ghia, Shin 1982 (the flow).

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Fields, KernelDataError, cells};
use crate::lbm::naive::{Boundary, advance};
use crate::lbm::region::{BoxKernel, Outside, Region, Side};
use crate::lbm::velocity_set::{Lattice, VelocitySet};
use crate::lbm::{fluid, periodic};

/// The catalogue's entry for D2Q9.
pub const ENTRY: Entry = Entry {
    name: "lbm-d2q9-cavity",
    summary: "lid-driven cavity, D2Q9 BGK, half-way bounce-back",
    source: "Ladd 1994; Ghia, Ghia, Shin 1982",
    text: || definition(Lattice::D2Q9, &["N", "N"]),
    scalars: &[("omega", 1.6), ("u_lid", 0.08)],
    default: Preset { sizes: &[("N", 256)], steps: 100 },
    tests: &[
        Preset { sizes: &[("N", 11)], steps: 4 },
        Preset { sizes: &[("N", 4)], steps: 5 },
        Preset { sizes: &[("N", 3)], steps: 0 },
    ],
    benches: &[Preset { sizes: &[("N", 1024)], steps: 100 }, Preset { sizes: &[("N", 4096)], steps: 20 }],
    sites: |case| Ok(cells(&[case.extent("N", 3)?; 2])? as u64),
    initial: |case| {
        let n = case.extent("N", 3)?;
        fluid::perturbed_vortex(&VelocitySet::new(Lattice::D2Q9), &[n, n])
    },
    naive: |case, initial| naive(Lattice::D2Q9, &["N", "N"], case, initial),
    published: &[],
};

/// The kernel's text for any lattice; `extents` are size parameters, one per axis, outermost axis first.
pub fn definition(lattice: Lattice, extents: &[&str]) -> String {
    let set = VelocitySet::new(lattice);
    let mut schedules = periodic::schedules(&set);
    schedules.push(("bands", bands(&set)));
    BoxKernel {
        name: format!("lbm_{}_cavity", lattice.name()),
        set: &set,
        extents,
        scalars: &["u_lid"],
        profiles: &[],
        solid: None,
        outside: &|region, q| Outside::Taken(bounced(&set, region, q)),
        derive: &|_| String::new(),
        schedules,
    }
    .text()
}

/// Naive loops on two lattices; `extents` are the names of the sizes in `case`, outermost axis first.
///
/// # Errors
/// [`KernelDataError`] if a size, a scalar or an array is missing or unfit.
pub fn naive(lattice: Lattice, extents: &[&str], case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let shape = extents.iter().map(|name| case.extent(name, 3)).collect::<Result<Vec<_>, _>>()?;
    let boundary = Boundary::Cavity { u_lid: case.scalar("u_lid")? };
    advance(&VelocitySet::new(lattice), &shape, boundary, case.scalar("omega")?, case.steps, initial)
}

/// Several steps at a time: skewed bands that march along the outermost axis.
pub(super) fn bands(set: &VelocitySet) -> String {
    let (outer, inner) = (set.axes()[0], &set.axes()[1..]);
    format!("[floor(t/8), floor(({outer} + t)/16), t, {outer}, {} vector(8)]", inner.join(", "))
}

/// The opposite population, plus what the lid gives it.
fn bounced(set: &VelocitySet, region: &Region, q: usize) -> String {
    let resting = format!("{}[t-1, {}]", set.array(set.opposite(q)), set.axes().join(", "));
    let velocity = set.velocity(q);
    let from_lid = region.side(0) == Side::High && velocity[0] == -1;
    let gain = 6.0 * set.weight(q);
    match velocity[set.dims() - 1] {
        1 if from_lid => format!("{resting} + {gain:?} * u_lid"),
        -1 if from_lid => format!("{resting} - {gain:?} * u_lid"),
        _ => resting,
    }
}

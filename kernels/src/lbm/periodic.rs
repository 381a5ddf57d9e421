//! A periodic box: what leaves on one side enters on the other.
//!
//! The regions at the border read their neighbours at the far end by constant coordinates, so no index needs a remainder.
//!
//! Source: Taylor, Green 1937 (the flow); Qian et al. 1992 (the scheme).

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Fields, KernelDataError, cells};
use crate::lbm::fluid;
use crate::lbm::naive::{Boundary, advance};
use crate::lbm::region::{BoxKernel, Outside, Region, shifted};
use crate::lbm::velocity_set::{Lattice, VelocitySet};

/// The catalogue's entry for D2Q9.
pub const ENTRY: Entry = Entry {
    name: "lbm-d2q9-periodic",
    summary: "decaying vortices in a periodic box, D2Q9 BGK",
    source: "Taylor, Green 1937; Qian, d'Humieres, Lallemand 1992",
    text: || definition(Lattice::D2Q9, &["N", "N"]),
    scalars: &[("omega", 1.6)],
    default: Preset { sizes: &[("N", 256)], steps: 100 },
    tests: &[
        Preset { sizes: &[("N", 10)], steps: 4 },
        Preset { sizes: &[("N", 3)], steps: 5 },
        Preset { sizes: &[("N", 4)], steps: 0 },
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
    BoxKernel {
        name: format!("lbm_{}_periodic", lattice.name()),
        set: &set,
        extents,
        scalars: &[],
        profiles: &[],
        solid: None,
        outside: &|region, q| Outside::Taken(wrapped(&set, extents, region, q)),
        derive: &|_| String::new(),
        schedules: schedules(&set),
    }
    .text()
}

/// Naive loops on two lattices; `extents` are the names of the sizes in `case`, outermost axis first.
///
/// # Errors
/// [`KernelDataError`] if a size, a scalar or an array is missing or unfit.
pub fn naive(lattice: Lattice, extents: &[&str], case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let shape = extents.iter().map(|name| case.extent(name, 3)).collect::<Result<Vec<_>, _>>()?;
    advance(&VelocitySet::new(lattice), &shape, Boundary::Periodic, case.scalar("omega")?, case.steps, initial)
}

/// Sweeps, one step after the other: legal whatever the boundary.
pub(super) fn schedules(set: &VelocitySet) -> Vec<(&'static str, String)> {
    let (outer, inner) = (set.axes()[0], set.axes()[1..].join(", "));
    vec![
        ("rows", format!("[t, {outer} parallel, {inner} vector(8)]")),
        ("rows_sequential", format!("[t, {outer}, {inner} vector(8)]")),
        ("sequential", format!("[t, {outer}, {inner}]")),
        ("tiles", format!("[t, floor({outer}/16) parallel, {outer}, {inner} vector(8)]")),
    ]
}

fn wrapped(set: &VelocitySet, extents: &[&str], region: &Region, q: usize) -> String {
    let upwind = |axis: usize| {
        let c = set.velocity(q)[axis];
        match (region.comes_from_outside(axis, c), c) {
            (true, 1) => format!("{}-1", extents[axis]),
            (true, _) => "0".into(),
            (false, c) => shifted(set.axes()[axis], -c),
        }
    };
    format!("{}[t-1, {}]", set.array(q), (0..set.dims()).map(upwind).collect::<Vec<_>>().join(", "))
}

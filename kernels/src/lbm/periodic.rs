//! A periodic box: what leaves on one side enters on the other.
//!
//! The regions at the border read their neighbours at the far end by constant coordinates, so no index needs a
//! remainder.
//!
//! Source: Taylor, Green 1937 (the flow); Qian et al. 1992 (the scheme).

use crate::catalogue::Case;
use crate::fields::{Fields, KernelDataError};
use crate::lbm::naive::{Boundary, Rates, advance};
use crate::lbm::region::{BoxKernel, Outside, Region, shifted};
use crate::lbm::storage::{Scheme, Storage};
use crate::lbm::velocity_set::VelocitySet;
use crate::lbm::{concentration, fluid};

/// The kernel's text for any lattice; `extents` are size parameters, one per axis, outermost axis first.
pub fn definition(scheme: impl Into<Scheme>, extents: &[&str]) -> String {
    let scheme = scheme.into();
    let set = VelocitySet::new(scheme.lattice);
    BoxKernel {
        name: format!("lbm_{}_periodic{}", scheme.lattice.name(), scheme.suffix()),
        set: &set,
        storage: scheme.storage,
        extents,
        scalars: &[],
        profiles: &[],
        solid: None,
        outside: &|region, q| Outside::Taken(wrapped(&set, scheme.storage, extents, region, q)),
        derive: &|_| String::new(),
        schedules: schedules(&set, scheme.storage),
    }
    .text()
}

/// Naive loops on two lattices; `extents` are the names of the sizes in `case`, outermost axis first.
///
/// # Errors
/// [`KernelDataError`] if a size, a scalar or an array is missing or unfit.
pub fn naive(
    scheme: impl Into<Scheme>,
    extents: &[&str],
    case: &Case,
    initial: &Fields,
) -> Result<Fields, KernelDataError> {
    let Scheme { lattice, storage } = scheme.into();
    let shape = case.extents(extents, 3)?;
    let set = VelocitySet::new(lattice);
    advance(&set, storage, &shape, Boundary::Periodic, &Rates::of(&set, case)?, case.steps, initial)
}

/// What the lattice carries, in waves, every population off by up to a thousandth: a vortex, or a concentration.
///
/// # Errors
/// [`KernelDataError`] if a size is missing or unfit, or memory could not hold a field.
pub fn initial(scheme: impl Into<Scheme>, extents: &[&str], case: &Case) -> Result<Fields, KernelDataError> {
    let Scheme { lattice, storage } = scheme.into();
    let (set, shape) = (VelocitySet::new(lattice), case.extents(extents, 3)?);
    let populations = match set.carries_momentum() {
        true => fluid::perturbed_vortex(&set, &shape)?,
        false => concentration::perturbed_waves(&set, &shape)?,
    };
    Ok(storage.held(&set, populations))
}

/// Sweeps, one step after the other: legal whatever the boundary.
pub(super) fn schedules(set: &VelocitySet, storage: Storage) -> Vec<(&'static str, String)> {
    let (outer, inner, lanes) = (set.axes()[0], set.axes()[1..].join(", "), storage.lanes());
    vec![
        ("rows", format!("[t, {outer} parallel, {inner} vector({lanes})]")),
        ("rows_sequential", format!("[t, {outer}, {inner} vector({lanes})]")),
        ("sequential", format!("[t, {outer}, {inner}]")),
        ("tiles", format!("[t, floor({outer}/16) parallel, {outer}, {inner} vector({lanes})]")),
    ]
}

fn wrapped(set: &VelocitySet, storage: Storage, extents: &[&str], region: &Region, q: usize) -> String {
    let upwind = |axis: usize| {
        let c = set.velocity(q)[axis];
        match (region.comes_from_outside(axis, c), c) {
            (true, 1) => format!("{}-1", extents[axis]),
            (true, _) => "0".into(),
            (false, c) => shifted(set.axes()[axis], -c),
        }
    };
    format!("{}[t-1, {}]", storage.array(q), (0..set.dims()).map(upwind).collect::<Vec<_>>().join(", "))
}

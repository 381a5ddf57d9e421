//! A periodic box: what leaves on one side enters on the other.
//!
//! The regions at the border read their neighbours at the far end by constant coordinates, so no index needs a
//! remainder.
//!
//! Source: Taylor, Green 1937 (the flow); Qian et al. 1992 (the scheme).

use crease::Kernel;
use crease::kernel::KernelError;
use crease::kernel::builder::{ArrayRef, Index, StmtRef, Time, Value};

use crate::catalogue::Case;
use crate::fields::{Fields, KernelDataError};
use crate::lbm::collision::collide;
use crate::lbm::moments;
use crate::lbm::naive::{Boundary, Rates, advance};
use crate::lbm::region::{FluidBox, Region};
use crate::lbm::storage::Scheme;
use crate::lbm::velocity_set::VelocitySet;
use crate::lbm::{concentration, fluid};

/// The kernel for any lattice; `extents` are size parameters, one per axis, outermost axis first.
///
/// # Errors
/// [`KernelError`] if the extents are no names.
pub fn definition(scheme: impl Into<Scheme>, extents: &[&str]) -> Result<Kernel, KernelError> {
    let scheme = scheme.into();
    let set = VelocitySet::new(scheme.lattice);
    let b = Kernel::builder(format!("lbm_{}_periodic{}", scheme.lattice.name(), scheme.suffix()));
    let fluid = FluidBox::new(&b, &set, scheme.storage, extents);
    let f = fluid.populations();
    let advance = |region: &Region| {
        let incoming = fluid.incoming(&f, region, |q| wrapped(&fluid, &f, region, q));
        fluid.advance(&f, region, collide(&set, scheme.storage, &fluid.scalars, &incoming))
    };
    let stmts: Vec<StmtRef> = Region::all(set.dims()).iter().map(advance).collect();
    sweeps(&fluid, &stmts);
    moments::observed(&b.build()?, scheme, extents)
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
pub(super) fn sweeps<'k>(fluid: &FluidBox<'k>, stmts: &[StmtRef<'k>]) {
    let (b, t, outer) = (fluid.b, fluid.t, fluid.site[0]);
    let cells = |outermost: &[Time<'k>]| [outermost, &along_rows(fluid)].concat();
    let plain: Vec<Time> = [t].iter().chain(&fluid.site).map(|&x| x.into()).collect();
    b.schedule("rows").order(stmts.to_vec(), cells(&[t.into(), outer.parallel()]));
    b.schedule("rows_sequential").order(stmts.to_vec(), cells(&[t.into(), outer.into()]));
    b.schedule("sequential").order(stmts.to_vec(), plain);
    b.schedule("tiles").order(stmts.to_vec(), cells(&[t.into(), outer.floor_div(16).parallel(), outer.into()]));
}

/// All axes but the outermost one, rows in vectors.
pub(super) fn along_rows<'k>(fluid: &FluidBox<'k>) -> Vec<Time<'k>> {
    let (row, between) = fluid.site[1..].split_last().expect("a box has rows");
    let between = between.iter().map(|&x| Time::from(x));
    between.chain([row.vector(fluid.storage.lanes())]).collect()
}

/// What comes from the far side.
fn wrapped<'k>(fluid: &FluidBox<'k>, f: &[ArrayRef<'k>], region: &Region, q: usize) -> Value<'k> {
    let upwind =
        fluid.set.velocity(q).iter().enumerate().map(|(axis, &c)| match (region.comes_from_outside(axis, c), c) {
            (true, 1) => fluid.extents[axis] - 1,
            (true, _) => Index::from(0),
            (false, c) => fluid.site[axis] - c,
        });
    fluid.before(f[q], upwind)
}

//! The lid-driven cavity: a box of resting walls and one moving lid.
//!
//! Walls bounce back half-way: a population that would come from beyond a wall is the opposite one of the same site, so
//! that every value has exactly one reader and its slot dies there: one lattice is enough, without a cell to spare. The
//! lid is the wall after the last row (2-D) or plane (3-D); it moves along `x` at `u_lid` and adds
//! `6 w_q rho_0 c_q.u_lid` with the constant `rho_0 = 1`: a local density would be a second reader.
//!
//! A lattice that carries a concentration has insulating walls, and a lid that keeps the concentration `c_lid`:
//! populations come back from it with their sign turned, `f_q = 2 w_q c_lid - f_opp(q)` (anti-bounce-back).
//!
//! Source: Ladd, J. Fluid Mech. 271, 1994 (half-way bounce-back with moving walls); Ghia, Ghia, Shin 1982 (the flow);
//! Krueger et al. 2017, section 8.5.2 (anti-bounce-back).

use crease::Kernel;
use crease::kernel::KernelError;
use crease::kernel::builder::{ArrayRef, StmtRef, Time, Value};

use crate::catalogue::Case;
use crate::fields::{Fields, KernelDataError};
use crate::lbm::collision::collide;
use crate::lbm::moments;
use crate::lbm::naive::{Boundary, Rates, advance};
use crate::lbm::periodic;
use crate::lbm::region::{FluidBox, Region, Side};
use crate::lbm::storage::Scheme;
use crate::lbm::velocity_set::VelocitySet;

/// The kernel for any lattice; `extents` are size parameters, one per axis, outermost axis first.
///
/// # Errors
/// [`KernelError`] if the extents are no names.
pub fn definition(scheme: impl Into<Scheme>, extents: &[&str]) -> Result<Kernel, KernelError> {
    let scheme = scheme.into();
    let set = VelocitySet::new(scheme.lattice);
    let b = Kernel::builder(format!("lbm_{}_cavity{}", scheme.lattice.name(), scheme.suffix()));
    let fluid = FluidBox::new(&b, &set, scheme.storage, extents);
    let lid = b.scalar(lid(&set), scheme.storage.arithmetic());
    let f = fluid.populations();
    let advance = |region: &Region| {
        let incoming = fluid.incoming(&f, region, |q| bounced(&fluid, &f, lid, region, q));
        fluid.advance(&f, region, collide(&set, scheme.storage, &fluid.scalars, &incoming))
    };
    let stmts: Vec<StmtRef> = Region::all(set.dims()).iter().map(advance).collect();
    periodic::sweeps(&fluid, &stmts);
    bands(&fluid, &stmts);
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
    let boundary = Boundary::Cavity { lid: case.scalar(lid(&set))? };
    advance(&set, storage, &shape, boundary, &Rates::of(&set, case)?, case.steps, initial)
}

/// What the cavity starts from: as a periodic box does.
///
/// # Errors
/// Those of [`periodic::initial`].
pub fn initial(scheme: impl Into<Scheme>, extents: &[&str], case: &Case) -> Result<Fields, KernelDataError> {
    periodic::initial(scheme, extents, case)
}

/// The run-time scalar of the lid: its speed, or the concentration that it keeps.
fn lid(set: &VelocitySet) -> &'static str {
    if set.carries_momentum() { "u_lid" } else { "c_lid" }
}

/// Several steps at a time: skewed bands that march along the outermost axis.
pub(super) fn bands<'k>(fluid: &FluidBox<'k>, stmts: &[StmtRef<'k>]) {
    let (t, outer) = (fluid.t, fluid.site[0]);
    let band = [t.floor_div(8), (outer + t).floor_div(16), t, outer].map(Time::from);
    fluid.b.schedule("bands").order(stmts.to_vec(), [band.to_vec(), periodic::along_rows(fluid)].concat());
}

/// The opposite population, and what the lid gives it.
fn bounced<'k>(fluid: &FluidBox<'k>, f: &[ArrayRef<'k>], lid: Value<'k>, region: &Region, q: usize) -> Value<'k> {
    let set = fluid.set;
    let resting = fluid.before(f[set.opposite(q)], fluid.site.clone());
    let velocity = set.velocity(q);
    let from_lid = region.side(0) == Side::High && velocity[0] == -1;
    if from_lid && !set.carries_momentum() {
        let held = if fluid.storage.deviates() { lid - 1.0 } else { lid };
        return 2.0 * set.weight(q) * held - resting;
    }
    let gain = 6.0 * set.weight(q);
    match velocity[set.dims() - 1] {
        1 if from_lid => resting + gain * lid,
        -1 if from_lid => resting - gain * lid,
        _ => resting,
    }
}

//! Flow along a channel, past obstacles of any shape.
//!
//! - *Obstacles* are the cells where `solid` is not 0: they send populations back where they came from (full-way
//!   bounce-back), so that the surface lies half a cell outside of them.
//! - *Walls* enclose all axes but the last; they bounce back half-way, as those of the cavity.
//! - *Inlet*, before the first cell of the last axis: half-way bounce-back off a wall that moves inwards with the speed
//!   `u = u_mean inflow`: `f_q = f_opp(q) + 6 w_q u`.
//! - *Outlet*, in the last cell: what comes back is in equilibrium at density 1 and at the cell's own velocity, which
//!   follows from the populations that do not come back. Along the axis that is exact,
//!   `u = sum_(c = 0) g_q + 2 sum_(c = 1) g_q - 1`; across it, the equilibrium's share of the known populations is
//!   divided out. Anti-bounce-back with a constant velocity would be simpler, but amplifies every sound wave that it
//!   reflects.
//!
//! Whatever the border does, it reads populations that this cell reads anyway, or the opposite one of its own cell. So
//! every value keeps its one reader, or has none where it leaves, and storage is that of the cavity: exactly one
//! lattice.
//!
//! Source: Ladd, J. Fluid Mech. 271, 1994 (moving walls); Mohamad, Succi, Eur. Phys. J. Special Topics 171, 2009
//! (equilibrium boundaries); Zou, He, Phys. Fluids 9, 1997 (velocity from known populations); Schaefer, Turek 1996 (the
//! flow).

use ndarray::{Dimension, IxDyn};

use crate::catalogue::Case;
use crate::fields::{Field, Fields, KernelDataError};
use crate::lbm::collision::{balanced_sum, named};
use crate::lbm::inflow::{INFLOW, SOLID, known_share};
use crate::lbm::naive::{Boundary, Rates, advance};
use crate::lbm::obstacle::Cylinder;
use crate::lbm::region::{BoxKernel, Outside, Region, Side};
use crate::lbm::storage::Storage;
use crate::lbm::velocity_set::{Lattice, VelocitySet};
use crate::lbm::{cavity, fluid, periodic};

/// The kernel's text for any lattice; `extents` are size parameters, one per axis, outermost axis first.
pub fn definition(lattice: Lattice, extents: &[&str]) -> String {
    let set = VelocitySet::new(lattice);
    let mut schedules = periodic::schedules(&set, Storage::Double);
    schedules.push(("bands", cavity::bands(&set, Storage::Double)));
    BoxKernel {
        name: format!("lbm_{}_channel", lattice.name()),
        set: &set,
        storage: Storage::Double,
        extents,
        scalars: &["u_mean"],
        profiles: &[INFLOW],
        solid: Some(SOLID),
        outside: &|region, q| from_outside(&set, region, q),
        derive: &|region| outlet(&set, region),
        schedules,
    }
    .text()
}

/// Naive loops on two lattices; `extents` are the names of the sizes in `case`, outermost axis first.
///
/// # Errors
/// [`KernelDataError`] if a size, a scalar or an array is missing or unfit.
pub fn naive(lattice: Lattice, extents: &[&str], case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let shape = case.extents(extents, 3)?;
    let boundary = Boundary::Channel { u_mean: case.scalar("u_mean")? };
    let set = VelocitySet::new(lattice);
    advance(&set, Storage::Double, &shape, boundary, &Rates::of(&set, case)?, case.steps, initial)
}

/// A developed flow everywhere outside the cylinder of the benchmark, its mask and its inflow. Populations are off by
/// up to a thousandth, each in its own way. With the diameter `D`, the height over 4.1, the Reynolds number is
/// `u_mean D / viscosity`.
///
/// # Errors
/// [`KernelDataError`] if a size or a scalar is missing or unfit, or memory could not hold a field.
pub fn initial(lattice: Lattice, extents: &[&str], case: &Case) -> Result<Fields, KernelDataError> {
    let (set, shape, u_mean) = (VelocitySet::new(lattice), case.extents(extents, 3)?, case.scalar("u_mean")?);
    set.sites(&shape)?;
    let inflow = parabola(&shape[..shape.len() - 1]);
    let solid = Cylinder::in_channel(shape[shape.len() - 2]).mask(&shape);
    let mut fields = fluid::populations(&set, &shape, |site| {
        let face = &site[..site.len() - 1];
        let mut u = vec![0.0; site.len()];
        u[face.len()] = u_mean * inflow[face] * (1.0 - solid[site]);
        u
    })?;
    fluid::perturb(&set, &mut fields, 4);
    fields.extend([(INFLOW.to_owned(), inflow), (SOLID.to_owned(), solid)]);
    Ok(fields)
}

/// The speed of a developed flow between walls half a cell outside, at every cell of a face; its mean is 1. In a duct
/// it is the product of two such parabolas.
fn parabola(face: &[usize]) -> Field {
    let along = |axis: usize, at: usize| {
        let position = (at as f64 + 0.5) / face[axis] as f64;
        position * (1.0 - position)
    };
    let shape = Field::from_shape_fn(IxDyn(face), |at| {
        at.slice().iter().enumerate().map(|(axis, &i)| along(axis, i)).product()
    });
    let mean = shape.sum() / shape.len() as f64;
    shape / mean
}

/// The opposite population, as it comes back from a wall or the inlet; the outlet derives what enters there.
fn from_outside(set: &VelocitySet, region: &Region, q: usize) -> Outside {
    let (axes, last) = (set.axes(), set.dims() - 1);
    let leaving = format!("{}[t-1, {}]", set.array(set.opposite(q)), axes.join(", "));
    if enters(set, region, q) {
        return Outside::Derived;
    }
    let velocity = set.velocity(q);
    if (0..last).any(|axis| region.comes_from_outside(axis, velocity[axis])) {
        return Outside::Taken(leaving);
    }
    let slope = 6.0 * set.weight(q);
    Outside::Taken(format!("fma({slope:?}, u_mean * {INFLOW}[{}], {leaving})", axes[..last].join(", ")))
}

/// Whether a population comes in through the outlet, and not from a wall beside it.
fn enters(set: &VelocitySet, region: &Region, q: usize) -> bool {
    let (velocity, last) = (set.velocity(q), set.dims() - 1);
    let from_wall = (0..last).any(|axis| region.comes_from_outside(axis, velocity[axis]));
    region.side(last) == Side::High && velocity[last] == -1 && !from_wall
}

/// Lines that define what comes in through the outlet: an equilibrium at density 1 and velocity `v0, v1, ..`.
fn outlet(set: &VelocitySet, region: &Region) -> String {
    let last = set.dims() - 1;
    if region.side(last) != Side::High {
        return String::new();
    }
    let known = |along: i64, axis: usize, c: i64| {
        let moves = move |q: &usize| set.velocity(*q)[last] >= along && set.velocity(*q)[axis] == c;
        balanced_sum(&named((0..set.len()).filter(moves), "g"))
    };
    let mut text = format!("    let v{last} = fma(2, {}, {}) - 1\n", known(1, last, 1), known(0, last, 0));
    for axis in 0..last {
        let scale = 1.0 / known_share(set, axis);
        text += &format!("    let v{axis} = {scale:?} * ({} - {})\n", known(0, axis, 1), known(0, axis, -1));
    }
    let square = (0..last).fold(format!("v{last} * v{last}"), |sum, axis| format!("fma(v{axis}, v{axis}, {sum})"));
    text += &format!("    let flat = fma(-1.5, {square}, 1)\n");
    for q in (0..set.len()).filter(|&q| enters(set, region, q)) {
        let sign = |c: i64| if c > 0 { "" } else { "-" };
        let across = (0..last).filter(|&axis| set.velocity(q)[axis] != 0);
        let across: Vec<String> = across.map(|axis| format!("{}v{axis}", sign(set.velocity(q)[axis]))).collect();
        let against = if across.is_empty() { format!("-v{last}") } else { format!("{} - v{last}", across.join(" + ")) };
        text += &format!("    let h{q} = {against}\n");
        text += &format!("    let g{q} = {:?} * fma(fma(4.5, h{q}, 3), h{q}, flat)\n", set.weight(q));
    }
    text
}

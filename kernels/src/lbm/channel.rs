//! Flow along a channel, past obstacles of any shape.
//!
//! - *Obstacles* are the cells where `solid` is not 0: they send populations back where they came from (full-way
//!   bounce-back), so that the surface lies half a cell outside of them. Both outcomes are computed and one is
//!   selected: each value keeps its one reader, whatever the geometry. Bounce-back on links would give values two
//!   possible readers.
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

use crease::Kernel;
use crease::kernel::KernelError;
use crease::kernel::builder::{ArrayRef, StmtRef, Value};
use crease::kernel::graph::Element;
use ndarray::{Dimension, IxDyn};

use crate::catalogue::Case;
use crate::fields::{Field, Fields, KernelDataError};
use crate::lbm::collision::{balanced_sum, collide};
use crate::lbm::inflow::{INFLOW, SOLID, known_share};
use crate::lbm::moments;
use crate::lbm::naive::{Boundary, Rates, advance};
use crate::lbm::obstacle::Cylinder;
use crate::lbm::region::{FluidBox, Region, Side};
use crate::lbm::storage::Storage;
use crate::lbm::velocity_set::{Lattice, VelocitySet};
use crate::lbm::{cavity, fluid, periodic};

/// The kernel for any lattice; `extents` are size parameters, one per axis, outermost axis first.
///
/// # Errors
/// [`KernelError`] if the extents are no names.
pub fn definition(lattice: Lattice, extents: &[&str]) -> Result<Kernel, KernelError> {
    let (set, storage) = (VelocitySet::new(lattice), Storage::Double);
    let b = Kernel::builder(format!("lbm_{}_channel", lattice.name()));
    let fluid = FluidBox::new(&b, &set, storage, extents);
    let u_mean = b.scalar("u_mean", storage.arithmetic());
    let across = || fluid.site[..set.dims() - 1].iter().copied();
    let speed = u_mean * b.input(INFLOW, across(), storage.arithmetic(), fluid.face()).at(across());
    let solid = b.input(SOLID, fluid.site.clone(), Element::U8, fluid.space());
    let f = fluid.populations();
    let advance = |region: &Region| {
        let incoming = fluid.incoming(&f, region, |q| from_outside(&fluid, &f, speed, region, q));
        let incoming = through_outlet(&fluid, incoming);
        let collided = collide(&set, storage, &fluid.scalars, &incoming);
        let blocked = solid.at(fluid.site.clone()).differs(0.0);
        let leaving = |(q, value)| blocked.select(incoming[set.opposite(q)], value);
        fluid.advance(&f, region, collided.into_iter().enumerate().map(leaving).collect())
    };
    let stmts: Vec<StmtRef> = Region::all(set.dims()).iter().map(advance).collect();
    periodic::sweeps(&fluid, &stmts);
    cavity::bands(&fluid, &stmts);
    moments::observed(&b.build()?, lattice, extents)
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
pub(super) fn parabola(face: &[usize]) -> Field {
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

/// The opposite population, as it comes back from a wall or the inlet; none where it comes in through the outlet.
fn from_outside<'k>(
    fluid: &FluidBox<'k>,
    f: &[ArrayRef<'k>],
    speed: Value<'k>,
    region: &Region,
    q: usize,
) -> Option<Value<'k>> {
    let (set, last) = (fluid.set, fluid.set.dims() - 1);
    if enters(set, region, q) {
        return None;
    }
    let leaving = fluid.before(f[set.opposite(q)], fluid.site.clone());
    let velocity = set.velocity(q);
    if (0..last).any(|axis| region.comes_from_outside(axis, velocity[axis])) {
        return Some(leaving);
    }
    Some(fluid.b.number(6.0 * set.weight(q)).fma(speed, leaving))
}

/// Whether a population comes in through the outlet, and not from a wall beside it.
fn enters(set: &VelocitySet, region: &Region, q: usize) -> bool {
    let (velocity, last) = (set.velocity(q), set.dims() - 1);
    let from_wall = (0..last).any(|axis| region.comes_from_outside(axis, velocity[axis]));
    region.side(last) == Side::High && velocity[last] == -1 && !from_wall
}

/// All that comes in, with what the outlet lets in: an equilibrium at density 1 and the cell's own velocity.
fn through_outlet<'k>(fluid: &FluidBox<'k>, incoming: Vec<Option<Value<'k>>>) -> Vec<Value<'k>> {
    let (b, set, last) = (fluid.b, fluid.set, fluid.set.dims() - 1);
    if incoming.iter().all(Option::is_some) {
        return incoming.into_iter().flatten().collect();
    }
    let known = |along: i64, axis: usize, c: i64| {
        let moves = |q: &usize| set.velocity(*q)[last] >= along && set.velocity(*q)[axis] == c;
        balanced_sum(&(0..set.len()).filter(moves).filter_map(|q| incoming[q]).collect::<Vec<_>>())
    };
    let out = b.number(2.0).fma(known(1, last, 1), known(0, last, 0)) - 1.0;
    let across = |axis: usize| (1.0 / known_share(set, axis)) * (known(0, axis, 1) - known(0, axis, -1));
    let across: Vec<Value> = (0..last).map(across).collect();
    let square = across.iter().fold(out * out, |sum, v| v.fma(*v, sum));
    let flat = b.number(-1.5).fma(square, 1.0);
    let equilibrium = |q: usize| {
        let moving = set.velocity(q).iter().zip(&across).filter(|(c, _)| **c != 0);
        let across = moving.map(|(c, v)| if *c > 0 { *v } else { -*v }).reduce(|sum, v| sum + v);
        let along = across.map_or(-out, |across| across - out);
        set.weight(q) * b.number(4.5).fma(along, 3.0).fma(along, flat)
    };
    incoming.iter().enumerate().map(|(q, known)| known.unwrap_or_else(|| equilibrium(q))).collect()
}

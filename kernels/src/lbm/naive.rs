//! Naive lattice Boltzmann loops: two full lattices, pull, one site after the other, any velocity set.
//!
//! They share no code with the text of the kernels but the velocity set, and perform the same floating-point
//! operations in the same order, with `mul_add` where the text says `fma`; in `f32` where arrays hold no doubles.

use crate::catalogue::Case;
use crate::fields::{Fields, KernelDataError, cells_of, field};
use crate::lbm::collision;
use crate::lbm::inflow::{INFLOW, SOLID, known_share};
use crate::lbm::storage::Storage;
use crate::lbm::velocity_set::VelocitySet;
use crate::real::Real;

/// What lies beyond the box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Boundary {
    /// The far end of the box.
    Periodic,
    /// Walls; the one after the last coordinate of the first axis is the lid.
    Cavity {
        /// Its speed along the last axis, in cells per step; the concentration that it keeps, if that is what is
        /// carried.
        lid: f64,
    },
    /// Walls, but along the last axis an inlet and an outlet, with obstacles in between.
    Channel {
        /// Mean speed of the inflow, in cells per step.
        u_mean: f64,
    },
}

/// Numbers of a collision.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    /// Relaxation rate, `0 < omega < 2`.
    pub omega: f64,
    /// The wind in cells per step, outermost axis first; a lattice that carries momentum makes its own.
    pub wind: Vec<f64>,
}

impl Rates {
    /// Those of a fluid.
    pub fn fluid(omega: f64) -> Rates {
        Rates { omega, wind: Vec::new() }
    }

    /// Those of a case.
    ///
    /// # Errors
    /// [`KernelDataError::UnknownScalar`] if one of them is missing.
    pub fn of(set: &VelocitySet, case: &Case) -> Result<Rates, KernelDataError> {
        let speed = |axis| case.scalar(&collision::wind(set, axis));
        let wind = if set.carries_momentum() { Ok(Vec::new()) } else { (0..set.dims()).map(speed).collect() };
        Ok(Rates { omega: case.scalar("omega")?, wind: wind? })
    }
}

/// Most populations of any velocity set.
const MAX_Q: usize = 27;

/// Runs `steps` collide-and-stream updates from what `initial` holds; `shape` is `[y, x]` or `[z, y, x]`, every
/// extent at least 2. A channel takes its inflow and its obstacles from `initial`, too.
///
/// # Errors
/// [`KernelDataError::Missing`] or [`KernelDataError::Shape`] if `initial` lacks a population or an input or has
/// another shape, [`KernelDataError::Axes`] if the shape does not fit to the lattice.
pub fn advance(
    set: &VelocitySet,
    storage: Storage,
    shape: &[usize],
    boundary: Boundary,
    rates: &Rates,
    steps: i64,
    initial: &Fields,
) -> Result<Fields, KernelDataError> {
    match storage {
        Storage::Double => advance_in::<f64>(set, storage, shape, boundary, rates, steps, initial),
        Storage::Single | Storage::Half => advance_in::<f32>(set, storage, shape, boundary, rates, steps, initial),
    }
}

fn advance_in<R: Real>(
    set: &VelocitySet,
    storage: Storage,
    shape: &[usize],
    boundary: Boundary,
    rates: &Rates,
    steps: i64,
    initial: &Fields,
) -> Result<Fields, KernelDataError> {
    let sites = set.sites(shape)?;
    let load = |q| Ok(cells_of(initial, &storage.array(q), shape)?.into_iter().map(R::of).collect());
    let mut old = (0..set.len()).map(load).collect::<Result<Vec<Vec<R>>, _>>()?;
    let mut new = old.clone();
    let relaxation = Relaxation::<R>::new(set, storage, rates);
    let surroundings = Surroundings::<R>::new(set, storage, shape, boundary, initial)?;
    let mut site = vec![0; shape.len()];
    for _ in 0..steps {
        for cell in 0..sites {
            let mut f = [R::default(); MAX_Q];
            locate(cell, shape, &mut site);
            for (q, f) in f[..set.len()].iter_mut().enumerate() {
                *f = surroundings.incoming(&old, &site, cell, q);
            }
            surroundings.enter(&mut f, &site);
            if surroundings.solid[cell] {
                set.pairs().for_each(|q| f.swap(q, set.opposite(q)));
            } else {
                relaxation.collide(set, &mut f);
            }
            for (q, population) in new.iter_mut().enumerate() {
                population[cell] = R::of(storage.rounded(f[q].into()));
            }
        }
        std::mem::swap(&mut old, &mut new);
    }
    let widened = |data: Vec<R>| field(shape, data.into_iter().map(Into::into).collect());
    Ok(old.into_iter().enumerate().map(|(q, data)| (storage.array(q), widened(data))).collect())
}

/// Coordinates of a cell in row-major order.
fn locate(cell: usize, shape: &[usize], site: &mut [usize]) {
    let mut rest = cell;
    for axis in (0..shape.len()).rev() {
        site[axis] = rest % shape[axis];
        rest /= shape[axis];
    }
}

/// What a cell sees around it.
struct Surroundings<'a, R> {
    set: &'a VelocitySet,
    storage: Storage,
    shape: &'a [usize],
    boundary: Boundary,
    /// Speed at each cell of the inlet over the mean speed; empty without an inlet.
    inflow: Vec<R>,
    /// Whether a cell is solid.
    solid: Vec<bool>,
}

impl<'a, R: Real> Surroundings<'a, R> {
    fn new(
        set: &'a VelocitySet,
        storage: Storage,
        shape: &'a [usize],
        boundary: Boundary,
        initial: &Fields,
    ) -> Result<Self, KernelDataError> {
        let (inflow, solid) = match boundary {
            Boundary::Periodic | Boundary::Cavity { .. } => (Vec::new(), vec![false; set.sites(shape)?]),
            Boundary::Channel { .. } => {
                let mask = cells_of(initial, SOLID, shape)?;
                let inflow = cells_of(initial, INFLOW, &shape[..shape.len() - 1])?;
                (inflow.into_iter().map(R::of).collect(), mask.into_iter().map(|cell| cell != 0.0).collect())
            }
        };
        Ok(Surroundings { set, storage, shape, boundary, inflow, solid })
    }

    /// The population that reaches a site: from upwind, or from the boundary.
    fn incoming(&self, old: &[Vec<R>], site: &[usize], cell: usize, q: usize) -> R {
        let velocity = self.set.velocity(q);
        let mut upwind = 0;
        for (axis, &extent) in self.shape.iter().enumerate() {
            let coordinate = site[axis] as i64 - velocity[axis];
            if !(0..extent as i64).contains(&coordinate) && self.boundary != Boundary::Periodic {
                return self.reflected(old[self.set.opposite(q)][cell], site, cell, q, axis);
            }
            upwind = upwind * extent + coordinate.rem_euclid(extent as i64) as usize;
        }
        old[q][upwind]
    }

    /// What becomes of the opposite population at the first axis along which `q` comes from outside.
    fn reflected(&self, leaving: R, site: &[usize], cell: usize, q: usize, axis: usize) -> R {
        let (velocity, last, weight) = (self.set.velocity(q), self.shape.len() - 1, self.set.weight(q));
        match self.boundary {
            Boundary::Cavity { lid } if axis == 0 && velocity[0] == -1 && !self.set.carries_momentum() => {
                let lid = if self.storage.deviates() { R::of(lid) - R::of(1.0) } else { R::of(lid) };
                R::of(2.0 * weight) * lid - leaving
            }
            Boundary::Cavity { lid } if axis == 0 && velocity[0] == -1 && velocity[last] != 0 => {
                leaving + R::of(velocity[last] as f64) * (R::of(6.0 * weight) * R::of(lid))
            }
            Boundary::Channel { u_mean } if axis == last && site[last] == 0 => {
                R::of(6.0 * weight).fma(R::of(u_mean) * self.inflow[cell / self.shape[last]], leaving)
            }
            _ => leaving,
        }
    }

    /// Replaces what comes in through the outlet of a channel, if the site lies there, by an equilibrium.
    fn enter(&self, f: &mut [R; MAX_Q], site: &[usize]) {
        let (set, last) = (self.set, self.shape.len() - 1);
        if !matches!(self.boundary, Boundary::Channel { .. }) || site[last] + 1 < self.shape[last] {
            return;
        }
        let known = |along: i64, axis: usize, c: i64| {
            let moves = |q: &usize| set.velocity(*q)[last] >= along && set.velocity(*q)[axis] == c;
            sum_of(f, &(0..set.len()).filter(moves).collect::<Vec<_>>())
        };
        let mut u = vec![R::default(); self.shape.len()];
        u[last] = R::of(2.0).fma(known(1, last, 1), known(0, last, 0)) - R::of(1.0);
        for (axis, u) in u[..last].iter_mut().enumerate() {
            *u = R::of(1.0 / known_share(set, axis)) * (known(0, axis, 1) - known(0, axis, -1));
        }
        let square = (0..last).fold(u[last] * u[last], |square, axis| u[axis].fma(u[axis], square));
        let flat = R::of(-1.5).fma(square, R::of(1.0));
        for (q, f) in f.iter_mut().enumerate().take(set.len()) {
            let velocity = set.velocity(q);
            let from_wall = |axis: usize| {
                let upwind = site[axis] as i64 - velocity[axis];
                !(0..self.shape[axis] as i64).contains(&upwind)
            };
            if velocity[last] != -1 || (0..last).any(from_wall) {
                continue;
            }
            let signed =
                (0..last).filter(|&axis| velocity[axis] != 0).map(|axis| R::of(velocity[axis] as f64) * u[axis]);
            let h = signed.reduce(|sum, u| sum + u).map_or(-u[last], |across| across - u[last]);
            *f = R::of(set.weight(q)) * R::of(4.5).fma(h, R::of(3.0)).fma(h, flat);
        }
    }
}

/// Constants of a collision, and its loops unrolled into lists.
struct Relaxation<R> {
    /// Relaxation rate.
    omega: R,
    /// The wind, outermost axis first.
    wind: Vec<R>,
    /// What the sum of what arrays hold lacks of the density.
    missing: R,
    /// Per axis, first populations of the pairs that move along it and against it.
    moving: Vec<(Vec<usize>, Vec<usize>)>,
    /// First populations of all pairs.
    pairs: Vec<usize>,
}

impl<R: Real> Relaxation<R> {
    fn new(set: &VelocitySet, storage: Storage, rates: &Rates) -> Relaxation<R> {
        let moving = |axis: usize, c: i64| set.pairs().filter(|&q| set.velocity(q)[axis] == c).collect();
        let along = |axis| (moving(axis, 1), moving(axis, -1));
        Relaxation {
            omega: R::of(rates.omega),
            wind: rates.wind.iter().map(|speed| R::of(*speed)).collect(),
            missing: R::of(f64::from(u8::from(storage.deviates()))),
            moving: (0..set.dims()).map(along).collect(),
            pairs: set.pairs().collect(),
        }
    }

    /// Replaces incoming populations by outgoing ones.
    fn collide(&self, set: &VelocitySet, f: &mut [R; MAX_Q]) {
        let omega = self.omega;
        let kept = R::of(1.0) - omega;
        let half = R::of(0.5) * kept;
        let (mut sum, mut difference) = ([R::default(); MAX_Q], [R::default(); MAX_Q]);
        for &q in &self.pairs {
            sum[q] = f[q] + f[q + 1];
            difference[q] = f[q] - f[q + 1];
        }
        let held = f[0] + sum_of(&sum, &self.pairs);
        // Without deviations nothing is missing, and a density is no negative zero.
        let rho = self.missing + held;
        if !set.carries_momentum() {
            f[0] = kept.fma(f[0], (R::of(set.weight(0)) * omega) * held);
            for &q in &self.pairs {
                let (weight, wind) = (set.weight(q), projection(set.velocity(q), &self.wind));
                let even = half.fma(sum[q], (R::of(weight) * omega) * held);
                let odd = half.fma(difference[q], (R::of(3.0 * weight) * omega * wind) * rho);
                f[q] = even + odd;
                f[q + 1] = even - odd;
            }
            return;
        }
        let mut j = [R::default(); 3];
        for (axis, (along, against)) in self.moving.iter().enumerate() {
            j[axis] = sum_of(&difference, along);
            if !against.is_empty() {
                j[axis] = j[axis] - sum_of(&difference, against);
            }
        }
        let inverse = R::of(1.0) / rho;
        let last = set.dims() - 1;
        let square = (0..last).rev().fold(j[last] * j[last], |square, axis| j[axis].fma(j[axis], square));
        let base = (R::of(-1.5) * square).fma(inverse, held);
        f[0] = kept.fma(f[0], (R::of(set.weight(0)) * omega) * base);
        for &q in &self.pairs {
            let (weight, c) = (set.weight(q), projection(set.velocity(q), &j));
            let curvature = (R::of(4.5 * weight) * omega) * inverse;
            let even = half.fma(sum[q], (curvature * c).fma(c, (R::of(weight) * omega) * base));
            let odd = half.fma(difference[q], (R::of(3.0 * weight) * omega) * c);
            f[q] = even + odd;
            f[q + 1] = even - odd;
        }
    }
}

/// The sum over some populations, split in halves.
fn sum_of<R: Real>(values: &[R; MAX_Q], populations: &[usize]) -> R {
    match populations {
        [] => R::default(),
        [q] => values[*q],
        _ => {
            let (left, right) = populations.split_at(populations.len().div_ceil(2));
            sum_of(values, left) + sum_of(values, right)
        }
    }
}

/// `c.j`, from the first axis on; the first non-zero component is positive.
fn projection<R: Real>(velocity: &[i64], j: &[R]) -> R {
    let mut sum: Option<R> = None;
    for (&c, &j) in velocity.iter().zip(j).filter(|(c, _)| **c != 0) {
        sum = Some(match sum {
            None => j,
            Some(sum) if c > 0 => sum + j,
            Some(sum) => sum - j,
        });
    }
    sum.unwrap_or_default()
}

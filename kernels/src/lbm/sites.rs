//! Naive loops of lattices in any precision: cell after cell, on two lattices in turn.
//!
//! In: populations, and what becomes of those that arrive at a cell.   Out: populations some steps later.
//!
//! `naive` has the loops of the BGK kernels that the builder makes; these are those of kernels that are texts, so that
//! each file says what its collision computes and no more. Sums begin with their first term, and terms whose factor is
//! a known 0 are left out, as texts leave them out by `if`.

use ndarray::{Dimension, IxDyn};

use crate::catalogue::Case;
use crate::fields::{Field, Fields, KernelDataError, cells, noise};
use crate::grid::Grid;
use crate::lbm::velocity_set::{Lattice, VelocitySet};
use crate::real::Real;

/// Velocities and weights.
pub(super) struct Set<const D: usize> {
    pub(super) c: Vec<[i64; D]>,
    pub(super) w: Vec<f64>,
}

/// Populations, one grid each.
pub(super) type Populations<R, const D: usize> = Vec<Grid<R, D>>;

impl<const D: usize> Set<D> {
    /// Those of a lattice, which must have `D` dimensions.
    pub(super) fn of(lattice: Lattice) -> Set<D> {
        let set = VelocitySet::new(lattice);
        let velocity = |q| set.velocity(q).try_into().expect("the lattice has as many dimensions");
        Set { c: (0..set.len()).map(velocity).collect(), w: (0..set.len()).map(|q| set.weight(q)).collect() }
    }

    /// Number of velocities.
    pub(super) fn len(&self) -> usize {
        self.w.len()
    }

    /// The velocity that points back.
    pub(super) fn opposite(&self, q: usize) -> usize {
        if q == 0 { 0 } else { ((q - 1) ^ 1) + 1 }
    }

    /// Where a population comes from.
    pub(super) fn upwind(&self, q: usize, place: [i64; D]) -> [i64; D] {
        std::array::from_fn(|axis| place[axis] - self.c[q][axis])
    }

    /// The sum of populations times a known factor.
    pub(super) fn moment<R: Real>(&self, g: &[R], factor: impl Fn(usize) -> f64) -> R {
        sum((0..self.len()).filter(|&q| factor(q) != 0.0).map(|q| R::of(factor(q)) * g[q]))
    }

    /// The momentum along an axis.
    pub(super) fn momentum<R: Real>(&self, g: &[R], axis: usize) -> R {
        self.moment(g, |q| self.c[q][axis] as f64)
    }

    /// The product of a velocity with a vector.
    pub(super) fn along<R: Real>(&self, q: usize, u: &[R]) -> R {
        sum((0..D).filter(|&a| self.c[q][a] != 0).map(|a| R::of(self.c[q][a] as f64) * u[a]))
    }

    /// Density and velocity.
    pub(super) fn flow<R: Real>(&self, g: &[R]) -> (R, [R; D]) {
        let rho = sum(g.iter().copied());
        (rho, std::array::from_fn(|axis| self.momentum(g, axis) / rho))
    }

    /// `w rho (1 - 1.5 u.u + (3 + 4.5 c.u) c.u)`.
    pub(super) fn equilibrium<R: Real>(&self, q: usize, rho: R, u: &[R; D]) -> R {
        let flat = R::of(1.0) - R::of(1.5) * sum(u.iter().map(|&u| u * u));
        let cu = self.along(q, u);
        R::of(self.w[q]) * rho * (flat + (R::of(3.0) + R::of(4.5) * cu) * cu)
    }

    /// What arrives in a periodic box.
    pub(super) fn around<R: Real>(&self, f: &[Grid<R, D>], place: [i64; D]) -> Vec<R> {
        (0..self.len()).map(|q| f[q].around(self.upwind(q, place))).collect()
    }

    /// The populations `f0`, `f1`, ..
    pub(super) fn read<R: Real>(
        &self,
        fields: &Fields,
        extents: [usize; D],
    ) -> Result<Populations<R, D>, KernelDataError> {
        (0..self.len()).map(|q| Grid::read(fields, &format!("f{q}"), extents)).collect()
    }

    /// A wave of density in a box at rest, with noise in every population, so that any wrong cell shows.
    pub(super) fn wave(&self, extents: [usize; D]) -> Result<Fields, KernelDataError> {
        cells(&extents)?;
        let angle = |axis: usize, at: usize| std::f64::consts::TAU * at as f64 / extents[axis] as f64;
        let value = |q: usize, place: &[usize]| {
            let wave: f64 = place.iter().enumerate().map(|(axis, &at)| angle(axis, at).cos()).product();
            self.w[q] * (1.0 + 0.01 * wave + 0.001 * noise(q as u64, place))
        };
        let population = |q| Field::from_shape_fn(IxDyn(&extents), |place| value(q, place.slice()));
        Ok((0..self.len()).map(|q| (format!("f{q}"), population(q))).collect())
    }
}

impl<const D: usize> Set<D> {
    /// What arrives between resting walls, below a wall after the last cell of the first axis that moves along the last
    /// one.
    pub(super) fn cavity<R: Real>(&self, f: &[Grid<R, D>], place: [i64; D], lid: R) -> Vec<R> {
        self.between_walls(f, place, |returned, c, weight| returned + R::of(c) * (R::of(weight) * lid))
    }

    /// The same where the product with the speed of the wall and its sum round once.
    pub(super) fn contracted_cavity<R: Real>(&self, f: &[Grid<R, D>], place: [i64; D], lid: R) -> Vec<R> {
        self.between_walls(f, place, |returned, c, weight| R::of(c * weight).fma(lid, returned))
    }

    /// `driven` makes what the moving wall returns of what a resting one would, the component of the velocity along the
    /// wall, and six times the weight.
    fn between_walls<R: Real>(&self, f: &[Grid<R, D>], place: [i64; D], driven: impl Fn(R, f64, f64) -> R) -> Vec<R> {
        let arriving = |q: usize| {
            let from = self.upwind(q, place);
            let returned = || f[self.opposite(q)][place];
            let mut above = place;
            above[0] = from[0];
            let is_above = from[0] > place[0] && !f[q].has(above);
            match self.c[q][D - 1] {
                _ if f[q].has(from) => f[q][from],
                c if is_above && c != 0 => driven(returned(), c as f64, 6.0 * self.w[q]),
                _ => returned(),
            }
        };
        (0..self.len()).map(arriving).collect()
    }
}

/// The sum from left to right; 0 of nothing.
pub(super) fn sum<R: Real>(terms: impl Iterator<Item = R>) -> R {
    terms.reduce(|sum, term| sum + term).unwrap_or_default()
}

/// Steps of a lattice; `leaving` gives all populations that leave a cell, from those of the step before.
pub(super) fn advance<R: Real, const D: usize>(
    steps: i64,
    mut f: Populations<R, D>,
    leaving: impl Fn(&[Grid<R, D>], [i64; D]) -> Vec<R>,
) -> Populations<R, D> {
    for _ in 0..steps.max(0) {
        let mut next = f.clone();
        for place in f[0].places() {
            next.iter_mut().zip(leaving(&f, place)).for_each(|(next, value)| next[place] = value);
        }
        f = next;
    }
    f
}

/// The populations `f0`, `f1`, .. as fields.
pub(super) fn fields<R: Real, const D: usize>(f: &[Grid<R, D>]) -> Fields {
    f.iter().enumerate().map(|(q, grid)| (format!("f{q}"), grid.field())).collect()
}

/// The extents of a box from its size parameters.
pub(super) fn extents<const D: usize>(case: &Case, names: [&str; D]) -> Result<[usize; D], KernelDataError> {
    Ok(case.extents(&names, 3)?.try_into().expect("one extent for each name"))
}

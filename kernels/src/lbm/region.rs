//! A box cut into its inside, faces, edges and corners, one statement each, so that no domain needs a guard.
//!
//! In each region it is known for every population whether the cell it comes from lies inside the box. What comes from
//! outside is the boundary's business.

use crease::kernel::builder::{ArrayRef, Domain, Index, KernelBuilder, StmtRef, Value};

use crate::lbm::collision::Scalars;
use crate::lbm::storage::Storage;
use crate::lbm::velocity_set::VelocitySet;

/// Where a region lies along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// At coordinate 0.
    Low,
    /// At neither end.
    Inside,
    /// At the last coordinate.
    High,
}

/// A part of the box: one side per axis, outermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    sides: Vec<Side>,
}

/// A box of fluid: the names that all kernels on one have in common.
#[derive(Debug)]
pub struct FluidBox<'k> {
    /// The kernel under construction.
    pub b: &'k KernelBuilder,
    /// The lattice.
    pub set: &'k VelocitySet,
    /// What its arrays hold.
    pub storage: Storage,
    /// Number of cells along each axis, outermost first.
    pub extents: Vec<Index<'k>>,
    /// The step.
    pub t: Index<'k>,
    /// The cell, outermost axis first.
    pub site: Vec<Index<'k>>,
    /// Scalars of the collision.
    pub scalars: Scalars<'k>,
    steps: Index<'k>,
}

impl Region {
    /// All regions of a box, the inside first.
    pub fn all(dims: usize) -> Vec<Region> {
        let side = |code: usize| [Side::Inside, Side::Low, Side::High][code % 3];
        let sides = |code: usize| (0..dims).map(|axis| side(code / 3usize.pow(axis as u32))).collect();
        (0..3usize.pow(dims as u32)).map(|code| Region { sides: sides(code) }).collect()
    }

    /// Where it lies along an axis.
    pub fn side(&self, axis: usize) -> Side {
        self.sides[axis]
    }

    /// Whether something that moves with `velocity` along `axis` comes from beyond the box.
    pub fn comes_from_outside(&self, axis: usize, velocity: i64) -> bool {
        matches!((self.sides[axis], velocity), (Side::Low, 1) | (Side::High, -1))
    }

    /// The name of its statement: `Inside`, or the sides at which it lies, such as `Y0` or `YN_X0`.
    fn name(&self, axes: &[&str]) -> String {
        let at = |(axis, side): (&&str, &Side)| match side {
            Side::Inside => None,
            Side::Low => Some(format!("{}0", axis.to_uppercase())),
            Side::High => Some(format!("{}N", axis.to_uppercase())),
        };
        let sides: Vec<String> = axes.iter().zip(&self.sides).filter_map(at).collect();
        if sides.is_empty() { "Inside".into() } else { sides.join("_") }
    }
}

impl<'k> FluidBox<'k> {
    /// Declares sizes, steps and the scalars of the collision. `extents` are size parameters, outermost axis first;
    /// equal names make equal extents.
    ///
    /// # Panics
    /// If there is not one extent per axis: the definition itself is wrong.
    pub fn new(b: &'k KernelBuilder, set: &'k VelocitySet, storage: Storage, extents: &[&str]) -> FluidBox<'k> {
        assert_eq!(extents.len(), set.dims(), "one extent per axis");
        let mut sizes: Vec<(&str, Index)> = Vec::new();
        for &extent in extents {
            if !sizes.iter().any(|(name, _)| *name == extent) {
                sizes.push((extent, b.size(extent)));
            }
        }
        let steps = b.run("T");
        b.context(Domain::all(sizes.iter().map(|(_, size)| size.ge(3))));
        let named = |extent: &&str| sizes.iter().find(|(name, _)| name == extent).map(|(_, size)| *size);
        FluidBox {
            b,
            set,
            storage,
            extents: extents.iter().filter_map(named).collect(),
            t: b.iter("t"),
            site: set.axes().iter().map(|&axis| b.iter(axis)).collect(),
            scalars: Scalars::declare(b, set, storage.arithmetic()),
            steps,
        }
    }

    /// Declares one state array per population.
    pub fn populations(&self) -> Vec<ArrayRef<'k>> {
        let array = |q| self.b.state(self.storage.array(q), self.instance(), self.storage.cells(), self.space());
        (0..self.set.len()).map(array).collect()
    }

    /// All cells.
    pub fn space(&self) -> Domain<'k> {
        Domain::all(self.site.iter().zip(&self.extents).map(|(x, n)| x.within(0, *n)))
    }

    /// Cells of a face across the last axis.
    pub fn face(&self) -> Domain<'k> {
        let (_, others) = self.site.split_last().expect("a box has an axis");
        Domain::all(others.iter().zip(&self.extents).map(|(x, n)| x.within(0, *n)))
    }

    /// What a population was at a cell in the step before.
    pub fn before(&self, population: ArrayRef<'k>, cell: impl IntoIterator<Item = Index<'k>>) -> Value<'k> {
        population.at([self.t - 1].into_iter().chain(cell))
    }

    /// What streams into the cells of a region: from the neighbour against each velocity, or from `outside` the box.
    pub fn incoming<V: From<Value<'k>>>(
        &self,
        populations: &[ArrayRef<'k>],
        region: &Region,
        outside: impl Fn(usize) -> V,
    ) -> Vec<V> {
        let from = |q: usize| {
            let velocity = self.set.velocity(q);
            let is_outside = velocity.iter().enumerate().any(|(axis, &c)| region.comes_from_outside(axis, c));
            let upwind = self.site.iter().zip(velocity).map(|(x, &c)| *x - c);
            if is_outside { outside(q) } else { self.before(populations[q], upwind).into() }
        };
        (0..self.set.len()).map(from).collect()
    }

    /// The statement of a region, which gives the populations their new values.
    pub fn advance(&self, populations: &[ArrayRef<'k>], region: &Region, values: Vec<Value<'k>>) -> StmtRef<'k> {
        let along = |(axis, (x, n)): (usize, (&Index<'k>, &Index<'k>))| match region.side(axis) {
            Side::Inside => x.within(1, *n - 1),
            Side::Low => x.equals(0),
            Side::High => x.equals(*n - 1),
        };
        let places = Domain::all(self.site.iter().zip(&self.extents).enumerate().map(along));
        let domain = self.t.between(1, self.steps) & places;
        let stmt = self.b.stmt(region.name(self.set.axes()), self.instance(), domain);
        populations.iter().zip(values).for_each(|(f, value)| _ = stmt.store(*f, self.instance(), value));
        stmt
    }

    fn instance(&self) -> Vec<Index<'k>> {
        [self.t].into_iter().chain(self.site.iter().copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_has_nine_regions() {
        let names: Vec<String> = Region::all(2).iter().map(|r| r.name(&["y", "x"])).collect();
        assert_eq!(names, ["Inside", "Y0", "YN", "X0", "Y0_X0", "YN_X0", "XN", "Y0_XN", "YN_XN"]);
        assert_eq!(Region::all(3).len(), 27);
    }
}

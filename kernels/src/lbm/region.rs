//! A box cut into its inside, faces, edges and corners, one statement each, so that no domain needs a guard.
//!
//! In each region it is known for every population whether the cell it comes from lies inside the box. What comes from
//! outside is the boundary's business.
//!
//! Obstacles are a matter of data: cells that a mask calls solid send every population back where it came from, instead
//! of colliding (full-way bounce-back). Both outcomes are computed and one is selected, so that each value keeps its
//! one reader, whatever the geometry. Bounce-back on links would give values two possible readers.

use std::fmt::Write;

use crate::lbm::collision::{collision_text, outgoing, scalars};
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

/// A population that comes from outside the box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outside {
    /// An expression of values at step `t - 1`.
    Taken(String),
    /// Derived from all others that come into the cell.
    Derived,
}

/// A box of fluid: what the text of a kernel is made from.
pub struct BoxKernel<'a> {
    /// Name of the kernel.
    pub name: String,
    /// The lattice.
    pub set: &'a VelocitySet,
    /// What its arrays hold.
    pub storage: Storage,
    /// Size parameters, outermost axis first; equal names make equal extents.
    pub extents: &'a [&'a str],
    /// Run-time scalars besides those of the collision.
    pub scalars: &'a [&'a str],
    /// Inputs with one value for every cell of a face across the last axis, such as the speed at which fluid enters.
    pub profiles: &'a [&'a str],
    /// The input that is not zero where a cell is solid, if there are obstacles.
    pub solid: Option<&'a str>,
    /// What a population takes that comes from outside the box.
    pub outside: &'a dyn Fn(&Region, usize) -> Outside,
    /// Lines that define the populations of a region that `outside` calls derived, as `g2` and so on.
    pub derive: &'a dyn Fn(&Region) -> String,
    /// Names and time vectors of the schedules, common to all statements.
    pub schedules: Vec<(&'static str, String)>,
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

    fn domain(&self, axes: &[&str], extents: &[&str]) -> String {
        let along = |axis: usize| match self.sides[axis] {
            Side::Inside => format!("1 <= {} < {}-1", axes[axis], extents[axis]),
            Side::Low => format!("{} = 0", axes[axis]),
            Side::High => format!("{} = {}-1", axes[axis], extents[axis]),
        };
        (0..axes.len()).map(along).collect::<Vec<_>>().join(" and ")
    }
}

impl BoxKernel<'_> {
    /// The kernel in the text form.
    ///
    /// # Panics
    /// If there is not one extent per axis: the definition itself is wrong.
    pub fn text(&self) -> String {
        assert_eq!(self.extents.len(), self.set.dims(), "one extent per axis");
        let regions = Region::all(self.set.dims());
        let mut text = self.header();
        regions.iter().for_each(|region| text += &self.statement(region));
        let axes = self.set.axes();
        let names = regions.iter().map(|r| r.name(axes)).collect::<Vec<_>>().join(", ");
        for (name, time) in &self.schedules {
            writeln!(text, "  schedule {name} {{ {names} -> {time} }}").expect("writing to a string does not fail");
        }
        text + "}\n"
    }

    fn header(&self) -> String {
        let mut sizes: Vec<&str> = Vec::new();
        for &extent in self.extents {
            if !sizes.contains(&extent) {
                sizes.push(extent);
            }
        }
        let context: Vec<String> = sizes.iter().map(|size| format!("{size} >= 3")).collect();
        let mut text =
            format!("kernel {}(size {}; run T) for {} {{\n", self.name, sizes.join(", "), context.join(" and "));
        for scalar in scalars(self.set).iter().map(String::as_str).chain(self.scalars.iter().copied()) {
            text += &format!("  scalar {scalar}: {}\n", self.storage.arithmetic());
        }
        let axes = self.set.axes();
        let space: Vec<String> = axes.iter().zip(self.extents).map(|(x, n)| format!("0 <= {x} < {n}")).collect();
        let (face, _) = space.split_at(space.len() - 1);
        for profile in self.profiles {
            let indices = axes[..face.len()].join(", ");
            text +=
                &format!("  input {profile}[{indices}]: {} for {}\n", self.storage.arithmetic(), face.join(" and "));
        }
        if let Some(solid) = self.solid {
            text += &format!("  input {solid}[{}]: u8 for {}\n", axes.join(", "), space.join(" and "));
        }
        for q in 0..self.set.len() {
            let (array, cells) = (self.storage.array(q), self.storage.cells());
            text += &format!("  state {array}[t, {}]: {cells} for {}\n", axes.join(", "), space.join(" and "));
        }
        text
    }

    fn statement(&self, region: &Region) -> String {
        let axes = self.set.axes();
        let (name, site, domain) = (region.name(axes), axes.join(", "), region.domain(axes, self.extents));
        let mut text = format!("  {name}[t, {site}] for 1 <= t <= T and {domain} {{\n");
        for q in 0..self.set.len() {
            if let Outside::Taken(value) = self.incoming(region, q) {
                text += &format!("    let g{q} = {value}\n");
            }
        }
        text += &(self.derive)(region);
        text += &collision_text(self.set, self.storage);
        if let Some(solid) = self.solid {
            text += &format!("    let blocked = {solid}[{site}] != 0\n");
        }
        for q in 0..self.set.len() {
            text += &format!("    {}[t, {site}] = {}\n", self.storage.array(q), self.leaving(q));
        }
        text + "  }\n"
    }

    /// What leaves a cell: collided, or sent back by an obstacle.
    fn leaving(&self, q: usize) -> String {
        match self.solid {
            None => outgoing(q),
            Some(_) => format!("select(blocked, g{}, {})", self.set.opposite(q), outgoing(q)),
        }
    }

    fn incoming(&self, region: &Region, q: usize) -> Outside {
        let velocity = self.set.velocity(q);
        if velocity.iter().enumerate().any(|(axis, &c)| region.comes_from_outside(axis, c)) {
            return (self.outside)(region, q);
        }
        let upwind: Vec<String> = self.set.axes().iter().zip(velocity).map(|(x, &c)| shifted(x, -c)).collect();
        Outside::Taken(format!("{}[t-1, {}]", self.storage.array(q), upwind.join(", ")))
    }
}

/// An index with a constant added.
pub(crate) fn shifted(index: &str, by: i64) -> String {
    match by {
        0 => index.to_owned(),
        by => format!("{index}{by:+}"),
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

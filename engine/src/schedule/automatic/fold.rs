//! Folding: a periodic dimension cut in the middle, its far half run backwards, so that both ends are next to each other.
//!
//! In: a kernel whose statements read across one or two dimensions of space.   Out: the kernel with statements in halves,
//! or quarters, and its common space, in which the coordinates of far halves are mirrored: [`Folded`]. Source: Bondhugula, Bandishti,
//! Cohen, Potron and Vasilache, Tiling and optimizing time-iterated computations on periodic domains (PACT 2014).
//!
//! In a periodic box of `N` rows, the first row needs the last one, so that no tile of rows could be run for several
//! steps. With row `y` of the near half beside row `N - 1 - y`, all that a row needs is near it:
//!
//! ```text
//! y              0      1      2      3   ..            (near half)
//! N - 1 - y      N-1    N-2    N-3    N-4 ..            (far half)
//! ```
//!
//! Both halves are run by one row of the loop, the near one first. Statements in one half are left as they are. With two
//! dimensions folded there are four quarters, of which each has its neighbours across a middle, or across an end, beside it.

use crate::kernel::affine::Affine;
use crate::kernel::formula::Formula;
use crate::kernel::graph::Kernel;
use crate::kernel::{Cut, Parts};
use crate::schedule::automatic::NoCandidates;
use crate::schedule::automatic::distances::Distance;
use crate::schedule::automatic::rates::balanced;
use crate::schedule::automatic::space::{CommonSpace, Halves, Missing, leader, range_of};

/// A kernel with dimensions that are folded.
#[derive(Debug)]
pub(super) struct Folded {
    pub(super) kernel: Kernel,
    /// What was cut for it.
    pub(super) cuts: Vec<Cut>,
    pub(super) space: CommonSpace,
}

/// The kernel with the first so many dimensions of space folded, if what it reads along each of them is far away.
///
/// # Errors
/// [`NoCandidates::Overflow`] if a coefficient leaves 64 bits.
pub(super) fn folded(
    kernel: &Kernel,
    (space, distances): (&CommonSpace, &[Distance]),
    count: usize,
    params: &[i64],
) -> Result<Option<Folded>, NoCandidates> {
    let dims = 1..=count;
    if !space.has_steps || count >= space.names.len() {
        return Ok(None);
    }
    let Some(leader) = leader(kernel).filter(|array| array.index == space.names) else { return Ok(None) };
    let mut ends = Vec::with_capacity(count);
    for dim in dims.clone() {
        let Some((low, high)) = bounds(&leader.domain, dim) else { return Ok(None) };
        let Some(rows) = high.sub(&low)?.eval(&[], params).ok().filter(|rows| *rows > 0) else { return Ok(None) };
        if !distances.iter().any(|d| d.by[dim].min < -i128::from(rows / 2)) {
            return Ok(None);
        }
        ends.push(low.add(&high)?);
    }
    // A statement's rows beyond the middle of a dimension.
    let above = |stmt: usize, dim: usize| {
        space.coordinates[stmt][dim].scale(2)?.sub(&ends[dim - 1])?.add(&Affine::constant(-1))
    };
    let mut cuts = Vec::new();
    for stmt in 0..kernel.stmts().len() {
        let mut all = Vec::new();
        for dim in dims.clone() {
            let above = above(stmt, dim)?;
            let range = space.range_of(stmt, &above, params);
            if range.min < 0 && range.max >= 0 {
                all.push(above);
            }
        }
        if !all.is_empty() {
            cuts.push(Cut { stmt, into: Parts::Above(all) });
        }
    }
    let kernel = kernel.split(&cuts)?;
    let mut space = balanced(&kernel, Missing::AtZero, params)?;
    let stmts = kernel.stmts().len();
    let upwards = space.coordinates.clone();
    let mut halves = Halves { dims: count, of: Vec::with_capacity(stmts), upwards, firsts: Vec::with_capacity(stmts) };
    for (coordinates, ranges) in space.coordinates.iter_mut().zip(&space.ranges) {
        let mut part = 0;
        for dim in dims.clone() {
            let ends = &ends[dim - 1];
            let is_far = range_of(&coordinates[dim].scale(2)?.sub(ends)?, ranges, params).min > 0;
            if is_far {
                coordinates[dim] = ends.sub(&coordinates[dim])?;
            }
            part = 2 * part + i64::from(is_far);
        }
        halves.of.push(part);
        halves.firsts.push(range_of(&coordinates[1], ranges, params).min);
    }
    space.halves = Some(halves);
    Ok(Some(Folded { kernel, cuts, space }))
}

/// The first and the last value of an index, where a set says them once each and by nothing but parameters.
pub(in crate::schedule) fn bounds(domain: &Formula, index: usize) -> Option<(Affine, Affine)> {
    let Formula::And(parts) = domain else { return None };
    let (mut low, mut high) = (None, None);
    for part in parts {
        let Formula::NonNegative(e) = part else { continue };
        let bounded = |sign: i64| e.sub(&Affine::iter(index).scale(sign).ok()?).ok().filter(Affine::is_of_params);
        let (bound, known) = match e.iter_coefficient(index) {
            0 => continue,
            1 => (bounded(1)?.scale(-1).ok()?, &mut low),
            -1 => (bounded(-1)?, &mut high),
            _ => return None,
        };
        if known.replace(bound).is_some() {
            return None;
        }
    }
    low.zip(high)
}

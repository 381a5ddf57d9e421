//! What is read of several planes, or of several rows of a plane: each is read again as often as a sweep comes by.
//!
//! In: a kernel in its common space.   Out: bytes that are read again, and those that lie between one time and the next.

use std::collections::BTreeMap;

use crate::kernel::affine::Affine;
use crate::kernel::graph::{ArrayId, Kernel};
use crate::schedule::automatic::space::{CommonSpace, dims_of, place_of};

/// What a sweep over the outermost dimension of space reads more than once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Planes {
    /// Bytes that are read again in a step.
    pub(super) again: f64,
    /// Bytes of the planes that this is in, at one place of the sweep.
    pub(super) held: f64,
}

impl Planes {
    /// Of a kernel whose statements have so many instances in a step, and whose arrays so many bytes in a plane.
    pub(super) fn of(kernel: &Kernel, space: &CommonSpace, points: &[f64], bytes: impl Fn(ArrayId) -> f64) -> Planes {
        let outer = usize::from(space.has_steps);
        let mut found = Planes::default();
        let mut most: BTreeMap<ArrayId, usize> = BTreeMap::new();
        for (stmt, points) in kernel.stmts().iter().zip(points) {
            let mut read: BTreeMap<ArrayId, Vec<&Affine>> = BTreeMap::new();
            for (array, index) in stmt.reads() {
                let Some(place) = place_of(dims_of(space, array), outer) else { continue };
                let planes = read.entry(array).or_default();
                if !planes.contains(&&index[place]) {
                    planes.push(&index[place]);
                }
            }
            for (array, planes) in read.into_iter().filter(|(_, planes)| planes.len() > 1) {
                found.again += points * (planes.len() - 1) as f64 * kernel.array(array).element.bytes() as f64;
                let count = most.entry(array).or_default();
                *count = planes.len().max(*count);
            }
        }
        found.held = most.into_iter().map(|(array, count)| bytes(array) * count as f64).sum();
        found
    }
}

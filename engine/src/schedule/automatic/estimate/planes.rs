//! What is read of several planes, or of several rows of a plane: each is read again as often as a sweep comes by.
//!
//! In: a kernel in its common space.   Out: bytes that are read again, and how long that takes where what lies between
//! one time and the next is more than a core's own caches hold.

use crate::kernel::affine::Affine;
use crate::kernel::graph::{ArrayId, Kernel};
use crate::schedule::automatic::estimate::{LAST_LEVEL_RATE, MEMORY_CORES, MEMORY_RATE, Workload, step_bytes};
use crate::schedule::automatic::space::{CommonSpace, dims_of, place_of};

/// What a sweep over the outermost dimension of space reads more than once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Planes {
    /// Bytes that are read again in a step.
    again: f64,
    /// Bytes of the planes that this is in, at one place of the sweep.
    held: f64,
}

impl Planes {
    /// Of a kernel whose statements have so many instances in a step, and which has so many planes.
    pub(super) fn of(kernel: &Kernel, space: &CommonSpace, points: &[f64], planes: f64, params: &[i64]) -> Planes {
        let outer = usize::from(space.has_steps);
        let mut found = Planes::default();
        let mut most: Vec<(ArrayId, usize)> = Vec::new();
        for (stmt, points) in kernel.stmts().iter().zip(points) {
            let mut read: Vec<(ArrayId, Vec<&Affine>)> = Vec::new();
            for (array, index) in stmt.reads() {
                let Some(plane) = place_of(dims_of(space, array), outer).map(|place| &index[place]) else { continue };
                match read.iter_mut().find(|(of, _)| *of == array) {
                    Some((_, planes)) if planes.contains(&plane) => {}
                    Some((_, planes)) => planes.push(plane),
                    None => read.push((array, vec![plane])),
                }
            }
            for (array, planes) in read.into_iter().filter(|(_, planes)| planes.len() > 1) {
                found.again += points * (planes.len() - 1) as f64 * kernel.array(array).element.bytes() as f64;
                match most.iter_mut().find(|(of, _)| *of == array) {
                    Some((_, count)) => *count = planes.len().max(*count),
                    None => most.push((array, planes.len())),
                }
            }
        }
        for (array, count) in most {
            let bytes = step_bytes(kernel.array(array), dims_of(space, array), space.has_steps, params);
            found.held += bytes / planes.max(1.0) * count as f64;
        }
        found
    }
}

impl Workload {
    /// Nanoseconds of reading planes again in a sweep: none of what a core's own caches keep meanwhile.
    pub(super) fn planes_again(&self, threads: f64) -> f64 {
        let Planes { again, held } = self.planes;
        let held = held.max(1.0);
        let kept = (self.second_level_bytes / held).powi(2).min(1.0);
        let near = (self.last_level_bytes / (held * threads)).powi(2).clamp(kept, 1.0);
        let cores = threads.min(MEMORY_CORES);
        again * ((near - kept) / LAST_LEVEL_RATE + (1.0 - near) / MEMORY_RATE) / cores
    }
}

//! What a run has been given: which arrays, and which parts of which levels of them, hold values.
//!
//! In: writes, and steps that were computed.   Out: whether a call may begin, and whether a box may be read.
//!
//! Storage begins as zeros, so an array that was forgotten would compute something, and the answer would be wrong
//! without a word. Zeros that are meant are given like other values ([`Run::fill`](crate::Run::fill)).

use crate::kernel::graph::{Array, ArrayId, Kernel, Role};
use crate::run::RunError;
use crate::run::kept_levels::KeptLevels;
use crate::run::level::Positions;
use crate::run::region::Axis;

/// Boxes of one level that are not given yet, at most: what is written after that does not count, and has to be written
/// once more in larger boxes. A box in the middle of another leaves two for each index. Not measured.
const MISSING_BOXES: usize = 4096;

/// What has been given of each array, for each level before the first step. An array that is no state has one level; an
/// output's counts from the call that computes it.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    levels: Vec<Vec<Missing>>,
    /// The step at which the run begins.
    first_step: i64,
}

/// Boxes of a level that hold no values yet, disjoint; none once all of it does.
#[derive(Clone, Debug)]
struct Missing(Vec<Positions>);

/// A level of an array, seen from a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    pub(crate) array: ArrayId,
    /// Steps before `step`.
    pub(crate) back: u32,
    pub(crate) step: i64,
}

impl Given {
    /// Nothing yet, of arrays of these shapes; inputs over steps are looked after elsewhere.
    pub(super) fn nothing(kernel: &Kernel, levels: &KeptLevels, shape: impl Fn(ArrayId) -> Vec<usize>) -> Given {
        let levels = |id| match kernel.is_series(id) {
            true => vec![Missing(Vec::new())],
            false => vec![Missing::all(&shape(id)); levels.count(id) as usize],
        };
        Given { levels: kernel.array_ids().map(levels).collect(), first_step: 0 }
    }

    /// The run begins at this step: no state has been given for it.
    pub(crate) fn begin_at(&mut self, step: i64, kernel: &Kernel, shape: impl Fn(ArrayId) -> Vec<usize>) {
        self.first_step = step;
        for id in kernel.array_ids().filter(|&id| kernel.array(id).role == Role::State) {
            self.levels[id.index()].fill(Missing::all(&shape(id)));
        }
    }

    /// Cells of a level are written; `low` has the first value of each index.
    pub(crate) fn note(&mut self, kernel: &Kernel, at: At, axes: &[Axis], low: &[i64]) {
        // A level of a step that was computed has a value already.
        let level = self.level_before_first(kernel, at);
        let level = level.and_then(|level| self.levels[at.array.index()].get_mut(level));
        if let (Some(level), true) = (level, axes.iter().all(|axis| axis.step == 1)) {
            level.remove(&hull(axes, low));
        }
    }

    /// A call has computed all outputs but those that it was lent.
    pub(crate) fn note_outputs(&mut self, kernel: &Kernel, lent: &[ArrayId]) {
        let is_ours = |id: &ArrayId| kernel.array(*id).role == Role::Output && !lent.contains(id);
        for id in kernel.array_ids().filter(is_ours) {
            self.levels[id.index()].fill(Missing(Vec::new()));
        }
    }

    /// Whether a call that begins at `step` has all that it reads or keeps; what it is lent has values.
    pub(crate) fn verify_all(&self, kernel: &Kernel, step: i64, lent: &[ArrayId]) -> Result<(), RunError> {
        let needed = |id: &ArrayId| match kernel.array(*id).role {
            Role::Input => true,
            // What cells keep that no statement writes.
            Role::Output => kernel.array(*id).live_in.is_some(),
            // Once steps were computed, all that was needed before the first of them had been given.
            Role::State => step == self.first_step && is_read(kernel, *id),
            Role::Temp => false,
        };
        for id in kernel.array_ids().filter(needed).filter(|id| !lent.contains(id)) {
            if let Some(back) = self.levels[id.index()].iter().position(|missing| !missing.0.is_empty()) {
                return Err(missing(kernel, id, back));
            }
        }
        Ok(())
    }

    /// Checks that some arrays, by number, hold values: inputs, and states where no step has been done.
    pub(crate) fn verify_read(&self, kernel: &Kernel, read: &[bool], step: i64) -> Result<(), RunError> {
        for id in kernel.array_ids().filter(|id| read[id.index()]) {
            let is_state = kernel.array(id).role == Role::State;
            if is_state && step != self.first_step {
                continue;
            }
            if let Some(back) = self.levels[id.index()].iter().position(|missing| !missing.0.is_empty()) {
                return Err(missing(kernel, id, back));
            }
        }
        Ok(())
    }

    /// Whether all cells of a box of a level hold values; `low` has the first value of each index.
    pub(crate) fn verify_one(&self, kernel: &Kernel, at: At, axes: &[Axis], low: &[i64]) -> Result<(), RunError> {
        let Array { role, name, .. } = kernel.array(at.array);
        let is_computed = *role == Role::State && i64::from(at.back) < at.step - self.first_step;
        let level = self.level_before_first(kernel, at).and_then(|level| self.levels[at.array.index()].get(level));
        if is_computed || level.is_some_and(|missing| missing.has_none_of(&hull(axes, low))) {
            return Ok(());
        }
        let (kernel, array) = (kernel.name().to_string(), name.clone());
        Err(RunError::NoValue { kernel, array, back: at.back })
    }

    /// How many levels before the first one that a run was given a level is; none if it was computed since.
    fn level_before_first(&self, kernel: &Kernel, at: At) -> Option<usize> {
        let steps = if kernel.array(at.array).role == Role::State { at.step - self.first_step } else { 0 };
        usize::try_from(i64::from(at.back) - steps).ok()
    }
}

impl Missing {
    fn all(shape: &[usize]) -> Missing {
        Missing(vec![shape.iter().map(|&extent| (0, extent)).collect()])
    }

    fn has_none_of(&self, cells: &Positions) -> bool {
        // An array without cells is missing until it is written, like others.
        let is_all = |missing: &Positions| missing == cells;
        !self.0.iter().any(|missing| is_all(missing) || common(missing, cells).is_some())
    }

    /// Takes a box away.
    fn remove(&mut self, cells: &Positions) {
        let mut left = Vec::new();
        for missing in &self.0 {
            match common(missing, cells) {
                _ if missing == cells => {}
                None => left.push(missing.clone()),
                Some(common) => left.extend(around(missing, &common)),
            }
        }
        if left.len() <= MISSING_BOXES {
            self.0 = left;
        }
    }
}

/// The positions of a box; every k-th of an index as all that lie between.
fn hull(axes: &[Axis], low: &[i64]) -> Positions {
    let hull = |(axis, low): (&Axis, &i64)| match axis.count {
        0 => (0, 0),
        count => ((axis.first - low) as usize, (axis.value(count - 1) - low) as usize + 1),
    };
    axes.iter().zip(low).map(hull).collect()
}

/// The cells that two boxes have in common, if they have any.
fn common(one: &Positions, other: &Positions) -> Option<Positions> {
    let common: Positions = one.iter().zip(other).map(|(a, b)| (a.0.max(b.0), a.1.min(b.1))).collect();
    common.iter().all(|(low, high)| low < high).then_some(common)
}

/// A box without one that lies inside it, as boxes.
fn around(whole: &Positions, inside: &Positions) -> Vec<Positions> {
    let (mut parts, mut rest) = (Vec::new(), whole.clone());
    for axis in 0..whole.len() {
        for cut in [(rest[axis].0, inside[axis].0), (inside[axis].1, rest[axis].1)] {
            if cut.0 < cut.1 {
                let mut part = rest.clone();
                part[axis] = cut;
                parts.push(part);
            }
        }
        rest[axis] = inside[axis];
    }
    parts
}

/// Whether some statement reads the array.
fn is_read(kernel: &Kernel, id: ArrayId) -> bool {
    kernel.stmts().iter().any(|stmt| stmt.reads().any(|(array, _)| array == id))
}

/// The error of an array of which a level has no values.
fn missing(kernel: &Kernel, id: ArrayId, back: usize) -> RunError {
    let Array { name, role, .. } = kernel.array(id);
    let (kernel, array) = (kernel.name().to_string(), name.clone());
    match role {
        Role::State => RunError::StateNotGiven { kernel, array, back: back as u32 },
        Role::Output => RunError::OutputNotGiven { kernel, array },
        _ => RunError::InputNotGiven { kernel, array },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_boxes_leave_is_what_no_box_has() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..50 {
            let (mut missing, mut cells) = (Missing::all(&[4, 5, 3]), [[[true; 3]; 5]; 4]);
            for _ in 0..6 {
                let mut range = |extent: usize| {
                    let low = random.usize(..extent);
                    (low, random.usize(low..=extent))
                };
                let boxed = vec![range(4), range(5), range(3)];
                missing.remove(&boxed);
                for plane in &mut cells[boxed[0].0..boxed[0].1] {
                    for row in &mut plane[boxed[1].0..boxed[1].1] {
                        row[boxed[2].0..boxed[2].1].fill(false);
                    }
                }
            }
            for (y, x, q) in (0..60).map(|at| (at / 15, at / 3 % 5, at % 3)) {
                let is_given = missing.has_none_of(&vec![(y, y + 1), (x, x + 1), (q, q + 1)]);
                assert_eq!(is_given, !cells[y][x][q], "{y} {x} {q}");
            }
            let left: usize = missing.0.iter().map(|b| b.iter().map(|(l, h)| h - l).product::<usize>()).sum();
            assert_eq!(left, cells.iter().flatten().flatten().filter(|c| **c).count(), "boxes are disjoint");
        }
    }
}

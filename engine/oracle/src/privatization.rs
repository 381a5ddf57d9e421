//! Privatization at concrete sizes: arrays each cell of which is used inside one task of the outermost parallel loop.
//!
//! In: a trace and its schedule.   Out: per array, whether every worker has storage of its own for it; per value, its
//! task.
//!
//! Read off the steps: a task is the part of a time vector up to the first parallel dimension.

use std::collections::HashMap;

use crease::kernel::graph::{ArrayId, DimKind, Kernel, Role, Schedule};

use crate::values::Trace;

/// Components of a time vector that name a task; none if no iteration of a parallel loop has an inside of its own.
pub(super) fn task_length(schedule: &Schedule) -> Option<usize> {
    let mut dims = schedule.dims.iter();
    let before = dims.by_ref().take_while(|kind| **kind == DimKind::Sequential).count();
    if schedule.dims.get(before) != Some(&DimKind::Parallel) {
        return None;
    }
    let inside = before + 1..schedule.dims.len();
    let varies = schedule.times.iter().any(|time| time[inside.clone()].iter().any(|e| e.as_constant().is_none()));
    varies.then_some(before + 1)
}

impl Trace {
    /// Whether the array's values live inside single tasks, so that each worker keeps it in storage of its own.
    pub fn is_private(&self, array: ArrayId) -> bool {
        self.private.get(array.index()).copied().unwrap_or(false)
    }

    /// Finds the private arrays; none of them has a cell that is `live` at either end.
    pub(super) fn find_private<'l>(
        &mut self,
        kernel: &Kernel,
        schedule: &Schedule,
        live: impl Iterator<Item = &'l usize>,
    ) {
        self.task_length = task_length(schedule);
        let is_temp = |id: ArrayId| kernel.array(id).role == Role::Temp;
        let Some(length) = self.task_length else { return };
        let mut task_of: HashMap<usize, &[i64]> = HashMap::new();
        let mut private: Vec<bool> = kernel.array_ids().map(is_temp).collect();
        let mut used = vec![false; private.len()];
        for step in &self.steps {
            let task = &step.time[..length];
            for &cell in step.reads.iter().chain(&step.writes) {
                let array = self.cells.get(cell).array.index();
                used[array] = true;
                private[array] &= *task_of.entry(cell).or_insert(task) == task;
            }
        }
        live.for_each(|&cell| private[self.cells.get(cell).array.index()] = false);
        self.private = private.into_iter().zip(used).map(|(private, used)| private && used).collect();
    }

    /// The task that a value of a private array lives in; none for shared arrays.
    pub(super) fn task_of(&self, value: usize) -> Option<&[i64]> {
        let value = &self.values[value];
        let array = self.cells.get(value.cell).array;
        let step = value.write.or_else(|| value.reads.first().copied())?;
        self.is_private(array).then(|| &self.steps[step].time[..self.task_length.unwrap_or(0)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn private(schedule: &str) -> Vec<bool> {
        let text = "\
kernel rows(size N) {
  opaque f(1), f(2), f(3)
  temp a[y, x]: f64 for 0 <= y < N and 0 <= x < N
  temp b[y, x]: f64 for 0 <= y < N and 0 <= x < N
  temp c[y, x]: f64 for 0 <= y < N and 0 <= x < N live out for y = 0
  output o[y, x]: f64 for 0 <= y < N and 0 <= x < N
  A[y, x] for 0 <= y < N and 0 <= x < N { a[y,x] = f(x)
                                          b[y,x] = f(y)
                                          c[y,x] = f(x, y) }
  B[y, x] for 0 <= y < N and 0 <= x < N { o[y,x] = f(a[y,N-1-x], b[N-1-y,x], c[y,x]) }
  schedule rows { A -> [0, y parallel, 0, x]; B -> [0, y parallel, 1, x] }
  schedule apart { A -> [0, y parallel, 0, x]; B -> [1, y parallel, 0, x] }
  schedule lanes { A -> [0, y vector(4), 0, x parallel]; B -> [1, y vector(4), 0, x parallel] }
  schedule points { A -> [0, y, 0, x parallel]; B -> [1, y, 0, x parallel] }
  schedule seq { A -> [0, y, 0, x]; B -> [1, y, 0, x] }
}";
        let kernel = Kernel::parse(text).unwrap();
        let trace = Trace::new(&kernel, kernel.schedule(schedule).unwrap(), &[4], 1000).unwrap();
        kernel.array_ids().take(3).map(|array| trace.is_private(array)).collect()
    }

    #[test]
    fn only_what_stays_inside_a_task_is_private() {
        assert_eq!(private("rows"), [true, false, false]);
        for schedule in ["apart", "lanes", "points", "seq"] {
            assert_eq!(private(schedule), [false; 3], "{schedule}");
        }
    }
}

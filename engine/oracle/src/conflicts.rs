//! Conflicts and the number of values alive at once, value by value.
//!
//! Two values conflict unless all events of one come before the write of the other. Live-in values are written before
//! everything, live-out values read after everything; a read in the instance that writes the other value comes before
//! that write. Values of arrays that are private to tasks conflict only if they are of one task.
//!
//! Cost: the number of values squared, times their readers.

use std::collections::{BTreeSet, HashMap};

use crease::kernel::graph::ArrayId;

use crate::instances::Cell;
use crate::order::Phase;
use crate::values::Trace;

impl Trace {
    /// Pairs `a < b` of cells that may not share storage, across all arrays that storage mappings apply to.
    pub fn conflicts(&self) -> BTreeSet<(Cell, Cell)> {
        self.conflicts_among(self.owned_values().collect())
    }

    /// Pairs `a < b` of cells of one array that may not share storage.
    pub fn conflicts_of(&self, array: ArrayId) -> BTreeSet<(Cell, Cell)> {
        self.conflicts_among(self.values_of(array).collect())
    }

    /// The first two different cells that may not share storage but do under `cell_of`; `None` for a valid mapping.
    ///
    /// `cell_of` gives the stored cell, numbered through all buffers, or `None` where it keeps the cell elsewhere.
    pub fn clash(&self, cell_of: &dyn Fn(ArrayId, &[i64]) -> Option<u64>) -> Option<(Cell, Cell)> {
        let mut sharing: HashMap<u64, Vec<usize>> = HashMap::new();
        for value in self.owned_values() {
            let cell = self.cell(value);
            let Some(stored) = cell_of(cell.array, &cell.index) else { continue };
            let others = sharing.entry(stored).or_default();
            let differs = |&&other: &&usize| self.values[other].cell != self.values[value].cell;
            if let Some(&other) = others.iter().filter(differs).find(|&&other| self.conflict(other, value)) {
                return Some((self.cell(other).clone(), cell.clone()));
            }
            others.push(value);
        }
        None
    }

    /// Most values alive at once, over all arrays that storage mappings apply to: no storage is smaller.
    ///
    /// Exact for a total order. For a partial order it is the size of the larger of two sets of pairwise conflicting
    /// values, each made by adding what fits, values with many conflicts first: one starts from the values alive at the
    /// point of peak liveness of the execution in ascending time vectors, the other one from nothing.
    pub fn max_live(&self) -> u64 {
        self.max_live_among(self.owned_values().collect())
    }

    /// Most values of one array alive at once; see [`Trace::max_live`].
    pub fn max_live_of(&self, array: ArrayId) -> u64 {
        self.max_live_of_all(&[array])
    }

    /// Most values of some arrays alive at once; see [`Trace::max_live`].
    pub fn max_live_of_all(&self, arrays: &[ArrayId]) -> u64 {
        self.max_live_among(arrays.iter().flat_map(|&array| self.values_of(array)).collect())
    }

    fn cell(&self, value: usize) -> &Cell {
        self.cells.get(self.values[value].cell)
    }

    /// Whether two values may not share storage. Those of private arrays meet only inside a task; what is private is
    /// never kept with what is shared.
    pub(super) fn conflict(&self, a: usize, b: usize) -> bool {
        match (self.task_of(a), self.task_of(b)) {
            (Some(a), Some(b)) if a != b => return false,
            (Some(_), None) | (None, Some(_)) => return true,
            _ => {}
        }
        !self.ends_before(a, b) && !self.ends_before(b, a)
    }

    /// Whether all events of `a` come before the write of `b`.
    fn ends_before(&self, a: usize, b: usize) -> bool {
        let (a, Some(write)) = (&self.values[a], self.values[b].write) else { return false };
        let written_before = |w| self.before((w, Phase::Write), (write, Phase::Write));
        !a.live_out
            && a.write.is_none_or(written_before)
            && a.reads.iter().all(|&r| self.before((r, Phase::Read), (write, Phase::Write)))
    }

    fn conflicts_among(&self, values: Vec<usize>) -> BTreeSet<(Cell, Cell)> {
        let mut pairs = BTreeSet::new();
        for (position, &a) in values.iter().enumerate() {
            for &b in &values[..position] {
                let (cell_a, cell_b) = (self.values[a].cell, self.values[b].cell);
                let pair = (cell_a.min(cell_b), cell_a.max(cell_b));
                if cell_a != cell_b && !pairs.contains(&pair) && self.conflict(a, b) {
                    pairs.insert(pair);
                }
            }
        }
        let ordered = |(a, b): (usize, usize)| {
            let (a, b) = (self.cells.get(a).clone(), self.cells.get(b).clone());
            if a < b { (a, b) } else { (b, a) }
        };
        pairs.into_iter().map(ordered).collect()
    }

    fn max_live_among(&self, values: Vec<usize>) -> u64 {
        let Some(point) = self.peak_point(&values) else { return 0 };
        let alive: Vec<usize> = values.iter().copied().filter(|&v| self.alive_at(v, point)).collect();
        if self.order.is_total() {
            return alive.len() as u64;
        }
        let conflicts_of = |&v: &usize| values.iter().filter(|&&other| self.conflict(v, other)).count();
        let mut by_conflicts = values.clone();
        by_conflicts.sort_by_cached_key(|v| std::cmp::Reverse(conflicts_of(v)));
        self.extended(alive, &by_conflicts).max(self.extended(Vec::new(), &by_conflicts)) as u64
    }

    /// Size of a set of pairwise conflicting values after adding every candidate in turn that fits.
    fn extended(&self, mut clique: Vec<usize>, candidates: &[usize]) -> usize {
        for &candidate in candidates {
            if clique.iter().all(|&other| other != candidate && self.conflict(candidate, other)) {
                clique.push(candidate);
            }
        }
        clique.len()
    }

    /// The program point at which most of these values are alive: 0 is the start, `n + 1` the writes of step `n`.
    fn peak_point(&self, values: &[usize]) -> Option<usize> {
        let mut change = vec![0i64; self.steps.len() + 3];
        for &value in values {
            let (first, end) = self.lifetime(value);
            change[first] += 1;
            change[end] -= 1;
        }
        let mut alive = 0;
        let counts = change.iter().map(|c| {
            alive += c;
            alive
        });
        let (point, _) = counts.enumerate().max_by_key(|&(point, count)| (count, std::cmp::Reverse(point)))?;
        Some(point)
    }

    fn alive_at(&self, value: usize, point: usize) -> bool {
        let (first, end) = self.lifetime(value);
        first <= point && point < end
    }

    /// Program points in ascending time vectors, from the write up to but not including the last read. A dead value
    /// lives for the program point of its write.
    pub(super) fn lifetime(&self, value: usize) -> (usize, usize) {
        let value = &self.values[value];
        let first = value.write.map_or(0, |step| step + 1);
        let last = if value.live_out { self.steps.len() + 2 } else { value.reads.last().map_or(0, |step| step + 1) };
        (first, last.max(first + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::LINE;
    use crease::kernel::graph::Kernel;

    fn trace(text: &str, schedule: &str, params: &[i64]) -> Trace {
        let kernel = Kernel::parse(text).unwrap();
        let trace = Trace::new(&kernel, kernel.schedule(schedule).unwrap(), params, 1000).unwrap();
        assert_eq!(trace.illegal(), None, "{schedule}");
        trace
    }

    fn array(text: &str, position: usize) -> ArrayId {
        Kernel::parse(text).unwrap().array_ids().nth(position).unwrap()
    }

    /// Number of pairs of cells of one array, and most of its values alive at once.
    fn counts(text: &str, schedule: &str, params: &[i64], position: usize) -> (usize, u64) {
        let (trace, array) = (trace(text, schedule, params), array(text, position));
        (trace.conflicts_of(array).len(), trace.max_live_of(array))
    }

    #[test]
    fn a_three_point_line_needs_one_cell_more_in_order_and_two_lines_in_parallel() {
        for (schedule, cells) in [("seq", 8), ("lanes", 8), ("par", 14)] {
            assert_eq!(trace(LINE, schedule, &[7, 3]).max_live(), cells, "{schedule}");
        }
    }

    #[test]
    fn lanes_hold_a_value_each() {
        let text = "\
kernel lanes(size N) {
  opaque f(1)
  temp b[x]: f64 for 0 <= x < N
  output c[x]: f64 for 0 <= x < N
  P[x] for 0 <= x < N { b[x] = f(x) }
  Q[x] for 0 <= x < N { c[x] = b[x] + 1 }
  schedule seq { P -> [x, 0]; Q -> [x, 1] }
  schedule vec { P -> [x vector(3), 0]; Q -> [x vector(3), 1] }
  schedule blocks { P -> [floor(x/2) parallel, x, 0]; Q -> [floor(x/2) parallel, x, 1] }
}";
        assert_eq!(counts(text, "seq", &[5], 0), (0, 1));
        // Distances 1 and 2 may share a block: 4 + 3 pairs, and three of them at once.
        assert_eq!(counts(text, "vec", &[5], 0), (7, 3));
        // Blocks {0, 1}, {2, 3}, {4} run at once, each one sequentially and with a cell of its own.
        assert_eq!(counts(text, "blocks", &[5], 0), (0, 1));
        // All 10 pairs but {2, 3}, if something outside the blocks needs `b` in one place.
        let shared = text.replace("temp b[x]: f64 for 0 <= x < N", "temp b[x]: f64 for 0 <= x < N live out for x = 0");
        assert_eq!(counts(&shared, "blocks", &[5], 0), (9, 4));
    }

    /// Table I of the SMO paper, first row: `A[t, i] = f(A[t-1, i], A[t, i-1])`, last row and column live-out.
    #[test]
    fn produce_consume_has_the_published_conflicts() {
        let text = "\
kernel produce_consume(size N) {
  opaque f(1), f(2)
  temp A[t, i]: f64 for 0 <= t < N and 0 <= i < N live out for t = N-1 or i = N-1
  C[t, i] for t = 0 and i = 0 { A[t,i] = f(1) }
  R[t, i] for t = 0 and 1 <= i < N { A[t,i] = f(A[t,i-1]) }
  L[t, i] for 1 <= t < N and i = 0 { A[t,i] = f(A[t-1,i]) }
  S[t, i] for 1 <= t < N and 1 <= i < N { A[t,i] = f(A[t-1,i], A[t,i-1]) }
  schedule seq { C, R, L, S -> [t, i] }
}";
        for n in 3..6 {
            let trace = trace(text, "seq", &[n]);
            let later = |x: &[i64], y: &[i64]| {
                (y[0] == x[0] + 1 && x[1] <= n - 2 && y[1] < x[1])
                    || (y[0] == x[0] && x[1] < y[1])
                    || (x[1] == n - 1 && x[0] < y[0])
            };
            let found = trace.conflicts();
            let cells: Vec<Vec<i64>> = (0..n * n).map(|c| vec![c / n, c % n]).collect();
            let expected = cells.iter().flat_map(|x| cells.iter().map(move |y| (x, y))).filter(|(x, y)| later(x, y));
            assert_eq!(found.len(), expected.clone().count());
            let cell = |index: &Vec<i64>| Cell { array: array(text, 0), index: index.clone() };
            assert!(expected.into_iter().all(|(x, y)| found.contains(&(cell(x), cell(y)))));
        }
    }

    #[test]
    fn arrays_conflict_with_each_other_and_dead_values_with_what_is_alive() {
        let text = "\
kernel pair(size N) {
  opaque f(1), f(2)
  temp a[x]: f64 for 0 <= x < N
  temp d[x]: f64 for 0 <= x < N
  output o[x]: f64 for 0 <= x < N
  P[x] for 0 <= x < N { a[x] = f(x)
                        d[x] = f(x, x) }
  Q[x] for 0 <= x < N { o[x] = a[x] }
  schedule seq { P -> [x, 0]; Q -> [x, 1] }
}";
        let trace = trace(text, "seq", &[3]);
        let expected = (0..3).map(|x| {
            let cell = |position| Cell { array: array(text, position), index: vec![x] };
            (cell(0), cell(1))
        });
        assert_eq!(trace.conflicts(), expected.collect());
        assert_eq!(trace.max_live(), 2);
    }
}

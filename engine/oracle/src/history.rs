//! The trace as a history: instances in order, and for every value when it is born, read and gone.
//!
//! In: a [`Trace`].   Out: [`TracedInstance`]s, [`Lifetime`]s, the number of values alive. For pictures and tables.
//!
//! **Program points** number one execution that the schedule allows, the one in ascending time vectors. Program point 0
//! is the start, where live-in values exist; program point `n + 1` is instance `n`, which first reads and then writes;
//! the last program point, the number of instances plus 1, is the end, where live-out values are read. A value occupies
//! its cell from the program point it is written up to and without the program point of its last read, since what is
//! written then may take its place.

use std::collections::{BTreeSet, HashMap};

use crease::kernel::graph::ArrayId;

use crate::instances::{Cell, Instance};
use crate::values::Trace;

/// A statement instance and when it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedInstance<'a> {
    /// The instance.
    pub instance: &'a Instance,
    /// Its time vector, one component per dimension of the schedule.
    pub time: &'a [i64],
}

/// What a cell holds from one write to the next, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime<'a> {
    /// The cell of the unfolded array.
    pub cell: &'a Cell,
    /// Position of the instance that writes it; `None` for live-in values.
    pub written_by: Option<usize>,
    /// Positions of the instances that read it, ascending.
    pub read_by: &'a [usize],
    /// Whether it must survive the last instance.
    pub live_out: bool,
    /// First program point at which it occupies its cell.
    pub from: usize,
    /// First program point at which it no longer does; at least `from + 1`, for a value that is never read.
    pub until: usize,
}

impl Trace {
    /// Every instance, in ascending time vectors; positions in this order are those that lifetimes name.
    pub fn instances(&self) -> impl ExactSizeIterator<Item = TracedInstance<'_>> {
        self.steps.iter().map(|step| TracedInstance { instance: &step.instance, time: &step.time })
    }

    /// Number of program points: one per instance, the start and the end.
    pub fn n_points(&self) -> usize {
        self.steps.len() + 2
    }

    /// Every value of the arrays that storage mappings apply to; values of one cell in the order in which they are
    /// written.
    pub fn lifetimes(&self) -> impl Iterator<Item = Lifetime<'_>> {
        self.owned_values().map(|number| {
            let value = &self.values[number];
            let (from, until) = self.lifetime(number);
            let (cell, read_by) = (self.cells.get(value.cell), value.reads.as_slice());
            Lifetime { cell, written_by: value.write, read_by, live_out: value.live_out, from, until }
        })
    }

    /// Number of values alive at every program point, over the arrays that storage mappings apply to.
    pub fn alive(&self) -> Vec<u64> {
        let mut change = vec![0i64; self.n_points() + 1];
        for lifetime in self.lifetimes() {
            change[lifetime.from] += 1;
            change[lifetime.until] -= 1;
        }
        let mut alive = 0;
        let counts = change[..self.n_points()].iter().map(|c| {
            alive += c;
            u64::try_from(alive).expect("no value ends before it begins")
        });
        counts.collect()
    }

    /// Pairs of different cells that may not share storage but do under `cell_of`, at most `limit`; none for a valid
    /// mapping.
    ///
    /// `cell_of` is that of [`Trace::clash`], which finds the first of them. Each pair is listed once.
    pub fn clashes(&self, cell_of: &dyn Fn(ArrayId, &[i64]) -> Option<u64>, limit: usize) -> Vec<(Cell, Cell)> {
        let mut sharing: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut known: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut pairs: Vec<(Cell, Cell)> = Vec::new();
        for value in self.owned_values() {
            let own = self.values[value].cell;
            let cell = self.cells.get(own);
            let Some(stored) = cell_of(cell.array, &cell.index) else { continue };
            let others = sharing.entry(stored).or_default();
            for &other in others.iter().filter(|&&other| self.values[other].cell != own) {
                if pairs.len() == limit {
                    return pairs;
                }
                let pair = (self.values[other].cell, own);
                if !known.contains(&pair) && self.conflict(other, value) {
                    known.insert(pair);
                    pairs.push((self.cells.get(pair.0).clone(), cell.clone()));
                }
            }
            others.push(value);
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::LINE;
    use crease::kernel::graph::Kernel;

    fn trace(steps: i64) -> Trace {
        let kernel = Kernel::parse(LINE).unwrap();
        Trace::new(&kernel, &kernel.schedules()[0], &[5, steps], 1000).unwrap()
    }

    #[test]
    fn lifetimes_name_writer_readers_and_points() {
        let trace = trace(2);
        let of = |index: &[i64]| trace.lifetimes().find(|l| l.cell.index == index).unwrap();
        // Instances 0..5 are step 1, 5..10 step 2.
        let middle = of(&[1, 2]);
        assert_eq!((middle.written_by, middle.read_by), (Some(2), &[6, 7, 8][..]));
        assert_eq!((middle.from, middle.until, middle.live_out), (3, 9, false));
        let entering = of(&[0, 0]);
        assert_eq!((entering.written_by, entering.from, entering.until), (None, 0, 2));
        let leaving = of(&[2, 4]);
        assert_eq!((leaving.from, leaving.until, leaving.live_out), (10, trace.n_points(), true));
        assert_eq!(trace.instances().nth(2).unwrap().time, [1, 2]);
    }

    #[test]
    fn the_most_alive_is_what_the_oracle_counts() {
        for steps in 0..4 {
            let trace = trace(steps);
            let alive = trace.alive();
            assert_eq!(alive.len(), trace.n_points());
            assert_eq!(alive.iter().copied().max(), Some(trace.max_live()), "T = {steps}");
            assert_eq!((alive[0], alive[alive.len() - 1]), (5, 5));
        }
    }

    #[test]
    fn places_of_a_plan_hold_up_and_fewer_cells_do_not() {
        let plan = Kernel::parse(LINE).unwrap().plan().size("N", 9).build().unwrap();
        assert_eq!(plan.layout().buffers[0].moduli, [10]);
        let trace = Trace::of_plan(&plan, 5, 1000).unwrap();
        assert_eq!(trace.instances().len(), 45);
        let proved = |array, index: &[i64]| Some(plan.place(array, index)?.cell);
        assert_eq!(trace.clashes(&proved, 9), []);
        let short = |array, index: &[i64]| Some(plan.place_with(array, index, |_| &[9])?.cell);
        assert!(!trace.clashes(&short, 9).is_empty());
        for moduli in [&[][..], &[0], &[-3]] {
            assert_eq!(plan.place_with(trace.lifetimes().next().unwrap().cell.array, &[0, 0], |_| moduli), None);
        }
    }

    #[test]
    fn clashes_begin_with_the_clash_and_hold_it_once() {
        let trace = trace(2);
        for modulus in 2..=6 {
            let fold = |_: ArrayId, c: &[i64]| Some((c[1] - c[0]).rem_euclid(modulus) as u64);
            let clashes = trace.clashes(&fold, 1000);
            assert_eq!(clashes.first().cloned(), trace.clash(&fold), "mod {modulus}");
            assert_eq!(trace.clashes(&fold, 1).len(), clashes.len().min(1));
            let mut distinct = clashes.clone();
            distinct.sort();
            distinct.dedup();
            assert_eq!(distinct.len(), clashes.len());
        }
    }
}

//! Execution through a storage mapping: every read must find the value that it belongs to.
//!
//! This checks a mapping without the notion of a conflict. A partial order allows many executions; a sample of them is
//! run that contains the extremes: parallel dimensions upwards, downwards and all iterations abreast, vector blocks
//! at several anchors and of one lane. Iterations abreast run on a worker each, with a copy of what is private.

use std::collections::HashMap;
use std::fmt;

use crease::kernel::graph::{ArrayId, DimKind};

use crate::instances::{Cell, Instance};
use crate::order::Phase;
use crate::values::Trace;

/// Who found a wrong value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A statement instance.
    Instance(Instance),
    /// The caller, after the last step.
    LiveOut,
}

/// A read that finds another value than its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overwritten {
    /// Who reads.
    pub reader: Reader,
    /// The cell read.
    pub wanted: Cell,
    /// The cell whose value is stored there; the same cell if it is an earlier or later value of it.
    pub found: Cell,
    /// The stored cell.
    pub stored: u64,
}

impl fmt::Display for Overwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reader {
            Reader::Instance(instance) => write!(f, "{instance} reads {}", self.wanted)?,
            Reader::LiveOut => write!(f, "{} is live-out", self.wanted)?,
        }
        write!(f, ", but stored cell {} holds {}", self.stored, self.found)
    }
}

impl std::error::Error for Overwritten {}

/// How parallel iterations are interleaved.
#[derive(Clone, Copy)]
enum Interleaving {
    Ascending,
    Descending,
    /// All iterations proceed together, reads before writes.
    Abreast,
}

/// One execution that the schedule allows.
#[derive(Clone, Copy)]
struct Execution {
    interleaving: Interleaving,
    /// First lane of some block.
    anchor: i64,
    /// Whether blocks hold as many lanes as allowed, or one.
    blocks: bool,
}

type CellOf<'a> = &'a dyn Fn(ArrayId, &[i64]) -> Option<u64>;

/// Who stored what: by stored cell and, of private arrays, the worker, named by the task it runs. A single worker has
/// no name.
type Store<'t> = HashMap<(u64, &'t [i64]), usize>;

impl Trace {
    /// Executes the kernel's reads and writes through a mapped store.
    ///
    /// `cell_of` gives the stored cell of a cell of an array that storage mappings apply to, numbered through all
    /// buffers, or `None` where it keeps the cell elsewhere.
    ///
    /// # Errors
    /// [`Overwritten`]: the first read that finds another value than the one it belongs to.
    pub fn simulate(&self, cell_of: &dyn Fn(ArrayId, &[i64]) -> Option<u64>) -> Result<(), Overwritten> {
        let reads = self.reads_by_step();
        self.executions().into_iter().try_for_each(|execution| self.execute(execution, &reads, cell_of))
    }

    fn executions(&self) -> Vec<Execution> {
        let widths = self.order.dims().iter().filter_map(|d| if let DimKind::Vector(v) = d { Some(*v) } else { None });
        let mut blocks = vec![(0, false)];
        if let Some(width) = widths.map(i64::from).max().filter(|&w| w > 1) {
            let mut anchors = vec![0, 1, width / 2, width - 1];
            anchors.sort_unstable();
            anchors.dedup();
            blocks.extend(anchors.into_iter().map(|anchor| (anchor, true)));
        }
        let interleavings: &[Interleaving] = match self.order.is_total() {
            true => &[Interleaving::Ascending],
            false => &[Interleaving::Ascending, Interleaving::Descending, Interleaving::Abreast],
        };
        let with = |&interleaving: &Interleaving| {
            blocks.clone().into_iter().map(move |(anchor, blocks)| Execution { interleaving, anchor, blocks })
        };
        interleavings.iter().flat_map(with).collect()
    }

    /// Values that each step reads.
    fn reads_by_step(&self) -> Vec<Vec<usize>> {
        let mut reads = vec![Vec::new(); self.steps.len()];
        for (number, value) in self.values.iter().enumerate() {
            value.reads.iter().for_each(|&step| reads[step].push(number));
        }
        reads
    }

    fn execute(&self, execution: Execution, reads: &[Vec<usize>], cell_of: CellOf<'_>) -> Result<(), Overwritten> {
        let mut writes = vec![Vec::new(); self.steps.len()];
        let mut store = Store::new();
        let one_worker = !matches!(execution.interleaving, Interleaving::Abreast);
        let stored = |value: usize| self.stored(value, one_worker, cell_of);
        for value in self.in_write_order(execution) {
            match self.values[value].write {
                Some(step) => writes[step].push(value),
                None => _ = stored(value).map(|place| store.insert(place, value)),
            }
        }
        for (step, phase) in self.events(execution) {
            for &value in if phase == Phase::Read { &reads[step] } else { &writes[step] } {
                match phase {
                    Phase::Read => {
                        let reader = || Reader::Instance(self.steps[step].instance.clone());
                        self.expect(&store, value, stored(value), &reader)?;
                    }
                    Phase::Write => _ = stored(value).map(|place| store.insert(place, value)),
                }
            }
        }
        let mut survivors = (0..self.values.len()).filter(|&v| self.values[v].live_out);
        survivors.try_for_each(|value| self.expect(&store, value, stored(value), &|| Reader::LiveOut))
    }

    /// Values of one instant (live-in, or one instance's writes) are written in any order.
    fn in_write_order(&self, execution: Execution) -> Vec<usize> {
        match execution.interleaving {
            Interleaving::Descending => (0..self.values.len()).rev().collect(),
            _ => (0..self.values.len()).collect(),
        }
    }

    /// Steps and phases in order of execution. Lanes of a block, and parallel iterations abreast, are compared last.
    fn events(&self, execution: Execution) -> Vec<(usize, Phase)> {
        let atomic = !execution.blocks && !matches!(execution.interleaving, Interleaving::Abreast);
        let mut keyed = Vec::with_capacity(2 * self.steps.len());
        for (number, step) in self.steps.iter().enumerate() {
            let (mut first, mut last) = (Vec::new(), Vec::new());
            for (&time, dim) in step.time.iter().zip(self.order.dims()) {
                match (dim, execution.interleaving) {
                    (DimKind::Vector(width), _) if execution.blocks => {
                        first.push(time.saturating_sub(execution.anchor).div_euclid(i64::from((*width).max(1))));
                        last.push(time);
                    }
                    (DimKind::Parallel, Interleaving::Descending) => first.push(time.saturating_neg()),
                    (DimKind::Parallel, Interleaving::Abreast) => last.push(time),
                    _ => first.push(time),
                }
            }
            for phase in [Phase::Read, Phase::Write] {
                let (instance, late) = if atomic { (number, Phase::Read) } else { (0, phase) };
                keyed.push(((first.clone(), instance, late, last.clone(), number, phase), (number, phase)));
            }
        }
        keyed.sort();
        keyed.into_iter().map(|(_, event)| event).collect()
    }

    fn stored(&self, value: usize, one_worker: bool, cell_of: CellOf<'_>) -> Option<(u64, &[i64])> {
        let cell = self.cells.get(self.values[value].cell);
        let worker = self.task_of(value).filter(|_| !one_worker).unwrap_or_default();
        let stored = if self.is_owned(value) { cell_of(cell.array, &cell.index) } else { None };
        Some((stored?, worker))
    }

    fn expect(
        &self,
        store: &Store<'_>,
        value: usize,
        place: Option<(u64, &[i64])>,
        reader: &dyn Fn() -> Reader,
    ) -> Result<(), Overwritten> {
        let Some(place) = place else { return Ok(()) };
        match store.get(&place) {
            Some(&found) if found != value => {
                let cell = |v: usize| self.cells.get(self.values[v].cell).clone();
                Err(Overwritten { reader: reader(), wanted: cell(value), found: cell(found), stored: place.0 })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::LINE;
    use crease::kernel::graph::Kernel;

    /// One line of stencil, folded in place with a modulus; whether neither check objects.
    fn accepts(schedule: &str, modulus: i64) -> bool {
        let kernel = Kernel::parse(LINE).unwrap();
        let trace = Trace::new(&kernel, kernel.schedule(schedule).unwrap(), &[9, 4], 1000).unwrap();
        let fold = |_: ArrayId, c: &[i64]| Some((c[1] - c[0]).rem_euclid(modulus) as u64);
        let (clash, run) = (trace.clash(&fold), trace.simulate(&fold));
        assert_eq!(clash.is_none(), run.is_ok(), "{schedule} mod {modulus}: {clash:?} {run:?}");
        run.is_ok()
    }

    #[test]
    fn both_checks_accept_the_fold_of_a_line_and_nothing_smaller() {
        for schedule in ["seq", "lanes"] {
            assert!(accepts(schedule, 10));
            assert!(!accepts(schedule, 9));
        }
    }

    #[test]
    fn a_parallel_order_refuses_the_sequential_fold() {
        assert!(!accepts("par", 10));
    }

    #[test]
    fn the_report_names_reader_and_cells() {
        let text = "\
kernel copy(size N) {
  opaque f(1)
  temp a[x]: f64 for 0 <= x < N live out for x = 0
  P[x] for 0 <= x < N { a[x] = f(x) }
  schedule seq { P -> [x] }
}";
        let kernel = Kernel::parse(text).unwrap();
        let trace = Trace::new(&kernel, &kernel.schedules()[0], &[2], 100).unwrap();
        let found = trace.simulate(&|_, _| Some(7)).unwrap_err();
        assert_eq!(found.to_string(), "A0[0] is live-out, but stored cell 7 holds A0[1]");
    }
}

//! Enumeration: every instance of a kernel at concrete parameters, its time vector and the cells it touches.

use std::collections::HashMap;
use std::fmt;

use crease::kernel::affine::{Affine, AffineOverflow};
use crease::kernel::graph::{ArrayId, Kernel, Schedule, StmtId};

use crate::domain::points;
use crate::error::TraceError;

/// A cell of an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    /// The array.
    pub array: ArrayId,
    /// One value per index.
    pub index: Vec<i64>,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.array, self.index)
    }
}

/// A statement instance.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Instance {
    /// The statement.
    pub stmt: StmtId,
    /// One value per iterator.
    pub point: Vec<i64>,
}

impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.stmt, self.point)
    }
}

/// Cells by number, so that pairs of them are cheap.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    list: Vec<Cell>,
    numbers: HashMap<Cell, usize>,
}

impl Cells {
    /// The number of a cell, which is new if the cell is.
    pub(super) fn intern(&mut self, cell: Cell) -> usize {
        let next = self.list.len();
        let number = *self.numbers.entry(cell.clone()).or_insert(next);
        if number == next {
            self.list.push(cell);
        }
        number
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn get(&self, number: usize) -> &Cell {
        &self.list[number]
    }
}

/// An instance with its place in time and the numbers of the cells it touches.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) instance: Instance,
    pub(super) time: Vec<i64>,
    pub(super) reads: Vec<usize>,
    pub(super) writes: Vec<usize>,
}

/// Every instance, in one order that the schedule allows: ascending time vectors.
pub(super) fn enumerate_steps(
    kernel: &Kernel,
    schedule: &Schedule,
    params: &[i64],
    limit: usize,
    cells: &mut Cells,
) -> Result<Vec<Step>, TraceError> {
    let mut steps = Vec::new();
    for id in kernel.stmt_ids() {
        let stmt = kernel.stmt(id);
        for point in points(&stmt.domain, stmt.iters.len(), params, limit)? {
            let mut cell = |array: ArrayId, index: &[Affine]| -> Result<usize, AffineOverflow> {
                Ok(cells.intern(Cell { array, index: eval_all(index, &point, params)? }))
            };
            let mut reads = stmt.reads().map(|(array, index)| cell(array, index)).collect::<Result<Vec<_>, _>>()?;
            reads.sort_unstable();
            reads.dedup();
            let writes = stmt.assigns.iter().map(|a| cell(a.array, &a.index)).collect::<Result<Vec<_>, _>>()?;
            let time = eval_all(&schedule.times[id.index()], &point, params)?;
            steps.push(Step { instance: Instance { stmt: id, point }, time, reads, writes });
            if steps.len() + cells.len() > limit {
                return Err(TraceError::TooMany { limit });
            }
        }
    }
    steps.sort_by(|a, b| (&a.time, &a.instance).cmp(&(&b.time, &b.instance)));
    Ok(steps)
}

fn eval_all(exprs: &[Affine], iters: &[i64], params: &[i64]) -> Result<Vec<i64>, AffineOverflow> {
    exprs.iter().map(|e| e.eval(iters, params)).collect()
}

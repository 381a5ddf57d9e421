//! Diagonals of the two innermost dimensions in lanes, where something goes along both.
//!
//! In: as in `shapes`.   Out: `[t, floor(y/R), x + s y, y vector(V)]`.
//!
//! The method of Gauss and Seidel reads what it has just written, on the left and above. Cells of a diagonal need none of
//! each other: in blocks of some rows, each row is `s` cells behind the one above it, and all of them go along side by
//! side. Blocks follow each other, so that what one leaves to the next is one row.
//!
//! Source: Lamport, The parallel execution of DO loops (1974).

use crate::kernel::graph::{DimKind, Kernel};
use crate::schedule::automatic::estimate::Sweep;
use crate::schedule::automatic::fusion::{Open, Row};
use crate::schedule::automatic::shapes::{Draft, Found, Shapes};

/// Cells that a row is behind the one above, at most. Shows in `explain` of a kernel that reads so far ahead above.
const MOST_SLOPE: i64 = 8;
/// Rows of a block, if vectors have no more lanes: beyond, rows that go along side by side do not come from memory in time.
/// Shows in `run poisson-2d-gauss-seidel --schedule auto --set omega=1 --set N=1000 --threads 1`, and of N = 2000.
const ROWS_FROM_MEMORY: u32 = 16;
/// The same where a core's own caches have all of a step: a strip of more vectors is begun as fast. Shows there, of N = 64
/// and 256.
const ROWS_FROM_CACHE: u32 = 64;

impl Shapes<'_> {
    /// Diagonals in blocks of rows, where rows have no lanes.
    pub(super) fn diagonals(&self, kernel: &Kernel) -> Found {
        let last = self.last();
        // Of tables without steps, rows are in a cache and wait for little: diagonals were seen to gain nothing.
        if !self.space.has_steps || last <= self.outer() || self.workload.has_lanes() {
            return Ok(None);
        }
        let (mut draft, mut open) = (Draft::new(self.stmts), Open::all(&self.space.alike, self.distances));
        let above = last - 1;
        for dim in 0..above {
            let Some(rows) = open.next(dim) else { return Ok(None) };
            for row in rows {
                draft.push(DimKind::Sequential, self.values(&row)?);
            }
        }
        let Some(slope) = open.slope((above, last), MOST_SLOPE) else { return Ok(None) };
        let zeros = vec![0; self.stmts];
        let [rows, cells] = [above, last].map(|dim| Row::Dim { dim, shifts: zeros.clone() });
        let lanes = self.workload.lanes;
        let is_near = self.workload.is_in_own_cache(0.5);
        let most = if is_near { ROWS_FROM_CACHE } else { ROWS_FROM_MEMORY };
        let block = most.max(lanes);
        draft.push(DimKind::Sequential, self.map(&rows, |row, _| row.floor_div(i64::from(block)))?);
        let diagonal = self.map(&cells, |cell, stmt| cell.add(&self.value(&rows, stmt)?.scale(slope)?))?;
        draft.push(DimKind::Sequential, diagonal);
        let Some((before, _)) = open.positions_around(above, None) else { return Ok(None) };
        if let Some(before) = before {
            draft.push(DimKind::Sequential, self.values(&before)?);
        }
        draft.push(DimKind::Vector(lanes), self.values(&rows)?);
        let work = |number: usize| {
            let stmt = &kernel.stmts()[number];
            let rows = &self.space.coordinates[number][above];
            let strided = self.workload.strides.accesses(kernel, stmt, rows, None).alone as f64;
            self.workload.work_with_strides(stmt, number, (strided, strided), f64::from(block))
        };
        let work = (0..self.stmts).map(work).sum();
        let estimate =
            self.workload.sweep_of(work, Sweep { tasks: 1.0, temps_held: 0.0, barriers: 1, is_in_place: false });
        let names = &self.space.names;
        let shape = format!("diagonals of {} and {} in blocks of {block}", names[above], names[last]);
        Ok(Some(draft.candidate(shape, estimate)))
    }
}

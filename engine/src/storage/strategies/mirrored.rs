//! Mirrored storage of states: two rings that move in opposite directions, one for each half of a folded dimension.
//!
//! In: a state of which one index is run upwards by some statements, and downwards, beyond it, by others.   Out: storage
//! in two pieces, in closed form. Source: ours, after the fold of Bondhugula et al. (PACT 2014).
//!
//! In tiles of a periodic box that is folded (`engine/src/schedule/automatic/fold.rs`), each half is swept from its end of
//! the box to the middle, so that rows of the near half die upwards and those of the far half downwards: no single
//! formula follows both. Apart, each half is a grid with borders. With `N = 2 H` rows, a stencil that reaches one row and
//! tiles of `B` steps:
//!
//! ```text
//! u[t, y, x] -> u[(y - t) mod (H + B + 1), x]                  if y < H
//! u[t, y, x] -> u_far[(N - 1 - y - t) mod (H + B + 1), x]      if y >= H
//! ```
//!
//! one grid and a margin of the steps of a tile in each half. Which index, where the halves meet and how far a row
//! reaches are read off the statements and their times; that no two values meet, the checker proves.

use crate::kernel::affine::{Affine, Term};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, Role, Stmt, StmtId};
use crate::storage::options::StrategyId;
use crate::storage::problem::{Problem, Span, Strategy};
use crate::storage::{ArrayMapping, MappingError, Piece, StorageMapping};

/// Storage of the halves of a folded dimension.
pub(crate) struct Mirrored;

impl Strategy for Mirrored {
    fn id(&self) -> StrategyId {
        StrategyId::Mirrored
    }

    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<StorageMapping>, MappingError> {
        // Where the last row to read another one reads it around the end of a row, that row lives for one more.
        [0, 1].into_iter().map(|more| kept(problem, arrays, more)).collect()
    }
}

/// Storage of all arrays, in which rows move by what statements reach and some rows `more` a step.
fn kept(problem: &Problem<'_, '_, '_>, arrays: &[ArrayId], more: i64) -> Result<StorageMapping, MappingError> {
    let mut all = StorageMapping::default();
    for &array in arrays {
        let name = &problem.model.kernel.array(array).name;
        let not_applicable =
            |reason: String| MappingError::NotApplicable { strategy: StrategyId::Mirrored.name(), reason };
        let Some(mut halves) = Halves::of(problem, array)? else {
            let reason = format!("no index of `{name}` is run upwards in one half and downwards in the other");
            return Err(not_applicable(reason));
        };
        halves.drift = halves.drift.saturating_add(more);
        let kept = halves.keep(problem, array)?;
        all.append(kept.ok_or_else(|| not_applicable(format!("an index of `{name}` has no bounds")))?);
    }
    Ok(all)
}

/// Whether the array is folded.
///
/// # Errors
/// [`MappingError`] if a range could not be found.
pub(crate) fn may_mirror(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Result<bool, MappingError> {
    Ok(Halves::of(problem, array)?.is_some())
}

/// An index whose halves are run towards each other.
#[derive(Debug)]
struct Halves {
    index: usize,
    /// The last cell of the near half.
    last_near: i64,
    /// Rows that a step moves all others by: those that statements reach.
    drift: i64,
    /// Steps of a tile.
    steps: i64,
}

/// Where a statement writes and which way it runs there.
struct Sweep {
    cells: Span,
    is_upwards: bool,
}

impl Halves {
    fn of(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Result<Option<Halves>, MappingError> {
        let (kernel, body) = (problem.model.kernel, problem.model.kernel.array(array));
        if body.role != Role::State || kernel.state_depth(array) != 1 {
            return Ok(None);
        }
        for index in 1..body.index.len() {
            let mut sweeps = Vec::new();
            for stmt in kernel.stmt_ids() {
                sweeps.extend(sweep(problem, stmt, array, index)?);
            }
            let ends = |is_upwards: bool| {
                let cells = sweeps.iter().filter(move |sweep| sweep.is_upwards == is_upwards).map(|sweep| sweep.cells);
                cells.reduce(Span::hull).and_then(Span::ends)
            };
            let Some(((_, last_near), (first_far, _))) = ends(true).zip(ends(false)) else { continue };
            if last_near < first_far {
                let drift = kernel.stmts().iter().map(|stmt| reach(stmt, array, index)).max().unwrap_or(0);
                return Ok(Some(Halves { index, last_near, drift, steps: steps_of_tiles(problem, array) }));
            }
        }
        Ok(None)
    }

    /// Storage in two pieces; none if an index has no bounds or a number leaves 64 bits.
    fn keep(&self, problem: &Problem<'_, '_, '_>, array: ArrayId) -> Result<Option<StorageMapping>, MappingError> {
        let spans = problem.spans(array)?;
        let (index, last) = (Affine::iter(self.index), Affine::constant(self.last_near));
        let (near, far) = (Formula::le(&index, &last)?, Formula::lt(&last, &index)?);
        let (mut buffers, mut pieces) = (Vec::new(), Vec::new());
        for (buffer, when) in [near, far].into_iter().enumerate() {
            let Some((moduli, piece)) = self.part(&spans, buffer, when) else { return Ok(None) };
            let mut kept = problem.buffer_for(array, moduli, StrategyId::Mirrored);
            if buffer > 0 {
                kept.name = problem.free_name(&kept.name, "far");
            }
            buffers.push(kept);
            pieces.push(piece);
        }
        Ok(Some(StorageMapping { buffers, arrays: vec![ArrayMapping { array, pieces }] }))
    }

    /// Moduli and piece of a half: buffer 0 keeps the near one.
    fn part(&self, spans: &[Span], buffer: usize, when: Formula) -> Option<(Vec<i64>, Piece)> {
        let is_near = buffer == 0;
        let (mut moduli, mut matrix, mut offset) = (Vec::new(), Vec::new(), Vec::new());
        for (k, span) in spans.iter().enumerate().skip(1) {
            let (first, last) = span.ends()?;
            let mut row = vec![0; spans.len()];
            if k != self.index {
                row[k] = 1;
                moduli.push(span.extent()?);
                offset.push(first.checked_neg()?);
            } else {
                let rows =
                    if is_near { self.last_near.checked_sub(first)?.checked_add(1)? } else { last - self.last_near };
                row[0] = self.drift.checked_neg()?;
                row[k] = if is_near { 1 } else { -1 };
                moduli.push(rows.checked_add(self.drift.checked_mul(self.steps.checked_add(1)?)?)?);
                offset.push(if is_near { first.checked_neg()? } else { last });
            }
            matrix.push(row);
        }
        Some((moduli, Piece { when, buffer, matrix, offset }))
    }
}

/// How a statement sweeps an index of the array that it writes; none if it does not, or along a fixed cell.
fn sweep(
    problem: &Problem<'_, '_, '_>,
    stmt: StmtId,
    array: ArrayId,
    index: usize,
) -> Result<Option<Sweep>, MappingError> {
    let body = problem.model.kernel.stmt(stmt);
    let Some(write) = body.assigns.iter().find(|assign| assign.array == array) else { return Ok(None) };
    let written = &write.index[index];
    let Some(iter) = (0..body.iters.len()).find(|&iter| written.iter_coefficient(iter) == 1) else { return Ok(None) };
    let Some(ahead) = written.sub(&Affine::iter(iter))?.as_constant() else { return Ok(None) };
    let times = &problem.model.schedule.times[stmt.index()];
    let Some(direction) = times.iter().map(|time| time.iter_coefficient(iter)).find(|c| *c != 0) else {
        return Ok(None);
    };
    let Some((first, last)) = problem.model.domains[stmt.index()].dim_range(iter)? else { return Ok(None) };
    let cells = Span::between(first, last) + Span::point(ahead);
    Ok(Some(Sweep { cells, is_upwards: direction > 0 }))
}

/// The most rows that a statement reads on either side of what it writes, as far as that is a number.
fn reach(stmt: &Stmt, array: ArrayId, index: usize) -> i64 {
    let Some(write) = stmt.assigns.iter().find(|assign| assign.array == array) else { return 0 };
    let reads = stmt.reads().filter(|(of, _)| *of == array);
    let apart = reads.filter_map(|(_, read)| write.index[index].sub(&read[index]).ok()?.as_constant()?.checked_abs());
    apart.max().unwrap_or(0)
}

/// The most steps of a tile: divisors of floors of the step alone.
fn steps_of_tiles(problem: &Problem<'_, '_, '_>, array: ArrayId) -> i64 {
    let of_stmt = |(stmt, times): (&Stmt, &Vec<Affine>)| {
        let write = stmt.assigns.iter().find(|assign| assign.array == array)?;
        let step = (0..stmt.iters.len()).find(|&iter| write.index[0].iter_coefficient(iter) == 1)?;
        let divisors = times.iter().flat_map(Affine::terms).filter_map(|(term, _)| match term {
            Term::Floor(inner, divisor) => Some((inner, *divisor)),
            _ => None,
        });
        // A tile may begin at any step.
        let of_steps = |inner: &Affine| inner.sub(&Affine::iter(step)).is_ok_and(|rest| rest.is_of_params());
        let divisors = divisors.filter(|(inner, _)| of_steps(inner)).map(|(_, divisor)| divisor);
        divisors.max()
    };
    let stmts = problem.model.kernel.stmts().iter().zip(&problem.model.schedule.times);
    stmts.filter_map(of_stmt).max().unwrap_or(1)
}

//! Unroll-and-jam in candidates: several rows in one pass of the lanes, so that what they both read is loaded once.
//!
//! In: a kernel in its common space, or time vectors that end in `y, x vector`.   Out: how much of the time is left;
//! the vectors that end in `floor(y/4), x vector, y`.
//! Source: Callahan, Cocke and Kennedy, Estimating interlock and improving balance for pipelined architectures (1988),
//! for the balance of loads and operations.

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::graph::{ArrayId, DimKind, Kernel, Stmt};
use crate::schedule::automatic::domains::relates;
use crate::schedule::automatic::estimate::{Workload, instructions};
use crate::schedule::automatic::space::CommonSpace;
use crate::schedule::restart::in_call;

/// Rows of a pass. Shows in `bench --suite tiles --kernel heat-2d-5pt`.
pub(super) const ROWS_OF_A_PASS: i64 = 4;
/// Of the time by rows, what passes may leave at most: else it is not worth their code, and storage that may take as
/// many rows a step. Shows in `bench --suite tiles`.
const MOST_TIME_LEFT: f64 = 0.95;

/// What passes leave of the time by rows: as much as of the instructions, as they save loads from memory and all caches
/// alike. A plane of 4000 by 4000 cells and five points, of which it says 0.86, took 0.85 of the time by rows, 0.88 in
/// skewed tiles and 0.80 with 32 steps at once on two threads (`run` with `--set N=4000 --set T=96` and each schedule
/// written out, two shared cores with AVX2, in a build whose rows had loads that share vectors with AVX2 too). None if
/// they save too little.
pub(super) fn time_left(
    kernel: &Kernel,
    space: &CommonSpace,
    workload: &Workload,
) -> Result<Option<f64>, AffineOverflow> {
    let Some(dim) = space.names.len().checked_sub(2).filter(|dim| *dim >= usize::from(space.has_steps)) else {
        return Ok(None);
    };
    // Rows of a pass have the same ends, or they share no strip.
    if kernel
        .stmts()
        .iter()
        .zip(&space.coordinates)
        .any(|(stmt, of_stmt)| relates(stmt, &of_stmt[dim], &of_stmt[dim + 1]))
    {
        return Ok(None);
    }
    let (mut by_rows, mut in_passes) = (0.0, 0.0);
    for ((stmt, coordinates), work) in kernel.stmts().iter().zip(&space.coordinates).zip(&workload.work) {
        let instructions = instructions(stmt);
        let loads = stmt.reads().count() as f64;
        let moving = (0..stmt.iters.len()).find(|&iter| coordinates[dim].iter_coefficient(iter) == 1);
        let needed = match moving {
            Some(iter) => loads_of_pass(stmt, iter)? as f64 / ROWS_OF_A_PASS as f64,
            None => loads,
        };
        by_rows += work;
        in_passes += work * (instructions - loads + needed) / instructions;
    }
    Ok(Some(in_passes / by_rows).filter(|left| *left <= MOST_TIME_LEFT))
}

/// The cells that a statement reads at one place of some rows that follow each other.
fn loads_of_pass(stmt: &Stmt, iter: usize) -> Result<usize, AffineOverflow> {
    let mut cells: Vec<(ArrayId, Vec<Affine>)> = Vec::new();
    for row in 0..ROWS_OF_A_PASS {
        let mut iters: Vec<Affine> = (0..stmt.iters.len()).map(Affine::iter).collect();
        iters[iter] = iters[iter].add(&Affine::constant(row))?;
        for (array, index) in stmt.reads() {
            let there = index.iter().map(|e| e.substitute_iters(&iters)).collect::<Result<Vec<_>, _>>()?;
            if !cells.contains(&(array, there.clone())) {
                cells.push((array, there));
            }
        }
    }
    Ok(cells.len())
}

/// Lets time vectors that end in rows and lanes end in passes, lanes and rows; false if they do not end like that.
/// Passes lean by `lean` rows a step.
pub(super) fn in_passes(
    (dims, times): (&mut Vec<DimKind>, &mut [Vec<Affine>]),
    space: &CommonSpace,
    lean: i64,
) -> Result<bool, AffineOverflow> {
    let [.., DimKind::Sequential, DimKind::Vector(_)] = dims.as_slice() else { return Ok(false) };
    let (row, dim) = (dims.len() - 2, space.names.len() - 2);
    let mut passes = Vec::new();
    for (time, coordinates) in times.iter().zip(&space.coordinates) {
        if time[row].sub(&coordinates[dim])?.as_constant().is_none() {
            return Ok(false);
        }
        passes.push(time[row].add(&in_call(&coordinates[0])?.scale(lean)?)?.floor_div(ROWS_OF_A_PASS)?);
    }
    // A tile may be a pass.
    let tells = |k: usize| {
        times.iter().zip(&passes).zip(&space.coordinates).all(|((time, pass), coordinates)| {
            let rest = time[k].sub(pass).and_then(|rest| rest.sub(&coordinates[0].scale(rest.iter_coefficient(0))?));
            rest.is_ok_and(|rest| rest.is_of_params())
        })
    };
    let is_tile = (0..row).any(tells);
    for (time, pass) in times.iter_mut().zip(passes) {
        let rows = time.remove(row);
        if !is_tile {
            time.insert(row, pass);
        }
        time.push(rows);
    }
    if is_tile {
        dims.remove(row);
    }
    dims.push(DimKind::Sequential);
    Ok(true)
}

//! Unroll-and-jam in candidates: several rows in one pass of the lanes, so that what they both read is loaded once.
//!
//! In: a kernel in its common space, or time vectors that end in `y, x vector`, or in `z, y, x vector`.   Out: how much of
//! the arithmetic is left; the vectors that end in `floor(y/4), x vector, y`, or in `floor(z/4), y, x vector, z`.
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
/// Of the time by rows, what passes may leave at most, in cubes of the arithmetic: else it is not worth their code, and storage that may take as
/// many rows a step. Shows in `bench --suite tiles`.
const MOST_TIME_LEFT: f64 = 0.95;
/// Of the time of rows that go through all of a field, memory's included, what passes may leave at most: rows that are read
/// in turn come from memory faster than four at a time. Shows in `run heat-3d-periodic --schedule rows --set N=192 --set
/// T=16 --threads 1`, which had 1.23 and 1.04 times the speed of `--schedule "rows split(y 4) interchange(y, x)"`, fastest
/// of 4 and of 9 in turn.
pub(super) const MOST_OF_A_SWEEP_LEFT: f64 = 0.95;
/// With so few registers, rows of a pass push each other out: they are faster only where passes leave little of the
/// time, and few of the loads. Shows in `bench --suite tiles` with AVX2.
const FEW_REGISTERS: u32 = 16;
/// Of that, what passes may leave there.
const MOST_TIME_LEFT_OF_FEW: f64 = 0.9;
/// Of the loads, what passes may leave there. Of kernels with passes that left 0.84 to 0.95 of the estimate, those whose
/// passes need half of the loads had 1.29 (nine points), 1.48 (27 points) and 0.99 (life) of the speed without, others
/// 0.83 (waves in space), 0.88 (a cross of nine points), 0.91 (five points, two threads) and 1.10 (seven points on a
/// torus): `run KERNEL --schedule auto --threads 1` with AVX2, medians of 5 in turn with a build without passes.
const MOST_LOADS_LEFT: f64 = 0.6;

/// Of the time of beginning a strip for each row of a cube, what passes leave: rows of two dimensions are where several
/// others are that are folded, and passes share them. Of planes, where a row is begun in half the time, passes have
/// been seen to save no more of it than of the arithmetic. Shows in `run heat-3d-7pt --set N=36 --set T=8000 --threads 1`
/// with `--schedule rows` and with `--schedule "rows split(y 4) interchange(y, x)"`.
const BEGUN_LEFT: f64 = 0.7;

/// What passes of a dimension leave of the arithmetic by rows, of which loads are a part, and of beginning strips. None if
/// they save too little.
pub(super) fn time_left(
    kernel: &Kernel,
    space: &CommonSpace,
    workload: &Workload,
    dim: usize,
) -> Result<Option<f64>, AffineOverflow> {
    // Rows of a pass have the same ends, or they share no strip.
    if kernel
        .stmts()
        .iter()
        .zip(&space.coordinates)
        .any(|(stmt, of_stmt)| of_stmt[dim + 1..].iter().any(|within| relates(stmt, &of_stmt[dim], within)))
    {
        return Ok(None);
    }
    // Of a cube, arithmetic and beginning strips for themselves; of a plane, both.
    let is_cube = space.names.len() > usize::from(space.has_steps) + 2;
    let (mut by_rows, mut in_passes, mut all_begun) = (0.0, 0.0, 0.0);
    let (mut all_loads, mut loads_left) = (0.0, 0.0);
    let of_stmts = kernel.stmts().iter().zip(&space.coordinates).enumerate();
    for (number, (stmt, coordinates)) in of_stmts {
        let points = workload.points[number];
        let begun = if is_cube { workload.begun[number] } else { 0.0 };
        let work = workload.work[number] - begun;
        let instructions = instructions(stmt);
        let loads = stmt.reads().count() as f64;
        let moving = (0..stmt.iters.len()).find(|&iter| coordinates[dim].iter_coefficient(iter) == 1);
        let needed = match moving {
            Some(iter) => loads_of_pass(stmt, iter)? as f64 / ROWS_OF_A_PASS as f64,
            None => loads,
        };
        by_rows += work;
        all_begun += begun;
        all_loads += points * loads;
        loads_left += points * needed;
        in_passes += work * (instructions - loads + needed) / instructions;
    }
    let has_few = workload.vector_registers <= FEW_REGISTERS;
    let most = if has_few { MOST_TIME_LEFT_OF_FEW } else { MOST_TIME_LEFT };
    let has_room = !has_few || loads_left <= all_loads * MOST_LOADS_LEFT;
    let pays = has_room && in_passes <= by_rows * most;
    Ok(pays.then(|| (in_passes + all_begun * BEGUN_LEFT) / (by_rows + all_begun)))
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

/// Lets time vectors that end in rows of a dimension, what lies within, and lanes, end in passes, the same, and rows of
/// a pass; false if they do not end like that. Passes lean by `lean` rows a step.
pub(super) fn in_passes(
    (dims, times): (&mut Vec<DimKind>, &mut [Vec<Affine>]),
    space: &CommonSpace,
    (dim, lean): (usize, i64),
) -> Result<bool, AffineOverflow> {
    let Some(row) = (dims.len() + dim).checked_sub(space.names.len()) else { return Ok(false) };
    let [DimKind::Sequential, within @ .., DimKind::Vector(_)] = &dims[row..] else { return Ok(false) };
    if within.iter().any(|kind| *kind != DimKind::Sequential) {
        return Ok(false);
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::MachineModel;
    use crate::schedule::automatic::Target;
    use crate::schedule::automatic::space::Missing;

    /// Whether rows of a pass save enough of a kernel of a square, with so many registers.
    fn pays(value: &str, registers: u32) -> bool {
        let text = "kernel k(size N; run T) for N >= 3 {
            state u[t, y, x]: f64 for 0 <= y, x < N
            S[t, y, x] for 1 <= t <= T and 1 <= y, x < N - 1 { u[t,y,x] = VALUE }
            E[t, y, x] for 1 <= t <= T and 0 <= y, x < N and (y = 0 or y = N - 1 or x = 0 or x = N - 1) {
              u[t,y,x] = u[t-1,y,x] } }";
        let kernel = Kernel::parse(&text.replace("VALUE", value)).unwrap();
        let params = [2000, 100];
        let space = CommonSpace::of(&kernel, Missing::AtZero, &params).unwrap();
        let machine = MachineModel::detect().vector_registers(registers);
        let workload = Workload::of(&kernel, &space, &Target { params: &params, machine, threads: 1 });
        time_left(&kernel, &space, &workload, 1).unwrap().is_some()
    }

    #[test]
    fn passes_pay_where_rows_share_their_loads_and_there_are_registers_for_them() {
        let row = |y: &str| format!("(u[t-1,{y},x-1] + 2 * u[t-1,{y},x] + u[t-1,{y},x+1])");
        let all = ["y-1", "y", "y+1"].map(row).join(" + ");
        assert!(pays(&all, 16));
        assert!(pays(&all, 32));
        // Passes need two loads of each three.
        let column = "u[t-1,y-1,x] + u[t-1,y,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1]";
        assert!(!pays(column, 16));
        assert!(pays(column, 32));
        // There is more to compute beside the loads.
        let product = format!("({column}) * (u[t-1,y,x] + 1) * (u[t-1,y,x] + 2) * (u[t-1,y,x] + 3) * (u[t-1,y,x] + 4)");
        assert!(pays(&product, 32));
        assert!(!pays("u[t-1,y,x-1] + u[t-1,y,x+1]", 32));
    }
}

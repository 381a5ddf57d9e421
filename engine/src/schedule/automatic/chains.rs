//! Recurrences along rows: which statements run cell by cell, and how long a cell waits for the one before it.
//!
//! In: a kernel in its common space, its distances.   Out: per statement, nanoseconds of an instance of the chain that it
//! is in; none where rows run in lanes.
//!
//! In `s[x] = s[x-1] + a[x]` each sum waits for the one before, which has been added, and stored if no register hands it
//! on: no more can run at a time, however many instructions a core begins in a cycle. What counts is the longest path of
//! operations from what the same circle of statements wrote to what the statement writes.

use crate::kernel::exprs::operands;
use crate::kernel::graph::{ArrayId, Expr, Kernel, Stmt};
use crate::schedule::automatic::distances::Distance;
use crate::schedule::automatic::fusion::Open;
use crate::schedule::automatic::space::CommonSpace;
use crease_program::{BinaryOp, Interval, UnaryOp};

/// Nanoseconds from the beginning of an operation to its result. Shows in `run tridiagonal-rows --set NY=200 --set
/// NX=200 --schedule rows`, which takes 12 ns for the chain of each cell.
const OPERATION_NS: f64 = 1.3;
/// The same of quotients, roots, remainders and functions. Shows there.
const QUOTIENT_NS: f64 = 4.5;
/// Nanoseconds until what was stored can be loaded. Shows there.
const STORED_NS: f64 = 1.6;

/// Cells from one that is computed to those that it waits for, at most, if these are to be in registers.
const MOST_BEHIND: i64 = 8;

/// Of all arithmetic, the part of what runs apart from recurrences, in lanes, if it is to. Rows lie in between then, and
/// of a border that is not worth it. Shows in `run integral-image --set NY=1000 --set NX=1000 --schedule auto`.
const PART_IN_LANES: f64 = 0.2;

/// What runs cell by cell along rows.
pub(super) struct Chains {
    /// Of each statement that does, nanoseconds that an instance takes at least.
    pub(super) waits: Vec<Option<f64>>,
    /// Whether statements that nothing goes along are in groups of their own, though they need not be.
    pub(super) are_apart: bool,
}

/// Whether what is free of recurrences along rows is to run apart from them, in lanes: of statements with so much work.
pub(super) fn are_wanted_apart(space: &CommonSpace, work: &[f64], free: &[bool]) -> bool {
    let of_free: f64 = work.iter().zip(free).filter(|(_, free)| **free).map(|(work, _)| work).sum();
    // Of a line, all that lies between would be there at once.
    let has_rows = usize::from(space.has_steps) + 1 < space.names.len();
    has_rows && of_free >= PART_IN_LANES * work.iter().sum::<f64>() && free.contains(&false)
}

/// What runs cell by cell, of statements with so much work in lanes.
pub(super) fn chains(kernel: &Kernel, space: &CommonSpace, distances: &[Distance], work: &[f64]) -> Chains {
    let none = |stmts: usize| Chains { waits: vec![None; stmts], are_apart: false };
    let (first, last) = (usize::from(space.has_steps), space.names.len() - 1);
    let stmts = space.coordinates.len();
    let mut open = Open::all(&space.alike, distances);
    let is_ordered = first > last || (0..last).all(|dim| open.next(dim).is_some());
    if first > last || is_ordered && open.clone().positions_around(last, None).is_some() {
        return none(stmts);
    }
    let mut apart = open.clone();
    let Some((groups, _, in_lanes)) = open.cell_by_cell(last, |free| are_wanted_apart(space, work, free)) else {
        return none(stmts);
    };
    groups.iter().for_each(|_| drop(apart.groups()));
    let all = kernel.stmts();
    let chain = |(number, stmt): (usize, &Stmt)| {
        let before = || apart.left().iter().filter(|d| d.to == number);
        let carried: Vec<ArrayId> = before().flat_map(|d| &all[d.from].assigns).map(|assign| assign.array).collect();
        // What the cell before has stored is handed on in a register, and from there to those behind it.
        let behind = || before().filter(|d| d.from == number).map(|d| d.by[last]);
        let is_near = |by: Interval| (1..=MOST_BEHIND).any(|cells| by == Interval::between(cells, cells));
        let is_handed_on = behind().any(|by| by == Interval::between(1, 1)) && behind().all(is_near);
        let loaded = if is_handed_on { 0.0 } else { STORED_NS };
        (!in_lanes[number]).then(|| chain_ns(stmt, &carried, loaded))
    };
    Chains { waits: all.iter().enumerate().map(chain).collect(), are_apart: in_lanes.contains(&true) }
}

/// Nanoseconds from having cells of some arrays, which takes some to load, to storing what comes of them.
fn chain_ns(stmt: &Stmt, carried: &[ArrayId], loaded: f64) -> f64 {
    let mut done: Vec<Option<f64>> = Vec::with_capacity(stmt.exprs.len());
    for expr in &stmt.exprs {
        let begun = match expr {
            Expr::Load(array, _) => carried.contains(array).then_some(loaded),
            _ => operands(expr).into_iter().filter_map(|operand| done[operand.index()]).reduce(f64::max),
        };
        done.push(begun.map(|begun| begun + latency(expr)));
    }
    stmt.assigns.iter().filter_map(|assign| done[assign.value.index()]).fold(0.0, f64::max)
}

fn latency(expr: &Expr) -> f64 {
    match expr {
        Expr::Load(..) | Expr::Unary(UnaryOp::Neg | UnaryOp::Abs, _) => 0.0,
        Expr::Unary(UnaryOp::Sqrt, _) | Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => QUOTIENT_NS,
        Expr::Lookup(_) | Expr::Call(..) | Expr::Opaque(..) => QUOTIENT_NS,
        _ => OPERATION_NS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::automatic::distances::distances;
    use crate::schedule::automatic::space::Missing;

    #[test]
    fn cells_wait_for_what_the_one_before_has_computed() {
        let of = |value: &str| {
            let text = "kernel k(size N) for N >= 2 {
                input a[y, x]: f64 for 0 <= y, x < N
                output s[y, x]: f64 for 0 <= y, x < N
                S0[y, x] for 0 <= y < N and x = 0 { s[y,x] = a[y,x] }
                S[y, x] for 0 <= y < N and 1 <= x < N { s[y,x] = VALUE } }";
            let kernel = Kernel::parse(&text.replace("VALUE", value)).unwrap();
            let space = CommonSpace::of(&kernel, Missing::AtZero, &[100]).unwrap();
            let found = distances(&kernel, &space, &[100]).unwrap();
            chains(&kernel, &space, &found, &[1.0, 1.0]).waits
        };
        assert_eq!(of("a[y,x-1] / a[y,x]"), [None, None]);
        assert_eq!(of("s[y,x-1]")[1], Some(0.0));
        // The quotient of inputs is not in the chain.
        assert_eq!(of("s[y,x-1] + a[y,x] / a[y,x-1]")[1], Some(OPERATION_NS));
        assert_eq!(of("a[y,x] / (1 - s[y,x-1])")[1], Some(OPERATION_NS + QUOTIENT_NS));
    }
}

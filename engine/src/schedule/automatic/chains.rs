//! Recurrences along rows: which statements run cell by cell, and how long a cell waits for the one before it.
//!
//! In: a kernel in its common space, its distances.   Out: per statement, nanoseconds of an instance of the chain that it
//! is in; none where rows run in lanes.
//!
//! In `s[x] = s[x-1] + a[x]` each sum waits for the one before, which has been added and stored: no more can run at a
//! time, however many instructions a core begins in a cycle. What counts is the longest path of operations from what
//! the same circle of statements wrote to what the statement writes.

use crate::kernel::exprs::operands;
use crate::kernel::graph::{ArrayId, Expr, Kernel, Stmt};
use crate::schedule::automatic::distances::Distance;
use crate::schedule::automatic::fusion::Open;
use crate::schedule::automatic::space::CommonSpace;
use crease_program::{BinaryOp, UnaryOp};

/// Nanoseconds from the beginning of an operation to its result. Shows in `run tridiagonal-rows --set NY=200 --set
/// NX=200 --schedule rows`, which takes 12 ns for the chain of each cell.
const OPERATION_NS: f64 = 1.3;
/// The same of quotients, roots, remainders and functions. Shows there.
const QUOTIENT_NS: f64 = 4.5;
/// Nanoseconds until what was stored can be loaded. Shows there.
const STORED_NS: f64 = 1.6;

/// Of each statement that runs cell by cell, nanoseconds that an instance takes at least.
pub(super) fn chains(kernel: &Kernel, space: &CommonSpace, distances: &[Distance]) -> Vec<Option<f64>> {
    let (first, last) = (usize::from(space.has_steps), space.names.len() - 1);
    let stmts = space.coordinates.len();
    let mut open = Open::all(&space.alike, distances);
    let is_ordered = first > last || (0..last).all(|dim| open.next(dim).is_some());
    if first > last || is_ordered && open.clone().positions_around(last, None).is_some() {
        return vec![None; stmts];
    }
    // Nothing goes along groups that stand for themselves: these have lanes.
    let mut apart = open.clone();
    let groups = open.next(last).map_or(0, |rows| rows.len() - 1);
    (0..groups).for_each(|_| drop(apart.groups()));
    let in_lanes = if groups > 0 { apart.are_free() } else { vec![false; stmts] };
    let all = kernel.stmts();
    let chain = |(number, stmt): (usize, &Stmt)| {
        let before = apart.left().iter().filter(|d| d.to == number).flat_map(|d| &all[d.from].assigns);
        let carried: Vec<ArrayId> = before.map(|assign| assign.array).collect();
        (!in_lanes[number]).then(|| chain_ns(stmt, &carried))
    };
    all.iter().enumerate().map(chain).collect()
}

/// Nanoseconds from loading cells of some arrays to storing what comes of them.
fn chain_ns(stmt: &Stmt, carried: &[ArrayId]) -> f64 {
    let mut done: Vec<Option<f64>> = Vec::with_capacity(stmt.exprs.len());
    for expr in &stmt.exprs {
        let begun = match expr {
            Expr::Load(array, _) => carried.contains(array).then_some(STORED_NS),
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
    fn cells_wait_for_what_the_one_before_has_computed_and_stored() {
        let of = |value: &str| {
            let text = "kernel k(size N) for N >= 2 {
                input a[y, x]: f64 for 0 <= y, x < N
                output s[y, x]: f64 for 0 <= y, x < N
                S0[y, x] for 0 <= y < N and x = 0 { s[y,x] = a[y,x] }
                S[y, x] for 0 <= y < N and 1 <= x < N { s[y,x] = VALUE } }";
            let kernel = Kernel::parse(&text.replace("VALUE", value)).unwrap();
            let space = CommonSpace::of(&kernel, Missing::AtZero, &[100]).unwrap();
            let found = distances(&kernel, &space, &[100]).unwrap();
            chains(&kernel, &space, &found)
        };
        assert_eq!(of("a[y,x-1] / a[y,x]"), [None, None]);
        assert_eq!(of("s[y,x-1]")[1], Some(STORED_NS));
        // The quotient of inputs is not in the chain.
        assert_eq!(of("s[y,x-1] + a[y,x] / a[y,x-1]")[1], Some(STORED_NS + OPERATION_NS));
        assert_eq!(of("a[y,x] / (1 - s[y,x-1])")[1], Some(STORED_NS + OPERATION_NS + QUOTIENT_NS));
    }
}

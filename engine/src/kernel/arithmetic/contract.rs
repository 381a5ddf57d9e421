//! Contraction: a product and the sum that it feeds as one operation that rounds once.
//!
//! In: a statement.   Out: the same with `fma` for sums of which a summand is a product that all its uses fuse.
//!
//! A product that something else needs is computed anyway, so fusing it too would save nothing and keep its factors
//! alive for longer. Of two products in one sum the deeper one is fused, which the sum then waits for least. Signs go
//! to a number among the factors, else to the factor or summand itself: machines have fused operations that turn them
//! for free.

use crate::kernel::arithmetic::rewrite::{Rewriter, rewrite, uses};
use crate::kernel::exprs::operands;
use crate::kernel::graph::{BinaryOp, Expr, ExprId, Stmt};

/// The statement with fused operations.
pub(super) fn contract(stmt: &Stmt) -> Stmt {
    let fused = fused_products(stmt);
    rewrite(stmt, |rewriter, at, expr, place| {
        let (Some(product), Expr::Binary(op, a, b)) = (fused[at], &stmt.exprs[at]) else {
            return rewriter.add(expr);
        };
        let Expr::Binary(_, x, y) = stmt.exprs[product.index()] else { unreachable!("only products are fused") };
        let (mut x, mut y) = (place[x.index()], place[y.index()]);
        let mut addend = place[if product == *a { b } else { a }.index()];
        match (op, product == *a) {
            (BinaryOp::Sub, true) => addend = rewriter.negated(addend),
            (BinaryOp::Sub, false) => (x, y) = negated_product(rewriter, x, y),
            _ => {}
        }
        rewriter.add(Expr::Fma(x, y, addend))
    })
}

/// Factors of the product with the other sign: a number or what is computed once takes it, else the first factor.
fn negated_product(rewriter: &mut Rewriter, x: ExprId, y: ExprId) -> (ExprId, ExprId) {
    let takes = |rewriter: &Rewriter, id| rewriter.as_constant(id).is_some() || !rewriter.varies(id);
    if !takes(rewriter, x) && takes(rewriter, y) {
        return (x, rewriter.negated(y));
    }
    (rewriter.negated(x), y)
}

/// For each sum the product that it fuses. Products that some uses fuse and others do not are given up until none is
/// left; one that no use has taken yet may still be once the product that was taken instead is given up.
fn fused_products(stmt: &Stmt) -> Vec<Option<ExprId>> {
    let (uses, depths) = (uses(stmt), depths(stmt));
    let mut may_fuse: Vec<bool> =
        stmt.exprs.iter().map(|expr| matches!(expr, Expr::Binary(BinaryOp::Mul, ..))).collect();
    loop {
        let chosen: Vec<Option<ExprId>> = stmt.exprs.iter().map(|expr| choice(expr, &may_fuse, &depths)).collect();
        let mut fused = vec![0_u32; stmt.exprs.len()];
        chosen.iter().flatten().for_each(|product| fused[product.index()] += 1);
        let given_up = |at: &usize| fused[*at] > 0 && fused[*at] < uses[*at];
        let given_up: Vec<usize> = (0..stmt.exprs.len()).filter(given_up).collect();
        if given_up.is_empty() {
            return chosen;
        }
        given_up.into_iter().for_each(|at| may_fuse[at] = false);
    }
}

/// The product that a sum fuses, if any: the deeper one; of equals the one subtracted, which has two factors to turn
/// the sign of, else the first one.
fn choice(expr: &Expr, may_fuse: &[bool], depths: &[u32]) -> Option<ExprId> {
    let &Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) = expr else { return None };
    let is_deeper =
        depths[b.index()] > depths[a.index()] || op == BinaryOp::Sub && depths[b.index()] == depths[a.index()];
    match (may_fuse[a.index()], may_fuse[b.index()]) {
        (true, true) if is_deeper => Some(b),
        (true, _) => Some(a),
        (false, true) => Some(b),
        (false, false) => None,
    }
}

fn depths(stmt: &Stmt) -> Vec<u32> {
    let mut depths: Vec<u32> = Vec::with_capacity(stmt.exprs.len());
    for expr in &stmt.exprs {
        depths.push(operands(expr).iter().map(|operand| depths[operand.index()] + 1).max().unwrap_or(0));
    }
    depths
}

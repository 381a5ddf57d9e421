//! Reciprocals: divisions that become products.
//!
//! In: a statement.   Out: the same with one division for each denominator that several share or that no instance
//! changes.
//!
//! A division takes as long as ten products or more, and cannot be pipelined. A denominator that is a number has a
//! number as its reciprocal; that of one that only scalars decide is computed once for a whole strip. A denominator
//! that only one division has keeps it.

use std::collections::HashMap;

use crate::kernel::arithmetic::rewrite::{Rewriter, rewrite};
use crate::kernel::graph::{BinaryOp, Expr, ExprId, Stmt};

/// The statement with products for divisions where that pays.
pub(super) fn multiply_by_reciprocals(stmt: &Stmt) -> Stmt {
    let mut divisions: HashMap<ExprId, u32> = HashMap::new();
    for expr in &stmt.exprs {
        if let Expr::Binary(BinaryOp::Div, _, denominator) = expr {
            *divisions.entry(*denominator).or_default() += 1;
        }
    }
    rewrite(stmt, |rewriter, at, expr, _| match (&stmt.exprs[at], &expr) {
        (Expr::Binary(_, _, shared), &Expr::Binary(BinaryOp::Div, a, b)) => {
            quotient(rewriter, a, b, divisions[shared] > 1).unwrap_or_else(|| rewriter.add(expr))
        }
        _ => rewriter.add(expr),
    })
}

/// `a / b` as a product; none where the division stays.
fn quotient(rewriter: &mut Rewriter, a: ExprId, b: ExprId, is_shared: bool) -> Option<ExprId> {
    let is_constant = !rewriter.varies(b);
    if !rewriter.varies(a) && is_constant || !is_shared && !is_constant {
        return None;
    }
    let reciprocal = match rewriter.as_constant(b) {
        Some(value) if (1.0 / value).is_normal() => rewriter.constant(1.0 / value),
        Some(_) => return None,
        None => {
            let one = rewriter.constant(1.0);
            rewriter.binary(BinaryOp::Div, one, b)
        }
    };
    Some(if rewriter.as_constant(a) == Some(1.0) { reciprocal } else { rewriter.binary(BinaryOp::Mul, a, reciprocal) })
}

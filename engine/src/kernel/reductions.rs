//! Reductions of observers: numbers that all instances of some statements are put into.

use serde::Serialize;

use crate::kernel::graph::{BinaryOp, CompareOp, Expr, ExprId};

/// How values become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub enum Reduction {
    /// Their sum, which begins with 0. Every addition rounds.
    Sum,
    /// The smallest one, NaN if there is one; infinity of none.
    Min,
    /// The largest one, NaN if there is one; minus infinity of none.
    Max,
}

crease_program::named_choices! {
    Reduction = [("sum", Reduction::Sum), ("min", Reduction::Min), ("max", Reduction::Max)]
}

impl Reduction {
    /// What a reduction of no values gives: 0 for a sum, infinity for a minimum, minus infinity for a maximum.
    pub fn identity(self) -> f64 {
        match self {
            Reduction::Sum => 0.0,
            Reduction::Min => f64::INFINITY,
            Reduction::Max => f64::NEG_INFINITY,
        }
    }

    /// Adds the expression of an accumulator that a value is put into.
    pub(in crate::kernel) fn add_to(self, exprs: &mut Vec<Expr>, accumulator: ExprId, value: ExprId) -> ExprId {
        let mut add = |expr| {
            exprs.push(expr);
            ExprId(exprs.len() as u32 - 1)
        };
        let closer = match self {
            Reduction::Sum => return add(Expr::Binary(BinaryOp::Add, accumulator, value)),
            Reduction::Min => CompareOp::Lt,
            Reduction::Max => CompareOp::Gt,
        };
        let is_closer = add(Expr::Compare(closer, accumulator, value));
        let is_nan = add(Expr::Compare(CompareOp::Ne, accumulator, accumulator));
        let stays = add(Expr::Or(is_closer, is_nan));
        add(Expr::Select(stays, accumulator, value))
    }
}

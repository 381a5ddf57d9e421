//! Rows as expressions of the loop tree: bounds of a loop, conditions.

use crease_isl::ast::{AstExpr, AstNode, AstOp};
use crease_polyhedra::elimination::Row;

use crate::lower::scan::polyhedra::Form;

/// Names of columns.
pub(super) struct Names(pub(super) Vec<String>);

fn op(op: AstOp, operands: [AstExpr; 2]) -> AstExpr {
    AstExpr::Op(op, operands.into())
}

impl Names {
    /// A form as a sum; none if a number leaves 64 bits.
    pub(super) fn form(&self, form: &Form) -> Option<AstExpr> {
        let terms = self.0.iter().zip(&form.coefficients).filter(|(_, c)| **c != 0);
        let mut sum: Option<AstExpr> = None;
        // What is added first, so that sums do not begin with a sign.
        let (positive, negative): (Vec<_>, Vec<_>) = terms.partition(|(_, c)| **c > 0);
        for (name, &c) in positive.into_iter().chain(negative) {
            let term = product(i64::try_from(c.abs()).ok()?, AstExpr::Id(name.clone()));
            sum = Some(match (sum, c > 0) {
                (None, true) => term,
                (None, false) => AstExpr::Op(AstOp::Minus, vec![term]),
                (Some(sum), true) => op(AstOp::Add, [sum, term]),
                (Some(sum), false) => op(AstOp::Sub, [sum, term]),
            });
        }
        let constant = i64::try_from(form.constant).ok()?;
        Some(match sum {
            None => AstExpr::Int(constant),
            Some(sum) if constant == 0 => sum,
            Some(sum) if constant < 0 => op(AstOp::Sub, [sum, AstExpr::Int(constant.checked_neg()?)]),
            Some(sum) => op(AstOp::Add, [sum, AstExpr::Int(constant)]),
        })
    }

    /// Where a row that bounds `column` from below, or above, puts the bound: the first, or last value it allows.
    pub(super) fn bound(&self, row: &Row, column: usize) -> Option<AstExpr> {
        let c = row.coefficients[column];
        // c x + rest >= 0: x >= ceil(-rest / c), or x <= floor(rest / -c)
        let mut rest = without(row, column);
        if c > 0 {
            rest.coefficients.iter_mut().for_each(|own| *own = -*own);
            rest.constant = c - 1 - rest.constant;
        }
        self.quotient(&rest, c.abs())
    }

    /// `floor(form / divisor)`.
    pub(super) fn quotient(&self, form: &Form, divisor: i128) -> Option<AstExpr> {
        if divisor == 1 {
            return self.form(form);
        }
        if form.coefficients.iter().all(|c| *c == 0) {
            return Some(AstExpr::Int(i64::try_from(form.constant.div_euclid(divisor)).ok()?));
        }
        // What the divisor divides needs no rounding.
        let whole = Form {
            coefficients: form.coefficients.iter().map(|c| if c % divisor == 0 { c / divisor } else { 0 }).collect(),
            constant: form.constant.div_euclid(divisor),
        };
        let rest = Form {
            coefficients: form.coefficients.iter().map(|c| if c % divisor == 0 { 0 } else { *c }).collect(),
            constant: form.constant.rem_euclid(divisor),
        };
        if rest.coefficients.iter().all(|c| *c == 0) {
            return self.form(&whole);
        }
        let quotient = op(AstOp::FdivQ, [self.form(&rest)?, AstExpr::Int(i64::try_from(divisor).ok()?)]);
        Some(match (whole.coefficients.iter().all(|c| *c == 0), whole.constant) {
            (true, 0) => quotient,
            (true, constant) if constant < 0 => {
                op(AstOp::Sub, [quotient, AstExpr::Int(i64::try_from(-constant).ok()?)])
            }
            _ => op(AstOp::Add, [self.form(&whole)?, quotient]),
        })
    }

    /// Whether a row holds: what it adds compared with what it subtracts.
    pub(super) fn condition(&self, row: &Row) -> Option<AstExpr> {
        let side = |sign: i128| Form {
            coefficients: row.coefficients.iter().map(|c| (sign * c).max(0)).collect(),
            constant: (sign * row.constant).max(0),
        };
        let compare = if row.is_equality { AstOp::Eq } else { AstOp::Ge };
        Some(op(compare, [self.form(&side(1))?, self.form(&side(-1))?]))
    }

    /// Whether a divisor divides a form.
    pub(super) fn divides(&self, divisor: i128, form: &Form) -> Option<AstExpr> {
        let rest = op(AstOp::ZdivR, [self.form(form)?, AstExpr::Int(i64::try_from(divisor).ok()?)]);
        Some(op(AstOp::Eq, [rest, AstExpr::Int(0)]))
    }
}

/// What a row says besides its multiple of a column.
pub(super) fn without(row: &Row, column: usize) -> Form {
    let mut coefficients = row.coefficients.clone();
    coefficients[column] = 0;
    Form { coefficients, constant: row.constant }
}

/// The largest, or the smallest, of some values.
pub(super) fn extreme(which: AstOp, mut values: Vec<AstExpr>) -> AstExpr {
    if values.len() == 1 { values.swap_remove(0) } else { AstExpr::Op(which, values) }
}

/// A node under conditions that all hold.
pub(super) fn guarded(conditions: Vec<AstExpr>, node: AstNode) -> AstNode {
    let all = conditions.into_iter().reduce(|all, one| op(AstOp::And, [all, one]));
    match all {
        None => node,
        Some(guard) => AstNode::If { guard, then: Box::new(node), otherwise: None },
    }
}

/// Nodes one after the other.
pub(super) fn block(mut nodes: Vec<AstNode>) -> AstNode {
    if nodes.len() == 1 { nodes.swap_remove(0) } else { AstNode::Block(nodes) }
}

fn product(factor: i64, value: AstExpr) -> AstExpr {
    if factor == 1 { value } else { op(AstOp::Mul, [AstExpr::Int(factor), value]) }
}

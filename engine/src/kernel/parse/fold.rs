//! Operations on what is known while the text is read.
//!
//! Numbers of the text are evaluated when the kernel runs, in its order, unless a statement has other numbers than
//! doubles (`ExprGraph::finish_in`). Entries of tables and range variables are no numbers of the text: operations on
//! them alone are done here, in doubles, and a factor of 1 or -1 among them leaves no product. That changes no bit of
//! any result but NaN. A factor of 0 stays, as 0 times infinity is no 0. But a sum over an empty range is nothing: it
//! adds nothing, and nothing is left of what it is multiplied with.

use crate::kernel::exprs::literal_arithmetic;
use crate::kernel::graph::{BinaryOp, CompareOp, Expr, UnaryOp};
use crate::kernel::parse::body::Body;
use crate::kernel::parse::scope::{Known, Operand};

/// What an operator between two operands builds.
#[derive(Clone, Copy)]
pub(super) enum Operator {
    Or,
    And,
    Compare(CompareOp),
    Binary(BinaryOp),
}

impl Body<'_> {
    /// The number that a constant of the text has from tables or range variables.
    pub(super) fn known_number(&mut self, value: f64, at: usize) -> Operand {
        Operand { id: self.add(Expr::Const(value), at), known: Known::Number(value) }
    }

    /// The value of an operator between two operands.
    pub(super) fn joined(&mut self, operator: Operator, left: Operand, right: Operand, at: usize) -> Operand {
        match operator {
            Operator::Or => self.truth(left, right, true, at),
            Operator::And => self.truth(left, right, false, at),
            Operator::Compare(op) => {
                let id = self.add(Expr::Compare(op, left.id, right.id), at);
                let known = self.numbers(left, right).map_or(Known::Nothing, |(a, b)| Known::Truth(op.holds(a, b)));
                Operand { id, known }
            }
            Operator::Binary(op) => self.arithmetic(op, left, right, at),
        }
    }

    /// `or` where one true side decides, `and` where one false side does.
    fn truth(&mut self, left: Operand, right: Operand, decides: bool, at: usize) -> Operand {
        match (left.known, right.known) {
            (Known::Truth(truth), _) => {
                if truth == decides {
                    left
                } else {
                    right
                }
            }
            (_, Known::Truth(truth)) => {
                if truth == decides {
                    right
                } else {
                    left
                }
            }
            _ if decides => Operand::of(self.add(Expr::Or(left.id, right.id), at)),
            _ => Operand::of(self.add(Expr::And(left.id, right.id), at)),
        }
    }

    fn arithmetic(&mut self, op: BinaryOp, left: Operand, right: Operand, at: usize) -> Operand {
        if let Some(value) = self.with_nothing(op, left, right, at) {
            return value;
        }
        if let Some(value) = self.numbers(left, right).and_then(|(a, b)| literal_arithmetic(op, a, b)) {
            return self.known_number(value, at);
        }
        match (op, left.known, right.known) {
            (BinaryOp::Mul, Known::Number(factor), _) if self.is_unit(factor, right) => self.signed(factor, right, at),
            (BinaryOp::Mul | BinaryOp::Div, _, Known::Number(factor)) if self.is_unit(factor, left) => {
                self.signed(factor, left, at)
            }
            // Rounding is the same on both sides of 0, so that the sign may move outwards, to where it is added.
            (BinaryOp::Mul | BinaryOp::Div, Known::Minus(value), _) => {
                let product = self.arithmetic(op, Operand::of(value), right, at);
                self.signed(-1.0, product, at)
            }
            (BinaryOp::Mul | BinaryOp::Div, _, Known::Minus(value)) => {
                let product = self.arithmetic(op, left, Operand::of(value), at);
                self.signed(-1.0, product, at)
            }
            (BinaryOp::Add, _, Known::Minus(value)) => {
                Operand::of(self.add(Expr::Binary(BinaryOp::Sub, left.id, value), at))
            }
            (BinaryOp::Add, Known::Minus(value), _) => {
                Operand::of(self.add(Expr::Binary(BinaryOp::Sub, right.id, value), at))
            }
            (BinaryOp::Sub, _, Known::Minus(value)) => {
                Operand::of(self.add(Expr::Binary(BinaryOp::Add, left.id, value), at))
            }
            _ => Operand::of(self.add(Expr::Binary(op, left.id, right.id), at)),
        }
    }

    /// The value of an operation with the sum of an empty range.
    fn with_nothing(&mut self, op: BinaryOp, left: Operand, right: Operand, at: usize) -> Option<Operand> {
        let is_empty = |operand: Operand| operand.known == Known::EmptySum;
        match op {
            BinaryOp::Mul | BinaryOp::Div if is_empty(left) => Some(left),
            BinaryOp::Mul if is_empty(right) => Some(right),
            BinaryOp::Add | BinaryOp::Sub if is_empty(right) => Some(left),
            BinaryOp::Add if is_empty(left) => Some(right),
            BinaryOp::Sub if is_empty(left) => match right.known {
                Known::Number(value) => Some(self.known_number(-value, at)),
                _ => Some(self.signed(-1.0, right, at)),
            },
            _ => None,
        }
    }

    /// Whether a factor of 1 or -1 can be left out: not beside a truth value, which is no number.
    fn is_unit(&self, factor: f64, of: Operand) -> bool {
        let is_truth =
            matches!(self.graph.expr(of.id), Expr::Compare(..) | Expr::And(..) | Expr::Or(..) | Expr::Not(_));
        (factor == 1.0 || factor == -1.0) && !is_truth
    }

    /// The operand, or minus the operand.
    fn signed(&mut self, factor: f64, operand: Operand, at: usize) -> Operand {
        if factor > 0.0 {
            return operand;
        }
        if let Known::Minus(value) = operand.known {
            return Operand::of(value);
        }
        let id = self.add(Expr::Unary(UnaryOp::Neg, operand.id), at);
        Operand { id, known: Known::Minus(operand.id) }
    }

    /// Both numbers, if both are constants and at least one of them is none of the text.
    fn numbers(&self, left: Operand, right: Operand) -> Option<(f64, f64)> {
        let number = |operand: Operand| match (operand.known, self.graph.expr(operand.id)) {
            (Known::Number(value), _) => Some(value),
            (Known::EmptySum, _) => Some(0.0),
            (_, Expr::Const(value)) => Some(*value),
            _ => None,
        };
        let is_known = |operand: Operand| matches!(operand.known, Known::Number(_) | Known::EmptySum);
        (is_known(left) || is_known(right)).then_some(())?;
        Some((number(left)?, number(right)?))
    }
}

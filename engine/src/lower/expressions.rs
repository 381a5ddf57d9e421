//! Integer expressions: those of isl's loop tree, and conditions of pieces, in the loop language.
//!
//! In: an expression of the tree, with the iterators in scope.   Out: an [`Int`], a [`Cond`] or a linear form;
//! operators that no loop of ours has are errors.

use crease_isl::ast::{AstExpr, AstOp};
use crease_program::{ArgId, CompareOp, Cond, Int, Var};

use crate::kernel::affine::{Affine, Term};
use crate::kernel::formula::Formula;
use crate::lower::LowerError;
use crate::lower::linear::{Atom, Linear, linear_of, mentions, to_int};
use crate::lower::nodes::Builder;

impl Builder<'_, '_, '_> {
    /// A condition on the step over a statement's iterators.
    pub(super) fn formula_cond(&self, formula: &Formula, iters: &[Linear]) -> Result<Cond, LowerError> {
        let all = |parts: &[Formula]| parts.iter().map(|f| self.formula_cond(f, iters)).collect::<Result<Vec<_>, _>>();
        Ok(match formula {
            Formula::NonNegative(e) => Cond::Compare(CompareOp::Ge, self.affine_int(e, iters)?, Int::Const(0)),
            Formula::Zero(e) => Cond::Compare(CompareOp::Eq, self.affine_int(e, iters)?, Int::Const(0)),
            Formula::And(parts) => Cond::And(all(parts)?),
            Formula::Or(parts) => Cond::Or(all(parts)?),
            Formula::Not(part) => Cond::Not(Box::new(self.formula_cond(part, iters)?)),
        })
    }

    fn affine_int(&self, e: &Affine, iters: &[Linear]) -> Result<Int, LowerError> {
        let mut sum = Int::Const(e.constant_part());
        for (term, c) in e.terms() {
            let value = match term {
                Term::Iter(i) => to_int(&iters[*i as usize]),
                Term::Floor(inner, divisor) => Int::FloorDiv(Box::new(self.affine_int(inner, iters)?), *divisor),
                Term::Param(_) => return Err(self.unsupported("a parameter in the condition of a piece")),
            };
            sum = Int::Add(Box::new(sum), Box::new(Int::Mul(Box::new(Int::Const(c)), Box::new(value))));
        }
        Ok(sum)
    }

    /// An expression as a linear form; parts that are not linear become variables.
    pub(super) fn linear(&mut self, e: &AstExpr) -> Result<Linear, LowerError> {
        let nowhere = Var(u32::MAX);
        Ok(self.try_linear(e, nowhere)?.expect("nothing depends on a variable that does not exist"))
    }

    /// An expression as a linear form; none if a part that is not linear depends on `strip`.
    pub(super) fn try_linear(&mut self, e: &AstExpr, strip: Var) -> Result<Option<Linear>, LowerError> {
        match e {
            AstExpr::Int(value) => return Ok(Some(Linear::constant(*value))),
            AstExpr::Id(name) => return self.identifier(name).map(Some),
            AstExpr::Op(AstOp::Add | AstOp::Sub, operands) => {
                let factor = if matches!(e, AstExpr::Op(AstOp::Sub, _)) { -1 } else { 1 };
                let (Some(a), Some(b)) = (self.try_linear(&operands[0], strip)?, self.try_linear(&operands[1], strip)?)
                else {
                    return Ok(None);
                };
                return a.plus(&b, factor).ok_or_else(|| self.unsupported("a coefficient leaves 64 bits")).map(Some);
            }
            AstExpr::Op(AstOp::Minus, operands) => {
                let Some(a) = self.try_linear(&operands[0], strip)? else {
                    return Ok(None);
                };
                return a.times(-1).ok_or_else(|| self.unsupported("a coefficient leaves 64 bits")).map(Some);
            }
            AstExpr::Op(AstOp::Mul, operands) => {
                let (Some(a), Some(b)) = (self.try_linear(&operands[0], strip)?, self.try_linear(&operands[1], strip)?)
                else {
                    return Ok(None);
                };
                let product = match (a.as_constant(), b.as_constant()) {
                    (Some(c), _) => b.times(c),
                    (_, Some(c)) => a.times(c),
                    (None, None) => return Err(self.unsupported("a product of two loop variables")),
                };
                return product.ok_or_else(|| self.unsupported("a coefficient leaves 64 bits")).map(Some);
            }
            AstExpr::Op(..) => {}
        }
        let value = self.int(e)?;
        if mentions(&value, strip) {
            return Ok(None);
        }
        let hoisted = self.scopes.hoist(value);
        Ok(linear_of(&hoisted))
    }

    fn identifier(&self, name: &str) -> Result<Linear, LowerError> {
        if let Some((_, value)) = self.iterators.iter().rev().find(|(n, _)| n == name) {
            return Ok(value.clone());
        }
        let arg = self.args.iter().position(|a| a == name);
        let arg = arg.ok_or_else(|| self.unsupported(&format!("unknown identifier `{name}`")))?;
        Ok(Linear::term(Atom::Arg(ArgId(arg as u32))))
    }

    pub(super) fn int(&self, e: &AstExpr) -> Result<Int, LowerError> {
        let two = |make: fn(Box<Int>, Box<Int>) -> Int, operands: &[AstExpr]| -> Result<Int, LowerError> {
            let first = self.int(&operands[0])?;
            operands[1..].iter().try_fold(first, |sum, e| Ok(make(Box::new(sum), Box::new(self.int(e)?))))
        };
        let by_constant = |make: fn(Box<Int>, i64) -> Int, operands: &[AstExpr]| match operands {
            [a, AstExpr::Int(divisor)] if *divisor > 0 => Ok(make(Box::new(self.int(a)?), *divisor)),
            _ => Err(self.unsupported("a division by something else than a positive constant")),
        };
        match e {
            AstExpr::Int(value) => Ok(Int::Const(*value)),
            AstExpr::Id(name) => Ok(to_int(&self.identifier(name)?)),
            AstExpr::Op(op, operands) => match op {
                AstOp::Add => two(Int::Add, operands),
                AstOp::Sub => two(Int::Sub, operands),
                AstOp::Mul => two(Int::Mul, operands),
                AstOp::Min => two(Int::Min, operands),
                AstOp::Max => two(Int::Max, operands),
                AstOp::Minus => Ok(Int::Sub(Box::new(Int::Const(0)), Box::new(self.int(&operands[0])?))),
                AstOp::FdivQ | AstOp::PdivQ | AstOp::Div => by_constant(Int::FloorDiv, operands),
                AstOp::PdivR | AstOp::ZdivR => by_constant(Int::Mod, operands),
                other => Err(self.unsupported(&format!("operator {other:?} in an index"))),
            },
        }
    }

    pub(super) fn cond(&self, e: &AstExpr) -> Result<Cond, LowerError> {
        let AstExpr::Op(op, operands) = e else {
            return Ok(Cond::Compare(CompareOp::Ne, self.int(e)?, Int::Const(0)));
        };
        let all = || operands.iter().map(|e| self.cond(e)).collect::<Result<Vec<_>, _>>();
        let compare = |op| Ok(Cond::Compare(op, self.int(&operands[0])?, self.int(&operands[1])?));
        match op {
            AstOp::And | AstOp::AndThen => Ok(Cond::And(all()?)),
            AstOp::Or | AstOp::OrElse => Ok(Cond::Or(all()?)),
            AstOp::Eq => compare(CompareOp::Eq),
            AstOp::Le => compare(CompareOp::Le),
            AstOp::Lt => compare(CompareOp::Lt),
            AstOp::Ge => compare(CompareOp::Ge),
            AstOp::Gt => compare(CompareOp::Gt),
            _ => Ok(Cond::Compare(CompareOp::Ne, self.int(e)?, Int::Const(0))),
        }
    }

    /// One past the last value of a loop's iterator.
    pub(super) fn end(&self, iterator: &str, cond: &AstExpr) -> Result<Int, LowerError> {
        match cond {
            AstExpr::Op(op @ (AstOp::Le | AstOp::Lt), operands) if operands[0] == AstExpr::Id(iterator.to_string()) => {
                let end = self.int(&operands[1])?;
                Ok(match (op, end) {
                    (AstOp::Lt, end) => end,
                    (_, Int::Const(last)) => Int::Const(last.saturating_add(1)),
                    (_, Int::Sub(ref sum, ref last)) if **last == Int::Const(1) => (**sum).clone(),
                    (_, end) => Int::Add(Box::new(end), Box::new(Int::Const(1))),
                })
            }
            _ => Err(self.unsupported("a loop that does not compare its iterator with a bound")),
        }
    }

    pub(super) fn unsupported(&self, reason: &str) -> LowerError {
        LowerError::Loops { schedule: self.model.schedule.name.clone(), reason: reason.to_string() }
    }
}

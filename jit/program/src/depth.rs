//! Depth: how far blocks, conditions and integer expressions may nest, and how deep ones are dropped.
//!
//! In: the parts of a program.   Out: whether they are within the limits; nothing is followed deeper than those.
//!
//! Everything that walks a program calls itself for what is nested, so what is nested too deep would exhaust a thread's
//! stack, which stops the process. The reader of the text form and the verifier count alike, as the text stands:
//! blocks, conditions, calls and parentheses nest; the terms of a sum do not. What verifies can therefore be printed
//! and read back. Values that are built by hand may be of any depth until they are verified, so dropping them calls
//! nothing for what is nested: it moves it to a list first.

use super::limits::{MAX_DEPTH, MAX_OPERATORS};
use super::types::{Cond, Int, Node};

/// What nests too deep, or is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Excess {
    /// More than [`MAX_DEPTH`] levels.
    Depth,
    /// More than [`MAX_OPERATORS`] operators.
    Operators,
}

/// How tightly an operand has to bind to stand without parentheses.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(super) enum Binding {
    /// As an argument of a call.
    Sum,
    /// As a summand.
    Product,
    /// As a right factor.
    Primary,
}

impl Int {
    /// How tightly it binds.
    pub(super) fn binding(&self) -> Binding {
        match self {
            Int::Add(..) | Int::Sub(..) => Binding::Sum,
            Int::Mul(..) => Binding::Product,
            _ => Binding::Primary,
        }
    }

    /// What it is computed from, each with how tightly it has to bind.
    pub(super) fn bound_operands(&self) -> impl Iterator<Item = (&Int, Binding)> {
        let least = match self {
            // Chains associate to the left, so only a right operand of the same binding needs parentheses.
            Int::Add(..) | Int::Sub(..) => [Binding::Sum, Binding::Product],
            Int::Mul(..) => [Binding::Product, Binding::Primary],
            _ => [Binding::Sum, Binding::Sum],
        };
        self.operands().zip(least)
    }

    /// Checks the limits for an expression in `depth` blocks. Works on a list: the expression may be of any depth.
    pub(super) fn within_limits(&self, depth: usize) -> Result<(), Excess> {
        let mut operators = 0;
        let mut waiting = vec![(self, Binding::Sum, depth)];
        while let Some((int, least, mut depth)) = waiting.pop() {
            if int.binding() < least {
                // Parentheses.
                operators += 1;
                depth += 1;
            }
            let is_leaf = matches!(int, Int::Const(_) | Int::Arg(_) | Int::Var(_));
            let is_call = int.binding() == Binding::Primary && !is_leaf;
            operators += usize::from(!is_leaf);
            if depth + usize::from(is_call) > MAX_DEPTH {
                return Err(Excess::Depth);
            }
            if operators > MAX_OPERATORS {
                return Err(Excess::Operators);
            }
            waiting.extend(int.bound_operands().map(|(operand, least)| (operand, least, depth + usize::from(is_call))));
        }
        Ok(())
    }
}

impl Cond {
    /// Checks the limits for a condition in `depth` blocks, as for its expressions.
    pub(super) fn within_limits(&self, depth: usize) -> Result<(), Excess> {
        let mut waiting = vec![(self, depth)];
        while let Some((cond, depth)) = waiting.pop() {
            if depth > MAX_DEPTH {
                return Err(Excess::Depth);
            }
            match cond {
                Cond::Compare(_, lhs, rhs) => lhs.within_limits(depth).and_then(|()| rhs.within_limits(depth))?,
                Cond::And(conds) | Cond::Or(conds) => waiting.extend(conds.iter().map(|cond| (cond, depth + 1))),
                Cond::Not(cond) => waiting.push((cond, depth + 1)),
            }
        }
        Ok(())
    }
}

impl Drop for Int {
    fn drop(&mut self) {
        let mut waiting = Vec::new();
        self.take_nested(&mut waiting);
        while let Some(mut nested) = waiting.pop() {
            nested.take_nested(&mut waiting);
        }
    }
}

impl Int {
    /// Moves operands that have operands of their own to a list.
    fn take_nested(&mut self, to: &mut Vec<Int>) {
        let mut take = |operand: &mut Int| {
            if !matches!(operand, Int::Const(_) | Int::Arg(_) | Int::Var(_)) {
                to.push(std::mem::replace(operand, Int::Const(0)));
            }
        };
        match self {
            Int::Const(_) | Int::Arg(_) | Int::Var(_) => {}
            Int::Add(a, b) | Int::Sub(a, b) | Int::Mul(a, b) | Int::Min(a, b) | Int::Max(a, b) => {
                take(a);
                take(b);
            }
            Int::FloorDiv(x, _) | Int::Mod(x, _) | Int::Wrap(x, _) | Int::MulMod(_, x, _) => take(x),
        }
    }
}

impl Drop for Cond {
    fn drop(&mut self) {
        let mut waiting = Vec::new();
        self.take_nested(&mut waiting);
        while let Some(mut nested) = waiting.pop() {
            nested.take_nested(&mut waiting);
        }
    }
}

impl Cond {
    /// Moves the conditions that this one consists of to a list.
    fn take_nested(&mut self, to: &mut Vec<Cond>) {
        match self {
            Cond::Compare(..) => {}
            Cond::And(conds) | Cond::Or(conds) => to.append(conds),
            Cond::Not(cond) => to.push(std::mem::replace(cond, Cond::And(Vec::new()))),
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let mut waiting = Vec::new();
        self.take_nested(&mut waiting);
        while let Some(mut nested) = waiting.pop() {
            nested.take_nested(&mut waiting);
        }
    }
}

impl Node {
    /// Moves the nodes inside this one to a list.
    fn take_nested(&mut self, to: &mut Vec<Node>) {
        match self {
            Node::Let { .. } | Node::Strip(_) => {}
            Node::For { body, .. } => to.append(body),
            Node::If { then, otherwise, .. } => {
                to.append(then);
                to.append(otherwise);
            }
        }
    }
}

//! Visits of expressions and operations: every part once, from the outside in and from left to right.
//!
//! In: an expression or a condition of any depth.   Out: its parts. Nothing here recurses.

use super::types::*;
use smallvec::{SmallVec, smallvec};

impl Int {
    /// The expressions this one is made of, left one first.
    pub fn operands(&self) -> impl DoubleEndedIterator<Item = &Int> {
        let [left, right] = match self {
            Int::Const(_) | Int::Arg(_) | Int::Var(_) => [None, None],
            Int::Add(a, b) | Int::Sub(a, b) | Int::Mul(a, b) | Int::Min(a, b) | Int::Max(a, b) => [Some(a), Some(b)],
            Int::FloorDiv(a, _) | Int::Mod(a, _) | Int::Wrap(a, _) | Int::MulMod(_, a, _) => [Some(a), None],
        };
        left.into_iter().chain(right).map(|operand| &**operand)
    }

    /// This expression and all that it is made of.
    pub fn parts(&self) -> impl Iterator<Item = &Int> {
        let mut left: SmallVec<[&Int; 8]> = smallvec![self];
        std::iter::from_fn(move || {
            let part = left.pop()?;
            left.extend(part.operands().rev());
            Some(part)
        })
    }

    /// The variables in this expression, one for each place where one stands.
    pub fn vars(&self) -> impl Iterator<Item = Var> {
        self.parts().filter_map(|part| if let Int::Var(var) = part { Some(*var) } else { None })
    }
}

impl Cond {
    /// This condition and all that it is made of.
    pub fn parts(&self) -> impl Iterator<Item = &Cond> {
        let mut left: SmallVec<[&Cond; 8]> = smallvec![self];
        std::iter::from_fn(move || {
            let part = left.pop()?;
            match part {
                Cond::Compare(..) => {}
                Cond::And(parts) | Cond::Or(parts) => left.extend(parts.iter().rev()),
                Cond::Not(inner) => left.push(inner),
            }
            Some(part)
        })
    }

    /// The expressions that are compared.
    pub fn ints(&self) -> impl Iterator<Item = &Int> {
        self.parts().flat_map(|part| match part {
            Cond::Compare(_, a, b) => [Some(a), Some(b)].into_iter().flatten(),
            _ => [None, None].into_iter().flatten(),
        })
    }
}

impl Program {
    /// One more than the highest number of a variable that it defines.
    pub fn variables(&self) -> usize {
        fn in_block(block: &[Node]) -> usize {
            block.iter().map(in_node).max().unwrap_or(0)
        }
        fn in_node(node: &Node) -> usize {
            match node {
                Node::Let { var, .. } => var.index() + 1,
                Node::For { var, body, .. } => in_block(body).max(var.index() + 1),
                Node::If { then, otherwise, .. } => in_block(then).max(in_block(otherwise)),
                Node::Strip(strip) => strip.var.index() + 1,
            }
        }
        in_block(&self.body)
    }
}

impl Op {
    /// The values it computes with, in their order.
    pub fn operands(&self) -> impl DoubleEndedIterator<Item = ValueId> + use<> {
        let mut copy = *self;
        copy.operands_mut().map(|operand| operand.map(|operand| *operand)).into_iter().flatten()
    }

    /// The same, to be replaced.
    pub fn operands_mut(&mut self) -> [Option<&mut ValueId>; 3] {
        match self {
            Op::F64(_)
            | Op::F32(_)
            | Op::Int(..)
            | Op::Scalar(_)
            | Op::Index { .. }
            | Op::Load { .. }
            | Op::OpaqueSeed(_) => [None, None, None],
            Op::Unary(_, a)
            | Op::Shift(_, a, _)
            | Op::Not(a)
            | Op::Convert(_, a)
            | Op::OpaqueFinish(a)
            | Op::Store { value: a, .. } => [Some(a), None, None],
            Op::Binary(_, a, b)
            | Op::Bits(_, a, b)
            | Op::Compare(_, a, b)
            | Op::And(a, b)
            | Op::Or(a, b)
            | Op::OpaqueMix(a, b) => [Some(a), Some(b), None],
            Op::Fma(a, b, c) | Op::Select(a, b, c) => [Some(a), Some(b), Some(c)],
            Op::Lookup { values, .. } => values.each_mut().map(Option::as_mut),
        }
    }
}

impl Strip {
    /// The variables that its bounds and addresses are made of.
    pub fn vars(&self) -> impl Iterator<Item = Var> {
        let ints = [&self.lo, &self.hi].into_iter().chain(self.streams.iter().flat_map(Stream::ints));
        ints.flat_map(Int::vars)
    }

    /// The variables that its operations count from.
    pub fn bases(&self) -> impl Iterator<Item = Var> {
        self.ops.iter().filter_map(|op| if let Op::Index { base: Some(base), .. } = op { Some(*base) } else { None })
    }
}

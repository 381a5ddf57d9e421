//! What an iteration of a strip costs, whatever it is compiled to: bytes moved and floating-point operations.
//!
//! In: a strip of a verified program.   Out: [`StripCosts`], as counts of its operations.
//!
//! What is the same in every iteration counts for nothing: code computes it once. So do comparisons, choices and signs,
//! which are no arithmetic.

use crate::{Address, BinaryOp, Op, Program, Stream, Strip, UnaryOp, ValueId};

/// Bytes and operations of one iteration of a strip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StripCosts {
    /// Bytes that its loads read, from wherever they lie. Cells that are the same in every iteration do not count.
    pub loaded_bytes: u64,
    /// Bytes that its stores write.
    pub stored_bytes: u64,
    /// Sums, differences, products, quotients and roots, with `fma` as two of them.
    pub flops: u64,
}

impl Strip {
    /// What an iteration costs; the strip is one of `program`'s.
    pub fn costs(&self, program: &Program) -> StripCosts {
        let mut costs = StripCosts::default();
        let bytes = |stream: &Stream| program.buffers[stream.buffer.index()].element.bytes();
        let mut fixed: Vec<bool> = Vec::with_capacity(self.ops.len());
        for op in &self.ops {
            let is_fixed = self.is_fixed(op, &fixed);
            fixed.push(is_fixed);
            match op {
                Op::Load { stream, .. } | Op::Lookup { stream, .. } if !is_fixed => {
                    costs.loaded_bytes += bytes(&self.streams[stream.index()])
                }
                Op::Store { stream, .. } => costs.stored_bytes += bytes(&self.streams[stream.index()]),
                _ if !is_fixed => costs.flops += flops(op),
                _ => {}
            }
        }
        costs
    }

    /// Whether an operation has one result for all iterations; `before` tells of those before it.
    fn is_fixed(&self, op: &Op, before: &[bool]) -> bool {
        let all = |operands: &[ValueId]| operands.iter().all(|operand| before[operand.index()]);
        match op {
            Op::F64(_) | Op::F32(_) | Op::Int(..) | Op::Scalar(_) | Op::OpaqueSeed(_) => true,
            Op::Index { step, .. } => *step == 0,
            Op::Load { stream, .. } => {
                let stream = &self.streams[stream.index()];
                let is_written = |op: &Op| matches!(op, Op::Store { stream: to, .. } if self.streams[to.index()].buffer == stream.buffer);
                is_one_cell(stream) && !self.ops.iter().any(is_written)
            }
            Op::Unary(_, a) | Op::Shift(_, a, _) | Op::Not(a) | Op::Convert(_, a) | Op::OpaqueFinish(a) => all(&[*a]),
            Op::Binary(_, a, b)
            | Op::Bits(_, a, b)
            | Op::Compare(_, a, b)
            | Op::And(a, b)
            | Op::Or(a, b)
            | Op::OpaqueMix(a, b) => all(&[*a, *b]),
            Op::Fma(a, b, c) | Op::Select(a, b, c) => all(&[*a, *b, *c]),
            // What a value says where to read is another cell each time, if the value or the corner is another one.
            Op::Lookup { stream, .. } => {
                is_one_cell(&self.streams[stream.index()]) && op.operands().all(|a| before[a.index()])
            }
            Op::Store { .. } => false,
        }
    }
}

fn is_one_cell(stream: &Stream) -> bool {
    match &stream.address {
        Address::Block { stride, .. } => *stride == 0,
        Address::Array(coordinates) => coordinates.iter().all(|coordinate| coordinate.step == 0),
    }
}

fn flops(op: &Op) -> u64 {
    match op {
        Op::Fma(..) => 2,
        Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div, ..) | Op::Unary(UnaryOp::Sqrt, _) => {
            1
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Node;

    #[test]
    fn what_every_iteration_shares_costs_nothing() {
        let program = Program::parse(
            "program costs() {
               scalar k: f64
               buffer x: f64[64] read
               buffer m: u8[64] read
               buffer y: f64[64] write
               strip v0 in 0 .. 60 lanes 8 {
                 m0 = x[pos 0, stride 1]
                 m1 = x[pos 5, stride 0]
                 m2 = m[pos 0, stride 1]
                 m3 = y[pos 0, stride 1]
                 %0 = scalar k
                 %1 = load m1: f64
                 %2 = mul %0, %1
                 %3 = load m0: f64
                 %4 = load m2: f64
                 %5 = fma %2, %3, %4
                 %6 = div %5, %3
                 %7 = neg %6
                 %8: store m3, %7
               }
             }",
        )
        .unwrap();
        let Node::Strip(strip) = &program.body[0] else { panic!("a strip") };
        assert_eq!(strip.costs(&program), StripCosts { loaded_bytes: 9, stored_bytes: 8, flops: 3 });
    }
}

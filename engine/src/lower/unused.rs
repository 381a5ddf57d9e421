//! Unused operations: what no store needs.
//!
//! In: the operations of a strip.   Out: those that count, numbered anew, and where they were.
//!
//! Some are left when literals and bytes have taken the type of what uses them. They would cost nothing at run time,
//! but a double that is not needed keeps a strip of `f32` from running in vectors.

use crease_program::{Op, ValueId};

/// The operations that some store needs, in the same order, and their positions among all.
pub(crate) fn without_unused(ops: Vec<Op>) -> (Vec<Op>, Vec<usize>) {
    let mut used = vec![false; ops.len()];
    for (at, op) in ops.iter().enumerate().rev() {
        used[at] |= matches!(op, Op::Store { .. });
        if used[at] {
            op.operands().for_each(|operand| used[operand.index()] = true);
        }
    }
    let (mut kept, mut positions, mut numbers) = (Vec::new(), Vec::new(), Vec::with_capacity(ops.len()));
    for (at, (mut op, used)) in ops.into_iter().zip(used).enumerate() {
        numbers.push(ValueId(kept.len() as u32));
        if used {
            op.operands_mut().into_iter().flatten().for_each(|operand| *operand = numbers[operand.index()]);
            kept.push(op);
            positions.push(at);
        }
    }
    (kept, positions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crease_program::{BinaryOp, StoreHint, StreamId, ValueType};

    #[test]
    fn what_is_left_refers_to_its_new_numbers() {
        let (load, half) = (Op::Load { stream: StreamId(0), ty: ValueType::F32 }, Op::F32(0.5_f32.to_bits()));
        let product = |a, b| Op::Binary(BinaryOp::Mul, ValueId(a), ValueId(b));
        let store = |value| Op::Store { stream: StreamId(0), value: ValueId(value), hint: StoreHint::Cached };
        let ops = vec![Op::F64(0.5_f64.to_bits()), load, half, product(1, 1), product(1, 2), store(4)];
        assert_eq!(without_unused(ops), (vec![load, half, product(0, 1), store(2)], vec![1, 2, 4, 5]));
    }
}

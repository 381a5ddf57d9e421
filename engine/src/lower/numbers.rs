//! Types of the numbers of a strip: what becomes of literals, conversions and integers on the way to operations.
//!
//! In: an expression's value and the type in which an operation takes it.   Out: the value in that type.
//!
//! A strip runs in vectors if all its values have one type. So conversions are left to loads and stores where they can
//! be: `u16(a[x])` loads bytes as 16-bit integers, and `u8(b)` is stored without being computed. Literals are made in
//! the type that becomes of them. Bytes that are only compared, as masks are, are compared as the floating-point
//! numbers that the statement computes with: each byte is exact in both types.

use crease_program::{BinaryOp, CompareOp, Op, StreamId, ValueId, ValueType, integers};

use crate::kernel::graph::{Element, Expr, ExprId, Stmt};

/// The type of the floating-point numbers of a statement, if it has other ones than literals: `f32` if it has any.
pub(super) fn float_of(stmt: &Stmt, types: &[ValueType]) -> Option<ValueType> {
    let is_literal = |expr: &Expr| matches!(expr, Expr::Const(_) | Expr::Select(..));
    let of = |ty: ValueType| stmt.exprs.iter().zip(types).any(|(expr, of)| *of == ty && !is_literal(expr));
    [ValueType::F32, ValueType::F64].into_iter().find(|ty| of(*ty))
}

/// How deep choices between numbers of the text are looked into, to be made in the type that they become; those that go
/// deeper are converted. Each level costs twice the work, and people write one or two.
const NESTED_CHOICES: u32 = 4;

/// One statement's values while its operations are written.
pub(super) struct Values {
    pub(super) types: Vec<ValueType>,
    /// The type of its floating-point numbers, if it has other ones than literals.
    pub(super) float: Option<ValueType>,
    /// The operation that computes each expression.
    pub(super) of: Vec<Option<ValueId>>,
}

/// Operations of a strip under construction.
pub(super) trait Numbers {
    /// The operation that makes a value.
    fn op(&self, value: ValueId) -> Op;

    /// The operation that computes the same, a new one if there is none.
    fn compute(&mut self, op: Op) -> ValueId;

    /// The type of a stream's cells.
    fn element(&self, stream: StreamId) -> Element;

    /// An operand in the type its operation computes in: only literals differ from it, and bytes in comparisons.
    fn operand(&mut self, id: ExprId, ty: ValueType, values: &Values) -> ValueId {
        let value = values.of[id.index()].expect("operands precede their uses");
        if values.types[id.index()] == ty || ty == ValueType::Bool { value } else { self.converted(value, ty) }
    }

    /// The type in which two operands are compared.
    fn compared_as(&self, operands: [ExprId; 2], values: &Values) -> ValueType {
        let [a, b] = operands.map(|id| values.types[id.index()]);
        // One that differs is a literal.
        let common = if a == ValueType::F64 { b } else { a };
        let is_byte = |id: ExprId| self.is_byte(values.of[id.index()].expect("operands precede their uses"));
        match values.float {
            Some(float) if common == ValueType::U8 && operands.into_iter().all(is_byte) => float,
            _ => common,
        }
    }

    /// A value in another type.
    fn converted(&mut self, value: ValueId, ty: ValueType) -> ValueId {
        let op = match self.op(value) {
            Op::F64(bits) if ty == ValueType::F32 => Op::F32((f64::from_bits(bits) as f32).to_bits()),
            Op::F64(bits) if ty.is_integer() => Op::Int(ty, integers::from_float(ty, f64::from_bits(bits))),
            Op::Select(condition, a, b) if self.is_literal(value, NESTED_CHOICES) => {
                Op::Select(condition, self.converted(a, ty), self.converted(b, ty))
            }
            // Only what the cell itself holds: another type may have lost some of it.
            Op::Load { stream, ty: loaded } if loaded.is_integer() && loaded == self.element(stream).value_type() => {
                Op::Load { stream, ty }
            }
            _ => Op::Convert(ty, value),
        };
        self.compute(op)
    }

    /// The number of an integer type that is closest to a value.
    fn saturated(&mut self, value: ValueId, from: ValueType, to: ValueType) -> ValueId {
        if from == to {
            return value;
        }
        let mut value = value;
        if from.is_integer() {
            let ((low, high), (least, most)) = (to.range(), from.range());
            if low > least {
                let low = self.compute(Op::Int(from, low));
                value = self.compute(Op::Binary(BinaryOp::Max, value, low));
            }
            if high < most {
                let high = self.compute(Op::Int(from, high));
                value = self.compute(Op::Binary(BinaryOp::Min, value, high));
            }
        }
        self.converted(value, to)
    }

    /// `a < low ? low : high < a ? high : a`, of integers.
    fn clamp(&mut self, a: ValueId, low: ValueId, high: ValueId) -> ValueId {
        let is_high = self.compute(Op::Compare(CompareOp::Lt, high, a));
        let below = self.compute(Op::Select(is_high, high, a));
        let is_low = self.compute(Op::Compare(CompareOp::Lt, a, low));
        self.compute(Op::Select(is_low, low, below))
    }

    /// What is stored to have a value in cells of its type: what it was converted from, as the store converts alike.
    fn before_store(&self, value: ValueId, element: Element) -> ValueId {
        match self.op(value) {
            Op::Convert(ty, before) if element.is_integer() && ty == element.value_type() => before,
            _ => value,
        }
    }

    /// Whether a value is a number of the text, or a choice between such, of so many choices at most.
    fn is_literal(&self, value: ValueId, choices: u32) -> bool {
        match self.op(value) {
            Op::F64(_) => true,
            Op::Select(_, a, b) if choices > 0 => [a, b].into_iter().all(|side| self.is_literal(side, choices - 1)),
            _ => false,
        }
    }

    /// Whether a value is a byte, whatever the cells hold.
    fn is_byte(&self, value: ValueId) -> bool {
        match self.op(value) {
            Op::F64(bits) => f64::from(f64::from_bits(bits) as u8) == f64::from_bits(bits),
            Op::Load { stream, ty } => ty == ValueType::U8 && self.element(stream) == Element::U8,
            _ => false,
        }
    }
}

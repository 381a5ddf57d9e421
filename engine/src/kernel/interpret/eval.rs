//! Evaluation of one instance: a statement's graph with parameters, scalars and types resolved.
//!
//! Every value is held as 64 bits: of a double, which an `f32` is exactly, and a truth value as 1 or 0; or of an `i64`,
//! which every integer is. Operations on `f32` compute in `f32`. Literals are doubles, and rounded or cut where they
//! are used.

use crease_program::functions::{Function, Real};
use crease_program::{ValueType, integers, opaque_finish, opaque_mix, opaque_seed};
use num_traits::NumOps;

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::bound::BoundAffine;
use crate::kernel::graph::{
    ArrayId, BinaryOp, BitOp, ClampedIndex, CompareOp, Element, Expr, ExprId, Kernel, ShiftOp, Stmt, UnaryOp,
};
use crate::kernel::interpret::store::{Cell, Store};
use crate::kernel::interpret::{Fault, InterpretError};
use crate::kernel::verify::value_types;

/// A statement ready to run.
#[derive(Debug)]
pub(super) struct StmtCode {
    ops: Vec<Op>,
    writes: Vec<(Access, Stored)>,
}

/// A write of an instance that is not yet done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    pub(super) array: usize,
    pub(super) address: usize,
    /// The bits of an `i64` for cells of integers, else of a double.
    pub(super) bits: u64,
}

/// What a write takes.
#[derive(Clone, Copy, Debug)]
enum Stored {
    Float(ExprId),
    Integer(Whole),
}

/// An operand among integers.
#[derive(Clone, Copy, Debug)]
enum Whole {
    Of(ExprId),
    /// A double, which is a number of the type.
    Literal(ExprId),
}

#[derive(Debug)]
struct Access {
    array: usize,
    index: Vec<BoundAffine>,
}

#[derive(Debug)]
enum Op {
    Value(f64),
    Index(BoundAffine),
    Load(Access),
    /// A table's corner; for each index that a value says, which one it is, the last one of the table, and the value.
    Lookup(Access, Vec<(usize, BoundAffine, ExprId)>),
    Unary(UnaryOp, Precision, ExprId),
    Call(Function, Precision, Vec<ExprId>),
    Binary(BinaryOp, Precision, ExprId, ExprId),
    Fma(Precision, ExprId, ExprId, ExprId),
    /// Operands are exact doubles in either precision, once literals are rounded.
    Compare(CompareOp, Precision, ExprId, ExprId),
    And(ExprId, ExprId),
    Or(ExprId, ExprId),
    Not(ExprId),
    Select(Precision, ExprId, ExprId, ExprId),
    Round(Precision, ExprId),
    Integer(ValueType, OfIntegers),
    Opaque(u64, Vec<ExprId>),
}

/// An operation of which operands or result are integers; the type beside it is that of its operands, or of what
/// converts that of the result.
#[derive(Clone, Copy, Debug)]
enum OfIntegers {
    Unary(UnaryOp, Whole),
    Binary(BinaryOp, Whole, Whole),
    Bits(BitOp, Whole, Whole),
    Shift(ShiftOp, Whole, u8),
    Clamp(Whole, Whole, Whole),
    Compare(CompareOp, Whole, Whole),
    Select(ExprId, Whole, Whole),
    Wrap(ExprId),
    Saturate(ExprId),
    FromFloat(ExprId),
    ToFloat(Precision, ExprId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Precision {
    Double,
    Single,
}

impl Precision {
    fn of(ty: ValueType) -> Precision {
        if ty == ValueType::F32 { Precision::Single } else { Precision::Double }
    }

    fn round(self, value: f64) -> f64 {
        match self {
            Precision::Double => value,
            Precision::Single => f64::from(value as f32),
        }
    }
}

impl StmtCode {
    pub(super) fn new(
        kernel: &Kernel,
        stmt: &Stmt,
        params: &[i64],
        scalars: &[f64],
    ) -> Result<StmtCode, InterpretError> {
        let types = value_types(kernel, stmt).expect("the kernel is verified");
        let code = || -> Result<StmtCode, AffineOverflow> {
            let mut ops = Vec::with_capacity(stmt.exprs.len());
            for (expr, ty) in stmt.exprs.iter().zip(&types) {
                ops.push(op(kernel, expr, *ty, &types, params, scalars)?);
            }
            let write = |assign: &crate::kernel::graph::Assign| {
                let is_integer = kernel.array(assign.array).element.is_integer();
                let value = assign.value;
                let stored = if is_integer { Stored::Integer(whole(value, &types)) } else { Stored::Float(value) };
                Ok((access(assign.array, &assign.index, params)?, stored))
            };
            let writes = stmt.assigns.iter().map(write).collect::<Result<_, _>>()?;
            Ok(StmtCode { ops, writes })
        };
        code().map_err(|source| InterpretError::Overflow { owner: format!("statement `{}`", stmt.name), source })
    }

    /// Reads and computes; appends the writes. `values` is scratch space.
    pub(super) fn eval(
        &self,
        point: &[i64],
        stores: &[Store],
        values: &mut Vec<u64>,
        pending: &mut Vec<Write>,
    ) -> Result<(), Fault> {
        values.clear();
        for op in &self.ops {
            let value = op.eval(point, stores, values)?;
            values.push(value);
        }
        for (access, value) in &self.writes {
            let address = access.address(point, stores)?;
            let bits = match value {
                Stored::Float(value) => values[value.index()],
                Stored::Integer(value) => integer(*value, values) as u64,
            };
            pending.push(Write { array: access.array, address, bits });
        }
        Ok(())
    }
}

impl Access {
    /// The cell's position in its store; it is in the index space.
    fn address(&self, point: &[i64], stores: &[Store]) -> Result<usize, Fault> {
        let mut cell = [0_i64; 8];
        if self.index.len() > cell.len() {
            return self.checked(&self.cell(point).map_err(Fault::Overflow)?, stores);
        }
        for (value, e) in cell.iter_mut().zip(&self.index) {
            *value = e.eval(point).map_err(Fault::Overflow)?;
        }
        self.checked(&cell[..self.index.len()], stores)
    }

    fn cell(&self, point: &[i64]) -> Result<Vec<i64>, AffineOverflow> {
        self.index.iter().map(|e| e.eval(point)).collect()
    }

    fn checked(&self, cell: &[i64], stores: &[Store]) -> Result<usize, Fault> {
        let store = &stores[self.array];
        match store.address(cell) {
            Some(address) if store.cell(address) != Cell::Outside => Ok(address),
            _ => Err(Fault::Outside { array: self.array, cell: cell.to_vec() }),
        }
    }
}

impl Op {
    /// A flat match, one arm per operation.
    fn eval(&self, point: &[i64], stores: &[Store], values: &[u64]) -> Result<u64, Fault> {
        let get = |id: &ExprId| f64::from_bits(values[id.index()]);
        let truth = |holds: bool| f64::from(u8::from(holds));
        let value = match self {
            Op::Value(value) => *value,
            Op::Index(e) => e.eval(point).map_err(Fault::Overflow)? as f64,
            Op::Load(access) => {
                let address = access.address(point, stores)?;
                let store = &stores[access.array];
                if store.cell(address) != Cell::Written {
                    let cell = access.cell(point).map_err(Fault::Overflow)?;
                    return Err(Fault::NeverWritten { array: access.array, cell });
                }
                return Ok(store.read(address));
            }
            Op::Lookup(corner, clamped) => {
                let mut cell = corner.cell(point).map_err(Fault::Overflow)?;
                for (position, last, value) in clamped {
                    let last = last.eval(point).map_err(Fault::Overflow)?;
                    let (first, value) = (cell[*position], values[value.index()] as i64);
                    // As for any other read, the corner of a table without cells lies outside.
                    cell[*position] = value.min(last).max(first);
                }
                let address = corner.checked(&cell, stores)?;
                let store = &stores[corner.array];
                if store.cell(address) != Cell::Written {
                    return Err(Fault::NeverWritten { array: corner.array, cell });
                }
                return Ok(store.read(address));
            }
            Op::Integer(ty, op) => return Ok(op.eval(*ty, values)),
            Op::Unary(op, Precision::Double, a) => unary_f64(*op, get(a)),
            Op::Unary(op, Precision::Single, a) => unary_f32(*op, get(a) as f32).into(),
            Op::Call(function, Precision::Double, args) => call(*function, args, get),
            Op::Call(function, Precision::Single, args) => call(*function, args, |a| get(a) as f32).into(),
            Op::Binary(op, Precision::Double, a, b) => binary(*op, get(a), get(b)),
            Op::Binary(op, Precision::Single, a, b) => binary(*op, get(a) as f32, get(b) as f32).into(),
            Op::Fma(Precision::Double, a, b, c) => get(a).mul_add(get(b), get(c)),
            Op::Fma(Precision::Single, a, b, c) => (get(a) as f32).mul_add(get(b) as f32, get(c) as f32).into(),
            Op::Compare(op, p, a, b) => truth(compare(*op, p.round(get(a)), p.round(get(b)))),
            Op::And(a, b) => truth(get(a) != 0.0 && get(b) != 0.0),
            Op::Or(a, b) => truth(get(a) != 0.0 || get(b) != 0.0),
            Op::Not(a) => truth(get(a) == 0.0),
            Op::Select(p, cond, a, b) => p.round(if get(cond) != 0.0 { get(a) } else { get(b) }),
            Op::Round(p, a) => p.round(get(a)),
            Op::Opaque(seed, args) => {
                let acc = args.iter().fold(*seed, |acc, a| opaque_mix(acc, get(a).to_bits()));
                return Ok(opaque_finish(acc));
            }
        };
        Ok(value.to_bits())
    }
}

impl OfIntegers {
    /// A flat match, one arm per operation.
    fn eval(self, ty: ValueType, values: &[u64]) -> u64 {
        let get = |value: Whole| integer(value, values);
        let word = |id: ExprId| values[id.index()] as i64;
        let float = |id: ExprId| f64::from_bits(values[id.index()]);
        let result = match self {
            OfIntegers::Unary(op, a) => integers::unary(op, ty, get(a)).expect("the kernel is verified"),
            OfIntegers::Binary(op, a, b) => integers::binary(op, ty, get(a), get(b)).expect("the kernel is verified"),
            OfIntegers::Bits(op, a, b) => integers::bits(op, ty, get(a), get(b)),
            OfIntegers::Shift(op, a, places) => integers::shift(op, ty, get(a), places),
            OfIntegers::Clamp(a, low, high) => match (get(a), get(low), get(high)) {
                (a, low, _) if a < low => low,
                (a, _, high) if high < a => high,
                (a, ..) => a,
            },
            OfIntegers::Compare(op, a, b) => {
                return f64::from(u8::from(op.holds(get(a), get(b)))).to_bits();
            }
            OfIntegers::Select(cond, a, b) => get(if float(cond) != 0.0 { a } else { b }),
            OfIntegers::Wrap(a) => integers::wrapped(ty, word(a)),
            OfIntegers::Saturate(a) => integers::saturated(ty, word(a).into()),
            OfIntegers::FromFloat(a) => integers::from_float(ty, float(a)),
            OfIntegers::ToFloat(Precision::Double, a) => return (word(a) as f64).to_bits(),
            OfIntegers::ToFloat(Precision::Single, a) => return f64::from(word(a) as f32).to_bits(),
        };
        result as u64
    }
}

/// An operand as an integer.
fn integer(value: Whole, values: &[u64]) -> i64 {
    match value {
        Whole::Of(id) => values[id.index()] as i64,
        // The verifier has seen that it is a number of the type.
        Whole::Literal(id) => f64::from_bits(values[id.index()]) as i64,
    }
}

/// An operand among integers, where only literals are doubles.
fn whole(id: ExprId, types: &[ValueType]) -> Whole {
    if types[id.index()].is_integer() { Whole::Of(id) } else { Whole::Literal(id) }
}

/// The operation of an expression of which operands or result are integers; none if neither is.
fn of_integers(expr: &Expr, ty: ValueType, types: &[ValueType]) -> Option<Op> {
    let whole = |id: &ExprId| whole(*id, types);
    let of = |id: &ExprId| types[id.index()];
    let operand = |ids: &[ExprId]| ids.iter().map(of).find(|ty| ty.is_integer());
    let (ty, op) = match expr {
        Expr::Unary(op, a) => (operand(&[*a])?, OfIntegers::Unary(*op, whole(a))),
        Expr::Binary(op, a, b) => (operand(&[*a, *b])?, OfIntegers::Binary(*op, whole(a), whole(b))),
        Expr::Bits(op, a, b) => (operand(&[*a, *b])?, OfIntegers::Bits(*op, whole(a), whole(b))),
        Expr::Shift(op, a, places) => (operand(&[*a])?, OfIntegers::Shift(*op, whole(a), *places)),
        Expr::Call(Function::Clamp, args) => {
            (operand(args)?, OfIntegers::Clamp(whole(&args[0]), whole(&args[1]), whole(&args[2])))
        }
        Expr::Compare(op, a, b) => (operand(&[*a, *b])?, OfIntegers::Compare(*op, whole(a), whole(b))),
        Expr::Select(cond, a, b) => (operand(&[*a, *b])?, OfIntegers::Select(*cond, whole(a), whole(b))),
        Expr::Convert(_, a) if of(a).is_integer() && ty.is_integer() => (ty, OfIntegers::Wrap(*a)),
        Expr::Convert(_, a) if of(a).is_integer() => (ty, OfIntegers::ToFloat(Precision::of(ty), *a)),
        Expr::Saturate(_, a) if of(a).is_integer() => (ty, OfIntegers::Saturate(*a)),
        Expr::Convert(_, a) | Expr::Saturate(_, a) if ty.is_integer() => (ty, OfIntegers::FromFloat(*a)),
        _ => return None,
    };
    Some(Op::Integer(ty, op))
}

/// The operation of an expression; `types` are those of the whole statement.
fn op(
    kernel: &Kernel,
    expr: &Expr,
    ty: ValueType,
    types: &[ValueType],
    params: &[i64],
    scalars: &[f64],
) -> Result<Op, AffineOverflow> {
    if let Some(op) = of_integers(expr, ty, types) {
        return Ok(op);
    }
    let precision = Precision::of(ty);
    let single = |id: &ExprId| types[id.index()] == ValueType::F32;
    Ok(match expr {
        Expr::Const(c) => Op::Value(*c),
        Expr::Scalar(k) => {
            let rounds = kernel.scalars()[k.index()].element == Element::F32;
            let precision = if rounds { Precision::Single } else { Precision::Double };
            Op::Value(precision.round(scalars[k.index()]))
        }
        Expr::Index(e) => Op::Index(BoundAffine::new(e, params)?),
        Expr::Load(array, index) => Op::Load(access(*array, index, params)?),
        Expr::Lookup(lookup) => {
            let last = |index: &ClampedIndex| Ok((index.position, BoundAffine::new(&index.last, params)?, index.value));
            let clamped = lookup.clamped.iter().map(last).collect::<Result<_, AffineOverflow>>()?;
            Op::Lookup(access(lookup.array, &lookup.corner, params)?, clamped)
        }
        Expr::Unary(op, a) => Op::Unary(*op, precision, *a),
        Expr::Call(function, args) => Op::Call(*function, precision, args.clone()),
        Expr::Binary(op, a, b) => Op::Binary(*op, precision, *a, *b),
        Expr::Fma(a, b, c) => Op::Fma(precision, *a, *b, *c),
        Expr::Compare(op, a, b) => {
            let precision = if single(a) || single(b) { Precision::Single } else { Precision::Double };
            Op::Compare(*op, precision, *a, *b)
        }
        Expr::And(a, b) => Op::And(*a, *b),
        Expr::Or(a, b) => Op::Or(*a, *b),
        Expr::Not(a) => Op::Not(*a),
        Expr::Select(cond, a, b) => Op::Select(precision, *cond, *a, *b),
        Expr::Convert(_, a) => Op::Round(precision, *a),
        Expr::Bits(..) | Expr::Shift(..) | Expr::Saturate(..) => unreachable!("these are of integers"),
        Expr::Opaque(name, args) => Op::Opaque(opaque_seed(name), args.clone()),
    })
}

fn access(array: ArrayId, index: &[Affine], params: &[i64]) -> Result<Access, AffineOverflow> {
    let index = index.iter().map(|e| BoundAffine::new(e, params)).collect::<Result<_, _>>()?;
    Ok(Access { array: array.index(), index })
}

/// A function of values that `get` rounds.
fn call<F: Real>(function: Function, args: &[ExprId], get: impl Fn(&ExprId) -> F) -> F {
    match args {
        [a] => function.evaluate(&[get(a)]),
        [a, b] => function.evaluate(&[get(a), get(b)]),
        _ => function.evaluate(&args.iter().map(get).collect::<Vec<F>>()),
    }
}

fn unary_f64(op: UnaryOp, a: f64) -> f64 {
    match op {
        UnaryOp::Neg => -a,
        UnaryOp::Abs => a.abs(),
        UnaryOp::Sqrt => a.sqrt(),
        UnaryOp::Floor => a.floor(),
        UnaryOp::Ceil => a.ceil(),
        UnaryOp::Trunc => a.trunc(),
        UnaryOp::Nearest => a.round_ties_even(),
        UnaryOp::BitNot => unreachable!("of integers only"),
    }
}

fn unary_f32(op: UnaryOp, a: f32) -> f32 {
    match op {
        UnaryOp::Neg => -a,
        UnaryOp::Abs => a.abs(),
        UnaryOp::Sqrt => a.sqrt(),
        UnaryOp::Floor => a.floor(),
        UnaryOp::Ceil => a.ceil(),
        UnaryOp::Trunc => a.trunc(),
        UnaryOp::Nearest => a.round_ties_even(),
        UnaryOp::BitNot => unreachable!("of integers only"),
    }
}

fn binary<F: PartialOrd + NumOps>(op: BinaryOp, a: F, b: F) -> F {
    match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::Rem => a % b,
        BinaryOp::AddSat | BinaryOp::SubSat => unreachable!("of integers only"),
        BinaryOp::Min => {
            if a < b {
                a
            } else {
                b
            }
        }
        BinaryOp::Max => {
            if a > b {
                a
            } else {
                b
            }
        }
    }
}

fn compare(op: CompareOp, a: f64, b: f64) -> bool {
    match op {
        CompareOp::Lt => a < b,
        CompareOp::Le => a <= b,
        CompareOp::Gt => a > b,
        CompareOp::Ge => a >= b,
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
    }
}

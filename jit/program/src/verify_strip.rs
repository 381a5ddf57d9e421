//! The part of the verifier inside strips: operands, types, stores, alias facts.

use super::fault::Fault;
use super::place::Part;
use super::tables::verify_use;
use super::types::*;
use super::visible::{Visible, declared};
use rustc_hash::FxHashSet;

type Results = [Option<ValueType>];

/// The type of every operation's result, `None` for stores, of a strip whose operations verify.
///
/// # Errors
/// The first operation that does not, and why. `scope` holds the integer variables that `Op::Index` may name.
pub(super) fn value_types(
    program: &Program,
    strip: &Strip,
    scope: &Visible,
) -> Result<Vec<Option<ValueType>>, (Part, Fault)> {
    let mut results = Vec::with_capacity(strip.ops.len());
    for (id, op) in (0..).map(ValueId).zip(&strip.ops) {
        let result = match *op {
            Op::Index { base: Some(var), .. } if var == strip.var => Err(Fault::IndexBase { var }),
            Op::Index { base: Some(var), .. } if !scope.contains(var) => Err(Fault::NotInScope { var }),
            _ => result_type(program, strip, &results, op),
        };
        results.push(result.map_err(|fault| (Part::Op(id), fault))?);
    }
    Ok(results)
}

/// Checks operations and alias facts.
pub(super) fn strip_errors(program: &Program, strip: &Strip, scope: &Visible) -> Result<(), (Part, Fault)> {
    value_types(program, strip, scope)?;
    non_temporal_stores(strip)?;
    // Facts are mostly in the order of their stores or of their loads: then none is there twice.
    let ascend = |key: fn(&AliasFact) -> (ValueId, ValueId)| strip.alias.is_sorted_by(|a, b| key(a) < key(b));
    let are_distinct = ascend(|fact| (fact.store, fact.load)) || ascend(|fact| (fact.load, fact.store));
    let mut pairs = (!are_distinct).then(FxHashSet::default);
    for (position, fact) in (0..).zip(&strip.alias) {
        alias_fact(strip, fact, pairs.as_mut()).map_err(|fault| (Part::Alias(position), fault))?;
    }
    Ok(())
}

/// One arm per operation: checks its operands against the results so far and gives its own type.
pub(super) fn result_type(
    program: &Program,
    strip: &Strip,
    results: &Results,
    op: &Op,
) -> Result<Option<ValueType>, Fault> {
    Ok(match *op {
        Op::F64(_) | Op::OpaqueSeed(_) => Some(ValueType::F64),
        Op::F32(_) => Some(ValueType::F32),
        Op::Int(ty, value) => Some(integer(ty, value)?),
        Op::Scalar(id) => {
            declared(id.index(), program.scalars.len(), || format!("scalar {id}"))?;
            Some(program.scalars[id.index()].element.value_type())
        }
        Op::Index { ty, .. } => Some(floating(ty)?),
        Op::Load { stream, ty } => {
            cell_type(buffer(program, strip, stream)?, numeric(ty)?)?;
            verify_use(program, &strip.streams[stream.index()], None)?;
            Some(ty)
        }
        Op::Lookup { stream, ref values, ty } => {
            cell_type(buffer(program, strip, stream)?, numeric(ty)?)?;
            verify_use(program, &strip.streams[stream.index()], Some(values))?;
            values.iter().flatten().try_for_each(|value| operand(results, *value, &INTEGERS).map(drop))?;
            Some(ty)
        }
        Op::Unary(op, a) => Some(operand(results, a, unary_operand(op))?),
        Op::Binary(op, a, b) => Some(agreeing(results, &[a, b], binary_operand(op))?),
        Op::Bits(_, a, b) => Some(agreeing(results, &[a, b], &NUMBERS)?),
        Op::Shift(_, a, count) => Some(shifted(operand(results, a, &NUMBERS)?, count)?),
        Op::Fma(a, b, c) => Some(agreeing(results, &[a, b, c], &FLOATS)?),
        Op::Compare(_, a, b) => {
            agreeing(results, &[a, b], &NUMBERS)?;
            Some(ValueType::Bool)
        }
        Op::And(a, b) | Op::Or(a, b) => {
            operand(results, a, &BOOL)?;
            Some(operand(results, b, &BOOL)?)
        }
        Op::Not(a) => Some(operand(results, a, &BOOL)?),
        Op::Select(cond, a, b) => {
            operand(results, cond, &BOOL)?;
            Some(agreeing(results, &[a, b], &NUMBERS)?)
        }
        Op::Convert(ty, a) => {
            let found = operand(results, a, &NUMBERS)?;
            if numeric(ty)? == found {
                return Err(Fault::OperandType { operand: a, found, expected: "another type of numbers" });
            }
            Some(ty)
        }
        Op::OpaqueMix(acc, x) => {
            operand(results, acc, &F64)?;
            Some(operand(results, x, &F64)?)
        }
        Op::OpaqueFinish(acc) => Some(operand(results, acc, &F64)?),
        Op::Store { stream, value, .. } => {
            let buffer = buffer(program, strip, stream)?;
            // Streams with axes are of such buffers, so that none of them is stored to.
            if buffer.access == BufferAccess::ReadOnly {
                return Err(Fault::ReadOnly { buffer: buffer.name.clone() });
            }
            cell_type(buffer, operand(results, value, &NUMBERS)?)?;
            None
        }
    })
}

/// What an operand may be, and the words for it.
type Wanted = (&'static [ValueType], &'static str);
const FLOATS: Wanted = (&[ValueType::F64, ValueType::F32], "f64 or f32");
const F64: Wanted = (&[ValueType::F64], "f64");
const INTEGERS: Wanted = (
    &[ValueType::U8, ValueType::I8, ValueType::I16, ValueType::U16, ValueType::I32, ValueType::U32, ValueType::I64],
    "an integer",
);
const NUMBERS: Wanted = (
    &[
        ValueType::F64,
        ValueType::F32,
        ValueType::U8,
        ValueType::I8,
        ValueType::I16,
        ValueType::U16,
        ValueType::I32,
        ValueType::U32,
        ValueType::I64,
    ],
    "a number",
);
const BOOL: Wanted = (&[ValueType::Bool], "bool");

fn operand(results: &Results, operand: ValueId, (types, expected): &Wanted) -> Result<ValueType, Fault> {
    let found = results.get(operand.index()).copied().flatten().ok_or(Fault::Operand { operand })?;
    if types.contains(&found) { Ok(found) } else { Err(Fault::OperandType { operand, found, expected }) }
}

/// What an operation of one operand takes.
fn unary_operand(op: UnaryOp) -> &'static Wanted {
    match op {
        UnaryOp::Neg | UnaryOp::Abs => &NUMBERS,
        UnaryOp::Sqrt | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Trunc | UnaryOp::Nearest => &FLOATS,
        UnaryOp::BitNot => &INTEGERS,
    }
}

/// What an operation of two operands takes.
fn binary_operand(op: BinaryOp) -> &'static Wanted {
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max => &NUMBERS,
        BinaryOp::Div | BinaryOp::Rem => &FLOATS,
        BinaryOp::AddSat | BinaryOp::SubSat => &INTEGERS,
    }
}

/// The one type of all operands.
fn agreeing(results: &Results, operands: &[ValueId], wanted: &Wanted) -> Result<ValueType, Fault> {
    let a = operands[0];
    let type_a = operand(results, a, wanted)?;
    for &b in &operands[1..] {
        let type_b = operand(results, b, wanted)?;
        if type_a != type_b {
            return Err(Fault::OperandsDiffer { a, b, type_a, type_b });
        }
    }
    Ok(type_a)
}

/// The type of a shift of a number of type `ty`: it has a bit for each place.
fn shifted(ty: ValueType, count: u8) -> Result<ValueType, Fault> {
    let bits = ty.bits() as u8;
    if count < bits { Ok(ty) } else { Err(Fault::Shift { count, ty, bits }) }
}

fn floating(ty: ValueType) -> Result<ValueType, Fault> {
    if ty.is_float() { Ok(ty) } else { Err(Fault::ResultType { ty }) }
}

fn numeric(ty: ValueType) -> Result<ValueType, Fault> {
    if ty == ValueType::Bool { Err(Fault::ResultType { ty }) } else { Ok(ty) }
}

/// The type of a constant that is in its range.
fn integer(ty: ValueType, value: i64) -> Result<ValueType, Fault> {
    let (low, high) = ty.range();
    match ty.is_integer() {
        false => Err(Fault::ResultType { ty }),
        true if value < low || value > high => Err(Fault::Integer { value, ty }),
        true => Ok(ty),
    }
}

/// The buffer of a stream; streams have been checked before operations.
fn buffer<'p>(program: &'p Program, strip: &Strip, stream: StreamId) -> Result<&'p BufferDecl, Fault> {
    declared(stream.index(), strip.streams.len(), || format!("stream {stream}"))?;
    let id = strip.streams[stream.index()].buffer;
    declared(id.index(), program.buffers.len(), || format!("buffer {id}"))?;
    Ok(&program.buffers[id.index()])
}

fn cell_type(buffer: &BufferDecl, ty: ValueType) -> Result<(), Fault> {
    if buffer.element.holds(ty) {
        Ok(())
    } else {
        Err(Fault::ElementType { buffer: buffer.name.clone(), element: buffer.element, ty })
    }
}

/// Checks that no load may share a cell with a non-temporal store.
fn non_temporal_stores(strip: &Strip) -> Result<(), (Part, Fault)> {
    let disjoint = strip.alias.iter().filter(|fact| fact.relation == AliasRelation::Disjoint);
    let disjoint: FxHashSet<_> = disjoint.map(|fact| (fact.load, fact.store)).collect();
    let buffer = |stream: StreamId| strip.streams[stream.index()].buffer;
    for (store, op) in (0..).map(ValueId).zip(&strip.ops) {
        let Op::Store { stream: to, hint: StoreHint::NonTemporal, .. } = *op else { continue };
        let may_share = |(load, op): &(ValueId, &Op)| match **op {
            Op::Load { stream, .. } => buffer(stream) == buffer(to) && !disjoint.contains(&(*load, store)),
            _ => false,
        };
        if let Some((load, _)) = (0..).map(ValueId).zip(&strip.ops).find(may_share) {
            return Err((Part::Op(store), Fault::NonTemporalLoaded { load }));
        }
    }
    Ok(())
}

fn alias_fact(strip: &Strip, fact: &AliasFact, pairs: Option<&mut FxHashSet<(ValueId, ValueId)>>) -> Result<(), Fault> {
    let AliasFact { load, store, relation } = *fact;
    if !matches!(strip.ops.get(load.index()), Some(Op::Load { .. })) {
        return Err(Fault::AliasOperand { value: load, expected: "load" });
    }
    if !matches!(strip.ops.get(store.index()), Some(Op::Store { .. })) {
        return Err(Fault::AliasOperand { value: store, expected: "store" });
    }
    if relation == AliasRelation::Distance(0) {
        return Err(Fault::AliasDistance);
    }
    if pairs.is_some_and(|pairs| !pairs.insert((load, store))) {
        return Err(Fault::AliasTwice { load, store });
    }
    Ok(())
}

//! The interpreter inside strips: what single operations do to the lanes of a block.
//!
//! In: operands as 64 bits per lane, with their types; cells and where a stream stands.   Out: as many lanes.

use super::cells::Cells;
use super::cursor::Cursor;
use super::integers;
use super::types::*;
use half::f16;

pub(super) fn load(cells: &Cells, cursor: Cursor, ty: ValueType, out: &mut [u64]) {
    let count = out.len();
    match cells {
        Cells::F64(cells) => cursor.each_cell(count, |lane, cell| out[lane] = cells[cell].to_bits()),
        Cells::F32(cells) => cursor.each_cell(count, |lane, cell| out[lane] = bits32(cells[cell])),
        Cells::F16(cells) => cursor.each_cell(count, |lane, cell| out[lane] = bits32(cells[cell].to_f32())),
        Cells::U8(cells) => load_integers(cells, (ValueType::U8, ty), cursor, out),
        Cells::I8(cells) => load_integers(cells, (ValueType::I8, ty), cursor, out),
        Cells::I16(cells) => load_integers(cells, (ValueType::I16, ty), cursor, out),
        Cells::U16(cells) => load_integers(cells, (ValueType::U16, ty), cursor, out),
        Cells::I32(cells) => load_integers(cells, (ValueType::I32, ty), cursor, out),
        Cells::U32(cells) => load_integers(cells, (ValueType::U32, ty), cursor, out),
        Cells::I64(cells) => load_integers(cells, (ValueType::I64, ty), cursor, out),
    }
}

fn load_integers<T: Copy + Into<i64>>(
    cells: &[T],
    (from, to): (ValueType, ValueType),
    cursor: Cursor,
    out: &mut [u64],
) {
    let count = out.len();
    cursor.each_cell(count, |lane, cell| out[lane] = converted(from, to, cells[cell].into() as u64));
}

pub(super) fn store(cells: &mut Cells, cursor: Cursor, ty: Option<ValueType>, values: &[u64]) {
    let count = values.len();
    match cells {
        Cells::F64(cells) => cursor.each_cell(count, |lane, cell| cells[cell] = double_of(values[lane])),
        Cells::F32(cells) => cursor.each_cell(count, |lane, cell| cells[cell] = single_of(values[lane])),
        Cells::F16(cells) => {
            cursor.each_cell(count, |lane, cell| cells[cell] = f16::from_f32(single_of(values[lane])));
        }
        Cells::U8(cells) => {
            store_integers((ty, ValueType::U8), cursor, values, |cell, value| cells[cell] = value as u8)
        }
        Cells::I8(cells) => {
            store_integers((ty, ValueType::I8), cursor, values, |cell, value| cells[cell] = value as i8)
        }
        Cells::I16(cells) => {
            store_integers((ty, ValueType::I16), cursor, values, |cell, value| cells[cell] = value as i16);
        }
        Cells::U16(cells) => {
            store_integers((ty, ValueType::U16), cursor, values, |cell, value| cells[cell] = value as u16);
        }
        Cells::I32(cells) => {
            store_integers((ty, ValueType::I32), cursor, values, |cell, value| cells[cell] = value as i32);
        }
        Cells::U32(cells) => {
            store_integers((ty, ValueType::U32), cursor, values, |cell, value| cells[cell] = value as u32);
        }
        Cells::I64(cells) => store_integers((ty, ValueType::I64), cursor, values, |cell, value| cells[cell] = value),
    }
}

/// Stores what a value becomes as an integer, which is in the range of the cells.
fn store_integers(
    (from, to): (Option<ValueType>, ValueType),
    cursor: Cursor,
    values: &[u64],
    mut put: impl FnMut(usize, i64),
) {
    let from = from.expect("values have types");
    cursor.each_cell(values.len(), |lane, cell| put(cell, converted(from, to, values[lane]) as i64));
}

/// A number in another type, or in its own.
pub(super) fn converted(from: ValueType, to: ValueType, bits: u64) -> u64 {
    match (from, to) {
        (ValueType::F64, ValueType::F64) | (ValueType::F32, ValueType::F32) | (ValueType::Bool, _) => bits,
        (ValueType::F64, ValueType::F32) => bits32(double_of(bits) as f32),
        (ValueType::F32, ValueType::F64) => f64::from(single_of(bits)).to_bits(),
        (ValueType::F64, to) => integers::from_float(to, double_of(bits)) as u64,
        (ValueType::F32, to) => integers::from_float(to, single_of(bits).into()) as u64,
        (_, ValueType::F64) => (bits as i64 as f64).to_bits(),
        (_, ValueType::F32) => bits32(bits as i64 as f32),
        (_, to) => integers::wrapped(to, bits as i64) as u64,
    }
}

/// The type of the operands if they are integers.
fn integer(ty: Option<ValueType>) -> Option<ValueType> {
    ty.filter(|ty| ty.is_integer())
}

/// What the verifier refuses on integers.
const OF_INTEGERS: &str = "the program has verified";

pub(super) fn unary(op: UnaryOp, ty: Option<ValueType>, out: &mut [u64], a: &[u64]) {
    if let Some(ty) = integer(ty) {
        return each(out, a, |a| integers::unary(op, ty, a as i64).expect(OF_INTEGERS) as u64);
    }
    if ty == Some(ValueType::F32) {
        return match op {
            UnaryOp::Neg => each(out, a, |a| bits32(-single_of(a))),
            UnaryOp::Abs => each(out, a, |a| bits32(single_of(a).abs())),
            UnaryOp::Sqrt => each(out, a, |a| bits32(single_of(a).sqrt())),
            UnaryOp::Floor => each(out, a, |a| bits32(single_of(a).floor())),
            UnaryOp::Ceil => each(out, a, |a| bits32(single_of(a).ceil())),
            UnaryOp::Trunc => each(out, a, |a| bits32(single_of(a).trunc())),
            UnaryOp::Nearest => each(out, a, |a| bits32(single_of(a).round_ties_even())),
            UnaryOp::BitNot => unreachable!("of integers only"),
        };
    }
    match op {
        UnaryOp::Neg => each(out, a, |a| (-double_of(a)).to_bits()),
        UnaryOp::Abs => each(out, a, |a| double_of(a).abs().to_bits()),
        UnaryOp::Sqrt => each(out, a, |a| double_of(a).sqrt().to_bits()),
        UnaryOp::Floor => each(out, a, |a| double_of(a).floor().to_bits()),
        UnaryOp::Ceil => each(out, a, |a| double_of(a).ceil().to_bits()),
        UnaryOp::Trunc => each(out, a, |a| double_of(a).trunc().to_bits()),
        UnaryOp::Nearest => each(out, a, |a| double_of(a).round_ties_even().to_bits()),
        UnaryOp::BitNot => unreachable!("of integers only"),
    }
}

pub(super) fn binary(op: BinaryOp, ty: Option<ValueType>, out: &mut [u64], a: &[u64], b: &[u64]) {
    if let Some(ty) = integer(ty) {
        return combine(out, a, b, |a, b| integers::binary(op, ty, a as i64, b as i64).expect(OF_INTEGERS) as u64);
    }
    macro_rules! arms {
        ($of:expr, $bits:expr) => {
            match op {
                BinaryOp::Add => combine(out, a, b, |a, b| $bits($of(a) + $of(b))),
                BinaryOp::Sub => combine(out, a, b, |a, b| $bits($of(a) - $of(b))),
                BinaryOp::Mul => combine(out, a, b, |a, b| $bits($of(a) * $of(b))),
                BinaryOp::Div => combine(out, a, b, |a, b| $bits($of(a) / $of(b))),
                // Whole bit patterns: the result is one of the operands, also of zeros and NaNs.
                BinaryOp::Min => combine(out, a, b, |a, b| if $of(a) < $of(b) { a } else { b }),
                BinaryOp::Max => combine(out, a, b, |a, b| if $of(a) > $of(b) { a } else { b }),
                BinaryOp::Rem => combine(out, a, b, |a, b| $bits($of(a) % $of(b))),
                BinaryOp::AddSat | BinaryOp::SubSat => unreachable!("of integers only"),
            }
        };
    }
    if ty == Some(ValueType::F32) { arms!(single_of, bits32) } else { arms!(double_of, f64::to_bits) }
}

/// Lanes of floats are zero above their bits, and stay so.
pub(super) fn bits(op: BitOp, ty: Option<ValueType>, out: &mut [u64], a: &[u64], b: &[u64]) {
    if let Some(ty) = integer(ty) {
        return combine(out, a, b, |a, b| integers::bits(op, ty, a as i64, b as i64) as u64);
    }
    let mask = bit_mask(ty);
    match op {
        BitOp::And => combine(out, a, b, |a, b| a & b),
        BitOp::Or => combine(out, a, b, |a, b| a | b),
        BitOp::Xor => combine(out, a, b, |a, b| a ^ b),
        BitOp::Add => combine(out, a, b, |a, b| a.wrapping_add(b) & mask),
        BitOp::Sub => combine(out, a, b, |a, b| a.wrapping_sub(b) & mask),
    }
}

pub(super) fn shift(op: ShiftOp, ty: Option<ValueType>, out: &mut [u64], a: &[u64], count: u8) {
    if let Some(ty) = integer(ty) {
        return each(out, a, |a| integers::shift(op, ty, a as i64, count) as u64);
    }
    let mask = bit_mask(ty);
    match op {
        ShiftOp::Left => each(out, a, |a| (a << count) & mask),
        ShiftOp::Right => each(out, a, |a| a >> count),
    }
}

/// The bits that numbers of a type have.
fn bit_mask(ty: Option<ValueType>) -> u64 {
    if ty == Some(ValueType::F32) { u64::from(u32::MAX) } else { u64::MAX }
}

pub(super) fn each(out: &mut [u64], a: &[u64], f: impl Fn(u64) -> u64) {
    for (out, a) in out.iter_mut().zip(a) {
        *out = f(*a);
    }
}

pub(super) fn combine(out: &mut [u64], a: &[u64], b: &[u64], f: impl Fn(u64, u64) -> u64) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = f(*a, *b);
    }
}

pub(super) fn double_of(bits: u64) -> f64 {
    f64::from_bits(bits)
}

pub(super) fn single_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

pub(super) fn bits32(value: f32) -> u64 {
    u64::from(value.to_bits())
}

/// The bits of `value`, rounded to `ty`.
pub(super) fn float_bits(ty: Option<ValueType>, value: f64) -> u64 {
    if ty == Some(ValueType::F32) { bits32(value as f32) } else { value.to_bits() }
}

//! Eligible strips: of which types their numbers are, and whether vectors have an instruction for every operation.
//!
//! In: what is known about a strip.   Out: a type for each operation, the widest one, yes or no.
//!
//! A strip of one type may have what [`is_eligible`] says; one of several types, whose numbers are converted in
//! registers, or with cells that do not follow each other, what [`is_eligible_of_mixed`] says. All others are compiled
//! by Cranelift.

use crease_program::{BinaryOp, Element, Op, ValueId};

use super::address::StreamAddress;
use super::conversions::can_convert;
use super::facts::StripFacts;
use super::integers::is_eligible_of_integers;
use super::lookups::{DISTANCE, bounds};
use super::shape::{Number, Shape};
use super::strided::{Apart, Picks};

/// Index steps up to this fit a 32-bit immediate with all lanes and copies of a block.
const LARGEST_STEP: u64 = 1 << 20;

/// The widest type of a strip's numbers, and whether there are several; none if it has no numbers. A strip that
/// computes in one type is not mixed if its cells, too, are of the kinds that such strips may have.
pub(super) fn numbers_of(facts: &StripFacts<'_>) -> Option<(Number, bool)> {
    let (strip, all) = (facts.strip, numbers(facts));
    let has_number = |op: &Op| {
        !matches!(op, Op::Store { .. } | Op::Compare(..) | Op::And(..) | Op::Or(..) | Op::Not(_))
            && !matches!(op, Op::OpaqueSeed(_) | Op::OpaqueMix(..))
    };
    let literals = facts.order.iter().flat_map(|at| strip.ops[*at].operands()).map(ValueId::index);
    let used = literals.chain(facts.order.iter().copied()).filter(|at| has_number(&strip.ops[*at]));
    let used: Vec<Number> = used.map(|at| all[at]).collect();
    let first = *used.first()?;
    let is_eligible = |at: &usize| is_eligible(&strip.ops[*at], facts.addresses, first);
    if used.iter().all(|number| *number == first) && facts.order.iter().all(is_eligible) {
        return Some((first, false));
    }
    let cells = facts.order.iter().filter_map(|at| match strip.ops[*at] {
        Op::Load { stream, .. } | Op::Store { stream, .. } | Op::Lookup { stream, .. } => {
            Some(Number::of_cells(facts.addresses[stream.index()].element))
        }
        _ => None,
    });
    let has_lookups = facts.order.iter().any(|at| matches!(strip.ops[*at], Op::Lookup { .. }));
    let distances = has_lookups.then_some(DISTANCE);
    let widest = used.iter().copied().chain(cells).chain(distances).max_by_key(|number| number.bytes())?;
    Some((widest, true))
}

/// By operation: of which type its result is; of truth values what was compared, the wider one if it was several.
pub(super) fn numbers(facts: &StripFacts<'_>) -> Vec<Number> {
    let mut numbers: Vec<Number> = Vec::with_capacity(facts.strip.ops.len());
    let of = |ty| Number::of(ty).expect("the program has verified: no operation but comparisons gives truth values");
    for op in &facts.strip.ops {
        let number = |id: ValueId| numbers[id.index()];
        numbers.push(match *op {
            Op::F64(_) | Op::OpaqueSeed(_) | Op::OpaqueMix(..) | Op::OpaqueFinish(_) => Number::F64,
            Op::F32(_) => Number::F32,
            Op::Int(ty, _) | Op::Index { ty, .. } | Op::Load { ty, .. } | Op::Lookup { ty, .. } => of(ty),
            Op::Convert(ty, _) => of(ty),
            Op::Scalar(id) => of(facts.scalars[id.index()].value_type()),
            Op::Unary(_, a) | Op::Binary(_, a, _) | Op::Bits(_, a, _) | Op::Shift(_, a, _) | Op::Fma(a, ..) => {
                number(a)
            }
            Op::Compare(_, a, _) | Op::Not(a) | Op::Select(_, a, _) | Op::Store { value: a, .. } => number(a),
            Op::And(a, b) | Op::Or(a, b) => {
                if number(a).bytes() < number(b).bytes() {
                    number(b)
                } else {
                    number(a)
                }
            }
        });
    }
    numbers
}

/// Whether all operations of a strip may be wide.
pub(super) fn are_eligible(facts: &StripFacts<'_>, numbers: &[Number], shape: Shape) -> bool {
    let is_eligible = |at: &usize| {
        let op = &facts.strip.ops[*at];
        if shape.is_mixed {
            is_eligible_of_mixed(facts, op, (numbers, numbers[*at]), shape)
        } else {
            is_eligible(op, facts.addresses, shape.number)
        }
    };
    facts.order.iter().all(is_eligible)
}

/// Whether an operation of a strip of several types may be wide; its own type stands beside those of all operations.
fn is_eligible_of_mixed(facts: &StripFacts<'_>, op: &Op, (numbers, number): (&[Number], Number), shape: Shape) -> bool {
    let picks = Picks::of(shape, facts.picks_bytes);
    let (addresses, can_convert) = (facts.addresses, |from, to| can_convert(from, to, picks.has_masks));
    let is_reached = |place: &StreamAddress| Apart::new(place, shape.lanes(), picks).is_some();
    match *op {
        Op::Load { stream, .. } => {
            let place = &addresses[stream.index()];
            let is_reached = matches!(place.stride, Some(0 | 1)) || is_reached(place);
            is_reached && can_convert(Number::of_cells(place.element), number)
        }
        Op::Store { stream, .. } => {
            let place = &addresses[stream.index()];
            let is_reached = place.stride == Some(1) || is_reached(place);
            is_reached && can_convert(number, Number::of_cells(place.element))
        }
        Op::Lookup { stream, values, .. } => {
            // A corner that moves would lead lanes behind the last iteration out of the buffer, and distances have 32
            // bits.
            let StreamAddress { stride, element, .. } = addresses[stream.index()];
            let mut axes = facts.strip.streams[stream.index()].table.iter().zip(values.into_iter().flatten());
            stride == Some(0)
                && facts.tables[stream.index()].is_some()
                && can_convert(Number::of_cells(element), number)
                && axes.all(|(axis, value)| bounds(axis, numbers[value.index()]).is_some())
        }
        Op::Convert(_, from) => can_convert(numbers[from.index()], number),
        Op::Index { step, .. } => step.unsigned_abs() <= LARGEST_STEP,
        Op::OpaqueSeed(_) | Op::OpaqueMix(..) | Op::OpaqueFinish(_) | Op::Binary(BinaryOp::Rem, ..) => false,
        _ => true,
    }
}

/// Whether an operation of a strip of one type, `number`, may be wide.
fn is_eligible(op: &Op, addresses: &[StreamAddress], number: Number) -> bool {
    if let Number::Integer(ty) = number {
        return is_eligible_of_integers(op, addresses, ty);
    }
    match *op {
        Op::Load { stream, ty } => {
            let StreamAddress { stride, element, .. } = addresses[stream.index()];
            let is_loadable = !element.is_integer() || element == Element::U8;
            matches!(stride, Some(0 | 1)) && Number::of(ty) == Some(number) && is_loadable
        }
        Op::Store { stream, .. } => {
            let StreamAddress { stride, element, .. } = addresses[stream.index()];
            stride == Some(1) && (number.is_in(element) || element == Element::F16)
        }
        Op::Index { step, .. } => step.unsigned_abs() <= LARGEST_STEP,
        Op::Int(..) | Op::Convert(..) | Op::OpaqueSeed(_) | Op::OpaqueMix(..) | Op::OpaqueFinish(_) => false,
        Op::Binary(BinaryOp::Rem, ..) | Op::Lookup { .. } => false,
        _ => true,
    }
}

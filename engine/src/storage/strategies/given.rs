//! Given mappings: storage that the caller writes down, to try a published mapping or to keep a known one.
//!
//! In: rules at the sizes of the plan (`engine/src/kernel/parse/mapping.rs` reads them).   Out: one proposal for all of
//! them, which the checker proves or refuses like any other.
//!
//! Rules that name one buffer share it. A coordinate without `mod` takes as many places as the array's indices need;
//! every rule of a buffer must agree on which coordinates those are.

use std::collections::BTreeMap;

use crease_program::Mapped;

use crate::kernel::MappingRule;
use crate::kernel::graph::ArrayId;
use crate::storage::options::StrategyId;
use crate::storage::problem::{Problem, Span, range};
use crate::storage::{ArrayMapping, Buffer, MappingError, Piece, StorageMapping};

/// The mapping that the rules describe, not yet proved.
///
/// # Errors
/// [`MappingError::RulesDisagree`] if rules of one buffer do not fit together, [`MappingError::UnboundedModulus`] if a
/// coordinate without `mod` depends on an unbounded index, [`MappingError::TooManyCells`].
pub(crate) fn given_proposal(
    problem: &Problem<'_, '_, '_>,
    rules: &[MappingRule],
) -> Result<StorageMapping, MappingError> {
    let mut by_buffer: BTreeMap<&str, Vec<&MappingRule>> = BTreeMap::new();
    for rule in rules {
        by_buffer.entry(&rule.buffer).or_default().push(rule);
    }
    let mut proposal = StorageMapping::default();
    for (name, rules) in by_buffer {
        let (buffer, shifts) = buffer(problem, name, &rules)?;
        for rule in rules {
            let offsets = rule.coordinates.iter().map(|c| c.offset).zip(&shifts);
            let piece = Piece {
                when: rule.when.clone(),
                buffer: proposal.buffers.len(),
                matrix: rule.coordinates.iter().map(|c| c.coefficients.clone()).collect(),
                offset: offsets.map(|(offset, shift)| offset.checked_add(*shift)).collect::<Option<_>>().ok_or_else(
                    || MappingError::TooManyCells { buffer: name.to_owned(), moduli: buffer.moduli.clone() },
                )?,
            };
            push(&mut proposal.arrays, rule.array, piece);
        }
        proposal.buffers.push(buffer);
    }
    Ok(proposal)
}

fn push(arrays: &mut Vec<ArrayMapping>, array: ArrayId, piece: Piece) {
    match arrays.iter_mut().find(|mapping| mapping.array == array) {
        Some(mapping) => mapping.pieces.push(piece),
        None => arrays.push(ArrayMapping { array, pieces: vec![piece] }),
    }
}

/// The buffer of some rules, and what to add to each coordinate so that those without `mod` start at 0.
fn buffer(
    problem: &Problem<'_, '_, '_>,
    name: &str,
    rules: &[&MappingRule],
) -> Result<(Buffer, Vec<i64>), MappingError> {
    let disagree = |what: &'static str, first: String, second: String| MappingError::RulesDisagree {
        buffer: name.to_owned(),
        what,
        first,
        second,
    };
    let first = rules[0];
    let element = problem.model.kernel.array(first.array).element;
    for rule in rules {
        let other = problem.model.kernel.array(rule.array).element;
        if other != element {
            return Err(disagree("element types", element.name().to_owned(), other.name().to_owned()));
        }
        let (n, other) = (first.coordinates.len(), rule.coordinates.len());
        if n != other {
            return Err(disagree("numbers of coordinates", n.to_string(), other.to_string()));
        }
    }
    let (mut moduli, mut shifts) = (Vec::new(), Vec::new());
    for k in 0..first.coordinates.len() {
        let modulus = first.coordinates[k].modulus;
        if let Some(other) = rules.iter().map(|rule| rule.coordinates[k].modulus).find(|other| *other != modulus) {
            let text = |modulus: Option<i64>| modulus.map_or("none".to_owned(), |m| m.to_string());
            return Err(disagree("moduli", text(modulus), text(other)));
        }
        let (modulus, shift) = match modulus {
            Some(modulus) => (modulus, 0),
            None => extent(problem, name, rules, k)?,
        };
        moduli.push(modulus);
        shifts.push(shift);
    }
    let sharing = problem.sharing(first.array);
    Ok((
        Buffer { name: name.to_owned(), element, moduli, sharing, mapped: Mapped::Once, strategy: StrategyId::Given },
        shifts,
    ))
}

/// How many places a coordinate without `mod` takes, and what moves the first one to 0.
fn extent(
    problem: &Problem<'_, '_, '_>,
    buffer: &str,
    rules: &[&MappingRule],
    k: usize,
) -> Result<(i64, i64), MappingError> {
    let (mut low, mut high) = (i128::MAX, i128::MIN);
    for rule in rules {
        let (coordinate, spans) = (&rule.coordinates[k], problem.spans(rule.array)?);
        let bounds = range(&coordinate.coefficients, coordinate.offset, &spans);
        let (least, most) = bounds.ok_or_else(|| {
            let is_unbounded = |(c, span): (&i64, &Span)| *c != 0 && !span.is_bounded();
            let dim = coordinate.coefficients.iter().zip(&spans).position(is_unbounded).unwrap_or(0);
            let body = problem.model.kernel.array(rule.array);
            MappingError::UnboundedModulus { array: body.name.clone(), dim, index: body.index[dim].clone() }
        })?;
        (low, high) = (low.min(least), high.max(most));
    }
    let places = i64::try_from(high - low + 1).ok().zip(i64::try_from(-low).ok());
    places.ok_or_else(|| MappingError::TooManyCells { buffer: buffer.to_owned(), moduli: vec![i64::MAX] })
}

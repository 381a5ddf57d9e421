//! The checker: proves that a mapping never keeps two live values in one cell.
//!
//! In: a proposal and the conflict sets.   Out: nothing, or two conflicting cells that collide.
//!
//! It shares no code with the strategies and knows no more of a mapping than its formulas: for every pair of pieces of
//! one buffer, the conflicting pairs of cells that both formulas send to the same coordinates must be an empty set, and
//! the pieces of an array must hold every cell that ever has a value, each exactly once. Both are decided exactly by
//! the integer set library, for all steps.
//!
//! What every step replaces is mostly proved by comparing bounds (`check/turnover`), and by the library where that
//! leaves a doubt.
//!
//! A private buffer may only hold private arrays, and a shared one only shared arrays: the conflicts of a private array
//! leave out pairs of different tasks, which only a copy per worker keeps apart.

mod turnover;

use crease_isl::{Map, Tuple};

use crate::analysis::model::OWN;
use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::formula::Formula;
use crate::kernel::graph::ArrayId;
use crate::mapping::{Buffer, MappingError, Piece, Problem, Proposal, Span};

/// Multiples of a modulus that are spelled out one by one.
const MOST_MULTIPLES: i128 = 2;

/// Arrays up to which debug builds prove by integer sets what comparing bounds has proved.
const MOST_COMPARED: usize = 9;

/// Proves a proposal, or names two cells that it would keep in one place.
pub(crate) fn verify_mapping(problem: &Problem<'_, '_, '_>, proposal: &Proposal) -> Result<(), MappingError> {
    for mapping in &proposal.arrays {
        for piece in &mapping.pieces {
            verify_sharing(problem, mapping.array, &proposal.buffers[piece.buffer])?;
        }
    }
    if turnover::turnover_proves(problem, proposal) {
        debug_assert!(
            proposal.arrays.len() > MOST_COMPARED
                || !matches!(verify_by_sets(problem, proposal), Err(MappingError::Unproved { .. })),
            "a mapping that comparing bounds has proved is unsafe"
        );
        return Ok(());
    }
    verify_by_sets(problem, proposal)
}

fn verify_by_sets(problem: &Problem<'_, '_, '_>, proposal: &Proposal) -> Result<(), MappingError> {
    let mut residents: Vec<Vec<(ArrayId, &Piece)>> = vec![Vec::new(); proposal.buffers.len()];
    for mapping in &proposal.arrays {
        verify_partition(problem, mapping.array, &mapping.pieces, proposal)?;
        mapping.pieces.iter().for_each(|piece| residents[piece.buffer].push((mapping.array, piece)));
    }
    for (buffer, residents) in proposal.buffers.iter().zip(&residents) {
        for (position, &(a, first)) in residents.iter().enumerate() {
            for &(b, second) in &residents[position..] {
                verify_pair(problem, buffer, (a, first), (b, second))?;
            }
        }
    }
    Ok(())
}

/// An array is kept in a buffer of its kind.
fn verify_sharing(problem: &Problem<'_, '_, '_>, array: ArrayId, buffer: &Buffer) -> Result<(), MappingError> {
    let (name, kind) = (&problem.model.kernel.array(array).name, problem.sharing(array));
    if kind == buffer.sharing {
        return Ok(());
    }
    let collision =
        format!("`{name}` is {} and its buffer `{}` is {}", kind.name(), buffer.name, buffer.sharing.name());
    Err(MappingError::Unproved { strategy: buffer.strategy, collision })
}

/// Each cell that ever holds a value belongs to exactly one piece.
fn verify_partition(
    problem: &Problem<'_, '_, '_>,
    array: ArrayId,
    pieces: &[Piece],
    proposal: &Proposal,
) -> Result<(), MappingError> {
    let unproved = |collision: String| {
        let strategy = proposal.buffers.first().map_or("none", |b| b.strategy);
        Err(MappingError::Unproved { strategy, collision })
    };
    let name = &problem.model.kernel.array(array).name;
    let mut rest = problem.conflicts.cells(array)?;
    let covered = pieces.iter().map(|p| problem.model.cells(array, &p.when)).collect::<Result<Vec<_>, _>>()?;
    for (position, piece) in covered.iter().enumerate() {
        for other in &covered[..position] {
            if !piece.is_disjoint(other)? {
                return unproved(format!("two pieces of `{name}` overlap"));
            }
        }
        rest = rest.subtract(piece)?;
    }
    if rest.is_empty()? { Ok(()) } else { unproved(format!("no piece of `{name}` holds {rest}")) }
}

fn verify_pair(
    problem: &Problem<'_, '_, '_>,
    buffer: &Buffer,
    (a, first): (ArrayId, &Piece),
    (b, second): (ArrayId, &Piece),
) -> Result<(), MappingError> {
    let model = problem.model;
    let names = |array: ArrayId, letter: &str| -> Vec<String> {
        (0..model.kernel.array(array).index.len()).map(|k| format!("{OWN}{letter}{k}")).collect()
    };
    let (x, y) = (names(a, "x"), names(b, "y"));
    let (nx, ny) = (x.len(), y.len());
    let of_second: Vec<Affine> = (nx..nx + ny).map(Affine::iter).collect();
    let mut same = vec![first.when.clone(), second.when.map(&|e| e.substitute_iters(&of_second))?];
    let (spans_a, spans_b) = (problem.spans(a)?, problem.spans(b)?);
    for (k, &modulus) in buffer.moduli.iter().enumerate() {
        let left = linear(&first.matrix[k], 0, first.offset[k])?;
        let apart = left.sub(&linear(&second.matrix[k], nx, second.offset[k])?)?;
        let ranges = range(&first.matrix[k], first.offset[k], &spans_a).zip(range(
            &second.matrix[k],
            second.offset[k],
            &spans_b,
        ));
        // Where the difference only reaches few multiples of the modulus, name them: no existential is needed.
        let multiples = ranges.map(|(l, r)| {
            let modulus = i128::from(modulus);
            (-(r.1 - l.0).div_euclid(modulus), (l.1 - r.0).div_euclid(modulus))
        });
        same.push(match multiples {
            Some((low, high)) if high < low => Formula::nothing(),
            Some((low, high)) if high - low < MOST_MULTIPLES => {
                let case = |k: i128| {
                    let wraps = i64::try_from(k * i128::from(modulus)).map_err(|_| AffineOverflow)?;
                    apart.sub(&Affine::constant(wraps)).map(Formula::Zero)
                };
                Formula::Or((low..=high).map(case).collect::<Result<_, AffineOverflow>>()?)
            }
            _ => Formula::Zero(apart.modulo(modulus)?),
        });
    }
    let (left, right) = (&model.kernel.array(a).name, &model.kernel.array(b).name);
    let (from, to) = (Tuple { name: Some(left), dims: &x }, Tuple { name: Some(right), dims: &y });
    let same_cell = model.pairs(from, to, &Formula::And(same))?;
    // Conflicts are symmetric: within one piece every pair needs a look from one side only.
    let distinct = match (a == b, std::ptr::eq(first, second)) {
        (false, _) => same_cell,
        (true, true) => same_cell.intersect(&Map::lex_lt(&same_cell.domain()?)?)?,
        (true, false) => same_cell.subtract(&same_cell.domain()?.identity()?)?,
    };
    if distinct.is_empty()? {
        return Ok(());
    }
    let collisions = problem.conflicts.among(a, b, &distinct)?;
    if collisions.is_empty()? {
        return Ok(());
    }
    let point = collisions.wrap()?.sample()?.unwrap_or_default();
    let (from, to) = point.split_at(model.kernel.array(a).index.len().min(point.len()));
    let collision = format!("{left}{from:?} and {right}{to:?} are alive at one moment and would share a cell");
    Err(MappingError::Unproved { strategy: buffer.strategy, collision })
}

/// Bounds of `coefficients . index + offset` over the spans of the indices; none if unbounded.
fn range(coefficients: &[i64], offset: i64, spans: &[Span]) -> Option<(i128, i128)> {
    let mut bounds = (i128::from(offset), i128::from(offset));
    for (&c, span) in coefficients.iter().zip(spans).filter(|(c, _)| **c != 0) {
        let ends = [span.min?, span.max?].map(|end| i128::from(end) * i128::from(c));
        bounds.0 += ends[0].min(ends[1]);
        bounds.1 += ends[0].max(ends[1]);
    }
    Some(bounds)
}

/// `coefficients . index + offset` over iterators that begin at `first`.
fn linear(coefficients: &[i64], first: usize, offset: i64) -> Result<Affine, AffineOverflow> {
    let mut sum = Affine::constant(offset);
    for (k, &c) in coefficients.iter().enumerate() {
        sum = sum.add(&Affine::iter(first + k).scale(c)?)?;
    }
    Ok(sum)
}

//! Interval propagation: a box around the points of a formula.
//!
//! Each constraint bounds each of its iterators by what the others may be; conjunctions repeat that until nothing
//! changes, disjunctions take the hull of their parts. The box may be too large, never too small. Where propagation
//! leaves an iterator unbounded (a diamond has bounds on `t + i` and `t - i` only), [`projected`] adds the bounds that
//! elimination finds (`engine/polyhedra/src/elimination.rs`).

use crease_polyhedra::elimination::{Row, Rows, TooHard};
use crease_program::Interval;

use crate::kernel::bound::{BoundAffine, BoundFormula};

/// Rounds of a conjunction: more would only tighten bounds that shrink by a constant each time.
const MAX_ROUNDS: usize = 16;

/// Constraints that elimination may hold at a time; past that it gives up and finds no further bounds.
const MAX_CONSTRAINTS: usize = 2000;

/// Shrinks the box to what the formula allows; false if that is nothing.
pub(super) fn narrow(formula: &BoundFormula, ranges: &mut [Interval]) -> bool {
    narrow_formula(formula, true, ranges)
}

/// The formula with bounds on single iterators added that follow from its linear constraints.
pub(super) fn projected(formula: &BoundFormula, n_iters: usize) -> BoundFormula {
    if let BoundFormula::Or(parts) = formula {
        return BoundFormula::Or(parts.iter().map(|p| projected(p, n_iters)).collect());
    }
    let mut rows = Vec::new();
    linear_rows(formula, n_iters, &mut rows);
    let nothing = BoundFormula::Or(Vec::new());
    let Some(rows) = Rows::new(rows) else { return nothing };
    let mut parts = vec![formula.clone()];
    for iter in 0..n_iters {
        match only(&rows, iter, n_iters) {
            Ok(Some(left)) => parts.extend(left.iter().filter_map(|row| bound_on(row, iter))),
            Ok(None) => return nothing,
            // Nothing more is known of this iterator.
            Err(TooHard) => {}
        }
    }
    BoundFormula::And(parts)
}

/// What the rows say of one iterator; nothing if they have no point.
fn only(rows: &Rows, iter: usize, n_iters: usize) -> Result<Option<Rows>, TooHard> {
    let mut left = rows.clone();
    for other in (0..n_iters).filter(|&other| other != iter) {
        match left.without(other, MAX_CONSTRAINTS)? {
            None => return Ok(None),
            Some(rest) => left = rest,
        }
    }
    Ok(Some(left))
}

fn narrow_formula(formula: &BoundFormula, holds: bool, ranges: &mut [Interval]) -> bool {
    match formula {
        BoundFormula::NonNegative(e) if holds => narrow_affine(e, Interval::between(0, None), ranges),
        BoundFormula::NonNegative(e) => narrow_affine(e, Interval::between(None, -1), ranges),
        BoundFormula::Zero(e) if holds => narrow_affine(e, Interval::point(0), ranges),
        BoundFormula::Zero(e) => value_range(e, ranges) != Interval::point(0),
        BoundFormula::And(parts) | BoundFormula::Or(parts) => {
            let all = matches!(formula, BoundFormula::And(_)) == holds;
            if all { narrow_all(parts, holds, ranges) } else { narrow_any(parts, holds, ranges) }
        }
        BoundFormula::Not(part) => narrow_formula(part, !holds, ranges),
    }
}

fn narrow_all(parts: &[BoundFormula], holds: bool, ranges: &mut [Interval]) -> bool {
    for _ in 0..MAX_ROUNDS {
        let before = ranges.to_vec();
        if !parts.iter().all(|part| narrow_formula(part, holds, ranges)) {
            return false;
        }
        if before == ranges {
            break;
        }
    }
    true
}

fn narrow_any(parts: &[BoundFormula], holds: bool, ranges: &mut [Interval]) -> bool {
    let mut hull: Option<Vec<Interval>> = None;
    for part in parts {
        let mut own = ranges.to_vec();
        if narrow_formula(part, holds, &mut own) {
            hull = Some(match hull {
                None => own,
                Some(hull) => hull.iter().zip(own).map(|(a, b)| a.hull(b)).collect(),
            });
        }
    }
    match hull {
        Some(hull) => ranges.copy_from_slice(&hull),
        None => return false,
    }
    true
}

/// Shrinks the box to where the value of `e` is in `allowed`.
fn narrow_affine(e: &BoundAffine, allowed: Interval, ranges: &mut [Interval]) -> bool {
    let constant = Interval::point(e.constant);
    for (position, &(i, c)) in e.terms.iter().enumerate() {
        let rest = sum_without(e, ranges, Some(position), None) + constant;
        ranges[i] = ranges[i].intersect((allowed - rest).divided(c));
        if ranges[i].is_empty() {
            return false;
        }
    }
    for (position, floor) in e.floors.iter().enumerate() {
        let rest = sum_without(e, ranges, None, Some(position)) + constant;
        let value = (allowed - rest).divided(floor.coefficient);
        let inner = value.scaled(floor.divisor) + Interval::between(0, floor.divisor - 1);
        if value.is_empty() || !narrow_affine(&floor.inner, inner, ranges) {
            return false;
        }
    }
    !value_range(e, ranges).intersect(allowed).is_empty()
}

fn value_range(e: &BoundAffine, ranges: &[Interval]) -> Interval {
    sum_without(e, ranges, None, None) + Interval::point(e.constant)
}

/// The range of the sum of all terms and floors but those left out.
fn sum_without(e: &BoundAffine, ranges: &[Interval], term: Option<usize>, floor: Option<usize>) -> Interval {
    let mut sum = Interval::point(0);
    for (position, &(i, c)) in e.terms.iter().enumerate() {
        if Some(position) != term {
            sum = sum + ranges[i].scaled(c);
        }
    }
    for (position, own) in e.floors.iter().enumerate() {
        if Some(position) != floor {
            sum = sum + value_range(&own.inner, ranges).floor_div(own.divisor).scaled(own.coefficient);
        }
    }
    sum
}

fn linear_rows(formula: &BoundFormula, n_iters: usize, rows: &mut Vec<Row>) {
    let mut add = |e: &BoundAffine, is_equality: bool| {
        let mut coefficients = vec![0; n_iters];
        for &(i, c) in &e.terms {
            coefficients[i] = i128::from(c);
        }
        rows.push(Row { is_equality, coefficients, constant: i128::from(e.constant) });
    };
    match formula {
        BoundFormula::NonNegative(e) if e.floors.is_empty() => add(e, false),
        BoundFormula::Zero(e) if e.floors.is_empty() => add(e, true),
        BoundFormula::And(parts) => parts.iter().for_each(|p| linear_rows(p, n_iters, rows)),
        _ => {}
    }
}

/// A row with one iterator as a formula; none if it does not fit.
fn bound_on(row: &Row, iter: usize) -> Option<BoundFormula> {
    let c = i64::try_from(row.coefficients[iter]).ok()?;
    let constant = i64::try_from(row.constant).ok()?;
    let bound = BoundAffine { constant, terms: vec![(iter, c)], floors: Vec::new() };
    Some(if row.is_equality { BoundFormula::Zero(bound) } else { BoundFormula::NonNegative(bound) })
}

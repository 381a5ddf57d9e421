//! Interval propagation: a box around the points of a formula.
//!
//! Each constraint bounds each of its iterators by what the others may be; conjunctions repeat that until nothing
//! changes, disjunctions take the hull of their parts. The box may be too large, never too small. Where propagation
//! leaves an iterator unbounded (a diamond has bounds on `t + i` and `t - i` only), [`projected`] adds the bounds that
//! Fourier-Motzkin elimination finds.

use crate::kernel::bound::{BoundAffine, BoundFloor, BoundFormula};
use num_integer::gcd;

/// Bounds beyond this are no bounds; sums of a few of them stay inside `i128`.
const INFINITE: i128 = 1 << 100;

/// Rounds of a conjunction: more would only tighten bounds that shrink by a constant each time.
const MAX_ROUNDS: usize = 16;

/// Constraints that elimination may hold at a time; past that it gives up and finds no further bounds.
const MAX_CONSTRAINTS: usize = 2000;

/// Smallest and largest value, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) lo: i128,
    pub(super) hi: i128,
}

impl Interval {
    pub(super) const ALL: Interval = Interval { lo: -INFINITE, hi: INFINITE };

    pub(super) fn point(value: i64) -> Interval {
        Interval { lo: value.into(), hi: value.into() }
    }

    /// Both ends, if they are bounds that fit 64 bits.
    pub(super) fn finite(self) -> Option<(i64, i64)> {
        Some((i64::try_from(self.lo).ok()?, i64::try_from(self.hi).ok()?))
    }

    fn clamped(lo: i128, hi: i128) -> Interval {
        Interval { lo: lo.clamp(-INFINITE, INFINITE), hi: hi.clamp(-INFINITE, INFINITE) }
    }

    fn plus(self, other: Interval) -> Interval {
        let lo = if self.lo == -INFINITE || other.lo == -INFINITE { -INFINITE } else { self.lo + other.lo };
        let hi = if self.hi == INFINITE || other.hi == INFINITE { INFINITE } else { self.hi + other.hi };
        Interval::clamped(lo, hi)
    }

    fn minus(self, other: Interval) -> Interval {
        self.plus(Interval { lo: -other.hi, hi: -other.lo })
    }

    fn times(self, c: i64) -> Interval {
        let (a, b) = (self.lo.saturating_mul(c.into()), self.hi.saturating_mul(c.into()));
        Interval::clamped(a.min(b), a.max(b))
    }

    /// The `x` with `c * x` in this interval.
    fn divided(self, c: i64) -> Interval {
        let c = i128::from(c);
        let (lo, hi) = if c > 0 { (self.lo, self.hi) } else { (-self.hi, -self.lo) };
        let c = c.abs();
        let lo = if lo == -INFINITE { lo } else { -((-lo).div_euclid(c)) };
        let hi = if hi == INFINITE { hi } else { hi.div_euclid(c) };
        Interval { lo, hi }
    }

    fn intersect(self, other: Interval) -> Interval {
        Interval { lo: self.lo.max(other.lo), hi: self.hi.min(other.hi) }
    }

    fn hull(self, other: Interval) -> Interval {
        Interval { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    fn is_empty(self) -> bool {
        self.lo > self.hi
    }
}

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
    let mut parts = vec![formula.clone()];
    for iter in 0..n_iters {
        let mut left = rows.clone();
        for other in (0..n_iters).filter(|&o| o != iter) {
            left = eliminate(&left, other);
        }
        parts.extend(left.into_iter().filter_map(|row| bound_on(&row, iter)));
    }
    BoundFormula::And(parts)
}

fn narrow_formula(formula: &BoundFormula, holds: bool, ranges: &mut [Interval]) -> bool {
    match formula {
        BoundFormula::NonNegative(e) if holds => narrow_affine(e, Interval { lo: 0, hi: INFINITE }, ranges),
        BoundFormula::NonNegative(e) => narrow_affine(e, Interval { lo: -INFINITE, hi: -1 }, ranges),
        BoundFormula::Zero(e) if holds => narrow_affine(e, Interval { lo: 0, hi: 0 }, ranges),
        BoundFormula::Zero(e) => value_range(e, ranges) != Interval { lo: 0, hi: 0 },
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
        let rest = sum_without(e, ranges, Some(position), None).plus(constant);
        ranges[i] = ranges[i].intersect(allowed.minus(rest).divided(c));
        if ranges[i].is_empty() {
            return false;
        }
    }
    for (position, floor) in e.floors.iter().enumerate() {
        let rest = sum_without(e, ranges, None, Some(position)).plus(constant);
        let value = allowed.minus(rest).divided(floor.coefficient);
        let d = i128::from(floor.divisor);
        let lo = if value.lo == -INFINITE { value.lo } else { value.lo.saturating_mul(d) };
        let hi = if value.hi == INFINITE { value.hi } else { value.hi.saturating_mul(d).saturating_add(d - 1) };
        if value.is_empty() || !narrow_affine(&floor.inner, Interval::clamped(lo, hi), ranges) {
            return false;
        }
    }
    !value_range(e, ranges).intersect(allowed).is_empty()
}

fn value_range(e: &BoundAffine, ranges: &[Interval]) -> Interval {
    sum_without(e, ranges, None, None).plus(Interval::point(e.constant))
}

/// The range of the sum of all terms and floors but those left out.
fn sum_without(e: &BoundAffine, ranges: &[Interval], term: Option<usize>, floor: Option<usize>) -> Interval {
    let mut sum = Interval::point(0);
    for (position, &(i, c)) in e.terms.iter().enumerate() {
        if Some(position) != term {
            sum = sum.plus(ranges[i].times(c));
        }
    }
    for (position, own) in e.floors.iter().enumerate() {
        if Some(position) != floor {
            sum = sum.plus(floor_range(own, ranges).times(own.coefficient));
        }
    }
    sum
}

fn floor_range(floor: &BoundFloor, ranges: &[Interval]) -> Interval {
    let inner = value_range(&floor.inner, ranges);
    let divide = |x: i128| if x.abs() == INFINITE { x } else { x.div_euclid(floor.divisor.into()) };
    Interval { lo: divide(inner.lo), hi: divide(inner.hi) }
}

/// A constraint `sum of coefficients * iterators + constant >= 0`; the constant comes last.
type Row = Vec<i128>;

fn linear_rows(formula: &BoundFormula, n_iters: usize, rows: &mut Vec<Row>) {
    let mut add = |e: &BoundAffine, sign: i128| {
        let mut row = vec![0; n_iters + 1];
        for &(i, c) in &e.terms {
            row[i] = sign * i128::from(c);
        }
        row[n_iters] = sign * i128::from(e.constant);
        rows.push(row);
    };
    match formula {
        BoundFormula::NonNegative(e) if e.floors.is_empty() => add(e, 1),
        BoundFormula::Zero(e) if e.floors.is_empty() => {
            add(e, 1);
            add(e, -1);
        }
        BoundFormula::And(parts) => parts.iter().for_each(|p| linear_rows(p, n_iters, rows)),
        _ => {}
    }
}

/// Combines each lower bound of the iterator with each upper bound. Rows that overflow are left out: less is known
/// then.
fn eliminate(rows: &[Row], iter: usize) -> Vec<Row> {
    let mut left: Vec<Row> = rows.iter().filter(|r| r[iter] == 0).cloned().collect();
    let lower: Vec<&Row> = rows.iter().filter(|r| r[iter] > 0).collect();
    let upper: Vec<&Row> = rows.iter().filter(|r| r[iter] < 0).collect();
    if left.len() + lower.len() * upper.len() > MAX_CONSTRAINTS {
        return left;
    }
    for a in &lower {
        for b in &upper {
            let combined = a.iter().zip(b.iter()).map(|(x, y)| {
                let (x, y) = (x.checked_mul(-b[iter])?, y.checked_mul(a[iter])?);
                x.checked_add(y)
            });
            if let Some(row) = combined.collect::<Option<Row>>() {
                left.push(reduced(row));
            }
        }
    }
    left.sort();
    left.dedup();
    left
}

/// Divides by the common divisor of the coefficients; the constant is rounded down, which keeps every integer point.
fn reduced(mut row: Row) -> Row {
    let Some((constant, coefficients)) = row.split_last_mut() else { return row };
    let divisor = coefficients.iter().fold(0, |a: i128, &b| gcd(a, b.abs()));
    if divisor > 1 {
        coefficients.iter_mut().for_each(|c| *c /= divisor);
        *constant = constant.div_euclid(divisor);
    }
    row
}

/// A row with one iterator as a formula; none if it is trivial or does not fit.
fn bound_on(row: &Row, iter: usize) -> Option<BoundFormula> {
    let c = i64::try_from(row[iter]).ok().filter(|&c| c != 0)?;
    let constant = i64::try_from(*row.last()?).ok()?;
    Some(BoundFormula::NonNegative(BoundAffine { constant, terms: vec![(iter, c)], floors: Vec::new() }))
}

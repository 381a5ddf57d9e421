//! The points of a formula at concrete parameters, by recursion over the iterators.
//!
//! Interval arithmetic bounds the next iterator, given the ones fixed so far; every point found is then tested. It is
//! written for the oracle alone, so that an error in the enumeration used elsewhere shows.

use crease::kernel::affine::{Affine, Term};
use crease::kernel::formula::Formula;

use crate::error::TraceError;

/// Candidates tried for each point allowed, before an enumeration is given up.
const CANDIDATES_PER_POINT: usize = 64;

/// A range of integers, unbounded where `None` or beyond 128 bits.
type Interval = (Option<i128>, Option<i128>);

/// The points of `formula` over `n_iters` iterators, in ascending order, at most `limit`.
pub(super) fn points(
    formula: &Formula,
    n_iters: usize,
    params: &[i64],
    limit: usize,
) -> Result<Vec<Vec<i64>>, TraceError> {
    let budget = limit.saturating_mul(CANDIDATES_PER_POINT);
    let mut search = Search { formula, params, limit, budget, found: Vec::new() };
    search.extend(&mut Vec::new(), &vec![(None, None); n_iters])?;
    Ok(search.found)
}

struct Search<'a> {
    formula: &'a Formula,
    params: &'a [i64],
    limit: usize,
    /// Candidates that may still be tried.
    budget: usize,
    found: Vec<Vec<i64>>,
}

impl Search<'_> {
    fn extend(&mut self, fixed: &mut Vec<i64>, known: &[Interval]) -> Result<(), TraceError> {
        let limit = self.limit;
        self.budget = self.budget.checked_sub(1).ok_or(TraceError::TooMany { limit })?;
        if fixed.len() == known.len() {
            if self.formula.holds(fixed, self.params)? {
                self.found.push(fixed.clone());
            }
            return if self.found.len() > limit { Err(TraceError::TooMany { limit }) } else { Ok(()) };
        }
        let Some(mut bounds) = tighten(self.formula, false, known.to_vec(), self.params) else { return Ok(()) };
        let iter = fixed.len();
        let (Some(low), Some(high)) = bounds[iter] else { return Err(TraceError::Unbounded { iter }) };
        for value in low..=high {
            bounds[iter] = (Some(value), Some(value));
            fixed.push(i64::try_from(value).map_err(|_| TraceError::Unbounded { iter })?);
            self.extend(fixed, &bounds)?;
            fixed.pop();
        }
        Ok(())
    }
}

/// Smaller intervals that hold the same points of the formula, or of its complement; `None` if there is no point.
fn tighten(formula: &Formula, negated: bool, known: Vec<Interval>, params: &[i64]) -> Option<Vec<Interval>> {
    match (formula, negated) {
        (Formula::NonNegative(e), false) => tighten_by(e, 1, 0, known, params),
        (Formula::NonNegative(e), true) => tighten_by(e, -1, -1, known, params),
        (Formula::Zero(e), false) => tighten_by(e, -1, 0, tighten_by(e, 1, 0, known, params)?, params),
        (Formula::Zero(_), true) => Some(known),
        (Formula::Not { 0: part, .. }, _) => tighten(part, !negated, known, params),
        (Formula::And { 0: parts, .. }, false) | (Formula::Or { 0: parts, .. }, true) => {
            tighten_by_all(parts, negated, known, params)
        }
        (Formula::Or { 0: parts, .. }, false) | (Formula::And { 0: parts, .. }, true) => {
            parts.iter().filter_map(|part| tighten(part, negated, known.clone(), params)).reduce(hull)
        }
    }
}

/// Applies every part again for each iterator, since a bound of one may give a bound of the next.
fn tighten_by_all(parts: &[Formula], negated: bool, mut known: Vec<Interval>, params: &[i64]) -> Option<Vec<Interval>> {
    for _ in 0..=known.len() {
        for part in parts {
            known = tighten(part, negated, known, params)?;
        }
    }
    Some(known)
}

/// Uses `sign * e + offset >= 0`.
fn tighten_by(e: &Affine, sign: i128, offset: i128, mut known: Vec<Interval>, params: &[i64]) -> Option<Vec<Interval>> {
    for iter in 0..known.len() {
        let coefficient = sign * i128::from(e.iter_coefficient(iter));
        let Some(rest) = largest(e, sign, Some(iter), &known, params) else { continue };
        let rest = rest + offset;
        let (low, high) = &mut known[iter];
        match coefficient {
            0 if rest < 0 => return None,
            0 => {}
            c if c > 0 => *low = (*low).max(Some(-rest.div_euclid(c))),
            c => *high = Some(high.map_or(rest.div_euclid(-c), |h| h.min(rest.div_euclid(-c)))),
        }
        if let (Some(low), Some(high)) = (*low, *high)
            && low > high
        {
            return None;
        }
    }
    let empty = largest(e, sign, None, &known, params).is_some_and(|most| most + offset < 0);
    if empty { None } else { Some(known) }
}

/// The largest value of `sign * e` without the term of iterator `but`; `None` if it is not bounded.
fn largest(e: &Affine, sign: i128, but: Option<usize>, known: &[Interval], params: &[i64]) -> Option<i128> {
    let mut sum = sign * i128::from(e.constant_part());
    for (term, c) in e.terms() {
        let coefficient = sign * i128::from(c);
        let (low, high) = match term {
            Term::Iter(i) if Some(*i as usize) == but => continue,
            Term::Iter(i) => known[*i as usize],
            Term::Param(p) => (Some(i128::from(params[p.index()])), Some(i128::from(params[p.index()]))),
            Term::Floor { 0: inner, 1: divisor, .. } => {
                let end = |sign| {
                    largest(inner, sign, None, known, params).map(|m| (sign * m).div_euclid(i128::from(*divisor)))
                };
                (end(-1), end(1))
            }
        };
        let extreme = if coefficient > 0 { high? } else { low? };
        sum = sum.checked_add(coefficient.checked_mul(extreme)?)?;
    }
    Some(sum)
}

/// Intervals that hold both.
fn hull(a: Vec<Interval>, b: Vec<Interval>) -> Vec<Interval> {
    let both = |x: Option<i128>, y: Option<i128>, pick: fn(i128, i128) -> i128| Some(pick(x?, y?));
    a.into_iter().zip(b).map(|(a, b)| (both(a.0, b.0, i128::min), both(a.1, b.1, i128::max))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crease::Kernel;

    fn line(coefficients: &[i64], constant: i64) -> Affine {
        let term = |(i, &c): (usize, &i64)| Affine::iter(i).scale(c).unwrap();
        coefficients.iter().enumerate().map(term).fold(Affine::constant(constant), |sum, e| sum.add(&e).unwrap())
    }

    fn at_least_zero(coefficients: &[i64], constant: i64) -> Formula {
        Formula::NonNegative(line(coefficients, constant))
    }

    #[test]
    fn a_triangle_bounded_by_later_iterators_is_found() {
        let [first, second] = [at_least_zero(&[1, 0], 0), at_least_zero(&[-1, 1], 0)];
        let triangle = first.and(second).and(at_least_zero(&[0, -1], 2));
        let expected = [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]];
        assert_eq!(points(&triangle, 2, &[], 100).unwrap(), expected.map(Vec::from));
        assert_eq!(points(&triangle, 2, &[], 5), Err(TraceError::TooMany { limit: 5 }));
    }

    #[test]
    fn unions_complements_and_strides_are_found() {
        let text = "kernel even(size N) {
          output o[x]: f64 for 0 <= x < N
          S[x] for 0 <= x <= 6 and x mod 2 = 0 and not (x >= 2 and x <= 3) { o[x] = 1.0 }
        }";
        let kernel = Kernel::parse(text).unwrap();
        let all = &kernel.stmts()[0].domain;
        assert_eq!(points(all, 1, &[7], 100).unwrap(), [[0], [4], [6]].map(Vec::from));
    }

    #[test]
    fn a_half_line_is_refused() {
        assert_eq!(points(&at_least_zero(&[1], 0), 1, &[], 100), Err(TraceError::Unbounded { iter: 0 }));
    }

    #[test]
    fn a_formula_without_iterators_has_one_point_or_none() {
        assert_eq!(points(&Formula::everything(), 0, &[], 1).unwrap(), [Vec::<i64>::new()]);
        assert!(points(&Formula::nothing(), 0, &[], 1).unwrap().is_empty());
    }
}

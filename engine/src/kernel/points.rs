//! The integer points of a formula at given parameters, in lexicographic order; without any set library.
//!
//! Iterators are fixed from the outermost inwards; after each, interval propagation narrows the ones inside, so that
//! triangles, borders and skewed tiles cost little more than their own points.

use crease_program::Interval;

use crate::kernel::affine::{Affine, AffineOverflow, Term};
use crate::kernel::bound::BoundFormula;
use crate::kernel::formula::Formula;
use crate::kernel::intervals::{narrow, projected};

/// Points of a formula, in lexicographic order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Points {
    n_iters: usize,
    len: usize,
    coordinates: Vec<i64>,
}

/// Why points cannot be listed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PointsError {
    /// An iterator has no bound that interval propagation or elimination finds.
    #[error("iterator {iter} is unbounded")]
    Unbounded {
        /// Its position.
        iter: usize,
    },
    /// More candidates than the caller allows.
    #[error("more than {limit} points")]
    TooMany {
        /// The limit.
        limit: u64,
    },
    /// The formula names an iterator or a parameter that has no value.
    #[error("the formula uses {what} {index}, but there are {len}")]
    OutOfRange {
        /// `iterator` or `parameter`.
        what: &'static str,
        /// Its position.
        index: usize,
        /// How many there are.
        len: usize,
    },
    /// A value left 64 bits.
    #[error(transparent)]
    Overflow(#[from] AffineOverflow),
}

/// Lists the points of `formula` over `n_iters` iterators at `params`, testing at most `limit` candidates.
///
/// # Errors
/// [`PointsError`] if the set is unbounded, too large, or uses what is not there.
pub fn points(formula: &Formula, n_iters: usize, params: &[i64], limit: u64) -> Result<Points, PointsError> {
    let mut found = Points { n_iters, len: 0, coordinates: Vec::new() };
    for_each_point(formula, n_iters, params, limit, &mut |point| {
        found.len += 1;
        found.coordinates.extend_from_slice(point);
    })?;
    Ok(found)
}

/// Smallest and largest value of each iterator over a box that holds all points; `None` if there are none. The box may
/// be larger than necessary.
///
/// # Errors
/// [`PointsError`] if the set is unbounded or uses what is not there.
pub fn bounding_box(formula: &Formula, n_iters: usize, params: &[i64]) -> Result<Option<Vec<(i64, i64)>>, PointsError> {
    let Some((_, ranges)) = bound_ranges(formula, n_iters, params)? else { return Ok(None) };
    ranges
        .iter()
        .enumerate()
        .map(|(iter, r)| r.ends().ok_or(PointsError::Unbounded { iter }))
        .collect::<Result<_, _>>()
        .map(Some)
}

/// Calls `visit` with each point that [`points`] lists.
///
/// # Errors
/// As [`points`]; `visit` may have seen some points by then.
pub fn for_each_point(
    formula: &Formula,
    n_iters: usize,
    params: &[i64],
    limit: u64,
    visit: &mut dyn FnMut(&[i64]),
) -> Result<(), PointsError> {
    let Some((formula, ranges)) = bound_ranges(formula, n_iters, params)? else { return Ok(()) };
    if let Some(iter) = ranges.iter().position(|r| r.ends().is_none()) {
        return Err(PointsError::Unbounded { iter });
    }
    let exact = formula.is_linear_conjunction();
    let mut scan = Scan { formula: &formula, exact, limit, left: limit, point: vec![0; n_iters], visit };
    scan.level(0, &ranges)
}

impl Points {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The coordinates of all points, one point after the other.
    pub(super) fn into_coordinates(self) -> Vec<i64> {
        self.coordinates
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = &[i64]> {
        (0..self.len).map(|i| &self.coordinates[i * self.n_iters..][..self.n_iters])
    }
}

/// The bound formula and a box around it; `None` if it is empty.
fn bound_ranges(
    formula: &Formula,
    n_iters: usize,
    params: &[i64],
) -> Result<Option<(BoundFormula, Vec<Interval>)>, PointsError> {
    check_range(formula, n_iters, params.len())?;
    let mut formula = BoundFormula::new(formula, params)?;
    let mut ranges = vec![Interval::UNBOUNDED; n_iters];
    if !narrow(&formula, &mut ranges) {
        return Ok(None);
    }
    if ranges.iter().any(|r| r.ends().is_none()) {
        formula = projected(&formula, n_iters);
        if !narrow(&formula, &mut ranges) {
            return Ok(None);
        }
    }
    Ok(Some((formula, ranges)))
}

fn check_range(formula: &Formula, n_iters: usize, n_params: usize) -> Result<(), PointsError> {
    match formula {
        Formula::NonNegative(e) | Formula::Zero(e) => check_affine(e, n_iters, n_params),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().try_for_each(|p| check_range(p, n_iters, n_params)),
        Formula::Not(part) => check_range(part, n_iters, n_params),
    }
}

fn check_affine(e: &Affine, n_iters: usize, n_params: usize) -> Result<(), PointsError> {
    for (term, _) in e.terms() {
        let (what, index, len) = match term {
            Term::Iter(i) => ("iterator", *i as usize, n_iters),
            Term::Param(p) => ("parameter", p.index(), n_params),
            Term::Floor(inner, _) => {
                check_affine(inner, n_iters, n_params)?;
                continue;
            }
        };
        if index >= len {
            return Err(PointsError::OutOfRange { what, index, len });
        }
    }
    Ok(())
}

struct Scan<'a> {
    formula: &'a BoundFormula,
    /// Whether a candidate of the innermost iterator needs no test.
    exact: bool,
    limit: u64,
    /// Candidates that may still be tested.
    left: u64,
    point: Vec<i64>,
    visit: &'a mut dyn FnMut(&[i64]),
}

impl Scan<'_> {
    /// Runs through the iterators from `depth` inwards; the ones outside are fixed.
    fn level(&mut self, depth: usize, ranges: &[Interval]) -> Result<(), PointsError> {
        if depth == self.point.len() {
            // Only a formula without iterators arrives here.
            return self.candidate(false);
        }
        let Some((lo, hi)) = ranges[depth].ends() else { return Err(PointsError::Unbounded { iter: depth }) };
        if hi.abs_diff(lo) >= self.left {
            return Err(PointsError::TooMany { limit: self.limit });
        }
        let innermost = depth + 1 == self.point.len();
        for value in lo..=hi {
            self.point[depth] = value;
            if innermost {
                self.candidate(self.exact)?;
                continue;
            }
            let mut inner = ranges.to_vec();
            inner[depth] = Interval::point(value);
            self.left = self.left.checked_sub(1).ok_or(PointsError::TooMany { limit: self.limit })?;
            if narrow(self.formula, &mut inner) {
                self.left += 1;
                self.level(depth + 1, &inner)?;
            }
        }
        Ok(())
    }

    fn candidate(&mut self, certain: bool) -> Result<(), PointsError> {
        self.left = self.left.checked_sub(1).ok_or(PointsError::TooMany { limit: self.limit })?;
        if certain || self.formula.holds(&self.point)? {
            (self.visit)(&self.point);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::graph::Kernel;

    /// The domain of a statement `S[i, j]` with parameter `N`, and its points by brute force over a box.
    fn both(domain: &str, n: i64) -> (Vec<Vec<i64>>, Vec<Vec<i64>>) {
        let text = format!("kernel k(size N) {{ output A[i, j]: f64 S[i, j] for {domain} {{ A[i, j] = 1 }} }}");
        let kernel = Kernel::parse(&text).unwrap();
        let formula = &kernel.stmts()[0].domain;
        let listed = points(formula, 2, &[n], 100_000).unwrap();
        let mut expected = Vec::new();
        for i in -30..30 {
            for j in -30..30 {
                if formula.holds(&[i, j], &[n]).unwrap() {
                    expected.push(vec![i, j]);
                }
            }
        }
        (listed.iter().map(<[i64]>::to_vec).collect(), expected)
    }

    #[test]
    fn listed_points_are_those_of_brute_force() {
        for domain in [
            "0 <= i, j < N",
            "0 <= i < N and i <= j <= 2i + 3",
            "i - j <= N-1 and i + j >= N-1 and j - i <= N-1 and i + j <= 3N-3",
            "0 <= i, j < N and (i = 0 or i = N-1 or j = 0 or j = N-1)",
            "0 <= i, j < N and not (i = j or (i + j) mod 3 = 1)",
            "0 <= i < 3N and (i = 2floor(i/2) and 3j = i) and j != 2",
            "(i = 2 and 0 <= j < 4) or (-5 <= 3i <= 7 and i + j = N)",
            "floor((i + 2j)/3) = N and floor(j/4) = 1",
            "false",
            "i = 3 and j = 4 and N > 100",
        ] {
            let (listed, expected) = both(domain, 5);
            assert_eq!(listed, expected, "{domain}");
        }
    }

    #[test]
    fn an_unbounded_iterator_is_named() {
        let half = Formula::NonNegative(Affine::iter(1));
        let fixed = Formula::Zero(Affine::iter(0));
        assert_eq!(points(&fixed.and(half), 2, &[], 100), Err(PointsError::Unbounded { iter: 1 }));
    }

    #[test]
    fn the_limit_holds_before_anything_is_listed() {
        let range = |i: usize| {
            let hi = Affine::constant(1_000_000);
            Formula::NonNegative(Affine::iter(i)).and(Formula::le(&Affine::iter(i), &hi).unwrap())
        };
        assert_eq!(points(&range(0).and(range(1)), 2, &[], 1000), Err(PointsError::TooMany { limit: 1000 }));
    }

    #[test]
    fn no_iterators_mean_one_point_or_none() {
        assert_eq!(points(&Formula::everything(), 0, &[], 10).unwrap().iter().count(), 1);
        assert!(points(&Formula::nothing(), 0, &[], 10).unwrap().is_empty());
    }
}

//! Points of a union of polyhedra, counted without listing them.
//!
//! In: convex parts as constraints, values of their leading dimensions.   Out: how many integer points the union has
//! there.
//!
//! The outer dimensions are run through, each between bounds found by elimination of those inside it (Fourier and
//! Motzkin: bounds may be too wide, never too narrow); along the innermost one, each part is an interval, and a union
//! of intervals is measured. So a part may overlap others, and a square costs as much as its side. Integer divisions
//! stand between the outer dimensions and the innermost one: for each of their values a part is an interval again.

use crease_isl::{BasicSet, Constraint, Division};
use crease_polyhedra::elimination::{Levels, Row};

/// Rows of one system beyond which elimination is given up.
const MOST_ROWS: usize = 256;
/// Intervals looked at for the range of an innermost dimension.
const RANGE_BUDGET: u64 = 1 << 12;

/// A union of convex parts, ready to be counted for any values of its leading dimensions.
pub(crate) struct Points {
    parts: Vec<BasicSet>,
}

/// One part with its leading dimensions bound. Its variables are the outer dimensions that are left, then the
/// divisions, then the innermost dimension.
struct Bound(Levels);

impl Points {
    /// Parts without parameters.
    pub(crate) fn new(parts: Vec<BasicSet>) -> Points {
        Points { parts }
    }

    /// The number of points whose leading dimensions are `fixed`; none if some dimension is unbounded there, or if to
    /// count takes more than what is left of `budget`, in intervals.
    pub(crate) fn count(&self, fixed: &[i64], budget: &mut u64) -> Option<u64> {
        let mut bound = Vec::new();
        for part in &self.parts {
            *budget = budget.checked_sub(part.constraints.len() as u64)?;
            match Bound::new(part, fixed)? {
                None => {}
                Some(part) => bound.push(part),
            }
        }
        let Some(n) = self.parts.first().map(|part| part.n_dims - fixed.len()).filter(|_| !bound.is_empty()) else {
            return Some(0);
        };
        if n == 0 {
            return Some(1);
        }
        count_inside(&bound.iter().collect::<Vec<_>>(), &mut Vec::new(), n, budget)
    }

    /// First and last value of the dimension behind `fixed`, over all parts; none if there is no point or no bound.
    pub(crate) fn range(&self, fixed: &[i64]) -> Option<(i64, i64)> {
        let mut range: Option<(i64, i64)> = None;
        for part in &self.parts {
            let Some(part) = Bound::new(part, fixed)? else { continue };
            let mut intervals = Vec::new();
            if fixed.len() + 1 == self.parts[0].n_dims {
                part.push_intervals(&mut Vec::new(), &mut intervals, &mut { RANGE_BUDGET })?;
            } else {
                intervals.extend(part.interval(&[])?);
            }
            for (low, high) in intervals {
                range = Some(range.map_or((low, high), |(l, h)| (l.min(low), h.max(high))));
            }
        }
        range
    }
}

/// Points of the parts that agree with `point` in the dimensions given there.
fn count_inside(parts: &[&Bound], point: &mut Vec<i64>, n: usize, budget: &mut u64) -> Option<u64> {
    debug_assert!(point.len() < n, "a dimension is left to count along");
    *budget = budget.checked_sub(parts.len() as u64)?;
    let is_innermost = point.len() + 1 == n;
    let mut ranges = Vec::with_capacity(parts.len());
    for part in parts.iter().filter(|_| !is_innermost) {
        ranges.extend(part.interval(point)?.map(|(low, high)| (low, high, *part)));
    }
    if is_innermost {
        let mut intervals = Vec::with_capacity(parts.len());
        for part in parts {
            part.push_intervals(point, &mut intervals, budget)?;
        }
        return measure(intervals);
    }
    let mut total = 0_u64;
    for (low, high) in merged(ranges.iter().map(|&(low, high, _)| (low, high)).collect()) {
        for value in low..=high {
            *budget = budget.checked_sub(ranges.len() as u64)?;
            let here: Vec<&Bound> =
                ranges.iter().filter(|r| r.0 <= value && value <= r.1).map(|&(_, _, part)| part).collect();
            point.push(value);
            let inside = count_inside(&here, point, n, budget);
            point.pop();
            total = total.checked_add(inside?)?;
        }
    }
    Some(total)
}

/// The number of integers in a union of intervals.
fn measure(intervals: Vec<(i64, i64)>) -> Option<u64> {
    let length = |(low, high): (i64, i64)| high.checked_sub(low)?.checked_add(1)?.try_into().ok();
    merged(intervals).into_iter().try_fold(0_u64, |sum, interval| sum.checked_add(length(interval)?))
}

/// Intervals in ascending order, those that touch or overlap made one, empty ones left out.
pub(crate) fn merged(mut intervals: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    intervals.retain(|(low, high)| low <= high);
    intervals.sort_unstable();
    let mut merged: Vec<(i64, i64)> = Vec::with_capacity(intervals.len());
    for (low, high) in intervals {
        match merged.last_mut() {
            Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
            _ => merged.push((low, high)),
        }
    }
    merged
}

impl Bound {
    /// `Some(None)` if the part has no point there; none if elimination has too many rows.
    fn new(part: &BasicSet, fixed: &[i64]) -> Option<Option<Bound>> {
        let variables = part.n_dims - fixed.len() + part.divs.len();
        let meaning = part.divs.iter().enumerate().flat_map(|(position, div)| meaning_of(div, position));
        let rows = part.constraints.iter().cloned().chain(meaning).map(|row| substitute(&row, fixed));
        Some(Levels::new(rows, variables, MOST_ROWS).ok()?.map(Bound))
    }

    /// The values of the variable behind `point`, nothing if it has none; none if it has no bounds there.
    fn interval(&self, point: &[i64]) -> Option<Option<(i64, i64)>> {
        let range = self.0.range(point);
        if range.is_empty() { Some(None) } else { range.ends().map(Some) }
    }

    /// Adds the part's values of the innermost dimension behind `point`, one interval for all values of the divisions.
    fn push_intervals(&self, point: &mut Vec<i64>, intervals: &mut Vec<(i64, i64)>, budget: &mut u64) -> Option<()> {
        *budget = budget.checked_sub(1)?;
        let Some((low, high)) = self.interval(point)? else { return Some(()) };
        if point.len() + 1 == self.0.variables() {
            intervals.push((low, high));
            return Some(());
        }
        for division in low..=high {
            point.push(division);
            let pushed = self.push_intervals(point, intervals, budget);
            point.pop();
            pushed?;
        }
        Some(())
    }
}

/// What a division says of its value `q`: `0 <= expression - denominator q < denominator`.
fn meaning_of(div: &Division, position: usize) -> [Constraint; 2] {
    let constraint = |sign: i64, constant: i64| {
        let scale = |coefficients: &[i64]| coefficients.iter().map(|c| sign * c).collect::<Vec<_>>();
        let mut divs = scale(&div.divs);
        divs[position] = -sign * div.denominator;
        Constraint { is_equality: false, params: Vec::new(), dims: scale(&div.dims), divs, constant }
    };
    [constraint(1, div.constant), constraint(-1, div.denominator - 1 - div.constant)]
}

fn dot(coefficients: &[i64], values: &[i64]) -> i128 {
    coefficients.iter().zip(values).map(|(&c, &v)| i128::from(c) * i128::from(v)).sum()
}

/// The constraint with its leading dimensions bound, in the order of a [`Bound`]'s variables.
fn substitute(constraint: &Constraint, fixed: &[i64]) -> Row {
    let (bound, free) = constraint.dims.split_at(fixed.len());
    let (outer, innermost) = free.split_at(free.len().saturating_sub(1));
    let variables = outer.iter().chain(&constraint.divs).chain(innermost).copied();
    let mut row = Row::new(constraint.is_equality, variables, constraint.constant);
    row.constant += dot(bound, fixed);
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crease_isl::Context;

    fn points(text: &str) -> Points {
        let context = Context::new(1 << 20).unwrap();
        Points::new(context.set(text).unwrap().constraints().unwrap())
    }

    fn count(text: &str, fixed: &[i64]) -> Option<u64> {
        points(text).count(fixed, &mut 1_000_000)
    }

    #[test]
    fn overlaps_count_once() {
        let union = "{ [x, y] : 0 <= x < 10 and 0 <= y < 10; [x, y] : 5 <= x < 15 and 5 <= y < 15 }";
        assert_eq!(count(union, &[]), Some(175));
        assert_eq!(count(union, &[7]), Some(15));
        assert_eq!(count("{ [x, y] : 0 <= y <= x < 1000 }", &[]), Some(500_500));
    }

    #[test]
    fn divisions_are_exact() {
        assert_eq!(count("{ [x] : 0 <= x < 100 and x mod 3 = 1 }", &[]), Some(33));
        assert_eq!(count("{ [x, y] : 0 <= x < 30 and 0 <= y < 8 and 4 * floor(x/4) = x }", &[]), Some(64));
        assert_eq!(count("{ [b, x] : 8 b <= x < 8 b + 8 and 0 <= x < 20 }", &[2]), Some(4));
        // A rational point in between is none.
        assert_eq!(count("{ [x, y] : 2 x = 1 and 0 <= y < 3 }", &[]), Some(0));
    }

    #[test]
    fn ends() {
        assert_eq!(count("{ [x] : x >= 3 }", &[]), None, "unbounded");
        assert_eq!(count("{ [x] : false }", &[]), Some(0));
        assert_eq!(count("{ [x] : 0 <= x < 5 }", &[3]), Some(1));
        assert_eq!(count("{ [x] : 0 <= x < 5 }", &[7]), Some(0));
        assert_eq!(points("{ [x, y] : 0 <= x < 9 and x <= y <= 2 x }").range(&[4]), Some((4, 8)));
        assert_eq!(points("{ [x, y] : 0 <= x < 1000 and 0 <= y < 5 }").count(&[], &mut 100), None, "the budget");
    }

    #[test]
    fn unions_agree_with_a_list_of_their_points() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..60 {
            let part = |random: &mut fastrand::Rng| {
                let mut c = || random.i64(-3..=3);
                let (a, b, d, e) = (c(), c(), c(), c());
                format!("0 <= x < 9 and -4 <= y < 6 and {a} x + {b} y <= {d} and 2 * floor((x + {e} y)/2) <= y + 2")
            };
            let text = format!("{{ [x, y] : {}; [x, y] : {} }}", part(&mut random), part(&mut random));
            let context = Context::new(1 << 20).unwrap();
            let set = context.set(&text).unwrap();
            let listed = set.count().unwrap();
            let counted = Points::new(set.constraints().unwrap()).count(&[], &mut 1_000_000);
            assert_eq!(counted, listed, "{text}");
        }
    }
}

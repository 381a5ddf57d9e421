//! Boxes: products of intervals, and unions of them, without any set library.
//!
//! In: formulas whose constraints bound single iterators.   Out: disjoint boxes, as few as adjacent ones make.
//!
//! Domains of kernels on grids are boxes, often dozens of them: a cube with its faces, edges and corners has 27. What
//! is asked of those (whether two meet, what they cover together) takes a few comparisons here and a tableau each in an
//! integer set library.

use crease_program::Interval;

use crate::kernel::affine::{Affine, Term};
use crate::kernel::formula::Formula;

/// Most boxes that a formula may be made of before they are united.
const MOST_BOXES: usize = 64;

/// A product of intervals, one per dimension; ends that are bounds have 64 bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct IntBox {
    ranges: Vec<Interval>,
}

impl IntBox {
    /// The whole space.
    pub(crate) fn everything(dims: usize) -> IntBox {
        IntBox { ranges: vec![Interval::UNBOUNDED; dims] }
    }

    /// The product of these intervals.
    pub(crate) fn of(ranges: Vec<Interval>) -> IntBox {
        IntBox { ranges }
    }

    /// The interval of each dimension.
    pub(crate) fn ranges(&self) -> &[Interval] {
        &self.ranges
    }

    /// First and last value in each dimension; none if some dimension lacks a bound.
    pub(crate) fn ends(&self) -> Option<Vec<(i64, i64)>> {
        self.ranges.iter().map(|range| range.ends()).collect()
    }

    /// Whether it has no point.
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.iter().any(|range| range.is_empty())
    }

    /// Whether every dimension has both bounds.
    pub(crate) fn is_bounded(&self) -> bool {
        self.ranges.iter().all(|range| range.is_bounded())
    }

    /// The points of both.
    pub(crate) fn intersect(&self, other: &IntBox) -> IntBox {
        debug_assert_eq!(self.ranges.len(), other.ranges.len(), "boxes of one space");
        let pairs = self.ranges.iter().zip(&other.ranges);
        IntBox { ranges: pairs.map(|(a, b)| a.intersect(*b)).collect() }
    }

    /// Whether no point is in both.
    pub(crate) fn is_disjoint(&self, other: &IntBox) -> bool {
        self.intersect(other).is_empty()
    }

    /// Whether every point of `other` is in this box.
    pub(crate) fn contains(&self, other: &IntBox) -> bool {
        other.is_empty() || self.intersect(other) == *other
    }

    /// The box moved by a vector; none if a bound leaves 64 bits.
    pub(crate) fn shifted(&self, by: &[i64]) -> Option<IntBox> {
        debug_assert_eq!(self.ranges.len(), by.len(), "a displacement has an entry per dimension");
        let moved = |(range, by): (&Interval, &i64)| {
            let moved = *range + Interval::point(*by);
            let fits = (moved.lower().is_some() || range.min == i128::MIN)
                && (moved.upper().is_some() || range.max == i128::MAX);
            fits.then_some(moved)
        };
        Some(IntBox { ranges: self.ranges.iter().zip(by).map(moved).collect::<Option<_>>()? })
    }

    /// The same box without its first dimension.
    pub(crate) fn without_first(&self) -> IntBox {
        IntBox { ranges: self.ranges[1..].to_vec() }
    }

    /// The points of this box that are not in `other`, as disjoint boxes.
    pub(crate) fn subtract(&self, other: &IntBox) -> Vec<IntBox> {
        let common = self.intersect(other);
        if common.is_empty() {
            return vec![self.clone()];
        }
        let (mut rest, mut parts) = (self.clone(), Vec::new());
        for (k, &inside) in common.ranges.iter().enumerate() {
            let whole = rest.ranges[k];
            if whole.min < inside.min {
                parts.push(rest.with(k, Interval { max: inside.min - 1, ..whole }));
            }
            if inside.max < whole.max {
                parts.push(rest.with(k, Interval { min: inside.max + 1, ..whole }));
            }
            rest.ranges[k] = inside;
        }
        debug_assert_eq!(rest, common, "what is left after all cuts is what was to be removed");
        parts
    }

    /// The conditions that cut the box out of a larger one, over iterators that start at position `first`.
    pub(crate) fn within(&self, space: &IntBox, first: usize) -> Option<Formula> {
        let mut parts = Vec::new();
        for (k, (own, whole)) in self.ranges.iter().zip(&space.ranges).enumerate() {
            let iter = Affine::iter(first + k);
            if own.min == own.max && whole.min < whole.max {
                parts.push(Formula::eq(&iter, &Affine::constant(own.lower()?)).ok()?);
                continue;
            }
            if own.min > whole.min {
                parts.push(Formula::le(&Affine::constant(own.lower()?), &iter).ok()?);
            }
            if own.max < whole.max {
                parts.push(Formula::le(&iter, &Affine::constant(own.upper()?)).ok()?);
            }
        }
        Some(Formula::And(parts))
    }

    fn with(&self, k: usize, range: Interval) -> IntBox {
        let mut changed = self.clone();
        changed.ranges[k] = range;
        changed
    }
}

/// What is in no box of `others`, as disjoint boxes.
pub(crate) fn subtract_all(from: Vec<IntBox>, others: &[IntBox]) -> Vec<IntBox> {
    others.iter().fold(from, |rest, other| rest.iter().flat_map(|part| part.subtract(other)).collect())
}

/// The union of some boxes as disjoint ones, neighbours made one: first along the last dimension, then along those
/// before.
pub(crate) fn united(boxes: &[IntBox]) -> Vec<IntBox> {
    let mut parts: Vec<IntBox> = Vec::new();
    for new in boxes.iter().filter(|b| !b.is_empty()) {
        let added = subtract_all(vec![new.clone()], &parts);
        parts.extend(added);
    }
    let dims = parts.first().map_or(0, |b| b.ranges.len());
    loop {
        let before = parts.len();
        for k in (0..dims).rev() {
            parts = merged_along(parts, k);
        }
        if parts.len() == before {
            debug_assert!(are_disjoint(&parts), "a union is told as disjoint boxes: {parts:?}");
            return parts;
        }
    }
}

/// Whether no two boxes have a point in common.
pub(crate) fn are_disjoint(boxes: &[IntBox]) -> bool {
    boxes.iter().enumerate().all(|(k, a)| boxes[..k].iter().all(|b| a.is_disjoint(b)))
}

/// Makes one box of those that differ in dimension `k` only and are adjacent there.
fn merged_along(mut parts: Vec<IntBox>, k: usize) -> Vec<IntBox> {
    let key = |b: &IntBox| {
        let mut others = b.ranges.clone();
        let own = others.remove(k);
        (others, own)
    };
    parts.sort_by_cached_key(key);
    let mut merged: Vec<IntBox> = Vec::new();
    for part in parts {
        match merged.last_mut() {
            Some(last)
                if last.ranges[k].max.checked_add(1) == Some(part.ranges[k].min)
                    && last.with(k, part.ranges[k]) == part =>
            {
                last.ranges[k].max = part.ranges[k].max;
            }
            _ => merged.push(part),
        }
    }
    merged
}

/// How far an expression is from an iterator that has these values, if that is one number: an iterator plus a constant
/// is, and a constant where the iterator has one value.
pub(crate) fn offset_from(e: &Affine, iter: usize, values: Interval) -> Option<i64> {
    let mut terms = e.terms();
    match (terms.next(), terms.next(), values.ends()) {
        (Some((Term::Iter(i), 1)), None, _) if *i as usize == iter => Some(e.constant_part()),
        (None, _, Some((value, last))) if value == last => e.constant_part().checked_sub(value),
        _ => None,
    }
}

/// A formula as boxes: points that are in one of `boxes` and satisfy all of `rest`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Boxed {
    /// Disjoint and as few as adjacent ones make.
    pub(crate) boxes: Vec<IntBox>,
    /// Constraints that bound an iterator by a parameter, or relate iterators.
    pub(crate) rest: Vec<Formula>,
}

/// The boxes of a formula over `dims` iterators; none unless it is a conjunction of constraints and of disjunctions of
/// bounds on single iterators, or the complement of what makes it one.
pub(crate) fn boxes_of(formula: &Formula, dims: usize) -> Option<Boxed> {
    let mut boxed = Boxed { boxes: vec![IntBox::everything(dims)], rest: Vec::new() };
    add_conjunct(formula, dims, &mut boxed)?;
    boxed.boxes = united(&boxed.boxes);
    Some(boxed)
}

fn add_conjunct(formula: &Formula, dims: usize, boxed: &mut Boxed) -> Option<()> {
    match formula {
        Formula::And(parts) => parts.iter().try_for_each(|part| add_conjunct(part, dims, boxed)),
        Formula::Not(part) => add_conjunct(&part.negated().ok()?, dims, boxed),
        Formula::NonNegative(e) | Formula::Zero(e) if bound(e).is_none() => {
            boxed.rest.push(formula.clone());
            Some(())
        }
        _ => {
            let parts = alternatives(formula, dims)?;
            let cross = boxed.boxes.iter().flat_map(|b| parts.iter().map(move |part| b.intersect(part)));
            boxed.boxes = cross.filter(|b| !b.is_empty()).collect();
            (boxed.boxes.len() <= MOST_BOXES).then_some(())
        }
    }
}

/// A formula of bounds on single iterators as boxes, which may overlap.
fn alternatives(formula: &Formula, dims: usize) -> Option<Vec<IntBox>> {
    match formula {
        Formula::NonNegative(e) => half_space(e, dims),
        Formula::Zero(e) => {
            let (above, below) = (half_space(e, dims)?, half_space(&e.scale(-1).ok()?, dims)?);
            Some(above.iter().flat_map(|a| below.iter().map(move |b| a.intersect(b))).collect())
        }
        Formula::And(parts) => {
            let mut all = vec![IntBox::everything(dims)];
            for part in parts {
                let part = alternatives(part, dims)?;
                all = all.iter().flat_map(|b| part.iter().map(move |p| b.intersect(p))).collect();
                all.retain(|b| !b.is_empty());
                if all.len() > MOST_BOXES {
                    return None;
                }
            }
            Some(all)
        }
        Formula::Or(parts) => {
            let all: Vec<IntBox> =
                parts.iter().map(|part| alternatives(part, dims)).collect::<Option<Vec<_>>>()?.concat();
            (all.len() <= MOST_BOXES).then_some(all)
        }
        Formula::Not(part) => alternatives(&part.negated().ok()?, dims),
    }
}

/// The iterator, its coefficient and the constant of `c * iterator + constant`; the iterator is missing in constants.
fn bound(e: &Affine) -> Option<(Option<usize>, i64, i64)> {
    let mut terms = e.terms();
    match (terms.next(), terms.next()) {
        (None, _) => Some((None, 0, e.constant_part())),
        (Some((Term::Iter(i), c)), None) => Some((Some(*i as usize), c, e.constant_part())),
        _ => None,
    }
}

/// Where `e >= 0`: one box, or none if a constant is negative.
fn half_space(e: &Affine, dims: usize) -> Option<Vec<IntBox>> {
    let all = IntBox::everything(dims);
    Some(match bound(e)? {
        (None, _, constant) => Vec::from_iter((constant >= 0).then_some(all)),
        (Some(k), c, constant) => {
            let beyond = Interval::between(0, None) - Interval::point(constant);
            let ends = beyond.divided(c);
            (ends.lower().is_some() || ends.upper().is_some()).then(|| vec![all.with(k, ends)])?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::graph::Kernel;

    fn boxed(domain: &str) -> Option<Boxed> {
        let text = format!(
            "kernel k(run T) {{ state A[t, i, j]: f64 S[t, i, j] for {domain} and t <= T {{ A[t, i, j] = 1 }} }}"
        );
        boxes_of(&Kernel::parse(&text).unwrap().stmts()[0].domain, 3)
    }

    fn points(boxes: &[IntBox]) -> Vec<(i64, i64)> {
        let of = |b: &IntBox| {
            let (i, j) = (b.ranges[1], b.ranges[2]);
            let values = |range: Interval| range.lower().unwrap()..=range.upper().unwrap();
            values(i).flat_map(move |i| values(j).map(move |j| (i, j))).collect::<Vec<_>>()
        };
        let mut all: Vec<_> = boxes.iter().flat_map(of).collect();
        all.sort();
        all
    }

    #[test]
    fn a_frame_is_four_boxes_and_with_its_inside_one() {
        let frame = boxed("t >= 1 and 0 <= i, j < 7 and (i = 0 or i = 6 or j = 0 or j = 6)").unwrap();
        assert_eq!((frame.boxes.len(), frame.rest.len()), (4, 1));
        assert_eq!(points(&frame.boxes).len(), 49 - 25);
        let inside = boxed("t >= 1 and 1 <= i, j < 6").unwrap();
        let all = united(&[frame.boxes, inside.boxes].concat());
        assert_eq!(
            all.iter().map(IntBox::ranges).collect::<Vec<_>>(),
            [[Interval::between(1, None), Interval::between(0, 6), Interval::between(0, 6)]]
        );
    }

    #[test]
    fn complements_are_the_boxes_around() {
        let frame = boxed("t >= 1 and 0 <= i, j < 7 and not (1 <= i, j < 6)").unwrap();
        let same = boxed("t >= 1 and 0 <= i, j < 7 and (i = 0 or i = 6 or j = 0 or j = 6)").unwrap();
        assert_eq!((points(&frame.boxes), &frame.rest), (points(&same.boxes), &same.rest));
        let others = boxed("t >= 1 and 0 <= i, j < 7 and not (i = 2 or not (j != 3 and i < 5))").unwrap();
        assert_eq!(points(&others.boxes).len(), 4 * 6);
        let oblique = boxed("t >= 1 and 0 <= i, j < 7 and not (i < j or i = 2)").unwrap();
        assert_eq!((points(&oblique.boxes).len(), oblique.rest.len()), (6 * 7, 2));
    }

    #[test]
    fn bounds_are_rounded_inwards() {
        let found = boxed("t >= 1 and -7 <= 2i <= 7 and -7 <= 3j <= 7").unwrap();
        assert_eq!(found.boxes[0].ranges()[1..], [3, 2].map(|end| Interval::between(-end, end)));
    }

    #[test]
    fn what_is_no_box_stays_a_constraint_or_is_refused() {
        assert_eq!(boxed("t >= 1 and 0 <= i < 4 and i <= j < 9").unwrap().rest.len(), 2);
        assert_eq!(boxed("t >= 1 and 0 <= i < 4 and 0 <= j < 4 and (i = j or i = 0)"), None);
        assert_eq!(boxed("t >= 1 and 0 <= i < 4 and 0 <= j < 4 and not (i = j)"), None);
        assert!(boxed("t >= 1 and 0 <= i < 4 and 2 <= j < 2 and (i = 0 or i = 3)").unwrap().boxes.is_empty());
        let [always, never] =
            [0, -1].map(|c| boxes_of(&Formula::NonNegative(Affine::constant(c)), 0).unwrap().boxes.len());
        assert_eq!((always, never), (1, 0));
    }

    #[test]
    fn differences_are_disjoint_and_complete() {
        let big = boxed("t >= 1 and 0 <= i, j < 9").unwrap().boxes;
        let holes: Vec<IntBox> = ["2 <= i < 5 and 3 <= j < 12", "4 <= i < 6 and -2 <= j < 4"]
            .iter()
            .flat_map(|hole| boxed(&format!("t >= 1 and {hole}")).unwrap().boxes)
            .collect();
        let rest = subtract_all(big.clone(), &holes);
        let expected: Vec<(i64, i64)> = points(&big).into_iter().filter(|p| !points(&holes).contains(p)).collect();
        assert_eq!(points(&rest), expected);
        assert_eq!(points(&united(&rest)), expected);
        assert!(rest.iter().all(|a| rest.iter().all(|b| a == b || a.is_disjoint(b))));
    }
}

//! Cuboids: products of bounded intervals, and the few questions that a certificate raises about them.
//!
//! In: conditions that bound single iterators.   Out: cuboids; what is left of them where others are taken away.
//!
//! The checker's own arithmetic: what finds storage has another one (`engine/src/sets/boxes.rs`), and none of it is
//! used here. Ends have 128 bits, so that moving a cuboid of 64-bit numbers by 64-bit distances never overflows.

use crate::kernel::affine::{Affine, Term};
use crate::kernel::formula::Formula;

/// A product of intervals, both ends inclusive; it has no point if some interval ends before it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cuboid(Vec<(i128, i128)>);

impl Cuboid {
    /// The cuboid between these ends.
    pub(super) fn new(ends: &[(i64, i64)]) -> Cuboid {
        Cuboid(ends.iter().map(|&(low, high)| (i128::from(low), i128::from(high))).collect())
    }

    /// First and last value along each dimension.
    pub(crate) fn ends(&self) -> &[(i128, i128)] {
        &self.0
    }

    /// Whether it has no point.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().any(|(low, high)| low > high)
    }

    /// The points of both.
    pub(crate) fn meet(&self, other: &Cuboid) -> Cuboid {
        debug_assert_eq!(self.0.len(), other.0.len(), "cuboids of one space");
        Cuboid(self.0.iter().zip(&other.0).map(|(a, b)| (a.0.max(b.0), a.1.min(b.1))).collect())
    }

    /// Whether both have a point in common.
    pub(crate) fn meets(&self, other: &Cuboid) -> bool {
        debug_assert_eq!(self.0.len(), other.0.len(), "cuboids of one space");
        self.0.iter().zip(&other.0).all(|(a, b)| a.0.max(b.0) <= a.1.min(b.1))
    }

    /// The smallest cuboid that holds both.
    pub(crate) fn hull(&self, other: &Cuboid) -> Cuboid {
        debug_assert_eq!(self.0.len(), other.0.len(), "cuboids of one space");
        Cuboid(self.0.iter().zip(&other.0).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))).collect())
    }

    /// The cuboid moved against a distance.
    pub(crate) fn moved_back(&self, by: &[i64]) -> Cuboid {
        debug_assert_eq!(self.0.len(), by.len(), "a distance of the cuboid's space");
        Cuboid(self.0.iter().zip(by).map(|(ends, &by)| (ends.0 - i128::from(by), ends.1 - i128::from(by))).collect())
    }

    /// Whether every point of the cuboid is in `other`.
    pub(super) fn is_within(&self, other: &Cuboid) -> bool {
        self.is_empty() || self.0.iter().zip(&other.0).all(|(a, b)| b.0 <= a.0 && a.1 <= b.1)
    }

    /// Number of points; none if that leaves 127 bits.
    fn points(&self) -> Option<i128> {
        if self.is_empty() {
            return Some(0);
        }
        self.0.iter().try_fold(1_i128, |n, (low, high)| n.checked_mul(high - low + 1))
    }

    /// Adds the points that are not in `hole` to `rest`, as cuboids: what lies below and above it along the first
    /// dimension, then beside it along the next.
    fn cut(mut self, hole: &Cuboid, rest: &mut Vec<Cuboid>) {
        if self.is_empty() {
            return;
        }
        let common = self.meet(hole);
        if common.is_empty() {
            rest.push(self);
            return;
        }
        for k in 0..self.0.len() {
            let (own, inner) = (self.0[k], common.0[k]);
            for slab in [(own.0, inner.0 - 1), (inner.1 + 1, own.1)] {
                if slab.0 <= slab.1 {
                    let mut beside = self.clone();
                    beside.0[k] = slab;
                    rest.push(beside);
                }
            }
            self.0[k] = inner;
        }
    }
}

/// What is in none of `holes`, as disjoint cuboids without empty ones if `from` is disjoint.
pub(super) fn remainder<'h>(from: Vec<Cuboid>, holes: impl IntoIterator<Item = &'h Cuboid>) -> Vec<Cuboid> {
    let mut rest: Vec<Cuboid> = from.into_iter().filter(|part| !part.is_empty()).collect();
    for hole in holes {
        if rest.is_empty() {
            break;
        }
        let mut cut = Vec::with_capacity(rest.len());
        rest.into_iter().for_each(|part| part.cut(hole, &mut cut));
        rest = cut;
    }
    rest
}

/// Whether each point of `space` is in exactly one of `parts`, and no other point is: they lie inside, no two of them
/// meet, and they have as many points together.
pub(super) fn is_partition(space: &Cuboid, parts: &[&Cuboid]) -> bool {
    let apart = |k: usize| parts[..k].iter().all(|other| !parts[k].meets(other));
    let points = parts.iter().try_fold(0_i128, |sum, part| sum.checked_add(part.points()?));
    parts.iter().all(|part| part.is_within(space))
        && (0..parts.len()).all(apart)
        && points.is_some()
        && points == space.points()
}

/// An interval that may be open on either side.
pub(super) type Bounds = (Option<i64>, Option<i64>);

/// The bounds of each of `n` iterators that a conjunction names; `other` is asked about conditions that are no such
/// bounds. None if it refuses one, or the formula is no conjunction.
pub(super) fn bounds_of(formula: &Formula, n: usize, other: &mut dyn FnMut(&Formula) -> bool) -> Option<Vec<Bounds>> {
    let mut bounds = vec![(None, None); n];
    narrow(formula, &mut bounds, other)?;
    Some(bounds)
}

fn narrow(formula: &Formula, bounds: &mut [Bounds], other: &mut dyn FnMut(&Formula) -> bool) -> Option<()> {
    match formula {
        Formula::And(parts) => parts.iter().try_for_each(|part| narrow(part, bounds, other)),
        Formula::NonNegative(e) if e.as_constant().is_some_and(|c| c >= 0) => Some(()),
        Formula::Zero(e) if e.as_constant() == Some(0) => Some(()),
        Formula::NonNegative(e) => match one_iterator(e) {
            Some((k, c)) => at_least_zero(bounds.get_mut(k)?, c, e.constant_part()),
            None => other(formula).then_some(()),
        },
        Formula::Zero(e) => match one_iterator(e) {
            Some((k, c)) => {
                at_least_zero(bounds.get_mut(k)?, c, e.constant_part())?;
                at_least_zero(bounds.get_mut(k)?, c.checked_neg()?, e.constant_part().checked_neg()?)
            }
            None => other(formula).then_some(()),
        },
        Formula::Or(_) | Formula::Not(_) => other(formula).then_some(()),
    }
}

/// Iterator and coefficient of `c * iterator + constant`.
fn one_iterator(e: &Affine) -> Option<(usize, i64)> {
    let mut terms = e.terms();
    match (terms.next(), terms.next()) {
        (Some((Term::Iter(i), c)), None) => Some((*i as usize, c)),
        _ => None,
    }
}

/// Narrows an interval to where `c * i + constant >= 0`.
fn at_least_zero(bounds: &mut Bounds, c: i64, constant: i64) -> Option<()> {
    if c > 0 {
        // i >= -constant / c, rounded up.
        let low = i64::try_from(-i128::from(constant).div_euclid(i128::from(c))).ok()?;
        bounds.0 = Some(bounds.0.map_or(low, |known| known.max(low)));
    } else {
        // i <= constant / -c, rounded down.
        let high = i64::try_from(i128::from(constant).div_euclid(-i128::from(c))).ok()?;
        bounds.1 = Some(bounds.1.map_or(high, |known| known.min(high)));
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(parts: &[Cuboid]) -> Vec<(i128, i128)> {
        let of = |c: &Cuboid| {
            let (x, y) = (c.0[0], c.0[1]);
            (x.0..=x.1).flat_map(move |i| (y.0..=y.1).map(move |j| (i, j))).collect::<Vec<_>>()
        };
        let mut all: Vec<_> = parts.iter().flat_map(of).collect();
        all.sort();
        all
    }

    #[test]
    fn what_is_left_is_disjoint_and_complete() {
        let big = Cuboid::new(&[(0, 8), (0, 8)]);
        let holes =
            [[(2, 4), (3, 11)], [(4, 5), (-2, 3)], [(3, 2), (0, 8)], [(20, 21), (0, 1)]].map(|e| Cuboid::new(&e));
        let expected: Vec<_> = points(std::slice::from_ref(&big))
            .into_iter()
            .filter(|p| !holes.iter().any(|h| points(std::slice::from_ref(h)).contains(p)))
            .collect();
        let rest = remainder(vec![big.clone()], &holes);
        assert_eq!(points(&rest), expected, "each point once");
        let parts: Vec<&Cuboid> = rest.iter().collect();
        assert!(!is_partition(&big, &parts));
        let inside = holes.iter().map(|hole| hole.meet(&big)).collect::<Vec<_>>();
        let second = remainder(vec![inside[1].clone()], &inside[..1]);
        let all: Vec<&Cuboid> = parts.into_iter().chain([&inside[0]]).chain(&second).collect();
        assert!(is_partition(&big, &all));
    }

    #[test]
    fn bounds_are_rounded_inwards_and_the_rest_is_asked_for() {
        let scaled = |c: i64, constant: i64| {
            Formula::NonNegative(Affine::iter(1).scale(c).unwrap().add(&Affine::constant(constant)).unwrap())
        };
        let both = Formula::NonNegative(Affine::iter(0).add(&Affine::iter(1)).unwrap());
        let all = Formula::And(vec![scaled(2, 7), scaled(-3, 7), both]);
        let mut asked = 0;
        let mut accept = |_: &Formula| {
            asked += 1;
            true
        };
        assert_eq!(bounds_of(&all, 2, &mut accept), Some(vec![(None, None), (Some(-3), Some(2))]));
        assert_eq!(asked, 1);
        assert_eq!(bounds_of(&all, 2, &mut |_| false), None);
    }
}

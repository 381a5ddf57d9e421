//! Unions of domains: the statements of a grid, its inside and its walls, as few sets.
//!
//! In: domains with bound parameters.   Out: fewer domains of the same union.
//!
//! Domains that say the same but for the bounds of one iterator, and touch there, become one. What is left is for the
//! integer set library, which takes much longer over each.

use crate::check::cuboid::{Bounds, bounds_of};
use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::formula::Formula;

/// A conjunction: bounds of single iterators, and conditions that are none.
#[derive(PartialEq)]
struct Domain {
    bounds: Vec<Bounds>,
    rest: Vec<Formula>,
}

/// Domains over `n` iterators whose union is that of `domains`.
pub(super) fn united(domains: Vec<Formula>, n: usize) -> Result<Vec<Formula>, AffineOverflow> {
    let (mut known, mut others): (Vec<Domain>, Vec<Formula>) = Default::default();
    for formula in domains {
        let mut rest = Vec::new();
        let keep = &mut |condition: &Formula| {
            rest.push(condition.clone());
            true
        };
        match bounds_of(&formula, n, keep) {
            Some(bounds) => add(&mut known, Domain { bounds, rest }),
            None => others.push(formula),
        }
    }
    for domain in known {
        let mut conditions = domain.rest;
        for (k, (low, high)) in domain.bounds.into_iter().enumerate() {
            if let Some(low) = low {
                conditions.push(Formula::le(&Affine::constant(low), &Affine::iter(k))?);
            }
            if let Some(high) = high {
                conditions.push(Formula::le(&Affine::iter(k), &Affine::constant(high))?);
            }
        }
        others.push(Formula::And(conditions));
    }
    Ok(others)
}

/// Whether the bounds of some iterator show that two domains have no point in common.
pub(super) fn are_apart(one: &[Bounds], other: &[Bounds]) -> bool {
    let ends_before = |a: &Bounds, b: &Bounds| a.1.zip(b.0).is_some_and(|(end, start)| end < start);
    one.iter().zip(other).any(|(a, b)| ends_before(a, b) || ends_before(b, a))
}

/// Adds a domain, made one with those that it touches.
fn add(known: &mut Vec<Domain>, mut domain: Domain) {
    while let Some((at, bounds)) = known.iter().enumerate().find_map(|(at, other)| Some((at, joined(other, &domain)?)))
    {
        known.swap_remove(at);
        domain.bounds = bounds;
    }
    known.push(domain);
}

/// The bounds of the union of two domains, if that is one as well: they differ in one iterator at most, where they
/// overlap or follow each other.
fn joined(one: &Domain, other: &Domain) -> Option<Vec<Bounds>> {
    if one.rest != other.rest {
        return None;
    }
    let mut apart = (0..one.bounds.len()).filter(|&k| one.bounds[k] != other.bounds[k]);
    let Some(k) = apart.next() else { return Some(one.bounds.clone()) };
    let (a, b) = (one.bounds[k], other.bounds[k]);
    // Where the one ends before the other begins, nothing may lie between.
    let follows = |end: Option<i64>, start: Option<i64>| match (end, start) {
        (Some(end), Some(start)) => i128::from(start) - i128::from(end) <= 1,
        _ => true,
    };
    let is_empty = |(low, high): Bounds| low.zip(high).is_some_and(|(low, high)| low > high);
    if apart.next().is_some() || is_empty(a) || is_empty(b) || !follows(a.1, b.0) || !follows(b.1, a.0) {
        return None;
    }
    let mut bounds = one.bounds.clone();
    bounds[k] = (a.0.zip(b.0).map(|(a, b)| a.min(b)), a.1.zip(b.1).map(|(a, b)| a.max(b)));
    Some(bounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(bounds: &[(i64, i64)]) -> Formula {
        let ends = bounds.iter().enumerate().flat_map(|(k, &(low, high))| {
            let (low, high) = (Affine::constant(low), Affine::constant(high));
            [Formula::le(&low, &Affine::iter(k)).unwrap(), Formula::le(&Affine::iter(k), &high).unwrap()]
        });
        Formula::And(ends.collect())
    }

    fn holds(domains: &[Formula], point: &[i64]) -> bool {
        domains.iter().any(|domain| domain.holds(point, &[]).unwrap())
    }

    #[test]
    fn a_grid_with_its_walls_is_one_domain() {
        let places = [(0, 0), (1, 8), (9, 9)];
        let all: Vec<Formula> =
            places.iter().flat_map(|&y| places.iter().map(move |&x| between(&[(1, 5), y, x]))).collect();
        assert_eq!(united(all, 3).unwrap(), united(vec![between(&[(1, 5), (0, 9), (0, 9)])], 3).unwrap());
    }

    #[test]
    fn domains_are_apart_where_bounds_of_one_iterator_are() {
        let [low, high, wide] = [[(0, 2), (0, 3)], [(3, 6), (0, 3)], [(1, 6), (3, 4)]]
            .map(|ends| ends.map(|(low, high)| (Some(low), Some(high))));
        let open = [(None, Some(2)), (None, None)];
        assert!(are_apart(&low, &high) && are_apart(&high, &low) && are_apart(&open, &high));
        assert!(!are_apart(&low, &wide) && !are_apart(&wide, &high) && !are_apart(&low, &open));
    }

    #[test]
    fn what_is_apart_or_cut_otherwise_stays_apart() {
        let skewed =
            |bounds: &[(i64, i64)]| between(bounds).and(Formula::le(&Affine::iter(0), &Affine::iter(1)).unwrap());
        let open = Formula::le(&Affine::constant(12), &Affine::iter(0)).unwrap();
        let kinds = [
            vec![between(&[(0, 2), (0, 3)]), between(&[(4, 6), (0, 3)])],
            vec![between(&[(0, 2), (0, 3)]), between(&[(3, 6), (0, 4)])],
            vec![between(&[(0, 2), (0, 3)]), skewed(&[(3, 6), (0, 3)])],
            vec![skewed(&[(0, 2), (0, 3)]), skewed(&[(2, 6), (0, 3)]), between(&[(0, 6), (2, 2)])],
            vec![between(&[(4, 2), (0, 3)]), between(&[(3, 3), (0, 3)])],
            vec![open.clone(), between(&[(11, 11), (0, 3)])],
            vec![open.clone(), open.and(Formula::le(&Affine::iter(0), &Affine::constant(14)).unwrap())],
        ];
        for domains in kinds {
            let found = united(domains.clone(), 2).unwrap();
            for (y, x) in (-1..16).flat_map(|y| (-1..6).map(move |x| (y, x))) {
                assert_eq!(holds(&found, &[y, x]), holds(&domains, &[y, x]), "({y}, {x}) of {domains:?}");
            }
        }
    }
}

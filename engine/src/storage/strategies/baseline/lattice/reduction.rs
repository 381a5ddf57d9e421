//! Bases with respect to a body: the successive minima, and generalised basis reduction.
//!
//! In: a symmetric body with inner points.   Out: bases of all integer vectors, shortest vectors first, as its gauge
//! measures them.   Source: Bee+Cl@k [Alias, Baray and Darte 2007], section 4.1; L. Lovasz and H. E. Scarf, The
//! Generalized Basis Reduction Algorithm (1992).
//!
//! The `i`-th successive minimum is the smallest `r` such that `r K` holds `i` independent integer vectors. Vectors are
//! expressed in a basis whose first ones span the minima found so far, and coordinates are chosen from the last to the
//! first: the gauge along all earlier basis vectors bounds from below what any choice of the rest may give, and
//! is convex in the coordinate, so that a branch is left as soon as it exceeds the best vector known.

use crease_polyhedra::linear_program::Ratio;
use crease_polyhedra::matrix::{Matrix, Vector, add_multiple, completed, identity};

use super::body::Body;
use crate::storage::knobs::lattice::{MOST_BRANCHES, MOST_EXCHANGES};

/// The successive minima in `n` dimensions with vectors that attain them.
pub(super) fn successive_minima(body: &Body, n: usize) -> Option<Vec<(Vector, Ratio)>> {
    let mut minima: Vec<(Vector, Ratio)> = Vec::new();
    while minima.len() < n {
        let found: Matrix = minima.iter().map(|(vector, _)| vector.clone()).collect();
        let basis = completed(&found, n)?;
        let first = (basis[found.len()].clone(), body.gauge(&basis[found.len()], &[])??);
        let mut search = Search { body, basis, independent_from: found.len(), best: first, branches: MOST_BRANCHES };
        search.choose(n - 1, &vec![0; n], false)?;
        minima.push(search.best);
    }
    Some(minima)
}

/// A basis whose first `i` vectors span the same space as the first `i` minima, each made short by those before it.
pub(super) fn basis_of_minima(body: &Body, minima: &[(Vector, Ratio)]) -> Option<Matrix> {
    let vectors: Matrix = minima.iter().map(|(vector, _)| vector.clone()).collect();
    let mut basis = completed(&vectors, vectors.len())?;
    for i in 0..basis.len() {
        for j in (0..i).rev() {
            let factor = nearest(|t| body.gauge(&sum(&basis[i], t, &basis[j])?, &[])?)?;
            basis[i] = sum(&basis[i], factor, &basis[j])?;
        }
    }
    Some(basis)
}

/// A basis that is reduced in the sense of Lovasz and Scarf: in the projections along the first `i` vectors, vector
/// `i + 1` is as short as multiples of vector `i` make it, and not much shorter than that.
pub(super) fn reduced_basis(body: &Body, n: usize) -> Option<Matrix> {
    let mut basis = identity(n);
    let (mut i, mut exchanges) = (0, MOST_EXCHANGES);
    while i + 1 < n {
        let factor = nearest(|t| body.gauge(&sum(&basis[i + 1], t, &basis[i])?, &basis[..i])?)?;
        basis[i + 1] = sum(&basis[i + 1], factor, &basis[i])?;
        let (here, next) = (body.gauge(&basis[i], &basis[..i])??, body.gauge(&basis[i + 1], &basis[..i])??);
        // Shorter by more than a quarter.
        let scaled = Ratio { numerator: next.numerator.checked_mul(4)?, denominator: next.denominator.checked_mul(3)? };
        if scaled.is_less(here)? {
            basis.swap(i, i + 1);
            i = i.saturating_sub(1);
            exchanges = exchanges.checked_sub(1)?;
        } else {
            i += 1;
        }
    }
    Some(basis)
}

/// Looks for the shortest vector with a coordinate other than zero from `independent_from` on.
struct Search<'a> {
    body: &'a Body,
    basis: Matrix,
    independent_from: usize,
    best: (Vector, Ratio),
    branches: usize,
}

impl Search<'_> {
    /// Chooses coordinate `k` and those before it; `rest` is the sum over those behind it.
    fn choose(&mut self, k: usize, rest: &Vector, is_nonzero: bool) -> Option<()> {
        if !is_nonzero && k < self.independent_from {
            return Some(());
        }
        let centre = if is_nonzero { nearest(|t| self.bound(k, rest, t))? } else { 0 };
        for sign in [1, -1] {
            // Vectors and their negatives are equally long.
            let first = match (sign, is_nonzero) {
                (1, _) => centre,
                (_, true) => centre.checked_sub(1)?,
                (_, false) => break,
            };
            for step in 0.. {
                let t = first.checked_add(sign * step)?;
                let bound = self.bound(k, rest, t)?;
                if !bound.is_less(self.best.1)? {
                    break;
                }
                self.branches = self.branches.checked_sub(1)?;
                let vector = sum(rest, t, &self.basis[k])?;
                if k > 0 {
                    self.choose(k - 1, &vector, is_nonzero || t != 0)?;
                } else if is_nonzero || t != 0 {
                    self.best = (vector, bound);
                }
            }
        }
        Some(())
    }

    /// The smallest gauge of all vectors with coordinate `k` equal to `t`, whatever the coordinates before it.
    fn bound(&self, k: usize, rest: &[i128], t: i128) -> Option<Ratio> {
        self.body.gauge(&sum(rest, t, &self.basis[k])?, &self.basis[..k])?
    }
}

/// `vector + factor * other`.
fn sum(vector: &[i128], factor: i128, other: &[i128]) -> Option<Vector> {
    let mut sum = vector.to_vec();
    add_multiple(&mut sum, factor, other)?;
    Some(sum)
}

/// An integer at which a convex function is smallest.
fn nearest(value: impl Fn(i128) -> Option<Ratio>) -> Option<i128> {
    let (mut at, mut best, mut step) = (0_i128, value(0)?, 1_i128);
    let mut grows = true;
    while step > 0 {
        let mut moved = false;
        for next in [at.checked_add(step)?, at.checked_sub(step)?] {
            let there = value(next)?;
            if there.is_less(best)? {
                (at, best, moved) = (next, there, true);
                break;
            }
        }
        grows &= moved;
        step = if grows {
            step.checked_mul(2)?
        } else if moved {
            step
        } else {
            step / 2
        };
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::strategies::baseline::lattice::rows::Rows;
    use crease_isl::Context;

    fn body(text: &str, n: usize) -> Body {
        let context = Context::new(1 << 20).unwrap();
        let order: Vec<usize> = (0..n).collect();
        Body::of(&Rows::of(&context.set(text).unwrap(), &order).unwrap().unwrap()).unwrap()
    }

    #[test]
    fn minima_of_the_running_example() {
        let set = "{ [i, k] : -99 <= i + 2k <= 99 and -99 <= i - k <= 99 and -1 <= k <= 1 and not (i = 0 and k = 0) }";
        let minima = successive_minima(&body(set, 2), 2).unwrap();
        let lengths: Vec<(i128, i128)> = minima.iter().map(|(_, r)| (r.denominator, r.numerator)).collect();
        assert_eq!(lengths.iter().map(|(d, n)| d / n).collect::<Vec<_>>(), [99, 1]);
        assert_eq!((minima[0].0[0].abs(), minima[0].0[1]), (1, 0));
        let basis = basis_of_minima(&body(set, 2), &minima).unwrap();
        assert_eq!((basis[1][0], basis[1][1].abs()), (0, 1), "{basis:?}");
    }

    #[test]
    fn a_skewed_body_has_skewed_minima() {
        // The square |a|, |b| <= 3 in coordinates (x, y) = (a + 7 b, b).
        let skewed = body("{ [x, y] : -3 <= x - 7y <= 3 and -3 <= y <= 3 and not (x = 0 and y = 0) }", 2);
        let minima = successive_minima(&skewed, 2).unwrap();
        assert!(minima.iter().all(|(_, r)| r.denominator == 3 * r.numerator), "{minima:?}");
        let reduced = reduced_basis(&skewed, 2).unwrap();
        assert!(reduced.iter().all(|b| skewed.gauge(b, &[]).unwrap().unwrap().floor() == 0), "{reduced:?}");
    }

    #[test]
    fn the_nearest_integer_of_a_convex_function() {
        let parabola = |t: i128| Some(Ratio { numerator: (t - 37) * (t - 37), denominator: 5 });
        assert_eq!(nearest(parabola), Some(37));
        assert_eq!(nearest(|t| parabola(t + 40)), Some(-3));
    }
}

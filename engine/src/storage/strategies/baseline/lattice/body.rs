//! The convex hull of the differences: a symmetric polytope, its gauge and what derives from it.
//!
//! In: the differences by rows.   Out: [`Body`].
//! Source: Bee+Cl@k [Alias, Baray and Darte 2007], sections 4.1 and 4.2.
//!
//! The hull K is kept by its vertices. The gauge of `x` is the smallest `r` with `x` in `r K`. By duality it is the
//! largest `y . x` over all `y` with `y . v <= 1` at every vertex `v`: a linear program that holds the origin, and so
//! are the gauges of projections `F_i` and of the polar body `F_i*`. No facet is ever computed.

use std::collections::{BTreeMap, BTreeSet};

use crease_polyhedra::linear_program::{Maximum, Ratio, maximum};
use crease_polyhedra::matrix::{Matrix, Vector, completed, dot, identity, inverse};

use super::rows::Rows;
use crate::storage::knobs::lattice::MOST_VERTICES;

/// The hull of a symmetric set of integer points.
pub(super) struct Body {
    /// Points whose hull it is, both of each pair.
    vertices: Matrix,
}

/// The space that a body spans.
pub(super) struct Span {
    /// Its dimension.
    pub(super) dimension: usize,
    /// A basis of all integer vectors that begins with a basis of those in the space; that of the indices if they all
    /// are.
    pub(super) basis: Matrix,
    /// The body in coordinates of the first vectors of the basis: it has inner points.
    pub(super) body: Body,
}

impl Body {
    /// The hull of all differences; `None` if it has too many vertices.
    pub(super) fn of(rows: &Rows) -> Option<Body> {
        let mut slices: BTreeMap<&[i64], Vec<[i64; 2]>> = BTreeMap::new();
        for row in rows.iter() {
            let (outer, inner) = row.prefix.split_at(rows.n.saturating_sub(2));
            let inner = inner.first().copied().unwrap_or(0);
            let ends = [row.runs.first()?.0, row.runs.last()?.1];
            slices.entry(outer).or_default().extend(ends.map(|x| [inner, x]));
        }
        let mut points = BTreeSet::new();
        for (outer, mut slice) in slices {
            if outer.iter().all(|x| *x == 0) {
                slice.extend(slice.clone().iter().map(|p| [-p[0], -p[1]]));
            }
            for corner in corners(slice) {
                let point: Vec<i64> =
                    outer.iter().copied().chain(corner[2 - rows.n.min(2)..].iter().copied()).collect();
                points.insert(point.iter().map(|x| -x).collect());
                points.insert(point);
            }
        }
        let vertices: Matrix = points.iter().filter(|p| !is_between(p, &points)).map(|p| widened(p)).collect();
        (vertices.len() <= MOST_VERTICES).then_some(Body { vertices })
    }

    /// The space that it spans.
    pub(super) fn span(&self, n: usize) -> Option<Span> {
        let (mut independent, mut basis): (Matrix, Matrix) = (Vec::new(), identity(n));
        for vertex in &self.vertices {
            if independent.len() == n {
                break;
            }
            independent.push(vertex.clone());
            match completed(&independent, n) {
                Some(completed) => basis = completed,
                None => drop(independent.pop()),
            }
        }
        if independent.len() == n {
            basis = identity(n);
        }
        let inverse = inverse(&basis)?;
        let coordinates = |vertex: &Vector| -> Option<Vector> {
            let column = |k: usize| inverse.iter().map(|row| row[k]).collect::<Vector>();
            (0..independent.len()).map(|k| dot(vertex, &column(k))).collect()
        };
        let vertices = self.vertices.iter().map(coordinates).collect::<Option<_>>()?;
        Some(Span { dimension: independent.len(), basis, body: Body { vertices } })
    }

    /// `F_i(a)`: the smallest gauge of `a` plus any real multiples of `others`; none if the body does not reach there.
    pub(super) fn gauge(&self, a: &[i128], others: &[Vector]) -> Option<Option<Ratio>> {
        let mut rows = self.vertices.clone();
        let mut bounds = vec![1; rows.len()];
        for other in others {
            rows.push(other.clone());
            rows.push(other.iter().map(|x| -x).collect());
            bounds.extend([0, 0]);
        }
        Some(match maximum(&rows, &bounds, a)? {
            Maximum::At(ratio) => Some(ratio),
            Maximum::Unbounded => None,
        })
    }

    /// `F_i*(c)`: the largest `c . x` over the part of the body where all `others` are zero.
    pub(super) fn width(&self, c: &[i128], others: &[Vector]) -> Option<Ratio> {
        let forms: Vec<&[i128]> = std::iter::once(c).chain(others.iter().map(Vec::as_slice)).collect();
        let row = |vertex: &Vector| forms.iter().map(|form| dot(form, vertex)).collect::<Option<Vector>>();
        let rows = self.vertices.iter().map(row).collect::<Option<Matrix>>()?;
        let objective: Vector = (0..forms.len()).map(|k| i128::from(k == 0)).collect();
        Some(match maximum(&rows, &vec![1; rows.len()], &objective)? {
            Maximum::At(ratio) => ratio.inverse(),
            Maximum::Unbounded => Ratio { numerator: 0, denominator: 1 },
        })
    }
}

fn widened(point: &[i64]) -> Vector {
    point.iter().map(|&x| i128::from(x)).collect()
}

/// The corners of the hull of points in the plane (Andrew's monotone chain).
fn corners(mut points: Vec<[i64; 2]>) -> Vec<[i64; 2]> {
    points.sort_unstable();
    points.dedup();
    let mut hull = half_hull(points.iter().copied());
    hull.extend(half_hull(points.iter().rev().copied()));
    hull
}

/// The corners that one passes with the points on one side.
fn half_hull(points: impl Iterator<Item = [i64; 2]>) -> Vec<[i64; 2]> {
    let mut chain: Vec<[i64; 2]> = Vec::new();
    for p in points {
        while let [.., a, b] = chain[..] {
            let cross = |k: usize, l: usize| i128::from(b[k] - a[k]) * i128::from(p[l] - a[l]);
            if cross(0, 1) > cross(1, 0) {
                break;
            }
            chain.pop();
        }
        chain.push(p);
    }
    chain
}

/// Whether a point is the middle of two others, which differ from it by a step along an outer dimension.
fn is_between(point: &[i64], points: &BTreeSet<Vec<i64>>) -> bool {
    let n = point.len();
    let moved = |k: usize, sign: i64, lean: i64| {
        let mut other = point.to_vec();
        other[k] += sign;
        other[n - 1] += sign * lean;
        points.contains(&other)
    };
    (0..n.saturating_sub(2)).any(|k| (-1..=1).any(|lean| moved(k, 1, lean) && moved(k, -1, lean)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crease_isl::Context;

    fn body(text: &str) -> Body {
        let context = Context::new(1 << 20).unwrap();
        let set = context.set(text).unwrap();
        let order: Vec<usize> = (0..set.n_dims().unwrap()).collect();
        Body::of(&Rows::of(&set, &order).unwrap().unwrap()).unwrap()
    }

    /// `{ -99 <= i + 2k <= 99, -99 <= i - k <= 99, -1 <= k <= 1 }`: the paper's numbers for N = 100.
    #[test]
    fn gauges_of_the_running_example() {
        let y =
            body("{ [k, i] : -99 <= i + 2k <= 99 and -99 <= i - k <= 99 and -1 <= k <= 1 and not (i = 0 and k = 0) }");
        let ratio = |numerator, denominator| Ratio { numerator, denominator };
        let same = |a: Ratio, b: Ratio| a.numerator * b.denominator == b.numerator * a.denominator;
        assert!(same(y.gauge(&[0, 1], &[]).unwrap().unwrap(), ratio(1, 99)));
        assert!(same(y.gauge(&[1, 0], &[vec![0, 1]]).unwrap().unwrap(), ratio(1, 1)));
        assert!(same(y.width(&[1, 0], &[]).unwrap(), ratio(1, 1)));
        assert!(same(y.width(&[0, 1], &[vec![1, 0]]).unwrap(), ratio(99, 1)));
        assert_eq!(y.span(2).unwrap().dimension, 2);
    }

    #[test]
    fn a_flat_body_spans_less() {
        let line = body("{ [i, j] : j = 2i and -3 <= i <= 3 and i != 0 }");
        let span = line.span(2).unwrap();
        assert_eq!((span.dimension, span.basis[0][1]), (1, 2 * span.basis[0][0]));
        assert_eq!(line.gauge(&[1, 0], &[]).unwrap(), None);
        assert_eq!(span.body.gauge(&[6], &[]).unwrap().map(Ratio::floor), Some(2));
        assert_eq!(body("{ [i, j] : false }").span(2).unwrap().dimension, 0);
    }

    #[test]
    fn points_inside_are_no_vertices() {
        let cube = body("{ [i, j, k] : -5 <= i, j, k <= 5 and not (i = 0 and j = 0 and k = 0) }");
        assert_eq!(cube.vertices.len(), 8);
    }
}

//! Heuristics: admissible lattices of moderate determinant, at any size.
//!
//! In: the differences by rows and their hull.   Out: admissible lattices, smallest first.
//! Source: Darte, Schreiber and Villard (2005); Bee+Cl@k [Alias, Baray and Darte 2007], section 4.
//!
//! Each multiplies the vectors of a basis by scaling factors. Heuristic 1 takes the successive minima `r_i` and powers
//! of two above `1 / r_i`; heuristic 1a takes the next integers instead and enlarges them in turn until the lattice is
//! admissible. Heuristic 2 takes any basis, and what the gauge of the projection along the vectors before says of each;
//! heuristic 3 is its dual, the widths of slices, which on the basis of the indices is successive modulo. Bases are
//! that of the indices in every order, of the minima, and the reduced one. A direction in which no difference lies
//! needs no cells.

use crease_polyhedra::linear_program::Ratio;
use crease_polyhedra::matrix::{Matrix, Vector, add_multiple, identity, inverse};

use super::body::{Body, Span};
use super::reduction::{basis_of_minima, reduced_basis, successive_minima};
use super::rows::{Hermite, Rows};
use crate::storage::knobs::lattice::{MOST_ENLARGED, MOST_PERMUTED};

/// Admissible lattices, smallest first, without repeats.
pub(super) fn heuristic_lattices(rows: &Rows) -> Vec<Hermite> {
    let mut found: Vec<Hermite> = orders(rows.n).iter().filter_map(|order| exact_moduli(rows, order)).collect();
    if let Some(hull) = Body::of(rows).and_then(|body| body.span(rows.n)) {
        found.extend(on_hull(rows, &hull));
    }
    found.retain(|lattice| rows.is_admissible(lattice));
    found.sort_by_cached_key(|lattice| (lattice.determinant().unwrap_or(i64::MAX), lattice.clone()));
    found.dedup();
    found
}

/// What each heuristic finds with each basis.
fn on_hull(rows: &Rows, span: &Span) -> Vec<Hermite> {
    let (n, body) = (span.dimension, &span.body);
    let mut bases: Vec<Matrix> = Vec::new();
    let unit = identity(n);
    bases.extend(orders(n).iter().map(|order| order.iter().map(|&k| unit[k].clone()).collect::<Matrix>()));
    let minima = successive_minima(body, n);
    let of_minima = minima.as_ref().and_then(|minima| Some((basis_of_minima(body, minima)?, minima)));
    let mut found = Vec::new();
    if let Some((basis, minima)) = of_minima {
        let lengths: Vec<Ratio> = minima.iter().map(|(_, length)| *length).collect();
        found.extend(heuristic_1(&lengths).and_then(|factors| scaled(span, &basis, &factors)));
        found.extend(heuristic_1a(rows, span, &basis, &lengths));
        bases.push(basis);
    }
    bases.extend(reduced_basis(body, n));
    for basis in &bases {
        found.extend(heuristic_2(body, basis).and_then(|factors| scaled(span, basis, &factors)));
        found.extend(heuristic_3(body, basis).and_then(|factors| scaled(span, basis, &factors)));
    }
    found
}

/// Powers of two above the inverse minima: each a multiple of the next.
pub(super) fn heuristic_1(minima: &[Ratio]) -> Option<Vector> {
    minima.iter().map(|length| 1_i128.checked_shl(128 - length.inverse().floor().leading_zeros())).collect()
}

/// The next integers above the inverse minima, enlarged one after the other until the lattice is admissible.
pub(super) fn heuristic_1a(rows: &Rows, span: &Span, basis: &Matrix, minima: &[Ratio]) -> Option<Hermite> {
    let mut factors: Vector = minima.iter().map(|length| length.inverse().floor() + 1).collect();
    for turn in 0..MOST_ENLARGED {
        let lattice = scaled(span, basis, &factors)?;
        if rows.is_admissible(&lattice) {
            return Some(lattice);
        }
        let position = turn % factors.len();
        factors[position] += 1;
    }
    None
}

/// Factors from gauges of projections along the basis vectors before.
pub(super) fn heuristic_2(body: &Body, basis: &Matrix) -> Option<Vector> {
    (0..basis.len()).map(|i| Some(body.gauge(&basis[i], &basis[..i])??.inverse().floor() + 1)).collect()
}

/// Factors from widths of slices, of the dual basis in its order.
pub(super) fn heuristic_3(body: &Body, basis: &Matrix) -> Option<Vector> {
    let inverse = inverse(basis)?;
    let dual: Matrix = (0..basis.len()).map(|i| inverse.iter().map(|row| row[i]).collect()).collect();
    (0..basis.len()).map(|i| Some(body.width(&dual[i], &dual[..i])?.floor() + 1)).collect()
}

/// The lattice of multiples of basis vectors of the span, and of everything outside it.
pub(super) fn scaled(span: &Span, basis: &Matrix, factors: &[i128]) -> Option<Hermite> {
    let mut vectors = span.basis.clone();
    for (i, (row, factor)) in basis.iter().zip(factors).enumerate() {
        let mut vector = vec![0_i128; vectors[i].len()];
        for (coefficient, outer) in row.iter().zip(&span.basis) {
            add_multiple(&mut vector, coefficient.checked_mul(*factor)?, outer)?;
        }
        vectors[i] = vector;
    }
    Hermite::of(&vectors)
}

/// Successive modulo on the exact set: one modulus per index, taken in that order.
fn exact_moduli(rows: &Rows, order: &[usize]) -> Option<Hermite> {
    let fast = rows.n - 1;
    let mut moduli = vec![1_i64; rows.n];
    for (position, &dim) in order.iter().enumerate() {
        let is_free = |k: usize| !order[..position].contains(&k);
        for row in rows.iter().filter(|row| row.prefix.iter().enumerate().all(|(k, x)| *x == 0 || is_free(k))) {
            if !is_free(fast) && !row.runs.iter().any(|&(low, high)| low <= 0 && 0 <= high) {
                continue;
            }
            let reach = match row.prefix.get(dim) {
                Some(x) => x.abs(),
                None => row.runs.iter().map(|&(low, high)| high.max(-low)).max().unwrap_or(0),
            };
            moduli[dim] = moduli[dim].max(reach + 1);
        }
    }
    let diagonal = |i: usize| (0..rows.n).map(|j| if i == j { i128::from(moduli[i]) } else { 0 }).collect();
    Hermite::of(&(0..rows.n).map(diagonal).collect())
}

/// All orders of few dimensions; of many, each dimension moved to the front.
fn orders(n: usize) -> Vec<Vec<usize>> {
    if n > MOST_PERMUTED {
        return (0..n).map(|first| std::iter::once(first).chain((0..n).filter(|k| *k != first)).collect()).collect();
    }
    let mut all = vec![Vec::new()];
    for _ in 0..n {
        let longer = |order: &Vec<usize>| {
            let order = order.clone();
            (0..n).filter(|k| !order.contains(k)).map(|k| [order.as_slice(), &[k]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

//! From a lattice to a mapping: rows modulo moduli that are all zero just on the lattice.
//!
//! In: a lattice in Hermite form, the fast index last.   Out: rows and moduli; their product is the determinant.
//! Source: Darte, Schreiber and Villard (2005), section 4; the preference for unit strides is ours.
//!
//! The Smith form gives the fewest rows, but mixes all indices. Compiled strips want the fast index in one row only,
//! with coefficient 1: then a strip is as contiguous as an unfolded one. The points of a lattice whose outer indices
//! are `p` have one residue `r(p)` of the fast index, modulo `d`. If some linear `f` on all `p` agrees with `r` there,
//! `(x - f . p) mod d` is such a row, and the outer indices are folded in the same way. Where no `f` exists, the Smith
//! form it is.

use crate::storage::knobs::lattice::MOST_SOLUTIONS;
use crease_polyhedra::matrix::smith;
use num_integer::gcd;

use super::rows::Hermite;

/// `(coefficients . x) mod modulus` for each row; the coefficients in the order of the lattice's dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fold {
    /// Coefficients and modulus of each row; every modulus is more than 1.
    pub(super) rows: Vec<(Vec<i64>, i64)>,
}

impl Fold {
    /// A mapping whose kernel is the lattice; `None` if numbers grow too large.
    pub(super) fn of(lattice: &Hermite) -> Option<Fold> {
        by_unit_stride(lattice).or_else(|| by_smith_form(lattice))
    }

    /// Whether the fast index moves in one row only, with coefficient 1.
    pub(super) fn has_unit_stride(&self) -> bool {
        let fast: Vec<i64> = self.rows.iter().filter_map(|(row, _)| row.last().copied()).filter(|c| *c != 0).collect();
        matches!(fast[..], [] | [1])
    }

    /// How much the rows mix indices: fewer rows and smaller coefficients come first.
    pub(super) fn complexity(&self) -> (bool, usize, i64) {
        let sum = self.rows.iter().flat_map(|(row, _)| row).fold(0_i64, |sum, c| sum.saturating_add(c.abs()));
        (!self.has_unit_stride(), self.rows.len(), sum)
    }
}

fn by_unit_stride(lattice: &Hermite) -> Option<Fold> {
    let (n, modulus) = (lattice.basis.len(), lattice.modulus());
    if n == 1 {
        return Some(Fold { rows: Vec::from_iter((modulus > 1).then(|| (vec![1], modulus))) });
    }
    let mut slope = vec![0; n - 1];
    if !solve(lattice, n - 1, &mut slope) {
        return None;
    }
    let outer = Hermite { basis: lattice.basis[..n - 1].iter().map(|row| row[..n - 1].to_vec()).collect() };
    let mut fold = Fold::of(&outer)?;
    fold.rows.iter_mut().for_each(|(row, _)| row.push(0));
    if modulus > 1 {
        let row = slope.iter().map(|f| centred(-f, modulus)).chain([1]).collect();
        fold.rows.push((row, modulus));
    }
    Some(fold)
}

/// Finds `slope[..k]` such that every basis vector `b` has `slope . b = b_last` modulo the fast modulus.
fn solve(lattice: &Hermite, k: usize, slope: &mut [i64]) -> bool {
    let Some(k) = k.checked_sub(1) else { return true };
    let (row, modulus) = (&lattice.basis[k], lattice.modulus());
    let known: i64 = (k + 1..slope.len()).map(|j| row[j] * slope[j] % modulus).sum();
    let wanted = (row[slope.len()] - known).rem_euclid(modulus);
    // `row[k] x = wanted` modulo `modulus`.
    let divisor = gcd(row[k], modulus);
    if wanted % divisor != 0 {
        return false;
    }
    let step = modulus / divisor;
    let first = wanted / divisor % step * inverse_modulo(row[k] / divisor % step, step) % step;
    (0..divisor.min(MOST_SOLUTIONS)).any(|solution| {
        slope[k] = first + solution * step;
        solve(lattice, k, slope)
    })
}

/// The inverse of a number without common divisor with the modulus.
fn inverse_modulo(number: i64, modulus: i64) -> i64 {
    let (mut a, mut b, mut x, mut y) = (number.rem_euclid(modulus), modulus, 1_i64, 0_i64);
    while b != 0 {
        (a, b, x, y) = (b, a % b, y, x - a / b * y);
    }
    x.rem_euclid(modulus)
}

fn by_smith_form(lattice: &Hermite) -> Option<Fold> {
    let (moduli, columns) = smith(&lattice.matrix())?;
    let mut rows = Vec::new();
    for (k, modulus) in moduli.iter().enumerate().filter(|(_, modulus)| **modulus > 1) {
        let modulus = i64::try_from(*modulus).ok()?;
        let row = columns.iter().map(|row| Some(centred(i64::try_from(row[k] % i128::from(modulus)).ok()?, modulus)));
        rows.push((row.collect::<Option<_>>()?, modulus));
    }
    Some(Fold { rows })
}

/// The residue of least absolute value.
fn centred(number: i64, modulus: i64) -> i64 {
    let residue = number.rem_euclid(modulus);
    if residue > modulus / 2 { residue - modulus } else { residue }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(basis: &[&[i64]]) -> Fold {
        let lattice = Hermite { basis: basis.iter().map(|row| row.to_vec()).collect() };
        let fold = Fold::of(&lattice).unwrap();
        let determinant = lattice.determinant().unwrap();
        assert_eq!(fold.rows.iter().map(|(_, m)| m).product::<i64>(), determinant);
        for vector in basis {
            let is_zero =
                |(row, m): &(Vec<i64>, i64)| row.iter().zip(*vector).map(|(a, b)| a * b).sum::<i64>() % m == 0;
            assert!(fold.rows.iter().all(is_zero), "{fold:?} {vector:?}");
        }
        fold
    }

    #[test]
    fn one_row_with_unit_stride_where_the_lattice_allows_it() {
        assert_eq!(fold(&[&[1, 2], &[0, 11]]).rows, [(vec![-2, 1], 11)]);
    }

    #[test]
    fn a_second_row_keeps_the_stride() {
        assert_eq!(fold(&[&[3, 6], &[0, 9]]).rows, [(vec![1, 0], 3), (vec![-2, 1], 9)]);
        assert_eq!(fold(&[&[48, 0], &[0, 50]]).rows, [(vec![1, 0], 48), (vec![0, 1], 50)]);
        assert_eq!(fold(&[&[6, 0, 0], &[0, 1, 0], &[0, 0, 4]]).rows, [(vec![1, 0, 0], 6), (vec![0, 0, 1], 4)]);
    }

    #[test]
    fn a_diamond_has_no_unit_stride() {
        // Rows 6 apart, every second one shifted by one of two cells.
        let diamond = fold(&[&[6, 1], &[0, 2]]);
        assert_eq!(diamond.rows.len(), 1);
        assert!(!diamond.has_unit_stride());
    }

    #[test]
    fn nothing_in_conflict_needs_no_row() {
        assert_eq!(fold(&[&[1, 0], &[0, 1]]).rows, []);
    }
}

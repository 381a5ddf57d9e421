//! Integer matrices: the normal forms that lattices are compared and turned into mappings by.
//!
//! In and out: matrices as lists of rows, of 128-bit integers; arithmetic is checked, and `None` says that a number
//! left that range (or, for lattices, that the rows are not independent). Sizes are those of array indices: a few rows.
//!
//! Source: M. Newman, Integral Matrices (1972); Bee+Cl@k [Alias, Baray and Darte 2007], section 4.1.1.

/// A list of numbers, one per dimension.
pub type Vector = Vec<i128>;
/// A list of rows.
pub type Matrix = Vec<Vector>;

/// The identity.
pub fn identity(n: usize) -> Matrix {
    (0..n).map(|i| (0..n).map(|j| i128::from(i == j)).collect()).collect()
}

/// `a . b`.
pub fn dot(a: &[i128], b: &[i128]) -> Option<i128> {
    a.iter().zip(b).try_fold(0_i128, |sum, (x, y)| sum.checked_add(x.checked_mul(*y)?))
}

/// `row += factor * other`.
pub fn add_multiple(row: &mut [i128], factor: i128, other: &[i128]) -> Option<()> {
    for (x, y) in row.iter_mut().zip(other) {
        *x = x.checked_add(factor.checked_mul(*y)?)?;
    }
    Some(())
}

/// Takes off a row as many multiples of `pivot` as leave its entry in `column` from 0 to less than the pivot's.
fn reduce(row: &mut [i128], column: usize, pivot: &[i128]) -> Option<()> {
    let factor = row[column].checked_div_euclid(pivot[column])?;
    add_multiple(row, factor.checked_neg()?, pivot)
}

/// The row Hermite form of a basis: upper triangular, a positive diagonal, and above each of its entries numbers from 0
/// to that entry. Bases of one lattice have one Hermite form.
pub fn hermite(basis: &[Vector]) -> Option<Matrix> {
    let n = basis.len();
    let mut rows = basis.to_vec();
    for column in 0..n {
        // Euclid's algorithm on the rows from `column` downwards leaves one entry in this column.
        loop {
            let smallest =
                (column..n).filter(|&r| rows[r][column] != 0).min_by_key(|&r| rows[r][column].unsigned_abs());
            rows.swap(column, smallest?);
            let (above, below) = rows.split_at_mut(column + 1);
            let pivot = &above[column];
            for row in below.iter_mut() {
                reduce(row, column, pivot)?;
            }
            if below.iter().all(|row| row[column] == 0) {
                break;
            }
        }
        if rows[column][column] < 0 {
            rows[column].iter_mut().for_each(|x| *x = -*x);
        }
        let (above, rest) = rows.split_at_mut(column);
        for row in above {
            reduce(row, column, &rest[0])?;
        }
    }
    Some(rows)
}

/// A diagonal form of a basis by unimodular row and column operations: the moduli, each of which divides the next, and
/// the matrix of column operations `V`. A vector `x` is in the lattice if entry `j` of `x V` is a multiple of modulus
/// `j`.
pub fn smith(basis: &[Vector]) -> Option<(Vector, Matrix)> {
    let n = basis.len();
    let (mut rows, mut columns) = (basis.to_vec(), identity(n));
    for k in 0..n {
        loop {
            let entries = (k..n).flat_map(|r| (k..n).map(move |c| (r, c)));
            let (r, c) = entries.filter(|&(r, c)| rows[r][c] != 0).min_by_key(|&(r, c)| rows[r][c].unsigned_abs())?;
            rows.swap(k, r);
            rows.iter_mut().chain(&mut columns).for_each(|row| row.swap(k, c));
            let pivot = rows[k].clone();
            for row in &mut rows[k + 1..] {
                reduce(row, k, &pivot)?;
            }
            for column in k + 1..n {
                let factor = pivot[column].div_euclid(pivot[k]);
                for row in rows.iter_mut().chain(&mut columns) {
                    row[column] = row[column].checked_sub(factor.checked_mul(row[k])?)?;
                }
            }
            let is_clear = (k + 1..n).all(|j| rows[k][j] == 0 && rows[j][k] == 0);
            // An entry that the pivot does not divide is brought into its row.
            let odd = (k + 1..n).find(|&r| rows[r][k + 1..].iter().any(|x| x % pivot[k] != 0));
            match (is_clear, odd) {
                (true, None) => break,
                (true, Some(r)) => {
                    let other = rows[r].clone();
                    add_multiple(&mut rows[k], 1, &other)?;
                }
                (false, _) => {}
            }
        }
    }
    Some(((0..n).map(|k| rows[k][k].abs()).collect(), columns))
}

/// A basis of all integer vectors whose first `i` vectors span the same space as the first `i` of `vectors`, for every
/// `i`. `vectors` are independent.
pub fn completed(vectors: &[Vector], n: usize) -> Option<Matrix> {
    let (mut rows, mut basis) = (vectors.to_vec(), identity(n));
    for k in 0..rows.len() {
        // Column operations on the vectors, and the inverse row operations on the basis they are expressed in.
        loop {
            let smallest = (k..n).filter(|&c| rows[k][c] != 0).min_by_key(|&c| rows[k][c].unsigned_abs())?;
            rows.iter_mut().for_each(|row| row.swap(k, smallest));
            basis.swap(k, smallest);
            for column in k + 1..n {
                let factor = rows[k][column].div_euclid(rows[k][k]);
                for row in &mut rows {
                    row[column] = row[column].checked_sub(factor.checked_mul(row[k])?)?;
                }
                let other = basis[column].clone();
                add_multiple(&mut basis[k], factor, &other)?;
            }
            if rows[k][k + 1..].iter().all(|x| *x == 0) {
                break;
            }
        }
    }
    Some(basis)
}

/// The inverse of a matrix of determinant 1 or -1.
pub fn inverse(matrix: &[Vector]) -> Option<Matrix> {
    let n = matrix.len();
    let mut rows: Matrix = matrix.iter().zip(identity(n)).map(|(row, unit)| [row.as_slice(), &unit].concat()).collect();
    for column in 0..n {
        loop {
            let smallest =
                (column..n).filter(|&r| rows[r][column] != 0).min_by_key(|&r| rows[r][column].unsigned_abs());
            rows.swap(column, smallest?);
            let pivot = rows[column].clone();
            for row in &mut rows[column + 1..] {
                reduce(row, column, &pivot)?;
            }
            if rows[column + 1..].iter().all(|row| row[column] == 0) {
                break;
            }
        }
        if rows[column][column] < 0 {
            rows[column].iter_mut().for_each(|x| *x = -*x);
        }
        let pivot = rows[column].clone();
        for row in &mut rows[..column] {
            reduce(row, column, &pivot)?;
        }
    }
    let is_unit = (0..n).all(|i| (0..n).all(|j| rows[i][j] == i128::from(i == j)));
    is_unit.then(|| rows.into_iter().map(|row| row[n..].to_vec()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_of_one_lattice_have_one_hermite_form() {
        let form = hermite(&[vec![9, 0], vec![6, 3]]).unwrap();
        assert_eq!(form, [[3, 6], [0, 9]]);
        assert_eq!(hermite(&[vec![-3, 3], vec![6, 3]]).unwrap(), form);
        assert_eq!(hermite(&[vec![2, 4], vec![1, 2]]), None, "dependent rows are no basis");
    }

    #[test]
    fn invariant_factors_divide_each_other() {
        let (moduli, columns) = smith(&[vec![2, 0], vec![0, 3]]).unwrap();
        assert_eq!(moduli, [1, 6]);
        for x in [[2, 0], [0, 3], [4, 9]] {
            assert_eq!((x[0] * columns[0][1] + x[1] * columns[1][1]) % 6, 0);
        }
        assert_eq!(smith(&[vec![3, 6], vec![0, 9]]).unwrap().0, [3, 9]);
    }

    #[test]
    fn a_basis_is_completed_along_given_vectors() {
        let basis = completed(&[vec![2, 4, 6], vec![0, 0, 5]], 3).unwrap();
        assert_eq!(hermite(&basis).unwrap(), identity(3));
        let doubled: Vector = basis[0].iter().map(|x| x * 2).collect();
        assert!(doubled == [2, 4, 6] || doubled == [-2, -4, -6], "{basis:?}");
        let inverse = inverse(&basis).unwrap();
        let product = |i: usize, j: usize| (0..3).map(|k| basis[i][k] * inverse[k][j]).sum::<i128>();
        assert!((0..3).all(|i| (0..3).all(|j| product(i, j) == i128::from(i == j))));
    }

    #[test]
    fn numbers_that_grow_too_large_give_nothing() {
        let huge = i128::MAX / 2;
        assert_eq!(hermite(&[vec![huge, huge - 1], vec![huge - 2, 3 - huge]]), None);
    }
}

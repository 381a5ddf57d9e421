//! Unimodular completion: coordinates of which only the first changes along a vector.

use num_integer::gcd;

/// The greatest common divisor of a vector's entries, and the vector divided by it; none of the zero vector.
pub(super) fn split(vector: &[i64]) -> Option<(i64, Vec<i64>)> {
    let divisor = vector.iter().fold(0_u64, |divisor, entry| gcd(divisor, entry.unsigned_abs()));
    let divisor = i64::try_from(divisor).ok().filter(|&divisor| divisor > 0)?;
    Some((divisor, vector.iter().map(|entry| entry / divisor).collect()))
}

/// A matrix of determinant 1 or -1 that sends a vector, whose entries have no common divisor, to `(1, 0, .., 0)`: its
/// first row moves by 1 along the vector, the others are orthogonal to it. None if a number leaves 63 bits.
///
/// Euclid's algorithm on the entries, which subtracts the smallest one from the others; the outermost of equal ones, so
/// that the row of an inner index keeps its stride.
pub(super) fn completion(vector: &[i64]) -> Option<Vec<Vec<i64>>> {
    let mut rows: Vec<Vec<i64>> =
        (0..vector.len()).map(|k| (0..vector.len()).map(|l| i64::from(k == l)).collect()).collect();
    let mut entries = vector.to_vec();
    loop {
        let smallest = (0..entries.len()).filter(|&k| entries[k] != 0).min_by_key(|&k| entries[k].unsigned_abs())?;
        for k in (0..entries.len()).filter(|&k| k != smallest) {
            let quotient = entries[k].div_euclid(entries[smallest]);
            entries[k] = entries[k].checked_sub(quotient.checked_mul(entries[smallest])?)?;
            let subtrahend = rows[smallest].clone();
            for (c, s) in rows[k].iter_mut().zip(subtrahend) {
                *c = c.checked_sub(quotient.checked_mul(s)?)?;
            }
        }
        if entries.iter().filter(|&&entry| entry != 0).count() == 1 {
            let mut first = rows.remove(smallest);
            first.iter_mut().for_each(|c| *c *= entries[smallest].signum());
            rows.insert(0, first);
            return Some(rows);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(rows: &[Vec<i64>], vector: &[i64]) -> Vec<i64> {
        rows.iter().map(|row| row.iter().zip(vector).map(|(c, v)| c * v).sum()).collect()
    }

    #[test]
    fn only_the_first_row_moves_along_the_vector() {
        for vector in [vec![1, -1], vec![3, 5], vec![0, -1, 0], vec![6, 10, 15], vec![2, 0, -3]] {
            let rows = completion(&vector).unwrap();
            let expected: Vec<i64> = (0..vector.len()).map(|k| i64::from(k == 0)).collect();
            assert_eq!(times(&rows, &vector), expected, "{vector:?}: {rows:?}");
        }
        assert_eq!(completion(&[1, -1, 0]).unwrap(), [[1, 0, 0], [1, 1, 0], [0, 0, 1]]);
    }

    #[test]
    fn two_steps_back_is_twice_one_step() {
        assert_eq!(split(&[2, 0, 0]), Some((2, vec![1, 0, 0])));
        assert_eq!(split(&[4, -6]), Some((2, vec![2, -3])));
        assert_eq!(split(&[0, 0]), None);
    }
}

//! Small integer programs: the lexicographically smallest integer point, exactly.
//!
//! In: variables that are not negative, and inequalities, which may be added as they turn out to be violated.
//! Out: the smallest point, in the order of the variables.   Source: Feautrier, Parametric integer programming (1988),
//! without the parameters: the lexicographic dual simplex method with Gomory's cuts.
//!
//! Every row is an affine form of the variables that are 0 at present, with one denominator. The programs have less
//! than ten variables; numbers are integers of 127 bits, and where they would overflow there is no answer.

use num_integer::gcd;

use crate::sets::simplex::MOST_PIVOTS;

/// Variables `x >= 0` under inequalities.
#[derive(Clone, Debug)]
pub(crate) struct IntegerProgram {
    n: usize,
    /// First the variables, then the inequalities; all of them are at least 0 at a feasible point.
    rows: Vec<Row>,
    pivots: usize,
}

/// `(coefficients . z + constant) / denominator`, where the `z` are 0 at present.
#[derive(Clone, Debug)]
struct Row {
    coefficients: Vec<i128>,
    constant: i128,
    denominator: i128,
}

/// A rational point `numerators / denominator`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RationalPoint {
    pub(crate) numerators: Vec<i128>,
    pub(crate) denominator: i128,
}

/// No answer: numbers or the number of steps grow too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GaveUp;

impl IntegerProgram {
    /// Without inequalities.
    pub(crate) fn new(n: usize) -> IntegerProgram {
        let unit = |k| Row {
            coefficients: (0..n).map(|column| i128::from(column == k)).collect(),
            constant: 0,
            denominator: 1,
        };
        IntegerProgram { n, rows: (0..n).map(unit).collect(), pivots: 0 }
    }

    /// Adds `coefficients . x + constant >= 0`, whose values at integer points are integers.
    pub(crate) fn require(&mut self, coefficients: &[i128], constant: i128) -> Result<(), GaveUp> {
        let row = self.substitute(coefficients, constant).ok_or(GaveUp)?;
        self.rows.push(row);
        Ok(())
    }

    /// The lexicographically smallest rational point; none if there is no point.
    pub(crate) fn relaxed_minimum(&mut self) -> Result<Option<RationalPoint>, GaveUp> {
        while let Some(violated) = self.rows.iter().position(|row| row.constant < 0) {
            self.pivots += 1;
            if self.pivots > MOST_PIVOTS {
                return Err(GaveUp);
            }
            let Some(column) = self.entering(violated).ok_or(GaveUp)? else { return Ok(None) };
            self.pivot(violated, column).ok_or(GaveUp)?;
        }
        self.point().ok_or(GaveUp).map(Some)
    }

    /// Cuts off the present rational point by an inequality that holds at all integer points. False if it is an integer
    /// one.
    pub(crate) fn cut(&mut self) -> Result<bool, GaveUp> {
        let fractional = |row: &&Row| row.constant % row.denominator != 0;
        let Some(row) = self.rows[..self.n].iter().find(fractional) else { return Ok(false) };
        let d = row.denominator;
        // x = sum a_k / d z_k + c / d is an integer, so the fractions of the a_k / d make up that of -c / d or more.
        let coefficients = row.coefficients.iter().map(|a| a.rem_euclid(d)).collect();
        let constant = -row.constant.checked_neg().ok_or(GaveUp)?.rem_euclid(d);
        self.rows.push(Row { coefficients, constant, denominator: d });
        Ok(true)
    }

    fn point(&self) -> Option<RationalPoint> {
        let reduced = |row: &Row| {
            let factor = gcd(row.constant.unsigned_abs(), row.denominator.unsigned_abs()) as i128;
            (row.constant / factor, row.denominator / factor)
        };
        let values: Vec<(i128, i128)> = self.rows[..self.n].iter().map(reduced).collect();
        let denominator = values.iter().try_fold(1_i128, |common, (_, d)| lcm(common, *d))?;
        let numerators = values.iter().map(|(c, d)| c.checked_mul(denominator / d)).collect::<Option<_>>()?;
        Some(RationalPoint { numerators, denominator })
    }

    /// A form of the variables as one of those that are 0 at present.
    fn substitute(&self, coefficients: &[i128], constant: i128) -> Option<Row> {
        let common = self.rows[..self.n].iter().try_fold(1_i128, |common, row| lcm(common, row.denominator))?;
        let mut sum =
            Row { coefficients: vec![0; self.n], constant: constant.checked_mul(common)?, denominator: common };
        for (&factor, row) in coefficients.iter().zip(&self.rows).filter(|(f, _)| **f != 0) {
            let factor = factor.checked_mul(common / row.denominator)?;
            for (total, c) in sum.coefficients.iter_mut().zip(&row.coefficients) {
                *total = total.checked_add(c.checked_mul(factor)?)?;
            }
            sum.constant = sum.constant.checked_add(row.constant.checked_mul(factor)?)?;
        }
        sum.reduce();
        Some(sum)
    }

    /// The column that repairs a violated row and keeps the point the smallest one: of those with a positive
    /// coefficient there, the lexicographically smallest when divided by it. The inner option is none if nothing
    /// repairs it.
    fn entering(&self, violated: usize) -> Option<Option<usize>> {
        let row = &self.rows[violated].coefficients;
        let mut best: Option<usize> = None;
        for column in (0..self.n).filter(|&column| row[column] > 0) {
            let is_smaller = match best {
                None => true,
                Some(known) => self.is_smaller((column, row[column]), (known, row[known]))?,
            };
            if is_smaller {
                best = Some(column);
            }
        }
        Some(best)
    }

    fn is_smaller(&self, (left, by): (usize, i128), (right, other_by): (usize, i128)) -> Option<bool> {
        for row in &self.rows[..self.n] {
            let (a, b) = (row.coefficients[left].checked_mul(other_by)?, row.coefficients[right].checked_mul(by)?);
            if a != b {
                return Some(a < b);
            }
        }
        Some(false)
    }

    /// Exchanges the row's value, which becomes 0, for the column's variable.
    fn pivot(&mut self, violated: usize, column: usize) -> Option<()> {
        let pivot = self.rows[violated].clone();
        let p = pivot.coefficients[column];
        for row in &mut self.rows {
            let factor = row.coefficients[column];
            if factor == 0 {
                continue;
            }
            // z_column = (denominator * y - the rest of the pivot row) / p
            for (k, c) in row.coefficients.iter_mut().enumerate() {
                *c = if k == column {
                    factor.checked_mul(pivot.denominator)?
                } else {
                    c.checked_mul(p)?.checked_sub(factor.checked_mul(pivot.coefficients[k])?)?
                };
            }
            row.constant = row.constant.checked_mul(p)?.checked_sub(factor.checked_mul(pivot.constant)?)?;
            row.denominator = row.denominator.checked_mul(p)?;
            row.reduce();
        }
        Some(())
    }
}

impl Row {
    fn reduce(&mut self) {
        let mut factor = gcd(self.denominator.unsigned_abs(), self.constant.unsigned_abs());
        for c in &self.coefficients {
            if factor == 1 {
                return;
            }
            factor = gcd(factor, c.unsigned_abs());
        }
        // The denominator is positive and a multiple of it.
        let factor = factor as i128;
        self.coefficients.iter_mut().for_each(|c| *c /= factor);
        self.constant /= factor;
        self.denominator /= factor;
    }
}

fn lcm(a: i128, b: i128) -> Option<i128> {
    let factor = gcd(a.unsigned_abs(), b.unsigned_abs()) as i128;
    (a / factor).checked_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest integer point under `a . x + b >= 0`.
    fn minimum(n: usize, inequalities: &[(&[i128], i128)]) -> Option<Vec<i128>> {
        let mut program = IntegerProgram::new(n);
        inequalities.iter().for_each(|(a, b)| program.require(a, *b).unwrap());
        loop {
            let point = program.relaxed_minimum().unwrap()?;
            if !program.cut().unwrap() {
                assert_eq!(point.denominator, 1);
                return Some(point.numerators);
            }
        }
    }

    #[test]
    fn the_first_variable_comes_first() {
        // x + y >= 3, x <= 5, y <= 2
        let rows: [(&[i128], i128); 3] = [(&[1, 1], -3), (&[-1, 0], 5), (&[0, -1], 2)];
        assert_eq!(minimum(2, &rows), Some(vec![1, 2]));
    }

    #[test]
    fn fractions_are_cut_off() {
        // 2x + 3y >= 7, 3x >= 2y + 1: (23/13, 15/13) before the cuts ..
        let rows: [(&[i128], i128); 2] = [(&[2, 3], -7), (&[3, -2], -1)];
        assert_eq!(minimum(2, &rows), Some(vec![2, 1]));
        // 2x = 2y + 1 has no integer point: y <= 9 bounds the search.
        let rows: [(&[i128], i128); 3] = [(&[2, -2], -1), (&[-2, 2], 1), (&[0, -1], 9)];
        assert_eq!(minimum(2, &rows), None);
    }

    #[test]
    fn all_small_programs_agree_with_enumeration() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..300 {
            let n = 3;
            let mut rows: Vec<(Vec<i128>, i128)> =
                (0..n).map(|k| ((0..n).map(|c| -i128::from(c == k)).collect(), 6)).collect();
            for _ in 0..4 {
                rows.push(((0..n).map(|_| random.i128(-4..=4)).collect(), random.i128(-9..=3)));
            }
            let borrowed: Vec<(&[i128], i128)> = rows.iter().map(|(a, b)| (a.as_slice(), *b)).collect();
            let holds =
                |x: &[i128]| rows.iter().all(|(a, b)| a.iter().zip(x).map(|(a, x)| a * x).sum::<i128>() + b >= 0);
            let all = (0..343_i128).map(|i| vec![i / 49, i / 7 % 7, i % 7]);
            assert_eq!(minimum(n, &borrowed), all.into_iter().find(|x| holds(x)), "{rows:?}");
        }
    }
}

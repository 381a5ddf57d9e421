//! The lexicographically smallest integer point.
//!
//! In: variables that are not negative, and inequalities, which may be added as they turn out to be violated.
//! Out: the smallest point, in the order of the variables.   Source: Feautrier, Parametric integer programming (1988),
//! without the parameters: the lexicographic dual simplex method with Gomory's cuts.
//!
//! The present point is the smallest one as long as every column is lexicographically positive in the variables; a
//! pivot repairs what it violates and keeps that so. The programs have less than ten variables.

use crate::linear_program::rational::RationalPoint;
use crate::linear_program::tableau::{Entry, Tableau};

/// Variables `x >= 0` under inequalities.
#[derive(Clone, Debug)]
pub struct IntegerProgram<N = i128> {
    n: usize,
    /// First the variables, then the inequalities; all of them are at least 0 at a feasible point.
    tableau: Tableau<N>,
}

/// No answer: numbers or the number of steps grow too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GaveUp;

impl<N: Entry> IntegerProgram<N> {
    /// Without inequalities.
    pub fn new(n: usize) -> IntegerProgram<N> {
        IntegerProgram { n, tableau: Tableau::of_variables(n, n) }
    }

    /// Adds `coefficients . x + constant >= 0`, whose values at integer points are integers.
    pub fn require(&mut self, coefficients: &[N], constant: N) -> Result<(), GaveUp> {
        self.tableau.push_combination(coefficients, constant).ok_or(GaveUp)
    }

    /// The lexicographically smallest rational point; none if there is no point.
    pub fn relaxed_minimum(&mut self) -> Result<Option<RationalPoint>, GaveUp> {
        loop {
            let violated = self.tableau.constants().position(|constant| constant < N::zero());
            let Some(violated) = violated else { return Ok(Some(self.tableau.point(self.n))) };
            let Some(column) = self.entering(violated).ok_or(GaveUp)? else { return Ok(None) };
            self.tableau.pivot(violated, column).ok_or(GaveUp)?;
        }
    }

    /// Cuts off the present rational point by an inequality that holds at all integer points. False if it is an integer
    /// one.
    pub fn cut(&mut self) -> Result<bool, GaveUp> {
        let d = self.tableau.denominator();
        let Some(row) = self.tableau.constants().take(self.n).position(|c| !(c % d).is_zero()) else {
            return Ok(false);
        };
        // x = sum a_k / d z_k + c / d is an integer, so the fractions of the a_k / d make up that of -c / d or more.
        let rest = |a: N| if (a % d) < N::zero() { a % d + d } else { a % d };
        let coefficients: Vec<N> = self.tableau.coefficients(row).iter().map(|a| rest(*a)).collect();
        let constant = N::zero() - rest(N::zero().checked_sub(&self.tableau.constant(row)).ok_or(GaveUp)?);
        self.tableau.push(coefficients, constant);
        Ok(true)
    }

    /// The column that repairs a violated row and keeps the point the smallest one: of those with a positive
    /// coefficient there, the lexicographically smallest when divided by it. The inner option is none if nothing
    /// repairs it.
    fn entering(&self, violated: usize) -> Option<Option<usize>> {
        let row = self.tableau.coefficients(violated);
        let mut best: Option<usize> = None;
        for column in (0..self.n).filter(|&column| row[column] > N::zero()) {
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

    fn is_smaller(&self, (left, by): (usize, N), (right, other_by): (usize, N)) -> Option<bool> {
        for variable in 0..self.n {
            let row = self.tableau.coefficients(variable);
            let (a, b) = (row[left].product(other_by)?, row[right].product(by)?);
            if a != b {
                return Some(a < b);
            }
        }
        Some(false)
    }
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
            let relaxed = |wide: bool| -> Result<Option<RationalPoint>, GaveUp> {
                let narrow = |numbers: &[i128]| numbers.iter().map(|x| *x as i64).collect::<Vec<_>>();
                let (mut small, mut large) = (IntegerProgram::<i64>::new(n), IntegerProgram::<i128>::new(n));
                for (a, b) in &borrowed {
                    small.require(&narrow(a), *b as i64)?;
                    large.require(a, *b)?;
                }
                if wide { large.relaxed_minimum() } else { small.relaxed_minimum() }
            };
            assert_eq!(relaxed(false), relaxed(true), "{rows:?}");
            assert_eq!(minimum(n, &borrowed), all.into_iter().find(|x| holds(x)), "{rows:?}");
        }
    }

    #[test]
    fn the_relaxed_minimum_may_be_a_fraction() {
        // 2x + 3y >= 7, 3x >= 2y + 1
        let mut program = IntegerProgram::<i128>::new(2);
        program.require(&[2, 3], -7).unwrap();
        program.require(&[3, -2], -1).unwrap();
        let corner = RationalPoint { denominator: 13, numerators: vec![17, 19] };
        assert_eq!(program.relaxed_minimum(), Ok(Some(corner)));
    }

    #[test]
    fn what_is_required_later_holds_as_well() {
        let mut program = IntegerProgram::<i128>::new(2);
        program.require(&[1, 1], -3).unwrap();
        assert_eq!(program.relaxed_minimum().unwrap().unwrap().numerators, [0, 3]);
        program.require(&[2, -1], 0).unwrap();
        assert_eq!(program.relaxed_minimum().unwrap().unwrap().numerators, [1, 2]);
        program.require(&[-1, -1], 2).unwrap();
        assert_eq!(program.relaxed_minimum(), Ok(None));
    }

    #[test]
    fn overflow_is_no_answer() {
        let mut program = IntegerProgram::<i128>::new(2);
        program.require(&[i128::MAX, 3], -1).unwrap();
        program.require(&[5, i128::MAX / 2], i128::MIN / 4).unwrap();
        assert_eq!(program.relaxed_minimum(), Err(GaveUp));
    }
}

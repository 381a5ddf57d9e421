//! Variables eliminated from linear constraints over the integers.
//!
//! In: rows `coefficients . x + constant`, which are at least 0, or 0.   Out: rows without a variable that every
//! integer point satisfies as well; for each variable, what bounds it given those before it.
//! Source: Fourier and Motzkin, as in A. Schrijver, Theory of Linear and Integer Programming (1986), section 12.2; an
//! equality is used first where one has the variable.
//!
//! What is left may hold more than the projection, never less: a value of the other variables may be one for which only
//! rational ones of the eliminated variable exist. So points are scanned from the outermost variable inwards, and only
//! the innermost one is bounded by the constraints themselves.
//!
//! Cost: every lower bound of a variable meets every upper one, so that rows may be squared in number each time.

use std::collections::BTreeSet;

use crease_program::Interval;
use num_integer::gcd;

use crate::linear_program::{Entry, GaveUp, IntegerProgram, RationalPoint};

/// `coefficients . x + constant`, which is at least 0, or 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// Whether the value is 0; else it is at least 0.
    pub is_equality: bool,
    /// One per variable.
    pub coefficients: Vec<i128>,
    /// The value where all variables are 0.
    pub constant: i128,
}

/// Nothing was found: there would be too many rows, or numbers grow too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooHard;

impl Row {
    /// Of smaller numbers.
    pub fn new(is_equality: bool, coefficients: impl IntoIterator<Item = i64>, constant: i64) -> Row {
        let coefficients = coefficients.into_iter().map(i128::from).collect();
        Row { is_equality, coefficients, constant: i128::from(constant) }
    }

    /// The row divided by what its coefficients have in common, the constant of an inequality rounded down. A row
    /// without coefficients is decided: true, or false.
    fn normalised(mut self) -> Result<Row, bool> {
        let mut common = 0_i128;
        for &c in &self.coefficients {
            common = gcd(common, c);
            if common == 1 {
                // Nearly always: nothing is divided.
                return Ok(self);
            }
        }
        if common == 0 {
            return Err(self.constant == 0 || (self.constant > 0 && !self.is_equality));
        }
        if self.is_equality && self.constant % common != 0 {
            return Err(false);
        }
        self.constant = self.constant.div_euclid(common);
        self.coefficients.iter_mut().for_each(|c| *c /= common);
        Ok(self)
    }

    /// The inequalities that say the same: two for an equality.
    pub fn inequalities(&self) -> impl Iterator<Item = Row> {
        let signs = if self.is_equality { [1, -1].as_slice() } else { [1].as_slice() };
        signs.iter().map(|sign| Row {
            is_equality: false,
            coefficients: self.coefficients.iter().map(|c| sign * c).collect(),
            constant: sign * self.constant,
        })
    }

    /// What holds at all other integer points; the row is an inequality.
    pub fn negated(&self) -> Row {
        debug_assert!(!self.is_equality, "the complement of an equality is no row");
        let coefficients = self.coefficients.iter().map(|c| -c).collect();
        Row { is_equality: false, coefficients, constant: -self.constant - 1 }
    }

    /// Whether the row may have this value.
    pub fn admits(&self, value: i128) -> bool {
        if self.is_equality { value == 0 } else { value >= 0 }
    }

    /// Whether every point of this row satisfies `other`, as their numbers show: not if it takes other rows beside it.
    pub fn implies(&self, other: &Row) -> bool {
        self.coefficients == other.coefficients
            && (self == other || !other.is_equality && self.constant <= other.constant)
            || self.is_equality
                && !other.is_equality
                && self.coefficients.iter().zip(&other.coefficients).all(|(a, b)| *a == -*b)
                && -self.constant <= other.constant
    }

    /// A combination of two rows in which the column vanishes. This row keeps its sense: its factor is positive, and so
    /// is that of `other` unless it is an equality.
    fn cancel(&self, other: &Row, column: usize) -> Option<Row> {
        let (a, b) = (self.coefficients[column], other.coefficients[column]);
        let (by_row, by_other) = if b < 0 { (b.checked_neg()?, a) } else { (b, a.checked_neg()?) };
        let combine = |x: i128, y: i128| x.checked_mul(by_row)?.checked_add(y.checked_mul(by_other)?);
        let pairs = self.coefficients.iter().zip(&other.coefficients);
        let coefficients = pairs.map(|(&x, &y)| combine(x, y)).collect::<Option<Vec<_>>>()?;
        let constant = combine(self.constant, other.constant)?;
        Some(Row { is_equality: self.is_equality && other.is_equality, coefficients, constant })
    }

    /// Where the row keeps the variable behind those of `point`; none if numbers grow too large.
    pub fn range(&self, point: &[i64]) -> Option<Interval> {
        let mut terms = self.coefficients.iter().zip(point);
        let rest = terms.try_fold(self.constant, |sum, (c, &x)| sum.checked_add(c.checked_mul(i128::from(x))?))?;
        let c = self.coefficients[point.len()];
        if self.is_equality && rest % c != 0 {
            return Some(Interval { min: 1, max: 0 });
        }
        // c x + rest >= 0, or = 0
        let quotient = rest.div_euclid(c.checked_abs()?);
        let bound = if c > 0 { quotient.checked_neg()? } else { quotient };
        Some(match (self.is_equality, c > 0) {
            (true, _) => Interval { min: bound, max: bound },
            (false, true) => Interval { min: bound, max: i128::MAX },
            (false, false) => Interval { min: i128::MIN, max: bound },
        })
    }
}

/// Whether no rational point satisfies all rows; false also if that is not found out.
pub fn is_infeasible<'r>(rows: impl IntoIterator<Item = &'r Row>) -> bool {
    point_of(&Vec::from_iter(rows)).is_none()
}

/// A rational point that satisfies all rows; none if there is none, and none inside if that is not found out.
pub fn point_of(rows: &[&Row]) -> Option<Option<RationalPoint>> {
    let found = relaxed_minimum::<i64>(rows).or_else(|GaveUp| relaxed_minimum::<i128>(rows));
    match found {
        Ok(None) => None,
        Err(GaveUp) => Some(None),
        Ok(Some(RationalPoint { denominator, mut numerators })) => {
            let less = numerators.pop().unwrap_or(0);
            let own = numerators.iter().map(|x| x.checked_sub(less)).collect::<Option<Vec<_>>>();
            Some(own.map(|numerators| RationalPoint { denominator, numerators }))
        }
    }
}

/// The smallest point that satisfies all rows, with numbers of one size. Variables of programs are not negative: each is
/// one less another, the last one, the same for all.
fn relaxed_minimum<N: Entry>(rows: &[&Row]) -> Result<Option<RationalPoint>, GaveUp> {
    let Some(first) = rows.first() else { return Err(GaveUp) };
    let mut program = IntegerProgram::<N>::new(first.coefficients.len() + 1);
    let mut own = Vec::with_capacity(first.coefficients.len() + 1);
    for row in rows {
        for sign in if row.is_equality { [1, -1].as_slice() } else { [1].as_slice() } {
            own.clear();
            for c in &row.coefficients {
                own.push(N::narrowed(sign * c).ok_or(GaveUp)?);
            }
            let all = row.coefficients.iter().try_fold(0_i128, |sum, c| sum.checked_add(*c)).ok_or(GaveUp)?;
            own.push(N::narrowed(-sign * all).ok_or(GaveUp)?);
            program.require(&own, N::narrowed(sign * row.constant).ok_or(GaveUp)?)?;
        }
    }
    program.relaxed_minimum()
}

/// Rows that all hold, each once and without a common divisor.
#[derive(Clone, Debug)]
pub struct Rows(BTreeSet<Row>);

impl Rows {
    /// None if some row holds nowhere.
    pub fn new(rows: impl IntoIterator<Item = Row>) -> Option<Rows> {
        let mut kept = BTreeSet::new();
        for row in rows {
            match row.normalised() {
                Ok(row) => _ = kept.insert(row),
                Err(true) => {}
                Err(false) => return None,
            }
        }
        Some(Rows(kept))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Row> {
        self.0.iter()
    }

    /// Of some columns the one that makes the fewest rows when it is eliminated; none if no row has a part in any.
    pub fn cheapest(&self, columns: std::ops::Range<usize>) -> Option<usize> {
        // Per column, rows that bound it from below, from above, and equalities.
        let mut counts = vec![[0_usize; 3]; columns.len()];
        for row in &self.0 {
            for (count, c) in counts.iter_mut().zip(&row.coefficients[columns.clone()]) {
                match c.signum() {
                    0 => {}
                    _ if row.is_equality => count[2] += 1,
                    1 => count[0] += 1,
                    _ => count[1] += 1,
                }
            }
        }
        let made = |[lower, upper, equal]: [usize; 3]| if equal > 0 { 0 } else { lower * upper };
        let used = counts.iter().enumerate().filter(|(_, count)| **count != [0; 3]);
        used.min_by_key(|(_, count)| made(**count)).map(|(k, _)| columns.start + k)
    }

    /// The rows that have no part in a column, and what follows from the others without it. `Ok(None)` if that leaves
    /// no point.
    ///
    /// # Errors
    /// [`TooHard`], beyond `most` rows among others.
    pub fn without(&self, column: usize, most: usize) -> Result<Option<Rows>, TooHard> {
        let (mut lower, mut upper, mut equal, mut rest) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for row in &self.0 {
            match row.coefficients[column].signum() {
                0 => rest.push(row.clone()),
                _ if row.is_equality => equal.push(row),
                1 => lower.push(row),
                _ => upper.push(row),
            }
        }
        if let Some((pivot, others)) = equal.split_first() {
            for row in others.iter().chain(&lower).chain(&upper) {
                rest.push(row.cancel(pivot, column).ok_or(TooHard)?);
            }
            return Ok(Rows::new(rest));
        }
        if rest.len() + lower.len() * upper.len() > most {
            return Err(TooHard);
        }
        for low in &lower {
            for high in &upper {
                rest.push(low.cancel(high, column).ok_or(TooHard)?);
            }
        }
        Ok(Rows::new(rest))
    }
}

/// Rows that remember which ones they were made of, so that most of those that others imply are never made.
///
/// Of rows made by eliminating `k` variables from inequalities, those that combine more than `k + 1` of them follow
/// from the others (Kohler, 1967). Using up an equality is no such step: it replaces a variable by what it equals.
pub struct Traced {
    rows: Vec<(Row, u128)>,
    eliminated: u32,
}

impl Traced {
    /// The rows as they were given.
    pub fn new(rows: &Rows) -> Traced {
        // Rows beyond what fits share a mark: they count for less, and fewer are left out.
        let rows = rows.iter().cloned().zip((0..128).map(|bit| 1 << bit).chain(std::iter::repeat(1 << 127)));
        Traced { rows: rows.collect(), eliminated: 0 }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().map(|(row, _)| row)
    }

    /// As [`Rows::without`].
    ///
    /// # Errors
    /// [`TooHard`], beyond `most` rows among others.
    pub fn without(mut self, column: usize, most: usize) -> Result<Option<Traced>, TooHard> {
        let (having, mut rest): (Vec<_>, Vec<_>) =
            self.rows.into_iter().partition(|(row, _)| row.coefficients[column] != 0);
        let mut made = Vec::new();
        if let Some((pivot, _)) = having.iter().find(|(row, _)| row.is_equality) {
            for (row, of) in having.iter().filter(|(row, _)| row != pivot) {
                made.push((row.cancel(pivot, column).ok_or(TooHard)?, *of));
            }
        } else {
            self.eliminated += u32::from(!having.is_empty());
            let (lower, upper): (Vec<_>, Vec<_>) = having.iter().partition(|(row, _)| row.coefficients[column] > 0);
            for (low, of_low) in &lower {
                for (high, of_high) in &upper {
                    let of = of_low | of_high;
                    if of.count_ones() <= self.eliminated + 1 {
                        made.push((low.cancel(high, column).ok_or(TooHard)?, of));
                    }
                }
            }
        }
        for (row, of) in made {
            match row.normalised() {
                Err(true) => {}
                Err(false) => return Ok(None),
                Ok(row) if rest.iter().any(|(other, _)| other.implies(&row)) => {}
                Ok(row) => {
                    rest.retain(|(other, _)| !row.implies(other));
                    rest.push((row, of));
                }
            }
        }
        if rest.len() > most {
            return Err(TooHard);
        }
        Ok(Some(Traced { rows: rest, eliminated: self.eliminated }))
    }
}

/// Per variable, what bounds it given those before it: all variables behind it are eliminated.
pub struct Levels(Vec<Vec<Row>>);

impl Levels {
    /// Of rows over `n` variables; `Ok(None)` if they have no point.
    ///
    /// # Errors
    /// [`TooHard`], beyond `most` rows among others.
    pub fn new(rows: impl IntoIterator<Item = Row>, n: usize, most: usize) -> Result<Option<Levels>, TooHard> {
        let Some(mut rows) = Rows::new(rows) else { return Ok(None) };
        let mut levels = vec![Vec::new(); n];
        for variable in (0..n).rev() {
            levels[variable] = rows.iter().filter(|row| row.coefficients[variable] != 0).cloned().collect();
            match rows.without(variable, most)? {
                None => return Ok(None),
                Some(rest) => rows = rest,
            }
        }
        Ok(Some(Levels(levels)))
    }

    /// The number of variables.
    pub fn variables(&self) -> usize {
        self.0.len()
    }

    /// Which values the variable behind `point` may have, where each variable of `point` has one that it may have;
    /// everything where numbers grow too large.
    pub fn range(&self, point: &[i64]) -> Interval {
        let ranges = self.0[point.len()].iter().map(|row| row.range(point).unwrap_or(Interval::UNBOUNDED));
        ranges.fold(Interval::UNBOUNDED, Interval::intersect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(is_equality: bool, coefficients: &[i128], constant: i128) -> Row {
        Row { is_equality, coefficients: coefficients.to_vec(), constant }
    }

    #[test]
    fn numbers_of_more_than_64_bits_are_found_out_about_as_well() {
        let row =
            |coefficients: [i128; 2], constant| Row { is_equality: false, coefficients: coefficients.into(), constant };
        // x is 2^40 or more, y 2^40 x or more, and 2^70 or 2^90 at most.
        let (low, steep) = (row([1, 0], -(1 << 40)), row([-(1 << 40), 1], 0));
        for (bits, is_empty) in [(70, true), (90, false)] {
            assert_eq!(is_infeasible([&low, &steep, &row([0, -1], 1 << bits)]), is_empty, "2^{bits}");
        }
        assert!(point_of(&[&low, &steep]).unwrap().unwrap().numerators[1] >= 1 << 80);
    }

    #[test]
    fn a_variable_is_bounded_by_what_is_left_of_the_others() {
        // x + y >= 0, x - y >= -1, 2 x <= 7: x from 0 (rounded up from -1/2), and y in between.
        let rows = [row(false, &[1, 1], 0), row(false, &[1, -1], 1), row(false, &[-2, 0], 7)];
        let levels = Levels::new(rows, 2, 9).unwrap().unwrap();
        assert_eq!(levels.range(&[]), Interval::between(0, 3));
        assert_eq!([0, 3].map(|x| levels.range(&[x])), [Interval::between(0, 1), Interval::between(-3, 4)]);
    }

    #[test]
    fn equalities_without_an_integer_point_have_none() {
        assert!(Levels::new([row(true, &[2, 4], 1)], 2, 9).unwrap().is_none());
        let levels = Levels::new([row(true, &[1, -2], 0), row(false, &[1, 0], 0)], 2, 9).unwrap().unwrap();
        assert!(levels.range(&[3]).is_empty());
        assert_eq!(levels.range(&[6]), Interval::point(3));
    }

    #[test]
    fn too_many_rows_are_not_combined() {
        let rows = (1..9).map(|k| row(false, &[k, 1 + k * k], k)).chain((1..9).map(|k| row(false, &[1, -k], 50)));
        assert_eq!(Rows::new(rows).unwrap().without(1, 63).unwrap_err(), TooHard);
    }
}

//! Affine forms over one denominator, and the pivot: one of their variables exchanged for one of the forms.
//!
//! In: forms with integer coefficients.   Out: the same forms, of the variables left after some exchanges.
//! Source: J. Edmonds, Systems of distinct representatives and linear algebra (1967); E. H. Bareiss, Sylvester's
//! identity and multistep integer-preserving Gaussian elimination (1968).
//!
//! Form `i` reads `(coefficients . z + constant) / denominator`, where each `z` is a variable or a form that took its
//! place; at the point at which all `z` are 0, a form has its constant as its value. Forms that took a place stay in
//! the list. The denominator is the determinant of the `z`, but for its sign, and entries are minors: that is why the
//! division in a pivot leaves no remainder, as long as every form has integer coefficients in the first variables.

use num_traits::PrimInt;

use crate::linear_program::rational::{RationalPoint, product};

/// Pivots after which a program is given up, a linear one or an integer one; those here take some tens.
const MOST_PIVOTS: usize = 2000;

/// The numbers of a tableau: 64 bits do for nearly all, and take less time than 128.
pub trait Entry: PrimInt + Into<i128> {
    /// The product. None on overflow.
    fn product(self, other: Self) -> Option<Self>;

    /// The number divided by a positive one that it is a multiple of. Many matrices are of ones.
    fn quotient(self, by: Self) -> Self;

    /// A number of 128 bits. None if it takes more than there are.
    fn narrowed(number: i128) -> Option<Self>;
}

impl Entry for i64 {
    fn product(self, other: i64) -> Option<i64> {
        self.checked_mul(other)
    }

    fn quotient(self, by: i64) -> i64 {
        if by == 1 { self } else { self / by }
    }

    fn narrowed(number: i128) -> Option<i64> {
        number.try_into().ok()
    }
}

impl Entry for i128 {
    fn product(self, other: i128) -> Option<i128> {
        product(self, other)
    }

    /// Divisions of 128 bits are slow.
    fn quotient(self, by: i128) -> i128 {
        match (i64::try_from(self), i64::try_from(by)) {
            _ if by == 1 => self,
            (Ok(number), Ok(by)) => i128::from(number / by),
            _ => self / by,
        }
    }

    fn narrowed(number: i128) -> Option<i128> {
        Some(number)
    }
}

/// Forms of as many variables as there are columns.
#[derive(Clone, Debug)]
pub struct Tableau<N = i128> {
    columns: usize,
    /// The coefficients of each form, followed by its constant.
    entries: Vec<N>,
    /// Positive.
    denominator: N,
    pivots_left: usize,
    /// Whether the first forms, one for each column, are still the variables themselves.
    is_of_variables: bool,
}

impl<N: Entry> Tableau<N> {
    /// Without forms. There is room for some.
    pub fn new(columns: usize, room: usize) -> Tableau<N> {
        let entries = Vec::with_capacity(room * (columns + 1));
        Tableau { columns, entries, denominator: N::one(), pivots_left: MOST_PIVOTS, is_of_variables: false }
    }

    /// The variables themselves as forms.
    pub fn of_variables(columns: usize, room: usize) -> Tableau<N> {
        let mut tableau = Tableau::new(columns, columns + room);
        for variable in 0..columns {
            tableau.push((0..columns).map(|column| if column == variable { N::one() } else { N::zero() }), N::zero());
        }
        tableau.is_of_variables = true;
        tableau
    }

    /// Adds a form of the present `z`, all of it over the present denominator.
    pub fn push(&mut self, coefficients: impl IntoIterator<Item = N>, constant: N) {
        self.entries.extend(coefficients);
        self.entries.push(constant);
        debug_assert_eq!(self.entries.len() % (self.columns + 1), 0, "one coefficient per column");
    }

    /// Adds `factors . forms + constant`, of the first forms. None on overflow.
    pub fn push_combination(&mut self, factors: &[N], constant: N) -> Option<()> {
        if self.is_of_variables && factors.len() == self.columns {
            self.push(factors.iter().copied(), constant);
            return Some(());
        }
        let mut sum = vec![N::zero(); self.columns + 1];
        sum[self.columns] = constant.product(self.denominator)?;
        for (&factor, form) in factors.iter().zip(self.forms()).filter(|(factor, _)| !factor.is_zero()) {
            for (total, entry) in sum.iter_mut().zip(form) {
                *total = total.checked_add(&entry.product(factor)?)?;
            }
        }
        self.entries.extend(sum);
        Some(())
    }

    /// What coefficients and constants are over.
    pub fn denominator(&self) -> N {
        self.denominator
    }

    /// The coefficients of a form.
    pub fn coefficients(&self, form: usize) -> &[N] {
        let start = form * (self.columns + 1);
        &self.entries[start..start + self.columns]
    }

    /// The constant of a form.
    pub fn constant(&self, form: usize) -> N {
        self.entries[form * (self.columns + 1) + self.columns]
    }

    /// All constants in order.
    pub fn constants(&self) -> impl Iterator<Item = N> {
        self.forms().map(|form| form[self.columns])
    }

    /// The values of the first forms where all `z` are 0.
    pub fn point(&self, forms: usize) -> RationalPoint {
        RationalPoint::reduced(self.constants().take(forms).map(N::into).collect(), self.denominator.into())
    }

    /// Counts the variable of a column the other way round. None on overflow.
    pub fn turn(&mut self, column: usize) -> Option<()> {
        self.is_of_variables = false;
        for entry in self.entries.iter_mut().skip(column).step_by(self.columns + 1) {
            *entry = N::zero().checked_sub(entry)?;
        }
        Some(())
    }

    /// Exchanges the variable of a column for a form in which it occurs. None if a number leaves its bits or pivots are
    /// too many; the tableau is then of no use any more.
    pub fn pivot(&mut self, form: usize, column: usize) -> Option<()> {
        self.pivots_left = self.pivots_left.checked_sub(1)?;
        self.is_of_variables = false;
        let chosen = self.forms().nth(form)?.to_vec();
        let exchange = Exchange { chosen: &chosen, column, by: self.denominator };
        for (_, other) in self.entries.chunks_exact_mut(chosen.len()).enumerate().filter(|(k, _)| *k != form) {
            exchange.apply(other)?;
        }
        let place = &mut self.entries[form * chosen.len()..][..chosen.len()];
        place.fill(N::zero());
        self.denominator = size_of(chosen[column])?;
        place[column] = self.denominator;
        Some(())
    }

    fn forms(&self) -> impl Iterator<Item = &[N]> {
        self.entries.chunks_exact(self.columns + 1)
    }
}

/// How large a number is, whatever its sign. None on overflow.
fn size_of<N: Entry>(number: N) -> Option<N> {
    if number < N::zero() { N::zero().checked_sub(&number) } else { Some(number) }
}

/// `z_column = (by y - the rest of the chosen form) / its coefficient there`, where `y` is what the form stands for.
struct Exchange<'a, N> {
    chosen: &'a [N],
    column: usize,
    /// The denominator before.
    by: N,
}

impl<N: Entry> Exchange<'_, N> {
    /// A form after the exchange, over the size of the chosen coefficient.
    fn apply(&self, form: &mut [N]) -> Option<()> {
        let at = self.chosen[self.column];
        let size = size_of(at)?;
        let there = form[self.column];
        let factor = if at < N::zero() { N::zero().checked_sub(&there)? } else { there };
        if factor.is_zero() && size == self.by {
            return Some(());
        }
        let others = form.iter_mut().zip(self.chosen).enumerate().filter(|(k, _)| *k != self.column);
        for (_, (entry, &chosen)) in others {
            let difference = entry.product(size)?.checked_sub(&factor.product(chosen)?)?;
            *entry = difference.quotient(self.by);
        }
        form[self.column] = factor;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_the_same_after_any_exchange() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..200 {
            let n = random.usize(1..=4);
            let forms: Vec<Vec<i128>> = (0..5).map(|_| (0..=n).map(|_| random.i128(-6..=6)).collect()).collect();
            let mut tableau = Tableau::<i128>::of_variables(n, forms.len());
            forms.iter().for_each(|form| tableau.push(form[..n].iter().copied(), form[n]));
            for _ in 0..4 {
                let (form, column) = (random.usize(0..n + 5), random.usize(0..n));
                if tableau.coefficients(form)[column] != 0 {
                    tableau.pivot(form, column).unwrap();
                }
            }
            // Forms of the variables at the point, and where one of the z is 1: coefficients and constants are right.
            for column in 0..=n {
                let at = |form| tableau.constant(form) + tableau.coefficients(form).get(column).unwrap_or(&0);
                let point = RationalPoint::reduced((0..n).map(at).collect(), tableau.denominator());
                for (k, form) in forms.iter().enumerate() {
                    let value = point.value(&form[..n], form[n]).unwrap();
                    assert_eq!(value * tableau.denominator(), at(n + k) * point.denominator, "{forms:?}");
                }
            }
        }
    }

    #[test]
    fn later_forms_are_expressed_in_what_is_left() {
        // z = x + 2 y takes the place of y.
        let mut tableau = Tableau::<i128>::of_variables(2, 2);
        tableau.push([1, 2], 0);
        tableau.pivot(2, 1).unwrap();
        tableau.push_combination(&[3, 2], 5).unwrap();
        assert_eq!((tableau.denominator(), tableau.coefficients(3), tableau.constant(3)), (2, &[4, 2][..], 10));
    }

    #[test]
    fn overflow_and_too_many_pivots_are_no_answer() {
        let mut tableau = Tableau::<i128>::of_variables(2, 3);
        assert_eq!(tableau.push_combination(&[i128::MAX, 1], i128::MAX), Some(()));
        tableau.push([3, 5], i128::MAX / 2);
        assert_eq!(tableau.clone().pivot(2, 0), None);
        assert_eq!(tableau.push_combination(&[0, 0, 2], 0), None);
        let mut turning = Tableau::<i128>::of_variables(1, 1);
        turning.push([1], 0);
        assert!((0..MOST_PIVOTS).all(|_| turning.pivot(1, 0).is_some()));
        assert_eq!(turning.pivot(1, 0), None);
    }
}

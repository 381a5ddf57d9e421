//! What domains say of two instances that touch one cell: which distances there are, and whether any.
//!
//! In: a write and a read of an array, in statements whose iterators bound each other, as in triangles and bands.
//! Out: [`Meetings`]: the range of a difference of their coordinates.
//!
//! `s[i,j]` by `x[j]` in a triangle `j < i` reads what was written at least one row before; of the box around the
//! triangle, that row could be any. Constraints of both domains and the cell that both name are eliminated until the
//! difference alone is left: exact but for what only integers show, and never less than there is.

use crate::kernel::affine::{Affine, Term};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Kernel, ParamKind, Stmt};
use crate::sets::boxes::boxes_of;
use crease_polyhedra::elimination::{Row, Rows, TooHard};
use crease_program::Interval;

/// Constraints that elimination may hold at a time; of more, the distance counts with the ranges of iterators.
const MOST_CONSTRAINTS_OF_MEETINGS: usize = 400;

/// Whether some constraint on the iterators of a statement relates two of them: its domain is no union of boxes.
pub(super) fn is_oblique(stmt: &Stmt) -> bool {
    let is_along_one = |e: &Affine| iters(stmt, e).count() <= 1;
    let rest = boxes_of(&stmt.domain, stmt.iters.len()).map(|boxed| boxed.rest);
    rest.is_none_or(|rest| rest.iter().any(|formula| !all_constraints(formula, &is_along_one)))
}

/// Whether the ends of a statement along one coordinate depend on where it is along another one.
pub(super) fn relates(stmt: &Stmt, one: &Affine, other: &Affine) -> bool {
    let moves = |coordinate: &Affine, iter: usize| coordinate.iter_coefficient(iter) != 0;
    let is_apart = |e: &Affine| {
        let has = |coordinate: &Affine| iters(stmt, e).any(|iter| moves(coordinate, iter));
        !(has(one) && has(other))
    };
    !all_constraints(&stmt.domain, &is_apart)
}

/// The iterators in a constraint, outside floors.
fn iters(stmt: &Stmt, e: &Affine) -> impl Iterator<Item = usize> {
    (0..stmt.iters.len()).filter(|&iter| e.iter_coefficient(iter) != 0)
}

fn all_constraints(formula: &Formula, wanted: &dyn Fn(&Affine) -> bool) -> bool {
    match formula {
        Formula::NonNegative(e) | Formula::Zero(e) => wanted(e),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().all(|part| all_constraints(part, wanted)),
        Formula::Not(part) => all_constraints(part, wanted),
    }
}

/// All pairs of a writing and a reading instance that touch one cell, as constraints on the iterators of both.
pub(super) struct Meetings {
    columns: Columns,
    /// None if there are no such pairs.
    rows: Option<Rows>,
}

/// What the columns of rows are: first a difference, then the iterators of the write, those of the read, the number of
/// steps, which is any, and floors.
struct Columns {
    writers: usize,
    readers: usize,
    /// Sizes, as numbers; none for the number of steps.
    params: Vec<Option<i64>>,
    floors: Vec<(Side, Affine, i64)>,
}

/// Whose iterators an expression is over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Write,
    Read,
}

/// Coefficients of the columns so far, and a constant.
struct Form {
    coefficients: Vec<i64>,
    constant: i64,
}

impl Meetings {
    /// Of a write and a read of an array, each with the number of its statement and its index; none if numbers leave 64
    /// bits.
    pub(super) fn of(
        kernel: &Kernel,
        write: (usize, &[Affine]),
        read: (usize, &[Affine]),
        params: &[i64],
    ) -> Option<Meetings> {
        let stmts = [write, read].map(|(stmt, _)| &kernel.stmts()[stmt]);
        let [writers, readers] = stmts.map(|stmt| stmt.iters.len());
        let known = kernel.params().iter().zip(params);
        let params = known.map(|(param, value)| (param.kind == ParamKind::Size).then_some(*value)).collect();
        let mut columns = Columns { writers, readers, params, floors: Vec::new() };
        let mut forms = Vec::new();
        for (side, stmt) in [Side::Write, Side::Read].into_iter().zip(stmts) {
            columns.conjunction(side, &stmt.domain, &mut forms)?;
        }
        for (written, taken) in write.1.iter().zip(read.1) {
            let cell = columns.form(Side::Read, taken)?.plus(&columns.form(Side::Write, written)?, -1)?;
            forms.push((true, cell));
        }
        columns.add_floors(&mut forms)?;
        let width = columns.len();
        let rows = Rows::new(forms.into_iter().map(|(is_equality, form)| form.row(is_equality, width)));
        Some(Meetings { columns, rows })
    }

    /// Whether no instances touch one cell; false also if that is not found out.
    pub(super) fn are_none(&self) -> bool {
        self.range_of(Row::new(true, (0..self.columns.len()).map(|at| i64::from(at == 0)), 0))
            .is_some_and(Interval::is_empty)
    }

    /// The range of a coordinate of the read minus one of the write, empty if no instances touch one cell; none if it is
    /// not found.
    pub(super) fn range(&self, written: &Affine, taken: &Affine) -> Option<Interval> {
        if written.has_floor() || taken.has_floor() {
            return None;
        }
        let mut own = Columns { params: self.columns.params.clone(), floors: Vec::new(), ..self.columns };
        let mut difference = own.form(Side::Read, taken)?.plus(&own.form(Side::Write, written)?, -1)?;
        difference.coefficients.resize(self.columns.len(), 0);
        difference.coefficients[0] = -1;
        self.range_of(difference.row(true, self.columns.len()))
    }

    /// The range of the first column, if one more row holds.
    fn range_of(&self, row: Row) -> Option<Interval> {
        let nothing = Some(Interval { min: 1, max: 0 });
        let Some(rows) = &self.rows else { return nothing };
        let Some(mut rows) = Rows::new(rows.iter().cloned().chain([row])) else { return nothing };
        while let Some(column) = rows.cheapest(1..self.columns.len()) {
            match rows.without(column, MOST_CONSTRAINTS_OF_MEETINGS) {
                Ok(Some(left)) => rows = left,
                Ok(None) => return nothing,
                Err(TooHard) => return None,
            }
        }
        rows.iter().try_fold(Interval::UNBOUNDED, |range, row| Some(range.intersect(row.range(&[])?)))
    }
}

impl Columns {
    fn len(&self) -> usize {
        1 + self.writers + self.readers + 1 + self.floors.len()
    }

    /// The constraints that a formula has for certain; what is an alternative is left out, which leaves more points.
    fn conjunction(&mut self, side: Side, formula: &Formula, forms: &mut Vec<(bool, Form)>) -> Option<()> {
        match formula {
            Formula::And(parts) => parts.iter().try_for_each(|part| self.conjunction(side, part, forms)),
            Formula::NonNegative(e) | Formula::Zero(e) => {
                forms.push((matches!(formula, Formula::Zero(_)), self.form(side, e)?));
                Some(())
            }
            Formula::Or(_) | Formula::Not(_) => Some(()),
        }
    }

    fn form(&mut self, side: Side, e: &Affine) -> Option<Form> {
        let mut form = Form { coefficients: vec![0; self.len()], constant: e.constant_part() };
        for (term, by) in e.terms() {
            let column = match term {
                Term::Iter(iter) => 1 + *iter as usize + if side == Side::Read { self.writers } else { 0 },
                Term::Param(param) => match self.params.get(param.index())? {
                    Some(value) => {
                        form.constant = form.constant.checked_add(value.checked_mul(by)?)?;
                        continue;
                    }
                    None => 1 + self.writers + self.readers,
                },
                Term::Floor(inner, divisor) => self.floor(side, inner, *divisor),
            };
            form.coefficients.resize(form.coefficients.len().max(column + 1), 0);
            form.coefficients[column] = form.coefficients[column].checked_add(by)?;
        }
        Some(form)
    }

    /// The column of a floor.
    fn floor(&mut self, side: Side, inner: &Affine, divisor: i64) -> usize {
        let first = self.len() - self.floors.len();
        let is_same = |other: &(Side, Affine, i64)| (other.0, &other.1, other.2) == (side, inner, divisor);
        let at = self.floors.iter().position(is_same).unwrap_or_else(|| {
            self.floors.push((side, inner.clone(), divisor));
            self.floors.len() - 1
        });
        first + at
    }

    /// What floors are: `0 <= inner - divisor * floor < divisor`.
    fn add_floors(&mut self, forms: &mut Vec<(bool, Form)>) -> Option<()> {
        let mut at = 0;
        while let Some((side, inner, divisor)) = self.floors.get(at).cloned() {
            let column = self.len() - self.floors.len() + at;
            let mut rest = self.form(side, &inner)?;
            rest.coefficients.resize(self.len(), 0);
            rest.coefficients[column] = rest.coefficients[column].checked_sub(divisor)?;
            let last = Form { coefficients: Vec::new(), constant: divisor - 1 };
            forms.push((false, last.plus(&rest, -1)?));
            forms.push((false, rest));
            at += 1;
        }
        Some(())
    }
}

impl Form {
    fn plus(mut self, other: &Form, factor: i64) -> Option<Form> {
        self.coefficients.resize(self.coefficients.len().max(other.coefficients.len()), 0);
        for (own, theirs) in self.coefficients.iter_mut().zip(&other.coefficients) {
            *own = own.checked_add(theirs.checked_mul(factor)?)?;
        }
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        Some(self)
    }

    fn row(mut self, is_equality: bool, width: usize) -> Row {
        self.coefficients.resize(width, 0);
        Row::new(is_equality, self.coefficients, self.constant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::automatic::distances::accesses;

    const KERNEL: &str = "kernel k(size N; run T) for N >= 4 {
        state u[t, y, x]: f64 for 0 <= y, x < N
        temp s[t, y, x]: f64 for 1 <= t <= T and 0 <= x <= y and y < N
        temp v[t, x]: f64 for 1 <= t <= T and 0 <= x < N
        S0[t, y] for 1 <= t <= T and 0 <= y < N { s[t,y,0] = u[t-1,y,0] }
        S[t, y, x] for 1 <= t <= T and 1 <= x <= y and y < N { s[t,y,x] = s[t,y,x-1] - v[t,x-1] }
        V[t, x] for 1 <= t <= T and 0 <= x < N { v[t,x] = s[t,x,x] }
        U[t, y, x] for 1 <= t <= T and 0 <= y, x < N { u[t,y,x] = v[t,floor((y+x)/2)] } }";

    /// The ranges, in the named iterators, of reading minus writing ones, where the second statement reads the array.
    fn range(array: &str, [from, to]: [usize; 2], [written, taken]: [usize; 2]) -> Option<Interval> {
        let kernel = Kernel::parse(KERNEL).unwrap();
        let [writes, reads] = accesses(&kernel, kernel.array_id(array).unwrap());
        let write = *writes.iter().find(|access| access.stmt == from).unwrap();
        let read = *reads.iter().find(|access| access.stmt == to).unwrap();
        let meetings = Meetings::of(&kernel, (from, write.index), (to, read.index), &[9, 1 << 16]).unwrap();
        meetings.range(&Affine::iter(written), &Affine::iter(taken))
    }

    #[test]
    fn what_is_read_below_the_diagonal_was_written_in_a_row_before() {
        // `S[y, x]` reads `v[x-1]`, which `V` writes at `x-1`.
        assert_eq!(range("v", [2, 1], [1, 1]), Some(Interval::between(1, 8)));
        // The number of steps is any.
        assert_eq!(range("v", [2, 1], [0, 0]), Some(Interval::point(0)));
        assert_eq!(range("s", [1, 2], [1, 1]), Some(Interval::point(0)));
        // Of the whole row, the end.
        assert_eq!(range("s", [1, 2], [2, 1]), Some(Interval::point(0)));
    }

    #[test]
    fn floors_count_with_their_remainders() {
        // `floor((y+x)/2)` is the cell, so that it lies at most as far from `y` as half of the square.
        let found = range("v", [2, 3], [1, 1]).unwrap();
        assert_eq!(found, Interval::between(-4, 4));
    }

    #[test]
    fn instances_that_touch_no_cell_in_common_are_told() {
        let text = "kernel k(size N) for N >= 4 {
            temp a[y, x]: f64 for 0 <= y, x < N
            output b[y, x]: f64 for 0 <= x < y and y < N
            L[y, x] for 0 <= x < y and y < N { a[y,x] = 1 }
            U[y, x] for 0 <= y <= x and x < N { a[y,x] = 2 }
            B[y, x] for 0 <= x < y and y < N { b[y,x] = a[y,x] } }";
        let kernel = Kernel::parse(text).unwrap();
        let [writes, reads] = accesses(&kernel, kernel.array_id("a").unwrap());
        let are_none = |write: usize| {
            Meetings::of(&kernel, (write, writes[write].index), (2, reads[0].index), &[9]).unwrap().are_none()
        };
        assert_eq!([are_none(0), are_none(1)], [false, true]);
    }

    #[test]
    fn triangles_are_oblique_and_squares_are_not() {
        let kernel = Kernel::parse(KERNEL).unwrap();
        let oblique: Vec<bool> = kernel.stmts().iter().map(is_oblique).collect();
        assert_eq!(oblique, [false, true, false, false]);
        let [t, y, x] = [0, 1, 2].map(Affine::iter);
        assert!(relates(&kernel.stmts()[1], &y, &x) && !relates(&kernel.stmts()[1], &t, &x));
        assert!(!relates(&kernel.stmts()[3], &y, &x));
    }
}

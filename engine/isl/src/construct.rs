//! Sets and maps made of constraints given as plain numbers.
//!
//! isl's notation says the same, but to read it isl builds a piecewise expression for every number and sign, which
//! takes many times as long as the constraints themselves.

#![allow(unsafe_code)] // Calls isl.

use std::ffi::{c_int, c_uint};

use crate::constraints::{Constraint, Division};
use crate::context::Context;
use crate::error::IslError;
use crate::handle::{Owned, c_text};
use crate::map::Map;
use crate::set::Set;
use crate::sys;

/// A tuple, such as `S[t, i]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuple<'a> {
    /// Its name, if it has one.
    pub name: Option<&'a str>,
    /// Names of its dimensions; an empty text leaves a dimension nameless.
    pub dims: &'a [String],
}

impl Context {
    /// The points of `tuple` that satisfy all constraints of one of `pieces`. The existential variables of constraints
    /// are among `divs`; the last ones may be left out of a constraint that does not have them.
    ///
    /// # Errors
    /// [`IslError::NoSuchDimension`] if a constraint has not as many coefficients as there are parameters and
    /// dimensions, or more than there are divisions; [`IslError::TooLarge`] if a division's numbers have no negatives
    /// in 64 bits; [`IslError::Nul`] for names with a zero byte; [`IslError::Quota`].
    pub fn set_of(
        &self,
        params: &[&str],
        tuple: Tuple<'_>,
        divs: &[Division],
        pieces: &[Vec<Constraint>],
    ) -> Result<Set<'_>, IslError> {
        let shape = [params.len(), tuple.dims.len()];
        // SAFETY: the context is live; the result is ours.
        let raw = unsafe { sys::isl_space_set_alloc(self.raw(), n(shape[0]), n(shape[1])) };
        let space = Owned::new(self, raw, "isl_space_set_alloc")?.named(params, &[(sys::DIM_OUT, tuple)])?;
        // SAFETY: consumes a fresh reference to a live space; the result is ours.
        let raw = unsafe { sys::isl_set_empty(space.take()) };
        let mut union = Set(Owned::new(self, raw, "isl_set_empty")?);
        for piece in pieces {
            let (equalities, inequalities) = self.matrices(piece, divs, shape)?;
            let function = "isl_basic_set_from_constraint_matrices";
            // SAFETY: consumes fresh references to live objects of one context; the columns are in the order told.
            let raw = unsafe {
                let (space, equalities, inequalities) = (space.take(), equalities.give(), inequalities.give());
                let [a, b, c, d] = [sys::DIM_PARAM, sys::DIM_OUT, sys::DIM_DIV, sys::DIM_CONSTANT];
                sys::isl_basic_set_from_constraint_matrices(space, equalities, inequalities, a, b, c, d)
            };
            let basic = Owned::new(self, raw, function)?;
            // SAFETY: consumes the basic set; the result is ours.
            let raw = unsafe { sys::isl_set_from_basic_set(basic.give()) };
            union = union.union(&Set(Owned::new(self, raw, "isl_set_from_basic_set")?))?;
        }
        Ok(union)
    }

    /// The pairs of points of `from` and `to` that satisfy all constraints of one of `pieces`, with existential
    /// variables as [`Self::set_of`]; the dimensions of the constraints are those of `from`, then those of `to`.
    ///
    /// # Errors
    /// As [`Self::set_of`].
    pub fn map_of(
        &self,
        params: &[&str],
        from: Tuple<'_>,
        to: Tuple<'_>,
        divs: &[Division],
        pieces: &[Vec<Constraint>],
    ) -> Result<Map<'_>, IslError> {
        let shape = [params.len(), from.dims.len() + to.dims.len()];
        // SAFETY: the context is live; the result is ours.
        let raw = unsafe { sys::isl_space_alloc(self.raw(), n(shape[0]), n(from.dims.len()), n(to.dims.len())) };
        let tuples = [(sys::DIM_IN, from), (sys::DIM_OUT, to)];
        let space = Owned::new(self, raw, "isl_space_alloc")?.named(params, &tuples)?;
        // SAFETY: consumes a fresh reference to a live space; the result is ours.
        let raw = unsafe { sys::isl_map_empty(space.take()) };
        let mut union = Map(Owned::new(self, raw, "isl_map_empty")?);
        for piece in pieces {
            let (equalities, inequalities) = self.matrices(piece, divs, shape)?;
            let function = "isl_basic_map_from_constraint_matrices";
            // SAFETY: consumes fresh references to live objects of one context; the columns are in the order told.
            let raw = unsafe {
                let (space, equalities, inequalities) = (space.take(), equalities.give(), inequalities.give());
                let [a, b, c, d, e] = [sys::DIM_PARAM, sys::DIM_IN, sys::DIM_OUT, sys::DIM_DIV, sys::DIM_CONSTANT];
                sys::isl_basic_map_from_constraint_matrices(space, equalities, inequalities, a, b, c, d, e)
            };
            let basic = Owned::new(self, raw, function)?;
            // SAFETY: consumes the basic map; the result is ours.
            let raw = unsafe { sys::isl_map_from_basic_map(basic.give()) };
            union = union.union(&Map(Owned::new(self, raw, "isl_map_from_basic_map")?))?;
        }
        Ok(union)
    }

    /// The equalities and the inequalities of a piece, a row each: parameters, dimensions, divisions that occur in it,
    /// constant.
    fn matrices(
        &self,
        piece: &[Constraint],
        divs: &[Division],
        [params, dims]: [usize; 2],
    ) -> Result<(Matrix<'_>, Matrix<'_>), IslError> {
        let used = occurring(piece, divs);
        let meanings =
            used.iter().map(|&position| meaning(&divs[position], position)).collect::<Result<Vec<_>, _>>()?;
        let rows: Vec<&Constraint> = piece.iter().chain(meanings.iter().flatten()).collect();
        for row in &rows {
            let short = [(&row.params, params), (&row.dims, dims)].into_iter().find(|(found, n)| found.len() != *n);
            let long = Some((&row.divs, divs.len())).filter(|(found, n)| found.len() > *n);
            if let Some((found, available)) = short.or(long) {
                return Err(IslError::NoSuchDimension { first: 0, count: found.len(), available });
            }
        }
        let (equalities, inequalities): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.is_equality);
        let columns = params + dims + used.len() + 1;
        Ok((self.matrix(&equalities, &used, columns)?, self.matrix(&inequalities, &used, columns)?))
    }

    fn matrix(&self, rows: &[&Constraint], divs: &[usize], columns: usize) -> Result<Matrix<'_>, IslError> {
        // SAFETY: the context is live; the result is ours.
        let raw = unsafe { sys::isl_mat_alloc(self.raw(), n(rows.len()), n(columns)) };
        let mut matrix = Owned::new(self, raw, "isl_mat_alloc")?;
        for (at, row) in rows.iter().enumerate() {
            let divs = divs.iter().map(|&position| row.divs.get(position).copied().unwrap_or(0));
            let values = row.params.iter().chain(&row.dims).copied().chain(divs).chain([row.constant]);
            for (column, value) in values.enumerate() {
                matrix = matrix.with(at, column, value)?;
            }
        }
        Ok(matrix)
    }
}

/// The divisions that occur in a piece, or in a division that does.
fn occurring(piece: &[Constraint], divs: &[Division]) -> Vec<usize> {
    let mut occurring: Vec<usize> = Vec::new();
    for k in (0..divs.len()).rev() {
        let has = |coefficients: &[i64]| coefficients.get(k).is_some_and(|c| *c != 0);
        if piece.iter().any(|row| has(&row.divs)) || occurring.iter().any(|&outer| has(&divs[outer].divs)) {
            occurring.push(k);
        }
    }
    occurring.reverse();
    occurring
}

/// What a division says of its value `q`: `0 <= expression - denominator q < denominator`.
fn meaning(div: &Division, position: usize) -> Result<[Constraint; 2], IslError> {
    let too_large = |value: i64| IslError::TooLarge { function: "isl_mat_set_element_val", value: value.to_string() };
    let minus = |value: i64| value.checked_neg().ok_or_else(|| too_large(value));
    let mut divs = div.divs.clone();
    divs.resize(position, 0);
    divs.push(minus(div.denominator)?);
    let (params, dims) = (div.params.clone(), div.dims.clone());
    let lower = Constraint { is_equality: false, params, dims, divs, constant: div.constant };
    let negated = |values: &[i64]| values.iter().map(|&value| minus(value)).collect::<Result<Vec<_>, _>>();
    let constant = (div.denominator - 1).checked_sub(div.constant).ok_or_else(|| too_large(div.constant))?;
    let (params, dims, divs) = (negated(&lower.params)?, negated(&lower.dims)?, negated(&lower.divs)?);
    Ok([Constraint { is_equality: false, params, dims, divs, constant }, lower])
}

type Matrix<'c> = Owned<'c, sys::isl_mat>;

/// A number of dimensions in C's type; isl refuses what is too large for its memory.
fn n(count: usize) -> c_uint {
    c_uint::try_from(count).unwrap_or(c_uint::MAX)
}

impl<'c> Owned<'c, sys::isl_mat> {
    fn with(self, row: usize, column: usize, value: i64) -> Result<Matrix<'c>, IslError> {
        let context = self.context();
        let (row, column) = (row as c_int, column as c_int);
        if let Ok(small) = c_int::try_from(value) {
            // SAFETY: consumes the matrix; isl checks the position; the result is ours.
            let raw = unsafe { sys::isl_mat_set_element_si(self.give(), row, column, small) };
            return Owned::new(context, raw, "isl_mat_set_element_si");
        }
        let value = context.value(value)?;
        // SAFETY: consumes the matrix and the value; isl checks the position; the result is ours.
        let raw = unsafe { sys::isl_mat_set_element_val(self.give(), row, column, value.give()) };
        Owned::new(context, raw, "isl_mat_set_element_val")
    }
}

impl<'c> Owned<'c, sys::isl_space> {
    /// The same space with names of parameters, tuples and dimensions.
    fn named(mut self, params: &[&str], tuples: &[(c_int, Tuple<'_>)]) -> Result<Owned<'c, sys::isl_space>, IslError> {
        for (position, name) in params.iter().enumerate() {
            self = self.with_dim_name(sys::DIM_PARAM, position, name)?;
        }
        for (kind, tuple) in tuples {
            if let Some(name) = tuple.name {
                let (name, context) = (c_text(name)?, self.context());
                // SAFETY: consumes the space; the name lives through the call, which copies it; the result is ours.
                let raw = unsafe { sys::isl_space_set_tuple_name(self.give(), *kind, name.as_ptr()) };
                self = Owned::new(context, raw, "isl_space_set_tuple_name")?;
            }
            for (position, name) in tuple.dims.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
                self = self.with_dim_name(*kind, position, name)?;
            }
        }
        Ok(self)
    }

    fn with_dim_name(self, kind: c_int, position: usize, name: &str) -> Result<Owned<'c, sys::isl_space>, IslError> {
        let (name, context) = (c_text(name)?, self.context());
        // SAFETY: consumes the space; isl checks the position and copies the name; the result is ours.
        let raw = unsafe { sys::isl_space_set_dim_name(self.give(), kind, n(position), name.as_ptr()) };
        Owned::new(context, raw, "isl_space_set_dim_name")
    }
}

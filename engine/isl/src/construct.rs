//! Sets and maps made of constraints given as plain numbers.
//!
//! isl's notation says the same, but to read it isl builds a piecewise expression for every number and sign, which
//! takes many times as long as the constraints themselves.

#![allow(unsafe_code)] // Calls isl.

use std::ffi::{c_int, c_uint};

use crate::constraints::Constraint;
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
    /// The points of `tuple` that satisfy all constraints of one of `pieces`. The constraints have no existential
    /// variables.
    ///
    /// # Errors
    /// [`IslError::NoSuchDimension`] if a constraint has not as many coefficients as there are parameters and
    /// dimensions, or any existential variable; [`IslError::Nul`] for names with a zero byte; [`IslError::Quota`].
    pub fn set_of(&self, params: &[&str], tuple: Tuple<'_>, pieces: &[Vec<Constraint>]) -> Result<Set<'_>, IslError> {
        let shape = [params.len(), tuple.dims.len()];
        // SAFETY: the context is live; the result is ours.
        let raw = unsafe { sys::isl_space_set_alloc(self.raw(), n(shape[0]), n(shape[1])) };
        let space = Owned::new(self, raw, "isl_space_set_alloc")?.named(params, &[(sys::DIM_OUT, tuple)])?;
        // SAFETY: consumes a fresh reference to a live space; the result is ours.
        let raw = unsafe { sys::isl_set_empty(space.take()) };
        let mut union = Set(Owned::new(self, raw, "isl_set_empty")?);
        for piece in pieces {
            let (equalities, inequalities) = self.matrices(piece, shape)?;
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

    /// The pairs of points of `from` and `to` that satisfy all constraints of one of `pieces`; the dimensions of the
    /// constraints are those of `from`, then those of `to`.
    ///
    /// # Errors
    /// As [`Self::set_of`].
    pub fn map_of(
        &self,
        params: &[&str],
        from: Tuple<'_>,
        to: Tuple<'_>,
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
            let (equalities, inequalities) = self.matrices(piece, shape)?;
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

    /// The equalities and the inequalities of a piece, a row each: parameters, dimensions, constant.
    fn matrices(&self, piece: &[Constraint], shape: [usize; 2]) -> Result<(Matrix<'_>, Matrix<'_>), IslError> {
        let (equalities, inequalities): (Vec<_>, Vec<_>) = piece.iter().partition(|constraint| constraint.is_equality);
        Ok((self.matrix(&equalities, shape)?, self.matrix(&inequalities, shape)?))
    }

    fn matrix(&self, rows: &[&Constraint], [params, dims]: [usize; 2]) -> Result<Matrix<'_>, IslError> {
        let columns = params + dims + 1;
        // SAFETY: the context is live; the result is ours.
        let raw = unsafe { sys::isl_mat_alloc(self.raw(), n(rows.len()), n(columns)) };
        let mut matrix = Owned::new(self, raw, "isl_mat_alloc")?;
        for (row, constraint) in rows.iter().enumerate() {
            for (found, expected) in [(&constraint.params, params), (&constraint.dims, dims), (&constraint.divs, 0)] {
                if found.len() != expected {
                    return Err(IslError::NoSuchDimension { first: 0, count: found.len(), available: expected });
                }
            }
            let values = constraint.params.iter().chain(&constraint.dims).chain([&constraint.constant]);
            for (column, &value) in values.enumerate() {
                matrix = matrix.with(row, column, value)?;
            }
        }
        Ok(matrix)
    }
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

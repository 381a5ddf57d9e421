//! The constraints of a set as plain numbers.

#![allow(unsafe_code)] // Calls isl.

use std::ffi::c_int;

use crate::error::IslError;
use crate::handle::Owned;
use crate::set::Set;
use crate::sys;

/// A convex piece of a set: all its constraints hold at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasicSet {
    /// Names of the parameters, in the order of [`Constraint::params`].
    pub params: Vec<String>,
    /// The number of set dimensions.
    pub n_dims: usize,
    /// The existential variables, all written as integer divisions, in the order of [`Constraint::divs`].
    pub divs: Vec<Division>,
    /// The constraints. Those that follow from the meaning of the divisions may be missing.
    pub constraints: Vec<Constraint>,
}

/// `constant + params . p + dims . x + divs . d`, which is 0 or at least 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// Whether the sum is 0, rather than at least 0.
    pub is_equality: bool,
    /// Coefficients of the parameters.
    pub params: Vec<i64>,
    /// Coefficients of the set dimensions.
    pub dims: Vec<i64>,
    /// Coefficients of the existential variables.
    pub divs: Vec<i64>,
    /// The constant.
    pub constant: i64,
}

/// `floor((constant + params . p + dims . x + divs . d) / denominator)`; only earlier divisions occur in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Division {
    /// Coefficients of the parameters.
    pub params: Vec<i64>,
    /// Coefficients of the set dimensions.
    pub dims: Vec<i64>,
    /// Coefficients of the divisions.
    pub divs: Vec<i64>,
    /// The constant.
    pub constant: i64,
    /// What the sum is divided by; positive.
    pub denominator: i64,
}

impl Set<'_> {
    /// The constraints of each basic set, once every existential variable is written as an integer division. Getting
    /// there may split basic sets.
    ///
    /// # Errors
    /// [`IslError::TooLarge`] if a coefficient leaves 64 bits; [`IslError::Quota`].
    pub fn constraints(&self) -> Result<Vec<BasicSet>, IslError> {
        let params = self.param_names()?;
        self.compute_divs()?.basics()?.iter().map(|basic| basic.read(params.clone())).collect()
    }
}

/// How many coefficients of each kind there are.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) params: usize,
    pub(crate) dims: usize,
    pub(crate) divs: usize,
}

impl Owned<'_, sys::isl_basic_set> {
    fn read(&self, params: Vec<String>) -> Result<BasicSet, IslError> {
        let shape = Shape { params: params.len(), dims: self.n(sys::DIM_OUT)?, divs: self.n(sys::DIM_DIV)? };
        // SAFETY: borrows a live object; the result is ours.
        let raw = unsafe { sys::isl_basic_set_get_constraint_list(self.keep()) };
        let list = Owned::new(self.context(), raw, "isl_basic_set_get_constraint_list")?;
        Ok(BasicSet {
            params,
            n_dims: shape.dims,
            divs: (0..shape.divs).map(|position| self.division(position, shape)).collect::<Result<_, _>>()?,
            constraints: list.elements()?.iter().map(|constraint| constraint.read(shape)).collect::<Result<_, _>>()?,
        })
    }

    fn n(&self, kind: c_int) -> Result<usize, IslError> {
        // SAFETY: borrows a live object.
        let n = unsafe { sys::isl_basic_set_dim(self.keep(), kind) };
        self.context().check(n, "isl_basic_set_dim")
    }

    fn division(&self, position: usize, shape: Shape) -> Result<Division, IslError> {
        // SAFETY: borrows a live object; isl checks the position; the result is ours.
        let raw = unsafe { sys::isl_basic_set_get_div(self.keep(), position as c_int) };
        Owned::new(self.context(), raw, "isl_basic_set_get_div")?.read(shape)
    }
}

impl Owned<'_, sys::isl_constraint> {
    fn read(&self, shape: Shape) -> Result<Constraint, IslError> {
        // SAFETY: borrows a live constraint.
        let is_equality = unsafe { sys::isl_constraint_is_equality(self.keep()) };
        // SAFETY: borrows a live constraint; the result is ours.
        let constant = unsafe { sys::isl_constraint_get_constant_val(self.keep()) };
        let constant = Owned::new(self.context(), constant, "isl_constraint_get_constant_val")?;
        Ok(Constraint {
            is_equality: self.context().check(is_equality, "isl_constraint_is_equality")? != 0,
            params: self.coefficients(sys::DIM_PARAM, shape.params)?,
            dims: self.coefficients(sys::DIM_OUT, shape.dims)?,
            divs: self.coefficients(sys::DIM_DIV, shape.divs)?,
            constant: constant.to_i64("isl_constraint_get_constant_val")?,
        })
    }

    fn coefficients(&self, kind: c_int, count: usize) -> Result<Vec<i64>, IslError> {
        (0..count).map(|position| self.coefficient(kind, position as c_int)).collect()
    }

    fn coefficient(&self, kind: c_int, position: c_int) -> Result<i64, IslError> {
        let function = "isl_constraint_get_coefficient_val";
        // SAFETY: borrows a live constraint; isl checks the position; the result is ours.
        let raw = unsafe { sys::isl_constraint_get_coefficient_val(self.keep(), kind, position) };
        Owned::new(self.context(), raw, function)?.to_i64(function)
    }
}

impl<'c> Owned<'c, sys::isl_aff> {
    /// isl hands out coefficients divided by the denominator; multiplied by it, they are integers again. The
    /// expression is a function of the set dimensions, so those are its inputs.
    pub(crate) fn read(&self, shape: Shape) -> Result<Division, IslError> {
        // SAFETY: borrows a live expression; the result is ours.
        let denominator = unsafe { sys::isl_aff_get_denominator_val(self.keep()) };
        let denominator = Owned::new(self.context(), denominator, "isl_aff_get_denominator_val")?;
        // SAFETY: borrows a live expression; the result is ours.
        let constant = unsafe { sys::isl_aff_get_constant_val(self.keep()) };
        let constant = Owned::new(self.context(), constant, "isl_aff_get_constant_val")?;
        Ok(Division {
            params: self.numerators(sys::DIM_PARAM, shape.params, &denominator)?,
            dims: self.numerators(sys::DIM_IN, shape.dims, &denominator)?,
            divs: self.numerators(sys::DIM_DIV, shape.divs, &denominator)?,
            constant: constant.times(&denominator)?.to_i64("isl_aff_get_constant_val")?,
            denominator: denominator.to_i64("isl_aff_get_denominator_val")?,
        })
    }

    fn numerators(
        &self,
        kind: c_int,
        count: usize,
        denominator: &Owned<'c, sys::isl_val>,
    ) -> Result<Vec<i64>, IslError> {
        (0..count).map(|position| self.numerator(kind, position as c_int, denominator)).collect()
    }

    fn numerator(&self, kind: c_int, position: c_int, denominator: &Owned<'c, sys::isl_val>) -> Result<i64, IslError> {
        let function = "isl_aff_get_coefficient_val";
        // SAFETY: borrows a live expression; isl checks the position; the result is ours.
        let raw = unsafe { sys::isl_aff_get_coefficient_val(self.keep(), kind, position) };
        Owned::new(self.context(), raw, function)?.times(denominator)?.to_i64(function)
    }
}

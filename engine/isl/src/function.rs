//! Maps that are functions, as expressions of their argument.

#![allow(unsafe_code)] // Calls isl.

use std::ffi::{c_int, c_void};

use crate::constraints::{Division, Shape};
use crate::context::Context;
use crate::error::IslError;
use crate::handle::Owned;
use crate::map::Map;
use crate::set::Set;
use crate::sys;

/// A function on a part of its domain.
#[derive(Clone, Debug)]
pub struct FunctionPiece<'c> {
    /// The part; parts are disjoint.
    pub domain: Set<'c>,
    /// Names of the parameters, in the order of [`Division::params`].
    pub params: Vec<String>,
    /// Per range dimension, its value.
    pub values: Vec<FunctionValue>,
}

/// A range dimension as an expression of the domain dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionValue {
    /// Integer divisions that occur in it, in the order of [`Division::divs`].
    pub divs: Vec<Division>,
    /// The value, a division that leaves no remainder anywhere in the domain.
    pub value: Division,
}

impl<'c> Map<'c> {
    /// The map, which must be single-valued, as a function.
    ///
    /// # Errors
    /// [`IslError::Failed`] if some point has two images; [`IslError::TooLarge`] if a coefficient leaves 64 bits;
    /// [`IslError::Quota`].
    pub fn function(&self) -> Result<Vec<FunctionPiece<'c>>, IslError> {
        // SAFETY: consumes a fresh reference; the result is ours.
        let raw = unsafe { sys::isl_pw_multi_aff_from_map(self.0.take()) };
        let function = Owned::new(self.context(), raw, "isl_pw_multi_aff_from_map")?;
        let mut read = Reading {
            context: self.context(),
            n_in: self.n_in()?,
            n_out: self.n_out()?,
            pieces: Vec::new(),
            error: None,
        };
        // SAFETY: borrows a live function; `gather` gets a pointer to `read`, which outlives the call.
        let status = unsafe { sys::isl_pw_multi_aff_foreach_piece(function.keep(), gather, (&raw mut read).cast()) };
        if let Some(error) = read.error {
            self.context().forget_failure();
            return Err(error);
        }
        self.context().check(status, "isl_pw_multi_aff_foreach_piece")?;
        Ok(read.pieces)
    }
}

/// What [`gather`] has seen.
struct Reading<'c> {
    context: &'c Context,
    n_in: usize,
    n_out: usize,
    pieces: Vec<FunctionPiece<'c>>,
    /// Why it stopped early.
    error: Option<IslError>,
}

impl<'c> Reading<'c> {
    fn add(&mut self, domain: *mut sys::isl_set, values: *mut sys::isl_multi_aff) -> Result<(), IslError> {
        let function = "isl_pw_multi_aff_foreach_piece";
        // Both are owned before either is looked at, so that neither is lost.
        let (domain, values) = (Owned::new(self.context, domain, function), Owned::new(self.context, values, function));
        let (domain, values) = (Set(domain?), values?);
        let params = domain.param_names()?;
        let value = |position: usize| -> Result<FunctionValue, IslError> {
            // SAFETY: borrows a live function; isl checks the position; the result is ours.
            let raw = unsafe { sys::isl_multi_aff_get_at(values.keep(), position as c_int) };
            Owned::new(self.context, raw, "isl_multi_aff_get_at")?.function_value(params.len(), self.n_in)
        };
        let values = (0..self.n_out).map(value).collect::<Result<_, _>>()?;
        self.pieces.push(FunctionPiece { domain, params, values });
        Ok(())
    }
}

impl Owned<'_, sys::isl_aff> {
    fn function_value(&self, params: usize, dims: usize) -> Result<FunctionValue, IslError> {
        // SAFETY: borrows a live expression.
        let n = unsafe { sys::isl_aff_dim(self.keep(), sys::DIM_DIV) };
        let shape = Shape { params, dims, divs: self.context().check(n, "isl_aff_dim")? };
        let div = |position: usize| {
            // SAFETY: borrows a live expression; isl checks the position; the result is ours.
            let raw = unsafe { sys::isl_aff_get_div(self.keep(), position as c_int) };
            Owned::new(self.context(), raw, "isl_aff_get_div")?.read(shape)
        };
        Ok(FunctionValue { divs: (0..shape.divs).map(div).collect::<Result<_, _>>()?, value: self.read(shape)? })
    }
}

/// Adds a piece to the [`Reading`] behind `user`; stops isl at the first error. It runs no code of the caller's, so
/// nothing unwinds into isl.
///
/// # Safety
/// `user` points to a [`Reading`] that nothing else uses during the call; `domain` and `values` are null or new
/// references.
unsafe extern "C" fn gather(
    domain: *mut sys::isl_set,
    values: *mut sys::isl_multi_aff,
    user: *mut c_void,
) -> sys::isl_stat {
    // SAFETY: by this function's duty.
    let reading = unsafe { &mut *user.cast::<Reading<'_>>() };
    match reading.add(domain, values) {
        Ok(()) => sys::STAT_OK,
        Err(error) => {
            reading.error = Some(error);
            sys::STAT_ERROR
        }
    }
}
